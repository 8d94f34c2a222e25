// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "command-line.h"
#include "complain.h"
#include "trace-options.h"

enum kind {
	KIND_FACTOR = COMMAND_OTHER,
	KIND_RULE,
	KIND_FACT,
};

#define FIELD(name) offsetof(struct trace_options, name)
#define SOURCE (VERB_INFO | VERB_CONVERT | VERB_PAIR | VERB_TAG)
#define WRITING (VERB_CONVERT | VERB_TAG)

#define SWITCH(users, letter, name, field, help) \
	{ name, letter, COMMAND_SWITCH, FIELD(field), NULL, help, 0, 0, users }
#define TEXT(users, letter, name, field, value, help) \
	{ name, letter, COMMAND_TEXT, FIELD(field), value, help, 0, 0, users }
#define NUMBER(users, name, kind, field, value, help) \
	{ name, 0, kind, FIELD(field), value, help, 0, 0, users }

static const struct command_option options_table[] = {
#define READING(name, letter, kind, member, value, help) \
	{ name, letter, kind, FIELD(reading.member), value, help, 0, 0, SOURCE },
#include "reading-option-table.h"
#undef READING
	TEXT(VERB_CONVERT, 't', "to", to, "FORMAT",
	     "the format to write; default by the name of the file"),
	TEXT(SOURCE, 0, "dropped", dropped, "FILE", "list everything that was not understood"),
	SWITCH(WRITING, 0, "rebase", rebase, "times count from the first request (default)"),
	SWITCH(WRITING, 0, "keep-time", keep_time, "times as in the source"),
	NUMBER(WRITING, "scale-lba", KIND_FACTOR, scale_lba, "X",
	       "multiply offsets by X, in steps of 4 KiB"),
	NUMBER(WRITING, "fold", AFTL_PARAM_BYTES, fold_bytes, "SIZE",
	       "addresses beyond SIZE begin again at 0"),
	TEXT(WRITING, 0, "sample", sample, "SEED:RATIO",
	     "keep only requests to that share of all MiB of addresses"),
	NUMBER(WRITING, "device-bytes", AFTL_PARAM_BYTES, device_bytes, "SIZE",
	       "of the device; requests beyond it are an error"),
	TEXT(VERB_CONVERT, 0, "origin", origin, "TEXT",
	     "where the requests come from; a record file keeps it"),
	{ "about", 0, KIND_FACT, 0, "KEY=VALUE", "a fact about them that it keeps, too; any number",
	  0, 0, VERB_CONVERT },
	{ "rule", 0, KIND_RULE, 0, "RULE",
	  "CLASS:TERM,TERM...; the first rule that fits a write decides", 0, 0, VERB_TAG },
	NUMBER(VERB_TAG, "seed", AFTL_PARAM_COUNT, seed, "N",
	       "of the shares in rules (default 1)"),
	TEXT(VERB_PAIR, 0, "requests", requests, "FILE", "a line of CSV for each request"),
	TEXT(VERB_FORMATS, 'o', "show", show, "COLUMN,...", LIST_SHOW_HELP),
	TEXT(VERB_FORMATS, 'S', "sort", sort, "COLUMN,...", LIST_SORT_HELP),
	SWITCH(VERB_FORMATS, 0, "no-head", list.bare, LIST_BARE_HELP),
	{ "json", 'j', COMMAND_FILE, FIELD(json), "FILE", COMMAND_JSON_HELP, 0, 0,
	  SOURCE | VERB_FIX | VERB_FORMATS },
	SWITCH(WRITING | VERB_FIX, 'f', "force", force, "replace a file that is there"),
	SWITCH(SOURCE | VERB_FIX, 'q', "quiet", quiet, "no progress, and no remarks"),
	SWITCH(~0U, 'h', "help", help, "print this"),
};

/* Parse a factor of speed or addresses, from 0.000001 to 1000000. */
static int set_factor_option(u64 *value, const char *name, const char *text,
			     struct aftl_error *error)
{
	struct text_cursor cursor = { text, text + strlen(text) };

	if (text_get_scaled_decimal(&cursor, TRACE_SCALE_ONE, value) && is_text_at_end(&cursor) &&
	    *value && *value <= TRACE_SCALE_ONE * TRACE_SCALE_ONE)
		return 0;
	return aftl_fail(error, -EINVAL, "--%s: \"%.40s\" is no factor such as 0.5", name, text);
}

static void append_option_text_to_list(const char ***list, u32 *count, const char *text)
{
	*list = memory_resize(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = text;
}

static int take_verb_specific_option(void *fields, const struct command_option *option,
				     const char *value, struct aftl_error *error)
{
	struct trace_options *options = fields;

	if (option->kind == KIND_FACTOR)
		return set_factor_option((u64 *)((char *)fields + option->field), option->name,
					 value, error);
	if (option->kind != KIND_FACT)
		append_option_text_to_list(&options->rules, &options->rule_count, value);
	else if (*value == '=' || !strchr(value, '='))
		return aftl_fail(error, -EINVAL, "--about: \"%.40s\" is not KEY=VALUE", value);
	else
		append_option_text_to_list(&options->facts, &options->fact_count, value);
	return 0;
}

static int add_trace_operand(void *fields, const char *word,
			     struct aftl_error *error __maybe_unused)
{
	struct trace_options *options = fields;

	append_option_text_to_list(&options->words, &options->word_count, word);
	return 0;
}

static bool does_verb_take_option(const struct command_line *line,
				  const struct command_option *option)
{
	return option->users & *(const enum trace_verb_bit *)line->context;
}

static struct command_line command_line_of_verb(const enum trace_verb_bit *verb, const char *name)
{
	return (struct command_line){
		.name = name,
		.options = options_table,
		.count = ARRAY_SIZE(options_table),
		.column = 28,
		.context = verb,
		.takes = does_verb_take_option,
		.word = add_trace_operand,
		.other = take_verb_specific_option,
	};
}

int trace_options_parse(struct trace_options *options, enum trace_verb_bit verb, int argc,
			char **argv, struct aftl_error *error)
{
	struct command_line line;
	char name[32];

	scnprintf(name, sizeof(name), "trace %s", argv[0]);
	line = command_line_of_verb(&verb, name);
	*options = (struct trace_options){ .seed = 1, .argc = argc, .argv = argv };
	return command_line_parse(&line, options, argc, argv, error);
}

void trace_options_free(struct trace_options *options)
{
	free(options->words);
	free(options->facts);
	free(options->rules);
}

void trace_options_help(enum trace_verb_bit verb)
{
	struct command_line line = command_line_of_verb(&verb, "");

	puts("\nOptions:");
	command_line_print_help(&line);
}
