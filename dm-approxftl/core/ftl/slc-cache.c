// SPDX-License-Identifier: GPL-2.0-only
/*
 * SLC write cache: blocks programmed with one bit per cell, which take short host writes
 * independently of the policy. Static SLC blocks are reserved in each LUN; dynamic ones are used
 * while there are more free blocks than the GC watermark. Folding relocates their data to where the
 * policy places them: in idle time, or when dynamic SLC blocks are needed.
 *
 * On a zoned device each active zone has an SLC block of its own in each LUN, which is folded into
 * the zone's block with all bits per cell.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/slc-cache.h"
#include "core/ftl/superblock.h"

static struct aftl_block *lun_first_block(const struct aftl *ftl, const struct aftl_lun *lun)
{
	size_t blocks = ftl->geo.blocks_per_lun;

	return &ftl->media.blocks[lun->index * blocks];
}

static u32 slc_convert_percentage_to_block_count(const struct aftl *ftl, u64 share)
{
	return (u32)div64_u64(ftl->geo.blocks_per_lun * share + 9999, 10000);
}

void aftl_slc_cache_size_from_config(struct aftl *ftl)
{
	ftl->slc_static_blocks = slc_convert_percentage_to_block_count(ftl, ftl->config.slc_static);
	ftl->slc_max_blocks = ftl->slc_static_blocks +
			      slc_convert_percentage_to_block_count(ftl, ftl->config.slc_dynamic);
}

/*
 * Pages of an SLC block that a zone uses: as many as fill whole programs with all bits per cell, so
 * that folding the block pads no page. A zone has just enough blocks for its capacity.
 */
u32 aftl_slc_pages_per_zone_block(const struct aftl_geometry *geo)
{
	u32 pages = geo->pages / geo->word_line_pages * geo->planes_wide;

	return pages - pages % geo->program_pages;
}

/*
 * Check that policy and configuration allow the SLC cache. Folding an SLC block must free space, as
 * GC of another block does.
 */
int aftl_slc_cache_check_config(const struct aftl *ftl, struct aftl_error *error)
{
	u32 units = ftl->geo.block_ppns / (u32)ftl->config.bits;

	if (!ftl->slc_max_blocks)
		return 0;
	if (ftl->config.bits == 1)
		return aftl_fail(error, -EINVAL,
				 "slc_static, slc_dynamic: a cell of this device holds one bit and cannot hold fewer; raise bits, or set both to 0");
	if (ftl->geo.zones && !aftl_slc_pages_per_zone_block(&ftl->geo))
		return aftl_fail(error, -EINVAL,
				 "slc_static, slc_dynamic: an SLC block of a zone holds less than one program of %u pages; raise layers or word_lines, or set both to 0",
				 ftl->geo.program_pages);
	if (units > ftl->gc_max_valid)
		return aftl_fail(error, -EINVAL,
				 "slc_static, slc_dynamic: a block holds %u units with one bit in a cell, and policy %s can move at most %u out of one; raise layers or word_lines",
				 units, ftl->type->name, ftl->gc_max_valid);
	return 0;
}

void aftl_slc_block_erased(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	lun->slc_blocks -= aftl_is_slc_block(ftl, block) && !block->parity;
}

static bool slc_may_open_block(const struct aftl *ftl, const struct aftl_lun *lun)
{
	if (lun->slc_blocks < ftl->slc_static_blocks)
		return lun->free_blocks >= aftl_count_gc_reserve_blocks(ftl) +
						   aftl_count_unused_static_slc_blocks(ftl, lun);
	return lun->slc_blocks < ftl->slc_max_blocks && lun->free_blocks > ftl->gc_blocks;
}

static void slc_init_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	aftl_block_open(ftl, block, AFTL_ORDER_SEQUENTIAL, 0);
	block->bits = 1;
	lun->slc_blocks++;
}

static void slc_open_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	slc_init_block(ftl, lun, block);
	if (lun->slc_open)
		lun->slc_waiting = true;
	else
		lun->slc_open = block;
}

/* True if the SLC cache may open all blocks of the superblock that are neither bad nor parity. */
static bool slc_may_open_superblock(struct aftl *ftl, u32 group, u32 number)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (block->state == AFTL_BLOCK_BAD || block->parity)
			continue;
		if (block->state != AFTL_BLOCK_FREE ||
		    !slc_may_open_block(ftl, aftl_lun_of_die_group(ftl, group, i)))
			return false;
	}
	return aftl_superblock_is_unused(ftl, group, number);
}

