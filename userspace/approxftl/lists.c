// SPDX-License-Identifier: GPL-2.0-only
/* Verbs that list parameters, profiles and policies of the core. */
#include "complain.h"
#include "core/base/profiles.h"
#include "core/policy/policies.h"
#include "core/policy/param-registry.h"
#include "option-rows.h"
#include "text-table.h"
#include "verbs.h"

/* An entry of a list. */

struct listed {
	const char *name;
	const char *about;
};

static bool get_name_and_help_of_profile(unsigned int index, struct listed *listed)
{
	listed->name = aftl_profile_name(index);
	if (listed->name)
		listed->about = aftl_profile_description(index);
	return listed->name;
}

static bool get_name_and_help_of_policy(unsigned int index, struct listed *listed)
{
	const struct aftl_policy_type *type = aftl_policy_at(index);

	if (type)
		*listed = (struct listed){ type->name, type->about };
	return type;
}

static bool get_name_and_help_of_param(unsigned int index, struct listed *listed)
{
	if (index >= aftl_param_count())
		return false;
	*listed = (struct listed){ aftl_param_at(index)->key, aftl_param_at(index)->help };
	return true;
}

typedef bool (*list_at)(unsigned int index, struct listed *listed);

/* Return true if @name is among the operands, or if there are no operands. */
static bool is_name_among_operands(const struct device_options *options, const char *name)
{
	for (unsigned int i = 0; i < options->word_count; i++)
		if (option_has_name(name, options->words[i], strlen(options->words[i])))
			return true;
	return !options->word_count;
}

/* Find the next list entry that an operand names; *@index: number of the next entry to check. */
static bool find_next_requested_name(const struct device_options *options, list_at at,
				     unsigned int *index, struct listed *listed)
{
	while (at((*index)++, listed))
		if (is_name_among_operands(options, listed->name))
			return true;
	return false;
}

static enum exit_code check_listed_name(const struct device_options *options, list_at at,
					const char *word)
{
	const char *names[AFTL_PARAMS_MAX + 1] = { NULL };
	struct listed listed;
	const char *meant;

	for (unsigned int i = 0; at(i, &listed); i++) {
		if (option_has_name(listed.name, word, strlen(word)))
			return EXIT_DONE;
		names[i] = listed.name;
	}
	meant = find_closest_word(word, names);
	if (meant)
		complain_as(options->verb, "there is no \"%s\"; did you mean %s?", word, meant);
	else
		complain_as(options->verb, "there is no \"%s\"; \"approxftl %s\" lists all", word,
			    options->verb);
	return EXIT_USAGE;
}

static enum exit_code check_all_listed_names(const struct device_options *options, list_at at)
{
	enum exit_code code = EXIT_DONE;

	for (unsigned int i = 0; i < options->word_count && !code; i++)
		code = check_listed_name(options, at, options->words[i]);
	return code;
}

/* Parameters */

static const char *const type_names[] = {
	[AFTL_PARAM_COUNT] = "number",	     [AFTL_PARAM_BYTES] = "size",
	[AFTL_PARAM_TIME] = "time",	     [AFTL_PARAM_PERCENT] = "percentage",
	[AFTL_PARAM_RATE] = "rate",	     [AFTL_PARAM_CHOICE] = "word",
	[AFTL_PARAM_WEIGHTS] = "weights",
};

/* Units of stored values. */
static const char *const type_units[] = {
	[AFTL_PARAM_COUNT] = "1",	       [AFTL_PARAM_BYTES] = "byte",
	[AFTL_PARAM_TIME] = "ns",	       [AFTL_PARAM_PERCENT] = "1e-2 percent",
	[AFTL_PARAM_RATE] = "1e-12",	       [AFTL_PARAM_CHOICE] = "index",
	[AFTL_PARAM_WEIGHTS] = "byte each",
};

/* Ways in which a parameter of an existing device may change. */
static const char *const change_names[] = {
	[AFTL_CHANGE_RELOAD] = "reload",
	[AFTL_CHANGE_LIVE] = "live",
	[AFTL_CHANGE_NEVER] = "never",
};

static void print_value_range_of_param(const struct aftl_param *param, char *text, size_t size)
{
	char smallest[AFTL_VALUE_SIZE];
	char largest[AFTL_VALUE_SIZE];
	size_t used = 0;

	if (!param->words) {
		aftl_param_format(param, param->smallest, smallest);
		aftl_param_format(param, param->largest, largest);
		scnprintf(text, size, "%s .. %s", smallest, largest);
		return;
	}
	for (unsigned int i = 0; param->words[i]; i++)
		used += scnprintf(text + used, size - used, "%s%s", i ? "|" : "",
				  param->words[i]);
}

static const struct list_column param_columns[] = {
	{ "key", "KEY", "its name", false, false },
	{ "value", "VALUE", "in the profile", false, false },
	{ "type", "TYPE", "how a value is written", false, false },
	{ "range", "RANGE", "from the least to the largest, or all words", false, false },
	{ "change", "CHANGE", "possible live, by a reload, or never", false, false },
	{ "meaning", "MEANING", "what it does", false, false },
	{ "stored_value", "STORED", "the value as a number", true, true },
	{ "stored_unit", "UNIT", "what that counts in", false, true },
};

