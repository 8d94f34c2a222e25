// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy/by-class.h"

static struct aftl_by_class *by_class(struct aftl_policy *policy, u32 lun)
{
	return (void *)((u8 *)policy->luns + policy->type->lun_size * lun);
}

bool aftl_by_class_adopt(struct aftl_policy *policy, struct aftl_lun *lun,
			 struct aftl_block *block)
{
	struct aftl_block **open;

	if (!policy->type->kinds[block->kind])
		return false;
	open = &by_class(policy, aftl_lun_index(lun))->open[block->kind];
	if (*open)
		return false;
	*open = block;
	return true;
}

void aftl_by_class_closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	u32 kind;
	u32 i;

	for (i = 0; i < aftl_policy_luns(policy); i++)
		for (kind = 0; kind < AFTL_KINDS_MAX; kind++)
			if (by_class(policy, i)->open[kind] == block)
				by_class(policy, i)->open[kind] = NULL;
}

int aftl_by_class_place(struct aftl_policy *policy, struct aftl_lun *lun,
			const struct aftl_need *need, u32 kind, struct aftl_placement *placement)
{
	struct aftl_block **open = &by_class(policy, aftl_lun_index(lun))->open[kind];

	return aftl_place_sequential(policy, lun, need, open, kind, placement);
}
