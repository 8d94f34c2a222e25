// SPDX-License-Identifier: GPL-2.0-only
/* Options that describe the simulated device: profile, parameters, seeds, policies. */
#include "core/ftl/ftl.h"
#include "device-choice.h"
#include "key-value.h"
#include "parameter-file.h"
#include "policy-load.h"
#include "shares.h"
#include "sim-options.h"

/*
 * Most mapping units of a device that starts overwritten unless an option sets its starting state.
 * The overwrites of larger devices take minutes.
 */
#define OVERWRITTEN_UNITS_MAX (8U << 20)

/* Seeds */

static int add_single_seed(struct sim_options *options, u64 seed, struct aftl_error *error)
{
	for (unsigned int i = 0; i < options->seed_count; i++)
		if (options->seeds[i] == seed)
			return aftl_fail(error, -EINVAL, "--seed: %llu is there twice",
					 (unsigned long long)seed);
	if (options->seed_count == SIM_SEEDS)
		return aftl_fail(error, -EINVAL, "--seed: at most %u seeds", SIM_SEEDS);
	options->seeds[options->seed_count++] = seed;
	return 0;
}

/* Parse a seed, such as 7, or a range of seeds, such as 1..8, which includes both ends. */
static int add_seed_range(struct sim_options *options, char *item, struct aftl_error *error)
{
	char *end = strstr(item, "..");
	struct aftl_error unused;
	u64 first = 0, last = 0;
	int ret;

	if (end)
		*end = '\0';
	ret = aftl_parse_value(AFTL_PARAM_COUNT, NULL, item, &first, &unused);
	if (!ret)
		ret = aftl_parse_value(AFTL_PARAM_COUNT, NULL, end ? end + 2 : item, &last,
				       &unused);
	if (ret || last < first)
		return aftl_fail(error, -EINVAL,
				 "--seed: \"%.40s%s%.40s\" is not a number, nor a range such as 1..8",
				 item, end ? ".." : "", end ? end + 2 : "");
	do
		ret = add_single_seed(options, first, error);
	while (!ret && first++ < last);
	return ret;
}

int parse_seed_list(struct sim_options *options, const char *list, struct aftl_error *error)
{
	char item[LIST_ITEM] = "";
	int ret = 0;

	options->param_given = "seed";
	options->seed_count = 0;
	if (!*list)
		return add_seed_range(options, item, error);
	while (!ret && copy_next_list_item(&list, item))
		ret = add_seed_range(options, item, error);
	options->params.seed = options->seeds[0];
	return ret;
}

int set_sim_parameter(struct sim_options *options, const char *text, size_t length,
		      const char *value, struct aftl_error *error)
{
	char key[KEY_SIZE];

	copy_key_with_underscores(key, text, length);
	if (!strcmp(key, "seed"))
		return parse_seed_list(options, value, error);
	options->param_given = text;
	options->fill_given |= !strcmp(key, "fill");
	options->fill_overwrite_given |= !strcmp(key, "fill_overwrite");
	return check_percentage_is_unambiguous(key, value, error) ? :
	       aftl_param_set(&options->params, key, value, error);
}

static int set_parameter_from_key_value(void *context, const char *pair, struct aftl_error *error)
{
	struct sim_options *options = context;
	size_t length = get_length_of_pair_key(pair);

	if (!length)
		return aftl_fail(error, -EINVAL, "--set: \"%.40s\" is not of the form KEY=VALUE",
				 pair);
	return set_sim_parameter(options, pair, length, pair + length + 1, error);
}

int set_parameters_from_text_or_file(struct sim_options *options, const char *value,
				     struct aftl_error *error)
{
	return *value == '@' ?
		       parameter_file_call_per_pair(value + 1, set_parameter_from_key_value,
						    options, error) :
		       set_parameter_from_key_value(options, value, error);
}

u64 get_share_to_overwrite_for_steady_state(const struct aftl_config *config, u64 units, u64 slots)
{
	u64 filled = units * config->fill_valid / SHARE_WHOLE;

	return filled ? DIV_ROUND_UP(slots - filled, filled) * SHARE_WHOLE : 0;
}

