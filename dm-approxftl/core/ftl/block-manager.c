// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block manager: the free-block list of each LUN, in the order of erases; the victim lists, which
 * hold the closed blocks by number of valid pages; open blocks; and bad blocks, which are in no
 * list.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/gc-margin.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/superblock.h"
#include "core/base/random.h"
#include "core/policy/victim-rules.h"

static struct aftl_block *block_by_index(struct aftl *ftl, u32 index)
{
	return &ftl->media.blocks[index];
}

static void insert_block_between_list_entries(struct aftl *ftl, struct aftl_block *block, u32 prev,
					      u32 next)
{
	u32 index = aftl_block_index(&ftl->media, block);

	block->prev = prev;
	block->next = next;
	block->listed = 1;
	if (prev != AFTL_NIL)
		block_by_index(ftl, prev)->next = index;
	if (next != AFTL_NIL)
		block_by_index(ftl, next)->prev = index;
}

static void block_list_remove(struct aftl *ftl, struct aftl_block *block, u32 *head, u32 *tail)
{
	if (block->prev != AFTL_NIL)
		block_by_index(ftl, block->prev)->next = block->next;
	else
		*head = block->next;
	if (block->next != AFTL_NIL)
		block_by_index(ftl, block->next)->prev = block->prev;
	else if (tail)
		*tail = block->prev;
	block->listed = 0;
}

void aftl_free_list_add_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	block->state = AFTL_BLOCK_FREE;
	lun->out_of_blocks = false;
	lun->below_reserve &= lun->free_blocks < aftl_count_gc_reserve_blocks(ftl);
	insert_block_between_list_entries(ftl, block, lun->free_tail, AFTL_NIL);
	lun->free_tail = aftl_block_index(&ftl->media, block);
	if (lun->free_head == AFTL_NIL)
		lun->free_head = lun->free_tail;
	lun->free_blocks++;
}

/*
 * Free blocks that wear levelling compares to open one of them: few, so that a long free list costs
 * no time.
 */
#define WEAR_CANDIDATES 16

static bool policy_accepts_free_block(struct aftl *ftl, const struct aftl_block *block)
{
	return !ftl->type->accept_free || ftl->type->accept_free(ftl->policy, block);
}

/* Return the free block of @lun with the most erases that the policy accepts, or NULL. */
struct aftl_block *aftl_free_block_most_worn(struct aftl *ftl, const struct aftl_lun *lun)
{
	struct aftl_block *most = NULL;
	struct aftl_block *block;
	u32 index;

	for (index = lun->free_head; index != AFTL_NIL; index = block->next) {
		block = block_by_index(ftl, index);
		if ((!most || block->erases > most->erases) &&
		    policy_accepts_free_block(ftl, block))
			most = block;
	}
	return most;
}

/*
 * Select the next free block of @lun to open, or return NULL. Only blocks that the policy accepts
 * are compared, unless it accepts none. Without wear levelling the block that was erased first is
 * selected. Data that static wear levelling moves do not change for long: they get the most worn
 * block, which then rests.
 */
struct aftl_block *aftl_free_block_select(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 left = ftl->config.wear_gap ? WEAR_CANDIDATES : 1;
	struct aftl_block *best = NULL;
	struct aftl_block *block;
	u32 index;

	if (ftl->config.wear_gap && ftl->placing_cause == AFTL_CAUSE_WEAR) {
		best = aftl_free_block_most_worn(ftl, lun);
		left = 0;
	}
	for (index = lun->free_head; left && index != AFTL_NIL; index = block->next) {
		block = block_by_index(ftl, index);
		if (!policy_accepts_free_block(ftl, block))
			continue;
		if (!best || block->erases < best->erases)
			best = block;
		left--;
	}
	if (!best && lun->free_head != AFTL_NIL)
		best = block_by_index(ftl, lun->free_head);
	return best;
}

/* Find the highest erase count of the blocks of @lun, and a lower bound of the lowest one. */
void aftl_lun_update_min_max_erase_counts(const struct aftl *ftl, struct aftl_lun *lun)
{
	size_t blocks = ftl->geo.blocks_per_lun;
	const struct aftl_block *block = &ftl->media.blocks[lun->index * blocks];
	const struct aftl_block *end = block + blocks;

	lun->wear.most = 0;
	lun->wear.least = U32_MAX;
	for (; block < end; block++) {
		if (block->state == AFTL_BLOCK_BAD)
			continue;
		lun->wear.most = max(lun->wear.most, block->erases);
		lun->wear.least = min(lun->wear.least, block->erases);
	}
}

