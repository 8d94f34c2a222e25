// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wear levelling (parameter "wear_gap"), in each LUN on its own.
 *
 * Dynamic: block-manager.c opens the least worn of the free blocks that were erased first.
 *
 * Static: when the erase count of a block is more than wear_gap below the highest of its LUN, its
 * data, which have not changed for long, are relocated like those of a victim of GC, and the block
 * is erased. The block then takes new data and wears again.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"
#include "core/ftl/wear-level.h"

/*
 * Erases in a LUN between two wear-levelling moves. A move causes one erase; the second one lets a
 * LUN with many cold blocks still collect garbage.
 */
#define WEAR_PERIOD 2

/*
 * Erases by which wear-levelling moves begin before wear_gap is reached: the moves of all cold
 * blocks of a LUN, one at a time, take a while, in which the most worn blocks are erased again.
 */
#define WEAR_MARGIN_MAX 8

void aftl_wear_block_erased(struct aftl *ftl __maybe_unused, struct aftl_lun *lun,
			    struct aftl_block *block)
{
	lun->wear.due++;
	lun->wear.most = max(lun->wear.most, block->erases + 1);
}

static bool erase_count_lags_beyond_wear_gap(const struct aftl *ftl, const struct aftl_lun *lun,
					     u32 erases)
{
	u32 gap = (u32)ftl->config.wear_gap;

	return lun->wear.most - erases > gap - min(gap / 4, (u32)WEAR_MARGIN_MAX);
}

/*
 * Return true if wear levelling may close the open block, because no data come to it any more. The
 * open blocks of placement handles are left to the host.
 */
static bool wear_levelling_may_close_block(const struct aftl *ftl, const struct aftl_block *block)
{
	return block->state == AFTL_BLOCK_OPEN && ftl->geo.passes == 1 &&
	       !ftl->geo.superblock_luns && !ftl->geo.zones && !block->handle;
}

/* Return the least erased block with data if wear levelling must empty it, else NULL. */
static struct aftl_block *find_coldest_block(struct aftl *ftl, struct aftl_lun *lun)
{
	size_t blocks = ftl->geo.blocks_per_lun;
	struct aftl_block *block = &ftl->media.blocks[lun->index * blocks];
	struct aftl_block *end = block + blocks;
	struct aftl_block *least = NULL;

	aftl_lun_update_min_max_erase_counts(ftl, lun);
	for (; block < end; block++)
		if ((block->state == AFTL_BLOCK_CLOSED ||
		     wear_levelling_may_close_block(ftl, block)) &&
		    (!least || block->erases < least->erases))
			least = block;
	return least && erase_count_lags_beyond_wear_gap(ftl, lun, least->erases) ? least : NULL;
}

/* Select a closed block of @lun whose data wear levelling moves now, or return NULL. */
struct aftl_block *aftl_wear_select_cold(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block;

	if (!ftl->config.wear_gap || lun->wear.due < WEAR_PERIOD || !lun->free_blocks ||
	    lun->free_blocks < aftl_count_gc_reserve_blocks(ftl) ||
	    !erase_count_lags_beyond_wear_gap(ftl, lun, lun->wear.least))
		return NULL;
	/* If no block needs wear levelling, search again after the next erase of the LUN. */
	lun->wear.due = WEAR_PERIOD - 1;
	block = find_coldest_block(ftl, lun);
	if (block && block->state == AFTL_BLOCK_OPEN)
		aftl_close_unfilled_block(ftl, lun, block);
	return block;
}
