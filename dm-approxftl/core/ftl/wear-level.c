// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wear levelling (parameter "wear_gap"), in each LUN on its own.
 *
 * Dynamic: block-manager.c opens the least worn of the free blocks that were erased first.
 *
 * Static: data that have not changed for long leave a block whose erase count lags behind the
 * highest of its LUN. They move, as from a victim of GC, to the most worn free block, which then
 * rests; the block that they leave is erased, takes new data and wears again. The move waits until
 * some free block has at most wear_gap / 2 fewer erases than the most worn block, or else the data
 * would soon have to move again. A block that lags by wear_gap is emptied in any case.
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

/* Return true if a free block of @lun is so worn that static data may rest there for long. */
static bool free_block_suits_static_data(struct aftl *ftl, const struct aftl_lun *lun)
{
	const struct aftl_block *most = aftl_free_block_most_worn(ftl, lun);

	return most && lun->wear.most - most->erases <= ftl->config.wear_gap / 2;
}

/**
 * struct wear_candidates - blocks with data that wear levelling may empty
 * @least: the one with the fewest erases
 * @oldest: of those that lag behind, the one whose data were written first; NULL if the data of all
 *	of them were written after those of the next victim of GC, so that they are not static
 */
struct wear_candidates {
	struct aftl_block *least;
	struct aftl_block *oldest;
};

static struct wear_candidates find_wear_candidates(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_block *victim = aftl_victim_fewest_valid(ftl, lun);
	size_t blocks = ftl->geo.blocks_per_lun;
	struct aftl_block *block = &ftl->media.blocks[lun->index * blocks];
	struct aftl_block *end = block + blocks;
	struct wear_candidates found = { NULL, NULL };
	s64 before_ns = victim ? victim->opened_ns : 0;

	for (; block < end; block++) {
		if (block->state != AFTL_BLOCK_CLOSED &&
		    !wear_levelling_may_close_block(ftl, block))
			continue;
		if (!found.least || block->erases < found.least->erases)
			found.least = block;
		if (!victim || block->opened_ns >= before_ns ||
		    !erase_count_lags_beyond_wear_gap(ftl, lun, block->erases))
			continue;
		before_ns = block->opened_ns;
		found.oldest = block;
	}
	return found;
}

/* Return the block that wear levelling has to empty now, or NULL. */
static struct aftl_block *find_block_to_empty(struct aftl *ftl, struct aftl_lun *lun)
{
	struct wear_candidates found;

	aftl_lun_update_min_max_erase_counts(ftl, lun);
	found = find_wear_candidates(ftl, lun);
	if (found.least && lun->wear.most - found.least->erases >= ftl->config.wear_gap)
		return found.least;
	return free_block_suits_static_data(ftl, lun) ? found.oldest : NULL;
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
	block = find_block_to_empty(ftl, lun);
	if (block && block->state == AFTL_BLOCK_OPEN)
		aftl_close_unfilled_block(ftl, lun, block);
	return block;
}