static struct aftl_block *select_free_block(struct aftl *ftl, struct aftl_lun *lun, u32 stream)
{
	if (ftl->geo.superblock_luns)
		return aftl_superblock_select_free(ftl, lun, stream);
	return aftl_free_block_select(ftl, lun);
}

void aftl_free_list_remove_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	block_list_remove(ftl, block, &lun->free_head, &lun->free_tail);
	lun->free_blocks--;
}

struct aftl_block *aftl_free_block_take(struct aftl *ftl, struct aftl_lun *lun, u32 stream)
{
	struct aftl_block *block = select_free_block(ftl, lun, stream);

	if (block)
		aftl_free_list_remove_block(ftl, lun, block);
	return block;
}

void aftl_block_open(struct aftl *ftl, struct aftl_block *block, enum aftl_order order, u32 kind)
{
	block->state = AFTL_BLOCK_OPEN;
	block->order = order;
	block->kind = kind;
	block->approx_only = 1;
	block->opened_ns = (s64)(ftl->now_ns - ftl->fill_left_ns);
	block->first_hour = min_t(u64, aftl_device_age_hours(ftl), U32_MAX);
}

/* SLC cache blocks are in no victim list: they are folded, not collected. */
void aftl_victim_list_add(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	u32 *head = &lun->victims[block->valid];

	if (aftl_is_slc_block(ftl, block)) {
		lun->slc_block_empty |= !block->valid;
		return;
	}
	insert_block_between_list_entries(ftl, block, AFTL_NIL, *head);
	*head = aftl_block_index(&ftl->media, block);
	lun->min_valid = min(lun->min_valid, block->valid);
}

void aftl_victim_list_remove(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	block_list_remove(ftl, block, &lun->victims[block->valid], NULL);
}

void aftl_block_close(struct aftl *ftl, struct aftl_block *block)
{
	if (block->order == AFTL_ORDER_FOGGY_FINE && aftl_fine_pending_close_block(ftl, block))
		return;
	block->state = AFTL_BLOCK_CLOSED;
	if (likely(!aftl_is_slc_block(ftl, block) && !block->handle)) {
		ftl->stats.kind_blocks[block->kind]++;
		ftl->stats.kind_pages[block->kind] += block->programmed;
	}
	aftl_victim_list_add(ftl, aftl_block_lun(ftl, block), block);
	aftl_block_event_notify(&ftl->block_events, AFTL_ON_CLOSE, ftl,
				aftl_block_lun(ftl, block), block);
}

void aftl_close_unfilled_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	aftl_lun_drop_open_block_pointer(lun, block);
	if (ftl->type->closed)
		ftl->type->closed(ftl->policy, block);
	aftl_block_close(ftl, block);
}

void aftl_move_victim_to_list_of_fewer_valid(struct aftl *ftl, struct aftl_lun *lun,
					     struct aftl_block *block)
{
	aftl_victim_list_remove(ftl, lun, block);
	block->valid--;
	aftl_victim_list_add(ftl, lun, block);
}

/* Failing blocks are no victims: their erase frees no block. */
static struct aftl_block *find_best_ranked_victim(struct aftl *ftl, struct aftl_lun *lun, u32 head)
{
	struct aftl_block *best = NULL;
	u32 best_rank = U32_MAX;
	u32 index;

	for (index = head; index != AFTL_NIL; index = block_by_index(ftl, index)->next) {
		struct aftl_block *block = block_by_index(ftl, index);
		u32 rank;

		if (block->failing)
			continue;
		if (!block->valid || !ftl->type->victim_rank)
			return block;
		rank = ftl->type->victim_rank(ftl->policy, lun, block);
		if (!best || rank < best_rank) {
			best_rank = rank;
			best = block;
		}
	}
	return best;
}

struct aftl_block *aftl_victim_fewest_valid(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *victim = NULL;
	u32 valid;

	while (lun->min_valid <= ftl->geo.block_ppns && lun->victims[lun->min_valid] == AFTL_NIL)
		lun->min_valid++;
	for (valid = lun->min_valid; !victim && valid <= ftl->geo.block_ppns; valid++)
		victim = find_best_ranked_victim(ftl, lun, lun->victims[valid]);
	return victim;
}

