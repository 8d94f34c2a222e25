// SPDX-License-Identifier: GPL-2.0-only
/*
 * approxftl-replay: replays the requests of a trace on a device at their recorded times.
 */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "exit-codes.h"
#include "file-claims.h"
#include "human-units.h"
#include "interruption.h"
#include "json-envelope.h"
#include "output-file.h"
#include "replay-run.h"
#include "simulate.h"
#include "standard-streams.h"
#include "target-state.h"
#include "version.h"

/* Maximum length of a read when all written data are read back at the end of the replay. */
#define READ_BACK_BYTES (256U << 10)
#define READ_BACK_DEPTH 16

/**
 * struct replay - an invocation of approxftl-replay
 * @options: the command line
 * @stream: the requests
 * @change: changes to the requests
 * @survey: summary of the changed stream
 * @run: state shared by the threads
 * @log_header: header of the log and the report
 * @control: descriptor of the control device for tags, or negative
 * @tags: description of how the device learns the classes
 */
struct replay {
	struct replay_options options;
	struct replay_stream *stream;
	struct stream_change change;
	struct stream_summary survey;
	struct replay_run run;
	struct replay_log_header log_header;
	int control;
	struct aftl_error tags;
};

/* Preparation */

/* Print the detected format of a trace that is no record file, before the trace is used. */
static void print_trace_format(const struct replay *replay)
{
	const struct stream_summary *survey = &replay->survey;
	char span[HUMAN_SIZE], share[HUMAN_SIZE];

	if (stream_is_record_file(replay->stream))
		return;
	stream_print_losses(replay->stream, stderr);
	if (replay->options.quiet)
		return;
	human_format_time_without_padding(span, survey->span_ns);
	format_fixed_point(share,
			   scaled_ratio(survey->by_op[AFTL_OP_WRITE], survey->requests, 1000), 1,
			   " %");
	fprintf(stderr, "%llu requests: span %s, %s writes\n",
		(unsigned long long)survey->requests, span, share);
}

static int open_request_stream(struct replay *replay, struct aftl_error *error)
{
	const struct replay_options *options = &replay->options;
	int ret = stream_open(&replay->stream, options->trace, &options->reading, error);

	if (ret)
		return ret;
	if (!options->quiet)
		stream_print_format(replay->stream, stderr);
	replay->change = (struct stream_change){
		.speed = options->speed,
		.align = options->align_bytes,
		.limit = options->requests,
	};
	stream_set_request_transform(replay->stream, &replay->change);
	ret = read_and_summarise_request_stream(replay->stream, &replay->survey, error);
	if (!ret)
		print_trace_format(replay);
	return ret;
}

static int open_replay_target(struct replay *replay, struct aftl_error *error)
{
	const struct replay_options *options = &replay->options;
	const struct target_options target_options = {
		.path = options->target,
		.size = options->size_bytes,
		.writes = does_stream_change_data(&replay->survey),
		.buffered = options->buffered,
		.overwrite = options->overwrite,
		.force = options->force,
		.only_look = options->dry_run,
	};

	return target_open(&replay->run.target, &target_options, error);
}

static int wrap_stream_addresses(struct replay *replay, u64 bytes, struct aftl_error *error)
{
	replay->change.fold_bytes = bytes;
	stream_set_request_transform(replay->stream, &replay->change);
	return read_and_summarise_request_stream(replay->stream, &replay->survey, error);
}

/* Return where addresses wrap: the target's size, rounded down to the alignment (at most 4 KiB). */
static u64 compute_address_wrapping_size(const struct replay *replay)
{
	u64 grain = max(replay->survey.grain_bytes, (u64)replay->run.target.sector);

	grain = min(grain, 4096ULL);
	return replay->run.target.size / grain * grain;
}

