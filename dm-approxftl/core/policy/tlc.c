// SPDX-License-Identifier: GPL-2.0-only
/*
 * tlc: the baseline of ReSSD. Page mapping; host writes are separated by hotness class, relocated
 * data has blocks of its own.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"
#include "core/policy/hotness.h"

static int tlc_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
			     const struct aftl_program_request *need,
			     struct aftl_placement *placement)
{
	u32 kind = need->cause == AFTL_CAUSE_HOST ? need->stream : AFTL_KIND_COLLECTED;

	return aftl_open_blocks_place_program(policy, lun, need, kind, placement);
}

const struct aftl_policy_type aftl_policy_tlc = {
	.name = "tlc",
	.about = "page mapping, updates separated by the age of the old version",
	.kinds = { AFTL_HOTNESS_NAMES, "collected" },
	.streams = { AFTL_HOTNESS_NAMES },
	.open_blocks = AFTL_HOTNESS_CLASSES + 1,
	.reserve = 1,
	.two_passes = true,
	.ignores_tags = true,
	.params = { &aftl_hotness_params },
	AFTL_OPEN_BLOCKS_METHODS,
	.stream = aftl_hotness_class,
	.place = tlc_place_program,
	.fill_run = aftl_fill_to_block_end,
};
