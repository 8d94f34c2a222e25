// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "trace-options.h"

enum kind {
	KIND_COUNT = AFTL_PARAM_COUNT,
	KIND_BYTES = AFTL_PARAM_BYTES,
	KIND_TEXT = 64,
	KIND_SWITCH,
	KIND_FACTOR,
	KIND_RULE,
};

/**
 * struct option_line - an option
 * @name: long form
 * @letter: short form, or 0
 * @verbs: that take it
 * @kind: how its value is written
 * @field: of struct trace_options
 * @value: for a person
 * @help: one phrase
 */
struct option_line {
	const char *name;
	char letter;
	u32 verbs;
	enum kind kind;
	size_t field;
	const char *value;
	const char *help;
};

#define FIELD(name) offsetof(struct trace_options, name)
#define READING (VERB_INFO | VERB_CONVERT | VERB_PAIR | VERB_TAG)
#define WRITING (VERB_CONVERT | VERB_TAG)

static const struct option_line lines[] = {
	{ "from", 'f', READING, KIND_TEXT, FIELD(from), "FORMAT",
	  "the format of the source, instead of finding out" },
	{ "to", 't', VERB_CONVERT, KIND_TEXT, FIELD(to), "FORMAT",
	  "the format to write; default by the name of the file" },
	{ "time-unit", 0, READING, KIND_TEXT, FIELD(time_unit), "UNIT",
	  "of the source's times: s, ms, us, ns or 100ns" },
	{ "offset-unit", 0, READING, KIND_TEXT, FIELD(offset_unit), "UNIT",
	  "of offsets in CSV: bytes, sectors or a number of bytes" },
	{ "columns", 0, READING, KIND_TEXT, FIELD(columns), "MAP",
	  "of CSV, as time=1,op=2,offset=3,bytes=4; of blkparse, the text of its -f" },
	{ "device", 0, READING, KIND_TEXT, FIELD(device), "MAJ:MIN",
	  "of a capture of several devices: the one that counts, or all" },
	{ "from-issue", 0, READING, KIND_SWITCH, FIELD(from_issue), NULL,
	  "requests begin when they are issued (D), not when queued (Q)" },
	{ "strict", 0, READING, KIND_SWITCH, FIELD(strict), NULL,
	  "fail at the first line or byte that is not understood" },
	{ "dropped", 0, READING, KIND_TEXT, FIELD(dropped), "FILE",
	  "list everything that was not understood" },
	{ "rebase", 0, WRITING, KIND_SWITCH, FIELD(rebase), NULL,
	  "times count from the first request (default)" },
	{ "keep-time", 0, WRITING, KIND_SWITCH, FIELD(keep_time), NULL,
	  "times as in the source" },
	{ "scale-lba", 0, WRITING, KIND_FACTOR, FIELD(scale_lba), "X",
	  "multiply offsets by X, in steps of 4 KiB" },
	{ "fold", 0, WRITING, KIND_BYTES, FIELD(fold_bytes), "SIZE",
	  "addresses beyond SIZE begin again at 0" },
	{ "sample", 0, WRITING, KIND_TEXT, FIELD(sample), "SEED:RATIO",
	  "keep only requests to that share of all MiB of addresses" },
	{ "device-bytes", 0, WRITING, KIND_BYTES, FIELD(device_bytes), "SIZE",
	  "of the device; requests beyond it are an error" },
	{ "rule", 'r', VERB_TAG, KIND_RULE, 0, "RULE",
	  "CLASS:TERM,TERM...; the first rule that fits a write decides" },
	{ "seed", 0, VERB_TAG, KIND_COUNT, FIELD(seed), "N",
	  "of the shares in rules (default 1)" },
	{ "requests", 0, VERB_PAIR, KIND_TEXT, FIELD(requests), "FILE",
	  "a line of CSV for each request" },
	{ "json", 0, READING | VERB_FIX | VERB_FORMATS, KIND_TEXT, FIELD(json), "FILE",
	  "the result as JSON, - for standard output" },
	{ "force", 0, WRITING | VERB_FIX, KIND_SWITCH, FIELD(force), NULL,
	  "replace a file that is there" },
	{ "quiet", 'q', READING | VERB_FIX, KIND_SWITCH, FIELD(quiet), NULL,
	  "no progress, and no remarks" },
	{ "help", 'h', ~0U, KIND_SWITCH, FIELD(help), NULL, "print this" },
};

