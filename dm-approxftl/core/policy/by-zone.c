// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy/by-zone.h"

u32 aftl_zone_of(struct aftl_policy *policy, const struct aftl_write *write)
{
	const struct aftl_block *old = aftl_policy_old_block(policy, write->unit);
	const struct aftl_config *config = aftl_policy_config(policy);
	u64 now_ns = aftl_policy_now(policy);
	u64 age_ns;

	if (!old || aftl_policy_filling(policy) || old->opened_ns > now_ns)
		return AFTL_ZONE_COLD;
	age_ns = now_ns - old->opened_ns;
	if (age_ns > config->zone3)
		return AFTL_ZONE_COLD;
	return age_ns <= config->zone1 ? 1 : age_ns <= config->zone2 ? 2 : 3;
}

int aftl_zones_place(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_zones *zones,
		     const struct aftl_need *need, u32 kind, struct aftl_placement *placement)
{
	return aftl_place_sequential(policy, lun, need, &zones->open[kind], kind, placement);
}

bool aftl_zones_adopt(struct aftl_zones *zones, struct aftl_block *block)
{
	if (block->order != AFTL_ORDER_SEQUENTIAL || block->kind >= AFTL_ZONE_KINDS ||
	    zones->open[block->kind])
		return false;
	zones->open[block->kind] = block;
	return true;
}

void aftl_zones_closed(struct aftl_zones *zones, const struct aftl_block *block)
{
	u32 kind;

	for (kind = 0; kind < AFTL_ZONE_KINDS; kind++)
		if (zones->open[kind] == block)
			zones->open[kind] = NULL;
}
