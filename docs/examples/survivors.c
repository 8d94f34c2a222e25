// SPDX-License-Identifier: GPL-2.0-only
/* Policy that puts data that have survived a garbage collection into blocks of their own. */
#include "core/policy/ftl-policy.h"
#include "core/policy/policy-object.h"

enum { FRESH, MOVED };

static u32 survivors_choose_stream(struct aftl_policy *policy, const struct aftl_page_write *page)
{
	(void)policy;
	return page->cause == AFTL_CAUSE_HOST ? FRESH : MOVED;
}

static const struct aftl_ftl_policy methods = { .stream = survivors_choose_stream };

static const struct aftl_policy_type survivors = {
	.name = "survivors",
	.about = "page mapping, relocated data in blocks of its own",
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_POLICY(&methods, 2, 1),
	AFTL_FTL_STREAMS("fresh", "moved"),
};

AFTL_EXPORT_POLICY(survivors);
