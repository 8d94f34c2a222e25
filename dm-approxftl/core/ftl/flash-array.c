// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of a LUN's array and of the channel: begin, data transfer, suspend, resume, and their
 * times. Which operation is next, and what its end causes, is up to the scheduler.
 */
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/flash-array.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/program.h"
#include "core/ftl/relocation.h"
#include "core/ftl/sensing.h"
#include "core/ftl/time.h"
#include "core/ftl/wait.h"

static void schedule_lun_event(struct aftl *ftl, struct aftl_lun *lun, u64 when)
{
	aftl_events_set_time(&ftl->events, lun->index, when);
}

static void schedule_end_of_lun_work(struct aftl *ftl, struct aftl_lun *lun, u64 when)
{
	lun->work.end_ns = when;
	schedule_lun_event(ftl, lun, when);
}

static u64 compute_bus_transfer_ns(const struct aftl *ftl, u32 units)
{
	return ftl->config.command + units * ftl->unit_transfer_ns;
}

/* The channel serves data transfers in the order in which they become ready. */
static u64 reserve_bus_time(struct aftl *ftl, struct aftl_lun *lun, u32 units, u64 *spent_ns)
{
	u64 ns = compute_bus_transfer_ns(ftl, units);

	*lun->bus_ns = max(*lun->bus_ns, ftl->now_ns) + ns;
	*spent_ns += ns;
	ftl->stats.counters.bus_ns += ns;
	return *lun->bus_ns;
}

static u8 get_cause_of_lun_work(const struct aftl_lun *lun)
{
	switch (lun->work.kind) {
	case AFTL_WORK_READ:
	case AFTL_WORK_PROGRAM:
		return AFTL_CAUSE_HOST;
	case AFTL_WORK_TP_LOAD:
	case AFTL_WORK_TP_MERGE:
	case AFTL_WORK_TP_PROGRAM:
		return AFTL_CAUSE_MAP;
	case AFTL_WORK_STRIPE_READ:
		return AFTL_CAUSE_REBUILD;
	case AFTL_WORK_PARITY_PROGRAM:
		return AFTL_CAUSE_PARITY;
	default:
		return lun->reloc.cause;
	}
}

static void trace_array_event(struct aftl *ftl, const struct aftl_lun *lun,
			      struct aftl_array_event *event)
{
	u32 page = event->block * ftl->geo.pages + event->page;

	event->lun = lun->index;
	event->mode = aftl_page_mode(*aftl_page_attr_ptr(&ftl->media, page));
	event->cause = get_cause_of_lun_work(lun);
	ftl->ops->array(ftl->host, event);
}

/* Channel time of the data transfer for the program that @lun begins. */
static u64 compute_bus_ns_of_program(const struct aftl *ftl, const struct aftl_lun *lun)
{
	u64 ns = compute_bus_transfer_ns(ftl,
					 aftl_count_lpns_of_placement(ftl, &lun->work.placement));

	if (lun->work.kind == AFTL_WORK_RELOC_COPY)
		ns += compute_bus_transfer_ns(ftl, ftl->geo.page_units);
	return ns;
}

static void count_array_operation_in_wait_stats(struct aftl *ftl, const struct aftl_lun *lun,
						const struct aftl_array_event *event)
{
	u64 end_ns = event->begin_ns + event->array_ns;
	u64 bus_ns = 0;

	if (event->op == AFTL_ARRAY_SUSPEND) {
		aftl_note_lun_suspend(ftl, lun, ftl->now_ns + ftl->config.suspend_cost);
		return;
	}
	if (event->op == AFTL_ARRAY_PROGRAM)
		bus_ns = max(event->begin_ns - compute_bus_ns_of_program(ftl, lun), ftl->now_ns);
	aftl_note_lun_operation(ftl, lun, bus_ns, end_ns);
}

static noinline void observe_sense_of_page(struct aftl *ftl, const struct aftl_lun *lun,
					   u32 device_page, u64 begin_ns, u64 ns)
{
	struct aftl_array_event event = {
		.op = AFTL_ARRAY_READ,
		.begin_ns = begin_ns,
		.array_ns = ns,
		.block = aftl_block_number_of_page(&ftl->geo, device_page),
		.page = aftl_page_in_block(&ftl->geo, device_page),
		.pages = 1,
	};

	if (ftl->waits)
		aftl_note_lun_operation(ftl, lun, 0, event.begin_ns + event.array_ns);
	if (ftl->ops->array)
		trace_array_event(ftl, lun, &event);
}

