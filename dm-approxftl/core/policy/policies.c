// SPDX-License-Identifier: GPL-2.0-only
/* Registry of the policies. */
#include "core/policy/policies.h"

static const struct {
	const struct aftl_policy_type *type;
} list[] = {
#define POLICY(name) { &aftl_policy_##name },
#include "core/policy/policy-list.h"
#undef POLICY
};

const struct aftl_policy_type *aftl_policy_at(unsigned int index)
{
	return index < ARRAY_SIZE(list) ? list[index].type : NULL;
}

const struct aftl_policy_type *aftl_policy_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (!strcmp(list[i].type->name, name))
			return list[i].type;
	return NULL;
}
