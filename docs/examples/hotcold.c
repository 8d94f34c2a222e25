// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy with separate blocks for hot, cold and relocated data. A write is hot if the version
 * that it replaces was never relocated, and is younger than the median age of overwritten data.
 */
#include "core/policy/open-blocks.h"
#include "core/policy/policies.h"

#define PARAMS(PARAM)							\
	PARAM(hotcold_memory, COUNT, 1, 1 << 20, 64,			\
	      "overwrites over which the median age is estimated (hotcold)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

enum { COLD, HOT, MOVED };

struct hotcold {
	struct aftl_policy policy;
	u64 median_age; /* estimated median age of data when they are overwritten, in ns */
};

static u32 hotcold_choose_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	u64 *median = &container_of(policy, struct hotcold, policy)->median_age;
	const struct aftl_block *old = aftl_policy_lpn_block(policy, write->lpn);
	const struct own *own = policy->params[0];
	u64 age = old ? (u64)(aftl_policy_now(policy) - old->opened_ns) : *median;
	u64 step = div64_u64(*median, own->hotcold_memory);
	u32 answer = old && old->kind != MOVED && age < *median ? HOT : COLD;

	*median = age > *median ? *median + step + 1 : *median - step;
	return answer;
}

static int hotcold_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement)
{
	u32 kind = need->cause == AFTL_CAUSE_HOST ? need->stream : MOVED;

	return aftl_open_blocks_place_program(policy, lun, need, kind, placement);
}

const struct aftl_policy_type aftl_policy_hotcold = {
	.name = "hotcold",
	.about = "page mapping, data that is rewritten soon in blocks of its own",
	.kinds = { "cold", "hot", "moved" },
	.streams = { "cold", "hot" },
	.open_blocks = 3,
	.reserve = 2,
	.ignores_tags = true,
	.size = sizeof(struct hotcold),
	.params = { &group },
	AFTL_OPEN_BLOCKS_METHODS,
	.stream = hotcold_choose_stream,
	.place = hotcold_place_program,
};
