// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "core/persist/record.h"
#include "interruption.h"
#include "nameless-file.h"
#include "sibling-program.h"
#include "trace-import.h"

/* The exit code of a child process whose program does not exist; shells use it, too. */
#define NOT_FOUND 127

/* Maximum number of arguments of "approxftl trace convert" that this file passes. */
#define ARGUMENTS 32

/**
 * struct words - an argument list
 * @list: ends with NULL
 * @count: number of arguments without it
 */
struct words {
	char *list[ARGUMENTS];
	int count;
};

static bool has_record_file_magic(const char *path)
{
	u8 begin[AFTL_RECORD_MAGIC_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool same = fd >= 0 && read(fd, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
		    aftl_record_has_magic(begin);

	if (fd >= 0)
		close(fd);
	return same;
}

/* Probe the format of regular files only: standard input and special files can be read once. */
static bool needs_trace_conversion(const struct sim_options *options)
{
	struct stat found;

	if (options->from)
		return true;
	if (!strcmp(options->trace, "-"))
		return false;
	/* Convert a name that is no file: it may be the prefix of a capture of several files. */
	if (stat(options->trace, &found) || S_ISDIR(found.st_mode))
		return true;
	return S_ISREG(found.st_mode) && !has_record_file_magic(options->trace);
}

static void add_argument_to_command(struct words *words, const char *word)
{
	words->list[words->count++] = memory_copy_text(word);
}

static void add_option_to_command(struct words *words, const char *option, const char *value)
{
	if (!value)
		return;
	add_argument_to_command(words, option);
	add_argument_to_command(words, value);
}

static void add_flag_to_command(struct words *words, const char *option, bool wanted)
{
	if (wanted)
		add_argument_to_command(words, option);
}

static void make_convert_command(struct words *words, const struct sim_options *options)
{
	static const char *const fixed[] = { "trace", "convert", "--quiet", "--to=aft" };

	for (unsigned int i = 0; i < ARRAY_SIZE(fixed); i++)
		add_argument_to_command(words, fixed[i]);
#define READING(name, letter, kind, member, value, help) READING_##kind(name, member)
#define READING_COMMAND_TEXT(name, member) add_option_to_command(words, "--" name, options->member);
#define READING_COMMAND_SWITCH(name, member) add_flag_to_command(words, "--" name, options->member);
#include "reading-option-table.h"
#undef READING_COMMAND_SWITCH
#undef READING_COMMAND_TEXT
#undef READING
	add_argument_to_command(words, "--");
	add_argument_to_command(words, options->trace);
	add_argument_to_command(words, "-");
}

static enum exit_code write_converted_trace(int fd, const struct sim_options *options)
{
	struct words words = { .count = 0 };
	pid_t parent = getpid(), child;
	int status;

	make_convert_command(&words, options);
	child = fork();
	if (!child) {
		char program[PATH_MAX];

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		find_sibling_program("approxftl-trace", program, sizeof(program));
		if (getppid() == parent && dup2(fd, STDOUT_FILENO) >= 0)
			execvp(program, words.list);
		_exit(errno == ENOENT ? NOT_FOUND : EXIT_FAILED);
	}
	for (int i = 0; i < words.count; i++)
		free(words.list[i]);
	if (child < 0) {
		complain_as("sim", "no new process: %s", strerror(errno));
		return EXIT_FAILED;
	}
	/* Ctrl-C reaches approxftl-trace, too; pass on a signal that only this process got. */
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		if (is_stop_requested())
			kill(child, SIGTERM);
	/* approxftl-trace has printed its own error messages, unless it was missing or killed. */
	if (is_stop_requested())
		return EXIT_INTERRUPTED;
	if (WIFEXITED(status) && WEXITSTATUS(status) != NOT_FOUND)
		return (enum exit_code)WEXITSTATUS(status);
	if (WIFEXITED(status))
		complain_as("sim",
			    "%.150s: no record file; approxftl-trace, which reads others, is missing",
			    options->trace);
	else
		complain_as("sim", "%.150s: approxftl-trace was ended by signal %d", options->trace,
			    WTERMSIG(status));
	return WIFEXITED(status) ? EXIT_NO_INPUT : EXIT_FAILED;
}

enum exit_code trace_import(struct sim_options *options)
{
	struct aftl_error error;
	int fd;

	if (!options->trace || !needs_trace_conversion(options))
		return EXIT_DONE;
	fd = nameless_file_create(&error);
	if (fd < 0)
		return report_command_failure("sim", &error, EXIT_FAILED);
	options->import_fd = fd;
	nameless_file_print_path(fd, options->import_path);
	options->trace_path = options->import_path;
	return write_converted_trace(fd, options);
}

void trace_import_release(struct sim_options *options)
{
	if (options->trace_path == options->import_path)
		close(options->import_fd);
}
