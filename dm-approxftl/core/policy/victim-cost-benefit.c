// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victim selector "cost_benefit": maximises age * (1 - u) / 2u, with u the share of valid data:
 * free space gained and age, relative to the cost of reading and writing the valid data.
 *
 * A. Kawaguchi, S. Nishioka, H. Motoda, "A Flash-Memory Based File System", USENIX 1995. The age
 * here is the time since the block was opened.
 */
#include "core/policy/selection.h"
#include "core/policy/victim-rules.h"

static u64 compute_cost_benefit_of_block(const struct aftl_victim_candidates *closed,
					 const struct aftl_block *block)
{
	u32 slots = aftl_policy_geometry(closed->policy)->block_ppns;
	u64 age = min_t(u64, aftl_victim_age_ns(closed, block) >> 16, U32_MAX) + 1;

	return div64_u64(age * (slots - block->valid), 2ULL * max(block->valid, 1U));
}

static struct aftl_block *select_victim_by_cost_benefit(struct aftl_policy *policy __maybe_unused,
							const struct aftl_victim_candidates *closed)
{
	struct aftl_block *block = NULL;
	struct aftl_block *best = NULL;

	while ((block = aftl_victim_candidates_next(closed, block))) {
		if (!block->valid)
			return block;
		if (!best || compute_cost_benefit_of_block(closed, block) >
				     compute_cost_benefit_of_block(closed, best))
			best = block;
	}
	return best;
}

const struct aftl_victim_rule aftl_victim_cost_benefit = { .select_victim =
								   select_victim_by_cost_benefit };
