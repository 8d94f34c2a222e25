// SPDX-License-Identifier: GPL-2.0-only
/*
 * Background tasks of a LUN: GC, wear levelling, refresh, folding, retirement of bad blocks, RAIN
 * rebuild and rewrites for a policy. Each of them reads valid pages, programs them elsewhere and
 * may erase the block.
 *
 * This file selects the task and its next step. The scheduler executes the steps in device time,
 * precondition.c without time.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/gc-pace.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/policy-instance.h"
#include "core/ftl/program.h"
#include "core/ftl/refresh.h"
#include "core/ftl/relocation.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/slc-cache.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/superblock.h"
#include "core/ftl/time.h"
#include "core/ftl/wear-level.h"
#include "core/ftl/write-buffer.h"

static void reloc_begin_task(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 cause,
			     struct aftl_block *from)
{
	lun->reloc.kind = kind;
	lun->reloc.cause = cause;
	lun->reloc.pass = 0;
	lun->reloc.begun = false;
	lun->reloc.erase = false;
	lun->reloc.from = from;
	lun->reloc.first = from_ppn(aftl_page_ppn(&ftl->media, from, 0));
	lun->reloc.begin = 0;
	lun->reloc.cursor = 0;
	lun->reloc.prefetched = 0;
	lun->reloc.end = ftl->geo.block_ppns;
	lun->reloc.count = 0;
}

/* Relocate all valid pages of @block; erase it afterwards if it is closed. */
static void reloc_begin_emptying_single_block(struct aftl *ftl, struct aftl_lun *lun, u32 cause,
					      struct aftl_block *block)
{
	reloc_begin_task(ftl, lun, AFTL_RELOC_EMPTY, cause, block);
	lun->reloc.erase = block->state == AFTL_BLOCK_CLOSED;
	aftl_gc_pace_set_rate_for_victim(ftl, lun);
	if (block->listed && likely(!ftl->geo.superblock_luns))
		aftl_victim_list_remove(ftl, lun, block);
}

static struct aftl_die_group *reloc_die_group(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return &ftl->die_groups[aftl_die_group_of_lun(ftl, lun)];
}

static bool superblock_gc_is_active(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return ftl->geo.superblock_luns && reloc_die_group(ftl, lun)->victim != AFTL_NIL;
}

static void begin_rebuild_of_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	reloc_begin_task(ftl, lun, AFTL_RELOC_REBUILD, AFTL_CAUSE_REBUILD, block);
	lun->reloc.erase = true;
}

/* Wake the LUNs that wait until all members of the superblock can be erased. */
static void wake_luns_of_die_group(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++)
		aftl_wake_idle_lun(ftl,
				   aftl_lun_of_die_group(ftl, aftl_die_group_of_lun(ftl, lun), i));
}

/* Return true if @lun has a free block for tasks that free no block, beside the GC reserve. */
static bool lun_has_free_block_above_gc_reserve(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks > aftl_count_gc_reserve_blocks(ftl) + 1;
}

static bool reloc_pick_block_to_rebuild(struct aftl *ftl, struct aftl_lun *lun, bool idle)
{
	struct aftl_block *block;

	if (lun->out_of_blocks || (idle && !lun_has_free_block_above_gc_reserve(ftl, lun)))
		return false;
	block = aftl_superblock_gc_rebuild_block(ftl, lun, idle);
	if (block)
		begin_rebuild_of_block(ftl, lun, block);
	return block;
}

/* Start the relocation by which @lun empties its block of the victim superblock. */
static bool reloc_pick_block_of_victim_superblock(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = aftl_superblock_gc_member(ftl, lun);

	if (block) {
		reloc_begin_emptying_single_block(ftl, lun, reloc_die_group(ftl, lun)->cause,
						  block);
		lun->reloc.erase = true;
		return true;
	}
	return reloc_pick_block_to_rebuild(ftl, lun, false);
}

/* Empty a closed block, or the superblock that it belongs to. */
static bool reloc_start_emptying_block_or_superblock(struct aftl *ftl, struct aftl_lun *lun,
						     u32 cause, struct aftl_block *block)
{
	if (likely(!ftl->geo.superblock_luns)) {
		reloc_begin_emptying_single_block(ftl, lun, cause, block);
		return true;
	}
	return aftl_collect_superblock_of_block(ftl, block, cause) &&
	       reloc_pick_block_of_victim_superblock(ftl, lun);
}

static struct aftl_repeat reloc_pop_repeat(struct aftl_lun *lun)
{
	struct aftl_repeat first = lun->repeats[0];

	lun->repeat_blocks--;
	memmove(lun->repeats, lun->repeats + 1, lun->repeat_blocks * sizeof(first));
	return first;
}

static bool reloc_pick_rejected_program_to_repeat(struct aftl *ftl, struct aftl_lun *lun)
{
	while (aftl_may_lun_repeat_rejected_programs(ftl, lun)) {
		struct aftl_repeat redo = reloc_pop_repeat(lun);

		if (redo.block->erases != redo.erases)
			continue;
		reloc_begin_task(ftl, lun, AFTL_RELOC_REPEAT, AFTL_CAUSE_REWRITE, redo.block);
		lun->reloc.begin = redo.begin;
		lun->reloc.cursor = redo.begin;
		lun->reloc.end = redo.end;
		return true;
	}
	return false;
}

