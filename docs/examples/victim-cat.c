// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost, age, times: what came free for what was moved, more for old data, less for a block
 * that has been erased often.
 *
 * M.-L. Chiang, R.-C. Chang, "Cleaning policies in mobile computers using flash memory",
 * Journal of Systems and Software 48, 1999.
 *
 * The second example of docs/policy-in-an-hour.md.
 */
#include "core/policy/victim-rules.h"

/*
 * Age times what comes free, over what has to be moved and over the erases so far. In a unit of
 * 65 us the age of years fits 32 bits, and no product 64.
 */
static u64 merit(const struct aftl_victim_candidates *closed, const struct aftl_block *block,
		 u32 slots)
{
	u64 age = min_t(u64, aftl_victim_age_ns(closed, block) >> 16, U32_MAX) + 1;

	return div64_u64(age * (slots - block->valid),
			 (block->valid + 1ULL) * (block->erases + 1ULL));
}

static struct aftl_block *choose(struct aftl_policy *policy,
				 const struct aftl_victim_candidates *closed)
{
	u32 slots = aftl_policy_geometry(policy)->block_ppns;
	struct aftl_block *block = NULL;
	struct aftl_block *best = NULL;
	u64 most = 0;

	while ((block = aftl_victim_candidates_next(closed, block))) {
		u64 value = merit(closed, block, slots);

		if (!best || value > most) {
			best = block;
			most = value;
		}
	}
	return best;
}

const struct aftl_victim_rule aftl_victim_cat = { .select_victim = choose };
