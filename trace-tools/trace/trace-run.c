// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <sys/stat.h>

#include "checked-memory.h"
#include "complain.h"
#include "human-units.h"
#include "interruption.h"
#include "json-envelope.h"
#include "trace-run.h"

/* Requests between two looks at the clock and at Ctrl-C. */
#define LOOK_EVERY 4096

/* Bytes of all files, 0 if one of them has no end that is known. */
static u64 total_bytes(const struct trace_reader *reader)
{
	u64 bytes = 0;
	struct stat state;
	u32 i;

	for (i = 0; i < reader->paths.count; i++) {
		if (stat(reader->paths.list[i], &state) || !S_ISREG(state.st_mode))
			return 0;
		bytes += (u64)state.st_size;
	}
	return bytes;
}

static int open_source(struct trace_run *run, u32 sources, struct aftl_error *error)
{
	struct trace_wish wish;
	int ret = trace_options_wish(&run->options, &wish, error);

	if (ret)
		return ret;
	run->reader = (struct trace_reader){ .losses.strict = run->options.strict };
	if (run->options.dropped) {
		run->reader.losses.list = fopen(run->options.dropped, "w");
		if (!run->reader.losses.list)
			return aftl_fail(error, -errno, "%.120s: cannot create: %s",
					 run->options.dropped, strerror(errno));
	}
	return trace_reader_open(&run->reader, run->options.words, sources, &wish, error);
}

static enum exit_code check_words(const struct trace_run *run, const char *verb, u32 words,
				  struct aftl_error *error)
{
	if (run->options.word_count > words)
		return EXIT_DONE;
	aftl_fail(error, -EINVAL, "%s missing; \"approxftl trace %s --help\" explains it",
		  words ? "IN or OUT" : "FILE", verb);
	return EXIT_USAGE;
}

/* A file of a capture without its siblings is a part of the requests only. */
static void warn_of_siblings(const struct trace_run *run)
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
		complain_of("trace",
			    "%u of %u files of this capture are read; \"%s\" stands for all of them",
			    given->count, all.count, capture);
	trace_paths_free(&all);
}

enum exit_code trace_run_begin(struct trace_run *run, enum trace_verb_bit verb, const char *usage,
			       u32 words, int argc, char **argv)
{
	struct aftl_error error;
	int ret;

	*run = (struct trace_run){ .taken = 0 };
	if (trace_options_parse(&run->options, verb, argc, argv, &error))
		return trace_complain_usage(&error);
	if (run->options.help) {
		fputs(usage, stdout);
		trace_options_help(verb);
		return EXIT_DONE;
	}
	if (check_words(run, argv[0], words, &error))
		return trace_complain_usage(&error);
	interruption_catch();
	ret = open_source(run, run->options.word_count - words, &error);
	if (ret)
		return trace_complain(ret, &error);
	warn_of_siblings(run);
	progress_begin(&run->progress,
		       run->options.quiet ? PROGRESS_NEVER : PROGRESS_ON_TERMINAL, "bytes",
		       total_bytes(&run->reader));
	return EXIT_DONE;
}

void trace_run_end(struct trace_run *run)
{
	FILE *list = run->reader.losses.list;

	progress_end(&run->progress);
	if (run->reader.names)
		trace_reader_close(&run->reader);
	if (list)
		fclose(list);
	trace_options_free(&run->options);
}

enum exit_code trace_run_summarise(enum trace_verb_bit verb, const char *usage, int argc,
				   char **argv,
				   enum exit_code (*tell)(struct trace_run *run,
							  struct trace_summary *summary))
{
	struct trace_summary *summary = NULL;
	struct trace_run run;
	enum exit_code code = trace_run_begin(&run, verb, usage, 0, argc, argv);

	if (!code && !run.options.help) {
		summary = trace_summary_create();
		code = tell(&run, summary);
	}
	trace_summary_free(summary);
	trace_run_end(&run);
	return code;
}

int trace_run_next(struct trace_run *run, struct trace_request *request, struct aftl_error *error)
{
	int ret = trace_reader_next(&run->reader, request, error);

	if (ret <= 0 || ++run->taken % LOOK_EVERY)
		return ret;
	if (interrupted())
		return aftl_fail(error, -EINTR, "interrupted");
	progress_step(&run->progress, trace_reader_position(&run->reader));
	return ret;
}

struct trace_classes trace_run_classes(const struct trace_run *run)
{
	static const char usual[][AFTL_RECORD_NAME_SIZE] = { "precise", "approximate" };
	const struct trace_file *file = &run->reader.merge.sources[0].file;

	if (file->class_names)
		return (struct trace_classes){ file->class_names, file->classes };
	return (struct trace_classes){ usual, ARRAY_SIZE(usual) };
}

void trace_run_describe(const struct trace_run *run, FILE *out)
{
	u32 i;

	for (i = 0; i < run->reader.merge.count; i++) {
		const struct trace_file *file = &run->reader.merge.sources[i].file;

		fprintf(out, "%s: %s: %s; %s\n", file->input.name, file->format->name,
			file->format->title, file->format->units);
	}
}

