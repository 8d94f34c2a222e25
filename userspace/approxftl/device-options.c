// SPDX-License-Identifier: GPL-2.0-only
/* Command lines of all verbs of this program except "sim". */
#include <stdlib.h>

#include "checked-memory.h"
#include "command-line.h"
#include "complain.h"
#include "core/policy/param-registry.h"
#include "device-verbs.h"
#include "key-value.h"
#include "output-file.h"
#include "parameter-file.h"
#include "shares.h"

enum kind {
	KIND_KEY = COMMAND_OTHER, /* key of the table line */
	KIND_PAIR,                /* KEY=VALUE */
};

/* All options; a verb lists the @code of each option that it has. @letter: short form, or 0. */
#define SWITCH(letter, code, name, field, help)                                                 \
	{ name, letter, COMMAND_SWITCH, offsetof(struct device_options, field), NULL, help, 0, 0, \
	  code }
#define TEXT(letter, code, name, field, value, help)                                            \
	{ name, letter, COMMAND_TEXT, offsetof(struct device_options, field), value, help, 0, 0, \
	  code }
#define KEY(code, name, value, help) { name, 0, KIND_KEY, 0, value, help, 0, 0, code }

static const struct command_option options_table[] = {
	KEY('S', "store", "none|ram|PATH", "where the data live (default ram); none keeps none"),
	TEXT(0, 'Z', "size", size, "SIZE", "size of the device (default: what the profile has)"),
	TEXT(0, 'V', "socket", socket, "PATH", "socket to make (default: one in a new directory)"),
	KEY('P', "profile", "NAME", "device to start from (default demo)"),
	KEY('L', "policy", "NAME", "flash translation policy (default baseline)"),
	KEY('T', "timing", "real|off|scale:N",
	    "time as modelled (default), none, or N times as long"),
	KEY('A', "tag-all", "CLASS", "take all data as precise (default) or as approximate"),
	{ "set", 0, KIND_PAIR, 0, "KEY=VALUE",
	  "any parameter, or @FILE with many; KEY=VALUE alone does the same", 0, 0, 'K' },
	SWITCH('n', 'n', "dry-run", dry_run, "print the command of dmsetup that would do it"),
	TEXT('i', 'i', "interval", interval, "TIME",
	     "a line each so many seconds, or such as 500ms"),
	TEXT('c', 'c', "count", count, "N", "end after so many lines"),
	TEXT('i', 'I', "interval", interval, "TIME",
	     "a picture each so many seconds, or such as 500ms (default 1)"),
	TEXT('c', 'q', "count", count, "N", "end after so many pictures"),
	SWITCH(0, 'M', "prometheus", prometheus, "answer as metrics for Prometheus"),
	SWITCH('f', 'f', "force", force, "even in use: its users get errors from now on"),
	SWITCH('d', 'd', "deferred", deferred, "if in use, as soon as nobody uses it"),
	TEXT(0, 'R', "root", root, "DIRECTORY", "look at the system that is installed there"),
	TEXT('k', 'k', "kernel", kernel, "RELEASE",
	     "look at this kernel (default: the running one)"),
	TEXT(0, 'U', "uuid", uuid, "UUID", "name of the volume (default: a random one)"),
	SWITCH('n', 'N', "dry-run", dry_run, "say what would be made, and change nothing"),
	SWITCH('f', 'F', "force", force, "even if there is something: it is lost"),
	SWITCH('s', 's', "scan", scan, "believe the tables, not the snapshot of the last close"),
	SWITCH(0, 'r', "repair", repair, "write again what is damaged and known"),
	SWITCH(0, 'g', "give-up", give_up,
	       "--repair goes on without what nobody knows: older data may be read"),
	SWITCH(0, 'B', "super", super, "the volume header; printed by default"),
	SWITCH(0, 'Y', "state", state, "the states of the last two commits"),
	SWITCH(0, 'C', "blocks", blocks, "erases and pages of every block"),
	SWITCH(0, 'G', "pages", pages, "the spare entry of every programmed page"),
	TEXT(0, 'H', "shard", shard, "N", "of several FTLs, which one (default 0)"),
	TEXT(0, 'D', "block", block, "N", "the spare entries of a block"),
	TEXT(0, 'Q', "unit", unit, "N", "every place that has held a unit, and its last discard"),
	SWITCH('p', 'p', "precise", precise, "precise, not approximate"),
	{ "level", 'l', AFTL_PARAM_COUNT, offsetof(struct device_options, level), "N",
	  "1 to 3: how many bits may flip", 1, 3, 'l' },
	SWITCH('r', 'm', "remember", remember,
	       "keep it in the file's attribute, too, for after an unmount"),
	SWITCH('w', 'w', "rewrite", rewrite,
	       "store what is stored again, as it is tagged then, shared with no clone"),
	TEXT(0, 'x', "script", script, "FILE", "arm the faults of a script, as sim --fault-script"),
	TEXT(0, 'x', "file", file, "PATH", "file on an emulated SSD; its data become unreadable"),
	{ "offset", 0, AFTL_PARAM_BYTES, offsetof(struct device_options, offset), "BYTES",
	  "first byte of the file (default 0)", 0, 0, 'x' },
	{ "length", 0, AFTL_PARAM_BYTES, offsetof(struct device_options, length), "BYTES",
	  "number of bytes (default 1)", 0, 0, 'x' },
	SWITCH(0, 'x', "list", list_faults, "list the faults that wait or happened"),
	SWITCH(0, 'x', "clear", clear, "empty that list: no fault waits any more"),
	TEXT('o', 'o', "show", show, "COLUMN,...", LIST_SHOW_HELP),
	TEXT('S', 'O', "sort", sort, "COLUMN,...", LIST_SORT_HELP),
	SWITCH(0, 'O', "no-head", list.bare, LIST_BARE_HELP),
	{ "json", 'j', COMMAND_FILE, offsetof(struct device_options, json), "FILE",
	  COMMAND_JSON_HELP, 0, 0, 'j' },
	SWITCH('h', 'h', "help", help, "print this"),
};

