// SPDX-License-Identifier: GPL-2.0-only
/*
 * Background work of a LUN: garbage collection, wear levelling, refresh, retiring
 * bad blocks and what a policy wants rewritten. All of them are one thing: walk
 * over slots, read valid ones, program them elsewhere, perhaps erase the block.
 *
 * This file decides what comes next; the scheduler gives it time, fill.c does without.
 */
#include "core/ftl/device.h"

/* Erases of a LUN between two looks at the spread of its erase counts. */
#define WEAR_PERIOD 64

static void begin(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 cause,
		  struct aftl_block *from)
{
	lun->job.kind = kind;
	lun->job.cause = cause;
	lun->job.pass = 0;
	lun->job.begun = false;
	lun->job.erase = false;
	lun->job.from = from;
	lun->job.begin = 0;
	lun->job.cursor = 0;
	lun->job.end = ftl->geo.block_slots;
	lun->job.count = 0;
}

/* Move everything valid out of @block, erase it if it is closed. */
static void begin_empty(struct aftl *ftl, struct aftl_lun *lun, u32 cause,
			struct aftl_block *block)
{
	begin(ftl, lun, AFTL_JOB_EMPTY, cause, block);
	lun->job.erase = block->state == AFTL_BLOCK_CLOSED;
	aftl_gc_pace_begin(ftl, lun);
	if (block->listed && likely(!ftl->geo.super_luns))
		aftl_supply_unlist(ftl, lun, block);
}

static struct aftl_group *group_of(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return &ftl->groups[aftl_group_of(ftl, lun)];
}

static bool collects(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.super_luns) && group_of(ftl, lun)->victim != AFTL_NIL;
}

static void begin_rebuild(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	begin(ftl, lun, AFTL_JOB_REBUILD, AFTL_CAUSE_REBUILD, block);
	lun->job.erase = true;
}

/* What others wait for is over: now all can be erased. */
static void wake_group(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++)
		aftl_wake(ftl, aftl_member(ftl, aftl_group_of(ftl, lun), i));
}

/* The last free blocks are for moves that make others free. */
static bool has_spare(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks > aftl_reserve(ftl) + 1;
}

static bool pick_orphan(struct aftl *ftl, struct aftl_lun *lun, bool idle)
{
	struct aftl_block *block;

	if (lun->stuck || (idle && !has_spare(ftl, lun)))
		return false;
	block = aftl_group_orphan(ftl, lun, idle);
	if (block)
		begin_rebuild(ftl, lun, block);
	return block;
}

/* Its share in the superblock that is collected. */
static bool pick_share(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = aftl_group_member(ftl, lun);

	if (block) {
		begin_empty(ftl, lun, group_of(ftl, lun)->cause, block);
		lun->job.erase = true;
		return true;
	}
	return pick_orphan(ftl, lun, false);
}

/* Empty a closed block, or the superblock that it is part of. */
static bool start_empty(struct aftl *ftl, struct aftl_lun *lun, u32 cause,
			struct aftl_block *block)
{
	if (likely(!ftl->geo.super_luns)) {
		begin_empty(ftl, lun, cause, block);
		return true;
	}
	return aftl_group_empty(ftl, block, cause) && pick_share(ftl, lun);
}

/* Oldest first. */
static struct aftl_redo take_redo(struct aftl_lun *lun)
{
	struct aftl_redo first = lun->redo[0];

	lun->redo_blocks--;
	memmove(lun->redo, lun->redo + 1, lun->redo_blocks * sizeof(first));
	return first;
}

static bool pick_redo(struct aftl *ftl, struct aftl_lun *lun)
{
	while (aftl_may_redo(ftl, lun)) {
		struct aftl_redo redo = take_redo(lun);

		if (redo.block->erases != redo.erases)
			continue;
		begin(ftl, lun, AFTL_JOB_REDO, AFTL_CAUSE_REWRITE, redo.block);
		lun->job.begin = redo.begin;
		lun->job.cursor = redo.begin;
		lun->job.end = redo.end;
		return true;
	}
	return false;
}

