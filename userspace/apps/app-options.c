// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdlib.h>

#include "app-options.h"
#include "command-line.h"
#include "complain.h"

const char *const app_phases[] = { "all", "write", "compute", NULL };
const char *const app_ios[] = { "buffered", "direct", "mmap", NULL };

enum option_code {
	OPTION_FORCE = 'f',
	OPTION_HELP = 'h',
	OPTION_JSON = 'j',
	OPTION_PRECISE = 'p',
	OPTION_PHASE = 256,
	OPTION_IO,
	OPTION_MEMORY,
	OPTION_REFERENCE,
	OPTION_REQUIRE,
	/* Those of app_parameters follow. */
	OPTION_PARAMETER,
};

static const struct {
	const char *name;
	enum option_code code;
	const char *value;
	const char *help;
} lines[] = {
	{ "phase", OPTION_PHASE, "NAME", "write, compute or all (default)" },
	{ "io", OPTION_IO, "NAME", "buffered (default), direct or mmap" },
	{ "memory", OPTION_MEMORY, "SIZE", "buffer of each array (default: a quarter)" },
	{ "precise", OPTION_PRECISE, NULL, "declare nothing approximate" },
	{ "require", OPTION_REQUIRE, NULL, "fail where there is no device of dm-approxftl" },
	{ "force", OPTION_FORCE, NULL, "replace files that are not of this program" },
	{ "reference", OPTION_REFERENCE, "DIRECTORY",
	  "files of the precise run (default: $TMPDIR or /tmp)" },
	{ "json", OPTION_JSON, "FILE", COMMAND_JSON_HELP },
	{ "help", OPTION_HELP, NULL, "print this" },
};

static void make_table(struct option table[ARRAY_SIZE(lines) + APP_PARAMETERS + 1])
{
	unsigned int i, count = 0;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		table[count++] = (struct option){
			lines[i].name,
			lines[i].code == OPTION_JSON ? optional_argument : !!lines[i].value, NULL,
			lines[i].code,
		};
	for (i = 0; i < APP_PARAMETERS; i++)
		table[count++] = (struct option){ app_parameters[i].name, 1, NULL,
						  OPTION_PARAMETER + (int)i };
	table[count] = (struct option){ 0 };
}

static int take_word(const char *option, const char *const *words, const char *word,
		     unsigned int *value, struct aftl_error *error)
{
	unsigned int i;

	for (i = 0; words[i]; i++) {
		if (!strcmp(words[i], word)) {
			*value = i;
			return 0;
		}
	}
	return aftl_fail(error, -EINVAL, "--%s: \"%.40s\" is not %s, %s or %s", option, word,
			 words[0], words[1], words[2]);
}

/* Reading is what computing begins with: both words are good. */
static int take_phase(struct app_options *options, const char *word, struct aftl_error *error)
{
	return take_word("phase", app_phases, strcmp(word, "read") ? word : "compute",
			 &options->phase, error);
}

static int take_number(const char *option, enum aftl_param_type type, const char *text,
		       u64 *value, struct aftl_error *error)
{
	struct aftl_error cause;

	if (!aftl_parse_value(type, NULL, text, value, &cause))
		return 0;
	return aftl_fail(error, -EINVAL, "--%s: %.190s", option, cause.text);
}

static int take_parameter(struct app_options *options, unsigned int parameter,
			  const char *text, struct aftl_error *error)
{
	const char *name = app_parameters[parameter].name;
	u64 *value = setup_value(&options->setup, parameter);
	int ret = take_number(name, AFTL_PARAM_COUNT, text, value, error);

	if (!ret && !*value)
		ret = aftl_fail(error, -EINVAL, "--%s must be at least %u", name,
				(u32)app_parameters[parameter].least);
	return ret;
}

static int take(struct app_options *options, int code, const char *value,
		struct aftl_error *error)
{
	switch (code) {
	case OPTION_PHASE:
		return take_phase(options, value, error);
	case OPTION_IO:
		return take_word("io", app_ios, value, &options->io, error);
	case OPTION_MEMORY:
		return take_number("memory", AFTL_PARAM_BYTES, value, &options->memory_bytes,
				   error);
	case OPTION_REFERENCE:
		options->reference = value;
		return 0;
	case OPTION_PRECISE:
		options->precise = true;
		return 0;
	case OPTION_REQUIRE:
		options->require = true;
		return 0;
	case OPTION_FORCE:
		options->force = true;
		return 0;
	case OPTION_JSON:
		options->json = value ? value : "-";
		return 0;
	case OPTION_HELP:
		options->help = true;
		return 0;
	default:
		return take_parameter(options, code - OPTION_PARAMETER, value, error);
	}
}

