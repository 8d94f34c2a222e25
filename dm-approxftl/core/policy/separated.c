// SPDX-License-Identifier: GPL-2.0-only
/*
 * separated: relocated data has open blocks of its own. It has outlived the data that was written
 * with it, so that it is colder than new host data and should not be relocated again together with
 * that.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

enum { FRESH, MOVED };

static int separated_place(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_program_request *need,
			   struct aftl_placement *placement)
{
	u32 kind = need->cause == AFTL_CAUSE_HOST ? FRESH : MOVED;

	return aftl_open_blocks_place(policy, lun, need, kind, placement);
}

const struct aftl_policy_type aftl_policy_separated = {
	.name = "separated",
	.about = "page mapping, relocated data in blocks of its own, everything precise",
	.kinds = { "fresh", "moved" },
	.open_blocks = 2,
	.reserve = 1,
	.two_passes = true,
	.steady = true,
	.ignores_tags = true,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = separated_place,
};