#define FIRST_CODE 256

struct tables {
	struct option longs[ARRAY_SIZE(lines) + 1];
	char shorts[2 * ARRAY_SIZE(lines) + 3];
};

/* "-": words stay where they are, ":": a missing value is told from an unknown option. */
static void make_tables(struct tables *tables, u32 verb)
{
	unsigned int i, count = 0;
	size_t used = 2;

	*tables = (struct tables){ .shorts = "-:" };
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		bool value = lines[i].kind != KIND_SWITCH;

		if (!(lines[i].verbs & verb))
			continue;
		tables->longs[count++] = (struct option){ lines[i].name, value, NULL,
							  (int)i + FIRST_CODE };
		if (!lines[i].letter)
			continue;
		tables->shorts[used++] = lines[i].letter;
		if (value)
			tables->shorts[used++] = ':';
	}
}

static const struct option_line *line_of(int code)
{
	unsigned int i;

	if (code >= FIRST_CODE)
		return &lines[code - FIRST_CODE];
	for (i = 0; lines[i].letter != code; i++)
		;
	return &lines[i];
}

static int complain_unknown(const char *argument, const char *name, u32 verb,
			    struct aftl_error *error)
{
	const char *names[ARRAY_SIZE(lines) + 1] = { NULL };
	unsigned int i, count = 0;
	const char *meant = NULL;
	char wrong[40];

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].verbs & verb)
			names[count++] = lines[i].name;
	scnprintf(wrong, sizeof(wrong), "%.*s", (int)strcspn(argument, "="), argument);
	if (!strncmp(wrong, "--", 2))
		meant = closest_word(wrong + 2, names);
	if (meant)
		return aftl_fail(error, -EINVAL, "unknown option \"%s\"; did you mean --%s?", wrong,
				 meant);
	return aftl_fail(error, -EINVAL,
			 "unknown option \"%s\"; \"approxftl trace %s --help\" lists the options",
			 wrong, name);
}

/* A factor between a millionth and a million. */
static bool parse_factor(const char *text, u64 *value)
{
	struct text_cursor cursor = { text, text + strlen(text) };

	return text_scaled(&cursor, TRACE_SCALE_ONE, value) && text_at_end(&cursor) && *value &&
	       *value <= TRACE_SCALE_ONE * TRACE_SCALE_ONE;
}

static int set_number(u64 *value, const struct option_line *line, const char *text,
		      struct aftl_error *error)
{
	struct aftl_error cause;

	if (line->kind == KIND_FACTOR)
		return parse_factor(text, value) ? 0 :
			aftl_fail(error, -EINVAL, "--%s: \"%.40s\" is no factor such as 0.5",
				  line->name, text);
	if (aftl_parse_value((enum aftl_param_type)line->kind, NULL, text, value, &cause))
		return aftl_fail(error, -EINVAL, "--%s: %.190s", line->name, cause.text);
	return 0;
}

static void add_rule(struct trace_options *options, const char *rule)
{
	options->rules = memory_grown(options->rules, options->rule_count + 1,
				      sizeof(*options->rules));
	options->rules[options->rule_count++] = rule;
}

static int take(struct trace_options *options, const struct option_line *line, const char *value,
		struct aftl_error *error)
{
	char *field = (char *)options + line->field;

	switch (line->kind) {
	case KIND_SWITCH:
		*(bool *)field = true;
		return 0;
	case KIND_TEXT:
		*(const char **)field = value;
		return 0;
	case KIND_RULE:
		add_rule(options, value);
		return 0;
	default:
		return set_number((u64 *)field, line, value, error);
	}
}

static void add_word(struct trace_options *options, const char *word)
{
	options->words = memory_grown(options->words, options->word_count + 1,
				      sizeof(*options->words));
	options->words[options->word_count++] = word;
}

