/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the subcommands share: opens the source, and reports its format and losses.
 */
#ifndef AFTL_TRACE_RUN_H
#define AFTL_TRACE_RUN_H

#include "output-file.h"
#include "progress.h"
#include "trace-summary.h"
#include "trace-verbs.h"

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
 * trace_run_begin() - parse the options and open the source
 * @words: number of words at the end of the command line that name no source
 * @usage: text for --help
 *
 * Return: EXIT_DONE to continue; the program ends on any other value, or if @run->options.help is
 * set.
 */
enum exit_code trace_run_begin(struct trace_run *run, enum trace_verb_bit verb, const char *usage,
			       u32 words, int argc, char **argv);

/* Return: @code, or EXIT_FAILED if an output could not be written. */
enum exit_code trace_run_end(struct trace_run *run, enum exit_code code);

/* Like trace_reader_next(), with progress display; -EINTR after Ctrl-C. */
int __must_check trace_run_next(struct trace_run *run, struct trace_request *request,
				struct aftl_error *error);

/**
 * trace_run_summarise() - run a subcommand that reads everything and prints a summary
 * @tell: reads the requests and prints the summary
 */
enum exit_code trace_run_summarise(enum trace_verb_bit verb, const char *usage, int argc,
				   char **argv,
				   enum exit_code (*tell)(struct trace_run *run,
							  struct trace_summary *summary));

/* Write source, losses and requests as members of the JSON document. */
void trace_run_summary_json(const struct trace_run *run, struct json_writer *json,
			    const struct trace_summary *summary);

/* Begin a JSON document in the file of --json. */
int __must_check trace_run_json_begin(struct trace_run *run, struct json_writer *json,
				      struct aftl_error *error);
int __must_check trace_run_json_end(struct trace_run *run, struct json_writer *json,
				    struct aftl_error *error);

#endif