static struct aftl_block *reloc_lun_block(struct aftl *ftl, const struct aftl_lun *lun, u32 i)
{
	return &ftl->media.blocks[lun->index * ftl->geo.blocks_per_lun + i];
}

/* Start to empty a failing block; if @empty, only one that has no valid page. */
static bool reloc_pick_failing_block(struct aftl *ftl, struct aftl_lun *lun, bool empty)
{
	u32 i;

	if (!lun->failing_blocks)
		return false;
	empty |= lun->out_of_blocks || lun->below_reserve;
	for (i = 0; i < ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = reloc_lun_block(ftl, lun, i);

		if (block->failing && (block->state == AFTL_BLOCK_CLOSED || block->parity) &&
		    !(empty && block->valid) &&
		    reloc_start_emptying_block_or_superblock(ftl, lun, AFTL_CAUSE_RETIRE, block))
			return true;
	}
	return false;
}

static bool reloc_start_slc_fold(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (!block || !reloc_start_emptying_block_or_superblock(ftl, lun, AFTL_CAUSE_FOLD, block))
		return false;
	ftl->stats.counters.fold_blocks +=
		max((u32)ftl->geo.superblock_luns, 1U) - (u32)ftl->config.rain;
	return true;
}

static void reloc_begin_gc(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *victim)
{
	reloc_begin_emptying_single_block(ftl, lun, AFTL_CAUSE_GC, victim);
	ftl->stats.counters.gc_blocks++;
	ftl->stats.counters.gc_valid_units += victim->valid;
	ftl->stats.counters.gc_empty_blocks += !victim->valid;
}

/* Return the closed block of translation pages with the fewest valid ones, if GC may empty it. */
static struct aftl_block *select_map_victim(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 valid;
	u32 index;

	for (valid = lun->min_valid; valid <= ftl->gc_max_valid; valid++)
		for (index = lun->victims[valid]; index != AFTL_NIL;
		     index = ftl->media.blocks[index].next)
			if (aftl_block_has_trans_pages(ftl, &ftl->media.blocks[index]))
				return &ftl->media.blocks[index];
	return NULL;
}

/*
 * Start GC in a zoned device. Data need none, because a zone reset leaves blocks to erase; but when
 * free blocks run out, the SLC cache is folded and translation pages are collected.
 */
static bool reloc_pick_block_of_zoned_device(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	struct aftl_block *block = aftl_victim_fewest_valid(ftl, lun);

	aftl_request_gc_of_blocks(ftl, lun, 0);
	if (block && !block->valid) {
		reloc_begin_emptying_single_block(ftl, lun, AFTL_CAUSE_GC, block);
		return true;
	}
	if (reloc_start_slc_fold(ftl, lun, aftl_slc_cache_select_urgent_fold(ftl, lun, urgent)))
		return true;
	if (!urgent || lun->out_of_blocks || !ftl->geo.trans_pages)
		return false;
	block = select_map_victim(ftl, lun);
	if (block)
		reloc_begin_gc(ftl, lun, block);
	return block;
}

/* Return true if @lun could rebuild data of a dead LUN if it had a spare block. */
static bool reloc_needs_block_for_rebuild(struct aftl *ftl, const struct aftl_lun *lun)
{
	return ftl->geo.superblock_luns && !lun_has_free_block_above_gc_reserve(ftl, lun) &&
	       !lun->out_of_blocks && !lun->below_reserve &&
	       aftl_superblock_gc_rebuild_block(ftl, lun, true);
}

static bool reloc_pick_superblock_victim(struct aftl *ftl, struct aftl_lun *lun, u32 limit)
{
	if (!aftl_superblock_gc_start(ftl, lun, AFTL_CAUSE_GC, limit)) {
		aftl_request_gc_of_blocks(ftl, lun, 0);
		return false;
	}
	aftl_request_gc_of_blocks(ftl, lun, lun->forced_gc - (lun->forced_gc != 0));
	return reloc_pick_block_of_victim_superblock(ftl, lun);
}

/* Start GC of a victim with at most @limit valid pages in each block. */
static bool reloc_start_gc_of_victim(struct aftl *ftl, struct aftl_lun *lun, u32 limit)
{
	struct aftl_block *victim;

	if (ftl->geo.superblock_luns)
		return reloc_pick_superblock_victim(ftl, lun, limit);
	victim = aftl_gc_select_victim(ftl, lun, limit);
	if (!victim) {
		aftl_request_gc_of_blocks(ftl, lun, 0);
		return false;
	}
	aftl_request_gc_of_blocks(ftl, lun, lun->forced_gc - (lun->forced_gc != 0));
	reloc_begin_gc(ftl, lun, victim);
	return true;
}

/*
 * Start a fold outside of idle time. A LUN of a die group that has no free page can only fold a
 * superblock without valid pages in this LUN; the other LUNs may have to empty their blocks.
 */
