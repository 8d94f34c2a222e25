// SPDX-License-Identifier: GPL-2.0-only
/*
 * SLC write cache: blocks programmed with one bit per cell, which take short host writes
 * independently of the policy. Static SLC blocks are reserved in each LUN; dynamic ones are used
 * while there are more free blocks than the GC watermark. Folding relocates their data to where the
 * policy places them: in idle time, or when dynamic SLC blocks are needed.
 */
#include "core/ftl/device.h"

static struct aftl_block *lun_first_block(const struct aftl *ftl, const struct aftl_lun *lun)
{
	size_t blocks = ftl->geo.blocks_per_lun;

	return &ftl->media.blocks[lun->index * blocks];
}

static u32 blocks_of_share(const struct aftl *ftl, u64 share)
{
	return (u32)div64_u64(ftl->geo.blocks_per_lun * share + 9999, 10000);
}

void aftl_slc_cache_configure(struct aftl *ftl)
{
	ftl->slc_static_blocks = blocks_of_share(ftl, ftl->config.slc_static);
	ftl->slc_max_blocks =
		ftl->slc_static_blocks + blocks_of_share(ftl, ftl->config.slc_dynamic);
}

/*
 * aftl_slc_cache_check() - check that policy and configuration allow the SLC cache
 *
 * Folding an SLC block must free space, as GC of another block does.
 */
int aftl_slc_cache_check(const struct aftl *ftl, struct aftl_error *error)
{
	u32 units = ftl->geo.block_ppns / (u32)ftl->config.bits;

	if (!ftl->slc_max_blocks)
		return 0;
	if (ftl->config.bits == 1)
		return aftl_fail(error, -EINVAL,
				 "slc_static, slc_dynamic: a cell of this device holds one bit and cannot hold fewer; raise bits, or set both to 0");
	if (units > ftl->gc_max_valid)
		return aftl_fail(error, -EINVAL,
				 "slc_static, slc_dynamic: a block holds %u units with one bit in a cell, and policy %s can move at most %u out of one; raise layers or word_lines",
				 units, ftl->type->name, ftl->gc_max_valid);
	return 0;
}

static bool slc_may_open(const struct aftl *ftl, const struct aftl_lun *lun)
{
	if (lun->slc_blocks < ftl->slc_static_blocks)
		return lun->free_blocks >= aftl_gc_reserve(ftl) + aftl_slc_missing_blocks(ftl, lun);
	return lun->slc_blocks < ftl->slc_max_blocks && lun->free_blocks > ftl->gc_blocks;
}

static void slc_open_block(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->slc_open = aftl_free_block_take(ftl, lun, aftl_superblock_stream(0, 0, true));
	aftl_block_open(ftl, lun->slc_open, AFTL_ORDER_SEQUENTIAL, 0);
	lun->slc_open->bits = 1;
	lun->slc_blocks++;
}

/* Preconditioned data count as folded; streams from host placement ids bypass the cache. */
static bool slc_accepts(const struct aftl *ftl, const struct aftl_program_request *need)
{
	return need->cause == AFTL_CAUSE_HOST && !ftl->filling &&
	       !(ftl->type->host_streams && need->stream);
}

/*
 * aftl_slc_cache_place() - place a host write in the SLC cache
 *
 * Return: false if the policy has to place it.
 */
bool aftl_slc_cache_place(struct aftl *ftl, struct aftl_lun *lun,
			  const struct aftl_program_request *need, struct aftl_placement *placement)
{
	if (!slc_accepts(ftl, need))
		return false;
	if (!lun->slc_open && slc_may_open(ftl, lun))
		slc_open_block(ftl, lun);
	if (!lun->slc_open)
		return false;
	*placement = (struct aftl_placement){ 0 };
	return !aftl_place_sequential(ftl->policy, lun, need, &lun->slc_open, 0, placement);
}

static bool fold_before(const struct aftl_block *block, const struct aftl_block *other)
{
	return block->valid < other->valid ||
	       (block->valid == other->valid && block->opened_ns < other->opened_ns);
}

/*
 * aftl_slc_cache_select_fold() - select the block to fold next
 *
 * Return: the closed SLC block with the fewest valid pages, among equals the oldest; or NULL.
 */
struct aftl_block *aftl_slc_cache_select_fold(struct aftl *ftl, const struct aftl_lun *lun)
{
	struct aftl_block *block = lun_first_block(ftl, lun);
	struct aftl_block *end = block + ftl->geo.blocks_per_lun;
	struct aftl_block *best = NULL;

	for (; lun->slc_blocks && block < end; block++)
		if (aftl_is_slc_block(ftl, block) && block->state == AFTL_BLOCK_CLOSED &&
		    !block->failing && (!best || fold_before(block, best)))
			best = block;
	return best;
}

/*
 * aftl_slc_cache_select_urgent_fold() - select a block to fold outside of idle time
 *
 * A block is folded if dynamic SLC blocks are needed, on request, or if it has no valid page.
 *
 * Return: NULL also if GC of another block costs less.
 */
struct aftl_block *aftl_slc_cache_select_urgent_fold(struct aftl *ftl, struct aftl_lun *lun,
						     bool urgent)
{
	bool lent = lun->slc_blocks > ftl->slc_static_blocks;
	bool wanted = urgent ? lent : lun->forced_gc || (lent && aftl_below_gc_watermark(ftl, lun));
	const struct aftl_block *other;
	struct aftl_block *block;

	if (likely(!lun->slc_blocks) || !(wanted || lun->slc_block_empty))
		return NULL;
	block = aftl_slc_cache_select_fold(ftl, lun);
	lun->slc_block_empty = block && !block->valid;
	if (!block || (block->valid && (!wanted || lun->out_of_blocks)))
		return NULL;
	other = aftl_victim_fewest_valid(ftl, lun);
	return other && other->valid < block->valid ? NULL : block;
}

/*
 * aftl_slc_cache_adopt() - continue with a block that was open when the device was saved
 *
 * Return: false if the block has to be closed.
 */
bool aftl_slc_cache_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (!aftl_is_slc_block(ftl, block) || lun->slc_open)
		return false;
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
		lun->slc_blocks += aftl_is_slc_block(ftl, block) && block->state != AFTL_BLOCK_BAD;
}

/*
 * aftl_slc_cache_recount() - count the SLC blocks of a loaded device
 */
void aftl_slc_cache_recount(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		recount_slc_blocks(ftl, &ftl->luns[i]);
}
