// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl tag": which of a file's data may lose bits.
 */
#include <errno.h>
#include <getopt.h>

#include "complain.h"
#include "other-program.h"
#include "tag-verbs.h"
#include "verbs.h"

/* A program of its own, in Python: headers of models are made by anybody. */
static const struct tag_verb tag_model = {
	.name = "model",
	.words = "FILE",
};

static const struct tag_verb *const tag_verbs[] = {
	&tag_add, &tag_del, &tag_list, &tag_model, &tag_query, &tag_scan, &tag_watch,
};

/**
 * struct tag_option - an option of some of these verbs
 * @name: its long form
 * @help: one phrase
 * @field: switch in struct tag_options, of options that are one
 * @code: its short form, which is in struct tag_verb.options
 * @take: reads what is behind it; NULL for a switch
 */
struct tag_option {
	const char *name;
	const char *help;
	size_t field;
	char code;
	bool (*take)(struct tag_options *options, const char *text);
};

static bool take_level(struct tag_options *options, const char *text)
{
	if (*text >= '1' && *text <= '3' && !text[1]) {
		options->level = *text - '0';
		return true;
	}
	complain_of("tag", "--level: \"%s\" is no quality level; it is 1 to 3", text);
	return false;
}

static const struct tag_option tag_options[] = {
	{ "precise", "precise, not approximate", offsetof(struct tag_options, precise), 'p', NULL },
	{ "level", "1 to 3: how many bits may flip", 0, 'l', take_level },
	{ "remember", "keep it in the file's attribute, too, for after an unmount",
	  offsetof(struct tag_options, remember), 'r', NULL },
	{ "rewrite", "store what is stored again, as it is tagged then, shared with no clone",
	  offsetof(struct tag_options, rewrite), 'w', NULL },
	{ "json", "answer as JSON", offsetof(struct tag_options, json), 'j', NULL },
	{ "help", "print this", offsetof(struct tag_options, help), 'h', NULL },
};

static bool has_option(const struct tag_verb *verb, char code)
{
	return strchr(verb->options, code) || strchr("jh", code);
}

static void print_options(const struct tag_verb *verb)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tag_options); i++)
		if (has_option(verb, tag_options[i].code))
			printf("  -%c, --%-12s %s\n", tag_options[i].code, tag_options[i].name,
			       tag_options[i].help);
}

static void print_verb_help(const struct tag_verb *verb)
{
	printf("Usage: approxftl tag %s %s [OPTION ...]\n\n%s\n\n", verb->name, verb->words,
	       verb->about);
	print_options(verb);
}

static void print_help(FILE *out)
{
	unsigned int i;

	fputs("Usage: approxftl tag VERB ...\n"
	      "\n"
	      "Says which of a file's data may come back with flipped bits, and looks at it.\n"
	      "\n", out);
	for (i = 0; i < ARRAY_SIZE(tag_verbs); i++)
		fprintf(out, "  %-6s %s\n", tag_verbs[i]->name, tag_verbs[i]->words);
	fputs("\n"
	      "\"approxftl tag VERB --help\" explains one.\n", out);
}

static const struct tag_verb *find_verb(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tag_verbs); i++)
		if (!strcmp(tag_verbs[i]->name, name))
			return tag_verbs[i];
	return NULL;
}

static enum exit_code complain_verb(const char *wrong)
{
	const char *names[ARRAY_SIZE(tag_verbs) + 1] = { NULL };
	const char *meant;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tag_verbs); i++)
		names[i] = tag_verbs[i]->name;
	meant = closest_word(wrong, names);
	if (meant)
		complain_of("tag", "unknown verb \"%s\"; did you mean %s?", wrong, meant);
	else
		complain_of("tag", "unknown verb \"%s\"; \"approxftl tag --help\" lists them",
			    wrong);
	return EXIT_USAGE;
}

