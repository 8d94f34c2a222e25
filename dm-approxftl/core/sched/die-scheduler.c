// SPDX-License-Identifier: GPL-2.0-only
/*
 * The die scheduler: which operation the array of each LUN runs next. Whatever concerns a LUN marks
 * it as runnable; core/hif/dispatch.c then lets the scheduler look at each runnable LUN before the
 * host's call returns. A free array starts, in this order: host reads, the suspended operation,
 * read-ahead, writes of translation pages and parity, urgent relocation, host writes, reads for
 * others' background tasks, its own background task.
 */
#include "core/ftl/controller.h"
#include "core/ftl/fine-pass.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/flash-array.h"
#include "core/ftl/gc-pace.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"
#include "core/ftl/program.h"
#include "core/ftl/relocation.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/superblock.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/write-buffer.h"
#include "core/sched/die-read.h"
#include "core/sched/die-scheduler.h"
#include "core/sched/die-write.h"
#include "core/sched/stripe-read.h"

/**
 * aftl_wake_luns_with_writes() - let the scheduler look at every LUN that holds buffered writes
 * @ftl: device
 *
 * For a flush, a full buffer or a drain: the scheduler then programs partial pages, too.
 */
void aftl_wake_luns_with_writes(struct aftl *ftl)
{
	if (aftl_has_write_buffer(ftl))
		aftl_wake_idle_luns_or_luns_with_writes(ftl, AFTL_WAKE_WRITES);
}

static bool sched_start_pad_program(struct aftl *ftl, struct aftl_lun *lun, bool moves)
{
	struct aftl_placement placement;

	if (!aftl_commit_coarse_pass_of_padding(ftl, lun, moves, &placement))
		return false;
	lun->work.commands = AFTL_NIL;
	aftl_array_program(ftl, lun, moves ? AFTL_WORK_RELOC_PROGRAM : AFTL_WORK_PROGRAM,
			   &placement);
	return true;
}

/* Start a fine pass that is due; it precedes every other program of the LUN. */
static bool sched_start_fine_pass(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	struct aftl_fine_pending *held = aftl_fine_pass_get_due(ftl, lun, &placement);
	u32 kind = AFTL_WORK_PROGRAM;

	if (!held)
		return false;
	if (held->need.cause == AFTL_CAUSE_MAP)
		kind = AFTL_WORK_TP_PROGRAM;
	else if (aftl_is_pending_fine_pass_of_relocation(held))
		kind = AFTL_WORK_RELOC_PROGRAM;
	aftl_write_start_fine_pass(ftl, lun, held);
	aftl_fine_pass_commit(ftl, lun, held, &placement);
	aftl_array_program(ftl, lun, kind, &placement);
	return true;
}

static bool sched_start_fine_or_padding_pass(struct aftl *ftl, struct aftl_lun *lun, u32 lane,
					     u64 *retry_ns)
{
	if (sched_start_fine_pass(ftl, lun))
		return true;
	return aftl_write_needs_padding(ftl, lun, lane, retry_ns) &&
	       sched_start_pad_program(ftl, lun, false);
}

/*
 * Program the gathered pages of the background task. Return: number of programmed pages; 0 if there
 * was none to program and the task goes on; -ENOSPC as aftl_reloc_program_gathered_pages().
 */
static int sched_start_program_of_background_task(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	int units = aftl_reloc_program_gathered_pages(ftl, lun, &placement);

	if (units > 0)
		aftl_array_program(ftl, lun, AFTL_WORK_RELOC_PROGRAM, &placement);
	return units;
}

