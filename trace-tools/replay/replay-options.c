// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdio.h>

#include "complain.h"
#include "replay-options.h"
#include "replay-stream.h"

enum kind {
	KIND_COUNT = AFTL_PARAM_COUNT,
	KIND_BYTES = AFTL_PARAM_BYTES,
	KIND_TIME = AFTL_PARAM_TIME,
	KIND_RATE = AFTL_PARAM_RATE,
	KIND_TEXT = 64,
	KIND_SWITCH,
};

/**
 * struct option_line - an option, or a title when it has no name
 * @name: long form
 * @short_name: one letter, or 0
 * @kind: how its value is written
 * @field: of struct replay_options
 * @smallest: of a number
 * @largest: of a number
 * @value: for a person
 * @help: one phrase
 */
struct option_line {
	const char *name;
	char short_name;
	enum kind kind;
	size_t field;
	u64 smallest;
	u64 largest;
	const char *value;
	const char *help;
};

#define FIELD(name) offsetof(struct replay_options, name)
#define TITLE(text) { NULL, 0, KIND_SWITCH, 0, 0, 0, NULL, text }
#define SWITCH(letter, name, field, help) \
	{ name, letter, KIND_SWITCH, FIELD(field), 0, 0, NULL, help }
#define TEXT(letter, name, field, value, help) \
	{ name, letter, KIND_TEXT, FIELD(field), 0, 0, value, help }
#define NUMBER(name, kind, field, least, most, value, help) \
	{ name, 0, KIND_##kind, FIELD(field), least, most, value, help }

#define HOUR_NS 3600000000000ULL

static const struct option_line lines[] = {
	TITLE("What, if it is no record file"),
	TEXT('f', "from", reading.from, "FORMAT", "its format, instead of finding out"),
	TEXT(0, "time-unit", reading.time_unit, "UNIT", "of its times: s, ms, us, ns or 100ns"),
	TEXT(0, "offset-unit", reading.offset_unit, "UNIT",
	     "of offsets in CSV: bytes, sectors or a number of bytes"),
	TEXT(0, "columns", reading.columns, "MAP",
	     "of CSV, as time=1,op=2,offset=3,bytes=4; of blkparse, its -f"),
	TEXT(0, "device", reading.device, "MAJ:MIN",
	     "of a capture of several devices: the one that counts"),
	SWITCH(0, "from-issue", reading.from_issue,
	       "requests begin when they are issued (D), not when queued (Q)"),
	SWITCH(0, "strict", reading.strict, "refuse what is not understood in all its parts"),
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
	SWITCH(0, "force", force, "even if the device is mounted or in use"),
	TITLE("How"),
	TEXT(0, "engine", engine, "NAME", "io_uring or threads (default: the first that works)"),
	NUMBER("threads", COUNT, threads, 1, 1024, "N", "of engine threads (default 32)"),
	TEXT(0, "tags", tags, "WHEN", "say the class of data to the device: auto, require, off"),
	SWITCH(0, "buffered", buffered, "through the page cache"),
	NUMBER("memory", BYTES, memory_bytes, 1 << 20, 1ULL << 40, "SIZE",
	       "for data of each kind (default 128MiB)"),
	TITLE("Data"),
	NUMBER("seed", COUNT, seed, 0, U64_MAX, "N", "of the data that are written (default 1)"),
	SWITCH(0, "verify", verify, "check what is read: flipped bits, wrong data"),
	SWITCH(0, "read-back", read_back, "at the end read and check all that was written"),
	TITLE("Result"),
	TEXT('o', "record", record, "FILE", "log what became of each request"),
	TEXT(0, "json", json, "FILE", "the report as JSON, - for standard output"),
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

#define FIRST_CODE 256

struct tables {
	struct option longs[ARRAY_SIZE(lines) + 1];
	char shorts[2 * ARRAY_SIZE(lines) + 3];
};

/* "-": words stay where they are, ":": a missing value is told from an unknown option. */
static void make_tables(struct tables *tables)
{
	unsigned int i, count = 0;
	size_t used = 2;

	*tables = (struct tables){ .shorts = "-:" };
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		bool value = lines[i].kind != KIND_SWITCH;

		if (!lines[i].name)
			continue;
		tables->longs[count++] = (struct option){ lines[i].name, value, NULL,
							  (int)i + FIRST_CODE };
		if (!lines[i].short_name)
			continue;
		tables->shorts[used++] = lines[i].short_name;
		if (value)
			tables->shorts[used++] = ':';
	}
}

static const struct option_line *line_of(int code)
{
	unsigned int i;

	if (code >= FIRST_CODE)
		return &lines[code - FIRST_CODE];
	for (i = 0; lines[i].short_name != code; i++)
		;
	return &lines[i];
}

static int complain_unknown(const char *argument, struct aftl_error *error)
{
	const char *names[ARRAY_SIZE(lines) + 1] = { NULL };
	unsigned int i, count = 0;
	const char *meant = NULL;
	char wrong[40];

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].name)
			names[count++] = lines[i].name;
	scnprintf(wrong, sizeof(wrong), "%.*s", (int)strcspn(argument, "="), argument);
	if (!strncmp(wrong, "--", 2))
		meant = closest_word(wrong + 2, names);
	if (meant)
		return aftl_fail(error, -EINVAL, "unknown option \"%s\"; did you mean --%s?", wrong,
				 meant);
	return aftl_fail(error, -EINVAL,
			 "unknown option \"%s\"; \"approxftl replay --help\" lists the options",
			 wrong);
}