/* Account a program or an erase, and tell the host's listener of array operations, if any. */
static noinline void report_program_or_erase(struct aftl *ftl, const struct aftl_lun *lun,
					     enum aftl_array_op op, u64 begin_ns, u64 ns)
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

	if (ftl->waits)
		count_array_operation_in_wait_stats(ftl, lun, &event);
	if (!ftl->ops->array)
		return;
	event.block = aftl_block_index(&ftl->media, erase ? lun->reloc.from : placement->block);
	trace_array_event(ftl, lun, &event);
}

static void observe_program_or_erase(struct aftl *ftl, const struct aftl_lun *lun,
				     enum aftl_array_op op, u64 begin_ns, u64 ns)
{
	if (unlikely(ftl->array_is_observed))
		report_program_or_erase(ftl, lun, op, begin_ns, ns);
}

/*
 * Start of a sensing that @lun decides on now, for a read that waits since @ready_ns.
 *
 * A cache read hands the last page over to the cache register and senses the next one while that is
 * transferred. The core chooses the next read only when that transfer ends. The array was idle
 * until then, so a read that was waiting counts as begun as soon as the array was free.
 */
static u64 compute_sense_begin_ns(const struct aftl *ftl, const struct aftl_lun *lun, u64 ready_ns)
{
	if (!(ftl->config.cache_commands & AFTL_CACHE_COMMANDS_READ) ||
	    lun->data_out_end_ns != ftl->now_ns)
		return ftl->now_ns;
	return min(max(lun->sensed_ns + ftl->config.cache_busy, ready_ns), ftl->now_ns);
}

/* Begin a sensing. Return: its remaining array time; the sensing of a cache read began earlier. */
static u64 array_begin_sense(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page,
			     u64 sense_ns, u32 units, u64 ready_ns)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	u64 begin_ns = compute_sense_begin_ns(ftl, lun, ready_ns);
	u64 left_ns = sense_ns - min(sense_ns, ftl->now_ns - begin_ns);

	lun->work.kind = kind;
	lun->work.phase = AFTL_PHASE_SENSE;
	lun->work.units = units;
	lun->work.device_page = device_page;
	lun->work.planes = 0;
	lun->work.service_ns = left_ns;
	counters->array_reads++;
	counters->cache_reads += begin_ns < ftl->now_ns;
	counters->array_read_ns += sense_ns;
	counters->read_energy_pj += div64_u64(sense_ns * ftl->config.energy, 1000);
	if (ftl->array_is_observed)
		observe_sense_of_page(ftl, lun, device_page, begin_ns, sense_ns);
	return left_ns;
}

/*
 * aftl_array_sense() - sense a page
 * @ready_ns: time since which the read waits; now if it could not have begun earlier
 */
void aftl_array_sense(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page,
		      u64 sense_ns, u32 units, u64 ready_ns)
{
	u64 left_ns = array_begin_sense(ftl, lun, kind, device_page, sense_ns, units, ready_ns);

	schedule_lun_event(ftl, lun, ftl->now_ns + left_ns);
}

/*
 * Count a page that the next read senses along with its own page, in another plane of the die. Only
 * that read accounts for time and energy: the die is active once.
 */
void aftl_array_count_multi_plane_page(struct aftl *ftl, struct aftl_lun *lun, u32 device_page,
				       u64 ready_ns)
{
	lun->work.kind = AFTL_WORK_READ;
	ftl->stats.counters.array_reads++;
	if (ftl->array_is_observed)
		observe_sense_of_page(ftl, lun, device_page,
				      compute_sense_begin_ns(ftl, lun, ready_ns), 0);
}

/* Begin the transfer of the sensed data to the controller. Return: its end. */
static inline u64 begin_transfer_to_controller(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_work *work = &lun->work;

	if (work->phase == AFTL_PHASE_SENSE)
		lun->sensed_ns = ftl->now_ns;
	work->phase = AFTL_PHASE_DATA_OUT;
	lun->data_out_end_ns = reserve_bus_time(ftl, lun, work->units, &work->service_ns);
	return lun->data_out_end_ns;
}