static bool reloc_start_urgent_slc_fold(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	u32 i;

	if (likely(!ftl->geo.superblock_luns || !lun->out_of_blocks))
		return reloc_start_slc_fold(ftl, lun,
					    aftl_slc_cache_select_urgent_fold(ftl, lun, urgent));
	for (i = 0; lun->slc_blocks && i < ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = reloc_lun_block(ftl, lun, i);

		if (aftl_is_slc_block(ftl, block) && block->state == AFTL_BLOCK_CLOSED &&
		    !block->valid && !block->failing && !block->parity &&
		    reloc_start_slc_fold(ftl, lun, block))
			return true;
	}
	return false;
}

static bool reloc_pick_gc_victim(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	u32 limit = urgent ? ftl->gc_max_valid : ftl->gc_idle_valid;

	if (ftl->geo.zones)
		return reloc_pick_block_of_zoned_device(ftl, lun, urgent);
	if (reloc_start_urgent_slc_fold(ftl, lun, urgent)) {
		aftl_request_gc_of_blocks(ftl, lun, lun->forced_gc - (lun->forced_gc != 0));
		return true;
	}
	if (!urgent && !aftl_lun_is_below_gc_watermark(ftl, lun) && !lun->forced_gc &&
	    !reloc_needs_block_for_rebuild(ftl, lun))
		return false;
	return reloc_start_gc_of_victim(ftl, lun, lun->out_of_blocks ? 0 : limit);
}

static bool reloc_pick_wear_levelling_block(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = aftl_wear_select_cold(ftl, lun);

	if (!block || !reloc_start_emptying_block_or_superblock(ftl, lun, AFTL_CAUSE_WEAR, block))
		return false;
	lun->wear.due = 0;
	ftl->stats.counters.wear_blocks++;
	return true;
}

/*
 * Start to retire a failing block. If only the GC reserve is left, GC goes first if it has a
 * victim: a retirement uses free pages that GC needs, and frees none.
 */
static bool reloc_pick_retirement(struct aftl *ftl, struct aftl_lun *lun)
{
	bool short_of_blocks = aftl_count_blocks_for_retirement(ftl, lun) &&
			       lun->free_blocks <= aftl_count_gc_reserve_blocks(ftl);

	if (lun->fallback && lun->fallback->failing && !short_of_blocks && !lun->below_reserve)
		aftl_close_unfilled_block(ftl, lun, lun->fallback);
	return reloc_pick_failing_block(ftl, lun, short_of_blocks) ||
	       (short_of_blocks && (reloc_pick_gc_victim(ftl, lun, true) ||
				    reloc_pick_failing_block(ftl, lun, false)));
}

/*
 * Start a task of paced GC in @lun, which has no task. Failing blocks and wear levelling go first,
 * as in emergency GC. Return: true if there is a block to empty.
 */
bool aftl_reloc_start_gc(struct aftl *ftl, struct aftl_lun *lun)
{
	if (superblock_gc_is_active(ftl, lun))
		return reloc_pick_block_of_victim_superblock(ftl, lun);
	return reloc_pick_retirement(ftl, lun) || reloc_pick_wear_levelling_block(ftl, lun) ||
	       reloc_start_gc_of_victim(ftl, lun, ftl->gc_max_valid);
}

static bool reloc_pick_refresh_block(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = aftl_refresh_take_block(ftl, lun);

	if (!block)
		return false;
	reloc_begin_task(ftl, lun, AFTL_RELOC_REFRESH, AFTL_CAUSE_REFRESH, block);
	ftl->stats.counters.refresh_blocks++;
	return true;
}

/* Relocate the data of a block that has reached the read-disturb limit. */
static bool reloc_pick_read_disturbed_block(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = lun->disturbed;

	if (likely(!block) || lun->free_blocks < aftl_count_gc_reserve_blocks(ftl))
		return false;
	lun->disturbed = NULL;
	if (block->state != AFTL_BLOCK_CLOSED || block->reads < ftl->max_block_reads)
		return false;
	if (!reloc_start_emptying_block_or_superblock(ftl, lun, AFTL_CAUSE_REFRESH, block))
		return false;
	ftl->stats.counters.disturbed_blocks++;
	return true;
}

static bool reloc_pick_lun_task(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	if (lun->failing_blocks && reloc_pick_retirement(ftl, lun))
		return true;
	if (lun->out_of_blocks || lun->below_reserve)
		return reloc_pick_gc_victim(ftl, lun, urgent);
	return reloc_pick_rejected_program_to_repeat(ftl, lun) ||
	       reloc_pick_wear_levelling_block(ftl, lun) ||
	       reloc_pick_gc_victim(ftl, lun, urgent) ||
	       (!urgent &&
		(reloc_pick_read_disturbed_block(ftl, lun) || reloc_pick_refresh_block(ftl, lun)));
}

/* Superblock GC precedes the LUN's own tasks; the rebuild of data of a dead LUN is last. */
static noinline bool pick_group_task(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	if (superblock_gc_is_active(ftl, lun))
		return reloc_pick_block_of_victim_superblock(ftl, lun) ||
		       reloc_pick_rejected_program_to_repeat(ftl, lun);
	return reloc_pick_lun_task(ftl, lun, urgent) ||
	       (!urgent && !lun->out_of_blocks && !lun->below_reserve &&
		reloc_pick_block_to_rebuild(ftl, lun, true));
}