static void add_param_row(struct text_list *list, unsigned int index, u64 value)
{
	const struct aftl_param *param = aftl_param_at(index);
	char text[TEXT_TABLE_CELL];

	list_add_row(list);
	list_add_text(list, "%s", param->key);
	aftl_param_format(param, value, text);
	list_add_text(list, "%s", text);
	list_add_text(list, "%s", type_names[param->type]);
	print_value_range_of_param(param, text, sizeof(text));
	list_add_text(list, "%s", text);
	list_add_text(list, "%s", change_names[aftl_param_change(index)]);
	list_add_text(list, "%s", param->help);
	list_add_number(list, value, 0, NULL);
	list_add_text(list, "%s", type_units[param->type]);
}

static void print_param_list(const struct device_options *options, const struct aftl_config *config)
{
	struct text_list list;

	list_begin(&list, &options->list);
	for (unsigned int i = 0; i < aftl_param_count(); i++)
		if (is_name_among_operands(options, aftl_param_at(i)->key))
			add_param_row(&list, i, aftl_param_get(config, i));
	device_print_list_or_json(options, &list);
}

static void add_param_cell(struct json_writer *json, const char *key,
			   const struct aftl_param *param, u64 value)
{
	char text[AFTL_VALUE_SIZE];

	aftl_param_format(param, value, text);
	json_string(json, key, text);
}

static void write_param_json(struct json_writer *json, unsigned int index, u64 value)
{
	const struct aftl_param *param = aftl_param_at(index);

	json_begin_object(json, NULL);
	json_string(json, "key", param->key);
	add_param_cell(json, "value", param, value);
	json_u64(json, "stored_value", value);
	json_string(json, "type", type_names[param->type]);
	json_string(json, "stored_unit", type_units[param->type]);
	add_param_cell(json, "smallest", param, param->smallest);
	add_param_cell(json, "largest", param, param->largest);
	if (param->words) {
		json_begin_inline_array(json, "words");
		for (unsigned int i = 0; param->words[i]; i++)
			json_string(json, NULL, param->words[i]);
		json_end_array(json);
	}
	json_string(json, "change", change_names[aftl_param_change(index)]);
	json_string(json, "help", param->help);
	json_end_object(json);
}

static void print_params_json(const struct device_options *options, const char *profile,
			      const struct aftl_config *config)
{
	struct json_writer json;

	device_begin_json_of_verb(options, &json);
	json_string(&json, "profile", profile);
	json_begin_array(&json, "parameters");
	for (unsigned int i = 0; i < aftl_param_count(); i++)
		if (is_name_among_operands(options, aftl_param_at(i)->key))
			write_param_json(&json, i, aftl_param_get(config, i));
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_list_params(const struct device_options *options)
{
	const char *profile = device_get_value_of_table_key(options, "profile", "demo");
	enum exit_code code = check_all_listed_names(options, get_name_and_help_of_param);
	struct aftl_config config;
	struct aftl_error error;

	if (code)
		return code;
	if (aftl_profile_load(&config, profile, &error))
		return report_command_failure(options->verb, &error, EXIT_USAGE);
	if (is_json_of_all_columns_requested(options))
		print_params_json(options, profile, &config);
	else
		print_param_list(options, &config);
	return EXIT_DONE;
}

const struct device_verb verb_params = {
	.name = "params",
	.words = "[NAME ...]",
	.most_words = 4096,
	.options = "P",
	.columns = param_columns,
	.column_count = ARRAY_SIZE(param_columns),
	.about = "Lists all parameters of a device, or the given ones, with their value in the\n"
		 "profile, type, range and meaning.",
	.run = run_list_params,
};

/* Profiles and policies */

static const struct list_column named_columns[] = {
	{ "name", "NAME", "as --profile or --policy takes it", false, false },
	{ "about", "ABOUT", "what it is", false, false },
};

static void print_requested_names_json(const struct device_options *options, list_at at)
{
	struct json_writer json;
	struct listed listed;
	unsigned int i = 0;

	device_begin_json_of_verb(options, &json);
	json_begin_array(&json, options->verb);
	while (find_next_requested_name(options, at, &i, &listed)) {
		json_begin_object(&json, NULL);
		json_string(&json, "name", listed.name);
		json_string(&json, "about", listed.about);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_envelope_end(&json);
}

static enum exit_code run_list_names(const struct device_options *options)
{
	list_at at = strcmp(options->verb, "profiles") ? get_name_and_help_of_policy :
							 get_name_and_help_of_profile;
	enum exit_code code = check_all_listed_names(options, at);

	if (code)
		return code;
	if (is_json_of_all_columns_requested(options)) {
		print_requested_names_json(options, at);
	} else {
		struct text_list list;
		struct listed listed;
		unsigned int i = 0;

		list_begin(&list, &options->list);
		while (find_next_requested_name(options, at, &i, &listed)) {
			list_add_row(&list);
			list_add_text(&list, "%s", listed.name);
			list_add_text(&list, "%s", listed.about);
		}
		device_print_list_or_json(options, &list);
	}
	return EXIT_DONE;
}

const struct device_verb verb_profiles = {
	.name = "profiles",
	.words = "[NAME ...]",
	.most_words = 4096,
	.bare = true,
	.options = "",
	.columns = named_columns,
	.column_count = ARRAY_SIZE(named_columns),
	.about = "Lists the devices to start from.",
	.run = run_list_names,
};

const struct device_verb verb_policies = {
	.name = "policies",
	.words = "[NAME ...]",
	.most_words = 4096,
	.bare = true,
	.options = "",
	.columns = named_columns,
	.column_count = ARRAY_SIZE(named_columns),
	.about = "Lists the flash translation policies.",
	.run = run_list_names,
};
