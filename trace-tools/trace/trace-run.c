// SPDX-License-Identifier: GPL-2.0-only
#include <sys/stat.h>

#include "complain.h"
#include "file-claims.h"
#include "interruption.h"
#include "json-envelope.h"
#include "trace-run.h"

/* Update the progress display and check for Ctrl-C once in this many requests. */
#define LOOK_EVERY 4096

enum exit_code trace_complain(int ret, const struct aftl_error *error)
{
	if (ret == -EINTR)
		return EXIT_INTERRUPTED;
	return report_command_failure("trace", error, get_exit_code_of_input_error(ret));
}

enum exit_code trace_complain_usage(const struct aftl_error *error)
{
	return report_command_failure("trace", error, EXIT_USAGE);
}

/* Return: total size of all trace files; 0 if the size of a file is unknown (a pipe). */
static u64 sum_source_bytes(const struct trace_reader *reader)
{
	u64 bytes = 0;
	struct stat state;

	for (u32 i = 0; i < reader->paths.count; i++) {
		if (stat(reader->paths.list[i], &state) || !S_ISREG(state.st_mode))
			return 0;
		bytes += (u64)state.st_size;
	}
	return bytes;
}

/* Open --json and --dropped; if the subcommand makes a copy, check the name of the copy. */
static int open_trace_outputs(struct trace_run *run, bool copies, struct aftl_error *error)
{
	const struct trace_options *options = &run->options;
	int ret = 0;

	if (copies)
		ret = claim_output_file(options->words[options->word_count - 1], "OUT", error);
	if (!ret && options->dropped)
		ret = output_file_open(&run->dropped, options->dropped, "--dropped", true, error);
	if (!ret && options->json)
		ret = output_file_open(&run->json, options->json, "--json", true, error);
	return ret;
}

static int open_trace_source(struct trace_run *run, u32 sources,
			     const struct trace_open_options *open_options,
			     struct aftl_error *error)
{
	const struct trace_options *options = &run->options;
	int ret = open_trace_outputs(run, sources < options->word_count, error);

	if (ret)
		return ret;
	run->reader.losses.list = run->dropped.stream;
	return trace_reader_open(&run->reader, options->words, sources, open_options, error);
}

static int check_verb_options(struct trace_run *run, const struct trace_verb *verb,
			      struct trace_open_options *open_options, struct aftl_error *error)
{
	const struct trace_options *options = &run->options;
	int ret;

	if (options->word_count <= verb->targets)
		return aftl_fail(error, -EINVAL,
				 "%s missing; \"approxftl trace %s --help\" explains it",
				 verb->targets ? "IN or OUT" : "FILE", verb->name);
	ret = reading_options_make_open_options(&options->reading, open_options, error);
	if (!ret && options->to)
		ret = reading_options_check_format("to", options->to, error);
	return ret;
}

/* Warn if one file of a capture is read alone: the file has only a part of the requests. */
static void warn_of_unread_capture_files(const struct trace_run *run)
{
	const struct trace_paths *given = &run->reader.paths;
	struct trace_paths all = { 0 };
	char capture[4096];
	const char *mark;

	if (!given->count || run->options.quiet)
		return;
	mark = strstr(given->list[0], ".blktrace.");
	if (!mark)
		return;
	scnprintf(capture, sizeof(capture), "%.*s", (int)(mark - given->list[0]), given->list[0]);
	trace_paths_add(&all, capture);
	if (all.count > given->count)
		complain_as("trace",
			    "%u of %u files of this capture are read; \"%s\" stands for all of them",
			    given->count, all.count, capture);
	trace_paths_free(&all);
}

static enum exit_code begin_trace_run(struct trace_run *run, const struct trace_verb *verb)
{
	struct aftl_error error;
	struct trace_open_options open_options;
	int ret;

	if (check_verb_options(run, verb, &open_options, &error))
		return trace_complain_usage(&error);
	interruption_catch_stop_signals();
	run->reader.losses.strict = run->options.reading.strict;
	ret = open_trace_source(run, run->options.word_count - verb->targets, &open_options,
				&error);
	if (ret) {
		output_file_abandon(&run->dropped);
		return trace_complain(ret, &error);
	}
	warn_of_unread_capture_files(run);
	progress_begin(&run->progress,
		       run->options.quiet ? PROGRESS_NEVER : PROGRESS_ON_TERMINAL, "bytes",
		       sum_source_bytes(&run->reader));
	return EXIT_DONE;
}

static enum exit_code end_trace_run(struct trace_run *run, enum exit_code code)
{
	struct aftl_error error;

	progress_end(&run->progress);
	if (run->reader.names)
		trace_reader_close(&run->reader);
	output_file_abandon(&run->json);
	trace_options_free(&run->options);
	/* Keep the output file of option --dropped even if the run failed. */
	if (!run->dropped.stream || !output_file_close(&run->dropped, &error))
		return code;
	return report_command_failure("trace", &error, code ? code : EXIT_FAILED);
}

enum exit_code trace_run_verb(const struct trace_verb *verb, int argc, char **argv)
{
	struct trace_run run = { .taken = 0 };
	enum exit_code code = EXIT_DONE;
	struct aftl_error error;

	if (trace_options_parse(&run.options, verb->bit, argc, argv, &error)) {
		trace_options_free(&run.options);
		return trace_complain_usage(&error);
	}
	if (run.options.help) {
		fputs(verb->usage, stdout);
		trace_options_help(verb->bit);
	} else {
		code = verb->sourceless ? EXIT_DONE : begin_trace_run(&run, verb);
		code = code ? code : verb->run(&run);
	}
	return end_trace_run(&run, code);
}

int trace_run_next_request(struct trace_run *run, struct trace_request *request,
			   struct aftl_error *error)
{
	int ret = trace_reader_next_request(&run->reader, request, error);

	if (ret <= 0 || ++run->taken % LOOK_EVERY)
		return ret;
	if (is_stop_requested())
		return aftl_fail(error, -EINTR, "interrupted");
	progress_report(&run->progress, trace_reader_position(&run->reader));
	return ret;
}

void trace_run_write_summary_json(const struct trace_run *run, struct json_writer *json,
				  const struct trace_summary *summary)
{
	struct trace_classes classes = trace_reader_get_classes(&run->reader);

	trace_reader_write_json(&run->reader, json);
	trace_reader_write_losses_json(&run->reader, json);
	json_begin_object(json, "requests");
	trace_summary_write_json(json, summary, &classes);
	json_end_object(json);
}

int trace_run_begin_json(struct trace_run *run, struct json_writer *json, struct aftl_error *error)
{
	char verb[32];
	int ret = 0;

	if (!run->json.stream)
		ret = output_file_open(&run->json, run->options.json, "--json", true, error);
	if (ret)
		return ret;
	scnprintf(verb, sizeof(verb), "trace %s", run->options.argv[0]);
	json_envelope_begin_for_verb(json, run->json.stream, verb, run->options.argc,
				     run->options.argv);
	return 0;
}

int trace_run_end_json(struct trace_run *run, struct json_writer *json, struct aftl_error *error)
{
	json_envelope_end(json);
	return output_file_close(&run->json, error);
}