static bool reloc_pick_background_task(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	if (ftl->geo.superblock_luns)
		return pick_group_task(ftl, lun, urgent);
	return reloc_pick_lun_task(ftl, lun, urgent);
}

/* Move the cursor of the task to the block's next valid page. Return: false if there is none. */
static bool reloc_seek_valid_page(const struct aftl *ftl, struct aftl_reloc *reloc)
{
	u32 slot = reloc->first + reloc->cursor;
	u32 end = reloc->first + reloc->end;

	/* Steady GC finds most pages of a victim valid. */
	if (likely(slot < end && aftl_ppn_is_valid(&ftl->media, to_ppn(slot))))
		return true;
	while (slot < end) {
		u64 word = ftl->media.valid[slot / 64] >> (slot % 64);

		if (word) {
			slot += fls64(word & -word) - 1;
			break;
		}
		slot = (slot / 64 + 1) * 64;
	}
	reloc->cursor = min(slot, end) - reloc->first;
	return slot < end;
}

u32 aftl_reloc_get_cursor_page(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->reloc.cursor >> ftl->geo.page_unit_shift;
}

/*
 * Relocate all data as one stream from now on, because the policy mixed streams in a pass or left
 * valid pages behind. The GC reserve suffices for one stream in each of the copy_passes only.
 */
static void reloc_stop_asking_faulty_policy(struct aftl *ftl)
{
	ftl->stats.counters.policy_bugs += !ftl->ignore_policy_copy;
	ftl->ignore_policy_copy = true;
}

static aftl_ppn_t reloc_cursor_ppn(const struct aftl_reloc *reloc)
{
	return to_ppn(reloc->first + reloc->cursor);
}

/* Return true if a valid unit of the page at the cursor can be reconstructed. */
static bool reloc_page_can_be_rebuilt(const struct aftl *ftl, const struct aftl_reloc *reloc)
{
	u32 slot = from_ppn(reloc_cursor_ppn(reloc));
	u32 end = (slot / ftl->geo.page_units + 1) * ftl->geo.page_units;

	for (; slot < end; slot++)
		if (aftl_ppn_is_valid(&ftl->media, to_ppn(slot)) &&
		    aftl_stripe_can_reconstruct_ppn(ftl, to_ppn(slot)))
			return true;
	return false;
}

/*
 * Return true if the task has to relocate @page; only tasks that empty the block relocate all. For
 * a refresh, *@class becomes precise.
 */
static noinline bool reloc_page_due(struct aftl *ftl, const struct aftl_reloc *reloc, u32 page,
				    u32 *class)
{
	if (reloc->kind == AFTL_RELOC_REBUILD)
		return reloc_page_can_be_rebuilt(ftl, reloc);
	if (reloc->kind != AFTL_RELOC_REFRESH)
		return true;
	*class = AFTL_PRECISE;
	return aftl_page_refresh_is_due(ftl, reloc->from, page);
}

static bool page_is_in_reloc_pass(struct aftl *ftl, struct aftl_lun *lun, u32 *class, u32 *stream)
{
	struct aftl_reloc *reloc = &lun->reloc;
	u32 page = aftl_reloc_get_cursor_page(ftl, lun);
	u16 attr = aftl_ppn_attr(&ftl->media, reloc_cursor_ppn(reloc));
	struct aftl_relocation move = {
		.from = reloc->from,
		.page = page,
		.class = aftl_page_class(attr),
		.mode = aftl_page_mode(attr),
		.cause = reloc->cause,
		.bad = aftl_page_is_overprogrammed(attr),
		.pass = reloc->pass,
	};
	bool wanted = ftl->type->relocate || move.class == reloc->pass;
	u32 kept = aftl_get_fixed_relocation_stream(ftl, reloc->from);

	*class = move.class;
	*stream = 0;
	if (reloc->kind != AFTL_RELOC_EMPTY && !reloc_page_due(ftl, reloc, page, class))
		return false;
	/* An additional pass relocates the pages that the policy left behind. */
	if (reloc->pass == ftl->copy_passes || ftl->ignore_policy_copy)
		wanted = true;
	else if (kept)
		wanted = ftl->copy_passes < AFTL_CLASSES || move.class == reloc->pass;
	else if (ftl->type->relocate)
		wanted = ftl->type->relocate(ftl->policy, &move, class, stream);
	*stream = kept ? kept : aftl_policy_validate_stream(ftl, *stream);
	if (move.class == AFTL_PRECISE || *class != AFTL_APPROX ||
	    (ftl->type->relocate && ftl->type->ignores_tags) ||
	    (kept && ftl->copy_passes < AFTL_CLASSES) ||
	    (ftl->ignore_policy_copy && !reloc->from->approx_only))
		*class = AFTL_PRECISE;
	return wanted;
}

