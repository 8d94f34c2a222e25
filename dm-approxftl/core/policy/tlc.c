// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device that ReSSD is compared with: page mapping, host writes by zones of hotness,
 * collected data apart.
 */
#include "core/policy/policies.h"
#include "core/policy/by-zone.h"

static struct aftl_zones *zones_of(struct aftl_policy *policy, u32 lun)
{
	return (struct aftl_zones *)policy->luns + lun;
}

static struct aftl_policy *create(struct aftl *ftl)
{
	return aftl_policy_new(ftl, sizeof(struct aftl_policy), sizeof(struct aftl_zones));
}

static bool adopt(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block)
{
	return block->kind != AFTL_KIND_DISPLACED &&
	       aftl_zones_adopt(zones_of(policy, aftl_lun_index(lun)), block);
}

static void closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	u32 lun;

	for (lun = 0; lun < aftl_policy_luns(policy->ftl); lun++)
		aftl_zones_closed(zones_of(policy, lun), block);
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	u32 kind = need->cause == AFTL_CAUSE_HOST ? need->heat : AFTL_KIND_COLLECTED;

	return aftl_zones_place(policy, lun, zones_of(policy, aftl_lun_index(lun)), need, kind,
				placement);
}

const struct aftl_policy_type aftl_policy_tlc = {
	.name = "tlc",
	.about = "page mapping, updates apart by the age of what they replace",
	.kinds = { "cold", "hot_1", "hot_2", "hot_3", "collected" },
	.open_blocks = AFTL_HEATS + 1,
	.reserve = 1,
	.ignores_tags = true,
	.create = create,
	.destroy = aftl_policy_delete,
	.adopt = adopt,
	.closed = closed,
	.heat = aftl_zone_of,
	.place = place,
};
