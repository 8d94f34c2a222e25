// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams: data of one placement id has open blocks of its own and stays separate when it is
 * relocated. A write with a lifetime hint and no placement id uses the lifetime as id, as the
 * kernel does for block devices.
 */
#include "core/policy/policies.h"
#include "core/policy/ftl-policy.h"

#define IDS 7

/* A block contains data of one stream. Ids above the number of streams share streams. */
static u32 streams_choose_stream(struct aftl_policy *policy, const struct aftl_page_write *page)
{
	u32 id = page->hint.stream ? page->hint.stream : page->hint.life;

	(void)policy;
	if (page->from)
		return page->from->kind;
	return id ? (id - 1) % IDS + 1 : 0;
}

static const struct aftl_ftl_policy methods = { .stream = streams_choose_stream };

const struct aftl_policy_type aftl_policy_streams = {
	.name = "streams",
	.about = "page mapping, each placement id of the host in blocks of its own",
	.host_streams = IDS,
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_POLICY(&methods, IDS + 1, 1),
	AFTL_FTL_STREAMS("unhinted", "id_1", "id_2", "id_3", "id_4", "id_5", "id_6", "id_7"),
};