static void reloc_move_cursor_to_next_page(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->reloc.cursor = (aftl_reloc_get_cursor_page(ftl, lun) + 1) * ftl->geo.page_units;
}

static bool seek_page_of_reloc_pass(struct aftl *ftl, struct aftl_lun *lun, u32 *class, u32 *stream)
{
	while (reloc_seek_valid_page(ftl, &lun->reloc)) {
		if (page_is_in_reloc_pass(ftl, lun, class, stream))
			return true;
		reloc_move_cursor_to_next_page(ftl, lun);
	}
	return false;
}

static bool reloc_begin_next_pass(struct aftl *ftl, struct aftl_reloc *reloc)
{
	reloc->cursor = reloc->begin;
	reloc->prefetched = reloc->begin;
	reloc->begun = false;
	reloc->pass++;
	if (reloc->pass < ftl->copy_passes)
		return true;
	if (reloc->pass > ftl->copy_passes || !reloc->erase || !reloc->from->valid)
		return false;
	if (ftl->type->relocate && likely(reloc->kind != AFTL_RELOC_REBUILD))
		reloc_stop_asking_faulty_policy(ftl);
	return true;
}

/* Return true if the page has another class or stream than the gathered pages before it. */
static bool reloc_pass_mixes_streams(const struct aftl *ftl, const struct aftl_reloc *reloc,
				     u32 class, u32 stream)
{
	return reloc->begun && !ftl->ignore_policy_copy && ftl->type->relocate &&
	       (class != reloc->class || stream != reloc->stream);
}

/*
 * Select how to relocate a page: copyback through the LUN's page register if it fills a program and
 * no parity is calculated, else a read into the controller.
 */
static enum aftl_step reloc_select_read_step(const struct aftl *ftl)
{
	return ftl->program_units == 1 && !ftl->config.rain ? AFTL_STEP_COPY : AFTL_STEP_READ;
}

/*
 * Select the last step of a task that can relocate no further page: erase the block if the task
 * wants that and it is possible.
 */
static enum aftl_step reloc_select_last_step(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_reloc *reloc = &lun->reloc;

	if (likely(!ftl->geo.superblock_luns))
		return reloc->erase ? AFTL_STEP_ERASE : AFTL_STEP_NONE;
	if (reloc->kind == AFTL_RELOC_REBUILD)
		aftl_superblock_mark_block_rebuilt(ftl, reloc->from);
	if (!reloc->erase || !superblock_gc_is_active(ftl, lun) ||
	    !aftl_superblock_victim_is_empty(ftl, aftl_die_group_of_lun(ftl, lun)))
		return AFTL_STEP_NONE;
	if (!reloc_die_group(ftl, lun)->erased)
		wake_luns_of_die_group(ftl, lun);
	return aftl_superblock_gc_member(ftl, lun) == reloc->from ? AFTL_STEP_ERASE :
								    AFTL_STEP_NONE;
}

/* Number of ppns ahead of the cursor for which L2P entries and OOB metadata are prefetched. */
#define L2P_PREFETCH_DISTANCE 8
#define OOB_PREFETCH_DISTANCE 24

/*
 * Prefetch the metadata of pages that the task relocates some steps later: in between, other LUNs
 * start their operations. The OOB metadata, which name the L2P entries, are prefetched earlier.
 */
static void reloc_prefetch_next_pages(const struct aftl *ftl, struct aftl_reloc *reloc)
{
	u32 end = min(reloc->cursor + L2P_PREFETCH_DISTANCE, reloc->end);
	aftl_ppn_t later = to_ppn(reloc->first + reloc->cursor + OOB_PREFETCH_DISTANCE);

	if (reloc->cursor + OOB_PREFETCH_DISTANCE < reloc->end)
		prefetch(aftl_oob_lpn_word(&ftl->media, later));
	for (reloc->prefetched = max(reloc->prefetched, reloc->cursor); reloc->prefetched < end;
	     reloc->prefetched++) {
		aftl_ppn_t ppn = to_ppn(reloc->first + reloc->prefetched);

		if (aftl_ppn_is_valid(&ftl->media, ppn))
			prefetch(aftl_l2p_entry(ftl, from_lpn(aftl_ppn_lpn(&ftl->media, ppn))));
	}
}

static enum aftl_step reloc_continue_task(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_reloc *reloc = &lun->reloc;
	u32 class;
	u32 stream;

	for (;;) {
		if (reloc->count >= ftl->program_units)
			return AFTL_STEP_PROGRAM;
		if (seek_page_of_reloc_pass(ftl, lun, &class, &stream)) {
			if (likely(!reloc_pass_mixes_streams(ftl, reloc, class, stream)))
				break;
			reloc_stop_asking_faulty_policy(ftl);
			continue;
		}
		if (reloc->count)
			return AFTL_STEP_PROGRAM;
		if (lun->fine_pending_moves)
			return AFTL_STEP_FINISH;
		if (!reloc_begin_next_pass(ftl, reloc))
			return reloc_select_last_step(ftl, lun);
	}
	if (reloc->count && (class != reloc->class || stream != reloc->stream))
		return AFTL_STEP_PROGRAM;
	reloc->class = class;
	reloc->stream = stream;
	reloc->begun = true;
	reloc_prefetch_next_pages(ftl, reloc);
	return reloc_select_read_step(ftl);
}

