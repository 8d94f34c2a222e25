/* SPDX-License-Identifier: GPL-2.0-only */
/* Code that the subcommands share: opens a trace; reports its format and unreadable parts. */
#ifndef AFTL_TRACE_RUN_H
#define AFTL_TRACE_RUN_H

#include "exit-codes.h"
#include "output-file.h"
#include "progress.h"
#include "trace-options.h"
#include "trace-summary.h"

/**
 * struct trace_run - a running subcommand
 * @options: options of the user
 * @reader: reader of the source
 * @json: file of --json; opened at the start, so that a wrong name fails before any work
 * @dropped: file of --dropped
 * @progress: progress display
 * @taken: number of requests read so far
 */
struct trace_run {
	struct trace_options options;
	struct trace_reader reader;
	struct output_file json;
	struct output_file dropped;
	struct progress progress;
	u64 taken;
};

/**
 * struct trace_verb - a subcommand of approxftl trace
 * @name: name on the command line
 * @help: one phrase for the help
 * @bit: decides which options it has
 * @usage: text for --help, before the options
 * @targets: number of words at the end of the command line that name no source
 * @sourceless: its command line names no source that trace_run_verb() opens
 * @run: executes it
 */
struct trace_verb {
	const char *name;
	const char *help;
	enum trace_verb_bit bit;
	const char *usage;
	u32 targets;
	bool sourceless;
	enum exit_code (*run)(struct trace_run *run);
};

extern const struct trace_verb trace_info;
extern const struct trace_verb trace_convert;
extern const struct trace_verb trace_pair;
extern const struct trace_verb trace_tag;
extern const struct trace_verb trace_fix;
extern const struct trace_verb trace_formats_list;

/* Parse a subcommand's options (@argv[0]: its name), open its source traces, and run it. */
enum exit_code trace_run_verb(const struct trace_verb *verb, int argc, char **argv);

/* Print an error to stderr. Return: the exit code of a failed subcommand. */
enum exit_code trace_complain(int ret, const struct aftl_error *error);

/* Print an error in the command line to stderr. Return: the exit code of a usage error. */
enum exit_code trace_complain_usage(const struct aftl_error *error);

/* Get the next request and update the progress display. Return: -EINTR after Ctrl-C. */
int __must_check trace_run_next_request(struct trace_run *run, struct trace_request *request,
					struct aftl_error *error);

/* Write the source trace, its unreadable parts and its request count as JSON members. */
void trace_run_write_summary_json(const struct trace_run *run, struct json_writer *json,
				  const struct trace_summary *summary);

/* Begin a JSON document in the file of --json. */
int __must_check trace_run_begin_json(struct trace_run *run, struct json_writer *json,
				      struct aftl_error *error);
int __must_check trace_run_end_json(struct trace_run *run, struct json_writer *json,
				    struct aftl_error *error);

#endif
