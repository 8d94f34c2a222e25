// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageFTL: page mapping that programs word lines layer by layer and knows nothing
 * of process similarity. What cubeFTL is compared with.
 */
#include "policies.h"
#include "policy-by-class.h"

static struct aftl_policy *create(struct aftl *ftl)
{
	return aftl_by_class_create(ftl, &aftl_policy_pageftl);
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	return aftl_by_class_place(policy, lun, need, AFTL_PRECISE, placement);
}

const struct aftl_policy_type aftl_policy_pageftl = {
	.name = "pageftl",
	.about = "page mapping, word lines layer by layer, all with the leader's parameters",
	.kinds = { "horizontal" },
	.open_blocks = 1,
	.reserve = 1,
	.ignores_tags = true,
	.create = create,
	.destroy = aftl_by_class_destroy,
	.adopt = aftl_by_class_adopt,
	.closed = aftl_by_class_closed,
	.place = place,
};
