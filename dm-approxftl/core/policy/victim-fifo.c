// SPDX-License-Identifier: GPL-2.0-only
/* Victim selector "fifo": the block that was opened first, like a circular log. */
#include "core/policy/selection.h"
#include "core/policy/victim-rules.h"

static struct aftl_block *select_oldest_victim(struct aftl_policy *policy __maybe_unused,
					       const struct aftl_victim_candidates *closed)
{
	struct aftl_block *block = NULL;
	struct aftl_block *oldest = NULL;

	while ((block = aftl_victim_candidates_next(closed, block)))
		if (!oldest || block->opened_ns < oldest->opened_ns)
			oldest = block;
	return oldest;
}

const struct aftl_victim_rule aftl_victim_fifo = { .select_victim = select_oldest_victim };
