// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one scheduler. What happens to a LUN wakes it; whoever was called settles the
 * device before it returns: requests that wait for commands go on, and each LUN that is
 * awake and whose array is free begins what is next, in the order reads, suspended
 * operation, reads ahead, urgent moves, writes, other moves.
 */
#include "core/front/front.h"

static bool start_pad(struct aftl *ftl, struct aftl_lun *lun, bool moves)
{
	struct aftl_placement placement;

	if (!aftl_pass_pad(ftl, lun, moves, &placement))
		return false;
	lun->work.commands = AFTL_NIL;
	aftl_array_program(ftl, lun, moves ? AFTL_WORK_JOB_PROGRAM : AFTL_WORK_PROGRAM,
			   &placement);
	return true;
}

/* A fine pass whose turn has come, before anything else is written. */
static bool start_fine(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	struct aftl_held *held = aftl_pass_due(ftl, lun, &placement);
	bool moves;

	if (!held)
		return false;
	moves = held->need.cause != AFTL_CAUSE_HOST;
	aftl_write_fine(ftl, lun, held);
	aftl_pass_commit(ftl, lun, held, &placement);
	aftl_array_program(ftl, lun, moves ? AFTL_WORK_JOB_PROGRAM : AFTL_WORK_PROGRAM,
			   &placement);
	return true;
}

static bool start_pass(struct aftl *ftl, struct aftl_lun *lun, u32 lane, u64 *retry_ns)
{
	if (start_fine(ftl, lun))
		return true;
	return aftl_write_stuck(ftl, lun, lane, retry_ns) && start_pad(ftl, lun, false);
}

/* Returns whether a program began; if nothing was left to program the job goes on. */
static int start_job_program(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	int units = aftl_job_commit(ftl, lun, &placement);

	if (units > 0)
		aftl_array_program(ftl, lun, AFTL_WORK_JOB_PROGRAM, &placement);
	return units;
}

/* What a dead LUN had comes from others. */
static void read_job(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 page = aftl_job_page(ftl, lun);

	if (likely(lun->job.kind != AFTL_JOB_REBUILD)) {
		aftl_array_sense_job(ftl, lun, AFTL_WORK_JOB_READ, ftl->geo.page_units);
		return;
	}
	aftl_repair_begin(ftl, lun, AFTL_REPAIR_JOB,
			  aftl_device_page(&ftl->media, lun->job.from, page));
	aftl_stripe_none_left(ftl, lun);
}

static bool start_job(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	int units;

	if (unlikely(lun->repair.kind))
		return false;
	for (;;) {
		switch (aftl_job_next(ftl, lun, urgent)) {
		case AFTL_STEP_NONE:
			return false;
		case AFTL_STEP_COPY:
			aftl_array_sense_job(ftl, lun, AFTL_WORK_JOB_COPY, 0);
			return true;
		case AFTL_STEP_READ:
			read_job(ftl, lun);
			if (likely(lun->job.kind != AFTL_JOB_REBUILD))
				return true;
			if (lun->repair.kind)
				return false;
			break;
		case AFTL_STEP_PROGRAM:
			units = start_job_program(ftl, lun);
			if (units)
				return units > 0;
			break;
		case AFTL_STEP_FINISH:
			return start_pad(ftl, lun, true);
		case AFTL_STEP_ERASE:
			aftl_array_erase(ftl, lun);
			return true;
		}
	}
}

static noinline bool start_paced(struct aftl *ftl, struct aftl_lun *lun)
{
	if (!aftl_gc_pace_due(ftl, lun))
		return false;
	if (lun->job.kind == AFTL_JOB_NONE && !aftl_job_collect(ftl, lun))
		return false;
	if (!start_job(ftl, lun, true))
		return false;
	ftl->stats.counters.gc_paced_steps++;
	return true;
}