static const char *const action_names[] = {
	NULL, "Q", "M", "F", "G", "S", "R", "D", "C", "P", "U", "UT", "I", "X", "B", "A", "abort",
	"driver",
};

static void put_actions(struct json_writer *json, const struct trace_file *file)
{
	u32 i;

	json_record(json, "actions");
	for (i = 0; i < ARRAY_SIZE(action_names); i++)
		if (action_names[i] && file->actions[i])
			json_u64(json, action_names[i], file->actions[i]);
	json_end_object(json);
	json_u64(json, "notes", file->notes);
}

void trace_run_describe_json(const struct trace_run *run, struct json_writer *json)
{
	u32 i;

	json_array(json, "files");
	for (i = 0; i < run->reader.merge.count; i++) {
		const struct trace_file *file = &run->reader.merge.sources[i].file;

		json_object(json, NULL);
		json_string(json, "name", file->input.name);
		json_string(json, "format", file->format->name);
		json_string(json, "units", file->format->units);
		if (file->time_unit_ns)
			json_u64(json, "time_unit_ns", file->time_unit_ns);
		if (file->format->events)
			put_actions(json, file);
		json_end_object(json);
	}
	json_end_array(json);
}

/* A number and what it is of, if there are any. */
static void put_loss(FILE *out, u64 count, const char *what)
{
	if (count)
		fprintf(out, "%llu %s\n", (unsigned long long)count, what);
}

void trace_run_losses(const struct trace_run *run, FILE *out)
{
	const struct trace_losses *losses = &run->reader.losses;
	const struct trace_pairing_counts *counts;

	put_loss(out, losses->lines, "lines were dropped");
	put_loss(out, losses->skipped_bytes, "bytes are no event and were skipped");
	put_loss(out, losses->missing_events, "events are missing by their numbers");
	put_loss(out, losses->late, "items were too far out of order; their times were raised");
	if (losses->told > TRACE_LOSSES_SHOWN && !losses->list)
		put_loss(out, losses->told - TRACE_LOSSES_SHOWN,
			 "complaints were not printed; --dropped FILE lists all");
	if (!run->reader.pairing)
		return;
	counts = trace_pairing_counts(run->reader.pairing);
	put_loss(out, counts->unfinished, "requests without a completion");
	put_loss(out, counts->unbegun, "completions without a request");
	put_loss(out, counts->failed, "requests ended with an error");
	put_loss(out, counts->untagged, "notes of a class without a write");
}

void trace_run_losses_json(const struct trace_run *run, struct json_writer *json)
{
	const struct trace_losses *losses = &run->reader.losses;
	const struct trace_pairing_counts *counts;

	json_object(json, "losses");
	json_u64(json, "dropped_lines", losses->lines);
	json_u64(json, "skipped_bytes", losses->skipped_bytes);
	json_u64(json, "missing_events", losses->missing_events);
	json_u64(json, "late_items", losses->late);
	if (run->reader.pairing) {
		counts = trace_pairing_counts(run->reader.pairing);
		json_u64(json, "unfinished_requests", counts->unfinished);
		json_u64(json, "unbegun_completions", counts->unbegun);
		json_u64(json, "failed_requests", counts->failed);
		json_u64(json, "untagged_notes", counts->untagged);
	}
	json_end_object(json);
}

void trace_run_summary_json(const struct trace_run *run, struct json_writer *json,
			    const struct trace_summary *summary)
{
	struct trace_classes classes = trace_run_classes(run);

	trace_run_describe_json(run, json);
	trace_run_losses_json(run, json);
	json_object(json, "requests");
	trace_summary_json(json, summary, &classes);
	json_end_object(json);
}

/* The command line as a user types it: approxftl trace VERB ... */
static void begin_envelope(const struct trace_run *run, struct json_writer *json, FILE *file)
{
	u32 count = (u32)run->options.argc, i;
	char **words = memory_zeroed(count + 2, sizeof(*words));
	char program[] = "approxftl", part[] = "trace";

	words[0] = program;
	words[1] = part;
	for (i = 0; i < count; i++)
		words[i + 2] = run->options.argv[i];
	json_envelope_begin(json, file, (int)count + 2, words);
	free(words);
}

FILE *trace_run_json_begin(const struct trace_run *run, struct json_writer *json,
			   struct aftl_error *error)
{
	const char *path = run->options.json;
	FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (file)
		begin_envelope(run, json, file);
	else
		aftl_fail(error, -errno, "%.120s: cannot create: %s", path, strerror(errno));
	return file;
}

int trace_run_json_end(const struct trace_run *run, struct json_writer *json, FILE *file,
		       struct aftl_error *error)
{
	bool failed;

	json_envelope_end(json);
	failed = fflush(file) || ferror(file);
	if (file != stdout && fclose(file))
		failed = true;
	return failed ? aftl_fail(error, -EIO, "%.120s: cannot write", run->options.json) : 0;
}
