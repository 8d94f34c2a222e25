/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command lines of approxftl-trace's subcommands.
 */
#ifndef AFTL_TRACE_OPTIONS_H
#define AFTL_TRACE_OPTIONS_H

#include "reading-options.h"
#include "text-list.h"

/* A bit for each subcommand; an option lists the subcommands that accept it. */
enum trace_verb_bit {
	VERB_INFO = 1,
	VERB_CONVERT = 2,
	VERB_PAIR = 4,
	VERB_TAG = 8,
	VERB_FIX = 16,
	VERB_FORMATS = 32,
};

/* Value of a factor of 1. */
#define TRACE_SCALE_ONE 1000000ULL

/**
 * struct trace_options - values of the options; those not listed are explained by their help
 * @words: file names
 * @word_count: number of file names
 * @reading: how to read the files
 * @scale_lba: factor of offsets, in units of 1 / TRACE_SCALE_ONE; 0: none
 * @fold_bytes: 0: do not fold
 * @device_bytes: 0: unknown
 * @origin: NULL: name of the source's format
 * @facts: values of --about, KEY=VALUE
 * @fact_count: number of facts
 * @rules: values of --rule
 * @rule_count: number of rules
 * @list: @show and @sort, parsed
 * @argc: number of words of the command line from the subcommand on
 * @argv: words of the command line from the subcommand on
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
 * trace_options_parse() - parse the arguments of a subcommand
 * @verb: the subcommand, which decides the options that are accepted
 * @argv: name and arguments of the subcommand
 *
 * Return: 0, or -EINVAL with a message.
 */
int __must_check trace_options_parse(struct trace_options *options, enum trace_verb_bit verb,
				     int argc, char **argv, struct aftl_error *error);
void trace_options_free(struct trace_options *options);

/* Print the help for the options of a subcommand. */
void trace_options_help(enum trace_verb_bit verb);

#endif
