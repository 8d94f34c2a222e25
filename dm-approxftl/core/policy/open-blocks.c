// SPDX-License-Identifier: GPL-2.0-only
/*
 * One sequential open block for each LUN and block kind.
 */
#include "core/policy/open-blocks.h"

static struct aftl_open_blocks *get_open_blocks_of_lun(struct aftl_policy *policy, u32 lun)
{
	return (void *)((u8 *)policy->luns + policy->type->lun_size * lun);
}

bool aftl_open_blocks_adopt_block(struct aftl_policy *policy, struct aftl_lun *lun,
				  struct aftl_block *block)
{
	struct aftl_block **open;

	if (!policy->type->kinds[block->kind])
		return false;
	open = &get_open_blocks_of_lun(policy, aftl_lun_index(lun))->open[block->kind];
	if (*open)
		return false;
	*open = block;
	return true;
}

void aftl_open_blocks_forget_closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	u32 kind;
	u32 i;

	for (i = 0; i < aftl_policy_count_luns(policy); i++)
		for (kind = 0; kind < AFTL_KINDS_MAX; kind++)
			if (get_open_blocks_of_lun(policy, i)->open[kind] == block)
				get_open_blocks_of_lun(policy, i)->open[kind] = NULL;
}

int aftl_open_blocks_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				   const struct aftl_program_request *need, u32 kind,
				   struct aftl_placement *placement)
{
	struct aftl_block **open = &get_open_blocks_of_lun(policy, aftl_lun_index(lun))->open[kind];

	return aftl_place_sequential(policy, lun, need, open, kind, placement);
}