/* Read the next page of a background task; a page of a dead LUN is read by reconstruction. */
static void sched_start_read_of_background_task(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 page = aftl_reloc_get_cursor_page(ftl, lun);

	if (likely(lun->reloc.kind != AFTL_RELOC_REBUILD)) {
		aftl_array_sense_reloc_page(ftl, lun, AFTL_WORK_RELOC_READ, ftl->geo.page_units);
		return;
	}
	aftl_reconstruct_begin(ftl, lun, AFTL_RECONSTRUCT_RELOC,
			       aftl_page_number_in_device(&ftl->media, lun->reloc.from, page));
	aftl_reconstruct_finish_if_complete(ftl, lun);
}

static bool sched_start_background_task(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	int units;

	if (lun->reconstruct.kind)
		return false;
	for (;;) {
		switch (aftl_reloc_next_step(ftl, lun, urgent)) {
		case AFTL_STEP_NONE:
			/* A block that superblock GC closed early may have fine passes left. */
			return ftl->foggy_blocks && sched_start_fine_pass(ftl, lun);
		case AFTL_STEP_COPY:
			aftl_array_sense_reloc_page(ftl, lun, AFTL_WORK_RELOC_COPY, 0);
			return true;
		case AFTL_STEP_READ:
			sched_start_read_of_background_task(ftl, lun);
			if (likely(lun->reloc.kind != AFTL_RELOC_REBUILD))
				return true;
			if (lun->reconstruct.kind)
				return false;
			break;
		case AFTL_STEP_PROGRAM:
			units = sched_start_program_of_background_task(ftl, lun);
			if (units)
				return units > 0;
			break;
		case AFTL_STEP_FINISH:
			return sched_start_pad_program(ftl, lun, true);
		case AFTL_STEP_ERASE:
			aftl_array_erase(ftl, lun);
			return true;
		}
	}
}

static noinline bool sched_start_paced_gc(struct aftl *ftl, struct aftl_lun *lun)
{
	if (!aftl_paced_gc_is_due(ftl, lun))
		return false;
	if (lun->reloc.kind == AFTL_RELOC_NONE && !aftl_reloc_start_gc(ftl, lun))
		return false;
	if (!sched_start_background_task(ftl, lun, true))
		return false;
	ftl->stats.counters.gc_paced_steps++;
	lun->margin.emergency = true;
	return true;
}

/* Read a page for the background task of another LUN of the die group. */
static bool sched_start_stripe_read(struct aftl *ftl, struct aftl_lun *lun)
{
	return lun->stripe_requests &&
	       aftl_reconstruct_start_read(ftl, lun, AFTL_RECONSTRUCT_RELOC);
}

/* True if housekeeping of the controller delays host programs; not while the device stops. */
static bool does_controller_housekeeping_delay_writes(const struct aftl *ftl)
{
	return ftl->now_ns < ftl->housekeeping_end_ns && !ftl->suspending;
}

static bool sched_start_write(struct aftl *ftl, struct aftl_lun *lun, u32 lane, u64 *retry_ns)
{
	if (ftl->foggy_blocks && sched_start_fine_or_padding_pass(ftl, lun, lane, retry_ns))
		return true;
	if (lane == AFTL_NIL)
		return false;
	if (aftl_is_program_repeat_due(ftl, lun) && sched_start_background_task(ftl, lun, false))
		return true;
	if (aftl_gc_is_urgent(ftl, lun) || aftl_superblock_gc_is_urgent(ftl, lun)) {
		if (sched_start_stripe_read(ftl, lun) ||
		    sched_start_background_task(ftl, lun, true)) {
			ftl->stats.counters.gc_urgent_steps++;
			lun->margin.emergency = true;
			return true;
		}
		/*
		 * The background task waits for a reconstruction, and needs the last free block
		 * afterwards, so host writes must not take that block.
		 */
		if (unlikely(lun->reconstruct.kind == AFTL_RECONSTRUCT_RELOC))
			return false;
	}
	if (ftl->config.gc_mode == AFTL_GC_PACED && sched_start_paced_gc(ftl, lun))
		return true;
	if (does_controller_housekeeping_delay_writes(ftl)) {
		*retry_ns = ftl->housekeeping_end_ns;
		return false;
	}
	if (!aftl_write_start_program(ftl, lun, lane)) {
		/* Requests may wait for a fine pass that only further programs make due. */
		if (ftl->fine_pending_units && aftl_write_is_waiting(ftl))
			aftl_wake_luns_with_writes(ftl);
		return true;
	}
	if (sched_start_background_task(ftl, lun, true) || sched_start_pad_program(ftl, lun, false))
		return true;
	if (aftl_lun_waits_for_superblock_gc(ftl, lun)) {
		ftl->die_groups[aftl_die_group_of_lun(ftl, lun)].urgent = true;
		return false;
	}
	aftl_write_fail_queued_writes(ftl, lun);
	return false;
}