/*
 * Sense a page for a host read. If no event comes before the end of its transfer, transfer it, too,
 * advance device time to that end, and return true. Else return false: the read has begun as by
 * aftl_array_sense().
 */
bool aftl_array_try_synchronous_read(struct aftl *ftl, struct aftl_lun *lun, u32 device_page,
				     u64 sense_ns, u32 units)
{
	u64 sensed_ns = ftl->now_ns + sense_ns;
	u64 end_ns = max(*lun->bus_ns, sensed_ns) + compute_bus_transfer_ns(ftl, units);

	array_begin_sense(ftl, lun, AFTL_WORK_READ, device_page, sense_ns, units, ftl->now_ns);
	if (aftl_events_earliest_ns(&ftl->events) <= end_ns) {
		schedule_lun_event(ftl, lun, sensed_ns);
		return false;
	}
	ftl->now_ns = sensed_ns;
	ftl->now_ns = begin_transfer_to_controller(ftl, lun);
	return true;
}

/*
 * The processor that serves writes of the host also allocates pages and builds commands for each
 * program. Its time delays later writes of the host, but not the program, which is queued ahead.
 */
static inline void occupy_controller_for_program(struct aftl *ftl, u32 kind)
{
	u64 ns = kind == AFTL_WORK_PROGRAM ? ftl->config.controller_program :
					     ftl->config.controller_relocate;
	u64 *free_ns = &ftl->completion.command_ns[1];

	if (unlikely(ns))
		*free_ns = max(*free_ns, ftl->now_ns) + ns;
}

/* Program @placement on @lun, with a transfer of its data that began @done_ns before now. */
static void array_begin_program(struct aftl *ftl, struct aftl_lun *lun,
				const struct aftl_placement *placement, u64 done_ns)
{
	struct aftl_work *work = &lun->work;

	occupy_controller_for_program(ftl, work->kind);
	work->phase = AFTL_PHASE_PROGRAM;
	work->suspends = 0;
	work->placement = *placement;
	work->array_ns = reserve_bus_time(ftl, lun, aftl_count_lpns_of_placement(ftl, placement),
					  &work->service_ns);
	if (done_ns) {
		*lun->bus_ns -= done_ns;
		work->array_ns = max(*lun->bus_ns, ftl->now_ns + ftl->config.cache_busy);
		work->service_ns = work->array_ns - ftl->now_ns;
	}
	work->service_ns += lun->outcome.ns;
	schedule_end_of_lun_work(ftl, lun, work->array_ns + lun->outcome.ns);
	observe_program_or_erase(ftl, lun, AFTL_ARRAY_PROGRAM, work->array_ns, lun->outcome.ns);
}

/* Arrival time of the newest of the host writes that @lun is about to program. */
static u64 get_newest_write_arrival_ns(const struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 index = lun->work.commands;
	u64 ns = 0;

	for (; index != AFTL_NIL; index = ftl->commands[index].next)
		ns = max(ns, ftl->commands[index].queued_ns);
	return ns;
}

/*
 * Time that the data transfer of @placement has already taken: a cache program takes the data of
 * the next page into the cache register while the array programs the last one. The core chooses
 * the next program only at the end of the last one, so the transfer counts as begun when the
 * channel became idle.
 */
static noinline u64 cached_data_in_ns(struct aftl *ftl, const struct aftl_lun *lun,
				      const struct aftl_placement *placement)
{
	u64 begin_ns = max(lun->work.array_ns + ftl->config.cache_busy, *lun->bus_ns);

	if (lun->work.kind != AFTL_WORK_PROGRAM || lun->work.end_ns != ftl->now_ns)
		return 0;
	begin_ns = max(begin_ns, get_newest_write_arrival_ns(ftl, lun));
	if (begin_ns >= ftl->now_ns)
		return 0;
	ftl->stats.counters.cache_programs++;
	return min(compute_bus_transfer_ns(ftl, aftl_count_lpns_of_placement(ftl, placement)),
		   ftl->now_ns - begin_ns);
}

