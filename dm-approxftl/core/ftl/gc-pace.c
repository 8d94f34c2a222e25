// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paced GC: each host write waits for its share of relocations instead of for a whole block.
 *
 * A victim with v valid of n pages yields n - v free pages for v relocations. So v / (n - v) pages
 * are relocated for each page that the host programs, and the number of free blocks stays constant.
 *
 * Each LUN has an account in 1 / 2^20 of a page: host programs earn credit, relocations spend it.
 * Pacing begins when the free blocks fall to gc_pace above the policy's reserve. A LUN that falls
 * to the reserve nevertheless collects without a budget (emergency GC) until it has a free block
 * again: otherwise relocations that share a block with host writes could use up the reserve.
 */
#include "core/ftl/controller.h"
#include "core/ftl/gc-pace.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"

#define RATE_SHIFT 20

static bool reloc_task_is_paced_gc(const struct aftl_reloc *reloc)
{
	return reloc->kind == AFTL_RELOC_EMPTY &&
	       (reloc->cause == AFTL_CAUSE_GC || reloc->cause == AFTL_CAUSE_WEAR ||
		reloc->cause == AFTL_CAUSE_RETIRE);
}

/*
 * Return true if @lun may do a step of paced GC before a host write. If a relocation found no free
 * page, only emergency GC can free pages, so the answer is no.
 */
bool aftl_paced_gc_is_due(const struct aftl *ftl, const struct aftl_lun *lun)
{
	if (ftl->geo.zones || lun->out_of_blocks || lun->below_reserve)
		return false;
	if (lun->reloc.kind != AFTL_RELOC_NONE)
		return reloc_task_is_paced_gc(&lun->reloc) && lun->pace.credit > 0;
	return lun->free_blocks <= aftl_count_gc_reserve_blocks(ftl) +
					   aftl_count_unused_static_slc_blocks(ftl, lun) +
					   ftl->config.gc_pace;
}

/*
 * Set the rate and the initial credit for a new victim. The credit suffices for its first page, or
 * for the erase of an empty block. A block that is emptied for another reason, such as wear
 * levelling, has the rate 1: one page for each page that the host writes.
 */
void aftl_gc_pace_set_rate_for_victim(const struct aftl *ftl, struct aftl_lun *lun)
{
	u32 valid = lun->reloc.from->valid;
	u32 free = max(ftl->geo.block_ppns - min(ftl->geo.block_ppns, valid), 1U);

	lun->pace.rate = lun->reloc.cause == AFTL_CAUSE_GC ?
				 div64_u64((u64)valid << RATE_SHIFT, free) : 1U << RATE_SHIFT;
	lun->pace.credit = 1;
}

/* Add credit for @units pages programmed by the host. */
void aftl_gc_pace_count_host_pages(struct aftl_lun *lun, u32 units)
{
	lun->pace.credit += (s64)(units * lun->pace.rate);
}

/* Charge @units pages that have been read from the victim. */
void aftl_gc_pace_count_relocated_pages(struct aftl_lun *lun, u32 units)
{
	lun->pace.credit -= (s64)units << RATE_SHIFT;
}