/*
 * Replace @victim by the choice of the policy or victim selector. If neither chooses, or the
 * policy's choice is not a candidate, @victim remains.
 */
void aftl_victim_choose_by_selector(struct aftl *ftl, struct aftl_victim_candidates *closed,
				    struct aftl_block **victim)
{
	const struct aftl_victim_rule *rule = aftl_victim_rule(ftl->config.victim);
	struct aftl_block *block = NULL;

	closed->params = aftl_get_values_of_param_group(&ftl->config, rule->params);
	if (ftl->type->select_victim)
		block = ftl->type->select_victim(ftl->policy, closed);
	else if (rule->select_victim)
		block = rule->select_victim(ftl->policy, closed);
	if (!block)
		return;
	if (aftl_victim_candidates_contain(closed, block))
		*victim = block;
	else
		ftl->stats.counters.policy_bugs++;
}

struct aftl_block *aftl_gc_select_victim(struct aftl *ftl, struct aftl_lun *lun, u32 most_valid)
{
	struct aftl_victim_candidates closed = {
		.policy = ftl->policy,
		.lun = lun,
		.most_valid = most_valid,
	};
	struct aftl_block *victim = aftl_victim_fewest_valid(ftl, lun);

	if (!victim || victim->valid > most_valid)
		return NULL;
	/*
	 * A LUN below its GC reserve takes the victim with the fewest valid pages in any case.
	 */
	if (likely(!lun->below_reserve && lun->free_blocks >= aftl_count_gc_reserve_blocks(ftl)))
		aftl_victim_choose_by_selector(ftl, &closed, &victim);
	return victim;
}

/*
 * Limit the valid pages of a LUN: without its GC reserve and the blocks that the policy keeps open,
 * at least one of its blocks must have few enough valid pages to be collected.
 */
static u32 compute_max_valid_pages_of_lun(const struct aftl *ftl, u32 good_blocks)
{
	u32 kept = aftl_count_reserved_blocks_per_lun(ftl);
	u32 most = good_blocks > kept ? (good_blocks - kept) * (ftl->gc_max_valid + 1) : 0;

	/* Leave room for the LUN's share of the translation pages, which are programmed later. */
	return most - min(most, DIV_ROUND_UP(ftl->geo.trans_pages, ftl->geo.luns));
}

static void update_max_valid_pages_of_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->max_valid = compute_max_valid_pages_of_lun(ftl, lun->good_blocks);
}

bool aftl_host_data_fit_in_nonfailing_blocks(const struct aftl *ftl)
{
	u64 room = 0;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		room += compute_max_valid_pages_of_lun(ftl,
						       ftl->luns[i].good_blocks -
							       min(ftl->luns[i].good_blocks,
								   ftl->luns[i].failing_blocks));
	return room >= ftl->geo.units;
}

/* Become read-only if the good blocks have no room for all logical pages. */
void aftl_enter_read_only_if_needed(struct aftl *ftl)
{
	u64 room = 0;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		room += ftl->luns[i].max_valid;
	if (room >= ftl->geo.units || ftl->geo.zones)
		return;
	ftl->read_only = true;
	ftl->retry = true;
}

/* Mark a block as bad; the caller runs aftl_enter_read_only_if_needed() after the last one. */
void aftl_block_mark_bad(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	block->state = AFTL_BLOCK_BAD;
	ftl->stats.counters.retired_blocks++;
	lun->good_blocks -= !block->parity;
	update_max_valid_pages_of_lun(ftl, lun);
}

void aftl_block_retire(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	aftl_block_mark_bad(ftl, lun, block);
	aftl_enter_read_only_if_needed(ftl);
}

/* Turn an empty block into a parity block or back into a data block. */
static void set_block_parity_role(struct aftl *ftl, struct aftl_block *block, bool parity)
{
	struct aftl_lun *lun = aftl_block_lun(ftl, block);

	if (block->parity == parity)
		return;
	block->parity = parity;
	if (block->state == AFTL_BLOCK_BAD)
		return;
	if (parity)
		aftl_free_list_remove_block(ftl, lun, block);
	else
		aftl_free_list_add_block(ftl, lun, block);
	lun->good_blocks += parity ? -1 : 1;
	update_max_valid_pages_of_lun(ftl, lun);
}

/*
 * Choose the parity block of an empty superblock while a device is loaded: the capacity is not
 * final yet, so aftl_assign_parity_block_and_check_capacity() must not be called then.
 */
