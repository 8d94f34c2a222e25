// SPDX-License-Identifier: GPL-2.0-only
/*
 * GC of superblocks: each LUN relocates the valid pages of its block, the data of dead LUNs are
 * rebuilt from parity, and then all blocks are erased together. No block is erased while another
 * one still depends on it for a reconstruction.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/oob-extra.h"
#include "core/ftl/program.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/superblock.h"

static struct aftl_die_group *lun_die_group(struct aftl *ftl, const struct aftl_lun *lun)
{
	return &ftl->die_groups[aftl_die_group_of_lun(ftl, lun)];
}

/* Count the valid pages that RAIN can rebuild in the superblock's block of a dead LUN. */
static u32 count_pages_to_rebuild(struct aftl *ftl, u32 group, u32 number, u32 member)
{
	const struct aftl_block *block = aftl_superblock_block(ftl, group, number, member);

	if (block->state != AFTL_BLOCK_BAD ||
	    aftl_superblock_at(ftl, group, number)->rebuilt & 1ULL << member)
		return 0;
	return ftl->config.rain ? block->valid : 0;
}

/* Return true if at most one free block of @lun is not in the GC reserve: GC must gain some. */
static bool lun_has_only_reserved_blocks(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks <= aftl_count_gc_reserve_blocks(ftl) + 1;
}

/* Return true if a LUN of the die group can take rebuilt data. */
static bool die_group_can_take_rebuilt_data(struct aftl *ftl, u32 group)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_lun *lun = aftl_lun_of_die_group(ftl, group, i);

		if (!aftl_lun_is_dead(lun) && !lun->out_of_blocks)
			return true;
	}
	return false;
}

/*
 * Which superblocks GC may choose. REACH_FILLED: full ones. REACH_SHORT: also partly filled ones,
 * for a LUN without free blocks. REACH_SWAP, the last resort: also ones with blocks full of valid
 * pages, whose relocation costs another LUN as much as it gains.
 */
enum gc_reach { REACH_FILLED, REACH_SHORT, REACH_SWAP };

/* Return true if the LUN may spend a free block on relocating a block full of valid pages. */
static bool lun_may_relocate_full_block(const struct aftl *ftl, const struct aftl_lun *lun,
					enum gc_reach reach)
{
	return reach == REACH_SWAP && lun->free_blocks >= aftl_count_gc_reserve_blocks(ftl);
}

/*
 * Return the pages of @block that GC has to relocate. Pages that wait for their fine pass count,
 * too: they are valid when GC reaches them.
 */
static u32 count_pages_to_relocate(const struct aftl *ftl, const struct aftl_lun *lun,
				   const struct aftl_block *block)
{
	return block->valid + aftl_fine_pending_count_block_units(ftl, lun, block);
}

static bool superblock_member_can_be_emptied(struct aftl *ftl, const struct aftl_lun *lun,
					     const struct aftl_block *block, enum gc_reach reach)
{
	bool small = !lun->out_of_blocks &&
		     (count_pages_to_relocate(ftl, lun, block) <= ftl->gc_max_valid ||
		      !lun_has_only_reserved_blocks(ftl, lun));

	switch (block->state) {
	case AFTL_BLOCK_CLOSED:
		return !block->valid || small ||
		       (!lun->out_of_blocks && lun_may_relocate_full_block(ftl, lun, reach));
	case AFTL_BLOCK_OPEN:
		return reach != REACH_FILLED && small;
	case AFTL_BLOCK_FREE:
		return reach != REACH_FILLED && lun->free_blocks > 1;
	default:
		return true;
	}
}

/* Number of pages to relocate before an erase of the superblock; U32_MAX if it is impossible. */
static u32 count_superblock_gc_relocations(struct aftl *ftl, u32 group, u32 number,
					   enum gc_reach reach)
{
	u32 cost = 0;
	u32 left;
	u32 i;

	if (aftl_superblock_is_unused(ftl, group, number))
		return U32_MAX;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);
		const struct aftl_lun *lun = aftl_lun_of_die_group(ftl, group, i);

		if (block->parity)
			continue;
		if (!superblock_member_can_be_emptied(ftl, lun, block, reach))
			return U32_MAX;
		left = count_pages_to_rebuild(ftl, group, number, i);
		if (left && !die_group_can_take_rebuilt_data(ftl, group))
			return U32_MAX;
		cost += block->state == AFTL_BLOCK_BAD ? left :
							 count_pages_to_relocate(ftl, lun, block);
	}
	return cost;
}