/*
 * aftl_reloc_next_step() - select the next step of the background task of @lun
 * @urgent: emergency GC: host writes wait for free blocks
 *
 * Selects a task first if there is none.
 */
enum aftl_step aftl_reloc_next_step(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	enum aftl_step step;

	for (;;) {
		if (lun->reloc.kind == AFTL_RELOC_NONE &&
		    !reloc_pick_background_task(ftl, lun, urgent))
			return AFTL_STEP_NONE;
		step = reloc_continue_task(ftl, lun);
		if (step != AFTL_STEP_NONE)
			return step;
		lun->reloc.kind = AFTL_RELOC_NONE;
	}
}

/* Drop gathered pages that cannot be reconstructed: they stay in the victim block. */
static noinline void reloc_drop_lost(const struct aftl *ftl, struct aftl_reloc *reloc)
{
	u32 kept = 0;
	u32 i;

	for (i = 0; i < reloc->count; i++)
		if (aftl_stripe_can_reconstruct_ppn(ftl, reloc->slots[i]))
			reloc->slots[kept++] = reloc->slots[i];
	reloc->count = kept;
}

/* Take the valid pages that the array has read at the cursor of the task. */
void aftl_reloc_gather_pages(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_reloc *reloc = &lun->reloc;
	u32 end = min((aftl_reloc_get_cursor_page(ftl, lun) + 1) * ftl->geo.page_units, reloc->end);
	u32 before = reloc->count;

	for (; reloc->cursor < end; reloc->cursor++)
		if (aftl_ppn_is_valid(&ftl->media, to_ppn(reloc->first + reloc->cursor)))
			reloc->slots[reloc->count++] = to_ppn(reloc->first + reloc->cursor);
	aftl_gc_pace_count_relocated_pages(lun, reloc->count - before);
	if (reloc->kind == AFTL_RELOC_REBUILD)
		reloc_drop_lost(ftl, reloc);
}

/* Return true if ECC failed for the page that the task has read, and RAIN can reconstruct it. */
bool aftl_reloc_needs_reconstruct(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 page = aftl_page_number_in_device(&ftl->media, lun->reloc.from,
					      aftl_reloc_get_cursor_page(ftl, lun));
	u32 first = page * ftl->geo.page_units;
	u32 slot;

	if (!aftl_has_error_model(&ftl->media) ||
	    aftl_cell_ecc_never_fails(&ftl->cell, *aftl_page_attr_ptr(&ftl->media, page)))
		return false;
	for (slot = first; slot < first + ftl->geo.page_units; slot++) {
		struct aftl_errors errors;

		if (!aftl_ppn_is_valid(&ftl->media, to_ppn(slot)))
			continue;
		errors = aftl_cell_read_errors(&ftl->cell, to_ppn(slot), aftl_device_hour(ftl));
		if (errors.lost && aftl_stripe_reconstruct(ftl, to_ppn(slot), &errors))
			return true;
	}
	return false;
}

/* Drop pages that the host overwrote after they had been read. */
static void reloc_drop_invalid_pages(struct aftl *ftl, struct aftl_reloc *reloc)
{
	u32 kept = 0;
	u32 i;

	for (i = 0; i < reloc->count; i++)
		if (aftl_ppn_is_valid(&ftl->media, reloc->slots[i]))
			reloc->slots[kept++] = reloc->slots[i];
	reloc->count = kept;
}

/* Relocations by GC that make approximate data precise are counted as promotions. */
static bool does_gc_promote_page_to_precise(const struct aftl *ftl, const struct aftl_reloc *reloc,
					    aftl_ppn_t ppn)
{
	u16 attr = aftl_ppn_attr(&ftl->media, ppn);

	return reloc->cause == AFTL_CAUSE_GC && aftl_page_class(attr) != reloc->class;
}

static void reloc_fill_payload(struct aftl *ftl, struct aftl_reloc *reloc, u32 units,
			       struct aftl_payload *payload)
{
	payload->count = 0;
	payload->promoted = 0;
	payload->piggybacked = 0;
	payload->dropped = 0;
	while (payload->count < min(units, reloc->count)) {
		aftl_ppn_t ppn = reloc->slots[payload->count];

		payload->promoted += does_gc_promote_page_to_precise(ftl, reloc, ppn);
		aftl_payload_add_relocation(ftl, payload, ppn);
	}
	reloc->count -= payload->count;
	if (reloc->count)
		memmove(reloc->slots, reloc->slots + payload->count,
			reloc->count * sizeof(*reloc->slots));
}

static struct aftl_program_request reloc_make_program_request(const struct aftl *ftl,
							      const struct aftl_reloc *reloc,
							      aftl_lpn_t lpn, u32 units)
{
	return (struct aftl_program_request){
		.lpn = lpn,
		.units = units,
		.class = reloc->class,
		.stream = reloc->stream,
		.cause = reloc->cause,
		.from = reloc->from,
		.buffer_use = aftl_buffer_fill_level(ftl),
	};
}