static struct aftl_block *lun_block(struct aftl *ftl, const struct aftl_lun *lun, u32 i)
{
	return &ftl->media.blocks[lun->index * ftl->geo.blocks_per_lun + i];
}

static bool pick_failing(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	if (!lun->failing_blocks)
		return false;
	for (i = 0; i < ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = lun_block(ftl, lun, i);

		if (block->failing && (block->state == AFTL_BLOCK_CLOSED || block->parity) &&
		    !((lun->stuck || lun->cramped) && block->valid) &&
		    start_empty(ftl, lun, AFTL_CAUSE_RETIRE, block))
			return true;
	}
	return false;
}

static bool fold(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (!block)
		return false;
	begin_empty(ftl, lun, AFTL_CAUSE_FOLD, block);
	ftl->stats.counters.fold_blocks++;
	return true;
}

/* Of zones nothing is collected: what was reset is erased, as soon as there is time. */
static bool pick_reset(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = aftl_supply_fewest(ftl, lun);

	lun->collect = 0;
	if (!block || block->valid)
		return false;
	begin_empty(ftl, lun, AFTL_CAUSE_GC, block);
	return true;
}

/* Does it lack only a block to rebuild what a dead LUN has left? */
static bool lacks_block(struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.super_luns) && !has_spare(ftl, lun) && !lun->stuck &&
	       !lun->cramped && aftl_group_orphan(ftl, lun, true);
}

static bool pick_superblock(struct aftl *ftl, struct aftl_lun *lun, u32 limit)
{
	if (!aftl_group_collect(ftl, lun, AFTL_CAUSE_GC, limit)) {
		lun->collect = 0;
		return false;
	}
	lun->collect -= lun->collect != 0;
	return pick_share(ftl, lun);
}

/* Collect a block, or a superblock, that has at most @limit valid slots in each. */
static bool collect(struct aftl *ftl, struct aftl_lun *lun, u32 limit)
{
	struct aftl_block *victim;

	if (unlikely(ftl->geo.super_luns))
		return pick_superblock(ftl, lun, limit);
	victim = aftl_supply_victim(ftl, lun, limit);
	if (!victim) {
		lun->collect = 0;
		return false;
	}
	lun->collect -= lun->collect != 0;
	begin_empty(ftl, lun, AFTL_CAUSE_GC, victim);
	ftl->stats.counters.gc_blocks++;
	ftl->stats.counters.gc_valid_units += victim->valid;
	ftl->stats.counters.gc_empty_blocks += !victim->valid;
	return true;
}

static bool pick_victim(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	u32 limit = urgent ? ftl->gc_most_valid : ftl->gc_idle_valid;

	if (unlikely(ftl->geo.zones))
		return pick_reset(ftl, lun);
	if (fold(ftl, lun, aftl_cache_press(ftl, lun, urgent))) {
		lun->collect -= lun->collect != 0;
		return true;
	}
	if (!urgent && !aftl_short(ftl, lun) && !lun->collect && !lacks_block(ftl, lun))
		return false;
	return collect(ftl, lun, lun->stuck ? 0 : limit);
}

/* The closed block with the fewest erases, if others are too far ahead of it. */
static struct aftl_block *laggard(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *least = NULL;
	u32 most = 0;
	u32 i;

	for (i = 0; i < ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = lun_block(ftl, lun, i);

		if (block->state == AFTL_BLOCK_BAD)
			continue;
		most = max(most, block->erases);
		if (block->state == AFTL_BLOCK_CLOSED && (!least || block->erases < least->erases))
			least = block;
	}
	return least && most - least->erases > ftl->config.wear_gap ? least : NULL;
}

static bool pick_wear(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block;

	if (!ftl->config.wear_gap || lun->wear_due < WEAR_PERIOD ||
	    lun->free_blocks < aftl_reserve(ftl))
		return false;
	lun->wear_due = 0;
	block = laggard(ftl, lun);
	if (!block || !start_empty(ftl, lun, AFTL_CAUSE_WEAR, block))
		return false;
	ftl->stats.counters.wear_blocks++;
	return true;
}

