// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of the verbs of the kernel's devices.
 */
#include <getopt.h>
#include <stdlib.h>

#include "complain.h"
#include "device-verbs.h"
#include "key-value.h"

enum kind {
	KIND_SWITCH,
	KIND_TEXT,
	KIND_KEY,
	KIND_PAIR,
};

/**
 * struct option_line - an option of some of the verbs
 * @name: its long form
 * @field: of struct device_options
 * @value: what it takes, for a person
 * @help: one phrase
 * @kind: a switch or a text in struct device_options, a key of the table line, or KEY=VALUE
 * @code: in struct device_verb.options; a small letter is its short form, too
 */
struct option_line {
	const char *name;
	size_t field;
	const char *value;
	const char *help;
	enum kind kind;
	char code;
};

#define SWITCH(code, name, field, help) \
	{ name, offsetof(struct device_options, field), NULL, help, KIND_SWITCH, code }
#define TEXT(code, name, field, value, help) \
	{ name, offsetof(struct device_options, field), value, help, KIND_TEXT, code }
#define KEY(code, name, value, help) { name, 0, value, help, KIND_KEY, code }

static const struct option_line lines[] = {
	KEY('S', "store", "none|ram|PATH", "where the data live (default ram); none keeps none"),
	TEXT('Z', "size", size, "SIZE", "size of the device (default: what the profile has)"),
	KEY('P', "profile", "NAME", "device to start from (default demo)"),
	KEY('L', "policy", "NAME", "flash translation policy (default approxftl)"),
	KEY('T', "timing", "real|off|scale:N",
	    "time as modelled (default), none, or N times as long"),
	KEY('A', "tag-all", "CLASS", "take all data as precise (default) or as approximate"),
	{ "set", 0, "KEY=VALUE", "any parameter; KEY=VALUE alone does the same", KIND_PAIR, 'K' },
	SWITCH('n', "dry-run", dry_run, "print the command of dmsetup that would do it"),
	TEXT('i', "interval", interval, "TIME", "a line each so many seconds, or such as 500ms"),
	TEXT('c', "count", count, "N", "end after so many lines"),
	SWITCH('f', "force", force, "even in use: its users get errors from now on"),
	SWITCH('d', "deferred", deferred, "if in use, as soon as nobody uses it"),
	TEXT('R', "root", root, "DIRECTORY", "look at the system that is installed there"),
	TEXT('k', "kernel", kernel, "RELEASE", "look at this kernel (default: the running one)"),
	TEXT('U', "uuid", uuid, "UUID", "name of the volume (default: a random one)"),
	SWITCH('N', "dry-run", dry_run, "say what would be made, and change nothing"),
	SWITCH('F', "force", force, "even if there is something: it is lost"),
	SWITCH('s', "scan", scan, "believe the tables, not the snapshot of the last close"),
	SWITCH('B', "super", super, "the superblock; what is printed by default"),
	SWITCH('Y', "state", state, "the states of the last two commits"),
	SWITCH('C', "blocks", blocks, "erases and pages of every block"),
	SWITCH('G', "pages", pages, "the spare entry of every programmed page"),
	TEXT('D', "block", block, "N", "the spare entries of a block"),
	TEXT('Q', "unit", unit, "N", "every place that has held a unit, and its last discard"),
	SWITCH('j', "json", json, "answer as JSON"),
	SWITCH('h', "help", help, "print this"),
};

static bool has_option(const struct device_verb *verb, const struct option_line *line)
{
	return strchr(verb->options, line->code) || strchr("jh", line->code);
}

/* The tables of getopt_long(). */
struct tables {
	struct option longs[ARRAY_SIZE(lines) + 1];
	char shorts[2 * ARRAY_SIZE(lines) + 3];
};

/* "-": words stay where they are, "":" : a missing value is told from an unknown option. */
static void make_tables(const struct device_verb *verb, struct tables *tables)
{
	unsigned int i, count = 0;
	size_t used = 2;

	*tables = (struct tables){ .shorts = "-:" };
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		bool value = lines[i].kind != KIND_SWITCH;

		if (!has_option(verb, &lines[i]))
			continue;
		tables->longs[count++] = (struct option){ lines[i].name, value, NULL,
							  lines[i].code };
		if (lines[i].code < 'a')
			continue;
		tables->shorts[used++] = lines[i].code;
		if (value)
			tables->shorts[used++] = ':';
	}
}

static const struct option_line *line_of(int code)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].code == code)
			return &lines[i];
	return NULL;
}

/* Taking what was found */

static int add_key(struct device_options *options, const char *key, size_t length,
		   const char *value, struct aftl_error *error)
{
	unsigned int at = options->key_count;

	if (at == DEVICE_WORDS)
		return aftl_fail(error, -EINVAL, "there are more than %u keys", DEVICE_WORDS);
	key_copy(options->keys[at], key, length);
	options->values[at] = value;
	options->key_count++;
	return 0;
}

