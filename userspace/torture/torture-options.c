// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "command-line.h"
#include "torture-options.h"

#define FIELD(name) offsetof(struct torture_options, name)
#define TITLE(text) { .help = text }
#define SWITCH(letter, name, field, help) \
	{ name, letter, COMMAND_SWITCH, FIELD(field), NULL, help, 0, 0, 0 }
#define TEXT(name, field, value, help) \
	{ name, 0, COMMAND_TEXT, FIELD(field), value, help, 0, 0, 0 }
#define NUMBER(name, kind, field, least, most, value, help) \
	{ name, 0, AFTL_PARAM_##kind, FIELD(field), value, help, least, most, 0 }

#define SECOND_NS 1000000000ULL
#define DAY_NS (86400 * SECOND_NS)

static const struct command_option options_table[] = {
	TITLE("What"),
	TEXT("state", state, "FILE", "what each block may hold; must not be on the device"),
	NUMBER("seed", COUNT, seed, 1, U32_MAX, "N", "the same requests again (default: drawn)"),
	NUMBER("time", TIME, time_ns, SECOND_NS / 10, 365 * DAY_NS, "TIME",
	       "so long (default 60s)"),
	NUMBER("requests", COUNT, requests, 1, U32_MAX, "N", "at most so many"),
	NUMBER("size", BYTES, size_bytes, 512, 1ULL << 62, "SIZE",
	       "of the first part of the device (default: all of it)"),
	NUMBER("unit", BYTES, unit_bytes, 512, 65536, "SIZE",
	       "that is written whole or not at all (default: a sector)"),
	NUMBER("depth", COUNT, depth, 1, 1024, "N", "at most so many at once (default 128)"),
	NUMBER("most", BYTES, most_bytes, 512, 1ULL << 24, "SIZE",
	       "of a request (default 256KiB)"),
	TEXT("discard", discard, "WHAT",
	     "makes zeroes, undefined (default), or is never done"),
	SWITCH(0, "zeroed", zeroed, "all reads as zeroes now; do not fill it first"),
	TITLE("Again"),
	SWITCH(0, "resume", resume, "check all blocks by the state, then go on"),
	SWITCH(0, "verify", verify, "check all blocks by the state, and end"),
	SWITCH(0, "power-failed", power_failed,
	       "what no flush covered may be gone since then"),
	TITLE("What is no mistake"),
	SWITCH(0, "errors", errors, "requests that fail"),
	NUMBER("flips", COUNT, flips, 0, 4096, "N", "so many wrong bits in a unit (default 0)"),
	NUMBER("patience", TIME, patience_ns, SECOND_NS / 10, DAY_NS, "TIME",
	       "a request that takes no longer (default 2min)"),
	TITLE("Care"),
	SWITCH(0, "sync", sync, "the state survives the death of the machine (slow)"),
	SWITCH(0, "overwrite", overwrite, "the content of the device may be lost"),
	SWITCH('f', "force", force, "even if the device is mounted or in use"),
	SWITCH('h', "help", help, "print this"),
};

static int add_torture_operand(void *fields, const char *word, struct aftl_error *error)
{
	struct torture_options *options = fields;

	if (options->device)
		return command_report_extra_operand("torture", word, error);
	options->device = word;
	return 0;
}

static const struct command_line command = {
	.name = "torture",
	.options = options_table,
	.count = ARRAY_SIZE(options_table),
	.column = 24,
	.word = add_torture_operand,
};

static int check_torture_options(const struct torture_options *options, struct aftl_error *error)
{
	if (!options->device)
		return aftl_fail(error, -EINVAL,
				 "DEVICE missing; \"approxftl torture --help\" explains it");
	if (!options->state)
		return aftl_fail(error, -EINVAL, "--state FILE missing: name the ledger file");
	if (options->power_failed && !options->resume && !options->verify)
		return aftl_fail(error, -EINVAL, "--power-failed needs --resume or --verify");
	if (options->unit_bytes & (options->unit_bytes - 1))
		return aftl_fail(error, -EINVAL, "--unit must be a power of two");
	if (strcmp(options->discard, "zeroes") != 0 && strcmp(options->discard, "undefined") != 0 &&
	    strcmp(options->discard, "never") != 0)
		return aftl_fail(error, -EINVAL,
				 "--discard: \"%.40s\" is not zeroes, undefined or never",
				 options->discard);
	return 0;
}

int torture_options_parse(struct torture_options *options, int argc, char **argv,
			  struct aftl_error *error)
{
	int ret;

	*options = (struct torture_options){
		.time_ns = 60 * SECOND_NS,
		.depth = 128,
		.most_bytes = 256 << 10,
		.discard = "undefined",
		.patience_ns = 120 * SECOND_NS,
	};
	ret = command_line_parse(&command, options, argc, argv, error);
	return ret || options->help ? ret : check_torture_options(options, error);
}

void torture_options_print_help(void)
{
	puts("Usage: approxftl torture --state FILE [OPTION ...] DEVICE\n"
	     "\n"
	     "Reads, writes, overwrites, discards and flushes blocks that say what they are, many at\n"
	     "once, and looks at whatever comes back: no block may be another one's, or older than\n"
	     "what it held. Any disk can be tried; what is on it is lost.");
	command_line_print_help(&command);
}
