/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command lines of approxftl-trace's subcommands.
 */
#ifndef AFTL_TRACE_OPTIONS_H
#define AFTL_TRACE_OPTIONS_H

#include "reading-options.h"
#include "text-list.h"

/* Subcommands, as bits. */
enum trace_verb_bit {
	VERB_INFO = 1,
	VERB_CONVERT = 2,
	VERB_PAIR = 4,
	VERB_TAG = 8,
	VERB_FIX = 16,
	VERB_FORMATS = 32,
};

/* A factor of 1. */
#define TRACE_SCALE_ONE 1000000ULL

/**
 * struct trace_options - what was asked for
 * @words: files
 * @word_count: how many
 * @reading: how to read them
 * @to: format to write, or NULL
 * @dropped: file for all complaints, or NULL
 * @keep_time: times as in the source
 * @rebase: times count from the first request; so it is anyway
 * @scale_lba: factor of offsets, in TRACE_SCALE_ONE; 0: none
 * @fold_bytes: addresses come round, 0: not
 * @sample: "SEED:RATIO" or NULL
 * @device_bytes: size of the device, 0: unknown
 * @origin: where the requests come from, or NULL: what the format of the source is called
 * @facts: more about them, KEY=VALUE
 * @fact_count: how many
 * @rules: of classes
 * @rule_count: how many
 * @seed: of their shares
 * @requests: CSV of all requests, or NULL
 * @json: file, or NULL
 * @show: columns of a list
 * @sort: columns that its rows are sorted by
 * @list: what both say
 * @force: replace a file that is there
 * @quiet: no progress, no remarks
 * @help: print the help
 * @argc: of the command line from the subcommand on
 * @argv: of the same
 */
struct trace_options {
	const char **words;
	u32 word_count;
	struct reading_options reading;
	const char *to;
	const char *dropped;
	bool keep_time;
	bool rebase;
	u64 scale_lba;
	u64 fold_bytes;
	const char *sample;
	u64 device_bytes;
	const char *origin;
	const char **facts;
	u32 fact_count;
	const char **rules;
	u32 rule_count;
	u64 seed;
	const char *requests;
	const char *json;
	const char *show;
	const char *sort;
	struct list_choice list;
	bool force;
	bool quiet;
	bool help;
	int argc;
	char **argv;
};

/**
 * trace_options_parse() - the arguments of a subcommand
 * @verb: its bit, which options it takes
 * @argv: its name and its arguments
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int __must_check trace_options_parse(struct trace_options *options, enum trace_verb_bit verb,
				     int argc, char **argv, struct aftl_error *error);
void trace_options_free(struct trace_options *options);

/* The lines about the options of a subcommand. */
void trace_options_help(enum trace_verb_bit verb);

#endif