void aftl_assign_parity_block(struct aftl *ftl, u32 group, u32 number)
{
	u32 parity_member = aftl_superblock_select_parity_member(ftl, group, number);
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++)
		set_block_parity_role(ftl, aftl_superblock_block(ftl, group, number, i),
				      i == parity_member);
}

/*
 * Choose the parity block of an empty superblock at run time. If the capacity does not suffice any
 * more, the device becomes read-only.
 */
void aftl_assign_parity_block_and_check_capacity(struct aftl *ftl, u32 group, u32 number)
{
	aftl_assign_parity_block(ftl, group, number);
	aftl_enter_read_only_if_needed(ftl);
}

static bool is_block_bad_from_factory(const struct aftl *ftl, u32 index)
{
	u64 draw = aftl_hash64_pair(ftl->config.seed ^ 0xbadb10c, index);

	return ftl->config.bad &&
	       aftl_map_random_to_range(draw, 1000000000) * 1000 < ftl->config.bad;
}

static void reset_lun_blocks(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	lun->victims = ftl->victims + (size_t)lun->index * (ftl->geo.block_ppns + 1);
	for (i = 0; i <= ftl->geo.block_ppns; i++)
		lun->victims[i] = AFTL_NIL;
	lun->min_valid = ftl->geo.block_ppns + 1;
	lun->free_head = AFTL_NIL;
	lun->free_tail = AFTL_NIL;
	lun->free_blocks = 0;
	lun->good_blocks = 0;
	aftl_gc_margin_reset(lun);
}

static void init_lun_blocks(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 i;

	reset_lun_blocks(ftl, lun);
	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		if (is_block_bad_from_factory(ftl, i)) {
			block_by_index(ftl, i)->state = AFTL_BLOCK_BAD;
			continue;
		}
		block_by_index(ftl, i)->erases = (u32)ftl->config.cycles;
		block_by_index(ftl, i)->wear = (u32)ftl->config.cycles * 10000;
		aftl_free_list_add_block(ftl, lun, block_by_index(ftl, i));
		lun->good_blocks++;
	}
	aftl_lun_update_min_max_erase_counts(ftl, lun);
	update_max_valid_pages_of_lun(ftl, lun);
}

void aftl_block_manager_init(struct aftl *ftl)
{
	u32 i;
	u32 j;

	for (i = 0; i < ftl->geo.luns; i++)
		init_lun_blocks(ftl, &ftl->luns[i]);
	for (i = 0; ftl->config.rain && i < ftl->geo.luns / ftl->geo.superblock_luns; i++)
		for (j = 0; j < ftl->geo.blocks_per_lun; j++)
			aftl_assign_parity_block_and_check_capacity(ftl, i, j);
}

void aftl_block_manager_clear(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		reset_lun_blocks(ftl, &ftl->luns[i]);
	for (i = 0; i < ftl->geo.blocks; i++) {
		ftl->media.blocks[i].listed = 0;
		ftl->media.blocks[i].parity = 0;
	}
}

void aftl_block_manager_finish_load(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		aftl_lun_update_min_max_erase_counts(ftl, &ftl->luns[i]);
		update_max_valid_pages_of_lun(ftl, &ftl->luns[i]);
		if (!ftl->luns[i].good_blocks)
			ftl->luns[i].work.phase = AFTL_PHASE_DEAD;
	}
	aftl_enter_read_only_if_needed(ftl);
}

/*
 * aftl_program_has_valid_pages() - return true if pages of a program hold valid data
 * @first: first page of the program, numbered through all blocks of the device
 */
bool aftl_program_has_valid_pages(const struct aftl *ftl, u32 first)
{
	u32 slot = first * ftl->geo.page_units;
	u32 end = slot + ftl->program_units;

	for (; slot < end; slot++)
		if (aftl_ppn_is_valid(&ftl->media, to_ppn(slot)))
			return true;
	return false;
}

/*
 * Return true if a word line without its fine pass has valid pages: the controller has lost the
 * data of that fine pass, but the pages stay mapped.
 */
static bool unfinished_word_line_has_valid_pages(const struct aftl *ftl,
						 const struct aftl_block *block)
{
	u32 page = block->programmed -
		   min(block->programmed, AFTL_FOGGY_WORD_LINES * ftl->geo.program_pages);

	for (; page < block->programmed; page += ftl->geo.program_pages) {
		u32 first = aftl_page_number_in_device(&ftl->media, block, page);

		if (aftl_page_is_foggy(*aftl_page_attr_ptr(&ftl->media, first)) &&
		    aftl_program_has_valid_pages(ftl, first))
			return true;
	}
	return false;
}