/* Return true if @lun gains free pages by the erase of the superblock; not if its block fails. */
static bool lun_gains_pages_by_gc(struct aftl *ftl, const struct aftl_lun *lun, u32 number)
{
	u32 member = aftl_lun_index_in_die_group(ftl, lun);
	const struct aftl_block *block =
		aftl_superblock_block(ftl, aftl_die_group_of_lun(ftl, lun), number, member);

	if (block->parity || block->failing)
		return false;
	if (block->state == AFTL_BLOCK_OPEN)
		return count_pages_to_relocate(ftl, lun, block) +
			       ftl->program_units * ftl->geo.passes <=
		       block->programmed * ftl->geo.page_units;
	return block->state == AFTL_BLOCK_CLOSED && block->valid <= ftl->gc_max_valid;
}

/* Superblocks of the SLC cache are folded, not collected. */
static bool superblock_is_of_slc_cache(const struct aftl *ftl, u32 group, u32 number)
{
	bool slc = false;
	u32 i;

	for (i = 0; ftl->slc_max_blocks && i < ftl->geo.superblock_luns; i++)
		slc |= aftl_is_slc_block(ftl, aftl_superblock_block(ftl, group, number, i));
	return slc;
}

/*
 * A LUN without free blocks, or a read-only device, must gain free pages by the erase of the
 * victim, or GC would never end.
 */
static bool superblock_is_gc_candidate(struct aftl *ftl, const struct aftl_lun *lun, u32 number,
				       enum gc_reach reach)
{
	bool any = reach == REACH_FILLED && !ftl->read_only && !aftl_gc_is_urgent(ftl, lun);

	if (superblock_is_of_slc_cache(ftl, aftl_die_group_of_lun(ftl, lun), number))
		return false;
	return any || lun_gains_pages_by_gc(ftl, lun, number);
}

static u32 find_cheapest_gc_superblock(struct aftl *ftl, const struct aftl_lun *lun,
				       enum gc_reach reach, u32 *cost)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	u32 best = AFTL_NIL;
	u32 number;

	*cost = U32_MAX;
	ftl->work += ftl->geo.blocks_per_lun;
	for (number = 0; number < ftl->geo.blocks_per_lun; number++) {
		u32 other = count_superblock_gc_relocations(ftl, group, number, reach);

		if (other < *cost && superblock_is_gc_candidate(ftl, lun, number, reach)) {
			*cost = other;
			best = number;
		}
	}
	return best;
}

static u32 count_live_luns_of_group(struct aftl *ftl, u32 group)
{
	u32 live = 0;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++)
		live += !aftl_lun_is_dead(aftl_lun_of_die_group(ftl, group, i));
	return live;
}

/* Limit the pages that GC of a superblock may relocate, by @limit valid pages per data block. */
static u32 compute_max_relocations_of_superblock(struct aftl *ftl, u32 group, u32 number, u32 limit)
{
	u32 most = 0;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		most += block->parity || block->state == AFTL_BLOCK_BAD ? 0 : limit;
	}
	return most;
}

/* Close a partly filled block of the superblock that GC will erase. */
static void close_superblock_member(struct aftl *ftl, struct aftl_lun *lun,
				    struct aftl_block *block)
{
	if (block->parity || (block->state != AFTL_BLOCK_OPEN && block->state != AFTL_BLOCK_FREE))
		return;
	ftl->stats.counters.super_short_blocks++;
	if (block->state == AFTL_BLOCK_OPEN) {
		aftl_close_unfilled_block(ftl, lun, block);
		return;
	}
	aftl_free_list_remove_block(ftl, lun, block);
	aftl_block_open(ftl, block,
			ftl->geo.passes > 1 ? AFTL_ORDER_FOGGY_FINE : AFTL_ORDER_SEQUENTIAL, 0);
	aftl_block_close(ftl, block);
}