int trace_options_parse(struct trace_options *options, enum trace_verb_bit verb, int argc,
			char **argv, struct aftl_error *error)
{
	struct tables tables;
	int code, at, ret = 0;

	*options = (struct trace_options){ .seed = 1, .argc = argc, .argv = argv };
	make_tables(&tables, verb);
	opterr = 0;
	optind = 1;
	while (!ret && (at = optind, code = getopt_long(argc, argv, tables.shorts, tables.longs,
							NULL)) != -1) {
		if (code == 1)
			add_word(options, optarg);
		else if (code == ':')
			ret = aftl_fail(error, -EINVAL, "%.40s needs a value", argv[at]);
		else if (code == '?')
			ret = complain_unknown(argv[at], argv[0], verb, error);
		else
			ret = take(options, line_of(code), optarg, error);
	}
	for (; !ret && optind < argc; optind++)
		add_word(options, argv[optind]);
	return ret;
}

void trace_options_free(struct trace_options *options)
{
	free(options->words);
	free(options->rules);
}

#define HELP_COLUMN 28

void trace_options_help(enum trace_verb_bit verb)
{
	unsigned int i;

	puts("\nOptions:");
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		const struct option_line *line = &lines[i];
		char left[64];

		if (!(line->verbs & verb))
			continue;
		scnprintf(left, sizeof(left), "  %c%c%c --%s%s%s", line->letter ? '-' : ' ',
			  line->letter ? line->letter : ' ', line->letter ? ',' : ' ', line->name,
			  line->value ? " " : "", line->value ? line->value : "");
		printf("%-*s  %s\n", HELP_COLUMN, left, line->help);
	}
}

struct unit {
	const char *name;
	u64 value;
};

static const struct unit time_units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "100ns", 100 }, { "ns", 1 },
};

static const struct unit offset_units[] = { { "bytes", 1 }, { "sectors", TRACE_SECTOR } };

static u64 find_unit(const struct unit *units, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(units[i].name, name))
			return units[i].value;
	return 0;
}

static int set_time_unit(const char *name, u64 *unit, struct aftl_error *error)
{
	*unit = find_unit(time_units, ARRAY_SIZE(time_units), name);
	return *unit ? 0 : aftl_fail(error, -EINVAL,
				     "--time-unit: \"%.40s\" is not s, ms, us, ns or 100ns", name);
}

static int set_offset_unit(const char *name, u64 *unit, struct aftl_error *error)
{
	struct text_cursor text = { name, name + strlen(name) };

	*unit = find_unit(offset_units, ARRAY_SIZE(offset_units), name);
	if (*unit || (text_below(&text, 1 << 20, unit) && *unit && text_at_end(&text)))
		return 0;
	return aftl_fail(error, -EINVAL,
			 "--offset-unit: \"%.40s\" is not bytes, sectors or a number", name);
}

static int set_device(const char *name, u32 *device, struct aftl_error *error)
{
	struct text_cursor text = { name, name + strlen(name) };
	u64 major, minor;

	*device = TRACE_ALL_DEVICES;
	if (!strcmp(name, "all"))
		return 0;
	if (!text_below(&text, 4095, &major) || !text_is(&text, ':') ||
	    !text_below(&text, (1U << TRACE_DEVICE_MINOR_BITS) - 1, &minor) || !text_at_end(&text))
		return aftl_fail(error, -EINVAL, "--device: \"%.40s\" is not MAJOR:MINOR, nor all",
				 name);
	*device = (u32)(major << TRACE_DEVICE_MINOR_BITS | minor);
	return 0;
}

static int check_format(const char *option, const char *name, struct aftl_error *error)
{
	if (trace_format_find(name))
		return 0;
	return aftl_fail(error, -EINVAL,
			 "--%s: there is no format \"%.40s\"; \"approxftl trace formats\" lists them",
			 option, name);
}

int trace_options_wish(const struct trace_options *options, struct trace_wish *wish,
		       struct aftl_error *error)
{
	int ret = 0;

	*wish = (struct trace_wish){
		.hints = { .format = options->from, .columns = options->columns },
		.issue = options->from_issue,
	};
	if (options->from)
		ret = check_format("from", options->from, error);
	if (!ret && options->to)
		ret = check_format("to", options->to, error);
	if (!ret && options->time_unit)
		ret = set_time_unit(options->time_unit, &wish->hints.time_unit_ns, error);
	if (!ret && options->offset_unit)
		ret = set_offset_unit(options->offset_unit, &wish->hints.offset_unit, error);
	if (!ret && options->device)
		ret = set_device(options->device, &wish->device, error);
	return ret;
}
