// SPDX-License-Identifier: GPL-2.0-only
/*
 * separated: relocated data has open blocks of its own. It has outlived the data that was written
 * with it, so that it is colder than new host data and should not be relocated again together with
 * such data.
 */
#include "core/policy/policies.h"
#include "core/policy/ftl-policy.h"

enum { FRESH, MOVED };

static u32 separated_choose_stream(struct aftl_policy *policy, const struct aftl_page_write *page)
{
	(void)policy;
	return page->cause == AFTL_CAUSE_HOST ? FRESH : MOVED;
}

static const struct aftl_ftl_policy methods = { .stream = separated_choose_stream };

const struct aftl_policy_type aftl_policy_separated = {
	.name = "separated",
	.about = "page mapping, relocated data in blocks of its own, everything precise",
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_POLICY(&methods, 2, 1),
	AFTL_FTL_STREAMS("fresh", "moved"),
};