static void superblock_gc_begin(struct aftl *ftl, u32 group, u32 number, u32 cause)
{
	struct aftl_die_group *state = &ftl->die_groups[group];
	u32 i;

	state->victim = number;
	state->cause = (u8)cause;
	state->urgent = false;
	state->erased = 0;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *lun = aftl_lun_of_die_group(ftl, group, i);

		close_superblock_member(ftl, lun, aftl_superblock_block(ftl, group, number, i));
		aftl_wake_idle_lun(ftl, lun);
	}
}

static void count_superblock_victim_in_stats(struct aftl *ftl, u32 group, u32 cost)
{
	ftl->stats.counters.gc_blocks += count_live_luns_of_group(ftl, group);
	ftl->stats.counters.gc_valid_units += cost;
	ftl->stats.counters.gc_empty_blocks += cost ? 0 : count_live_luns_of_group(ftl, group);
}

/* Describe a superblock to a victim selector as one block. */
static void make_victim_candidate_of_superblock(const struct aftl *ftl, u32 group, u32 number,
						u32 valid, struct aftl_block *entry)
{
	u32 i;

	*entry = (struct aftl_block){
		.state = AFTL_BLOCK_CLOSED, .listed = 1, .valid = valid, .opened_ns = S64_MAX,
	};
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (block->state == AFTL_BLOCK_BAD || block->parity)
			continue;
		entry->erases = block->erases;
		if (block->opened_ns >= entry->opened_ns)
			continue;
		entry->opened_ns = block->opened_ns;
		entry->kind = block->kind;
	}
}

/*
 * Let the policy or the victim selector choose a superblock; @number is the cheapest candidate.
 */
static u32 superblock_gc_ask_victim_selector(struct aftl *ftl, struct aftl_lun *lun, u32 limit,
					     u32 number, u32 *cost)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	u32 blocks = max(count_live_luns_of_group(ftl, group) - (u32)ftl->config.rain, 1U);
	struct aftl_block *victim = &ftl->superblock_candidates[number];
	struct aftl_victim_candidates closed = {
		.policy = ftl->policy,
		.lun = lun,
		.most_valid = U32_MAX,
		.superblocks = ftl->superblock_candidates,
	};
	u32 i;

	ftl->work += ftl->geo.blocks_per_lun;
	for (i = 0; i < ftl->geo.blocks_per_lun; i++) {
		u32 other = count_superblock_gc_relocations(ftl, group, i, REACH_FILLED);

		ftl->superblock_candidates[i].listed = 0;
		if (other <= compute_max_relocations_of_superblock(ftl, group, i, limit) &&
		    superblock_is_gc_candidate(ftl, lun, i, REACH_FILLED))
			make_victim_candidate_of_superblock(ftl, group, i,
							    DIV_ROUND_UP(other, blocks),
							    &ftl->superblock_candidates[i]);
	}
	aftl_victim_choose_by_selector(ftl, &closed, &victim);
	number = (u32)(victim - ftl->superblock_candidates);
	*cost = count_superblock_gc_relocations(ftl, group, number, REACH_FILLED);
	return number;
}

/* Below its GC reserve a LUN takes the cheapest superblock, not the victim selector's choice. */
static bool superblock_gc_uses_victim_selector(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return (ftl->type->select_victim || ftl->config.victim != AFTL_VICTIM_greedy) &&
	       !lun->below_reserve;
}

/* Return true if the @cost relocations that empty superblock @number are within the limit. */
static bool superblock_gc_is_within_relocation_limit(struct aftl *ftl, const struct aftl_lun *lun,
						     u32 number, u32 cost, u32 limit)
{
	return number != AFTL_NIL &&
	       cost <= compute_max_relocations_of_superblock(ftl, aftl_die_group_of_lun(ftl, lun),
							     number, limit);
}