void aftl_array_program(struct aftl *ftl, struct aftl_lun *lun, u32 kind,
			const struct aftl_placement *placement)
{
	u64 done_ns = 0;

	if (ftl->config.cache_commands & AFTL_CACHE_COMMANDS_PROGRAM &&
	    kind == AFTL_WORK_PROGRAM)
		done_ns = cached_data_in_ns(ftl, lun, placement);
	lun->work.kind = kind;
	lun->work.service_ns = 0;
	array_begin_program(ftl, lun, placement, done_ns);
}

/* Relocations read and program data through the controller, whose ECC corrects the data. */
void aftl_array_copyback(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement)
{
	reserve_bus_time(ftl, lun, ftl->geo.page_units, &lun->work.service_ns);
	array_begin_program(ftl, lun, placement, 0);
}

static inline void array_begin_sensed_data_transfer(struct aftl *ftl, struct aftl_lun *lun)
{
	schedule_lun_event(ftl, lun, begin_transfer_to_controller(ftl, lun));
}

static noinline void observe_data_out(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 begin_ns = max(*lun->bus_ns, ftl->now_ns);

	if (ftl->waits)
		aftl_note_lun_operation(ftl, lun, begin_ns,
					begin_ns + compute_bus_transfer_ns(ftl, lun->work.units));
	array_begin_sensed_data_transfer(ftl, lun);
}

/* Start the transfer of the sensed page to the controller. */
void aftl_array_transfer_sensed_data(struct aftl *ftl, struct aftl_lun *lun)
{
	if (ftl->array_is_observed)
		observe_data_out(ftl, lun);
	else
		array_begin_sensed_data_transfer(ftl, lun);
}

void aftl_array_erase(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 ns;

	aftl_begin_block_erase(ftl, lun, lun->reloc.from);
	ns = lun->erased.ns;
	lun->work = (struct aftl_work){
		.kind = AFTL_WORK_ERASE,
		.phase = AFTL_PHASE_ERASE,
		.service_ns = ns,
		.array_ns = ftl->now_ns,
	};
	schedule_end_of_lun_work(ftl, lun, ftl->now_ns + ns);
	observe_program_or_erase(ftl, lun, AFTL_ARRAY_ERASE, ftl->now_ns, ns);
}

/*
 * Read a page for relocation. If the parameter "read_move" is not 0, it replaces the time of one
 * sensing; read retries come on top.
 */
void aftl_array_sense_reloc_page(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 units)
{
	struct aftl_block *from = lun->reloc.from;
	u32 in_block = aftl_reloc_get_cursor_page(ftl, lun);
	u32 page = aftl_page_number_in_device(&ftl->media, from, in_block);
	u64 hour = aftl_device_hour(ftl);
	u64 move_ns = ftl->config.read_move;
	u64 once_ns = move_ns ? aftl_read_sense_ns(&ftl->sense, from, in_block, hour) : 0;
	u64 ns = aftl_sense_valid_data(ftl, from, in_block, hour) - once_ns + move_ns;

	/*
	 * With cache reads, a task that reads pages one after the other senses this page as soon as
	 * the array is free.
	 */
	aftl_array_sense(ftl, lun, kind, page, ns, units,
			 lun->work.kind == AFTL_WORK_RELOC_READ ? 0 : ftl->now_ns);
}

/* Read a page for the reconstruction of a page of another LUN. */
void aftl_array_sense_stripe_page(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
				  u32 page)
{
	u64 ns = aftl_sense_valid_data(ftl, block, page, aftl_device_hour(ftl));

	ftl->stats.counters.stripe_reads++;
	aftl_array_sense(ftl, lun, AFTL_WORK_STRIPE_READ,
			 aftl_page_number_in_device(&ftl->media, block, page), ns,
			 ftl->geo.page_units, ftl->now_ns);
}

/* Read a translation page for a waiting read or for a read-modify-write. */
void aftl_array_sense_trans_page(struct aftl *ftl, struct aftl_lun *lun, u32 kind, aftl_ppn_t ppn)
{
	struct aftl_block *block = aftl_block_of_ppn(&ftl->media, ppn);
	u32 page = aftl_page_of_ppn(&ftl->media, ppn);
	u64 ns = aftl_sense_valid_data(ftl, block, page % ftl->geo.pages, aftl_device_hour(ftl));

	aftl_array_sense(ftl, lun, kind, page, ns, 1, ftl->now_ns);
}

