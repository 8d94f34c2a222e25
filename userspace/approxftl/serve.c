// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl serve": run nbdkit with the project's plugin, on a socket that this verb makes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "sibling-program.h"
#include "unix-socket.h"
#include "verbs.h"
#include "volume-verbs.h"

#define PLUGIN "nbdkit-approxftl-plugin.so"
/* Number of the socket's descriptor in systemd's protocol of socket activation */
#define LISTEN_FD 3
/* Maximum number of requests of a connection that nbdkit has in flight */
#define MAX_THREADS 32
/* Exit status of the child if nbdkit is not installed */
#define NOT_INSTALLED 127
/* Interval of the checks whether nbdkit is ready */
#define LOOK_NS 10000000
/* Seconds that nbdkit has to end before another signal kills it */
#define PATIENCE_S 2

/**
 * struct serving - a server
 * @options: the command line
 * @directory: directory of this run, for @ready and, without --socket, for the socket
 * @ready: file that nbdkit makes when it is ready
 * @socket: path of the socket
 * @tags: path of the control socket, for tags
 * @fd: the socket
 * @signals: signals that wait_for_signal() takes; they are blocked
 * @child: nbdkit
 * @stopped_s: host time in s at which nbdkit was told to end; 0: it was not
 */
struct serving {
	const struct device_options *options;
	char directory[PATH_MAX];
	char ready[PATH_MAX + 8];
	char socket[PATH_MAX];
	char tags[PATH_MAX + 8];
	int fd;
	sigset_t signals;
	pid_t child;
	time_t stopped_s;
};

static int make_socket_directory(struct serving *serving, struct aftl_error *error)
{
	const char *parent = getenv("XDG_RUNTIME_DIR");

	scnprintf(serving->directory, sizeof(serving->directory), "%s/approxftl-XXXXXX",
		  parent ? parent : "/tmp");
	if (!mkdtemp(serving->directory))
		return aftl_fail(error, -errno, "%.160s: cannot create the directory: %s",
				 serving->directory, strerror(errno));
	scnprintf(serving->ready, sizeof(serving->ready), "%s/pid", serving->directory);
	return 0;
}

static int create_listen_socket(struct serving *serving, struct aftl_error *error)
{
	char path[PATH_MAX + 8];

	scnprintf(path, sizeof(path), "%s/nbd", serving->directory);
	if (serving->options->socket)
		scnprintf(path, sizeof(path), "%s", serving->options->socket);
	serving->fd = unix_socket_listen(path, error);
	if (serving->fd < 0)
		return serving->fd;
	/* Make the path of the socket absolute, because clients may run in another directory. */
	if (!realpath(path, serving->socket))
		return aftl_fail(error, -errno, "%.160s: %s", path, strerror(errno));
	scnprintf(serving->tags, sizeof(serving->tags), "%s.tags", serving->socket);
	return 0;
}

static void remove_socket_files(const struct serving *serving)
{
	unlink(serving->socket);
	unlink(serving->tags);
	unlink(serving->ready);
	rmdir(serving->directory);
}

static void add_nbdkit_argument(char ***arguments, const char *key, const char *value)
{
	unsigned int count = 0;
	size_t size = strlen(key) + strlen(value) + 1;
	char *text = memory_alloc_zeroed(size, 1);

	while (*arguments && (*arguments)[count])
		count++;
	*arguments = memory_resize(*arguments, count + 2, sizeof(**arguments));
	scnprintf(text, size, "%s%s", key, value);
	(*arguments)[count] = text;
	(*arguments)[count + 1] = NULL;
}

/* The plugin is beside this program in a build directory, and in ../lib/approxftl if installed. */
static void find_nbdkit_plugin(char path[PATH_MAX])
{
	find_sibling_program(PLUGIN, path, PATH_MAX);
	if (!strchr(path, '/'))
		find_sibling_program("../lib/approxftl/" PLUGIN, path, PATH_MAX);
	if (access(path, R_OK))
		scnprintf(path, PATH_MAX, "approxftl");
}

/*
 * Return the number of threads of a connection. With "timing off" no request waits for device time,
 * and more threads than processors only wake each other.
 */
static unsigned int count_nbdkit_threads(const struct device_options *options)
{
	if (strcmp(device_get_value_of_table_key(options, "timing", "real"), "off") != 0)
		return MAX_THREADS;
	return (unsigned int)min(max(sysconf(_SC_NPROCESSORS_ONLN), 2L), (long)MAX_THREADS);
}

