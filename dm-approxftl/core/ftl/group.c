// SPDX-License-Identifier: GPL-2.0-only
/*
 * Superblocks are collected as a whole: each LUN moves what is valid in its block, those of dead
 * LUNs are rebuilt, and when nothing is left all are erased. What was rebuilt from the others, or
 * could have been, is not erased before.
 */
#include "core/ftl/device.h"

static struct aftl_group *group_at(struct aftl *ftl, const struct aftl_lun *lun)
{
	return &ftl->groups[aftl_group_of(ftl, lun)];
}

/* Valid units in a dead LUN that the others know of. */
static u32 orphans(struct aftl *ftl, u32 group, u32 number, u32 member)
{
	const struct aftl_block *block = aftl_super_block(ftl, group, number, member);

	if (block->state != AFTL_BLOCK_BAD || aftl_super_at(ftl, group, number)->given_up)
		return 0;
	return ftl->config.rain ? block->valid : 0;
}

/* Has @lun no block to spare? Then it must gain by what is collected. */
static bool is_tight(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks <= aftl_reserve(ftl) + 1;
}

/* Is there a LUN that can rebuild something? */
static bool can_rebuild(struct aftl *ftl, u32 group)
{
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++) {
		const struct aftl_lun *lun = aftl_member(ftl, group, i);

		if (!aftl_lun_dead(lun) && !lun->stuck)
			return true;
	}
	return false;
}

/*
 * What may be collected: superblocks that all have filled; for a LUN without free blocks, and by
 * which it gains, those, too, that others have not; and at last those by which others do not gain.
 */
enum reach { REACH_FILLED, REACH_SHORT, REACH_SWAP };

/* Can it take what is in a whole block, and have the same blocks free afterwards? */
static bool can_swap(const struct aftl *ftl, const struct aftl_lun *lun, enum reach reach)
{
	return reach == REACH_SWAP && lun->free_blocks >= aftl_reserve(ftl);
}

static bool can_empty(struct aftl *ftl, const struct aftl_lun *lun, const struct aftl_block *block,
		      enum reach reach)
{
	bool small = !lun->stuck && (block->valid <= ftl->gc_most_valid || !is_tight(ftl, lun));

	switch (block->state) {
	case AFTL_BLOCK_CLOSED:
		return !block->valid || small || (!lun->stuck && can_swap(ftl, lun, reach));
	case AFTL_BLOCK_OPEN:
		return reach != REACH_FILLED && small;
	case AFTL_BLOCK_FREE:
		return reach != REACH_FILLED && lun->free_blocks > 1;
	default:
		return true;
	}
}

/* Units that have to be moved for it to be erased; U32_MAX if that cannot be. */
static u32 cost_of(struct aftl *ftl, u32 group, u32 number, enum reach reach)
{
	u32 cost = 0;
	u32 left;
	u32 i;

	if (aftl_super_fresh(ftl, group, number))
		return U32_MAX;
	for (i = 0; i < ftl->geo.super_luns; i++) {
		const struct aftl_block *block = aftl_super_block(ftl, group, number, i);

		if (block->parity)
			continue;
		if (!can_empty(ftl, aftl_member(ftl, group, i), block, reach))
			return U32_MAX;
		left = orphans(ftl, group, number, i);
		if (left && !can_rebuild(ftl, group))
			return U32_MAX;
		cost += block->state == AFTL_BLOCK_BAD ? left : block->valid;
	}
	return cost;
}

/* Does @lun have more room afterwards? Not by what is as full where it is moved to. */
static bool gains(struct aftl *ftl, const struct aftl_lun *lun, u32 number)
{
	const struct aftl_block *block = aftl_super_block(ftl, aftl_group_of(ftl, lun), number,
							  aftl_member_of(ftl, lun));

	if (block->parity)
		return false;
	if (block->state == AFTL_BLOCK_OPEN)
		return block->valid + ftl->program_units <=
		       block->programmed * ftl->geo.page_units;
	return block->state == AFTL_BLOCK_CLOSED && block->valid <= ftl->gc_most_valid;
}

/*
 * Who waits for blocks, and gains none, would have one superblock collected after the other, for
 * ever; so would what is read-only, which will not be written to any more.
 */
static bool is_wanted(struct aftl *ftl, const struct aftl_lun *lun, u32 number, enum reach reach)
{
	bool any = reach == REACH_FILLED && !ftl->read_only && !aftl_urgent(ftl, lun);

	return any || gains(ftl, lun, number);
}

