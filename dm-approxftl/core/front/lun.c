// SPDX-License-Identifier: GPL-2.0-only
/*
 * The array of a LUN: one operation at a time, chosen when the array comes free,
 * in the order reads, suspended operation, urgent moves, writes, other moves.
 */
#include "core/ftl/device.h"

static void set_event(struct aftl *ftl, struct aftl_lun *lun, u64 when)
{
	aftl_events_set(&ftl->events, lun->index, when);
}

/* The bus serves in the order in which transfers become ready. */
static u64 transfer(struct aftl *ftl, struct aftl_lun *lun, u32 units, u64 *spent_ns)
{
	u64 ns = ftl->config.command + units * ftl->unit_transfer_ns;

	*lun->bus_ns = max(*lun->bus_ns, ftl->now_ns) + ns;
	*spent_ns += ns;
	ftl->stats.counters.bus_ns += ns;
	return *lun->bus_ns;
}

static void tell(struct aftl *ftl, const struct aftl_lun *lun, struct aftl_array_event *event)
{
	const struct aftl_work *work = &lun->work;
	u32 page = event->block * ftl->geo.pages + event->page;

	event->lun = lun->index;
	event->mode = aftl_page_mode(ftl->media.attr[page]);
	event->cause = work->kind == AFTL_WORK_READ || work->kind == AFTL_WORK_PROGRAM ?
			       AFTL_CAUSE_HOST : lun->job.cause;
	ftl->ops->array(ftl->host, event);
}

static void tell_read(struct aftl *ftl, const struct aftl_lun *lun, u32 device_page, u64 ns)
{
	struct aftl_array_event event = {
		.op = AFTL_ARRAY_READ,
		.begin_ns = ftl->now_ns,
		.array_ns = ns,
		.block = device_page / ftl->geo.pages,
		.page = device_page % ftl->geo.pages,
		.pages = 1,
	};

	if (unlikely(ftl->ops->array))
		tell(ftl, lun, &event);
}

/* A program or an erase. */
static void tell_work(struct aftl *ftl, const struct aftl_lun *lun, enum aftl_array_op op,
		      u64 begin_ns, u64 ns)
{
	const struct aftl_placement *placement = &lun->work.placement;
	bool erase = lun->work.kind == AFTL_WORK_ERASE;
	struct aftl_array_event event = {
		.op = op,
		.begin_ns = begin_ns,
		.array_ns = ns,
		.page = erase ? 0 : placement->page,
		.pages = erase ? ftl->geo.pages : placement->pages,
	};

	if (likely(!ftl->ops->array))
		return;
	event.block = aftl_block_index(&ftl->media, erase ? lun->job.from : placement->block);
	tell(ftl, lun, &event);
}

void aftl_lun_sense(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page,
		    u64 sense_ns, u32 units)
{
	struct aftl_counters *counters = &ftl->stats.counters;

	lun->work.kind = kind;
	lun->work.phase = AFTL_PHASE_SENSE;
	lun->work.units = units;
	lun->work.service_ns = sense_ns;
	counters->array_reads++;
	counters->array_read_ns += sense_ns;
	counters->read_energy_pj += div64_u64(sense_ns * ftl->config.energy, 1000);
	set_event(ftl, lun, ftl->now_ns + sense_ns);
	tell_read(ftl, lun, device_page, sense_ns);
}

static void begin_program(struct aftl *ftl, struct aftl_lun *lun,
			  const struct aftl_placement *placement)
{
	struct aftl_work *work = &lun->work;

	work->phase = AFTL_PHASE_PROGRAM;
	work->suspends = 0;
	work->placement = *placement;
	work->array_ns = transfer(ftl, lun, aftl_placement_units(ftl, placement),
				  &work->service_ns);
	work->service_ns += placement->program_ns;
	set_event(ftl, lun, work->array_ns + placement->program_ns);
	tell_work(ftl, lun, AFTL_ARRAY_PROGRAM, work->array_ns, placement->program_ns);
}

void aftl_lun_program(struct aftl *ftl, struct aftl_lun *lun, u32 kind,
		      const struct aftl_placement *placement)
{
	lun->work.kind = kind;
	lun->work.service_ns = 0;
	begin_program(ftl, lun, placement);
}