static bool does_verb_accept_option(const struct command_line *line,
				    const struct command_option *option)
{
	const struct device_verb *verb = line->context;

	return strchr(verb->options, (int)option->users) || option->users == 'h' ||
	       (option->users == 'j' && !verb->screen) ||
	       (option->users == 'o' && verb->columns) ||
	       (option->users == 'O' && verb->columns && !verb->series);
}

/* Operands and keys */

static int add_table_line_key(struct device_options *options, const char *key, size_t length,
			      const char *value, struct aftl_error *error)
{
	unsigned int at = options->key_count;

	if (at == DEVICE_KEYS)
		return aftl_fail(error, -EINVAL, "at most %u operands KEY=VALUE can be given",
				 DEVICE_KEYS);
	copy_key_with_underscores(options->keys[at], key, length);
	options->values[at] = value;
	options->key_count++;
	return check_percentage_is_unambiguous(options->keys[at], value, error);
}

static int parse_table_line_key_value(void *fields, const char *pair, struct aftl_error *error)
{
	struct device_options *options = fields;
	size_t length = get_length_of_pair_key(pair);

	if (!length)
		return aftl_fail(error, -EINVAL, "\"%.40s\" is not of the form KEY=VALUE", pair);
	return add_table_line_key(options, pair, length, pair + length + 1, error);
}

static int add_verb_operand(void *fields, const char *word, struct aftl_error *error)
{
	struct device_options *options = fields;
	const struct device_verb *verb = options->rules;

	if (verb->pairs && options->word_count == verb->most_words)
		return parse_table_line_key_value(options, word, error);
	if (options->word_count == verb->most_words)
		return command_report_extra_operand(verb->name, word, error);
	options->words =
		memory_resize(options->words, options->word_count + 1, sizeof(*options->words));
	options->words[options->word_count++] = word;
	return 0;
}

static int set_table_line_key_of_option(void *fields, const struct command_option *option,
					const char *value, struct aftl_error *error)
{
	if (option->kind == KIND_KEY)
		return add_table_line_key(fields, option->name, strlen(option->name), value, error);
	return *value == '@' ? parameter_file_call_per_pair(value + 1, parse_table_line_key_value,
							    fields, error) :
			       parse_table_line_key_value(fields, value, error);
}

static struct command_line get_command_line_of_verb(const struct device_verb *verb)
{
	return (struct command_line){
		.name = verb->name,
		.options = options_table,
		.count = ARRAY_SIZE(options_table),
		.column = 34,
		.context = verb,
		.takes = does_verb_accept_option,
		.word = add_verb_operand,
		.other = set_table_line_key_of_option,
	};
}

/* Return the number of command-line words that the verb's name takes. */
static int count_words_of_verb_name(const struct device_verb *verb)
{
	return strchr(verb->name, ' ') ? 2 : 1;
}

/* Reject --KEY of a parameter, which approxftl sim accepts, and say how to write it. */
static int check_no_option_is_parameter(const struct device_verb *verb, char **argv,
					struct aftl_error *error)
{
	char key[KEY_SIZE];

