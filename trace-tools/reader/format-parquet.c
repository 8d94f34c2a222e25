// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parquet output. approxftl-parquet, which links the Parquet library, converts our CSV. Parquet
 * files can be written here, but not read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checked-memory.h"
#include "sibling-program.h"
#include "trace-format.h"

/**
 * struct parquet - state of the writer
 * @program: the child process that writes the file
 */
struct parquet {
	pid_t program;
};

static int start_parquet_converter(struct parquet *parquet, int input, int output,
				   struct aftl_error *error)
{
	char program[2 * PATH_MAX], name[] = "approxftl-parquet", standard[] = "-";
	char *const words[] = { name, standard, NULL };
	posix_spawn_file_actions_t actions;
	int ret;

	find_sibling_program(name, program, sizeof(program));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	ret = posix_spawnp(&parquet->program, program, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return ret ? aftl_fail(error, -ret, "%.150s: cannot run: %s", program, strerror(ret)) : 0;
}

/*
 * Start the converter. It gets a descriptor, not a file name, so that it cannot create the file
 * again after this process was interrupted and has removed the file.
 */
static int open_output_and_start_converter(struct trace_output *output, int input,
					   struct aftl_error *error)
{
	int fd, ret;

	if (!strcmp(output->path, "-"))
		return start_parquet_converter(output->state, input, STDOUT_FILENO, error);
	fd = open(output->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return aftl_fail(error, -errno, "%.120s: cannot create: %s", output->name,
				 strerror(errno));
	ret = start_parquet_converter(output->state, input, fd, error);
	close(fd);
	return ret;
}

static int open_converter_pipe(struct trace_output *output, struct aftl_error *error)
{
	int ends[2], ret;

	if (pipe2(ends, O_CLOEXEC))
		return aftl_fail(error, -errno, "cannot create a pipe: %s", strerror(errno));
	ret = open_output_and_start_converter(output, ends[0], error);
	close(ends[0]);
	output->file = ret ? NULL : fdopen(ends[1], "w");
	if (!output->file)
		close(ends[1]);
	return ret;
}

static int begin_parquet_file(struct trace_output *output, struct aftl_error *error)
{
	int ret;

	output->state = memory_alloc_zeroed(1, sizeof(struct parquet));
	/* If the converter exits early, let writes fail; finish_parquet_file() reports it. */
	signal(SIGPIPE, SIG_IGN);
	ret = open_converter_pipe(output, error);
	if (!ret)
		return trace_format_csv.begin(output, error);
	free(output->state);
	output->state = NULL;
	return ret;
}

static int write_parquet_request(struct trace_output *output, const struct trace_request *request,
				 struct aftl_error *error)
{
	return trace_format_csv.put(output, request, error);
}

/* The converter has already printed its own error messages. */
static int finish_parquet_file(struct trace_output *output, struct aftl_error *error)
{
	struct parquet *parquet = output->state;
	int status = 0;

	if (!parquet)
		return 0;
	fclose(output->file);
	output->file = NULL;
	while (waitpid(parquet->program, &status, 0) < 0 && errno == EINTR)
		;
	free(parquet);
	output->state = NULL;
	return status ? aftl_fail(error, -EIO, "%.120s: approxftl-parquet has failed",
				  output->name) : 0;
}

const struct trace_format trace_format_parquet = {
	.name = "parquet",
	.title = "columns as in the CSV of this program, for data frames",
	.units = "times in ns, offsets in bytes",
	.time_unit_ns = 1,
	.told_only = true,
	.own_file = true,
	.begin = begin_parquet_file,
	.put = write_parquet_request,
	.finish = finish_parquet_file,
};
