// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture-program.h"

#define NS_PER_S 1000000000ULL
#define SIGNALLED 128

/* Process id of the traced program, which gets the SIGTERM that this process catches. */
static atomic_int running;

static u64 capture_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec;
}

static void forward_signal(int number)
{
	int pid = atomic_load(&running);

	if (pid > 0)
		kill(pid, number);
}

/* Ignore SIGINT, which the terminal also sends to the program; forward SIGTERM to the program. */
static void ignore_signals_for_program(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	action.sa_handler = forward_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGTERM, &action, NULL);
}

static void exec_traced_program(char **argv, int failure)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };

	sigaction(SIGINT, &standard, NULL);
	sigaction(SIGQUIT, &standard, NULL);
	sigaction(SIGTERM, &standard, NULL);
	execvp(argv[0], argv);
	/* The parent reads the error of a failed exec() from the pipe; success closes the pipe. */
	if (write(failure, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

static void wait_for_traced_program(struct capture_program *program)
{
	while (waitpid(program->pid, &program->status, 0) < 0 && errno == EINTR)
		;
	atomic_store(&running, 0);
}

static int launch_traced_program(struct capture_program *program, int failure[2],
				 struct aftl_error *error)
{
	int code;

	ignore_signals_for_program();
	program->pid = fork();
	if (!program->pid)
		exec_traced_program(program->argv, failure[1]);
	close(failure[1]);
	if (program->pid < 0)
		return aftl_fail(error, -errno, "cannot create a process for the program: %s",
				 strerror(errno));
	atomic_store(&running, program->pid);
	if (read(failure[0], &code, sizeof(code)) != sizeof(code))
		return 0;
	wait_for_traced_program(program);
	return aftl_fail(error, -code, "%.120s: cannot run: %s", program->argv[0], strerror(code));
}

int capture_program_run(struct capture_program *program, struct aftl_error *error)
{
	u64 begin = capture_clock_ns(CLOCK_MONOTONIC);
	int failure[2];
	int ret;

	if (pipe2(failure, O_CLOEXEC))
		return aftl_fail(error, -errno, "no pipe: %s", strerror(errno));
	program->begin_ns = capture_clock_ns(CLOCK_REALTIME);
	ret = launch_traced_program(program, failure, error);
	close(failure[0]);
	if (ret)
		return ret;
	wait_for_traced_program(program);
	program->elapsed_ns = capture_clock_ns(CLOCK_MONOTONIC) - begin;
	return 0;
}

int capture_program_exit_status(const struct capture_program *program)
{
	if (WIFSIGNALED(program->status))
		return SIGNALLED + WTERMSIG(program->status);
	return WEXITSTATUS(program->status);
}

void capture_program_write_json(const struct capture_program *program, struct json_writer *json)
{
	char directory[PATH_MAX];

	json_begin_inline_array(json, "argv");
	for (unsigned int i = 0; program->argv[i]; i++)
		json_string(json, NULL, program->argv[i]);
	json_end_array(json);
	if (getcwd(directory, sizeof(directory)))
		json_string(json, "directory", directory);
	json_u64(json, "pid", (u64)program->pid);
	json_u64(json, "begin_unix_ns", program->begin_ns);
	json_u64(json, "elapsed_ns", program->elapsed_ns);
	if (WIFSIGNALED(program->status))
		json_u64(json, "signal", (u64)WTERMSIG(program->status));
	else
		json_u64(json, "exit_status", (u64)WEXITSTATUS(program->status));
}