	for (; verb->pairs && *argv && strcmp(*argv, "--") != 0; argv++) {
		if (strncmp(*argv, "--", 2) != 0)
			continue;
		copy_key_with_underscores(key, *argv + 2, strcspn(*argv + 2, "="));
		if (aftl_param_find(key) >= 0)
			return aftl_fail(error, -EINVAL,
					 "unknown option \"--%s\"; %s is a parameter: write %s=VALUE",
					 key, key, key);
	}
	return 0;
}

static int parse_device_options(const struct device_verb *verb, struct device_options *options,
				int argc, char **argv, struct aftl_error *error)
{
	struct command_line line = get_command_line_of_verb(verb);
	int skip = count_words_of_verb_name(verb);
	int ret;

	options->verb = verb->name;
	options->rules = verb;
	options->argc = argc;
	options->argv = argv;
	options->out = stdout;
	options->list.bare = verb->bare;
	ret = check_no_option_is_parameter(verb, argv + skip, error);
	if (!ret)
		ret = command_line_parse(&line, options, argc - skip, argv + skip, error);
	if (!ret && verb->columns)
		ret = list_choose_columns(&options->list, verb->columns, verb->column_count,
					  options->show, options->sort, error);
	if (ret || options->help || options->list.explain ||
	    options->word_count >= verb->least_words)
		return ret;
	return aftl_fail(error, -EINVAL, "%s missing; \"approxftl %s --help\" explains it",
			 verb->words, verb->name);
}

/* Help */

static void print_verb_help(const struct device_verb *verb)
{
	struct command_line line = get_command_line_of_verb(verb);

	printf("Usage: approxftl %s%s%s [OPTION ...]\n\n%s\n\n", verb->name,
	       *verb->words ? " " : "", verb->words, verb->about);
	command_line_print_help(&line);
}

/* Output */

static enum exit_code print_verb_error(const struct device_verb *verb,
				       const struct aftl_error *error, enum exit_code code)
{
	return report_command_failure(verb->name, error, code);
}

/* Discard the JSON file if the verb failed before it wrote anything. */
static enum exit_code run_verb_with_json_file(const struct device_verb *verb,
					      struct device_options *options)
{
	static struct output_file file;
	struct aftl_error error;
	enum exit_code code;

	if (output_file_open(&file, options->json, "--json", true, &error))
		return print_verb_error(verb, &error, EXIT_FAILED);
	options->out = file.stream;
	code = verb->run(options);
	if (ftell(file.stream) <= 0)
		output_file_abandon(&file);
	else if (output_file_close(&file, &error))
		return print_verb_error(verb, &error, EXIT_FAILED);
	return code;
}

enum exit_code device_verb_main(const struct device_verb *verb, int argc, char **argv)
{
	static struct device_options options;
	struct aftl_error error;

	if (parse_device_options(verb, &options, argc, argv, &error))
		return print_verb_error(verb, &error, EXIT_USAGE);
	if (options.help)
		print_verb_help(verb);
	else if (options.list.explain)
		list_print_column_help(&options.list, stdout);
	else
		return options.json && strcmp(options.json, "-") != 0 ?
			       run_verb_with_json_file(verb, &options) : verb->run(&options);
	return EXIT_DONE;
}

void device_begin_json_of_verb(const struct device_options *options, struct json_writer *json)
{
	json_envelope_begin(json, options->out, options->argc, options->argv);
}

bool is_json_of_all_columns_requested(const struct device_options *options)
{
	return options->json && !options->list.chosen;
}

void device_print_list_or_json(const struct device_options *options, struct text_list *list)
{
	struct json_writer json;

	if (!options->json) {
		list_print(list, options->out);
		return;
	}
	device_begin_json_of_verb(options, &json);
	json_begin_array(&json, "rows");
	list_write_json(list, &json);
	json_end_array(&json);
	json_envelope_end(&json);
}

const char *device_get_value_of_table_key(const struct device_options *options, const char *key,
					  const char *standard)
{
	for (unsigned int i = 0; i < options->key_count; i++)
		if (!strcmp(options->keys[i], key))
			standard = options->values[i];
	return standard;
}

enum exit_code report_device_failure(const struct device_options *options, int ret,
				     const struct aftl_error *error)
{
	if (ret == -EINTR) {
		complain_as(options->verb, "interrupted");
		return EXIT_INTERRUPTED;
	}
	return report_command_failure(options->verb, error,
				      ret == -ENXIO ? EXIT_NO_INPUT : EXIT_FAILED);
}