static u32 cheapest(struct aftl *ftl, const struct aftl_lun *lun, enum reach reach, u32 *cost)
{
	u32 group = aftl_group_of(ftl, lun);
	u32 best = AFTL_NIL;
	u32 number;

	*cost = U32_MAX;
	for (number = 0; number < ftl->geo.blocks_per_lun; number++) {
		u32 other = cost_of(ftl, group, number, reach);

		if (other < *cost && is_wanted(ftl, lun, number, reach)) {
			*cost = other;
			best = number;
		}
	}
	return best;
}

static u32 live_members(struct aftl *ftl, u32 group)
{
	u32 live = 0;
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++)
		live += !aftl_lun_dead(aftl_member(ftl, group, i));
	return live;
}

/* What others have not opened, or not filled, is left as it is. */
static void close_member(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (block->parity || (block->state != AFTL_BLOCK_OPEN && block->state != AFTL_BLOCK_FREE))
		return;
	ftl->stats.counters.super_short_blocks++;
	if (block->state == AFTL_BLOCK_OPEN) {
		aftl_supply_close_early(ftl, lun, block);
		return;
	}
	aftl_supply_remove_free(ftl, lun, block);
	aftl_supply_open(ftl, block, AFTL_ORDER_SEQUENTIAL, 0);
	aftl_supply_close(ftl, block);
}

static void begin(struct aftl *ftl, u32 group, u32 number, u32 cause)
{
	struct aftl_group *state = &ftl->groups[group];
	u32 i;

	state->victim = number;
	state->cause = (u8)cause;
	state->pressed = false;
	state->erased = 0;
	for (i = 0; i < ftl->geo.super_luns; i++) {
		struct aftl_lun *lun = aftl_member(ftl, group, i);

		close_member(ftl, lun, aftl_super_block(ftl, group, number, i));
		aftl_wake(ftl, lun);
	}
}

static void count_victim(struct aftl *ftl, u32 group, u32 cost)
{
	ftl->stats.counters.gc_blocks += live_members(ftl, group);
	ftl->stats.counters.gc_valid_units += cost;
	ftl->stats.counters.gc_empty_blocks += cost ? 0 : live_members(ftl, group);
}

/* The cheapest that may be collected; AFTL_NIL: none. */
static u32 choose(struct aftl *ftl, const struct aftl_lun *lun, u64 most, bool urgent, u32 *cost)
{
	u32 number = cheapest(ftl, lun, REACH_FILLED, cost);

	if (urgent && *cost > most)
		number = cheapest(ftl, lun, REACH_SHORT, cost);
	if (*cost <= most)
		return number;
	return urgent ? cheapest(ftl, lun, REACH_SWAP, cost) : AFTL_NIL;
}

/*
 * aftl_group_collect() - begin with the superblock that has the least to be moved
 * @limit: most valid units in a block, on average
 *
 * Return: false if there is none.
 */
bool aftl_group_collect(struct aftl *ftl, struct aftl_lun *lun, u32 cause, u32 limit)
{
	struct aftl_group *state = group_at(ftl, lun);
	u32 group = aftl_group_of(ftl, lun);
	bool urgent = aftl_urgent(ftl, lun);
	u64 most = (u64)limit * live_members(ftl, group);
	u32 number;
	u32 cost;

	if (!urgent && !lun->collect && ftl->seq < state->again)
		return false;
	number = choose(ftl, lun, most, urgent, &cost);
	if (number == AFTL_NIL) {
		state->again = ftl->seq + ftl->geo.block_slots / 8;
		return false;
	}
	count_victim(ftl, group, cost);
	begin(ftl, group, number, cause);
	state->pressed = urgent;
	return true;
}

/*
 * aftl_group_empty() - begin with that of @block, whatever is in it
 *
 * Return: false if that has to wait.
 */
bool aftl_group_empty(struct aftl *ftl, const struct aftl_block *block, u32 cause)
{
	u32 group = aftl_group_of(ftl, aftl_block_lun(ftl, block));
	u32 number = aftl_super_number(ftl, block);

	if (cost_of(ftl, group, number, REACH_SHORT) == U32_MAX)
		return false;
	begin(ftl, group, number, cause);
	return true;
}

/*
 * aftl_group_emptied() - is nothing left in the superblock that is collected?
 */