/*
 * Open a superblock for the cache, in all LUNs of the group at once: no stripe mixes pages of one
 * bit and of several bits per cell.
 */
static void slc_open_superblock(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	u32 index = lun->free_head;
	u32 number;
	u32 i;

	while (index != AFTL_NIL &&
	       !slc_may_open_superblock(ftl, group, index % ftl->geo.blocks_per_lun))
		index = ftl->media.blocks[index].next;
	if (index == AFTL_NIL)
		return;
	number = index % ftl->geo.blocks_per_lun;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *member = aftl_lun_of_die_group(ftl, group, i);
		struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (block->state == AFTL_BLOCK_BAD || block->parity)
			continue;
		aftl_free_list_remove_block(ftl, member, block);
		slc_open_block(ftl, member, block);
	}
}

/* Open this LUN's block of the oldest SLC superblock that another LUN has begun. */
static void slc_open_block_of_begun_superblock(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = lun_first_block(ftl, lun);
	struct aftl_block *end = block + ftl->geo.blocks_per_lun;

	for (; block < end; block++)
		if (aftl_is_slc_block(ftl, block) && block->state == AFTL_BLOCK_OPEN &&
		    !block->parity && block != lun->fallback &&
		    (!lun->slc_open || block->opened_ns < lun->slc_open->opened_ns))
			lun->slc_open = block;
	lun->slc_waiting = lun->slc_open;
}

static void slc_open_next_block(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->slc_waiting)
		slc_open_block_of_begun_superblock(ftl, lun);
	if (lun->slc_open || !slc_may_open_block(ftl, lun))
		return;
	if (ftl->geo.superblock_luns)
		slc_open_superblock(ftl, lun);
	else
		slc_open_block(ftl, lun, aftl_free_block_take(ftl, lun, 0));
}

/* Open an SLC block for the zone that owns the open blocks with number @handle (block->handle). */
static void slc_open_zone_block(struct aftl *ftl, struct aftl_lun *lun, u32 handle)
{
	struct aftl_block **open = &lun->zone_slc_blocks[handle - 1];

	if (*open && (*open)->programmed == aftl_slc_pages_per_zone_block(&ftl->geo))
		aftl_close_unfilled_block(ftl, lun, *open);
	if (*open || !slc_may_open_block(ftl, lun))
		return;
	*open = aftl_free_block_take(ftl, lun, 0);
	slc_init_block(ftl, lun, *open);
	(*open)->handle = (u8)handle;
}

/* True if the SLC cache takes a program: host data after preconditioning, without placement id. */
static bool slc_cache_accepts_program(const struct aftl *ftl,
				      const struct aftl_program_request *need)
{
	return need->cause == AFTL_CAUSE_HOST && !ftl->filling &&
	       !(ftl->type->host_streams && need->stream && !ftl->geo.zones);
}

/* Place a host write in the SLC cache. Return: false if the policy has to place it. */
bool aftl_slc_cache_place_write(struct aftl *ftl, struct aftl_lun *lun,
				const struct aftl_program_request *need,
				struct aftl_placement *placement)
{
	struct aftl_block **open = &lun->slc_open;
	u32 handle = aftl_get_handle_of_stream(ftl, need->stream);

	if (!slc_cache_accepts_program(ftl, need))
		return false;
	if (ftl->geo.zones) {
		open = &lun->zone_slc_blocks[handle - 1];
		slc_open_zone_block(ftl, lun, handle);
	} else if (!*open) {
		slc_open_next_block(ftl, lun);
	}
	if (!*open)
		return false;
	*placement = (struct aftl_placement){ 0 };
	return !aftl_place_sequential(ftl->policy, lun, need, open, 0, placement);
}

/*
 * Return the SLC block to fold next: closed, with the fewest valid pages, among equals the oldest.
 */
struct aftl_block *aftl_slc_cache_select_fold(struct aftl *ftl, const struct aftl_lun *lun)
{
	struct aftl_block *block = lun_first_block(ftl, lun);
	struct aftl_block *end = block + ftl->geo.blocks_per_lun;
	struct aftl_block *best = NULL;

	for (; lun->slc_blocks && block < end; block++)
		if (aftl_is_slc_block(ftl, block) && block->state == AFTL_BLOCK_CLOSED &&
		    !block->failing && !block->parity &&
		    (!best || block->valid < best->valid ||
		     (block->valid == best->valid && block->opened_ns < best->opened_ns)))
			best = block;
	return best;
}