static bool start_write(struct aftl *ftl, struct aftl_lun *lun, u32 lane, u64 *retry_ns)
{
	if (unlikely(ftl->foggy_blocks) && start_pass(ftl, lun, lane, retry_ns))
		return true;
	if (lane == AFTL_LANES)
		return false;
	if (unlikely(aftl_job_redo_due(ftl, lun)) && start_job(ftl, lun, false))
		return true;
	if ((aftl_urgent(ftl, lun) || aftl_group_pressed(ftl, lun)) && start_job(ftl, lun, true)) {
		ftl->stats.counters.gc_urgent_steps++;
		return true;
	}
	if (unlikely(ftl->config.gc_mode == AFTL_GC_PACED) && start_paced(ftl, lun))
		return true;
	if (!aftl_write_start(ftl, lun, lane)) {
		/* What it holds now may be what others wait for. */
		if (unlikely(ftl->held_units) && ftl->wait_head[1])
			aftl_requests_push(ftl);
		return true;
	}
	if (start_job(ftl, lun, true) || start_pad(ftl, lun, false))
		return true;
	if (aftl_group_waits(ftl, lun)) {
		ftl->groups[aftl_group_of(ftl, lun)].pressed = true;
		return false;
	}
	aftl_write_fail(ftl, lun);
	return false;
}

/* As many as a program takes, where they have a place. Its large frame is not below a job's. */
static noinline bool put_sheets(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_need need = aftl_sheet_need(ftl, lun);
	struct aftl_placement placement;
	struct aftl_payload payload;

	if (aftl_program_place(ftl, lun, &need, &placement))
		return false;
	aftl_sheet_payload(ftl, lun, &placement, &payload);
	aftl_program_commit(ftl, lun, &need, &placement, &payload);
	aftl_array_program(ftl, lun, AFTL_WORK_SHEETS, &placement);
	return true;
}

/* Or what makes a place for them. */
static bool write_sheets(struct aftl *ftl, struct aftl_lun *lun)
{
	if (put_sheets(ftl, lun) || start_job(ftl, lun, true))
		return true;
	ftl->read_only = true;
	ftl->retry = true;
	return false;
}

/* Sheets of the map that leave the memory. */
static bool start_sheets(struct aftl *ftl, struct aftl_lun *lun)
{
	aftl_slot_t slot;

	if (ftl->parking && !aftl_sheets_full(ftl))
		return false;
	switch (aftl_sheet_next(ftl, lun, &slot)) {
	case AFTL_STEP_READ:
		aftl_array_sense_sheet(ftl, lun, AFTL_WORK_MERGE, slot);
		return true;
	case AFTL_STEP_PROGRAM:
		return write_sheets(ftl, lun);
	default:
		return false;
	}
}

static bool start_parity(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;

	if (ftl->parking || !aftl_parity_next(ftl, lun, &placement))
		return false;
	aftl_program_parity(ftl, lun, &placement);
	aftl_parity_written(ftl, lun);
	aftl_array_program(ftl, lun, AFTL_WORK_PARITY, &placement);
	return true;
}

/* First come, first served: is the oldest write older than the oldest read? */
static bool write_is_next(const struct aftl *ftl, const struct aftl_lun *lun, u32 lane)
{
	if (ftl->config.order != AFTL_SCHED_FCFS || lane == AFTL_LANES)
		return false;
	return lun->reads.head == AFTL_NIL || ftl->commands[lun->writes[lane].head].seq <
						      ftl->commands[lun->reads.head].seq;
}

/* A row of programs ends with a read's turn, whether there is one or not. */
static bool start_read(struct aftl *ftl, struct aftl_lun *lun)
{
	if (unlikely(lun->in_row))
		lun->in_row = 0;
	return lun->reads.head != AFTL_NIL && aftl_read_start(ftl, lun);
}

/* Does somebody wait for a write that is queued here? */
static bool write_presses(const struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 lanes = lun->write_lanes;

	if (lanes && (ftl->flushes || ftl->wait_head[1]))
		return true;
	for (; lanes; lanes &= lanes - 1)
		if (lun->writes[__ffs(lanes)].waited)
			return true;
	return false;
}

/*
 * May a write take the place of @work, an erase? That has as much to go as before then; so not
 * for ever, and not where it makes room.
 */
static noinline bool yields(struct aftl *ftl, const struct aftl_lun *lun,
			    const struct aftl_work *work)
{
	if (work->kind != AFTL_WORK_ERASE || work->yields >= ftl->config.suspend_limit ||
	    ftl->foggy_blocks || ftl->geo.zones)
		return false;
	if (aftl_sheets_full(ftl) || aftl_urgent(ftl, lun) || aftl_group_pressed(ftl, lun) ||
	    aftl_job_redo_due(ftl, lun))
		return false;
	return write_presses(ftl, lun);
}