/*
 * aftl_job_collect() - begin paced collection in @lun, which has no job
 *
 * Blocks that fail, and cold data where wear is uneven, have their turn as in emergencies.
 *
 * Return: whether there is a block to empty.
 */
bool aftl_job_collect(struct aftl *ftl, struct aftl_lun *lun)
{
	if (collects(ftl, lun))
		return pick_share(ftl, lun);
	return pick_failing(ftl, lun) || pick_wear(ftl, lun) ||
	       collect(ftl, lun, ftl->gc_most_valid);
}

static bool pick_refresh(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = aftl_refresh_take(ftl, lun);

	if (!block)
		return false;
	begin(ftl, lun, AFTL_JOB_REFRESH, AFTL_CAUSE_REFRESH, block);
	ftl->stats.counters.refresh_blocks++;
	return true;
}

/* Reads have disturbed its data as much as they may. */
static bool pick_disturbed(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = lun->disturbed;

	if (likely(!block) || lun->free_blocks < aftl_reserve(ftl))
		return false;
	lun->disturbed = NULL;
	if (block->state != AFTL_BLOCK_CLOSED || block->reads < ftl->most_reads)
		return false;
	if (!start_empty(ftl, lun, AFTL_CAUSE_REFRESH, block))
		return false;
	ftl->stats.counters.disturbed_blocks++;
	return true;
}

static bool pick_own(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	if (pick_failing(ftl, lun))
		return true;
	if (lun->stuck || lun->cramped)
		return pick_victim(ftl, lun, urgent);
	return pick_redo(ftl, lun) || pick_wear(ftl, lun) || pick_victim(ftl, lun, urgent) ||
	       (!urgent && (pick_disturbed(ftl, lun) || pick_refresh(ftl, lun)));
}

/* The group's superblock first, then what is the LUN's own, and what a dead one has left. */
static noinline bool pick_in_group(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	if (collects(ftl, lun))
		return pick_share(ftl, lun) || pick_redo(ftl, lun);
	return pick_own(ftl, lun, urgent) ||
	       (!urgent && !lun->stuck && !lun->cramped &&
		pick_orphan(ftl, lun, true));
}

static bool pick(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	if (unlikely(ftl->geo.super_luns))
		return pick_in_group(ftl, lun, urgent);
	return pick_own(ftl, lun, urgent);
}

/* First valid slot of the job's block at or after its cursor. */
static bool seek_valid(const struct aftl *ftl, struct aftl_job *job)
{
	u32 first = aftl_block_index(&ftl->media, job->from) * ftl->geo.block_slots;
	u32 slot = first + job->cursor;
	u32 end = first + job->end;

	while (slot < end) {
		u64 word = ftl->media.valid[slot / 64] >> (slot % 64);

		if (word & 1)
			break;
		slot = word ? slot + fls64(word & -word) - 1 : (slot / 64 + 1) * 64;
	}
	job->cursor = min(slot, end) - first;
	return slot < end;
}

u32 aftl_job_page(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->job.cursor / ftl->geo.page_units;
}

/*
 * Room for moves is kept for one stream in each pass, and for no more passes than the policy
 * has named. One that mixed them, or left something behind, is not asked again: all that is
 * valid goes as one stream then.
 */
static void ask_no_more(struct aftl *ftl)
{
	ftl->stats.counters.policy_bugs += !ftl->copies_alone;
	ftl->copies_alone = true;
}

static aftl_slot_t under_cursor(const struct aftl *ftl, const struct aftl_job *job)
{
	u32 first = from_slot(aftl_page_slot(&ftl->media, job->from, 0));

	return to_slot(first + job->cursor);
}

/* Of a job that does not empty its block: does it want this page, and as what? */
static noinline bool is_due(struct aftl *ftl, const struct aftl_job *job, u32 page, u32 *class)
{
	if (job->kind == AFTL_JOB_REBUILD)
		return aftl_stripe_has(ftl, under_cursor(ftl, job));
	if (job->kind != AFTL_JOB_REFRESH)
		return true;
	*class = AFTL_PRECISE;
	return aftl_refresh_due(ftl, job->from, page);
}

