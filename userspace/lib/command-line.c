// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "command-line.h"
#include "complain.h"
#include "json-envelope.h"
#include "standard-streams.h"

#define FIRST_CODE 256

struct tables {
	struct option longs[COMMAND_OPTIONS + 1];
	char shorts[3 * COMMAND_OPTIONS + 3];
};

static bool does_command_have_option(const struct command_line *line,
				     const struct command_option *option)
{
	return option->name && (!line->takes || line->takes(line, option));
}

/* --help has an optional value, for --help=json. */
static bool is_help_option(const struct command_option *option)
{
	return !strcmp(option->name, "help");
}

/* Return has_arg for getopt_long(); it is also the number of colons after a short option. */
static int get_getopt_value_kind(const struct command_option *option)
{
	if (option->kind == COMMAND_SWITCH)
		return no_argument;
	return option->kind == COMMAND_FILE ? optional_argument : required_argument;
}

/*
 * First characters for getopt_long(): '-' returns operands in place, '+' stops at the first
 * one, and ':' reports a missing value differently from an unknown option.
 */
static void make_getopt_tables(struct tables *tables, const struct command_line *line)
{
	unsigned int i, count = 0;
	size_t used = 2;

	*tables = (struct tables){ .shorts = { line->ends ? '+' : '-', ':' } };
	for (i = 0; i < line->count; i++) {
		const struct command_option *option = &line->options[i];
		int value = get_getopt_value_kind(option);

		if (!does_command_have_option(line, option))
			continue;
		tables->longs[count++] = (struct option){
			option->name, is_help_option(option) ? optional_argument : value, NULL,
			(int)i + FIRST_CODE,
		};
		if (!option->letter)
			continue;
		tables->shorts[used++] = option->letter;
		for (; value; value--)
			tables->shorts[used++] = ':';
	}
}

static const struct command_option *find_option_by_code(const struct command_line *line, int code)
{
	unsigned int i;

	if (code >= FIRST_CODE)
		return &line->options[code - FIRST_CODE];
	for (i = 0;
	     line->options[i].letter != code || !does_command_have_option(line, &line->options[i]);
	     i++)
		;
	return &line->options[i];
}

/* Return the existing option closest to the misspelt @wrong, or NULL. */
static const char *find_abbreviated_option(const struct command_line *line, const char *wrong)
{
	const char *names[COMMAND_OPTIONS + 1] = { NULL };
	unsigned int i, count = 0;

	if (strncmp(wrong, "--", 2) != 0)
		return NULL;
	for (i = 0; i < line->count; i++)
		if (does_command_have_option(line, &line->options[i]))
			names[count++] = line->options[i].name;
	return find_closest_word(wrong + 2, names);
}

static int report_unknown_option(const struct command_line *line, const char *argument,
				 struct aftl_error *error)
{
	const char *meant;
	char wrong[40];

	scnprintf(wrong, sizeof(wrong), "%.*s", (int)strcspn(argument, "="), argument);
	meant = find_abbreviated_option(line, wrong);
	if (meant)
		return aftl_fail(error, -EINVAL, "unknown option \"%s\"; did you mean --%s?", wrong,
				 meant);
	return aftl_fail(error, -EINVAL, "unknown option \"%s\"; \"%s%s --help\" lists the options",
			 wrong, get_message_prefix_of_command(line->name), line->name);
}

static int check_option_range(const struct command_option *option, const char *text, u64 value,
			      struct aftl_error *error)
{
	struct aftl_param like = { .type = (enum aftl_param_type)option->kind };
	char least[AFTL_VALUE_SIZE], most[AFTL_VALUE_SIZE];

	if (value >= option->least && value <= option->most)
		return 0;
	aftl_param_format(&like, option->least, least);
	aftl_param_format(&like, option->most, most);
	return aftl_fail(error, -EINVAL, "--%s: %.40s is out of range; it must be %s to %s",
			 option->name, text, least, most);
}

static int set_number_option(u64 *value, const struct command_option *option, const char *text,
			     struct aftl_error *error)
{
	struct aftl_error cause;

	if (aftl_parse_value((enum aftl_param_type)option->kind, NULL, text, value, &cause))
		return aftl_fail(error, -EINVAL, "--%s: %.190s", option->name, cause.text);
	return option->most ? check_option_range(option, text, *value, error) : 0;
}

void command_help_json_begin(struct json_writer *json, const char *name)
{
	json_envelope_begin_without_arguments(json, stdout);
	json_string(json, "command", name);
	json_begin_array(json, "options");
}

void command_help_json_add_option(struct json_writer *json, const char *name, char letter,
				  const char *value, bool may_lack, const char *help)
{
	char letters[] = { letter, '\0' };

	json_begin_inline_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "letter", letters);
	json_string(json, "value", value ? value : "");
	json_bool(json, "value_may_lack", may_lack);
	json_string(json, "help", help);
	json_end_object(json);
}

enum exit_code command_help_json_end(struct json_writer *json)
{
	json_end_array(json);
	json_envelope_end(json);
	return EXIT_DONE;
}

