// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vth_b: tagged data is programmed with a lower top threshold voltage, in blocks of its own, which
 * are erased at a lower voltage.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

static int vth_b_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
			       const struct aftl_program_request *need,
			       struct aftl_placement *placement)
{
	int ret = aftl_open_blocks_place_program(policy, lun, need, need->class, placement);

	if (need->class == AFTL_APPROX)
		placement->mode = AFTL_MODE_REDUCED;
	return ret;
}

static bool vth_b_allows_shallow_erase(struct aftl_policy *policy, const struct aftl_block *block)
{
	(void)policy;
	return block->kind == AFTL_APPROX && block->approx_only;
}

const struct aftl_policy_type aftl_policy_vth_b = {
	.name = "vth_b",
	.about = "approximate data written with reduced voltage into blocks of its own",
	.kinds = { "precise", "approximate" },
	.open_blocks = 2,
	.reserve = 2,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = vth_b_place_program,
	.fill_run = aftl_fill_to_block_end,
	.shallow_erase = vth_b_allows_shallow_erase,
};