/*
 * Program as many translation pages as fit one program. Return: false if the LUN has no block for
 * them.
 */
static bool sched_program_translation_pages(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_program_request need = aftl_cmt_need(ftl, lun);
	struct aftl_placement placement;

	if (aftl_program_place(ftl, lun, &need, &placement))
		return false;
	aftl_cmt_add_evictions_to_payload(ftl, lun, &placement, &ftl->payload);
	aftl_program_commit(ftl, lun, &need, &placement, &ftl->payload);
	aftl_array_program(ftl, lun, AFTL_WORK_TP_PROGRAM, &placement);
	return true;
}

/*
 * If there is no block for translation pages, start GC. If GC frees no block, the device becomes
 * read-only, unless other LUNs still relocate their parts of a superblock that is being collected.
 */
static bool sched_write_translation_pages(struct aftl *ftl, struct aftl_lun *lun)
{
	if (sched_program_translation_pages(ftl, lun) ||
	    sched_start_background_task(ftl, lun, true))
		return true;
	if (aftl_lun_waits_for_superblock_gc(ftl, lun)) {
		ftl->die_groups[aftl_die_group_of_lun(ftl, lun)].urgent = true;
		return false;
	}
	ftl->read_only = true;
	ftl->retry = true;
	return false;
}

/*
 * Program dirty translation pages that leave the cached mapping table, or read the copy of one from
 * flash, if the cache has its changed entries only.
 *
 * A relocation that has opened a block of the reserve goes first: it may share that block with the
 * translation pages, and there is no other block if they fill it.
 */
static bool sched_start_trans_page_write(struct aftl *ftl, struct aftl_lun *lun)
{
	enum aftl_step step;
	aftl_ppn_t ppn;

	if (ftl->foggy_blocks && sched_start_fine_pass(ftl, lun))
		return true;
	if (ftl->suspending && !aftl_cmt_has_too_many_evictions(ftl))
		return false;
	step = aftl_cmt_next_step(ftl, lun, &ppn);
	if (step != AFTL_STEP_NONE && lun->free_blocks < aftl_count_gc_reserve_blocks(ftl) &&
	    sched_start_background_task(ftl, lun, true))
		return true;
	switch (step) {
	case AFTL_STEP_READ:
		aftl_array_sense_trans_page(ftl, lun, AFTL_WORK_TP_MERGE, ppn);
		return true;
	case AFTL_STEP_PROGRAM:
		return sched_write_translation_pages(ftl, lun);
	default:
		return false;
	}
}

static bool sched_start_parity_program(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;

	if (ftl->suspending || !aftl_parity_get_next_pages_to_program(ftl, lun, &placement))
		return false;
	aftl_program_parity(ftl, lun, &placement);
	aftl_parity_program_done(ftl, lun);
	aftl_array_program(ftl, lun, AFTL_WORK_PARITY_PROGRAM, &placement);
	return true;
}

/* With order=fcfs: return true if the oldest write arrived before the oldest read. */
static bool sched_write_precedes_reads(const struct aftl *ftl, const struct aftl_lun *lun, u32 lane)
{
	if (ftl->config.order != AFTL_SCHED_FCFS || lane == AFTL_NIL)
		return false;
	return lun->reads.head == AFTL_NIL ||
	       ftl->commands[lun->writes[lane].head].seq < ftl->commands[lun->reads.head].seq;
}