/*
 * There is no free page for the task of @lun: cancel the task and mark the LUN as out of blocks; an
 * erase of a block without valid pages may still help it.
 *
 * Return: as aftl_reloc_program_gathered_pages().
 */
static int reloc_cancel_task_without_free_page(struct aftl *ftl, struct aftl_lun *lun)
{
	int ret = lun->out_of_blocks ? -ENOSPC : 0;

	lun->out_of_blocks = true;
	if (superblock_gc_is_active(ftl, lun)) {
		reloc_die_group(ftl, lun)->victim = AFTL_NIL;
		wake_luns_of_die_group(ftl, lun);
	}
	aftl_reloc_cancel_task(ftl, lun);
	return ret;
}

/*
 * Program the gathered pages of @lun's task. If there is no free page, cancel the task.
 *
 * Return: number of programmed pages; 0 if the caller shall select the next step, because no
 * gathered page is valid any more or the LUN has just run out of blocks; -ENOSPC if it was out of
 * blocks before.
 */
int aftl_reloc_program_gathered_pages(struct aftl *ftl, struct aftl_lun *lun,
				      struct aftl_placement *placement)
{
	struct aftl_reloc *reloc = &lun->reloc;
	struct aftl_program_request need;

	reloc_drop_invalid_pages(ftl, reloc);
	if (!reloc->count)
		return 0;
	need = reloc_make_program_request(ftl, reloc, aftl_ppn_lpn(&ftl->media, reloc->slots[0]),
					  min(reloc->count, ftl->program_units));
	if (aftl_program_place(ftl, lun, &need, placement))
		return reloc_cancel_task_without_free_page(ftl, lun);
	reloc_fill_payload(ftl, reloc, aftl_count_lpns_of_placement(ftl, placement),
			   &ftl->payload);
	aftl_program_commit(ftl, lun, &need, placement, &ftl->payload);
	return (int)ftl->payload.count;
}

/*
 * Program the page at the cursor, which the array has sensed, in another place. Steady GC spends
 * most of its time here, so the most frequent case does without a list of gathered pages.
 *
 * Return: as aftl_reloc_program_gathered_pages().
 */
int aftl_reloc_program_sensed_page(struct aftl *ftl, struct aftl_lun *lun,
				   struct aftl_placement *placement)
{
	struct aftl_reloc *reloc = &lun->reloc;
	aftl_ppn_t from = reloc_cursor_ppn(reloc);
	struct aftl_program_request need;
	void *record;

	if (unlikely(!ftl->plain_copyback || reloc->count || ftl->lost_units ||
		     !aftl_ppn_is_valid(&ftl->media, from))) {
		aftl_reloc_gather_pages(ftl, lun);
		return aftl_reloc_program_gathered_pages(ftl, lun, placement);
	}
	reloc->cursor++;
	aftl_gc_pace_count_relocated_pages(lun, 1);
	record = aftl_oob_entry(&ftl->media, from_ppn(from));
	need = reloc_make_program_request(ftl, reloc, aftl_lpn_word_lpn(*(aftl_lpn_t *)record), 1);
	if (aftl_program_place(ftl, lun, &need, placement))
		return reloc_cancel_task_without_free_page(ftl, lun);
	aftl_program_commit_copyback(ftl, lun, &need, placement, from, record);
	return 1;
}

/* Cancel the background task of @lun; gathered pages are still valid in their block. */
void aftl_reloc_cancel_task(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_reloc *reloc = &lun->reloc;

	aftl_fine_pending_drop_relocs(ftl, lun);
	if (ftl->geo.superblock_luns && lun->reconstruct.kind == AFTL_RECONSTRUCT_RELOC)
		aftl_reconstruct_cancel(ftl, lun);
	if (reloc->kind == AFTL_RELOC_EMPTY && reloc->erase && likely(!ftl->geo.superblock_luns))
		aftl_victim_list_add(ftl, lun, reloc->from);
	reloc->kind = AFTL_RELOC_NONE;
	reloc->count = 0;
}

void aftl_reloc_erase_done(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = lun->reloc.from;

	lun->reloc.kind = AFTL_RELOC_NONE;
	if (ftl->geo.superblock_luns) {
		aftl_superblock_gc_note_erased_member(ftl, lun);
		return;
	}
	lun->failing_blocks -= block->failing;
	aftl_commit_block_erase(ftl, lun, block);
}

/* Return @block's entry in the list of programs to repeat, or the end of the list. */
static struct aftl_repeat *reloc_find_repeat(struct aftl_lun *lun, const struct aftl_block *block)
{
	struct aftl_repeat *redo = lun->repeats;

	while (redo < lun->repeats + lun->repeat_blocks &&
	       (redo->block != block || redo->erases != block->erases))
		redo++;
	return redo;
}

/*
 * Record that the content of @placement must be programmed again. One entry for each block covers
 * the range of all its programs to be repeated. If there are more blocks than entries, the oldest
 * entry is dropped.
 */
