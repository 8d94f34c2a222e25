// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl trace fix" removes the cgroup ids at the begin of notes. blkparse 1.2.0 ignores all
 * notes with a cgroup id, process names included, which kernels with block cgroups write.
 */
#include <stdlib.h>
#include <unistd.h>

#include "blktrace-layout.h"
#include "checked-memory.h"
#include "complain.h"
#include "interruption.h"
#include "json-envelope.h"
#include "output-file.h"
#include "trace-run.h"

static const char usage[] =
	"Usage: approxftl trace fix [OPTION ...] IN OUT\n"
	"\n"
	"Copies a capture of blktrace, IN.blktrace.0, IN.blktrace.1 ..., to OUT.blktrace.0 ... so\n"
	"that blkparse 1.2.0 prints the notes in it. Both may be single files, too.\n";

/**
 * struct fix - a blktrace trace that is being repaired
 * @run: options of the user, and the file of --json
 * @in: input file
 * @out: output file
 * @notes: number of changed notes
 * @events: number of events
 */
struct fix {
	struct trace_run *run;
	struct trace_input in;
	FILE *out;
	u64 notes;
	u64 events;
};

/* Byte offsets of fields in an event of blktrace version 7. */
#define MAGIC_AT 0
#define ACTION_AT 28
#define EXTRA_AT 46

static int report_bad_trace_byte(const struct fix *fix, const char *cause, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL, "%.80s: byte %llu: %s", fix->in.name,
			 (unsigned long long)fix->in.offset, cause);
}

static int check_event_magic(const struct fix *fix, const u8 *event, struct aftl_error *error)
{
	u32 magic;

	memcpy(&magic, event + MAGIC_AT, sizeof(magic));
	if (magic == (BLKTRACE_MAGIC | BLKTRACE_V7))
		return 0;
	if (magic == (BLKTRACE_MAGIC | BLKTRACE_V8))
		return report_bad_trace_byte(fix,
					     "version 8, which blkparse 1.2.0 does not read at all",
					     error);
	if (!magic)
		return report_bad_trace_byte(fix,
					     "zeroes where an event should begin: the end is lost; capture into files, not by \"blktrace -o -\"",
					     error);
	return report_bad_trace_byte(fix,
				     "no event of blktrace version 7 of this machine's byte order",
				     error);
}

/* Remove the cgroup id from a note. Return: number of bytes that follow the event. */
static u16 remove_cgroup_id(struct fix *fix, u8 *event, u16 extra)
{
	u32 action;

	memcpy(&action, event + ACTION_AT, sizeof(action));
	if (!(action & BLKTRACE_IS_NOTE) || !(action & BLKTRACE_CGROUP) ||
	    extra < BLKTRACE_CGROUP_BYTES)
		return extra;
	action &= ~(u32)BLKTRACE_CGROUP;
	memcpy(event + ACTION_AT, &action, sizeof(action));
	extra -= BLKTRACE_CGROUP_BYTES;
	memcpy(event + EXTRA_AT, &extra, sizeof(extra));
	fix->notes++;
	return extra;
}

static int repair_and_copy_trace_event(struct fix *fix, struct aftl_error *error)
{
	u8 event[BLKTRACE_V7_BYTES];
	u16 extra, kept;
	int ret;

	if (trace_input_left(&fix->in) < BLKTRACE_V7_BYTES)
		return report_bad_trace_byte(fix, "the file ends inside an event", error);
	memcpy(event, trace_input_next_bytes(&fix->in), sizeof(event));
	ret = check_event_magic(fix, event, error);
	if (ret)
		return ret;
	memcpy(&extra, event + EXTRA_AT, sizeof(extra));
	ret = trace_input_fill_buffer(&fix->in, BLKTRACE_V7_BYTES + (size_t)extra, error);
	if (ret)
		return ret;
	if (trace_input_left(&fix->in) < BLKTRACE_V7_BYTES + (size_t)extra)
		return report_bad_trace_byte(fix, "the file ends inside an event", error);
	kept = remove_cgroup_id(fix, event, extra);
	fwrite(event, sizeof(event), 1, fix->out);
	fwrite(trace_input_next_bytes(&fix->in) + BLKTRACE_V7_BYTES + extra - kept, kept, 1,
	       fix->out);
	trace_input_consume_bytes(&fix->in, BLKTRACE_V7_BYTES + (size_t)extra);
	fix->events++;
	return is_stop_requested() ? aftl_fail(error, -EINTR, "interrupted") : 0;
}