static bool wants_page(struct aftl *ftl, struct aftl_lun *lun, u32 *class, u32 *stream)
{
	struct aftl_job *job = &lun->job;
	u32 page = aftl_job_page(ftl, lun);
	u16 attr = aftl_attr(&ftl->media, job->from, page);
	struct aftl_move move = {
		.from = job->from,
		.page = page,
		.class = aftl_page_class(attr),
		.mode = aftl_page_mode(attr),
		.cause = job->cause,
		.bad = aftl_page_overshot(attr),
		.pass = job->pass,
	};
	bool wanted = ftl->type->copy || move.class == job->pass;
	u32 kept = aftl_handle_keeps(ftl, job->from);

	*class = move.class;
	*stream = 0;
	if (unlikely(job->kind != AFTL_JOB_EMPTY) && !is_due(ftl, job, page, class))
		return false;
	/* The pass after the last takes what is left behind. */
	if (job->pass == ftl->copy_passes || ftl->copies_alone)
		wanted = true;
	else if (unlikely(kept))
		wanted = ftl->copy_passes < AFTL_CLASSES || move.class == job->pass;
	else if (ftl->type->copy)
		wanted = ftl->type->copy(ftl->policy, &move, class, stream);
	*stream = unlikely(kept) ? kept : aftl_named_stream(ftl, *stream);
	if (move.class == AFTL_PRECISE || *class != AFTL_APPROX ||
	    (ftl->type->copy && ftl->type->ignores_tags) ||
	    (unlikely(kept) && ftl->copy_passes < AFTL_CLASSES) ||
	    (ftl->copies_alone && !job->from->approx_only))
		*class = AFTL_PRECISE;
	return wanted;
}

static void skip_page(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->job.cursor = (aftl_job_page(ftl, lun) + 1) * ftl->geo.page_units;
}

static bool seek_page(struct aftl *ftl, struct aftl_lun *lun, u32 *class, u32 *stream)
{
	while (seek_valid(ftl, &lun->job)) {
		if (wants_page(ftl, lun, class, stream))
			return true;
		skip_page(ftl, lun);
	}
	return false;
}

static bool next_pass(struct aftl *ftl, struct aftl_job *job)
{
	job->cursor = job->begin;
	job->begun = false;
	job->pass++;
	if (job->pass < ftl->copy_passes)
		return true;
	if (job->pass > ftl->copy_passes || !job->erase || !job->from->valid)
		return false;
	if (ftl->type->copy && likely(job->kind != AFTL_JOB_REBUILD))
		ask_no_more(ftl);
	return true;
}

/* Is a page of this stream the second stream of a pass? */
static bool mixes(const struct aftl *ftl, const struct aftl_job *job, u32 class, u32 stream)
{
	return job->begun && !ftl->copies_alone && ftl->type->copy &&
	       (class != job->class || stream != job->stream);
}

/*
 * A page at a time can stay in the LUN's registers; larger programs are gathered, and what is
 * part of a stripe goes by way of its parity, in the controller.
 */
static enum aftl_step read_step(const struct aftl *ftl)
{
	return ftl->program_units == 1 && !ftl->config.rain ? AFTL_STEP_COPY : AFTL_STEP_READ;
}

/* Nothing is left in its block, or nothing that it can do something about. */
static enum aftl_step last_step(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_job *job = &lun->job;

	if (likely(!ftl->geo.super_luns))
		return job->erase ? AFTL_STEP_ERASE : AFTL_STEP_NONE;
	if (job->kind == AFTL_JOB_REBUILD)
		aftl_group_rebuilt(ftl, job->from);
	if (!job->erase || !collects(ftl, lun) ||
	    !aftl_group_emptied(ftl, aftl_group_of(ftl, lun)))
		return AFTL_STEP_NONE;
	if (!group_of(ftl, lun)->erased)
		wake_group(ftl, lun);
	return aftl_group_member(ftl, lun) == job->from ? AFTL_STEP_ERASE : AFTL_STEP_NONE;
}

