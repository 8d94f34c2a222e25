/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the subcommands share: opening the source, saying what it is and what was lost.
 */
#ifndef AFTL_TRACE_RUN_H
#define AFTL_TRACE_RUN_H

#include "output-file.h"
#include "progress.h"
#include "trace-summary.h"
#include "trace-verbs.h"

/**
 * struct trace_run - a subcommand under way
 * @options: of the user
 * @reader: of the source
 * @json: of --json; open from the begin on, so that a wrong name costs nothing
 * @dropped: of --dropped
 * @progress: of reading
 * @taken: requests so far
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
 * @words: that are no source, at the end of the command line
 * @usage: what to print for --help
 *
 * Return: EXIT_DONE; anything else, or @run->options.help, ends the program.
 */
enum exit_code trace_run_begin(struct trace_run *run, enum trace_verb_bit verb, const char *usage,
			       u32 words, int argc, char **argv);

/* Return: @code, or EXIT_FAILED if an output could not be written. */
enum exit_code trace_run_end(struct trace_run *run, enum exit_code code);

/* As trace_reader_next(); with progress, and -EINTR after Ctrl-C. */
int __must_check trace_run_next(struct trace_run *run, struct trace_request *request,
				struct aftl_error *error);

/**
 * trace_run_summarise() - a subcommand that reads all, and tells what it amounts to
 * @tell: reads and tells
 */
enum exit_code trace_run_summarise(enum trace_verb_bit verb, const char *usage, int argc,
				   char **argv,
				   enum exit_code (*tell)(struct trace_run *run,
							  struct trace_summary *summary));

/* What is known of the source, of losses and of requests: members of the document. */
void trace_run_summary_json(const struct trace_run *run, struct json_writer *json,
			    const struct trace_summary *summary);

/* Begins a JSON document in the file of --json. */
int __must_check trace_run_json_begin(struct trace_run *run, struct json_writer *json,
				      struct aftl_error *error);
int __must_check trace_run_json_end(struct trace_run *run, struct json_writer *json,
				    struct aftl_error *error);

#endif