static u64 choose_share_to_overwrite(const struct aftl_config *config)
{
	const struct aftl_param *param = aftl_param_at(aftl_param_find("fill_overwrite"));
	struct aftl_config whole = *config;
	struct aftl_geometry geo;
	struct aftl_error unused;

	whole.shards = 1;
	/* The caller of sim_options_parse() reports parameters that describe no device. */
	if (aftl_geometry_init(&geo, &whole, &unused) || geo.units > OVERWRITTEN_UNITS_MAX)
		return 0;
	return min(get_share_to_overwrite_for_steady_state(config, geo.units, geo.ppns),
		   param->largest);
}

/*
 * Start in steady state unless an option sets the starting state: an empty device collects no
 * garbage, and its reads take no flash time; a device that is full but has free blocks collects
 * little. Fill for read-only loads, too, so that all points of a sweep of --write-share start
 * alike. Zones start empty, because the FTL refuses to fill them.
 */
void set_steady_state_as_default(struct sim_options *options)
{
	if (options->fill_given || options->load || options->params.zoned)
		return;
	options->params.fill = AFTL_FILL_RANDOM;
	if (!options->fill_overwrite_given)
		options->params.fill_overwrite = choose_share_to_overwrite(&options->params);
}

/* Profile and policies */

int load_chosen_profile(struct sim_options *options, int argc, char **argv,
			struct aftl_error *error)
{
	const char *name = options->profile;

	for (int i = 0; i < argc; i++) {
		if (i + 1 < argc && !strcmp(argv[i], "--profile"))
			name = argv[++i];
		else if (!strncmp(argv[i], "--profile=", 10))
			name = argv[i] + 10;
	}
	return aftl_profile_load(&options->params, name, error);
}

static int report_unknown_sim_policy(const char *name, struct aftl_error *error)
{
	const struct aftl_policy_type *type;
	struct aftl_error list = { "" };
	size_t used = 0;

	for (unsigned int i = 0; (type = aftl_policy_at(i)); i++)
		used += scnprintf(list.text + used, sizeof(list.text) - used, "%s%s",
				  i ? ", " : "", type->name);
	return aftl_fail(error, -EINVAL, "unknown policy \"%.40s\"; there are %.150s", name,
			 list.text);
}

/* Refuse equal policy names: the report tells policies apart by their names. */
static bool is_policy_name_chosen(const struct sim_options *options,
				  const struct aftl_policy_type *type)
{
	for (unsigned int i = 0; i < options->policy_count; i++)
		if (!strcmp(options->policies[i]->name, type->name))
			return true;
	return false;
}

static int add_chosen_policy(struct sim_options *options, const char *name,
			     struct aftl_error *error)
{
	const struct aftl_policy_type *type = aftl_policy_find(name);
	int ret = strchr(name, '/') ? policy_load_shared_object(name, &type, error) : 0;

	if (ret)
		return ret;
	if (!type)
		type = find_policy_of_thread(name);
	if (!type)
		return report_unknown_sim_policy(name, error);
	if (options->policy_count == SIM_POLICIES)
		return aftl_fail(error, -EINVAL, "--policy: at most %u can be compared",
				 SIM_POLICIES);
	if (is_policy_name_chosen(options, type))
		return aftl_fail(error, -EINVAL, "--policy: %s is there twice",
				 type->name);
	options->policies[options->policy_count++] = type;
	return 0;
}

/* For the word "all" in --policy, add all policies that the list has not named before it. */
static int add_all_policies(struct sim_options *options, struct aftl_error *error)
{
	const struct aftl_policy_type *type;
	int ret = 0;

	for (unsigned int i = 0; !ret && (type = aftl_policy_at(i)); i++)
		if (!is_policy_name_chosen(options, type))
			ret = add_chosen_policy(options, type->name, error);
	return ret;
}

int choose_listed_policies(struct sim_options *options, struct aftl_error *error)
{
	const char *list = options->policy;
	char item[LIST_ITEM];
	int ret = 0;

	if (!*list)
		return aftl_fail(error, -EINVAL, "--policy needs a name");
	while (!ret && copy_next_list_item(&list, item))
		ret = strcmp(item, "all") ? add_chosen_policy(options, item, error) :
					    add_all_policies(options, error);
	return ret;
}

