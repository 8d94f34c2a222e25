// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost-age-times: prefer blocks with much invalid data, with old data, and with few erases.
 *
 * M.-L. Chiang, R.-C. Chang, "Cleaning policies in mobile computers using flash memory",
 * Journal of Systems and Software 48, 1999.
 *
 * The second example of docs/policy-in-an-hour.md.
 */
#include "core/policy/victim-rules.h"

/*
 * Return the merit of @block as a victim: its age times its invalid pages, divided by its valid
 * pages and its erases. The unit of age is 65 us, so that years fit 32 bits, and all products 64
 * bits.
 */
static u64 cat_compute_victim_merit(const struct aftl_victim_candidates *closed,
				    const struct aftl_block *block, u32 slots)
{
	u64 age = min_t(u64, aftl_victim_age_ns(closed, block) >> 16, U32_MAX) + 1;

	return div64_u64(age * (slots - block->valid),
			 (block->valid + 1ULL) * (block->erases + 1ULL));
}

static struct aftl_block *cat_select_victim(struct aftl_policy *policy,
					    const struct aftl_victim_candidates *closed)
{
	u32 slots = aftl_policy_geometry(policy)->block_ppns;
	struct aftl_block *block = NULL;
	struct aftl_block *best = NULL;
	u64 most = 0;

	while ((block = aftl_victim_candidates_next(closed, block))) {
		u64 value = cat_compute_victim_merit(closed, block, slots);

		if (!best || value > most) {
			best = block;
			most = value;
		}
	}
	return best;
}

const struct aftl_victim_rule aftl_victim_cat = { .select_victim = cat_select_victim };