/* Start the oldest read, if any, and reset the count of programs since the last read. */
static bool sched_start_read(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->read_turn = false;
	if (lun->programs_since_read)
		lun->programs_since_read = 0;
	return lun->reads.head != AFTL_NIL && aftl_read_start_oldest_command(ftl, lun);
}

/* Return true if a request or a flush waits for a write that is queued at @lun. */
static bool sched_is_queued_write_awaited(const struct aftl *ftl, const struct aftl_lun *lun)
{
	u64 lanes = lun->pending_write_lanes;
	u32 lane;

	if (lanes && (ftl->epochs.flushes || aftl_write_is_waiting(ftl)))
		return true;
	for (; lanes; lanes &= lanes - 1)
		for (lane = aftl_first_lane(lanes); lane < lun->lanes; lane += AFTL_LANE_BITS)
			if (lun->writes[lane].waited)
				return true;
	return false;
}

/*
 * Return true if a host program may interrupt the erase @work, which makes no progress meanwhile:
 * it yields at most suspend_limit times, and not while garbage collection needs the block.
 */
static noinline bool sched_erase_may_yield(struct aftl *ftl, const struct aftl_lun *lun,
					   const struct aftl_work *work)
{
	if (work->kind != AFTL_WORK_ERASE || work->yields >= ftl->config.suspend_limit ||
	    ftl->foggy_blocks || ftl->geo.zones)
		return false;
	if (aftl_cmt_has_too_many_evictions(ftl) || aftl_gc_is_urgent(ftl, lun) ||
	    aftl_superblock_gc_is_urgent(ftl, lun) || aftl_is_program_repeat_due(ftl, lun))
		return false;
	return sched_is_queued_write_awaited(ftl, lun);
}

static bool sched_start_write_during_erase(struct aftl *ftl, struct aftl_lun *lun, u32 lane)
{
	if (likely(!ftl->config.suspend_for_write) || lane == AFTL_NIL ||
	    does_controller_housekeeping_delay_writes(ftl) ||
	    !sched_erase_may_yield(ftl, lun, &lun->suspended))
		return false;
	lun->suspended.yields++;
	return !aftl_write_start_program(ftl, lun, lane);
}

/*
 * Get the oldest write that waits in @lun: of a suspended program, else of the queue of @lane
 * (class and stream). Return: its command; AFTL_NIL if none waits.
 */
static u32 sched_get_oldest_waiting_write(const struct aftl_lun *lun, u32 lane)
{
	if (lun->suspended.kind == AFTL_WORK_PROGRAM)
		return lun->suspended.commands;
	return lane == AFTL_NIL ? AFTL_NIL : lun->writes[lane].head;
}

/*
 * Return true if a request has waited for the oldest write for write_expire while reads went first.
 * Expired writes and reads take turns, so neither starves the other.
 */
static noinline bool sched_write_expired(const struct aftl *ftl, const struct aftl_lun *lun,
					 u32 lane)
{
	u32 index = sched_get_oldest_waiting_write(lun, lane);

	return index != AFTL_NIL && lun->reads.head != AFTL_NIL && !lun->read_turn &&
	       ftl->now_ns - ftl->commands[index].queued_ns >= ftl->config.write_expire &&
	       (ftl->commands[index].request || sched_is_queued_write_awaited(ftl, lun));
}

/* Return true if a suspended operation resumes before further reads. */
static bool sched_suspended_operation_precedes_reads(const struct aftl *ftl,
						     const struct aftl_lun *lun, bool expired)
{
	u64 limit = ftl->config.suspend_reads;

	return lun->suspended.kind != AFTL_WORK_NONE &&
	       (expired || (limit && lun->suspended.reads >= limit));
}

