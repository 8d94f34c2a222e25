// SPDX-License-Identifier: GPL-2.0-only
/* Parse arguments into struct sim_options. */
#include "command-line.h"
#include "complain.h"
#include "core/ftl/ftl.h"
#include "device-choice.h"
#include "key-value.h"
#include "mqsim-config.h"
#include "option-rows.h"
#include "option-rules.h"
#include "option-values.h"
#include "request-sizes.h"
#include "sim-options.h"
#include "tenants.h"

static int report_unknown_sim_option(const char *text, size_t length, struct aftl_error *error)
{
	const char *words[SIM_OPTIONS + AFTL_PARAMS_MAX + 1] = { NULL };
	char wrong[41], name[OPTION_NAME];
	const char *meant;
	unsigned int i, count = 0;

	for (i = 0; i < option_row_count; i++)
		if (option_rows[i].name)
			words[count++] = option_rows[i].name;
	for (i = 0; i < aftl_param_count(); i++)
		words[count++] = aftl_param_at(i)->key;
	scnprintf(wrong, sizeof(wrong), "%.*s", (int)min(length, sizeof(wrong) - 1), text);
	meant = find_closest_word(wrong, words);
	if (meant)
		return aftl_fail(error, -EINVAL, "unknown option \"--%s\"; did you mean --%s?",
				 wrong, option_get_dashed_name(meant, name));
	return aftl_fail(error, -EINVAL,
			 "unknown option \"--%s\"; \"approxftl sim --help\" lists the options, \"approxftl params\" the parameters",
			 wrong);
}

/**
 * struct argument - one "--name value" or "--name=value"
 * @name: without the dashes
 * @length: length of the name
 * @value: NULL if there is none
 * @count: number of arguments of the command line that it takes
 */
struct argument {
	const char *name;
	size_t length;
	const char *value;
	int count;
};

/* Parse -q, -jFILE or -F FORMAT. */
static bool parse_short_option(char **argv, struct argument *argument, struct aftl_error *error)
{
	const char *text = argv[0];
	const struct option_row *row = *text == '-' ? option_find_by_letter(text[1]) : NULL;
	bool apart = row && row->kind == KIND_TEXT && !text[2] && argv[1];

	if (!row || (text[2] && row->kind == KIND_SWITCH)) {
		aftl_fail(error, -EINVAL,
			  "\"%.40s\" is not an option; a record file is read by --trace FILE",
			  text);
		return false;
	}
	argument->name = row->name;
	argument->length = strlen(row->name);
	argument->value = text[2] ? text + 2 : apart ? argv[1] : NULL;
	argument->count = apart ? 2 : 1;
	return true;
}

static bool split_long_argument(char **argv, struct argument *argument, struct aftl_error *error)
{
	if (argv[0][0] != '-' || argv[0][1] != '-' || !argv[0][2])
		return parse_short_option(argv, argument, error);
	argument->name = argv[0] + 2;
	argument->length = strcspn(argument->name, "=");
	if (argument->name[argument->length]) {
		argument->value = argument->name + argument->length + 1;
		argument->count = 1;
	} else {
		argument->value = argv[1];
		argument->count = argv[1] ? 2 : 1;
	}
	return true;
}

static bool does_argument_have_value(const struct argument *argument, struct aftl_error *error)
{
	if (argument->value)
		return true;
	aftl_fail(error, -EINVAL, "--%.*s needs a value", (int)min(argument->length, 40UL),
		  argument->name);
	return false;
}

static const struct aftl_param *find_device_param(const char *name, size_t length)
{
	for (unsigned int i = 0; i < aftl_param_count(); i++)
		if (option_has_name(aftl_param_at(i)->key, name, length))
			return aftl_param_at(i);
	return NULL;
}

bool is_option_name_a_device_param(const char *name, size_t length)
{
	return find_device_param(name, length);
}

static int set_parameter_of_argument(struct sim_options *options, const struct argument *argument,
				     struct aftl_error *error)
{
	if (!find_device_param(argument->name, argument->length))
		return report_unknown_sim_option(argument->name, argument->length, error);
	if (!does_argument_have_value(argument, error))
		return -EINVAL;
	return set_sim_parameter(options, argument->name, argument->length, argument->value,
				 error);
}