bool aftl_group_emptied(struct aftl *ftl, u32 group)
{
	u32 number = ftl->groups[group].victim;
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++) {
		const struct aftl_block *block = aftl_super_block(ftl, group, number, i);

		if (block->state != AFTL_BLOCK_BAD && block->valid)
			return false;
		if (orphans(ftl, group, number, i))
			return false;
	}
	return true;
}

/*
 * aftl_group_member() - the block of @lun in the superblock that is collected
 *
 * Return: NULL if nothing is left in it and others have to do their share.
 */
struct aftl_block *aftl_group_member(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 group = aftl_group_of(ftl, lun);
	u32 member = aftl_member_of(ftl, lun);
	const struct aftl_group *state = &ftl->groups[group];
	struct aftl_block *block;

	if (state->victim == AFTL_NIL || state->erased & 1ULL << member)
		return NULL;
	block = aftl_super_block(ftl, group, state->victim, member);
	if (block->state == AFTL_BLOCK_BAD)
		return NULL;
	return block->valid || aftl_group_emptied(ftl, group) ? block : NULL;
}

static bool is_taken(struct aftl *ftl, u32 group, const struct aftl_block *block)
{
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++) {
		const struct aftl_job *job = &aftl_member(ftl, group, i)->job;

		if (job->kind == AFTL_JOB_REBUILD && job->from == block)
			return true;
	}
	return false;
}

/* A little must be left, or nothing could be written over. */
static bool has_room(const struct aftl *ftl, const struct aftl_lun *lun, u32 units)
{
	return aftl_lun_has_room(lun, units + ftl->program_units);
}

static struct aftl_block *orphan_in(struct aftl *ftl, const struct aftl_lun *lun, u32 number,
				    bool idle)
{
	u32 group = aftl_group_of(ftl, lun);
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++) {
		struct aftl_block *block = aftl_super_block(ftl, group, number, i);

		if (orphans(ftl, group, number, i) && !is_taken(ftl, group, block) &&
		    (!idle || has_room(ftl, lun, block->valid)))
			return block;
	}
	return NULL;
}

/*
 * aftl_group_orphan() - a block of a dead LUN with something for @lun to rebuild, or NULL
 * @idle: any; else one of the superblock that is collected
 */
struct aftl_block *aftl_group_orphan(struct aftl *ftl, const struct aftl_lun *lun, bool idle)
{
	u32 group = aftl_group_of(ftl, lun);
	struct aftl_block *block = NULL;
	u32 number;

	if (!ftl->config.rain || live_members(ftl, group) == ftl->geo.super_luns)
		return NULL;
	if (ftl->groups[group].victim != AFTL_NIL)
		block = orphan_in(ftl, lun, ftl->groups[group].victim, false);
	for (number = 0; idle && !block && number < ftl->geo.blocks_per_lun; number++)
		block = orphan_in(ftl, lun, number, true);
	return block;
}

/*
 * aftl_group_rebuilt() - from @block what can be rebuilt has been
 */
void aftl_group_rebuilt(struct aftl *ftl, const struct aftl_block *block)
{
	u32 group = aftl_group_of(ftl, aftl_block_lun(ftl, block));
	u32 number = aftl_super_number(ftl, block);

	aftl_super_at(ftl, group, number)->given_up = true;
	if (aftl_super_fresh(ftl, group, number))
		aftl_supply_designate(ftl, group, number);
}

/* All that are alive. */
static bool all_erased(struct aftl *ftl, u32 group)
{
	const struct aftl_group *state = &ftl->groups[group];
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++)
		if (aftl_super_block(ftl, group, state->victim, i)->state != AFTL_BLOCK_BAD &&
		    !(state->erased & 1ULL << i))
			return false;
	return true;
}

/*
 * aftl_block_lose() - what could not be rebuilt stays lost: soon nothing tells any more that the
 *		       stripe had failed
 */
void aftl_block_lose(struct aftl *ftl, const struct aftl_block *block)
{
	u32 slot = from_slot(aftl_page_slot(&ftl->media, block, 0));
	u32 end = slot + ftl->geo.block_slots;

	for (; block->valid && slot < end; slot++)
		if (aftl_slot_valid(&ftl->media, to_slot(slot)))
			aftl_map_lose(ftl, to_slot(slot));
}

/*
 * aftl_group_finish() - if the arrays of all have erased their blocks these are free
 */
