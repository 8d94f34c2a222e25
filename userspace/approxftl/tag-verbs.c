// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl tag": declare which data of a file may lose bits. */
#include <errno.h>

#include "complain.h"
#include "other-program.h"
#include "tag-verbs.h"
#include "verbs.h"

/* "tag model" is a program of its own in Python, because it parses headers of untrusted origin. */
static const struct device_verb tag_model = {
	.name = "tag model",
	.words = "FILE",
};

static const struct device_verb *const tag_verbs[] = {
	&tag_add, &tag_del, &tag_list, &tag_model, &tag_query, &tag_scan, &tag_watch,
};

/* Return the second word of the verb, which follows "tag". */
static const char *get_name_of_tag_verb(const struct device_verb *verb)
{
	return verb->name + strlen("tag ");
}

static void print_tag_help(FILE *out)
{
	fputs("Usage: approxftl tag VERB ...\n"
	      "\n"
	      "Declares which data of a file may have flipped bits, and queries them.\n"
	      "\n", out);
	for (unsigned int i = 0; i < ARRAY_SIZE(tag_verbs); i++)
		fprintf(out, "  %-6s %s\n", get_name_of_tag_verb(tag_verbs[i]),
			tag_verbs[i]->words);
	fputs("\n"
	      "\"approxftl tag VERB --help\" explains one.\n", out);
}

static const struct device_verb *find_tag_verb(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(tag_verbs); i++)
		if (!strcmp(get_name_of_tag_verb(tag_verbs[i]), name))
			return tag_verbs[i];
	return NULL;
}

static enum exit_code report_unknown_tag_verb(const char *wrong)
{
	const char *names[ARRAY_SIZE(tag_verbs) + 1] = { NULL };
	const char *meant;

	for (unsigned int i = 0; i < ARRAY_SIZE(tag_verbs); i++)
		names[i] = get_name_of_tag_verb(tag_verbs[i]);
	meant = find_closest_word(wrong, names);
	if (meant)
		complain_as("tag", "unknown verb \"%s\"; did you mean %s?", wrong, meant);
	else
		complain_as("tag", "unknown verb \"%s\"; \"approxftl tag --help\" lists them",
			    wrong);
	return EXIT_USAGE;
}

enum exit_code run_tag_verb_on_device(const struct device_options *options)
{
	struct approxftl *library;
	enum exit_code code;
	int ret;

	if (is_server_address(options->words[0])) {
		if (options->rules->tags_served && !options->remember && !options->rewrite)
			return options->rules->run_tag(NULL, options);
		complain_as(options->verb,
			    "%s: a served device has tags by range, and no files; use tag add, del or list, without --remember and --rewrite",
			    options->words[0]);
		return EXIT_USAGE;
	}
	ret = approxftl_open(options->words[0], APPROXFTL_REQUIRE, &library);
	if (ret) {
		complain_as(options->verb, "%s", approxftl_reason(NULL));
		return ret == -ENODEV || ret == -ENOENT ? EXIT_NO_INPUT : EXIT_FAILED;
	}
	code = options->rules->run_tag(library, options);
	approxftl_close(library);
	return code;
}

enum exit_code tag_main(int argc, char **argv)
{
	const struct device_verb *verb;

	if (argc < 3) {
		print_tag_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")) {
		print_tag_help(stdout);
		return EXIT_DONE;
	}
	verb = find_tag_verb(argv[2]);
	if (!verb)
		return report_unknown_tag_verb(argv[2]);
	if (verb == &tag_model)
		return other_program_main(argc - 1, argv + 1);
	return device_verb_main(verb, argc, argv);
}

enum exit_code tag_report_failure(const struct device_options *options, const char *path, int ret)
{
	complain_as(options->verb, "%s: %s", path, approxftl_reason(NULL));
	return ret == -ENODEV || ret == -ENOENT ? EXIT_NO_INPUT : EXIT_FAILED;
}