static bool start_over_erase(struct aftl *ftl, struct aftl_lun *lun, u32 lane)
{
	if (likely(!ftl->config.suspend_for_write) || lane == AFTL_LANES ||
	    !yields(ftl, lun, &lun->parked))
		return false;
	lun->parked.yields++;
	return !aftl_write_start(ftl, lun, lane);
}

static bool start_something(struct aftl *ftl, struct aftl_lun *lun, u64 *retry_ns)
{
	u32 lane = AFTL_LANES;
	bool in_row;

	*retry_ns = AFTL_NEVER;
	if (unlikely(lun->asked) && aftl_stripe_start(ftl, lun, AFTL_REPAIR_READ))
		return true;
	if (lun->write_lanes && !aftl_sheets_full(ftl))
		lane = aftl_write_ready(ftl, lun, retry_ns);
	if (lun->parked.kind == AFTL_WORK_NONE && write_is_next(ftl, lun, lane)) {
		if (start_write(ftl, lun, lane, retry_ns))
			return true;
		/* Where nothing has a place any more, all that was queued has failed. */
		if (!(lun->write_lanes & BIT(lane)))
			lane = AFTL_LANES;
	}
	in_row = unlikely(lun->in_row) && lun->in_row < ftl->config.row;
	if (!in_row && start_read(ftl, lun))
		return true;
	if (lun->parked.kind != AFTL_WORK_NONE) {
		if (!start_over_erase(ftl, lun, lane))
			aftl_array_resume(ftl, lun);
		return true;
	}
	if (unlikely(lun->ahead.head != AFTL_NIL) && aftl_read_start_ahead(ftl, lun))
		return true;
	if (unlikely(lun->leaving.count) && start_sheets(ftl, lun))
		return true;
	if (unlikely(lun->parity_due) && start_parity(ftl, lun))
		return true;
	if ((lun->write_lanes || unlikely(ftl->foggy_blocks)) &&
	    start_write(ftl, lun, lane, retry_ns))
		return true;
	if (unlikely(lun->asked) && !ftl->parking &&
	    aftl_stripe_start(ftl, lun, AFTL_REPAIR_JOB))
		return true;
	if (aftl_job_due(ftl, lun) && (!ftl->parking || aftl_job_redo_due(ftl, lun)) &&
	    start_job(ftl, lun, false))
		return true;
	return in_row && start_read(ftl, lun);
}

static void rest(struct aftl *ftl, struct aftl_lun *lun, u64 retry_ns)
{
	u64 idle_ns = AFTL_NEVER;

	lun->idle_since_ns = ftl->now_ns;
	if (aftl_job_wanted(ftl, lun))
		idle_ns = ftl->now_ns + ftl->config.idle;
	aftl_events_set(&ftl->events, lun->index, min(retry_ns, idle_ns));
}

static void look_at_busy(struct aftl *ftl, struct aftl_lun *lun)
{
	if (unlikely(aftl_lun_dead(lun))) {
		if (lun->reads.head != AFTL_NIL && aftl_has_rain(ftl) && aftl_read_start(ftl, lun))
			aftl_stripe_none_left(ftl, lun);
		return;
	}
	if (lun->reads.head != AFTL_NIL)
		aftl_array_interrupt(ftl, lun, false);
	if (unlikely(ftl->config.suspend_for_write) && lun->work.phase == AFTL_PHASE_ERASE &&
	    yields(ftl, lun, &lun->work))
		aftl_array_interrupt(ftl, lun, true);
}

/* One that is awake although its array is busy has got a command, or is not alone. */
static void look_at(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 retry_ns;

	if (lun->work.phase != AFTL_PHASE_IDLE)
		look_at_busy(ftl, lun);
	if (lun->work.phase == AFTL_PHASE_IDLE && !start_something(ftl, lun, &retry_ns))
		rest(ftl, lun, retry_ns);
}

static struct aftl_lun *next_awake(struct aftl *ftl)
{
	struct aftl_lun *lun = ftl->awake;

	if (!lun)
		return NULL;
	ftl->awake = lun->next_awake;
	lun->awake = false;
	return lun;
}

static void admit_waiting(struct aftl *ftl)
{
	ftl->retry = false;
	aftl_request_admit_waiting(ftl, false);
	aftl_request_admit_waiting(ftl, true);
}