static bool sched_start_next_operation(struct aftl *ftl, struct aftl_lun *lun, u64 *retry_ns)
{
	u32 lane = AFTL_NIL;
	bool programs_since_read;
	bool expired;

	*retry_ns = AFTL_NEVER;
	if (lun->stripe_requests &&
	    aftl_reconstruct_start_read(ftl, lun, AFTL_RECONSTRUCT_READ))
		return true;
	if (lun->pending_write_lanes && !aftl_cmt_has_too_many_evictions(ftl))
		lane = aftl_write_select_stream_to_program(ftl, lun, retry_ns);
	expired = ftl->config.write_expire && sched_write_expired(ftl, lun, lane);
	if (lun->suspended.kind == AFTL_WORK_NONE &&
	    (expired || sched_write_precedes_reads(ftl, lun, lane))) {
		if (sched_start_write(ftl, lun, lane, retry_ns)) {
			lun->read_turn = expired;
			return true;
		}
		/* If no block can become free, sched_start_write() fails the writes of @lane. */
		if (lane != AFTL_NIL && lun->writes[lane].head == AFTL_NIL)
			lane = AFTL_NIL;
	}
	programs_since_read = lun->programs_since_read &&
			      lun->programs_since_read < ftl->config.row;
	if (!programs_since_read && !sched_suspended_operation_precedes_reads(ftl, lun, expired) &&
	    sched_start_read(ftl, lun)) {
		lun->suspended.reads++;
		return true;
	}
	if (lun->suspended.kind != AFTL_WORK_NONE) {
		lun->read_turn = expired;
		if (sched_start_write_during_erase(ftl, lun, lane))
			return true;
		if (expired)
			lun->suspended.suspends = (u32)ftl->config.suspend_limit;
		aftl_array_resume_suspended_operation(ftl, lun);
		return true;
	}
	if (lun->prefetches.head != AFTL_NIL && aftl_read_ahead_start(ftl, lun))
		return true;
	if (lun->evictions.count && sched_start_trans_page_write(ftl, lun))
		return true;
	if (lun->parity_due && sched_start_parity_program(ftl, lun))
		return true;
	if ((lun->pending_write_lanes || ftl->foggy_blocks) &&
	    sched_start_write(ftl, lun, lane, retry_ns))
		return true;
	if (!ftl->suspending && sched_start_stripe_read(ftl, lun))
		return true;
	if (aftl_may_reloc_task_be_due(ftl, lun) &&
	    (!ftl->suspending || aftl_is_program_repeat_due(ftl, lun)) &&
	    sched_start_background_task(ftl, lun, false))
		return true;
	return programs_since_read && sched_start_read(ftl, lun);
}

static void sched_set_lun_idle(struct aftl *ftl, struct aftl_lun *lun, u64 retry_ns)
{
	u64 idle_ns = AFTL_NEVER;

	lun->idle_since_ns = ftl->now_ns;
	if (aftl_idle_task_is_wanted(ftl, lun))
		idle_ns = ftl->now_ns + ftl->config.idle;
	aftl_events_set_time(&ftl->events, lun->index, min(retry_ns, idle_ns));
}

static void sched_serve_commands_of_busy_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	if (unlikely(aftl_lun_is_dead(lun))) {
		if (lun->reads.head != AFTL_NIL && aftl_has_rain(ftl) &&
		    aftl_read_start_oldest_command(ftl, lun))
			aftl_reconstruct_finish_if_complete(ftl, lun);
		return;
	}
	if (lun->reads.head != AFTL_NIL)
		aftl_array_try_suspend_for_read_or_write(ftl, lun, false);
	if (ftl->config.suspend_for_write && lun->work.phase == AFTL_PHASE_ERASE &&
	    sched_erase_may_yield(ftl, lun, &lun->work))
		aftl_array_try_suspend_for_read_or_write(ftl, lun, true);
}

