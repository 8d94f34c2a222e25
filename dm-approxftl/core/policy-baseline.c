// SPDX-License-Identifier: GPL-2.0-only
/*
 * Baseline: page mapping, one open block per LUN, every write precise.
 */
#include "policies.h"
#include "policy-by-class.h"

static struct aftl_policy *create(struct aftl *ftl)
{
	return aftl_by_class_create(ftl, &aftl_policy_baseline);
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	return aftl_by_class_place(policy, lun, need, AFTL_PRECISE, placement);
}

const struct aftl_policy_type aftl_policy_baseline = {
	.name = "baseline",
	.about = "page mapping in sequential order, everything precise",
	.kinds = { "precise" },
	.open_blocks = 1,
	.reserve = 1,
	.ignores_tags = true,
	.create = create,
	.destroy = aftl_by_class_destroy,
	.adopt = aftl_by_class_adopt,
	.closed = aftl_by_class_closed,
	.place = place,
};