static int set_number(struct replay_options *options, const struct option_line *line,
		      const char *text, struct aftl_error *error)
{
	u64 *value = (u64 *)((char *)options + line->field);
	struct aftl_error cause;

	if (aftl_parse_value((enum aftl_param_type)line->kind, NULL, text, value, &cause))
		return aftl_fail(error, -EINVAL, "--%s: %.190s", line->name, cause.text);
	if (*value < line->smallest || *value > line->largest)
		return aftl_fail(error, -EINVAL, "--%s: %.40s is out of range", line->name, text);
	return 0;
}

static int take(struct replay_options *options, const struct option_line *line,
		const char *value, struct aftl_error *error)
{
	if (line->field == FIELD(seed))
		options->seed_given = true;
	if (line->kind == KIND_SWITCH)
		*(bool *)((char *)options + line->field) = true;
	else if (line->kind == KIND_TEXT)
		*(const char **)((char *)options + line->field) = value;
	else
		return set_number(options, line, value, error);
	return 0;
}

static int add_word(struct replay_options *options, const char *word, struct aftl_error *error)
{
	if (!options->trace)
		options->trace = word;
	else if (!options->target)
		options->target = word;
	else
		return aftl_fail(error, -EINVAL,
				 "\"%.40s\" is one word too many; \"approxftl replay --help\" explains it",
				 word);
	return 0;
}

/* What stands behind "--" is for the simulator. */
static int split_simulator(struct replay_options *options, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		;
	if (i < argc) {
		options->sim_count = argc - i - 1;
		options->sim_arguments = argv + i + 1;
	}
	return i;
}

static int take_arguments(struct replay_options *options, int argc, char **argv,
			  struct aftl_error *error)
{
	struct tables tables;
	int code, at, ret = 0;

	make_tables(&tables);
	opterr = 0;
	optind = 1;
	while (!ret && (at = optind, code = getopt_long(argc, argv, tables.shorts, tables.longs,
							NULL)) != -1) {
		if (code == 1)
			ret = add_word(options, optarg, error);
		else if (code == ':')
			ret = aftl_fail(error, -EINVAL, "%.40s needs a value", argv[at]);
		else if (code == '?')
			ret = complain_unknown(argv[at], error);
		else
			ret = take(options, line_of(code), optarg, error);
	}
	return ret;
}

static int check_words(const struct replay_options *options, struct aftl_error *error)
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
	if (options->sim_arguments && !options->simulate)
		return aftl_fail(error, -EINVAL, "what follows \"--\" is for --simulate");
	return 0;
}

static bool one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words;
}

static int check_choices(const struct replay_options *options, struct aftl_error *error)
{
	static const char *const engines[] = { "io_uring", "threads", NULL };
	static const char *const tags[] = { "auto", "require", "off", NULL };

	if (options->engine && !one_of(options->engine, engines))
		return aftl_fail(error, -EINVAL,
				 "--engine: \"%.40s\" is neither io_uring nor threads",
				 options->engine);
	if (!one_of(options->tags, tags))
		return aftl_fail(error, -EINVAL, "--tags: \"%.40s\" is not auto, require or off",
				 options->tags);
	if (options->align_bytes & (options->align_bytes - 1))
		return aftl_fail(error, -EINVAL, "--align must be a power of two");
	if (options->size_bytes % 512)
		return aftl_fail(error, -EINVAL, "--size must be a multiple of 512");
	if (options->closed_loop && options->no_stall)
		return aftl_fail(error, -EINVAL,
				 "--closed-loop and --no-stall exclude each other");
	return 0;
}

int replay_options_parse(struct replay_options *options, int argc, char **argv,
			 struct aftl_error *error)
{
	int own, ret;

	*options = (struct replay_options){
		.speed = REPLAY_SPEED_ONE,
		.limit = 1024,
		.threads = 32,
		.tags = "auto",
		.memory_bytes = 128ULL << 20,
		.seed = 1,
		.late_ns = 100000,
		.argc = argc,
		.argv = argv,
	};
	own = split_simulator(options, argc, argv);
	ret = take_arguments(options, own, argv, error);
	if (ret || options->help)
		return ret;
	ret = check_words(options, error);
	if (!ret)
		ret = check_choices(options, error);
	options->verify |= options->read_back;
	if (options->no_stall)
		options->closed_loop = options->limit;
	options->limit = max(options->limit, options->closed_loop);
	return ret;
}

#define HELP_COLUMN 28

void replay_options_help(void)
{
	unsigned int i;

	puts("Usage: approxftl replay [OPTION ...] TRACE TARGET\n"
	     "       approxftl replay --simulate [OPTION ...] TRACE [-- OPTION-OF-SIM ...]\n"
	     "       approxftl replay --summarise LOG\n"
	     "\n"
	     "Issues the requests of a record file, a blktrace or any trace that \"approxftl trace\n"
	     "formats\" lists to a block device or a file, when they are due, and tells how well it\n"
	     "kept to the schedule.");
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		const struct option_line *line = &lines[i];
		char left[64];

		if (!line->name) {
			printf("\n%s:\n", line->help);
			continue;
		}
		scnprintf(left, sizeof(left), "  %c%c%c --%s%s%s",
			  line->short_name ? '-' : ' ', line->short_name ? line->short_name : ' ',
			  line->short_name ? ',' : ' ', line->name, line->value ? " " : "",
			  line->value ? line->value : "");
		printf("%-*s  %s\n", HELP_COLUMN, left, line->help);
	}
}
