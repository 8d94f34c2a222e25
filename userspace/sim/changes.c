// SPDX-License-Identifier: GPL-2.0-only
#include "changes.h"
#include "core/policy/param-registry.h"
#include "core/policy/policies.h"
#include "shares.h"

int parse_device_change(struct sim_change *change, const char *pair, struct aftl_error *error)
{
	size_t length = get_length_of_pair_key(pair);

	if (!length || strlen(pair + length + 1) >= sizeof(change->value))
		return aftl_fail(error, -EINVAL, "\"%.40s\" is not of the form KEY=VALUE", pair);
	copy_key_with_underscores(change->key, pair, length);
	scnprintf(change->value, sizeof(change->value), "%s", pair + length + 1);
	if (strcmp(change->key, "policy") != 0) {
		struct aftl_config unused;

		return check_percentage_is_unambiguous(change->key, change->value, error) ? :
		       aftl_param_set(&unused, change->key, change->value, error);
	}
	change->policy = aftl_policy_find(change->value);
	return change->policy ? 0 : aftl_fail(error, -EINVAL, "there is no policy \"%s\"",
					      change->value);
}

static int report_invalid_change_syntax(const char *item, struct aftl_error *error)
{
	return aftl_fail(error, -EINVAL,
			 "--change: \"%.40s\" is not of the form N:KEY=VALUE, such as 5000:policy=vth_b",
			 item);
}

static int check_device_change_count_and_order(const struct sim_changes *changes, u64 at,
					       struct aftl_error *error)
{
	u64 last = sim_get_request_count_at_last_change(changes);

	if (changes->count == SIM_CHANGES)
		return aftl_fail(error, -EINVAL, "--change: at most %u changes", SIM_CHANGES);
	if (last > at)
		return aftl_fail(error, -EINVAL, "--change: %llu follows %llu; sort the changes",
				 (unsigned long long)at, (unsigned long long)last);
	return 0;
}

static int parse_and_add_device_change(struct sim_changes *changes, char *item,
				       struct aftl_error *error)
{
	struct sim_change change = { .at = 0 };
	char *pair = strchr(item, ':');
	struct aftl_error cause;
	int ret;

	if (!pair)
		return report_invalid_change_syntax(item, error);
	*pair++ = '\0';
	if (aftl_parse_value(AFTL_PARAM_COUNT, NULL, item, &change.at, &cause))
		return report_invalid_change_syntax(item, error);
	ret = check_device_change_count_and_order(changes, change.at, error);
	if (!ret && parse_device_change(&change, pair, &cause))
		ret = aftl_fail(error, -EINVAL, "--change: %.190s", cause.text);
	if (!ret)
		changes->all[changes->count++] = change;
	return ret;
}

int parse_device_change_list(struct sim_changes *changes, const char *list,
			     struct aftl_error *error)
{
	char item[LIST_ITEM] = "";
	int ret = *list ? 0 : report_invalid_change_syntax(list, error);

	while (!ret && copy_next_list_item(&list, item))
		ret = parse_and_add_device_change(changes, item, error);
	return ret;
}