static int repair_and_copy_all_trace_events(struct fix *fix, struct aftl_error *error)
{
	int ret;

	do {
		ret = trace_input_fill_buffer(&fix->in, BLKTRACE_V7_BYTES, error);
		if (ret || !trace_input_left(&fix->in))
			return ret;
		ret = repair_and_copy_trace_event(fix, error);
	} while (!ret);
	return ret;
}

static int fix_trace_file(struct fix *fix, const char *in, const char *out,
			  struct aftl_error *error)
{
	struct output_file file;
	int ret = trace_input_open(&fix->in, in, error);

	if (ret)
		return ret;
	ret = output_file_open(&file, out, "OUT", fix->run->options.force, error);
	if (!ret) {
		fix->out = file.stream;
		ret = repair_and_copy_all_trace_events(fix, error);
		if (ret)
			output_file_abandon(&file);
		else
			ret = output_file_close(&file, error);
	}
	trace_input_close(&fix->in);
	return ret;
}

/* Repair one file of a capture: "x.blktrace.3" belongs to the capture "x". */
static int fix_file_of_capture(struct fix *fix, const char *in, const char *capture,
			       const char *out, struct aftl_error *error)
{
	char target[4096];

	if (scnprintf(target, sizeof(target), "%s%s", out, in + strlen(capture)) >=
	    (int)sizeof(target) - 1)
		return aftl_fail(error, -ENAMETOOLONG, "%.120s: the file name is too long", out);
	return fix_trace_file(fix, in, target, error);
}

static int fix_capture_files(struct fix *fix, struct aftl_error *error)
{
	const char *in = fix->run->options.words[0], *out = fix->run->options.words[1];
	struct trace_paths paths = { 0 };
	int ret = 0;

	if (!strcmp(in, "-") || !access(in, F_OK))
		return fix_trace_file(fix, in, out, error);
	trace_paths_add(&paths, in);
	for (u32 i = 0; i < paths.count && !ret; i++)
		ret = strcmp(paths.list[i], in) ?
			      fix_file_of_capture(fix, paths.list[i], in, out, error) :
			      fix_trace_file(fix, in, out, error);
	trace_paths_free(&paths);
	return ret;
}

/* Open the file of --json first, so that a wrong name fails before any work. */
static int fix_capture_and_report(struct fix *fix, struct aftl_error *error)
{
	const char *json = fix->run->options.json;
	int ret = 0;

	if (json)
		ret = output_file_open(&fix->run->json, json, "--json", true, error);
	return ret ? ret : fix_capture_files(fix, error);
}

static int write_trace_repair_json(struct fix *fix, struct aftl_error *error)
{
	struct json_writer json;
	int ret = trace_run_begin_json(fix->run, &json, error);

	if (ret)
		return ret;
	json_u64(&json, "events", fix->events);
	json_u64(&json, "changed_notes", fix->notes);
	return trace_run_end_json(fix->run, &json, error);
}

static enum exit_code run_fix(struct trace_run *run)
{
	struct fix fix = { .run = run };
	struct aftl_error error;
	int ret;

	if (run->options.word_count != 2) {
		aftl_fail(&error, -EINVAL,
			  "fix takes IN and OUT; \"approxftl trace fix --help\" explains it");
		return trace_complain_usage(&error);
	}
	interruption_catch_stop_signals();
	ret = fix_capture_and_report(&fix, &error);
	if (!ret && run->options.json)
		ret = write_trace_repair_json(&fix, &error);
	else if (!ret && !run->options.quiet)
		fprintf(stderr, "%llu of %llu events were notes with a control group\n",
			(unsigned long long)fix.notes, (unsigned long long)fix.events);
	return ret ? trace_complain(ret, &error) : EXIT_DONE;
}

const struct trace_verb trace_fix = {
	.name = "fix",
	.help = "make a capture readable by blkparse 1.2.0",
	.bit = VERB_FIX,
	.usage = usage,
	.sourceless = true,
	.run = run_fix,
};