static int find_app(struct app_options *options, const char *name, struct aftl_error *error)
{
	const char *names[16] = { NULL };
	unsigned int i;

	for (i = 0; apps[i]; i++) {
		names[i] = apps[i]->name;
		if (!strcmp(apps[i]->name, name)) {
			options->app = apps[i];
			return 0;
		}
	}
	if (closest_word(name, names))
		return aftl_fail(error, -EINVAL, "no program \"%.40s\"; did you mean %s?", name,
				 closest_word(name, names));
	return aftl_fail(error, -EINVAL,
			 "no program \"%.40s\"; \"approxftl app --help\" lists them", name);
}

static int take_rest(struct app_options *options, int count, char **words,
		     struct aftl_error *error)
{
	int ret;

	if (count < 1)
		return aftl_fail(error, -EINVAL,
				 "PROGRAM missing; \"approxftl app --help\" lists them");
	ret = find_app(options, words[0], error);
	if (!ret && count < 2)
		ret = aftl_fail(error, -EINVAL, "DIRECTORY missing: where its files shall be");
	if (!ret && count > 2)
		ret = aftl_fail(error, -EINVAL, "\"%.40s\" is one word too many", words[2]);
	if (!ret)
		options->folder = words[1];
	return ret;
}

static int check_parameters(const struct app_options *options, struct aftl_error *error)
{
	struct app_setup given = options->setup, usual = options->app->usual;
	struct app_setup forms = options->app->forms;
	unsigned int i;

	for (i = 0; i < APP_PARAMETERS; i++)
		if (*setup_value(&given, i) && !*setup_value(&usual, i) && !*setup_value(&forms, i))
			return aftl_fail(error, -EINVAL, "%s has no --%s", options->app->name,
					 app_parameters[i].name);
	return setup_check(&given, error);
}

static int complain_unknown(const char *argument, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "unknown option, or no value: \"%.40s\"; see \"approxftl app --help\"",
			 argument);
}

int app_options_parse(struct app_options *options, int argc, char **argv,
		      struct aftl_error *error)
{
	struct option table[ARRAY_SIZE(lines) + APP_PARAMETERS + 1];
	int code, ret = 0;

	*options = (struct app_options){ .reference = getenv("TMPDIR") };
	if (!options->reference)
		options->reference = "/tmp";
	make_table(table);
	opterr = 0;
	optind = 0;
	while (!ret && (code = getopt_long(argc, argv, "fhj::p", table, NULL)) != -1)
		ret = code == '?' ? complain_unknown(argv[optind - 1], error) :
				    take(options, code, optarg, error);
	if (!ret && !options->help)
		ret = take_rest(options, argc - optind, argv + optind, error);
	if (!ret && !options->help)
		ret = check_parameters(options, error);
	return ret;
}

static void print_option(const char *name, int code, const char *value, const char *help)
{
	bool letter = code < OPTION_PHASE, within = code == OPTION_JSON;
	char left[40];

	scnprintf(left, sizeof(left), "  %c%c%c --%s%s%s%s", letter ? '-' : ' ',
		  letter ? code : ' ', letter ? ',' : ' ', name, within ? "[=" : value ? " " : "",
		  value ? value : "", within ? "]" : "");
	printf("%-30s%s\n", left, help);
}

static void print_usual(const struct app *app)
{
	struct app_setup usual = app->usual, forms = app->forms;
	unsigned int i;

	printf("  %-4s %s\n       ", app->name, app->summary);
	for (i = 0; i < APP_PARAMETERS; i++)
		if (*setup_value(&usual, i))
			printf("--%s %llu ", app_parameters[i].name,
			       (unsigned long long)*setup_value(&usual, i));
	for (i = 0; i < APP_PARAMETERS; i++)
		if (*setup_value(&forms, i))
			printf("[--%s N] ", app_parameters[i].name);
	printf("\n       %s\n", app->sizes);
}

void app_options_help(void)
{
	unsigned int i;

	puts("Usage: approxftl app [OPTION ...] PROGRAM DIRECTORY\n"
	     "\n"
	     "Runs a program that says which of its data may lose bits, on files in DIRECTORY,\n"
	     "and tells how good its result is.\n"
	     "\n"
	     "Programs, with their usual parameters:");
	for (i = 0; apps[i]; i++)
		print_usual(apps[i]);
	puts("  weights, embeddings\n"
	     "       a neural network, and vectors to search in, stored by bit plane\n"
	     "       \"approxftl app weights --help\" lists their own options");
	puts("\nOptions:");
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		print_option(lines[i].name, (int)lines[i].code, lines[i].value,
			     lines[i].help);
	puts("\nParameters, which the files remember:");
	for (i = 0; i < APP_PARAMETERS; i++)
		print_option(app_parameters[i].name, OPTION_PARAMETER, app_parameters[i].value,
			     app_parameters[i].help);
}
