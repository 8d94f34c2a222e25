// SPDX-License-Identifier: GPL-2.0-only
/*
 * Margin of background GC with gc_idle_limit adaptive: free blocks that a LUN keeps beyond those
 * that host writes must leave alone. Each of them takes spare space from the closed blocks and so
 * raises the write amplification, so there are only as many as writes use up while GC empties a
 * block: one more after emergency GC, fewer if a whole period left some of them free.
 */
#include "core/ftl/controller.h"
#include "core/ftl/gc-margin.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"

/*
 * Erases of a LUN in a period. The margin may shrink once in a period; if it becomes too small, the
 * writes of one block are delayed. With 256 erases in a period, such writes are less than 1 % of
 * all, so that they do not move the p99 of the response time.
 */
#define MARGIN_PERIOD 256

static void gc_margin_begin_period(struct aftl_gc_margin *margin)
{
	margin->unused = U32_MAX;
	margin->erases = 0;
}

void aftl_gc_margin_reset(struct aftl_lun *lun)
{
	lun->margin.blocks = 1;
	lun->margin.emergency = false;
	gc_margin_begin_period(&lun->margin);
}

bool aftl_gc_margin_is_possible(const struct aftl *ftl, const struct aftl_gc_margin *margin)
{
	return margin->blocks && margin->blocks <= ftl->geo.blocks_per_lun &&
	       margin->erases < MARGIN_PERIOD;
}

/* Adapt the margin of @lun when GC has erased a block, which is not in the free list yet. */
void aftl_gc_margin_block_erased(struct aftl *ftl, struct aftl_lun *lun,
				 struct aftl_block *block __maybe_unused)
{
	struct aftl_gc_margin *margin = &lun->margin;
	u32 kept = ftl->gc_margin_base + aftl_count_unused_static_slc_blocks(ftl, lun) +
		   aftl_count_blocks_for_retirement(ftl, lun);

	margin->unused = min(margin->unused, lun->free_blocks - min(lun->free_blocks, kept));
	margin->erases++;
	if (margin->emergency) {
		margin->blocks = min(margin->blocks + 1, ftl->gc_blocks);
		gc_margin_begin_period(margin);
	} else if (margin->erases == MARGIN_PERIOD) {
		margin->blocks -= min(margin->unused, margin->blocks - 1);
		gc_margin_begin_period(margin);
	}
	margin->emergency = false;
}