static bool complain_option(const char *wrong, bool known, const struct tag_verb *verb)
{
	complain_of("tag", known ? "%s wants a value; \"approxftl tag %s --help\" explains it" :
		    "unknown option \"%s\"; \"approxftl tag %s --help\" lists them", wrong,
		    verb->name);
	return false;
}

static bool levels_fit(const struct tag_options *options)
{
	if (options->level && options->precise)
		complain_of("tag", "--level is of approximate data; leave it or --precise out");
	return !options->level || !options->precise;
}

static bool take_option(struct tag_options *options, int code)
{
	const struct tag_option *option = tag_options;

	while (option->code != code)
		option++;
	if (option->take)
		return option->take(options, optarg);
	*(bool *)((char *)options + option->field) = true;
	return true;
}

/* Takes the options; the words stay behind them. */
static bool take_options(const struct tag_verb *verb, struct tag_options *options)
{
	struct option longs[ARRAY_SIZE(tag_options) + 1] = { { NULL, 0, NULL, 0 } };
	char shorts[2 * ARRAY_SIZE(tag_options) + 2] = ":";
	unsigned int i, count = 0;
	int code;

	for (i = 0; i < ARRAY_SIZE(tag_options); i++)
		if (has_option(verb, tag_options[i].code)) {
			longs[count++] = (struct option){ tag_options[i].name,
				tag_options[i].take ? required_argument : no_argument, NULL,
				tag_options[i].code };
			sprintf(shorts + strlen(shorts), "%c%s", tag_options[i].code,
				tag_options[i].take ? ":" : "");
		}
	opterr = 0;
	optind = 3;
	while ((code = getopt_long(options->argc, options->argv, shorts, longs, NULL)) != -1) {
		if (code == '?' || code == ':')
			return complain_option(options->argv[optind - 1], code == ':', verb);
		if (!take_option(options, code))
			return false;
	}
	options->words = options->argv + optind;
	options->word_count = options->argc - optind;
	return levels_fit(options);
}

static bool check_words(const struct tag_verb *verb, const struct tag_options *options)
{
	if (options->word_count < verb->least_words) {
		complain_of("tag", "%s missing; \"approxftl tag %s --help\" explains it",
			    verb->words, verb->name);
		return false;
	}
	if (options->word_count > verb->most_words) {
		complain_of("tag", "\"%s\" is one word too many; see \"approxftl tag %s --help\"",
			    options->words[verb->most_words], verb->name);
		return false;
	}
	return true;
}

/* The first word of each verb is on the device that it is about. */
static enum exit_code run_verb(const struct tag_verb *verb, const struct tag_options *options)
{
	struct approxftl *library;
	enum exit_code code;
	int ret = approxftl_open(options->words[0], APPROXFTL_REQUIRE, &library);

	if (ret) {
		complain_of("tag", "%s", approxftl_reason(NULL));
		return ret == -ENODEV || ret == -ENOENT ? EXIT_NO_INPUT : EXIT_FAILED;
	}
	code = verb->run(library, options);
	approxftl_close(library);
	return code;
}

enum exit_code tag_main(int argc, char **argv)
{
	struct tag_options options = { .argc = argc, .argv = argv };
	const struct tag_verb *verb;

	if (argc < 3) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")) {
		print_help(stdout);
		return EXIT_DONE;
	}
	verb = find_verb(argv[2]);
	if (!verb)
		return complain_verb(argv[2]);
	if (verb == &tag_model)
		return other_program_main(argc - 1, argv + 1);
	options.verb = verb->name;
	if (!take_options(verb, &options))
		return EXIT_USAGE;
	if (options.help) {
		print_verb_help(verb);
		return EXIT_DONE;
	}
	return check_words(verb, &options) ? run_verb(verb, &options) : EXIT_USAGE;
}

enum exit_code tag_failed(const char *path, int ret)
{
	complain_of("tag", "%s: %s", path, approxftl_reason(NULL));
	return ret == -ENODEV || ret == -ENOENT ? EXIT_NO_INPUT : EXIT_FAILED;
}