static void start_erase(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 ns;

	aftl_erase_begin(ftl, lun, lun->job.from);
	ns = lun->erased.ns;
	lun->work = (struct aftl_work){
		.kind = AFTL_WORK_ERASE,
		.phase = AFTL_PHASE_ERASE,
		.service_ns = ns,
		.array_ns = ftl->now_ns,
	};
	set_event(ftl, lun, ftl->now_ns + ns);
	tell_work(ftl, lun, AFTL_ARRAY_ERASE, ftl->now_ns, ns);
}

/* The map entry of what is read now will be changed when it is programmed. */
static void prefetch_map(const struct aftl *ftl, u32 page)
{
	u32 unit = from_unit(*aftl_unit_at(&ftl->media, to_slot(page * ftl->geo.page_units)));

	if (unit < ftl->geo.units)
		prefetch(aftl_map_at(ftl, unit));
}

static void sense_for_job(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 units)
{
	u32 in_block = aftl_job_page(ftl, lun);
	u32 page = aftl_device_page(&ftl->media, lun->job.from, in_block);

	prefetch_map(ftl, page);
	aftl_lun_sense(ftl, lun, kind, page,
		       aftl_sense_valid(ftl, lun->job.from, in_block, aftl_hours(ftl)), units);
}

/* Returns whether a program began; if nothing was left to program the job goes on. */
static int start_job_program(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	int units = aftl_job_commit(ftl, lun, &placement);

	if (units > 0)
		aftl_lun_program(ftl, lun, AFTL_WORK_JOB_PROGRAM, &placement);
	return units;
}

static bool start_job(struct aftl *ftl, struct aftl_lun *lun, bool urgent)
{
	int units;

	for (;;) {
		switch (aftl_job_next(ftl, lun, urgent)) {
		case AFTL_STEP_NONE:
			return false;
		case AFTL_STEP_COPY:
			sense_for_job(ftl, lun, AFTL_WORK_JOB_COPY, 0);
			return true;
		case AFTL_STEP_READ:
			sense_for_job(ftl, lun, AFTL_WORK_JOB_READ, ftl->geo.page_units);
			return true;
		case AFTL_STEP_PROGRAM:
			units = start_job_program(ftl, lun);
			if (units)
				return units > 0;
			break;
		case AFTL_STEP_ERASE:
			start_erase(ftl, lun);
			return true;
		}
	}
}

static void resume(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->work = lun->parked;
	lun->work.array_ns = ftl->now_ns;
	lun->parked.kind = AFTL_WORK_NONE;
	set_event(ftl, lun, ftl->now_ns + lun->parked_ns);
	tell_work(ftl, lun, AFTL_ARRAY_RESUME, ftl->now_ns, lun->parked_ns);
}

static bool start_write(struct aftl *ftl, struct aftl_lun *lun, u32 stream)
{
	if (stream == AFTL_STREAMS)
		return false;
	if (unlikely(aftl_job_redo_due(ftl, lun)) && start_job(ftl, lun, false))
		return true;
	if (aftl_urgent(ftl, lun) && start_job(ftl, lun, true)) {
		ftl->stats.counters.gc_urgent_steps++;
		return true;
	}
	if (!aftl_write_start(ftl, lun, stream))
		return true;
	if (start_job(ftl, lun, true))
		return true;
	aftl_write_fail(ftl, lun);
	return false;
}

/* First come, first served: is the oldest write older than the oldest read? */
static bool write_is_next(const struct aftl *ftl, const struct aftl_lun *lun, u32 stream)
{
	if (ftl->config.order != AFTL_SCHED_FCFS || stream == AFTL_STREAMS)
		return false;
	return lun->reads.head == AFTL_NIL || ftl->commands[lun->writes[stream].head].seq <
						      ftl->commands[lun->reads.head].seq;
}

static bool start_something(struct aftl *ftl, struct aftl_lun *lun, u64 *retry_ns)
{
	u32 stream = AFTL_STREAMS;

	*retry_ns = AFTL_NEVER;
	if (lun->write_streams)
		stream = aftl_write_ready(ftl, lun, retry_ns);
	if (lun->parked.kind == AFTL_WORK_NONE && write_is_next(ftl, lun, stream) &&
	    start_write(ftl, lun, stream))
		return true;
	if (lun->reads.head != AFTL_NIL && aftl_read_start(ftl, lun))
		return true;
	if (lun->parked.kind != AFTL_WORK_NONE) {
		resume(ftl, lun);
		return true;
	}
	if (lun->write_streams && start_write(ftl, lun, stream))
		return true;
	return (!ftl->parking || aftl_job_redo_due(ftl, lun)) && start_job(ftl, lun, false);
}

