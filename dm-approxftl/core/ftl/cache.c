// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cache of blocks that hold one bit in a cell, before any policy: host writes are short while
 * there is room in it. Some blocks of each LUN are kept for it; others are lent while more are
 * free than collection wants. What is in it is folded: moved to where the policy says, when a
 * LUN is idle, or when lent blocks are needed.
 */
#include "core/ftl/device.h"

static struct aftl_block *first_block(const struct aftl *ftl, const struct aftl_lun *lun)
{
	size_t blocks = ftl->geo.blocks_per_lun;

	return &ftl->media.blocks[lun->index * blocks];
}

static u32 share_of(const struct aftl *ftl, u64 share)
{
	return (u32)div64_u64(ftl->geo.blocks_per_lun * share + 9999, 10000);
}

void aftl_cache_derive(struct aftl *ftl)
{
	ftl->cache_kept = share_of(ftl, ftl->config.slc_static);
	ftl->cache_most = ftl->cache_kept + share_of(ftl, ftl->config.slc_dynamic);
}

/*
 * aftl_cache_check() - can this device have the cache that it is to have?
 *
 * To fold a block must make room, as to collect one does.
 */
int aftl_cache_check(const struct aftl *ftl, struct aftl_error *error)
{
	u32 units = ftl->geo.block_slots / (u32)ftl->config.bits;

	if (!ftl->cache_most)
		return 0;
	if (ftl->config.bits == 1)
		return aftl_fail(error, -EINVAL,
				 "slc_static, slc_dynamic: a cell of this device holds one bit and cannot hold fewer; raise bits, or set both to 0");
	if (units > ftl->gc_most_valid)
		return aftl_fail(error, -EINVAL,
				 "slc_static, slc_dynamic: a block holds %u units with one bit in a cell, and policy %s can move at most %u out of one; raise layers or word_lines",
				 units, ftl->type->name, ftl->gc_most_valid);
	return 0;
}

static bool may_open(const struct aftl *ftl, const struct aftl_lun *lun)
{
	if (lun->cached < ftl->cache_kept)
		return lun->free_blocks >= aftl_reserve(ftl) + aftl_cache_due(ftl, lun);
	return lun->cached < ftl->cache_most && lun->free_blocks > ftl->gc_blocks;
}

static void open_block(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->cache = aftl_supply_take(ftl, lun, 0);
	aftl_supply_open(ftl, lun->cache, AFTL_ORDER_SEQUENTIAL, 0);
	lun->cache->bits = 1;
	lun->cached++;
}

/* What is there before the first request was folded long ago; what has a place is not cached. */
static bool is_for_cache(const struct aftl *ftl, const struct aftl_need *need)
{
	return need->cause == AFTL_CAUSE_HOST && !ftl->filling &&
	       !(ftl->type->host_streams && need->stream);
}

/*
 * aftl_cache_place() - the place of a host write in the cache
 *
 * Return: false if it goes where the policy says.
 */
bool aftl_cache_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		      struct aftl_placement *placement)
{
	if (!is_for_cache(ftl, need))
		return false;
	if (!lun->cache && may_open(ftl, lun))
		open_block(ftl, lun);
	if (!lun->cache)
		return false;
	*placement = (struct aftl_placement){ 0 };
	return !aftl_place_sequential(ftl->policy, lun, need, &lun->cache, 0, placement);
}

static bool before(const struct aftl_block *block, const struct aftl_block *other)
{
	return block->valid < other->valid ||
	       (block->valid == other->valid && block->opened_ns < other->opened_ns);
}

/*
 * aftl_cache_fold() - the closed block of the cache that is folded first, or NULL
 *
 * The one with the fewest valid slots, among equals the oldest.
 */
struct aftl_block *aftl_cache_fold(struct aftl *ftl, const struct aftl_lun *lun)
{
	struct aftl_block *block = first_block(ftl, lun);
	struct aftl_block *end = block + ftl->geo.blocks_per_lun;
	struct aftl_block *best = NULL;

	for (; lun->cached && block < end; block++)
		if (aftl_cache_has(ftl, block) && block->state == AFTL_BLOCK_CLOSED &&
		    !block->failing && (!best || before(block, best)))
			best = block;
	return best;
}

/*
 * aftl_cache_press() - the same where the LUN is not idle: if lent blocks are needed, if it was
 *			asked for, or if nothing is valid in it
 *
 * Return: NULL, too, if collecting another block costs less.
 */
struct aftl_block *aftl_cache_press(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	bool lent = lun->cached > ftl->cache_kept;
	bool wanted = urgent ? lent : lun->collect || (lent && aftl_short(ftl, lun));
	const struct aftl_block *other;
	struct aftl_block *block;

	if (likely(!lun->cached) || !(wanted || lun->cache_dead))
		return NULL;
	block = aftl_cache_fold(ftl, lun);
	lun->cache_dead = block && !block->valid;
	if (!block || (block->valid && (!wanted || lun->stuck)))
		return NULL;
	other = aftl_supply_fewest(ftl, lun);
	return other && other->valid < block->valid ? NULL : block;
}

/*
 * aftl_cache_adopt() - @block was open when the device was saved: the cache goes on with it
 *
 * Return: false if it is to be closed.
 */
bool aftl_cache_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (!aftl_cache_has(ftl, block) || lun->cache)
		return false;
	lun->cache = block;
	return true;
}

static void recount_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_block *block = first_block(ftl, lun);
	const struct aftl_block *end = block + ftl->geo.blocks_per_lun;

	lun->cached = 0;
	lun->cache_dead = true;
	for (; block < end; block++)
		lun->cached += aftl_cache_has(ftl, block) && block->state != AFTL_BLOCK_BAD;
}

/*
 * aftl_cache_recount() - blocks have been loaded
 */
void aftl_cache_recount(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		recount_lun(ftl, &ftl->luns[i]);
}