static void run_nbdkit(const struct serving *serving)
{
	const struct device_options *options = serving->options;
	char **arguments = NULL;
	char text[PATH_MAX];

	add_nbdkit_argument(&arguments, "nbdkit", "");
	add_nbdkit_argument(&arguments, "--exit-with-parent", "");
	scnprintf(text, sizeof(text), "%u", count_nbdkit_threads(options));
	add_nbdkit_argument(&arguments, "--threads=", text);
	add_nbdkit_argument(&arguments, "--pidfile=", serving->ready);
	find_nbdkit_plugin(text);
	add_nbdkit_argument(&arguments, text, "");
	add_nbdkit_argument(&arguments, "control=", serving->tags);
	for (unsigned int i = 0; i < options->key_count; i++) {
		/* Pass only the last value of a key, because the plugin refuses a second value. */
		if (device_get_value_of_table_key(options, options->keys[i], NULL) !=
		    options->values[i])
			continue;
		snprintf(text, sizeof(text), "%s=", options->keys[i]);
		add_nbdkit_argument(&arguments, text, options->values[i]);
	}
	if (options->size)
		add_nbdkit_argument(&arguments, "size=", options->size);
	scnprintf(text, sizeof(text), "%d", getpid());
	/* dup2() of a descriptor to itself keeps O_CLOEXEC: clear it for execvp(). */
	if (dup2(serving->fd, LISTEN_FD) < 0 || fcntl(LISTEN_FD, F_SETFD, 0) ||
	    setenv("LISTEN_PID", text, 1) || setenv("LISTEN_FDS", "1", 1) ||
	    sigprocmask(SIG_UNBLOCK, &serving->signals, NULL))
		_exit(EXIT_FAILED);
	execvp("nbdkit", arguments);
	_exit(errno == ENOENT ? NOT_INSTALLED : EXIT_FAILED);
}

static int start_nbdkit(struct serving *serving, struct aftl_error *error)
{
	/* Block the signals of wait_for_signal() before the child exists, so that none is lost. */
	sigemptyset(&serving->signals);
	sigaddset(&serving->signals, SIGINT);
	sigaddset(&serving->signals, SIGTERM);
	sigaddset(&serving->signals, SIGHUP);
	sigaddset(&serving->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &serving->signals, NULL);
	serving->child = fork();
	if (!serving->child)
		run_nbdkit(serving);
	if (serving->child < 0)
		return aftl_fail(error, -errno, "nbdkit: cannot be started: %s", strerror(errno));
	/* Close this copy of the socket: otherwise clients would wait after nbdkit's death. */
	close(serving->fd);
	return 0;
}

/* Print the address of the socket once nbdkit has opened the device. */
static void print_server_address_when_ready(struct serving *serving, bool *told)
{
	if (*told || access(serving->ready, F_OK))
		return;
	printf("nbd+unix:///?socket=%s\n", serving->socket);
	fflush(stdout);
	*told = true;
}

/*
 * Shut nbdkit down. nbdkit does not end while a client that has sent a part of a request keeps its
 * connection, so a later signal kills nbdkit.
 */
static void stop_nbdkit(struct serving *serving)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (serving->stopped_s && now.tv_sec - serving->stopped_s >= PATIENCE_S)
		kill(serving->child, SIGKILL);
	else
		kill(serving->child, SIGTERM);
	if (!serving->stopped_s)
		serving->stopped_s = now.tv_sec;
}

/* Wait until nbdkit ends; a signal to this program shuts nbdkit down. */
static enum exit_code wait_for_nbdkit_to_end(struct serving *serving)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	bool told = false;
	int status;

	while (waitpid(serving->child, &status, WNOHANG) != serving->child) {
		int number = told ? sigwaitinfo(&serving->signals, NULL) :
				    sigtimedwait(&serving->signals, NULL, &look);

		print_server_address_when_ready(serving, &told);
		if (number > 0 && number != SIGCHLD)
			stop_nbdkit(serving);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED)
		complain_as("serve", "nbdkit is not installed; on Debian: apt-get install nbdkit");
	else if (WIFSIGNALED(status))
		complain_as("serve", "nbdkit was ended by signal %d", WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status) ? EXIT_DONE : EXIT_FAILED;
}

static enum exit_code run_serve(const struct device_options *options)
{
	struct serving serving = { .options = options };
	struct target_line line;
	struct aftl_volume_header super = { .shard = 0 };
	struct target_size size;
	struct aftl_error error;
	enum exit_code code;
	u64 sectors;
	bool made;
	int ret;

	if (device_make_table_line(options, &line, &size, &sectors, &error))
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	ret = device_make_volume_header(&line, &super, &made, &error);
	if (ret)
		return report_device_failure(options, ret, &error);
	ret = make_socket_directory(&serving, &error);
	if (!ret)
		ret = create_listen_socket(&serving, &error);
	if (!ret)
		ret = start_nbdkit(&serving, &error);
	code = ret ? report_device_failure(options, ret, &error) : wait_for_nbdkit_to_end(&serving);
	remove_socket_files(&serving);
	return code;
}

const struct device_verb verb_serve = {
	.name = "serve",
	.words = "",
	.pairs = true,
	.screen = true,
	.options = "SZVPLTAK",
	.about = "Serves an emulated SSD as a network block device, without a kernel module:\n"
		 "nbdkit with the plugin approxftl, on a socket of this machine. Prints the\n"
		 "address for clients, and ends with Ctrl-C. KEY=VALUE sets any parameter that\n"
		 "\"approxftl params\" lists.",
	.run = run_serve,
};