static int add_pair(struct device_options *options, const char *pair, struct aftl_error *error)
{
	size_t length = key_length(pair);

	if (!length)
		return aftl_fail(error, -EINVAL, "\"%.40s\" is not of the form KEY=VALUE", pair);
	return add_key(options, pair, length, pair + length + 1, error);
}

static int add_word(const struct device_verb *verb, struct device_options *options,
		    const char *word, struct aftl_error *error)
{
	if (verb->pairs && options->word_count == verb->most_words)
		return add_pair(options, word, error);
	if (options->word_count == verb->most_words)
		return aftl_fail(error, -EINVAL,
				 "\"%.40s\" is one word too many; \"approxftl %s --help\" explains it",
				 word, verb->name);
	options->words[options->word_count++] = word;
	return 0;
}

static int take(struct device_options *options, const struct option_line *line,
		const char *value, struct aftl_error *error)
{
	switch (line->kind) {
	case KIND_SWITCH:
		*(bool *)((char *)options + line->field) = true;
		return 0;
	case KIND_TEXT:
		*(const char **)((char *)options + line->field) = value;
		return 0;
	case KIND_KEY:
		return add_key(options, line->name, strlen(line->name), value, error);
	default:
		return add_pair(options, value, error);
	}
}

static int complain_unknown(const struct device_verb *verb, const char *argument,
			    struct aftl_error *error)
{
	const char *names[ARRAY_SIZE(lines) + 1] = { NULL };
	const char *meant;
	unsigned int i, count = 0;
	char wrong[KEY_SIZE];

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (has_option(verb, &lines[i]))
			names[count++] = lines[i].name;
	key_copy(wrong, argument, strcspn(argument, "="));
	meant = !strncmp(argument, "--", 2) ? closest_word(wrong + 2, names) : NULL;
	if (meant)
		return aftl_fail(error, -EINVAL, "unknown option \"%.40s\"; did you mean --%s?",
				 argument, meant);
	return aftl_fail(error, -EINVAL,
			 "unknown option \"%.40s\"; \"approxftl %s --help\" lists the options",
			 argument, verb->name);
}

static int take_arguments(const struct device_verb *verb, struct device_options *options,
			  int argc, char **argv, struct aftl_error *error)
{
	struct tables tables;
	int code, at, ret = 0;

	make_tables(verb, &tables);
	opterr = 0;
	optind = 1;
	while (!ret && (at = optind, code = getopt_long(argc, argv, tables.shorts, tables.longs,
							NULL)) != -1) {
		if (code == 1)
			ret = add_word(verb, options, optarg, error);
		else if (code == ':')
			ret = aftl_fail(error, -EINVAL, "%.40s needs a value", argv[at]);
		else if (code == '?')
			ret = complain_unknown(verb, argv[at], error);
		else
			ret = take(options, line_of(code), optarg, error);
	}
	for (; !ret && optind < argc; optind++)
		ret = add_word(verb, options, argv[optind], error);
	return ret;
}

static int parse(const struct device_verb *verb, struct device_options *options, int argc,
		 char **argv, struct aftl_error *error)
{
	int ret;

	options->verb = verb->name;
	options->argc = argc;
	options->argv = argv;
	ret = take_arguments(verb, options, argc - 1, argv + 1, error);
	if (ret || options->help || options->word_count >= verb->least_words)
		return ret;
	return aftl_fail(error, -EINVAL, "%s missing; \"approxftl %s --help\" explains it",
			 verb->words, verb->name);
}

/* Help */

#define HELP_COLUMN 34

static void print_help(const struct device_verb *verb)
{
	unsigned int i;

	printf("Usage: approxftl %s%s%s [OPTION ...]\n\n%s\n\n", verb->name,
	       *verb->words ? " " : "", verb->words, verb->about);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		const struct option_line *line = &lines[i];
		char left[64];

		if (!has_option(verb, line))
			continue;
		scnprintf(left, sizeof(left), "  %c%c%s --%s%s%s",
			  line->code >= 'a' ? '-' : ' ', line->code >= 'a' ? line->code : ' ',
			  line->code >= 'a' ? "," : " ", line->name, line->value ? " " : "",
			  line->value ? line->value : "");
		printf("%-*s  %s\n", HELP_COLUMN, left, line->help);
	}
}

enum exit_code device_verb_main(const struct device_verb *verb, int argc, char **argv)
{
	static struct device_options options;
	struct aftl_error error;

	if (parse(verb, &options, argc, argv, &error)) {
		complain_of(verb->name, "%s", error.text);
		return EXIT_USAGE;
	}
	if (!options.help)
		return verb->run(&options);
	print_help(verb);
	return EXIT_DONE;
}

enum exit_code device_failed(const struct device_options *options, int ret,
			     const struct aftl_error *error)
{
	complain_of(options->verb, "%s", error->text);
	return ret == -ENXIO ? EXIT_NO_INPUT : EXIT_FAILED;
}