/* Select a superblock for GC; AFTL_NIL if there is none. */
static u32 superblock_gc_select_victim(struct aftl *ftl, struct aftl_lun *lun, u32 limit,
				       bool urgent, u32 *cost)
{
	u32 number = find_cheapest_gc_superblock(ftl, lun, REACH_FILLED, cost);
	bool yields = superblock_gc_is_within_relocation_limit(ftl, lun, number, *cost, limit);

	if (yields && superblock_gc_uses_victim_selector(ftl, lun))
		return superblock_gc_ask_victim_selector(ftl, lun, limit, number, cost);
	if (urgent && !yields) {
		number = find_cheapest_gc_superblock(ftl, lun, REACH_SHORT, cost);
		yields = superblock_gc_is_within_relocation_limit(ftl, lun, number, *cost, limit);
	}
	if (yields)
		return number;
	return urgent ? find_cheapest_gc_superblock(ftl, lun, REACH_SWAP, cost) : AFTL_NIL;
}

/*
 * aftl_superblock_gc_start() - start GC of the superblock that the victim selector chooses
 * @limit: largest mean number of valid pages in the data blocks
 *
 * Return: false if there is no such superblock.
 */
bool aftl_superblock_gc_start(struct aftl *ftl, struct aftl_lun *lun, u32 cause, u32 limit)
{
	struct aftl_die_group *state = lun_die_group(ftl, lun);
	u32 group = aftl_die_group_of_lun(ftl, lun);
	bool urgent = aftl_gc_is_urgent(ftl, lun);
	u32 number;
	u32 cost;

	if (!urgent && !lun->forced_gc && ftl->seq < state->retry_seq)
		return false;
	number = superblock_gc_select_victim(ftl, lun, limit, urgent, &cost);
	if (number == AFTL_NIL) {
		state->retry_seq = ftl->seq + ftl->geo.block_ppns / 8;
		return false;
	}
	count_superblock_victim_in_stats(ftl, group, cost);
	superblock_gc_begin(ftl, group, number, cause);
	state->urgent = urgent;
	return true;
}

/*
 * Start GC of the superblock of @block. Return: false if it cannot be emptied now, or while another
 * superblock of the group is collected.
 */
bool aftl_collect_superblock_of_block(struct aftl *ftl, const struct aftl_block *block, u32 cause)
{
	u32 group = aftl_die_group_of_lun(ftl, aftl_block_lun(ftl, block));
	u32 number = aftl_superblock_number(ftl, block);

	if (ftl->die_groups[group].victim != AFTL_NIL ||
	    count_superblock_gc_relocations(ftl, group, number, REACH_SHORT) == U32_MAX)
		return false;
	superblock_gc_begin(ftl, group, number, cause);
	return true;
}

/* Return true if the victim of @group has neither valid pages nor pages to rebuild. */
bool aftl_superblock_victim_is_empty(struct aftl *ftl, u32 group)
{
	u32 number = ftl->die_groups[group].victim;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		/* A block that GC has closed early stays open until its fine passes have ended. */
		if ((block->state != AFTL_BLOCK_BAD && block->valid) ||
		    (block->state == AFTL_BLOCK_OPEN && !block->parity))
			return false;
		if (count_pages_to_rebuild(ftl, group, number, i))
			return false;
	}
	return true;
}

/*
 * Return the block of @lun in the victim superblock if it can be emptied or erased now; NULL if
 * @lun has to wait for other members of the group.
 */
struct aftl_block *aftl_superblock_gc_member(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	u32 member = aftl_lun_index_in_die_group(ftl, lun);
	const struct aftl_die_group *state = &ftl->die_groups[group];
	struct aftl_block *block;

	if (state->victim == AFTL_NIL || state->erased & 1ULL << member)
		return NULL;
	block = aftl_superblock_block(ftl, group, state->victim, member);
	if (block->state == AFTL_BLOCK_BAD)
		return NULL;
	return block->valid || aftl_superblock_victim_is_empty(ftl, group) ? block : NULL;
}

static bool superblock_has_pages_to_rebuild(struct aftl *ftl, u32 group, u32 number)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++)
		if (count_pages_to_rebuild(ftl, group, number, i))
			return true;
	return false;
}

static bool block_rebuild_is_in_progress(struct aftl *ftl, u32 group,
					 const struct aftl_block *block)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_reloc *reloc = &aftl_lun_of_die_group(ftl, group, i)->reloc;

		if (reloc->kind == AFTL_RELOC_REBUILD && reloc->from == block)
			return true;
	}
	return false;
}