static int set_option_of_argument(struct sim_options *options, const struct option_row *option,
				  struct argument *argument, struct aftl_error *error)
{
	options->given[option - option_rows] = true;
	if (option->kind == KIND_SWITCH) {
		const char *value = argument->name + argument->length;

		if (option->field == offsetof(struct sim_options, help) && !strcmp(value, "=json"))
			options->help_json = true;
		else if (*value)
			return aftl_fail(error, -EINVAL, "--%.*s takes no value",
					 (int)argument->length, argument->name);
		argument->count = 1;
		return option_set_value(options, option, NULL, error);
	}
	if (option->kind == KIND_FILE && (argument->count == 2 || !argument->value)) {
		argument->value = "-";
		argument->count = 1;
	}
	if (!does_argument_have_value(argument, error))
		return -EINVAL;
	if (option->field == offsetof(struct sim_options, set))
		return set_parameters_from_text_or_file(options, argument->value, error);
	if (option->field == offsetof(struct sim_options, config))
		return mqsim_config_apply(options, argument->value, error);
	if (option->field == offsetof(struct sim_options, seed))
		return parse_seed_list(options, argument->value, error);
	return option_set_value(options, option, argument->value, error);
}

static int set_options_from_all_arguments(struct sim_options *options, int argc, char **argv,
					  struct aftl_error *error)
{
	const struct option_row *option = NULL;
	int i, ret = 0;

	for (i = 0; i < argc && !ret;) {
		struct argument argument = { .name = NULL };

		if (!split_long_argument(argv + i, &argument, error)) {
			const char *word = argv[i];
			bool is_word = *word != '-' || !word[1];

			/* @word may be meant as the optional value of the option before it. */
			return is_word && option && option->kind == KIND_FILE ?
				       command_report_missing_equals(option->name, word, error) :
				       -EINVAL;
		}
		option = option_find_by_name(argument.name, argument.length);
		ret = option ? set_option_of_argument(options, option, &argument, error) :
			       set_parameter_of_argument(options, &argument, error);
		i += argument.count;
	}
	return ret;
}

static int set_default_options(struct sim_options *options, struct aftl_error *error)
{
	int ret = 0;

	memset(options, 0, sizeof(*options));
	for (unsigned int i = 0; i < option_row_count && !ret; i++)
		if (option_rows[i].standard)
			ret = option_set_value(options, &option_rows[i], option_rows[i].standard,
					       error);
	return ret;
}

static int add_block_of_page_map_option(struct sim_options *options, const char *item,
					struct aftl_error *error)
{
	struct aftl_error unused;
	u64 block = 0;

	if (aftl_parse_value(AFTL_PARAM_COUNT, NULL, item, &block, &unused) || block > U32_MAX)
		return aftl_fail(error, -EINVAL,
				 "--page-map: \"%.40s\" is not a block number; write auto or a list such as 0,17",
				 item);
	if (options->page_block_count == SIM_PAGE_MAPS)
		return aftl_fail(error, -EINVAL, "--page-map: at most %u blocks", SIM_PAGE_MAPS);
	options->page_blocks[options->page_block_count++] = (u32)block;
	return 0;
}

static int parse_page_map_option(struct sim_options *options, struct aftl_error *error)
{
	const char *list = options->page_map;
	char item[LIST_ITEM];
	int ret = 0;

	if (!list || !strcmp(list, "auto"))
		return 0;
	if (!*list)
		return add_block_of_page_map_option(options, list, error);
	while (!ret && copy_next_list_item(&list, item))
		ret = add_block_of_page_map_option(options, item, error);
	return ret;
}

/* With --trace the limit is infinite unless --requests was given; the file's end ends the run. */
u64 sim_options_get_request_limit(const struct sim_options *options)
{
	bool endless = options->trace && !sim_did_user_set_option(options, "requests");

	return endless || options->requests > U64_MAX - options->warmup ?
		       U64_MAX : options->warmup + options->requests;
}

unsigned int sim_options_count_runs(const struct sim_options *options)
{
	return max(options->policy_count, 1U) * max(options->seed_count, 1U);
}

int sim_options_parse(struct sim_options *options, int argc, char **argv,
		      struct aftl_error *error)
{
	int ret = set_default_options(options, error);

	if (!ret)
		ret = load_chosen_profile(options, argc, argv, error);
	if (!ret)
		ret = set_options_from_all_arguments(options, argc, argv, error);
	if (ret || options->help)
		return ret;
	set_steady_state_as_default(options);
	if (!options->load)
		ret = choose_listed_policies(options, error);
	if (!ret)
		ret = request_sizes_parse(options, error);
	if (!ret)
		ret = sim_tenants_parse(options, error);
	if (!ret)
		ret = parse_page_map_option(options, error);
	if (!ret && options->change)
		ret = parse_device_change_list(&options->changes, options->change, error);
	if (!ret && options->fault_script)
		ret = fault_script_read(&options->faults, options->fault_script, error);
	return ret ? ret : option_rules_check(options, error);
}
