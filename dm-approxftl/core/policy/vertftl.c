// SPDX-License-Identifier: GPL-2.0-only
/*
 * vertFTL, which cubeFTL is compared with: it knows only what is true of a layer in any
 * condition, and learns nothing.
 */
#include "core/policy/policies.h"
#include "core/policy/by-class.h"
#include "core/policy/by-layer.h"

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	int ret = aftl_by_class_place(policy, lun, need, AFTL_PRECISE, placement);

	placement->ispp.final_mv = aftl_careful_mv(policy, placement->page);
	return ret;
}

const struct aftl_policy_type aftl_policy_vertftl = {
	.name = "vertftl",
	.about = "page mapping, each layer as fast as it can be in any condition",
	.kinds = { "horizontal" },
	.open_blocks = 1,
	.reserve = 1,
	.ignores_tags = true,
	AFTL_BY_CLASS_METHODS,
	.place = place,
};