/*
 * Return true if the closed @block would accept another program if it were reopened. A block that
 * is programmed in two passes accepts coarse passes as long as it is not full: when it was closed
 * early, its frontier moved to its end only to make the last fine passes due.
 */
static bool can_closed_block_be_reopened(struct aftl *ftl, struct aftl_block *block)
{
	bool can;

	if (block->order == AFTL_ORDER_FOGGY_FINE) {
		can = block->programmed < ftl->geo.pages &&
		      !unfinished_word_line_has_valid_pages(ftl, block);
	} else {
		block->state = AFTL_BLOCK_OPEN;
		can = aftl_program_order_next_page(&ftl->media, block) < ftl->geo.pages;
		block->state = AFTL_BLOCK_CLOSED;
	}
	return can && (!ftl->geo.superblock_luns || aftl_superblock_allows_reopening(ftl, block));
}

/* Among the closed blocks that can be reopened, find one with the fewest programmed pages. */
static struct aftl_block *find_emptiest_block(struct aftl *ftl, const struct aftl_lun *lun,
					      bool failing)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	struct aftl_block *best = NULL;
	u32 i;

	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = block_by_index(ftl, i);

		if (block->state == AFTL_BLOCK_CLOSED && block->failing == failing &&
		    !block->bits && !block->parity && block != lun->reloc.from &&
		    (!best || block->programmed < best->programmed) &&
		    can_closed_block_be_reopened(ftl, block))
			best = block;
	}
	return best;
}

static void reopen_block_as_fallback(struct aftl *ftl, struct aftl_lun *lun,
				     struct aftl_block *block)
{
	aftl_victim_list_remove(ftl, lun, block);
	block->state = AFTL_BLOCK_OPEN;
	block->handle = 0;
	if (block->order == AFTL_ORDER_FOGGY_FINE)
		block->frontier = block->programmed;
	lun->fallback = block;
}

/* Make an open block of the policy the fallback block; pending fine passes of it stay pending. */
static void take_over_block_as_fallback(struct aftl *ftl, struct aftl_lun *lun,
					struct aftl_block *block)
{
	aftl_lun_drop_open_block_pointer(lun, block);
	if (ftl->type->closed)
		ftl->type->closed(ftl->policy, block);
	lun->fallback = block;
}

static void ensure_lun_has_fallback_block(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block;

	if (lun->free_blocks > aftl_count_gc_reserve_blocks(ftl))
		return;
	lun->below_reserve = true;
	block = lun->fallback ? NULL : find_emptiest_block(ftl, lun, false);
	if (block)
		reopen_block_as_fallback(ftl, lun, block);
}

/*
 * Make an open block of the policy the fallback block of @lun, or else a block that was closed
 * before it was full; return false if there is none. Called if relocation has no free block, as
 * blocks of the reserve failed or became parity blocks. The policy may have opened the block for
 * other data than those relocated to it. A block that was closed because it fails comes last.
 */
bool aftl_choose_block_as_fallback(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	struct aftl_block *best = NULL;
	u32 i;

	if (ftl->geo.zones)
		return false;
	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = block_by_index(ftl, i);

		if (block->state == AFTL_BLOCK_OPEN && !block->handle && !block->bits &&
		    !block->parity && block != lun->reloc.from &&
		    (!best || block->programmed < best->programmed) &&
		    aftl_program_order_next_page(&ftl->media, block) < ftl->geo.pages)
			best = block;
	}
	if (best && best->order == AFTL_ORDER_FOGGY_FINE) {
		take_over_block_as_fallback(ftl, lun, best);
		return true;
	}
	if (best)
		aftl_close_unfilled_block(ftl, lun, best);
	else
		best = find_emptiest_block(ftl, lun, false) ?: find_emptiest_block(ftl, lun, true);
	if (best)
		reopen_block_as_fallback(ftl, lun, best);
	return best;
}

void aftl_block_manager_ensure_fallback_blocks(struct aftl *ftl)
{
	u32 i;

	for (i = 0; !ftl->geo.zones && i < ftl->geo.luns; i++)
		ensure_lun_has_fallback_block(ftl, &ftl->luns[i]);
}