/* Ends because a LUN that has been looked at is busy or has nothing to do. */
void aftl_schedule(struct aftl *ftl)
{
	struct aftl_lun *lun;

	do {
		if (unlikely(ftl->retry))
			admit_waiting(ftl);
		lun = next_awake(ftl);
		if (lun)
			look_at(ftl, lun);
	} while (lun || ftl->retry);
}

/* Returns whether the array goes on with the same operation. */
static bool sensed(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;

	if (lun->work.kind != AFTL_WORK_JOB_COPY) {
		aftl_array_return(ftl, lun);
		return true;
	}
	aftl_job_gather(ftl, lun);
	if (aftl_job_commit(ftl, lun, &placement) <= 0)
		return false;
	aftl_array_copy(ftl, lun, &placement);
	return true;
}

static void programmed(struct aftl *ftl, struct aftl_lun *lun)
{
	if (unlikely(ftl->config.row > 1))
		lun->in_row++;
	aftl_job_programmed(ftl, lun, &lun->work.placement);
	if (lun->work.kind == AFTL_WORK_PROGRAM)
		aftl_write_done(ftl, lun->work.commands, lun->work.service_ns);
}

/* The page that the job has read is beyond ECC: others of its stripe are read. */
static bool mend_job(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->repair.kind || !aftl_job_needs_stripe(ftl, lun))
		return false;
	aftl_repair_begin(ftl, lun, AFTL_REPAIR_JOB, lun->work.device_page);
	aftl_stripe_none_left(ftl, lun);
	return true;
}

static void read_done(struct aftl *ftl, struct aftl_lun *lun)
{
	if (unlikely(!aftl_read_done(ftl, lun, lun->work.service_ns)))
		aftl_stripe_none_left(ftl, lun);
}

/* Neither for the host nor for a job. */
static noinline void other_returned(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.kind == AFTL_WORK_LOAD)
		aftl_load_done(ftl, lun);
	else if (lun->work.kind == AFTL_WORK_MERGE)
		aftl_sheet_merged(ftl, lun);
	else
		aftl_stripe_done(ftl, lun);
}

static void returned(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.kind == AFTL_WORK_READ)
		read_done(ftl, lun);
	else if (unlikely(lun->work.kind > AFTL_WORK_JOB_READ))
		other_returned(ftl, lun);
	else if (likely(!aftl_has_rain(ftl)) || !mend_job(ftl, lun))
		aftl_job_gather(ftl, lun);
}

static void finish_work(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->busy_ns += lun->work.service_ns;
	lun->chores = false;
	switch (lun->work.phase) {
	case AFTL_PHASE_RETURN:
		returned(ftl, lun);
		break;
	case AFTL_PHASE_PROGRAM:
		programmed(ftl, lun);
		break;
	case AFTL_PHASE_ERASE:
		aftl_job_erased(ftl, lun);
		break;
	}
}

/* The event before the end of an operation is that of a step, and a read waits for it. */
static void end_phase(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase != AFTL_PHASE_RETURN && ftl->now_ns < lun->work.end_ns)
		aftl_array_park(ftl, lun);
	else
		finish_work(ftl, lun);
}

/* An idle LUN woke up: data waited long enough, or it has been idle long enough. */
static void woke(struct aftl *ftl, struct aftl_lun *lun)
{
	if (ftl->now_ns >= lun->idle_since_ns + ftl->config.idle)
		aftl_job_offer(ftl, lun);
}

/*
 * aftl_lun_read_alone() - a read has ended before anything else has happened
 */
void aftl_lun_read_alone(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->busy_ns += lun->work.service_ns;
	lun->chores = false;
	lun->work.phase = AFTL_PHASE_IDLE;
	if (likely(!aftl_job_due(ftl, lun))) {
		rest(ftl, lun, AFTL_NEVER);
		return;
	}
	look_at(ftl, lun);
	aftl_settle(ftl);
}

/*
 * aftl_lun_event() - the time that @lun had set for itself has come
 * @ftl: device, to be settled
 * @lun: LUN
 */
void aftl_lun_event(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.phase == AFTL_PHASE_IDLE)
		woke(ftl, lun);
	else if (lun->work.phase != AFTL_PHASE_SENSE)
		end_phase(ftl, lun);
	else if (sensed(ftl, lun))
		return;
	lun->work.phase = AFTL_PHASE_IDLE;
	aftl_wake(ftl, lun);
}
