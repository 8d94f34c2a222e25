// SPDX-License-Identifier: GPL-2.0-only
/* Delta_b: like baseline, but data tagged as approximate is programmed with coarse ISPP steps. */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

static int delta_b_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement)
{
	int ret = aftl_open_blocks_place_program(policy, lun, need, AFTL_PRECISE, placement);

	if (need->class == AFTL_APPROX)
		placement->mode = AFTL_MODE_COARSE;
	return ret;
}

const struct aftl_policy_type aftl_policy_delta_b = {
	.name = "delta_b",
	.about = "approximate data written with a coarse voltage step, mixed with precise data",
	.kinds = { "mixed" },
	.open_blocks = 1,
	.reserve = 1,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = delta_b_place_program,
	.fill_run = aftl_fill_to_block_end,
};