void aftl_array_resume_suspended_operation(struct aftl *ftl, struct aftl_lun *lun)
{
	lun->work = lun->suspended;
	lun->work.array_ns = ftl->now_ns;
	lun->suspended.kind = AFTL_WORK_NONE;
	schedule_end_of_lun_work(ftl, lun, ftl->now_ns + lun->suspended_ns);
	observe_program_or_erase(ftl, lun, AFTL_ARRAY_RESUME, ftl->now_ns, lun->suspended_ns);
}

/*
 * Return true if a read, or with @write a write, may suspend @work. An in-place switch (IPS), which
 * adds bits to a word line, is never suspended: neither the cells nor the controller would have the
 * word line's first page then.
 */
static bool may_suspend_operation(const struct aftl *ftl, const struct aftl_work *work, bool write)
{
	if (work->phase == AFTL_PHASE_PROGRAM)
		return !write && work->placement.mode != AFTL_MODE_SWITCHED &&
		       ftl->config.suspend & AFTL_SUSPEND_PROGRAM;
	if (work->phase != AFTL_PHASE_ERASE)
		return false;
	return write ? ftl->config.suspend_for_write : ftl->config.suspend & AFTL_SUSPEND_ERASE;
}

/* Suspending an operation near its end gains no time; during its data transfer it is impossible. */
static bool suspend_saves_time(const struct aftl *ftl, const struct aftl_lun *lun, u64 when)
{
	const struct aftl_work *work = &lun->work;

	return lun->suspended.kind == AFTL_WORK_NONE &&
	       work->suspends < ftl->config.suspend_limit && when >= work->array_ns &&
	       when + ftl->config.suspend_cost < work->end_ns;
}

/* Next time at which the operation can be suspended (parameter "suspend_step"). */
static u64 compute_next_suspend_time(const struct aftl *ftl, const struct aftl_work *work)
{
	u64 step = ftl->config.suspend_step;

	if (!step)
		return ftl->now_ns;
	if (ftl->now_ns <= work->array_ns)
		return work->array_ns;
	return work->array_ns + div64_u64(ftl->now_ns - work->array_ns + step - 1, step) * step;
}

/* The suspended operation pays for the suspend and for its resume, in array time and energy. */
static void add_time_and_energy_of_suspend(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	u64 ns = 2 * ftl->config.suspend_cost;
	u64 energy = div64_u64(ns * ftl->config.energy, 1000);

	lun->suspended.service_ns += ns;
	counters->array_suspends++;
	counters->array_suspend_ns += ns;
	if (lun->suspended.kind == AFTL_WORK_ERASE)
		counters->erase_energy_pj += energy;
	else
		counters->program_energy_pj += energy;
}

/*
 * Suspend the program or erase of a LUN. The die accepts the next command "suspend_cost" later. The
 * resume takes as long again before the operation goes on.
 */
void aftl_array_suspend_operation(struct aftl *ftl, struct aftl_lun *lun)
{
	u64 latency_ns = ftl->config.suspend_cost;

	lun->suspended = lun->work;
	lun->suspended.suspends++;
	lun->suspended.reads = 0;
	lun->suspended_ns = lun->work.end_ns - ftl->now_ns + latency_ns;
	add_time_and_energy_of_suspend(ftl, lun);
	observe_program_or_erase(ftl, lun, AFTL_ARRAY_SUSPEND, ftl->now_ns, lun->suspended_ns);
	lun->work.service_ns = 0;
	lun->work.phase = latency_ns ? AFTL_PHASE_SUSPEND : AFTL_PHASE_IDLE;
	if (latency_ns)
		schedule_end_of_lun_work(ftl, lun, ftl->now_ns + latency_ns);
}

/*
 * Suspend a busy array for a read, or with @write for a write. If the array can be suspended only
 * later, schedule the LUN's event for that time.
 */
void aftl_array_try_suspend_for_read_or_write(struct aftl *ftl, struct aftl_lun *lun, bool write)
{
	u64 when = compute_next_suspend_time(ftl, &lun->work);

	if (!may_suspend_operation(ftl, &lun->work, write) || !suspend_saves_time(ftl, lun, when))
		return;
	if (when == ftl->now_ns)
		aftl_array_suspend_operation(ftl, lun);
	else
		schedule_lun_event(ftl, lun, when);
}