/* Serve queued reads from the data of a program that has just begun. */
static void sched_serve_reads_from_program_data(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_PROGRAM && lun->reads.head != AFTL_NIL)
		aftl_serve_reads_from_running_program(ftl, lun);
}

/* A busy LUN is runnable after the arrival of a command that may suspend it, or if it is dead. */
static void sched_start_operation_of_runnable_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 retry_ns;

	ftl->work++;
	if (lun->work.phase != AFTL_PHASE_IDLE)
		sched_serve_commands_of_busy_lun(ftl, lun);
	if (lun->work.phase != AFTL_PHASE_IDLE)
		return;
	if (!sched_start_next_operation(ftl, lun, &retry_ns))
		sched_set_lun_idle(ftl, lun, retry_ns);
	sched_serve_reads_from_program_data(ftl, lun);
}

/**
 * aftl_start_operation_of_next_runnable_lun() - start the next operation of a runnable LUN
 * @ftl: device
 *
 * Return: false if no LUN is runnable.
 */
bool aftl_start_operation_of_next_runnable_lun(struct aftl *ftl)
{
	struct aftl_lun *lun = ftl->runnable;

	if (!lun)
		return false;
	ftl->runnable = lun->next_runnable;
	lun->runnable = false;
	sched_start_operation_of_runnable_lun(ftl, lun);
	return true;
}

/**
 * aftl_wake_slice_of_luns() - wake the next AFTL_SLICE_LUNS LUNs of those to be woken
 * @ftl: device with LUNs to wake
 *
 * Return: true if the last LUN has been woken.
 */
bool aftl_wake_slice_of_luns(struct aftl *ftl)
{
	u32 end = min(ftl->geo.luns, ftl->wake_next + AFTL_SLICE_LUNS);

	for (; ftl->wake_next < end; ftl->wake_next++)
		aftl_wake_lun_selected_by_flags(ftl, &ftl->luns[ftl->wake_next], ftl->waking);
	ftl->work += AFTL_SLICE_LUNS / 4;
	if (end < ftl->geo.luns)
		return false;
	ftl->waking = 0;
	return true;
}

/* Handle the end of a sensing. Return: true if a transfer or a copyback program follows. */
static bool sched_sense_done(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;

	if (lun->work.kind != AFTL_WORK_RELOC_COPY) {
		aftl_array_transfer_sensed_data(ftl, lun);
		return true;
	}
	if (aftl_reloc_program_sensed_page(ftl, lun, &placement) <= 0)
		return false;
	aftl_array_copyback(ftl, lun, &placement);
	sched_serve_reads_from_program_data(ftl, lun);
	return true;
}

static void sched_program_done(struct aftl *ftl, struct aftl_lun *lun)
{
	if (ftl->config.row > 1)
		lun->programs_since_read++;
	aftl_reloc_program_done(ftl, lun, &lun->work.placement);
	if (lun->work.kind == AFTL_WORK_PROGRAM)
		aftl_write_complete_programs(ftl, lun->work.commands, lun->work.service_ns);
}

/* ECC failed for a page of the background task: reconstruct it from its stripe. */
static bool sched_reconstruct_page_of_task(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->reconstruct.kind || !aftl_reloc_needs_reconstruct(ftl, lun))
		return false;
	aftl_reconstruct_begin(ftl, lun, AFTL_RECONSTRUCT_RELOC, lun->work.device_page);
	aftl_reconstruct_finish_if_complete(ftl, lun);
	return true;
}

static void sched_read_done(struct aftl *ftl, struct aftl_lun *lun)
{
	if (!aftl_read_handle_arrived_data(ftl, lun, lun->work.service_ns))
		aftl_reconstruct_finish_if_complete(ftl, lun);
}

