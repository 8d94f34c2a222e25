// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paced garbage collection: each host write waits for its share of it, not for a whole block.
 *
 * A victim with v valid of n units gives n - v free units for v relocations. So while the
 * host programs one unit, v / (n - v) units are relocated, and the number of free blocks
 * neither grows nor shrinks.
 *
 * Each LUN has an account in 1/256 of a unit: host programs earn credit, relocations spend it.
 * Pacing begins when free blocks fall to gc_pace above the reserve of the policy. A LUN that
 * falls to the reserve all the same collects without a budget until it has a free block again:
 * relocations that share a block with host writes could otherwise use the reserve up.
 */
#include "core/ftl/device.h"

#define RATE_SHIFT 8

static bool is_paced_reloc(const struct aftl_reloc *job)
{
	return job->kind == AFTL_RELOC_EMPTY &&
	       (job->cause == AFTL_CAUSE_GC || job->cause == AFTL_CAUSE_WEAR ||
		job->cause == AFTL_CAUSE_RETIRE);
}

/*
 * aftl_gc_pace_due() - may @lun do the next step of paced collection before a host write?
 *
 * It may not where relocations found no place before: only emergency collection helps there.
 */
bool aftl_gc_pace_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	if (ftl->geo.zones || lun->out_of_blocks || lun->below_reserve)
		return false;
	if (lun->reloc.kind != AFTL_RELOC_NONE)
		return is_paced_reloc(&lun->reloc) && lun->gc_credit > 0;
	return lun->free_blocks <= aftl_gc_reserve(ftl) + aftl_slc_missing_blocks(ftl, lun) +
					   ftl->config.gc_pace;
}

/*
 * aftl_gc_pace_begin() - the job of @lun begins to empty its block
 *
 * The credit is enough for the first page, or for the erase if nothing is valid. A block that
 * is emptied for another reason than room is relocated unit for unit with what the host writes.
 */
void aftl_gc_pace_begin(const struct aftl *ftl, struct aftl_lun *lun)
{
	u32 valid = lun->reloc.from->valid;
	u32 free = max(ftl->geo.block_ppns - min(ftl->geo.block_ppns, valid), 1U);

	lun->gc_rate = lun->reloc.cause == AFTL_CAUSE_GC ? (valid << RATE_SHIFT) / free :
							 1U << RATE_SHIFT;
	lun->gc_credit = 1;
}

/*
 * aftl_gc_pace_earn() - the host programs @units of @lun
 */
void aftl_gc_pace_earn(struct aftl_lun *lun, u32 units)
{
	lun->gc_credit += (s64)units * lun->gc_rate;
}

/*
 * aftl_gc_pace_spend() - @lun has read @units of the block that it empties
 */
void aftl_gc_pace_spend(struct aftl_lun *lun, u32 units)
{
	lun->gc_credit -= (s64)units << RATE_SHIFT;
}