static int fit_stream_to_target(struct replay *replay, struct aftl_error *error)
{
	const struct replay_target *target = &replay->run.target;
	const struct stream_summary *survey = &replay->survey;

	if (survey->end_bytes > target->size && !replay->options.fold)
		return aftl_fail(error, -EFBIG,
				 "the stream reaches to byte %llu, %.80s has %llu; --fold lets addresses begin again",
				 (unsigned long long)survey->end_bytes, target->path,
				 (unsigned long long)target->size);
	if (survey->end_bytes > target->size) {
		int ret =
			wrap_stream_addresses(replay, compute_address_wrapping_size(replay), error);

		if (ret)
			return ret;
	}
	if (target->direct && survey->grain_bytes && survey->grain_bytes < target->sector)
		return aftl_fail(error, -EINVAL,
				 "requests are multiples of %llu bytes, %.80s takes %u; --align %u or --buffered",
				 (unsigned long long)survey->grain_bytes, target->path,
				 target->sector, target->sector);
	return 0;
}

static int check_stream_size_limits(const struct replay *replay, struct aftl_error *error)
{
	const struct stream_summary *survey = &replay->survey;

	if (!survey->requests)
		return aftl_fail(error, -EINVAL, "%.120s has no requests", replay->options.trace);
	if (survey->largest_bytes > DATA_BUFFER_LARGEST)
		return aftl_fail(error, -EFBIG,
				 "a request has %llu bytes, more than the maximum of %u",
				 (unsigned long long)survey->largest_bytes, DATA_BUFFER_LARGEST);
	if (replay->options.verify && survey->requests >= U32_MAX)
		return aftl_fail(error, -EFBIG,
				 "--verify can tell %u requests apart; there are more: --requests N",
				 U32_MAX);
	return 0;
}

/* Open the control device for memory tags; if it is missing, fail only with --tags require. */
static int open_tag_control(struct replay *replay, struct aftl_error *error)
{
	const char *when = replay->options.tags;

	replay->control = -1;
	if (!strcmp(when, "off")) {
		scnprintf(replay->tags.text, sizeof(replay->tags.text), "off");
		return 0;
	}
	replay->control = data_tags_open(&replay->tags);
	if (replay->control >= 0)
		scnprintf(replay->tags.text, sizeof(replay->tags.text), "by memory");
	else if (!strcmp(when, "require"))
		return aftl_fail(error, -ENOTSUP, "--tags require: cannot tag requests: %s",
				 replay->tags.text);
	return 0;
}

static int prepare_expected_data(struct replay *replay, struct aftl_error *error)
{
	struct replay_run *run = &replay->run;
	u64 largest = max(replay->survey.largest_bytes, (u64)READ_BACK_BYTES);
	u64 grain = replay->survey.grain_bytes;
	int ret;

	run->expected.unit_bytes = !grain || grain >= 4096 ? 4096 : 512;
	run->expected.seed = replay->options.seed;
	run->verifies = replay->options.verify;
	ret = data_buffers_create(&run->buffers, replay->options.memory_bytes, (u32)largest,
				  replay->control, error);
	if (!ret && run->verifies)
		ret = expected_data_create(&run->expected,
					   run->target.size / run->expected.unit_bytes, error);
	return ret;
}

static int choose_io_engine(struct replay *replay, struct aftl_error *error)
{
	const struct engine_config config = { .target = &replay->run.target, .depth = 1 };
	const char *name = replay->options.engine;
	struct engine *engine;
	int ret;

	replay->run.engine_type = &threads_engine;
	if (name && !strcmp(name, "threads"))
		return 0;
	ret = uring_engine.open(&engine, &config, error);
	if (!ret) {
		uring_engine.close(engine);
		replay->run.engine_type = &uring_engine;
		return 0;
	}
	return ret == -EOPNOTSUPP && !name ? 0 : ret;
}

static int prepare_replay(struct replay *replay, struct aftl_error *error)
{
	int ret = open_request_stream(replay, error);

	if (!ret)
		ret = check_stream_size_limits(replay, error);
	if (!ret)
		ret = open_replay_target(replay, error);
	if (!ret)
		ret = fit_stream_to_target(replay, error);
	return ret ? ret : choose_io_engine(replay, error);
}

/* Print the plan */

