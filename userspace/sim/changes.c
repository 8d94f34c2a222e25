// SPDX-License-Identifier: GPL-2.0-only
#include "changes.h"
#include "core/policy/settings.h"

static int check_param(const struct sim_change *change, struct aftl_error *error)
{
	struct aftl_config unused;

	return aftl_param_set(&unused, change->key, change->value, error);
}

int sim_change_parse(struct sim_change *change, const char *pair, struct aftl_error *error)
{
	size_t length = key_length(pair);

	if (!length || strlen(pair + length + 1) >= sizeof(change->value))
		return aftl_fail(error, -EINVAL, "\"%.40s\" is not of the form KEY=VALUE", pair);
	key_copy(change->key, pair, length);
	scnprintf(change->value, sizeof(change->value), "%s", pair + length + 1);
	if (strcmp(change->key, "policy") != 0)
		return check_param(change, error);
	change->policy = aftl_policy_find(change->value);
	return change->policy ? 0 : aftl_fail(error, -EINVAL, "there is no policy \"%s\"",
					      change->value);
}
