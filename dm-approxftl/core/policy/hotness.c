// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hotness of an update by the age of the block that holds the old version.
 */
#include "core/policy/hotness.h"

#define MINUTES (AFTL_HOUR_NS / 60)

#define PARAMS(PARAM)								\
	PARAM(zone1, TIME, 0, 365 * AFTL_DAY_NS, 30 * MINUTES,			\
	      "updates of data up to this age are in the hottest class (ressd, tlc)") \
	PARAM(zone2, TIME, 0, 365 * AFTL_DAY_NS, 60 * MINUTES,			\
	      "age limit of the second hotness class (ressd, tlc)")			\
	PARAM(zone3, TIME, 0, 365 * AFTL_DAY_NS, 120 * MINUTES,			\
	      "age limit of the third class; updates of older data are cold (ressd, tlc)")

AFTL_PARAM_TABLE(zones, PARAMS);

const struct aftl_param_group aftl_hotness_params = AFTL_PARAM_GROUP(zones, true);

u64 aftl_overwritten_data_age_ns(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	const struct aftl_block *old = aftl_policy_lpn_block(policy, write->lpn);
	s64 now_ns = aftl_policy_now(policy);

	if (!old || aftl_policy_is_preconditioning(policy) || old->opened_ns > now_ns)
		return U64_MAX;
	return (u64)(now_ns - old->opened_ns);
}

u32 aftl_hotness_class(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	const struct zones *zones = policy->params[0];
	u64 age_ns = aftl_overwritten_data_age_ns(policy, write);

	if (age_ns > zones->zone3)
		return AFTL_HOTNESS_COLD;
	return age_ns <= zones->zone1 ? 1 : age_ns <= zones->zone2 ? 2 : 3;
}