/*
 * Return true if folding the block relocates no data: neither it nor its superblock has valid
 * pages.
 */
static bool slc_fold_needs_no_relocation(const struct aftl *ftl, const struct aftl_block *block)
{
	u32 lun = aftl_block_index(&ftl->media, block) / ftl->geo.blocks_per_lun;
	u32 valid = block->valid;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++)
		valid += aftl_superblock_block(ftl, lun / ftl->geo.superblock_luns,
					       aftl_superblock_number(ftl, block), i)->valid;
	return !valid;
}

/*
 * Select an SLC block to fold outside of idle time: if dynamic SLC blocks are needed, if the host
 * requested GC, or if the block has no valid page. Return: NULL also if other GC costs less.
 */
struct aftl_block *aftl_slc_cache_select_urgent_fold(struct aftl *ftl, struct aftl_lun *lun,
						     bool urgent)
{
	bool lent = lun->slc_blocks > ftl->slc_static_blocks;
	bool wanted = urgent ? lent :
			       lun->forced_gc || (lent && aftl_lun_is_below_gc_watermark(ftl, lun));
	const struct aftl_block *other;
	struct aftl_block *block;

	if (likely(!lun->slc_blocks) || !(wanted || lun->slc_block_empty))
		return NULL;
	block = aftl_slc_cache_select_fold(ftl, lun);
	lun->slc_block_empty = block && slc_fold_needs_no_relocation(ftl, block);
	if (!block || (!lun->slc_block_empty && (!wanted || lun->out_of_blocks)))
		return NULL;
	if (ftl->geo.superblock_luns || ftl->geo.zones)
		return block;
	other = aftl_victim_fewest_valid(ftl, lun);
	return other && other->valid < block->valid ? NULL : block;
}

/*
 * Continue with an SLC block that was open when the device was saved. Return: false if the block
 * has to be closed.
 */
bool aftl_slc_cache_adopt_open_block(struct aftl *ftl, struct aftl_lun *lun,
				     struct aftl_block *block)
{
	if (!aftl_is_slc_block(ftl, block) || (lun->slc_open && !ftl->geo.superblock_luns))
		return false;
	if (ftl->geo.zones)
		return aftl_adopt_open_handle_block(ftl, lun, block);
	if (!lun->slc_open)
		lun->slc_open = block;
	return true;
}

static void recount_slc_blocks(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_block *block = lun_first_block(ftl, lun);
	const struct aftl_block *end = block + ftl->geo.blocks_per_lun;

	lun->slc_blocks = 0;
	lun->slc_block_empty = true;
	for (; block < end; block++)
		lun->slc_blocks += aftl_is_slc_block(ftl, block) && !block->parity &&
				   block->state != AFTL_BLOCK_BAD;
	lun->slc_waiting = ftl->geo.superblock_luns;
}

/*
 * After a crash, free blocks of an SLC superblock are closed. If they were opened with more bits
 * per cell, a stripe of the superblock would mix pages of one bit and of several bits per cell.
 */
static void slc_close_unprogrammed_blocks(struct aftl *ftl, u32 index)
{
	struct aftl_block *slc = &ftl->media.blocks[index];
	u32 group = index / ftl->geo.blocks_per_lun / ftl->geo.superblock_luns;
	u32 i;

	if (!aftl_is_slc_block(ftl, slc) || slc->parity || slc->state == AFTL_BLOCK_BAD)
		return;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *lun = aftl_lun_of_die_group(ftl, group, i);
		struct aftl_block *block =
			aftl_superblock_block(ftl, group, aftl_superblock_number(ftl, slc), i);

		if (block->state != AFTL_BLOCK_FREE || block->parity)
			continue;
		aftl_free_list_remove_block(ftl, lun, block);
		aftl_block_open(ftl, block, AFTL_ORDER_SEQUENTIAL, 0);
		block->bits = 1;
		aftl_block_close(ftl, block);
	}
}

void aftl_slc_cache_recount_blocks(struct aftl *ftl)
{
	u32 i;

	for (i = 0; ftl->slc_max_blocks && ftl->geo.superblock_luns && i < ftl->geo.blocks; i++)
		slc_close_unprogrammed_blocks(ftl, i);
	for (i = 0; i < ftl->geo.luns; i++)
		recount_slc_blocks(ftl, &ftl->luns[i]);
}
