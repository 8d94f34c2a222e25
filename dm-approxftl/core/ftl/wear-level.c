// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wear levelling (parameter "wear_gap"), in each LUN on its own.
 *
 * Dynamic: block-manager.c opens the least worn of the free blocks that were erased first.
 *
 * Static: when the erase count of a block is more than wear_gap below the highest of its LUN, its
 * data, which have not changed for long, move to the most worn free block, alone. So the worn block
 * rests, and the block without wear takes part again. Approximate data, superblocks, zones,
 * isolated placement handles, translation pages and two-pass programs have open blocks of their own
 * kind: there the data go to one of these instead.
 */
#include "core/ftl/device.h"

/*
 * Erases of a LUN from one move to the next: that of the block it emptied, and another one. So a
 * LUN with many cold blocks still collects garbage.
 */
#define WEAR_PERIOD 2

/*
 * The policy's accept_free() is not asked: it accepts blocks for the policy's own open blocks, and
 * may refuse worn blocks until the wear is levelled.
 */
static struct aftl_block *most_worn_free_block(const struct aftl *ftl, const struct aftl_lun *lun)
{
	struct aftl_block *block;
	struct aftl_block *most = NULL;
	u32 index;

	for (index = lun->free_head; index != AFTL_NIL; index = block->next) {
		block = &ftl->media.blocks[index];
		if (!most || block->erases > most->erases)
			most = block;
	}
	return most;
}

/*
 * Moves begin before the gap is reached: while all cold blocks of a LUN are moved, one at a time,
 * other blocks are erased further.
 */
#define WEAR_MARGIN_MAX 8

static bool exceeds_gap(const struct aftl *ftl, const struct aftl_lun *lun, u32 erases)
{
	u32 gap = (u32)ftl->config.wear_gap;

	return lun->wear_most - erases > gap - min(gap / 4, (u32)WEAR_MARGIN_MAX);
}

/*
 * May wear levelling close this open block? No data come to it any more. The open blocks of
 * placement handles are left to the host.
 */
static bool may_close(const struct aftl *ftl, const struct aftl_block *block)
{
	return block->state == AFTL_BLOCK_OPEN && ftl->geo.passes == 1 &&
	       !ftl->geo.superblock_luns && !ftl->geo.zones && !block->handle;
}

/* Return true if @block holds data and must not stay with so few erases. */
static bool is_too_cold(const struct aftl *ftl, const struct aftl_lun *lun,
			const struct aftl_block *block)
{
	return (block->state == AFTL_BLOCK_CLOSED || may_close(ftl, block)) &&
	       exceeds_gap(ftl, lun, block->erases);
}

static struct aftl_block *lun_block(const struct aftl *ftl, const struct aftl_lun *lun, u32 i)
{
	return &ftl->media.blocks[lun->index * ftl->geo.blocks_per_lun + i];
}

/* Return the coldest block if it is too cold, else NULL. */
static struct aftl_block *find_coldest_block(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *least = NULL;
	u32 i;

	aftl_block_wear_recount(ftl, lun);
	for (i = 0; i < ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = lun_block(ftl, lun, i);

		if (is_too_cold(ftl, lun, block) && (!least || block->erases < least->erases))
			least = block;
	}
	return least;
}

/*
 * Return true if the data of @block may go to a block of their own. The policy places approximate
 * data: it decides which positions of a block they take, and how often they may be copied.
 */
static bool may_move_alone(const struct aftl *ftl, const struct aftl_block *block)
{
	return !ftl->geo.superblock_luns && !ftl->geo.zones && ftl->geo.passes == 1 &&
	       !block->valid_approx && !aftl_isolated_stream(ftl, block);
}

/*
 * Do the valid pages of @block fit into one block? Data of each pass may end with a partial
 * program.
 */
static bool fits_one_block(const struct aftl *ftl, const struct aftl_block *block)
{
	u32 padding = ftl->copy_passes > 1 ? ftl->copy_passes * (ftl->program_units - 1) : 0;

	return block->valid + padding <= ftl->geo.block_ppns;
}

/*
 * aftl_wear_select_cold() - select a block of @lun whose data wear levelling moves now
 * @alone: takes whether they go to the most worn free block, see aftl_wear_open()
 *
 * Not while all free blocks have little wear too: then the move would have to be repeated soon.
 *
 * Return: a closed block, or NULL.
 */
struct aftl_block *aftl_wear_select_cold(struct aftl *ftl, struct aftl_lun *lun, bool *alone)
{
	struct aftl_block *block;
	struct aftl_block *worn;

	if (!ftl->config.wear_gap || lun->wear_due < WEAR_PERIOD || !lun->free_blocks ||
	    lun->free_blocks < aftl_gc_reserve(ftl) ||
	    !exceeds_gap(ftl, lun, lun->wear_least))
		return NULL;
	/* If no block is found, search again after the next erase. */
	lun->wear_due = WEAR_PERIOD - 1;
	block = find_coldest_block(ftl, lun);
	if (!block)
		return NULL;
	*alone = may_move_alone(ftl, block) &&
		 (fits_one_block(ftl, block) || lun->free_blocks > aftl_gc_reserve(ftl));
	worn = most_worn_free_block(ftl, lun);
	if (*alone && (!worn || worn->erases <= block->erases + ftl->config.wear_gap / 2))
		return NULL;
	if (block->state == AFTL_BLOCK_OPEN)
		aftl_block_close_partial(ftl, lun, block);
	return block;
}

/*
 * aftl_wear_open() - open the most worn free block for the data of a cold one
 *
 * Return: the block, or NULL if relocation needs all free blocks.
 */
struct aftl_block *aftl_wear_open(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *worn = most_worn_free_block(ftl, lun);

	if (!worn || (lun->reloc.opened && lun->free_blocks <= aftl_gc_reserve(ftl)))
		return NULL;
	lun->reloc.opened = true;
	aftl_free_block_remove(ftl, lun, worn);
	aftl_block_open(ftl, worn, AFTL_ORDER_SEQUENTIAL, 0);
	return worn;
}