static enum aftl_step go_on(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_job *job = &lun->job;
	u32 class;
	u32 stream;

	for (;;) {
		if (job->count >= ftl->program_units)
			return AFTL_STEP_PROGRAM;
		if (seek_page(ftl, lun, &class, &stream)) {
			if (likely(!mixes(ftl, job, class, stream)))
				break;
			ask_no_more(ftl);
			continue;
		}
		if (job->count)
			return AFTL_STEP_PROGRAM;
		if (unlikely(lun->held_moves))
			return AFTL_STEP_FINISH;
		if (!next_pass(ftl, job))
			return last_step(ftl, lun);
	}
	if (job->count && (class != job->class || stream != job->stream))
		return AFTL_STEP_PROGRAM;
	job->class = class;
	job->stream = stream;
	job->begun = true;
	return read_step(ftl);
}

/*
 * aftl_job_next() - what the array should do for the job of @lun, if anything
 * @urgent: host writes cannot go on without free blocks
 */
enum aftl_step aftl_job_next(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	enum aftl_step step;

	for (;;) {
		if (lun->job.kind == AFTL_JOB_NONE && !pick(ftl, lun, urgent))
			return AFTL_STEP_NONE;
		step = go_on(ftl, lun);
		if (step != AFTL_STEP_NONE)
			return step;
		lun->job.kind = AFTL_JOB_NONE;
	}
}

/* What its stripe does not tell stays where it is. */
static noinline void drop_lost(const struct aftl *ftl, struct aftl_job *job)
{
	u32 kept = 0;
	u32 i;

	for (i = 0; i < job->count; i++)
		if (aftl_stripe_has(ftl, job->slots[i]))
			job->slots[kept++] = job->slots[i];
	job->count = kept;
}

/*
 * aftl_job_gather() - the page under the cursor has been read
 */
void aftl_job_gather(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_job *job = &lun->job;
	u32 first = from_slot(aftl_page_slot(&ftl->media, job->from, 0));
	u32 end = min((aftl_job_page(ftl, lun) + 1) * ftl->geo.page_units, job->end);
	u32 before = job->count;

	for (; job->cursor < end; job->cursor++)
		if (aftl_slot_valid(&ftl->media, to_slot(first + job->cursor)))
			job->slots[job->count++] = to_slot(first + job->cursor);
	aftl_gc_pace_spend(lun, job->count - before);
	if (unlikely(job->kind == AFTL_JOB_REBUILD))
		drop_lost(ftl, job);
}

/*
 * aftl_job_needs_stripe() - has ECC failed with what was read, and can its stripe help?
 */
bool aftl_job_needs_stripe(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 page = aftl_device_page(&ftl->media, lun->job.from, aftl_job_page(ftl, lun));
	u32 first = page * ftl->geo.page_units;
	u32 slot;

	if (!aftl_has_origins(&ftl->media) ||
	    aftl_cell_harmless(&ftl->cell, *aftl_attr_at(&ftl->media, page)))
		return false;
	for (slot = first; slot < first + ftl->geo.page_units; slot++) {
		struct aftl_errors errors;

		if (!aftl_slot_valid(&ftl->media, to_slot(slot)))
			continue;
		errors = aftl_cell_read(&ftl->cell, to_slot(slot), aftl_hour(ftl));
		if (errors.lost && aftl_stripe_mends(ftl, to_slot(slot), &errors))
			return true;
	}
	return false;
}

/* Drop what the host overwrote after it was read. */
static void filter_gathered(struct aftl *ftl, struct aftl_job *job)
{
	u32 kept = 0;
	u32 i;

	for (i = 0; i < job->count; i++)
		if (aftl_slot_valid(&ftl->media, job->slots[i]))
			job->slots[kept++] = job->slots[i];
	job->count = kept;
}

/* Garbage collection that makes data precise counts as promotion. */
static bool is_promoted(const struct aftl *ftl, const struct aftl_job *job, aftl_slot_t slot)
{
	u16 attr = aftl_slot_attr(&ftl->media, slot);

	return job->cause == AFTL_CAUSE_GC && aftl_page_class(attr) != job->class;
}