/* Return true if the LUN has room for @units rebuilt pages and for a program of the host. */
static bool lun_has_room_for_rebuild(const struct aftl *ftl, const struct aftl_lun *lun, u32 units)
{
	return aftl_lun_has_room_for_units(lun, units + ftl->program_units);
}

static struct aftl_block *find_rebuild_block(struct aftl *ftl, const struct aftl_lun *lun,
					     u32 number, bool idle)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (count_pages_to_rebuild(ftl, group, number, i) &&
		    !block_rebuild_is_in_progress(ftl, group, block) &&
		    (!idle || lun_has_room_for_rebuild(ftl, lun, block->valid)))
			return block;
	}
	return NULL;
}

/*
 * aftl_superblock_gc_rebuild_block() - find a block of a dead LUN with pages for @lun to rebuild
 * @idle: search all superblocks, else the victim superblock only
 *
 * Return: the block, or NULL.
 */
struct aftl_block *aftl_superblock_gc_rebuild_block(struct aftl *ftl, const struct aftl_lun *lun,
						    bool idle)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	struct aftl_die_group *state = &ftl->die_groups[group];
	struct aftl_block *block = NULL;
	u32 number;

	if (!ftl->config.rain || count_live_luns_of_group(ftl, group) == ftl->geo.superblock_luns)
		return NULL;
	if (state->victim != AFTL_NIL)
		block = find_rebuild_block(ftl, lun, state->victim, false);
	for (number = state->rebuild_from; idle && !block && number < ftl->geo.blocks_per_lun;
	     number++) {
		ftl->work++;
		block = find_rebuild_block(ftl, lun, number, true);
		if (number == state->rebuild_from)
			state->rebuild_from += !superblock_has_pages_to_rebuild(ftl, group, number);
	}
	return block;
}

/* Record that all pages of @block that can be rebuilt have been rebuilt. */
void aftl_superblock_mark_block_rebuilt(struct aftl *ftl, const struct aftl_block *block)
{
	u32 group = aftl_die_group_of_lun(ftl, aftl_block_lun(ftl, block));
	u32 number = aftl_superblock_number(ftl, block);

	aftl_superblock_at(ftl, group, number)->rebuilt |=
		1ULL << aftl_lun_index_in_die_group(ftl, aftl_block_lun(ftl, block));
	if (aftl_superblock_is_unused(ftl, group, number))
		aftl_assign_parity_block_and_check_capacity(ftl, group, number);
}

/* Return true if all live members have erased their block of the victim superblock. */
static bool superblock_victim_is_erased(struct aftl *ftl, u32 group)
{
	const struct aftl_die_group *state = &ftl->die_groups[group];
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++)
		if (aftl_superblock_block(ftl, group, state->victim, i)->state != AFTL_BLOCK_BAD &&
		    !(state->erased & 1ULL << i))
			return false;
	return true;
}

/*
 * Mark the valid pages that could not be rebuilt as lost: after the erase of their stripe nothing
 * else shows the loss.
 */
static void mark_valid_pages_lost(struct aftl *ftl, const struct aftl_block *block)
{
	u32 slot = from_ppn(aftl_page_ppn(&ftl->media, block, 0));
	u32 end = slot + ftl->geo.block_ppns;

	for (; block->valid && slot < end; slot++)
		if (aftl_ppn_is_valid(&ftl->media, to_ppn(slot)))
			aftl_l2p_mark_ppn_lost(ftl, to_ppn(slot));
}

/* Free the blocks of the victim superblock once all its members have erased them. */
static void free_erased_victim_superblock(struct aftl *ftl, u32 group)
{
	struct aftl_die_group *state = &ftl->die_groups[group];
	u32 number = state->victim;
	u32 i;

	if (number == AFTL_NIL || !state->erased || !superblock_victim_is_erased(ftl, group))
		return;
	state->victim = AFTL_NIL;
	state->urgent = false;
	state->retry_seq = 0;
	state->collected++;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *lun = aftl_lun_of_die_group(ftl, group, i);
		struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		aftl_wake_idle_lun(ftl, lun);
		if (block->state == AFTL_BLOCK_BAD) {
			mark_valid_pages_lost(ftl, block);
			continue;
		}
		lun->failing_blocks -= block->failing;
		aftl_commit_block_erase(ftl, lun, block);
	}
	aftl_superblock_reset_rebuild_state(ftl, group, number);
	aftl_assign_parity_block_and_check_capacity(ftl, group, number);
}