static void print_replay_plan(const struct replay *replay)
{
	static const char *const names[AFTL_OPS] = { "reads", "writes", "flushes", "discards",
						      "zeroes" };
	const struct stream_summary *survey = &replay->survey;
	char size[HUMAN_SIZE], span[HUMAN_SIZE];

	human_format_time_without_padding(span, survey->span_ns);
	printf("%s: %llu requests in %s\n", replay->options.trace,
	       (unsigned long long)survey->requests, span);
	for (unsigned int op = 0; op < AFTL_OPS; op++) {
		if (!survey->by_op[op])
			continue;
		human_format_bytes(size, survey->bytes_by_op[op]);
		printf("  %s: %llu, %s\n", names[op], (unsigned long long)survey->by_op[op], size);
	}
	if (survey->folded)
		printf("  folded: %llu\n", (unsigned long long)survey->folded);
	human_format_bytes(size, replay->run.target.size);
	printf("%s: %s of %s, %s, by %s\n", replay->run.target.path,
	       replay->run.target.device ? "block device" : "file", size,
	       replay->run.target.direct ? "direct" : "through the page cache",
	       replay->run.engine_type->name);
}

/* With --json=- or --json, print only the JSON document to standard output. */
static FILE *choose_text_stream(const struct replay_options *options)
{
	return options->json && !strcmp(options->json, "-") ? stderr : stdout;
}

/* Report */

static void write_replay_description(struct replay *replay)
{
	struct replay_log_header *header = &replay->log_header;
	FILE *out = fmemopen(header->about, sizeof(header->about) - 1, "w");
	struct json_writer json;

	if (!out)
		return;
	json_begin_document(&json, out);
	json_begin_object(&json, NULL);
	json_string(&json, "trace", replay->options.trace);
	json_string(&json, "target", replay->options.target);
	json_u64(&json, "target_bytes", replay->run.target.size);
	json_bool(&json, "direct", replay->run.target.direct);
	json_decimal(&json, "speed", replay->options.speed, 12);
	json_u64(&json, "seed", replay->options.seed);
	json_u64(&json, "unit_bytes", replay->run.expected.unit_bytes);
	json_string(&json, "tags", replay->tags.text);
	json_end_object(&json);
	json_end_document(&json);
	/* Omit the JSON document from the log's header if the document is too long for it. */
	if (fclose(out))
		header->about[0] = '\0';
}

static void describe_replay(struct replay *replay)
{
	const struct aftl_record_header *stream = stream_header(replay->stream);
	struct replay_log_header *header = &replay->log_header;

	header->planned = replay->survey.requests;
	header->classes = stream->classes;
	header->closed_depth = (u32)replay->options.closed_loop;
	header->limit = (u32)(replay->options.closed_loop ? replay->options.closed_loop :
							     replay->options.limit);
	memcpy(header->class_names, stream->class_names, sizeof(header->class_names));
	scnprintf(header->engine, sizeof(header->engine), "%s", replay->run.engine_type->name);
	scnprintf(header->tool_version, sizeof(header->tool_version), "approxftl %s",
		  approxftl_version());
	write_replay_description(replay);
}

/* File of --json. The file is opened at the start, so that a wrong name fails before the replay. */
static struct output_file json_file;

static enum exit_code open_json_output(const char *path)
{
	struct aftl_error error;

	if (!path || !output_file_open(&json_file, path, "--json", true, &error))
		return EXIT_DONE;
	return report_command_failure("replay", &error, EXIT_FAILED);
}

static enum exit_code write_replay_json(const struct replay_options *options,
					const struct replay_report *report, bool was_interrupted)
{
	struct json_writer json;
	struct aftl_error error;

	json_envelope_begin_for_verb(&json, json_file.stream, "replay", options->argc,
				     options->argv);
	if (options->summarise) {
		json_string(&json, "log", options->summarise);
	} else {
		json_string(&json, "trace", options->trace);
		json_string(&json, "target", options->target);
	}
	json_bool(&json, "interrupted", was_interrupted);
	replay_report_write_json(report, &json);
	json_envelope_end(&json);
	if (!output_file_close(&json_file, &error))
		return EXIT_DONE;
	return report_command_failure("replay", &error, EXIT_FAILED);
}

static enum exit_code print_summary(const struct replay_options *options,
				    const struct replay_report *report, bool was_interrupted)
{
	if (!options->json || strcmp(options->json, "-") != 0)
		replay_report_print(report, stdout);
	return options->json ? write_replay_json(options, report, was_interrupted) : EXIT_DONE;
}