static void rest(struct aftl *ftl, struct aftl_lun *lun, u64 retry_ns)
{
	u64 idle_ns = AFTL_NEVER;

	lun->work.phase = AFTL_PHASE_IDLE;
	lun->idle_since_ns = ftl->now_ns;
	if (aftl_job_wanted(ftl, lun))
		idle_ns = ftl->now_ns + ftl->config.idle;
	set_event(ftl, lun, min(retry_ns, idle_ns));
}

void aftl_lun_run(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 retry_ns;

	/* Whoever queues something meanwhile must find the array taken. */
	lun->work.phase = AFTL_PHASE_SENSE;
	if (!start_something(ftl, lun, &retry_ns))
		rest(ftl, lun, retry_ns);
}

/* Suspending pays only before the very end, and not for a page in the making. */
static bool may_suspend(const struct aftl *ftl, const struct aftl_lun *lun)
{
	const struct aftl_work *work = &lun->work;
	u64 end_ns = ftl->events.when[lun->index];
	u32 option = work->phase == AFTL_PHASE_PROGRAM ? AFTL_SUSPEND_PROGRAM :
							  AFTL_SUSPEND_ERASE;

	if (work->phase != AFTL_PHASE_PROGRAM && work->phase != AFTL_PHASE_ERASE)
		return false;
	return ftl->config.suspend & option && lun->parked.kind == AFTL_WORK_NONE &&
	       work->suspends < ftl->config.suspend_limit && ftl->now_ns >= work->array_ns &&
	       ftl->now_ns + ftl->config.suspend_cost < end_ns;
}

static void park(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->parked = lun->work;
	lun->parked.suspends++;
	lun->parked_ns = ftl->events.when[lun->index] - ftl->now_ns + ftl->config.suspend_cost;
	ftl->stats.counters.array_suspends++;
	tell_work(ftl, lun, AFTL_ARRAY_SUSPEND, ftl->now_ns, lun->parked_ns);
}

void aftl_lun_kick(struct aftl *ftl, struct aftl_lun *lun, bool read)
{
	if (lun->work.phase == AFTL_PHASE_IDLE) {
		aftl_lun_run(ftl, lun);
	} else if (read && ftl->config.suspend && may_suspend(ftl, lun)) {
		park(ftl, lun);
		aftl_lun_run(ftl, lun);
	}
}

static void sensed(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;

	if (lun->work.kind != AFTL_WORK_JOB_COPY) {
		lun->work.phase = AFTL_PHASE_RETURN;
		set_event(ftl, lun, transfer(ftl, lun, lun->work.units, &lun->work.service_ns));
		return;
	}
	/* A copy goes through the controller for its ECC: out and in again. */
	aftl_job_gather(ftl, lun);
	if (aftl_job_commit(ftl, lun, &placement) > 0) {
		transfer(ftl, lun, ftl->geo.page_units, &lun->work.service_ns);
		begin_program(ftl, lun, &placement);
	} else {
		aftl_lun_run(ftl, lun);
	}
}

static void programmed(struct aftl *ftl, struct aftl_lun *lun)
{
	if (ftl->type->programmed &&
	    ftl->type->programmed(ftl->policy, lun, &lun->work.placement))
		aftl_job_redo(ftl, lun, &lun->work.placement);
	if (lun->work.kind == AFTL_WORK_PROGRAM)
		aftl_write_done(ftl, lun->work.commands, lun->work.service_ns);
}

static void returned(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->work.kind == AFTL_WORK_READ)
		aftl_read_done(ftl, lun, lun->work.service_ns);
	else
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
	aftl_lun_run(ftl, lun);
}

/* An idle LUN woke up: data waited long enough, or it has been idle long enough. */
static void woke(struct aftl *ftl, struct aftl_lun *lun)
{
	if (ftl->now_ns >= lun->idle_since_ns + ftl->config.idle)
		aftl_job_offer(ftl, lun);
	aftl_lun_run(ftl, lun);
}

/*
 * aftl_lun_event() - the time that the LUN had set for itself has come
 */
void aftl_lun_event(struct aftl *ftl, struct aftl_lun *lun)
{
	switch (lun->work.phase) {
	case AFTL_PHASE_IDLE:
		woke(ftl, lun);
		break;
	case AFTL_PHASE_SENSE:
		sensed(ftl, lun);
		break;
	default:
		finish_work(ftl, lun);
	}
}
