// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registry of all parameters: of the core, policies, allocation rules and victim selectors.
 */
#include "core/base/profiles.h"
#include "core/policy/lun-rules.h"
#include "core/policy/policies.h"
#include "core/policy/param-registry.h"
#include "core/policy/victim-rules.h"

/* Addresses of the pointers by which policies and rules refer to their parameter groups. */
static const struct {
	const struct aftl_param_group *const *group;
} groups[] = {
#define POLICY(name) { &aftl_policy_##name.params[0] },
#include "core/policy/policy-list.h"
#undef POLICY
#define POLICY(name) { &aftl_policy_##name.params[1] },
#include "core/policy/policy-list.h"
#undef POLICY
#define VICTIM(name) { &aftl_victim_##name.params },
#include "core/base/victim-list.h"
#undef VICTIM
#define LUN_RULE(name) { &aftl_lun_##name.params },
#include "core/base/lun-list.h"
#undef LUN_RULE
};

static_assert(AFTL_GROUPS_MAX == 2, "a line for each");

/*
 * Parameter group of the policy or rule of entry @i of groups[]; NULL if it has none, or the same
 * one as entry @i - 1. Policies that share a group must be adjacent in the list of policies.
 */
static const struct aftl_param_group *get_param_group_at(u32 i)
{
	const struct aftl_param_group *group = *groups[i].group;

	return i && *groups[i - 1].group == group ? NULL : group;
}

/* Find the group of the @own-th parameter of policies and rules; @within takes its index there. */
static const struct aftl_param_group *find_param_group(u32 own, u32 *within)
{
	const struct aftl_param_group *group;
	u32 i;

	*within = own;
	for (i = 0; i < ARRAY_SIZE(groups) && own < AFTL_OWN_PARAMS; i++) {
		group = get_param_group_at(i);
		if (group && *within < group->count)
			return group;
		*within -= group ? group->count : 0;
	}
	return NULL;
}

const struct aftl_param *aftl_param_at(unsigned int index)
{
	const struct aftl_param_group *group;
	u32 within;

	if (index < AFTL_CORE_PARAMS)
		return &aftl_core_params[index];
	group = find_param_group(index - AFTL_CORE_PARAMS, &within);
	return group ? &group->params[within] : NULL;
}

unsigned int aftl_param_count(void)
{
	unsigned int count = AFTL_CORE_PARAMS;

	while (aftl_param_at(count))
		count++;
	return count;
}

/* Return the index of @key in @group; the number of parameters if the group lacks @key. */
static u32 find_param_in_group(const struct aftl_param_group *group, const char *key)
{
	u32 i;

	for (i = 0; i < group->count; i++)
		if (!strcmp(group->params[i].key, key))
			break;
	return i;
}

int aftl_param_find(const char *key)
{
	int core = aftl_core_param_find(key);
	u32 before = AFTL_CORE_PARAMS;
	u32 i;

	for (i = 0; core < 0 && i < ARRAY_SIZE(groups); i++) {
		const struct aftl_param_group *group = get_param_group_at(i);
		u32 within = group ? find_param_in_group(group, key) : 0;

		if (group && within < group->count)
			return before + within;
		before += within;
	}
	return core;
}

int aftl_param_set(struct aftl_config *config, const char *key, const char *text,
		   struct aftl_error *error)
{
	int index = aftl_param_find(key);
	u64 value = 0;
	int ret;

	if (index < 0)
		return aftl_fail(error, -EINVAL,
				 "unknown parameter \"%.40s\"; \"approxftl params\" lists them",
				 key);
	ret = aftl_param_parse(aftl_param_at(index), text, &value, error);
	if (!ret)
		*aftl_config_param_ptr(config, index) = value;
	return ret;
}

enum aftl_change aftl_param_change(unsigned int index)
{
	u32 within;

	if (index < AFTL_CORE_PARAMS)
		return aftl_core_param_change(index);
	return find_param_group(index - AFTL_CORE_PARAMS, &within)->live ? AFTL_CHANGE_LIVE :
								     AFTL_CHANGE_RELOAD;
}

const void *aftl_get_values_of_param_group(const struct aftl_config *config,
					   const struct aftl_param_group *group)
{
	u32 at = 0;
	u32 i;

	for (i = 0; group && i < ARRAY_SIZE(groups); i++) {
		const struct aftl_param_group *other = get_param_group_at(i);

		if (other == group)
			return at + group->count <= AFTL_OWN_PARAMS ? &config->own[at] : NULL;
		at += other ? other->count : 0;
	}
	return NULL;
}

void aftl_config_set_defaults(struct aftl_config *config)
{
	const struct aftl_param *param;
	unsigned int i;

	memset(config, 0, sizeof(*config));
	for (i = 0; (param = aftl_param_at(i)); i++)
		*aftl_config_param_ptr(config, i) = param->standard;
}

void aftl_config_set_defaults_of_absent_params(struct aftl_config *config)
{
	aftl_config_set_defaults(config);
	config->gc_idle_limit = AFTL_GC_IDLE_FIXED;
}

int aftl_profile_load(struct aftl_config *config, const char *name, struct aftl_error *error)
{
	aftl_config_set_defaults(config);
	return aftl_profile_apply(config, name, error);
}
