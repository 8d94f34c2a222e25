// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "command-line.h"
#include "replay-options.h"
#include "replay-stream.h"

#define FIELD(name) offsetof(struct replay_options, name)
#define TITLE(text) { .help = text }
#define SWITCH(letter, name, field, help) \
	{ name, letter, COMMAND_SWITCH, FIELD(field), NULL, help, 0, 0, 0 }
#define TEXT(letter, name, field, value, help) \
	{ name, letter, COMMAND_TEXT, FIELD(field), value, help, 0, 0, 0 }
#define NUMBER(name, kind, field, least, most, value, help) \
	{ name, 0, AFTL_PARAM_##kind, FIELD(field), value, help, least, most, 0 }

#define NO_SEED U64_MAX
#define HOUR_NS 3600000000000ULL

static const struct command_option options_table[] = {
	TITLE("What, if it is no record file"),
#define READING(name, letter, kind, member, value, help) \
	{ name, letter, kind, FIELD(reading.member), value, help, 0, 0, 0 },
#include "reading-option-table.h"
#undef READING
	TITLE("When"),
	NUMBER("speed", RATE, speed, REPLAY_SPEED_ONE / 1000000, REPLAY_SPEED_ONE * 1000000, "X",
	       "X times as fast as recorded (default 1)"),
	NUMBER("closed-loop", COUNT, closed_loop, 1, 16384, "DEPTH",
	       "by no schedule: keep DEPTH requests under way"),
	SWITCH(0, "no-stall", no_stall, "by no schedule: as fast as --limit allows"),
	NUMBER("limit", COUNT, limit, 1, 16384, "N",
	       "at most N requests under way (default 1024); others wait"),
	NUMBER("requests", COUNT, requests, 1, U64_MAX, "N", "the first N only"),
	NUMBER("spin", TIME, spin_ns, 0, 1000000000, "TIME",
	       "do not sleep so long before each request (default 0)"),
	SWITCH(0, "realtime", realtime, "fail unless it can run before all ordinary processes"),
	TITLE("Where to"),
	SWITCH(0, "fold", fold, "addresses beyond the target begin again at its start"),
	NUMBER("align", BYTES, align_bytes, 512, 1 << 20, "SIZE",
	       "round requests outward to multiples of a power of two"),
	NUMBER("size", BYTES, size_bytes, 512, 1ULL << 62, "SIZE",
	       "make a new file of that size"),
	SWITCH(0, "overwrite", overwrite, "the content of the target may be lost"),
	SWITCH('f', "force", force, "even if the device is mounted or in use"),
	TITLE("How"),
	TEXT(0, "engine", engine, "NAME", "io_uring or threads (default: the first that works)"),
	NUMBER("threads", COUNT, threads, 1, 1024, "N", "of engine threads (default 32)"),
	TEXT(0, "tags", tags, "WHEN", "say the class of data to the device: auto, require, off"),
	SWITCH(0, "buffered", buffered, "through the page cache"),
	NUMBER("memory", BYTES, memory_bytes, 1 << 20, 1ULL << 40, "SIZE",
	       "for data of each kind (default 128MiB)"),
	TITLE("Data"),
	NUMBER("seed", COUNT, seed, 0, NO_SEED - 1, "N",
	       "of the data that are written (default 1)"),
	SWITCH(0, "verify", verify, "check what is read: flipped bits, wrong data"),
	SWITCH(0, "read-back", read_back, "at the end read and check all that was written"),
	TITLE("Result"),
	TEXT(0, "record", record, "FILE", "log what became of each request"),
	{ "json", 'j', COMMAND_FILE, FIELD(json), "FILE", COMMAND_JSON_HELP, 0, 0, 0 },
	NUMBER("late", TIME, late_ns, 0, HOUR_NS, "TIME",
	       "later than that is late (default 100us)"),
	NUMBER("max-lag", TIME, max_lag_ns, 1, HOUR_NS, "TIME",
	       "exit status 4 if more than 1 % of the requests are later than that"),
	SWITCH('q', "quiet", quiet, "no progress"),
	TITLE("Instead"),
	SWITCH('n', "dry-run", dry_run, "say what would be done, and change nothing"),
	SWITCH(0, "simulate", simulate, "run the same requests in the simulator"),
	TEXT(0, "summarise", summarise, "FILE", "the report of a log that is there"),
	SWITCH('h', "help", help, "print this"),
};

static int add_replay_operand(void *fields, const char *word, struct aftl_error *error)
{
	struct replay_options *options = fields;

	if (!options->trace)
		options->trace = word;
	else if (!options->target)
		options->target = word;
	else
		return command_report_extra_operand("replay", word, error);
	return 0;
}

static const struct command_line command = {
	.name = "replay",
	.options = options_table,
	.count = ARRAY_SIZE(options_table),
	.column = 28,
	.word = add_replay_operand,
};

static int check_replay_operands(const struct replay_options *options, struct aftl_error *error)
{
	if (options->summarise)
		return options->trace ? aftl_fail(error, -EINVAL,
						  "--summarise takes a log and nothing else") : 0;
	if (!options->trace)
		return aftl_fail(error, -EINVAL,
				 "TRACE missing; \"approxftl replay --help\" explains it");
	if (!options->target && !options->simulate)
		return aftl_fail(error, -EINVAL,
				 "TARGET missing; or --simulate, which needs none");
	if (options->target && options->simulate)
		return aftl_fail(error, -EINVAL,
				 "--simulate has a device of its own, and takes no target");
	if (options->record && options->simulate)
		return aftl_fail(error, -EINVAL,
				 "--record logs requests to a target; the simulator writes those that it gets with -- --record FILE");
	if (options->sim_arguments && !options->simulate)
		return aftl_fail(error, -EINVAL, "options after \"--\" need --simulate");
	return 0;
}

static bool is_word_in_list(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words;
}

static int check_named_option_values(const struct replay_options *options, struct aftl_error *error)
{
	static const char *const engines[] = { "io_uring", "threads", NULL };
	static const char *const tags[] = { "auto", "require", "off", NULL };
	struct trace_open_options open_options;

	if (options->engine && !is_word_in_list(options->engine, engines))
		return aftl_fail(error, -EINVAL,
				 "--engine: \"%.40s\" is neither io_uring nor threads",
				 options->engine);
	if (!is_word_in_list(options->tags, tags))
		return aftl_fail(error, -EINVAL, "--tags: \"%.40s\" is not auto, require or off",
				 options->tags);
	if (options->align_bytes & (options->align_bytes - 1))
		return aftl_fail(error, -EINVAL, "--align must be a power of two");
	if (options->size_bytes % 512)
		return aftl_fail(error, -EINVAL, "--size must be a multiple of 512");
	if (options->closed_loop && options->no_stall)
		return aftl_fail(error, -EINVAL,
				 "--closed-loop and --no-stall exclude each other");
	return reading_options_make_open_options(&options->reading, &open_options, error);
}

int replay_options_parse(struct replay_options *options, int argc, char **argv,
			 struct aftl_error *error)
{
	int own, ret;
	int i;

	*options = (struct replay_options){
		.speed = REPLAY_SPEED_ONE,
		.limit = 1024,
		.threads = 32,
		.tags = "auto",
		.memory_bytes = 128ULL << 20,
		.seed = NO_SEED,
		.late_ns = 100000,
		.argc = argc,
		.argv = argv,
	};
	/* Separate the arguments after "--", which go to the simulator. */
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		;
	if (i < argc) {
		options->sim_count = argc - i - 1;
		options->sim_arguments = argv + i + 1;
	}
	own = i;
	ret = command_line_parse(&command, options, own, argv, error);
	if (ret || options->help)
		return ret;
	options->seed_given = options->seed != NO_SEED;
	if (!options->seed_given)
		options->seed = 1;
	ret = check_replay_operands(options, error);
	if (!ret)
		ret = check_named_option_values(options, error);
	options->verify |= options->read_back;
	if (options->no_stall)
		options->closed_loop = options->limit;
	options->limit = max(options->limit, options->closed_loop);
	return ret;
}

void replay_options_help(void)
{
	puts("Usage: approxftl replay [OPTION ...] TRACE TARGET\n"
	     "       approxftl replay --simulate [OPTION ...] TRACE [-- OPTION-OF-SIM ...]\n"
	     "       approxftl replay --summarise LOG\n"
	     "\n"
	     "Issues the requests of a record file, a blktrace or any trace that \"approxftl trace\n"
	     "formats\" lists to a block device or a file, when they are due, and reports how late\n"
	     "they were.");
	command_line_print_help(&command);
}