static void take_gathered(struct aftl *ftl, struct aftl_job *job, u32 units,
			  struct aftl_payload *payload)
{
	payload->count = 0;
	payload->promoted = 0;
	payload->carried = 0;
	payload->dropped = 0;
	while (payload->count < min(units, job->count)) {
		aftl_slot_t slot = job->slots[payload->count];

		payload->promoted += is_promoted(ftl, job, slot);
		aftl_program_move(ftl, payload, slot);
	}
	job->count -= payload->count;
	memmove(job->slots, job->slots + payload->count, job->count * sizeof(*job->slots));
}

/*
 * aftl_job_commit() - program gathered slots in another place
 *
 * No place ends the job; but where rules name blocks with valid data first there may be one
 * without, which takes no place to be erased.
 *
 * Return: the units programmed; 0 if none is valid any more, or the LUN has just become stuck: what
 * is next is to be asked; -ENOSPC if there is no place, and it was stuck before.
 */
int aftl_job_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_placement *placement)
{
	struct aftl_job *job = &lun->job;
	struct aftl_payload payload;
	struct aftl_need need;
	int ret;

	filter_gathered(ftl, job);
	if (!job->count)
		return 0;
	need = (struct aftl_need){
		.unit = aftl_unit_at(&ftl->media, job->slots[0]),
		.units = min(job->count, ftl->program_units),
		.class = job->class,
		.stream = job->stream,
		.cause = job->cause,
		.from = job->from,
		.buffer_use = aftl_buffer_use(ftl),
	};
	if (aftl_program_place(ftl, lun, &need, placement)) {
		ret = lun->stuck ? -ENOSPC : 0;
		lun->stuck = true;
		if (collects(ftl, lun)) {
			group_of(ftl, lun)->victim = AFTL_NIL;
			wake_group(ftl, lun);
		}
		aftl_job_drop(ftl, lun);
		return ret;
	}
	take_gathered(ftl, job, aftl_placement_units(ftl, placement), &payload);
	aftl_program_commit(ftl, lun, &need, placement, &payload);
	return (int)payload.count;
}

/*
 * aftl_job_drop() - give the job up; what it has read is still where it was
 */
void aftl_job_drop(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_job *job = &lun->job;

	aftl_held_drop_moves(ftl, lun);
	if (unlikely(ftl->geo.super_luns) && lun->repair.kind == AFTL_REPAIR_JOB)
		aftl_repair_drop(ftl, lun);
	if (job->kind == AFTL_JOB_EMPTY && job->erase && likely(!ftl->geo.super_luns))
		aftl_supply_list(ftl, lun, job->from);
	job->kind = AFTL_JOB_NONE;
	job->count = 0;
}

void aftl_job_erased(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block = lun->job.from;

	lun->job.kind = AFTL_JOB_NONE;
	if (unlikely(ftl->geo.super_luns)) {
		aftl_group_erased(ftl, lun);
		return;
	}
	lun->failing_blocks -= block->failing;
	aftl_erase_commit(ftl, lun, block);
}

/* Entry of a block, or one past the last. */
static struct aftl_redo *find_redo(struct aftl_lun *lun, const struct aftl_block *block)
{
	struct aftl_redo *redo = lun->redo;

	while (redo < lun->redo + lun->redo_blocks &&
	       (redo->block != block || redo->erases != block->erases))
		redo++;
	return redo;
}

/*
 * The content of @placement has to be programmed once more
 *
 * What lies between two such programs of a block is moved along. A job that is under way
 * can add some more before the first is picked; should they ever be in more blocks than
 * there is room for, the oldest is given up.
 */
