// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "nameless-file.h"
#include "sibling-program.h"
#include "simulate.h"
#include "version.h"

/* Number of arguments of the simulator that precede those of the user. */
#define OWN_ARGUMENTS 13

struct command {
	char program[PATH_MAX];
	char path[PATH_MAX];
	char depth[24];
	char seed[24];
	char *json;
	char **arguments;
	int count;
};

static int copy_stream_to_writer(struct replay_stream *stream, struct record_writer *writer,
				 struct aftl_error *error)
{
	struct aftl_record record;
	int ret = stream_rewind(stream, error);

	while (!ret) {
		ret = stream_next_request(stream, &record, error);
		if (ret <= 0)
			break;
		ret = record_append(writer, &record, error);
	}
	return ret;
}

static int write_changed_trace(struct replay_stream *stream, char path[NAMELESS_FILE_PATH],
			       struct aftl_error *error)
{
	struct aftl_record_header header = *stream_header(stream);
	struct record_writer *writer;
	struct aftl_error unused;
	int fd = nameless_file_create(error);
	int ret, finished;

	if (fd < 0)
		return fd;
	nameless_file_print_path(fd, path);
	scnprintf(header.tool_version, sizeof(header.tool_version), "approxftl %s",
		  approxftl_version());
	ret = record_create(&writer, path, path, &header, error);
	if (ret)
		return ret;
	ret = copy_stream_to_writer(stream, writer, error);
	/* Keep the message of an earlier failure to write, if there was one. */
	finished = record_finish(writer, ret ? &unused : error);
	return ret ? ret : finished;
}

static void add_command_argument(struct command *command, const char *word)
{
	command->arguments[command->count++] = (char *)word;
}

static char *make_json_option_for_path(const char *path)
{
	size_t size = sizeof("--json=") + strlen(path);
	char *word = memory_alloc_zeroed(size, 1);

	scnprintf(word, size, "--json=%s", path);
	return word;
}

static void make_simulate_command(struct command *command, const struct replay_options *options,
				  const char *path)
{
	command->arguments =
		memory_alloc_zeroed((size_t)options->sim_count + OWN_ARGUMENTS, sizeof(char *));
	find_sibling_program("approxftl", command->program, sizeof(command->program));
	add_command_argument(command, "approxftl");
	add_command_argument(command, "sim");
	add_command_argument(command, "--trace");
	add_command_argument(command, path);
	add_command_argument(command, "--arrival");
	add_command_argument(command, options->closed_loop ? "closed" : "trace");
	if (options->closed_loop) {
		scnprintf(command->depth, sizeof(command->depth), "--depth=%llu",
			  (unsigned long long)options->closed_loop);
		add_command_argument(command, command->depth);
	}
	/* Without a given size the simulator wraps addresses at the end of the simulated device. */
	if (options->fold)
		add_command_argument(command, "--fold");
	if (options->seed_given) {
		scnprintf(command->seed, sizeof(command->seed), "--seed=%llu",
			  (unsigned long long)options->seed);
		add_command_argument(command, command->seed);
	}
	if (options->json) {
		command->json = make_json_option_for_path(options->json);
		add_command_argument(command, command->json);
	}
	for (int i = 0; i < options->sim_count; i++)
		add_command_argument(command, options->sim_arguments[i]);
}

enum exit_code simulate_stream(const struct replay_options *options, struct replay_stream *stream,
			       bool changed)
{
	struct command command = { .count = 0 };
	struct aftl_error error;

	scnprintf(command.path, sizeof(command.path), "%s", options->trace);
	if (changed && write_changed_trace(stream, command.path, &error))
		return report_command_failure("replay", &error, EXIT_FAILED);
	make_simulate_command(&command, options, command.path);
	execvp(command.program, command.arguments);
	complain_as("replay", "%s: cannot run the simulator: %s", command.program, strerror(errno));
	free(command.json);
	free(command.arguments);
	return EXIT_FAILED;
}