void aftl_group_finish(struct aftl *ftl, u32 group)
{
	struct aftl_group *state = &ftl->groups[group];
	u32 number = state->victim;
	u32 i;

	if (number == AFTL_NIL || !state->erased || !all_erased(ftl, group))
		return;
	state->victim = AFTL_NIL;
	state->pressed = false;
	state->again = 0;
	state->collected++;
	for (i = 0; i < ftl->geo.super_luns; i++) {
		struct aftl_lun *lun = aftl_member(ftl, group, i);
		struct aftl_block *block = aftl_super_block(ftl, group, number, i);

		aftl_wake(ftl, lun);
		if (block->state == AFTL_BLOCK_BAD) {
			aftl_block_lose(ftl, block);
			continue;
		}
		lun->failing_blocks -= block->failing;
		aftl_erase_commit(ftl, lun, block);
	}
	aftl_parity_forget(ftl, group, number);
	aftl_supply_designate(ftl, group, number);
}

/*
 * aftl_group_erased() - the array of @lun has erased its block
 */
void aftl_group_erased(struct aftl *ftl, struct aftl_lun *lun)
{
	group_at(ftl, lun)->erased |= 1ULL << aftl_member_of(ftl, lun);
	aftl_group_finish(ftl, aftl_group_of(ftl, lun));
}

/*
 * aftl_group_lun_died() - what is fresh has its parity in another one
 */
void aftl_group_lun_died(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 group = aftl_group_of(ftl, lun);
	u32 number;
	u32 i;

	for (number = 0; number < ftl->geo.blocks_per_lun; number++)
		if (aftl_super_fresh(ftl, group, number))
			aftl_supply_designate(ftl, group, number);
	aftl_group_finish(ftl, group);
	for (i = 0; i < ftl->geo.super_luns; i++)
		aftl_wake(ftl, aftl_member(ftl, group, i));
}

/* After a power failure */

/*
 * Others were erased since, and what was valid here had been moved before. But not out of a dead
 * LUN: what could not be rebuilt stays lost.
 */
static void catch_up(struct aftl *ftl, struct aftl_block *block, u32 erases)
{
	u32 behind = erases - block->erases;

	if (!behind)
		return;
	if (block->state == AFTL_BLOCK_BAD || block->valid)
		aftl_block_lose(ftl, block);
	else
		aftl_wipe(ftl, block);
	block->parity = 0;
	if (block->state == AFTL_BLOCK_BAD)
		return;
	block->erases = erases;
	block->wear += behind * AFTL_FULL_WEAR;
}

/* What a dead LUN has of it was written before another one took over. */
static void keep_one_parity(struct aftl *ftl, u32 group, u32 number)
{
	bool alive = false;
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++) {
		const struct aftl_block *block = aftl_super_block(ftl, group, number, i);

		alive |= block->parity && block->state != AFTL_BLOCK_BAD;
	}
	for (i = 0; alive && i < ftl->geo.super_luns; i++) {
		struct aftl_block *block = aftl_super_block(ftl, group, number, i);

		block->parity &= block->state != AFTL_BLOCK_BAD;
	}
}

static void find_erased(struct aftl *ftl, u32 group, u32 number)
{
	u32 erases = 0;
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++)
		erases = max(erases, aftl_super_block(ftl, group, number, i)->erases);
	for (i = 0; i < ftl->geo.super_luns; i++)
		catch_up(ftl, aftl_super_block(ftl, group, number, i), erases);
	keep_one_parity(ftl, group, number);
}

/*
 * aftl_group_found() - pages have been found: superblocks are erased as a whole
 */
void aftl_group_found(struct aftl *ftl)
{
	u32 number;
	u32 i;

	for (i = 0; ftl->geo.super_luns && i < ftl->geo.luns / ftl->geo.super_luns; i++)
		for (number = 0; number < ftl->geo.blocks_per_lun; number++)
			find_erased(ftl, i, number);
}

/*
 * aftl_group_settled() - so are blocks: where nothing of its parity was written another one may
 *			  have it, for the data tell what it has to be
 */
void aftl_group_settled(struct aftl *ftl)
{
	u32 number;
	u32 i;

	for (i = 0; ftl->config.rain && i < ftl->geo.luns / ftl->geo.super_luns; i++)
		for (number = 0; number < ftl->geo.blocks_per_lun; number++)
			if (!aftl_parity_beside(ftl, aftl_super_block(ftl, i, number, 0)))
				aftl_supply_find_keeper(ftl, i, number);
}