/* Return the exit code of the replay's most serious problem. */
static enum exit_code replay_exit_code(const struct replay_options *options,
				       const struct replay_report *report)
{
	char lag[HUMAN_SIZE], most[HUMAN_SIZE];

	if (report->failed)
		return EXIT_FAILED;
	if (replay_report_is_data_wrong(report)) {
		complain_as("replay", "data came back wrong");
		return EXIT_NOT_VERIFIED;
	}
	if (!options->max_lag_ns || report->header.closed_depth ||
	    replay_report_lag_p99(report) <= options->max_lag_ns)
		return EXIT_DONE;
	human_format_time_without_padding(lag, replay_report_lag_p99(report));
	human_format_time_without_padding(most, options->max_lag_ns);
	complain_as("replay", "1 %% of the requests were later than %s, --max-lag allows %s", lag,
		    most);
	return EXIT_NOT_VERIFIED;
}

/* The replay */

static int next_stream_request(void *context, struct aftl_record *record, struct aftl_error *error)
{
	return stream_next_request(context, record, error);
}

static int read_all_data_back(struct replay *replay, struct aftl_error *error)
{
	struct read_back back = {
		.expected = &replay->run.expected,
		.most_units = READ_BACK_BYTES / replay->run.expected.unit_bytes,
	};
	const struct request_source source = { .next = next_read_back_request, .context = &back };

	return replay_run_execute_phase(&replay->run, &source, READ_BACK_DEPTH, error);
}

static int run_replay_phases(struct replay *replay, struct aftl_error *error)
{
	const struct request_source source = { .next = next_stream_request,
					       .context = replay->stream,
					       .in_stream = true };
	int ret = stream_rewind(replay->stream, error);

	if (!ret)
		ret = replay_run_execute_phase(&replay->run, &source,
					       (u32)replay->options.closed_loop, error);
	if (!ret && replay->options.read_back && !is_stop_requested())
		ret = read_all_data_back(replay, error);
	return ret;
}

static int run_prepared_replay(struct replay *replay, struct aftl_error *error)
{
	struct replay_run *run = &replay->run;
	struct aftl_error later;
	int ret = 0, end;

	run->options = &replay->options;
	run->stream = replay->stream;
	describe_replay(replay);
	run->report = replay_report_create(&replay->log_header, replay->options.late_ns);
	if (replay->options.record)
		ret = replay_log_create(&run->log, replay->options.record, &replay->log_header,
					error);
	if (ret)
		return ret;
	interruption_catch_stop_signals();
	progress_begin(&run->progress, replay->options.quiet ? PROGRESS_NEVER :
							       PROGRESS_ON_TERMINAL,
		       "replay", replay->survey.requests);
	replay_run_prepare(run);
	ret = run_replay_phases(replay, error);
	progress_end(&run->progress);
	end = replay_log_finish(run->log, ret ? &later : error);
	return ret ? ret : end;
}

static enum exit_code run_replay(struct replay *replay, struct aftl_error *error)
{
	enum exit_code told, judged;
	int ret = open_tag_control(replay, error);
	struct target_status status;

	lock_pages_in_memory();
	if (!ret)
		ret = prepare_expected_data(replay, error);
	if (!ret)
		ret = run_prepared_replay(replay, error);
	if (ret)
		return report_command_failure("replay", error, EXIT_FAILED);
	told = print_summary(&replay->options, replay->run.report, is_stop_requested());
	if (target_state_read(&replay->run.target, &status))
		target_state_warn_of_late_completions(replay->run.target.path, &status,
						      replay->options.late_ns,
						      choose_text_stream(&replay->options));
	judged = replay_exit_code(&replay->options, replay->run.report);
	if (is_stop_requested())
		return EXIT_INTERRUPTED;
	return judged ? judged : told;
}

static enum exit_code replay_to_simulator(struct replay *replay, struct aftl_error *error)
{
	const struct replay_options *options = &replay->options;
	bool changed;
	int ret = open_request_stream(replay, error);

