// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device that ReSSD is compared with: page mapping, host writes by zones of hotness,
 * collected data apart.
 */
#include "core/policy/policies.h"
#include "core/policy/by-class.h"
#include "core/policy/by-zone.h"

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	u32 kind = need->cause == AFTL_CAUSE_HOST ? need->stream : AFTL_KIND_COLLECTED;

	return aftl_by_class_place(policy, lun, need, kind, placement);
}

const struct aftl_policy_type aftl_policy_tlc = {
	.name = "tlc",
	.about = "page mapping, updates apart by the age of what they replace",
	.kinds = { AFTL_ZONE_NAMES, "collected" },
	.streams = { AFTL_ZONE_NAMES },
	.open_blocks = AFTL_ZONES + 1,
	.reserve = 1,
	.two_passes = true,
	.ignores_tags = true,
	.params = { &aftl_zone_params },
	AFTL_BY_CLASS_METHODS,
	.stream = aftl_zone_of,
	.place = place,
};