/* Record that the array of @lun has erased its block of the victim superblock. */
void aftl_superblock_gc_note_erased_member(struct aftl *ftl, struct aftl_lun *lun)
{
	lun_die_group(ftl, lun)->erased |= 1ULL << aftl_lun_index_in_die_group(ftl, lun);
	free_erased_victim_superblock(ftl, aftl_die_group_of_lun(ftl, lun));
}

/* Choose another member than the dead @lun for the parity of a superblock that has no data. */
void aftl_superblock_replace_dead_parity(struct aftl *ftl, const struct aftl_lun *lun, u32 number)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);

	ftl->work += ftl->geo.superblock_luns;
	if (aftl_superblock_is_unused(ftl, group, number))
		aftl_assign_parity_block_and_check_capacity(ftl, group, number);
}

/* Continue GC without the dead @lun, whose data are rebuilt from the first superblock on. */
void aftl_superblock_continue_gc_without_lun(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	u32 i;

	ftl->die_groups[group].rebuild_from = 0;
	free_erased_victim_superblock(ftl, group);
	for (i = 0; i < ftl->geo.superblock_luns; i++)
		aftl_wake_idle_lun(ftl, aftl_lun_of_die_group(ftl, group, i));
}

/*
 * Set the erase count of @block to @erases, that of the superblock's other blocks, which were
 * erased when @block was not. Its valid pages were relocated before, so treat @block as erased,
 * too; in a dead LUN, pages that could not be rebuilt are marked as lost.
 */
static void copy_superblock_erase_count_to_block(struct aftl *ftl, struct aftl_block *block,
						 u32 erases)
{
	u32 behind = erases - block->erases;

	if (!behind)
		return;
	if (block->state == AFTL_BLOCK_BAD || block->valid)
		mark_valid_pages_lost(ftl, block);
	else
		aftl_oob_reset_erased_block(ftl, block);
	block->parity = 0;
	if (block->state == AFTL_BLOCK_BAD)
		return;
	block->erases = erases;
	block->wear += behind * AFTL_FULL_WEAR;
}

/* Drop the parity role of a block in a dead LUN if a block in a live LUN has replaced it. */
static void drop_parity_in_dead_lun(struct aftl *ftl, u32 group, u32 number)
{
	bool alive = false;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		alive |= block->parity && block->state != AFTL_BLOCK_BAD;
	}
	for (i = 0; alive && i < ftl->geo.superblock_luns; i++) {
		struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		block->parity &= block->state != AFTL_BLOCK_BAD;
	}
}

static void equalise_superblock_erase_counts(struct aftl *ftl, u32 group, u32 number)
{
	u32 erases = 0;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++)
		erases = max(erases, aftl_superblock_block(ftl, group, number, i)->erases);
	for (i = 0; i < ftl->geo.superblock_luns; i++)
		copy_superblock_erase_count_to_block(ftl,
						     aftl_superblock_block(ftl, group, number, i),
						     erases);
	drop_parity_in_dead_lun(ftl, group, number);
}

/* After a crash, give all members of a superblock the same erase count. */
void aftl_equalise_erase_counts_of_superblocks(struct aftl *ftl)
{
	u32 number;
	u32 i;

	for (i = 0; ftl->geo.superblock_luns && i < ftl->geo.luns / ftl->geo.superblock_luns; i++)
		for (number = 0; number < ftl->geo.blocks_per_lun; number++)
			equalise_superblock_erase_counts(ftl, i, number);
}

/*
 * After a crash, assign unwritten parity to a block again: flash has the data to compute it from.
 */
void aftl_superblock_reassign_parity(struct aftl *ftl)
{
	u32 number;
	u32 i;

	for (i = 0; ftl->config.rain && i < ftl->geo.luns / ftl->geo.superblock_luns; i++)
		for (number = 0; number < ftl->geo.blocks_per_lun; number++)
			if (!aftl_parity_block_of(ftl, aftl_superblock_block(ftl, i, number, 0)))
				aftl_assign_parity_block(ftl, i, number);
}