	if (!ret && options->fold && options->size_bytes)
		ret = wrap_stream_addresses(replay, options->size_bytes, error);
	if (ret)
		return report_command_failure("replay", error, get_exit_code_of_input_error(ret));
	changed = !stream_is_record_file(replay->stream) ||
		  options->speed != REPLAY_SPEED_ONE || options->align_bytes ||
		  options->requests || (options->fold && options->size_bytes);
	if (!options->quiet)
		print_note_about_simulated_fill(options->sim_count, options->sim_arguments, stderr);
	return simulate_stream(options, replay->stream, changed);
}

static enum exit_code replay_to_target(struct replay *replay, struct aftl_error *error)
{
	int ret = prepare_replay(replay, error);
	struct target_status status;

	if (ret)
		return report_command_failure("replay", error, get_exit_code_of_input_error(ret));
	if (target_state_read(&replay->run.target, &status))
		target_state_print_fullness(replay->run.target.path, &status,
					    choose_text_stream(&replay->options));
	if (!replay->options.dry_run)
		return run_replay(replay, error);
	print_replay_plan(replay);
	return EXIT_DONE;
}

static void release_replay(struct replay *replay)
{
	struct replay_run *run = &replay->run;

	output_file_abandon(&json_file);
	replay_run_release(run);
	replay_report_free(run->report);
	expected_data_free(&run->expected);
	if (run->buffers.bytes)
		data_buffers_free(&run->buffers);
	if (replay->control >= 0)
		close(replay->control);
	target_close(&run->target);
	stream_close(replay->stream);
}

static int read_replay_log(struct replay_log *log, struct replay_report *report,
			   struct aftl_error *error)
{
	struct replay_log_entry entry;
	int ret;

	while ((ret = replay_log_next_entry(log, &entry, error)) > 0)
		replay_report_add_entry(report, &entry);
	if (!ret && replay_log_count_unread_entries(log))
		complain_as("replay", "the log ends inside an entry: its writer was stopped");
	return ret;
}

static enum exit_code summarise_stream(const struct replay_options *options)
{
	struct replay_log_header header;
	struct replay_report *report;
	struct aftl_error error;
	struct replay_log *log;
	enum exit_code told;
	int ret = replay_log_open(&log, options->summarise, &header, &error);

	if (ret)
		return report_command_failure("replay", &error, get_exit_code_of_input_error(ret));
	report = replay_report_create(&header, options->late_ns);
	ret = read_replay_log(log, report, &error);
	if (ret)
		complain_as("replay", "%s", error.text);
	told = print_summary(options, report, !header.entries || report->done < header.planned);
	if (!told)
		told = ret ? EXIT_FAILED : replay_exit_code(options, report);
	replay_report_free(report);
	replay_log_close(log);
	return told;
}

/* Check for conflicts between the named files before one of the files is overwritten. */
static int check_file_conflicts(const struct replay_options *options, struct aftl_error *error)
{
	int ret = options->trace ? claim_input_file(options->trace, error) : 0;

	if (!ret && options->summarise)
		ret = claim_input_file(options->summarise, error);
	if (!ret && options->target)
		ret = claim_output_file(options->target, "TARGET", error);
	if (!ret && options->record)
		ret = claim_output_file(options->record, "--record", error);
	return !ret && options->json ? claim_output_file(options->json, "--json", error) : ret;
}

/* With --simulate the simulator opens its own files. */
static enum exit_code execute_replay(struct replay *replay)
{
	enum exit_code code = EXIT_DONE;
	struct aftl_error error;

	if (replay->options.help) {
		replay_options_help();
		return EXIT_DONE;
	}
	if (check_file_conflicts(&replay->options, &error))
		return report_command_failure("replay", &error, EXIT_FAILED);
	if (replay->options.simulate)
		return replay_to_simulator(replay, &error);
	code = open_json_output(replay->options.json);
	if (code)
		return code;
	return replay->options.summarise ? summarise_stream(&replay->options) :
	       replay_to_target(replay, &error);
}

int main(int argc, char **argv)
{
	static struct replay replay;
	struct aftl_error error;
	enum exit_code code;

	standard_streams_set_up();
	replay.control = -1;
	replay.run.target.fd = -1;
	if (replay_options_parse(&replay.options, argc, argv, &error))
		return report_command_failure("replay", &error, EXIT_USAGE);
	code = execute_replay(&replay);
	release_replay(&replay);
	return standard_streams_end("approxftl replay", code);
}
