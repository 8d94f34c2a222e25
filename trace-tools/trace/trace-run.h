/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the subcommands share: opens the source, and reports its format and losses.
 */
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
 * struct trace_verb - a subcommand
 * @name: name on the command line
 * @help: one phrase for the help
 * @bit: decides which options it has
 * @usage: text for --help, before the options
 * @targets: number of words at the end of the command line that name no source
 * @sourceless: its words are no sources that trace_run_verb() opens
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

/* Parse the options, @argv[0] being the name; print the help, or open the sources and run. */
enum exit_code trace_run_verb(const struct trace_verb *verb, int argc, char **argv);

/* Print an error to stderr. Return: the exit code for it. */
enum exit_code trace_complain(int ret, const struct aftl_error *error);

/* Like trace_complain(), for a wrong command line. */
enum exit_code trace_complain_usage(const struct aftl_error *error);

/* Like trace_reader_next(), with progress display; -EINTR after Ctrl-C. */
int __must_check trace_run_next_request(struct trace_run *run, struct trace_request *request,
					struct aftl_error *error);

/* Write the source, its losses and the number of requests as members of the JSON document. */
void trace_run_write_summary_json(const struct trace_run *run, struct json_writer *json,
				  const struct trace_summary *summary);

/* Begin a JSON document in the file of --json. */
int __must_check trace_run_begin_json(struct trace_run *run, struct json_writer *json,
				      struct aftl_error *error);
int __must_check trace_run_end_json(struct trace_run *run, struct json_writer *json,
				    struct aftl_error *error);

#endif