static int print_help_json_and_exit(const struct command_line *line, const char *form,
				    struct aftl_error *error)
{
	struct json_writer json;

	if (strcmp(form, "json") != 0)
		return aftl_fail(error, -EINVAL, "--help takes json, or no value");
	command_help_json_begin(&json, line->name);
	for (unsigned int i = 0; i < line->count; i++) {
		const struct command_option *option = &line->options[i];

		if (does_command_have_option(line, option))
			command_help_json_add_option(&json, option->name, option->letter,
						     option->value, option->kind == COMMAND_FILE,
						     option->help);
	}
	exit(standard_streams_end(line->name, command_help_json_end(&json)));
}

static int set_struct_field_from_option(const struct command_line *line, void *fields,
					const struct command_option *option, const char *value,
					struct aftl_error *error)
{
	char *field = (char *)fields + option->field;

	if (option->kind >= COMMAND_OTHER)
		return line->other(fields, option, value, error);
	if (option->kind == COMMAND_SWITCH && value)
		return print_help_json_and_exit(line, value, error);
	if (option->kind == COMMAND_SWITCH)
		*(bool *)field = true;
	else if (option->kind == COMMAND_TEXT || option->kind == COMMAND_FILE)
		*(const char **)field = value ? value : "-";
	else
		return set_number_option((u64 *)field, option, value, error);
	return 0;
}

/* getopt_long() accepts abbreviations. Reject them: a new option could make one ambiguous. */
static bool is_option_abbreviated(const char *argument, const struct command_option *option)
{
	return argument[0] == '-' && argument[1] == '-' &&
	       strcspn(argument + 2, "=") != strlen(option->name);
}

static int handle_getopt_code(const struct command_line *line, void *fields, int code,
			      const char *argument, struct aftl_error *error)
{
	const struct command_option *option = find_option_by_code(line, code);

	return is_option_abbreviated(argument, option) ?
		       report_unknown_option(line, argument, error) :
		       set_struct_field_from_option(line, fields, option, optarg, error);
}

int command_report_extra_operand(const char *name, const char *word, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "\"%.40s\" is one word too many; \"approxftl %s --help\" explains it",
			 word, name);
}

int command_report_missing_equals(const char *option, const char *word, struct aftl_error *error)
{
	const char *cut = strlen(word) > 40 ? "..." : "";

	return aftl_fail(error, -EINVAL,
			 "\"%.40s%s\" is one word too many; did you mean --%s=%.40s%s?", word, cut,
			 option, word, cut);
}

/* Return the option @code, from getopt_long(), if its optional value is missing, else NULL. */
static const struct command_option *find_blank_option(const struct command_line *line, int code)
{
	const struct command_option *option;

	if (code == ':' || code == '?' || optarg)
		return NULL;
	option = find_option_by_code(line, code);
	return option->kind == COMMAND_FILE ? option : NULL;
}

/* Pass operand @word to the command. @blank: option before it whose optional value is missing. */
static int pass_operand_to_command(const struct command_line *line, void *fields, const char *word,
				   const struct command_option *blank, struct aftl_error *error)
{
	int ret = line->word(fields, word, error);

	return ret && blank ? command_report_missing_equals(blank->name, word, error) : ret;
}

int command_line_parse(const struct command_line *line, void *fields, int argc, char **argv,
		       struct aftl_error *error)
{
	const struct command_option *blank = NULL;
	struct tables tables;
	int code, at, ret = 0;

	make_getopt_tables(&tables, line);
	opterr = 0;
	optind = 1;
	while (!ret && (at = optind, code = getopt_long(argc, argv, tables.shorts, tables.longs,
							NULL)) != -1) {
		if (code == 1)
			ret = pass_operand_to_command(line, fields, optarg, blank, error);
		else if (code == ':')
			ret = aftl_fail(error, -EINVAL, "%.40s needs a value", argv[at]);
		else if (code == '?')
			ret = report_unknown_option(line, argv[at], error);
		else
			ret = handle_getopt_code(line, fields, code, argv[at], error);
		blank = find_blank_option(line, code);
	}
	for (; !ret && !line->ends && optind < argc; optind++)
		ret = line->word(fields, argv[optind], error);
	return ret;
}

static void print_option_help(const struct command_line *line, const struct command_option *option)
{
	bool letter = option->letter, within = option->kind == COMMAND_FILE;
	char left[64];

	scnprintf(left, sizeof(left), "  %c%c%c --%s%s%s%s", letter ? '-' : ' ',
		  letter ? option->letter : ' ', letter ? ',' : ' ', option->name,
		  within ? "[=" : option->value ? " " : "", option->value ? option->value : "",
		  within ? "]" : "");
	printf("%-*s  %s\n", (int)line->column, left, option->help);
}

void command_line_print_help(const struct command_line *line)
{
	for (unsigned int i = 0; i < line->count; i++) {
		if (!line->options[i].name)
			printf("\n%s:\n", line->options[i].help);
		else if (does_command_have_option(line, &line->options[i]))
			print_option_help(line, &line->options[i]);
	}
}