static void add_redo(struct aftl *ftl, struct aftl_lun *lun,
		     const struct aftl_placement *placement)
{
	u32 first = placement->page * ftl->geo.page_units;
	u32 end = first + aftl_placement_units(ftl, placement);
	struct aftl_redo *redo = find_redo(lun, placement->block);

	ftl->stats.counters.repeated_programs++;
	if (redo < lun->redo + lun->redo_blocks) {
		redo->begin = min(redo->begin, first);
		redo->end = max(redo->end, end);
		return;
	}
	if (lun->redo_blocks == AFTL_REDO_BLOCKS)
		take_redo(lun);
	lun->redo[lun->redo_blocks++] = (struct aftl_redo){
		.block = placement->block,
		.erases = placement->block->erases,
		.begin = first,
		.end = end,
	};
}

/*
 * aftl_job_programmed() - a program is over: the policy may want its content once more
 */
void aftl_job_programmed(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement)
{
	if (ftl->type->programmed && placement->mode != AFTL_MODE_FOGGY && !ftl->geo.zones &&
	    !placement->block->parity &&
	    ftl->type->programmed(ftl->policy, lun, placement, &lun->outcome))
		add_redo(ftl, lun, placement);
}

/*
 * aftl_job_wanted() - should this idle LUN wake up to be offered to the policy?
 */
bool aftl_job_wanted(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return (ftl->type->chore || lun->cached) && !ftl->geo.zones && !lun->chores &&
	       lun->job.kind == AFTL_JOB_NONE;
}

/* The last free blocks are for moves that make others free. */
static void begin_rewrite(struct aftl *ftl, struct aftl_lun *lun, aftl_unit_t unit)
{
	struct aftl_block *block;
	aftl_slot_t slot;

	if (aftl_urgent(ftl, lun) || from_unit(unit) >= ftl->geo.units ||
	    !aftl_map_get(ftl, unit, &slot))
		return;
	block = aftl_slot_block(&ftl->media, slot);
	if (aftl_block_lun(ftl, block) != lun)
		return;
	begin(ftl, lun, AFTL_JOB_REWRITE, AFTL_CAUSE_REWRITE, block);
	lun->job.begin = from_slot(slot) % ftl->geo.block_slots;
	lun->job.cursor = lun->job.begin;
	lun->job.end = lun->job.begin + 1;
}

static void begin_move(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_chore *chore)
{
	if (chore->page >= ftl->geo.pages || chore->pages > ftl->geo.pages - chore->page)
		return;
	begin(ftl, lun, AFTL_JOB_REWRITE, AFTL_CAUSE_REWRITE, chore->block);
	lun->job.begin = chore->page * ftl->geo.page_units;
	lun->job.cursor = lun->job.begin;
	lun->job.end = lun->job.begin + chore->pages * ftl->geo.page_units;
}

/* Data may be moved out of it. */
static bool has_data(struct aftl *ftl, const struct aftl_lun *lun,
		     const struct aftl_block *block)
{
	return block && aftl_block_lun(ftl, block) == lun &&
	       (block->state == AFTL_BLOCK_CLOSED || block->state == AFTL_BLOCK_OPEN);
}

/* The last free blocks are for moves that make others free. */
static bool fold_idly(struct aftl *ftl, struct aftl_lun *lun)
{
	if (aftl_urgent(ftl, lun) || !fold(ftl, lun, aftl_cache_fold(ftl, lun)))
		return false;
	ftl->stats.counters.fold_idle_blocks++;
	return true;
}

/*
 * aftl_job_offer() - the LUN is idle: the cache is folded, or the policy finds something to do
 */
void aftl_job_offer(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_chore chore = { .kind = AFTL_CHORE_NONE };

	if (!aftl_job_wanted(ftl, lun) || fold_idly(ftl, lun))
		return;
	if (ftl->type->chore)
		ftl->type->chore(ftl->policy, lun, &chore);
	if (chore.kind == AFTL_CHORE_REWRITE)
		begin_rewrite(ftl, lun, chore.unit);
	else if (chore.kind == AFTL_CHORE_EMPTY && has_data(ftl, lun, chore.block))
		start_empty(ftl, lun, AFTL_CAUSE_GC, chore.block);
	else if (chore.kind == AFTL_CHORE_MOVE && has_data(ftl, lun, chore.block))
		begin_move(ftl, lun, &chore);
	lun->chores = lun->job.kind == AFTL_JOB_NONE;
}
