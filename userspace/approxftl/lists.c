// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs that list what the core knows.
 */
#include "complain.h"
#include "json-envelope.h"
#include "core/policy/policy.h"
#include "core/policy/settings.h"
#include "text-table.h"
#include "verbs.h"

/**
 * struct list_options - arguments of these verbs
 * @json: as JSON
 * @profile: whose values to list
 * @help: explain the verb
 */
struct list_options {
	bool json;
	const char *profile;
	bool help;
};

/* Takes "--profile NAME" and "--profile=NAME"; returns the arguments it took. */
static int take_profile(struct list_options *options, char **argv)
{
	if (!strncmp(argv[0], "--profile=", 10)) {
		options->profile = argv[0] + 10;
		return 1;
	}
	if (strcmp(argv[0], "--profile") != 0 || !argv[1])
		return 0;
	options->profile = argv[1];
	return 2;
}

static int complain_argument(const char *verb, const char *argument, bool with_profile)
{
	if (with_profile && !strcmp(argument, "--profile"))
		complain("--profile needs a value");
	else
		complain("%s: unknown argument \"%s\"; \"approxftl %s --help\" explains it", verb,
			 argument, verb);
	return -EINVAL;
}

static int parse(struct list_options *options, bool with_profile, int argc, char **argv)
{
	int i = 2;

	*options = (struct list_options){ .profile = "demo" };
	while (i < argc) {
		int taken = with_profile ? take_profile(options, argv + i) : 0;

		if (!taken && (!strcmp(argv[i], "--json") || !strcmp(argv[i], "-j")))
			options->json = true;
		else if (!taken && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")))
			options->help = true;
		else if (!taken)
			return complain_argument(argv[1], argv[i], with_profile);
		i += taken ? taken : 1;
	}
	return 0;
}

/* Parameters */

static const char *const type_names[] = {
	[AFTL_PARAM_COUNT] = "number",	     [AFTL_PARAM_BYTES] = "size",
	[AFTL_PARAM_TIME] = "time",	     [AFTL_PARAM_PERCENT] = "percentage",
	[AFTL_PARAM_RATE] = "rate",	     [AFTL_PARAM_CHOICE] = "word",
};

/* Units that the stored value counts in. */
static const char *const type_units[] = {
	[AFTL_PARAM_COUNT] = "1",	       [AFTL_PARAM_BYTES] = "byte",
	[AFTL_PARAM_TIME] = "ns",	       [AFTL_PARAM_PERCENT] = "1e-2 percent",
	[AFTL_PARAM_RATE] = "1e-12",	       [AFTL_PARAM_CHOICE] = "index",
};

static void print_range(const struct aftl_param *param, char *text, size_t size)
{
	char smallest[AFTL_VALUE_SIZE];
	char largest[AFTL_VALUE_SIZE];
	size_t used = 0;
	unsigned int i;

	if (!param->words) {
		aftl_param_print(param, param->smallest, smallest);
		aftl_param_print(param, param->largest, largest);
		scnprintf(text, size, "%s .. %s", smallest, largest);
		return;
	}
	for (i = 0; param->words[i]; i++)
		used += scnprintf(text + used, size - used, "%s%s", i ? "|" : "",
				  param->words[i]);
}

static void params_table(const struct aftl_config *config)
{
	char text[TEXT_TABLE_CELL];
	struct text_table table;
	unsigned int i;

	text_table_begin(&table, 5, 5);
	text_table_row(&table);
	text_table_cell(&table, "KEY");
	text_table_cell(&table, "VALUE");
	text_table_cell(&table, "TYPE");
	text_table_cell(&table, "RANGE");
	text_table_cell(&table, "MEANING");
	for (i = 0; i < aftl_param_count(); i++) {
		text_table_row(&table);
		text_table_cell(&table, "%s", aftl_param_at(i)->key);
		aftl_param_print(aftl_param_at(i), aftl_param_get(config, i), text);
		text_table_cell(&table, "%s", text);
		text_table_cell(&table, "%s", type_names[aftl_param_at(i)->type]);
		print_range(aftl_param_at(i), text, sizeof(text));
		text_table_cell(&table, "%s", text);
		text_table_cell(&table, "%s", aftl_param_at(i)->help);
	}
	text_table_end(&table, stdout);
}

static void put_text(struct json_writer *json, const char *key, const struct aftl_param *param,
		     u64 value)
{
	char text[AFTL_VALUE_SIZE];

	aftl_param_print(param, value, text);
	json_string(json, key, text);
}

static void put_param(struct json_writer *json, const struct aftl_param *param, u64 value)
{
	unsigned int i;

	json_object(json, NULL);
	json_string(json, "key", param->key);
	put_text(json, "value", param, value);
	json_u64(json, "stored_value", value);
	json_string(json, "type", type_names[param->type]);
	json_string(json, "stored_unit", type_units[param->type]);
	put_text(json, "smallest", param, param->smallest);
	put_text(json, "largest", param, param->largest);
	if (param->words) {
		json_list(json, "words");
		for (i = 0; param->words[i]; i++)
			json_string(json, NULL, param->words[i]);
		json_end_array(json);
	}
	json_string(json, "help", param->help);
	json_end_object(json);
}

static void params_json(const struct list_options *options, const struct aftl_config *config,
			int argc, char **argv)
{
	struct json_writer json;
	unsigned int i;

	json_envelope_begin(&json, stdout, argc, argv);
	json_string(&json, "profile", options->profile);
	json_array(&json, "parameters");
	for (i = 0; i < aftl_param_count(); i++)
		put_param(&json, aftl_param_at(i), aftl_param_get(config, i));
	json_end_array(&json);
	json_envelope_end(&json);
}

enum exit_code params_main(int argc, char **argv)
{
	struct list_options options;
	struct aftl_config config;
	struct aftl_error error;

	if (parse(&options, true, argc, argv))
		return EXIT_USAGE;
	if (options.help) {
		puts("Usage: approxftl params [--profile NAME] [--json]\n"
		     "\n"
		     "Lists every parameter of a device: its value in the profile (default demo), its\n"
		     "type, its range and what it means.");
		return EXIT_DONE;
	}
	if (aftl_profile_load(&config, options.profile, &error)) {
		complain("%s", error.text);
		return EXIT_USAGE;
	}
	if (options.json)
		params_json(&options, &config, argc, argv);
	else
		params_table(&config);
	return EXIT_DONE;
}

/* Profiles and policies: a name and a phrase each */

struct listed {
	const char *name;
	const char *about;
};

static bool profile_at(unsigned int index, struct listed *listed)
{
	listed->name = aftl_profile_name(index);
	if (listed->name)
		listed->about = aftl_profile_about(index);
	return listed->name;
}

static bool policy_at(unsigned int index, struct listed *listed)
{
	const struct aftl_policy_type *type = aftl_policy_at(index);

	if (type)
		*listed = (struct listed){ type->name, type->about };
	return type;
}

typedef bool (*list_at)(unsigned int index, struct listed *listed);

static void print_list(list_at at)
{
	struct text_table table;
	struct listed listed;
	unsigned int i;

	text_table_begin(&table, 2, 2);
	for (i = 0; at(i, &listed); i++) {
		text_table_row(&table);
		text_table_cell(&table, "%s", listed.name);
		text_table_cell(&table, "%s", listed.about);
	}
	text_table_end(&table, stdout);
}

static void print_json_list(list_at at, int argc, char **argv)
{
	struct json_writer json;
	struct listed listed;
	unsigned int i;

	json_envelope_begin(&json, stdout, argc, argv);
	json_array(&json, argv[1]);
	for (i = 0; at(i, &listed); i++) {
		json_object(&json, NULL);
		json_string(&json, "name", listed.name);
		json_string(&json, "about", listed.about);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code name_list_main(list_at at, int argc, char **argv)
{
	struct list_options options;

	if (parse(&options, false, argc, argv))
		return EXIT_USAGE;
	if (options.help)
		printf("Usage: approxftl %s [--json]\n", argv[1]);
	else if (options.json)
		print_json_list(at, argc, argv);
	else
		print_list(at);
	return EXIT_DONE;
}

enum exit_code profiles_main(int argc, char **argv)
{
	return name_list_main(profile_at, argc, argv);
}

enum exit_code policies_main(int argc, char **argv)
{
	return name_list_main(policy_at, argc, argv);
}
