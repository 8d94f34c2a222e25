// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "app-options.h"
#include "command-line.h"
#include "complain.h"

const char *const app_phases[] = { "all", "write", "compute", NULL };
const char *const app_ios[] = { "buffered", "direct", "mmap", NULL };

#define FIELD(name) offsetof(struct app_options, name)
#define TITLE(text) { .help = text }
#define SWITCH(letter, name, field, help) \
	{ name, letter, COMMAND_SWITCH, FIELD(field), NULL, help, 0, 0, 0 }
#define OTHER(name, code, value, help) { name, 0, code, 0, value, help, 0, 0, 0 }
#define PARAMETER(name, least, most, value, help) \
	{ #name, 0, AFTL_PARAM_COUNT, FIELD(setup.name), value, help, least, most, 0 },

enum option_kind {
	OPTION_PHASE = COMMAND_OTHER,
	OPTION_IO,
};

static const struct command_option options_table[] = {
	TITLE("Options"),
	OTHER("phase", OPTION_PHASE, "NAME", "write, compute or all (default)"),
	OTHER("io", OPTION_IO, "NAME", "buffered (default), direct or mmap"),
	{ "memory", 0, AFTL_PARAM_BYTES, FIELD(memory_bytes), "SIZE",
	  "buffer of each array (default: a quarter)", 0, 0, 0 },
	SWITCH('p', "precise", precise, "declare nothing approximate"),
	SWITCH(0, "require", require, "fail where there is no device of dm-approxftl"),
	SWITCH('f', "force", force, "replace files that are not of this program"),
	{ "reference", 0, COMMAND_TEXT, FIELD(reference), "DIRECTORY",
	  "files of the precise run (default: $TMPDIR or /tmp)", 0, 0, 0 },
	{ "json", 'j', COMMAND_FILE, FIELD(json), "FILE", COMMAND_JSON_HELP, 0, 0, 0 },
	SWITCH('h', "help", help, "print this"),
	TITLE("Parameters, which the files remember"),
#include "parameter-table.h"
};

static int find_option_word_in_list(const char *option, const char *const *words, const char *word,
				    unsigned int *value, struct aftl_error *error)
{
	for (unsigned int i = 0; words[i]; i++) {
		if (!strcmp(words[i], word)) {
			*value = i;
			return 0;
		}
	}
	return aftl_fail(error, -EINVAL, "--%s: \"%.40s\" is not %s, %s or %s", option, word,
			 words[0], words[1], words[2]);
}

static int parse_app_specific_option(void *fields, const struct command_option *option,
				     const char *value, struct aftl_error *error)
{
	struct app_options *options = fields;

	if (option->kind == OPTION_PHASE) {
		/* "read" and "compute" name the same phase, which begins with reading. */
		return find_option_word_in_list("phase", app_phases,
						strcmp(value, "read") ? value : "compute",
						&options->phase, error);
	}
	return find_option_word_in_list("io", app_ios, value, &options->io, error);
}

static int find_named_app(struct app_options *options, const char *name, struct aftl_error *error)
{
	const char *names[16] = { NULL };

	for (unsigned int i = 0; apps[i]; i++) {
		names[i] = apps[i]->name;
		if (!strcmp(apps[i]->name, name)) {
			options->app = apps[i];
			return 0;
		}
	}
	if (find_closest_word(name, names))
		return aftl_fail(error, -EINVAL, "no program \"%.40s\"; did you mean %s?", name,
				 find_closest_word(name, names));
	return aftl_fail(error, -EINVAL,
			 "no program \"%.40s\"; \"approxftl app --help\" lists them", name);
}

static int add_app_operand(void *fields, const char *word, struct aftl_error *error)
{
	struct app_options *options = fields;

	if (!options->app)
		return find_named_app(options, word, error);
	if (options->folder)
		return command_report_extra_operand("app", word, error);
	options->folder = word;
	return 0;
}

static const struct command_line command = {
	.name = "app",
	.options = options_table,
	.count = ARRAY_SIZE(options_table),
	.column = 28,
	.word = add_app_operand,
	.other = parse_app_specific_option,
};

static int check_app_operands(const struct app_options *options, struct aftl_error *error)
{
	if (!options->app)
		return aftl_fail(error, -EINVAL,
				 "PROGRAM missing; \"approxftl app --help\" lists them");
	if (!options->folder)
		return aftl_fail(error, -EINVAL,
				 "DIRECTORY missing: it will hold the program's files");
	return 0;
}

static int check_app_parameters(const struct app_options *options, struct aftl_error *error)
{
	struct app_setup given = options->setup, usual = options->app->usual;
	struct app_setup forms = options->app->forms;

	for (unsigned int i = 0; i < APP_PARAMETERS; i++)
		if (*get_setup_parameter(&given, i) && !*get_setup_parameter(&usual, i) &&
		    !*get_setup_parameter(&forms, i))
			return aftl_fail(error, -EINVAL, "program %s has no option --%s",
					 options->app->name, app_parameters[i].name);
	return 0;
}

int app_options_parse(struct app_options *options, int argc, char **argv,
		      struct aftl_error *error)
{
	int ret;

	*options = (struct app_options){ .reference = getenv("TMPDIR") };
	if (!options->reference)
		options->reference = "/tmp";
	ret = command_line_parse(&command, options, argc, argv, error);
	if (ret || options->help)
		return ret;
	ret = check_app_operands(options, error);
	return ret ? ret : check_app_parameters(options, error);
}

static void print_default_sizes(const struct app *app)
{
	struct app_setup usual = app->usual, forms = app->forms;

	printf("  %-4s %s\n       ", app->name, app->summary);
	for (unsigned int i = 0; i < APP_PARAMETERS; i++)
		if (*get_setup_parameter(&usual, i))
			printf("--%s %llu ", app_parameters[i].name,
			       (unsigned long long)*get_setup_parameter(&usual, i));
	for (unsigned int i = 0; i < APP_PARAMETERS; i++)
		if (*get_setup_parameter(&forms, i))
			printf("[--%s N] ", app_parameters[i].name);
	printf("\n       %s\n", app->sizes);
}

void app_options_print_help(void)
{
	puts("Usage: approxftl app [OPTION ...] PROGRAM DIRECTORY\n"
	     "\n"
	     "Runs a program that tags some of its data as approximate, on files in DIRECTORY,\n"
	     "and reports the quality of its result.\n"
	     "\n"
	     "Programs, with their usual parameters:");
	for (unsigned int i = 0; apps[i]; i++)
		print_default_sizes(apps[i]);
	puts("  weights, embeddings\n"
	     "       a neural network, and vectors to search in, stored by bit plane\n"
	     "       \"approxftl app weights --help\" lists their own options");
	command_line_print_help(&command);
}