/* Handle the end of a read of a translation page, or of a stripe page for another LUN. */
static noinline void sched_other_read_done(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.kind == AFTL_WORK_TP_LOAD)
		aftl_read_handle_loaded_trans_page(ftl, lun);
	else if (lun->work.kind == AFTL_WORK_TP_MERGE)
		aftl_cmt_finish_rmw_read(ftl, lun);
	else
		aftl_reconstruct_read_done(ftl, lun);
}

static void sched_handle_end_of_transfer(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.kind == AFTL_WORK_READ)
		sched_read_done(ftl, lun);
	else if (lun->work.kind > AFTL_WORK_RELOC_READ)
		sched_other_read_done(ftl, lun);
	else if (likely(!aftl_has_rain(ftl)) || !sched_reconstruct_page_of_task(ftl, lun))
		aftl_reloc_gather_pages(ftl, lun);
}

static void sched_handle_end_of_lun_work_phase(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->busy_ns += lun->work.service_ns;
	lun->idle_exhausted = false;
	switch (lun->work.phase) {
	case AFTL_PHASE_DATA_OUT:
		sched_handle_end_of_transfer(ftl, lun);
		break;
	case AFTL_PHASE_PROGRAM:
		sched_program_done(ftl, lun);
		break;
	case AFTL_PHASE_ERASE:
		aftl_reloc_erase_done(ftl, lun);
		break;
	}
}

/*
 * End a phase of the LUN's operation. If the LUN's event came before the end of the operation, a
 * waiting read may suspend the operation now.
 */
static bool sched_end_or_suspend_lun_operation(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_DATA_OUT || ftl->now_ns >= lun->work.end_ns) {
		sched_handle_end_of_lun_work_phase(ftl, lun);
		return false;
	}
	aftl_array_suspend_operation(ftl, lun);
	return lun->work.phase == AFTL_PHASE_SUSPEND;
}

/* Timer of an idle LUN: a buffered write has waited long enough, or a background task may run. */
static void sched_handle_idle_timeout(struct aftl *ftl, struct aftl_lun *lun)
{
	if (ftl->now_ns >= lun->idle_since_ns + ftl->config.idle)
		aftl_reloc_start_idle_task(ftl, lun);
}

/**
 * aftl_lun_end_fastpath_read() - end a fast-path read, and start the next operation of its LUN
 * @ftl: device
 * @lun: its LUN
 *
 * Return: true if the LUN may have started an operation, which can make other LUNs runnable.
 */
bool aftl_lun_end_fastpath_read(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->busy_ns += lun->work.service_ns;
	lun->idle_exhausted = false;
	lun->work.phase = AFTL_PHASE_IDLE;
	if (likely(!aftl_may_reloc_task_be_due(ftl, lun))) {
		sched_set_lun_idle(ftl, lun, AFTL_NEVER);
		return false;
	}
	sched_start_operation_of_runnable_lun(ftl, lun);
	return true;
}

/**
 * aftl_handle_lun_event() - handle the timer of a LUN: the end of a phase, or a wait that is over
 * @ftl: device; the caller then starts operations of the LUNs that became runnable
 * @lun: LUN
 */
void aftl_handle_lun_event(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE)
		sched_handle_idle_timeout(ftl, lun);
	else if (lun->work.phase == AFTL_PHASE_SENSE ?
			 sched_sense_done(ftl, lun) :
			 sched_end_or_suspend_lun_operation(ftl, lun))
		return;
	if (lun->work.planes && lun->work.phase == AFTL_PHASE_DATA_OUT) {
		aftl_read_transfer_next_plane(ftl, lun);
		return;
	}
	lun->work.phase = AFTL_PHASE_IDLE;
	/*
	 * Mostly nothing else can start than the next operation of this LUN. With zones it may
	 * first drop many writes, for which the scheduler ends a slice of work.
	 */
	if (likely(!ftl->geo.zones && !aftl_scheduler_has_work(ftl)))
		sched_start_operation_of_runnable_lun(ftl, lun);
	else
		aftl_wake_idle_lun(ftl, lun);
}
