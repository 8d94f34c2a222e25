// SPDX-License-Identifier: GPL-2.0-only
/*
 * vertFTL, a baseline of cubeFTL: uses fixed ISPP parameters for each layer that are safe in any
 * condition, and monitors nothing.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"
#include "core/policy/layer-params.h"

static int vertftl_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement)
{
	int ret = aftl_open_blocks_place_program(policy, lun, need, AFTL_PRECISE, placement);

	placement->ispp.final_mv = aftl_vertftl_get_voltage_reduction_mv(policy, placement->page);
	return ret;
}

/* Preconditioning need not call place(): without misprograms the fixed ISPP parameters are safe. */
static u32 vertftl_count_programs_without_policy(struct aftl_policy *policy, struct aftl_lun *lun,
						 const struct aftl_program_request *need,
						 const struct aftl_block *block)
{
	(void)lun;
	(void)need;
	(void)block;
	return aftl_policy_config(policy)->misprograms ? 0 : U32_MAX;
}

const struct aftl_policy_type aftl_policy_vertftl = {
	.name = "vertftl",
	.about = "page mapping, each layer with the fastest parameters that are always safe",
	.kinds = { "horizontal" },
	.open_blocks = 1,
	.reserve = 1,
	.ignores_tags = true,
	AFTL_OPEN_BLOCKS_METHODS,
	.place = vertftl_place_program,
	.fill_run = vertftl_count_programs_without_policy,
};
