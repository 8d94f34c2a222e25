// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hot/cold separation: data that are rewritten soon have blocks of their own. A write is hot if the
 * version that it replaces is younger than overwritten data are on average.
 */
#include "core/policy/open-blocks.h"
#include "core/policy/policies.h"

#define PARAMS(PARAM)							\
	PARAM(hotcold_memory, COUNT, 1, 1 << 20, 64,			\
	      "overwrites that the usual age is the mean of (hotcold)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

enum { COLD, HOT };

/* @usual_age: running mean of the age at which data are overwritten, in nanoseconds */
struct hotcold {
	struct aftl_policy policy;
	u64 usual_age;
};

static u32 stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	u64 *usual = &container_of(policy, struct hotcold, policy)->usual_age;
	const struct aftl_block *old = aftl_policy_lpn_block(policy, write->lpn);
	const struct own *own = policy->params[0];
	u64 age = old ? aftl_policy_now(policy) - old->opened_ns : *usual;
	u32 answer = age < *usual ? HOT : COLD;

	*usual += div64_u64(age, own->hotcold_memory) - div64_u64(*usual, own->hotcold_memory);
	return answer;
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun,
		 const struct aftl_program_request *need, struct aftl_placement *placement)
{
	return aftl_open_blocks_place(policy, lun, need, need->stream == HOT ? HOT : COLD,
				      placement);
}

const struct aftl_policy_type aftl_policy_hotcold = {
	.name = "hotcold",
	.about = "page mapping, data that is rewritten soon in blocks of its own",
	.kinds = { "cold", "hot" },
	.streams = { "cold", "hot" },
	.open_blocks = 2,
	.reserve = 2,
	.ignores_tags = true,
	.size = sizeof(struct hotcold),
	.params = { &group },
	AFTL_OPEN_BLOCKS_METHODS,
	.stream = stream,
	.place = place,
};