static void reloc_note_program_to_be_repeated(struct aftl *ftl, struct aftl_lun *lun,
					      const struct aftl_placement *placement)
{
	u32 first = placement->page * ftl->geo.page_units;
	u32 end = first + aftl_count_lpns_of_placement(ftl, placement);
	struct aftl_repeat *redo = reloc_find_repeat(lun, placement->block);

	ftl->stats.counters.repeated_programs++;
	if (redo < lun->repeats + lun->repeat_blocks) {
		redo->begin = min(redo->begin, first);
		redo->end = max(redo->end, end);
		return;
	}
	if (lun->repeat_blocks == AFTL_REPEAT_BLOCKS)
		reloc_pop_repeat(lun);
	lun->repeats[lun->repeat_blocks++] = (struct aftl_repeat){
		.block = placement->block,
		.erases = placement->block->erases,
		.begin = first,
		.end = end,
	};
}

/* Ask the policy whether a completed program has to be repeated. */
void aftl_reloc_program_done(struct aftl *ftl, struct aftl_lun *lun,
			     const struct aftl_placement *placement)
{
	if (ftl->type->programmed && placement->mode != AFTL_MODE_FOGGY && !ftl->geo.zones &&
	    !placement->block->parity &&
	    ftl->type->programmed(ftl->policy, lun, placement, &lun->outcome))
		reloc_note_program_to_be_repeated(ftl, lun, placement);
}

/* Return true if @lun, which is idle, may have SLC blocks to fold or an idle task of the policy. */
bool aftl_idle_task_is_wanted(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return ((ftl->type->idle_task && !ftl->geo.zones) || lun->slc_blocks) &&
	       !lun->idle_exhausted && lun->reloc.kind == AFTL_RELOC_NONE;
}

static void start_lpn_rewrite_for_policy(struct aftl *ftl, struct aftl_lun *lun, aftl_lpn_t lpn)
{
	struct aftl_block *block;
	aftl_ppn_t ppn;

	if (aftl_gc_is_urgent(ftl, lun) || from_lpn(lpn) >= ftl->geo.units ||
	    !aftl_l2p_lookup(ftl, lpn, &ppn))
		return;
	block = aftl_block_of_ppn(&ftl->media, ppn);
	if (aftl_block_lun(ftl, block) != lun)
		return;
	reloc_begin_task(ftl, lun, AFTL_RELOC_REWRITE, AFTL_CAUSE_REWRITE, block);
	lun->reloc.begin = from_ppn(ppn) % ftl->geo.block_ppns;
	lun->reloc.cursor = lun->reloc.begin;
	lun->reloc.end = lun->reloc.begin + 1;
}

static void reloc_start_moving_pages_for_policy(struct aftl *ftl, struct aftl_lun *lun,
						const struct aftl_idle_task *task)
{
	if (task->page >= ftl->geo.pages || task->pages > ftl->geo.pages - task->page)
		return;
	reloc_begin_task(ftl, lun, AFTL_RELOC_REWRITE, AFTL_CAUSE_REWRITE, task->block);
	lun->reloc.begin = task->page * ftl->geo.page_units;
	lun->reloc.cursor = lun->reloc.begin;
	lun->reloc.end = lun->reloc.begin + task->pages * ftl->geo.page_units;
}

/* Return true if the policy may relocate data of @block: one of @lun's open or closed blocks. */
static bool block_has_relocatable_data(struct aftl *ftl, const struct aftl_lun *lun,
				       const struct aftl_block *block)
{
	return block && aftl_block_lun(ftl, block) == lun &&
	       (block->state == AFTL_BLOCK_CLOSED || block->state == AFTL_BLOCK_OPEN);
}

static bool reloc_start_slc_fold_in_idle_time(struct aftl *ftl, struct aftl_lun *lun)
{
	if (aftl_gc_is_urgent(ftl, lun) ||
	    !reloc_start_slc_fold(ftl, lun, aftl_slc_cache_select_fold(ftl, lun)))
		return false;
	ftl->stats.counters.fold_idle_blocks++;
	return true;
}

/* Start an idle-time task: fold the SLC cache, or do what the policy asks for. */
void aftl_reloc_start_idle_task(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_idle_task task = { .kind = AFTL_IDLE_TASK_NONE };

	if (!aftl_idle_task_is_wanted(ftl, lun) || reloc_start_slc_fold_in_idle_time(ftl, lun))
		return;
	if (ftl->type->idle_task && !ftl->geo.zones)
		ftl->type->idle_task(ftl->policy, lun, &task);
	if (task.kind == AFTL_IDLE_TASK_REWRITE)
		start_lpn_rewrite_for_policy(ftl, lun, task.lpn);
	else if (task.kind == AFTL_IDLE_TASK_EMPTY &&
		 block_has_relocatable_data(ftl, lun, task.block))
		reloc_start_emptying_block_or_superblock(ftl, lun, AFTL_CAUSE_GC, task.block);
	else if (task.kind == AFTL_IDLE_TASK_RELOCATE &&
		 block_has_relocatable_data(ftl, lun, task.block))
		reloc_start_moving_pages_for_policy(ftl, lun, &task);
	lun->idle_exhausted = lun->reloc.kind == AFTL_RELOC_NONE;
}
