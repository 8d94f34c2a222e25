// SPDX-License-Identifier: GPL-2.0-only
/*
 * An emulated SSD: FTL and bytes under one lock, and the clock that drives them.
 *
 * The FTL computes at which device time each request is complete; the clock's part is
 * to let it know the time no later than that. Submitters bring the time with them, and
 * a timer fires at the next event. It runs as a soft interrupt: as punctual as a hard
 * one on an idle processor, and handed to ksoftirqd when the emulated device is faster
 * than the machine. An idle disk arms no timer.
 */
#include <linux/slab.h>

#include "approxftl.h"
#include "compat.h"

/* Units of a write by which a reload moves data. */
#define TRANSFER_UNITS 64U

static u64 to_host_ns(const struct aftl_disk *disk, u64 device_ns)
{
	u64 span;

	if (check_mul_overflow(device_ns - disk->start_ns, (u64)disk->scale, &span) ||
	    span > KTIME_MAX - disk->start_host_ns)
		return KTIME_MAX;
	return disk->start_host_ns + span;
}

u64 aftl_disk_now(const struct aftl_disk *disk)
{
	lockdep_assert_held(&disk->lock);
	if (disk->scale == AFTL_TIMING_OFF || !disk->running)
		return aftl_now(disk->ftl);
	return disk->start_ns + div_u64(ktime_get_ns() - disk->start_host_ns, disk->scale);
}

u64 aftl_disk_late(const struct aftl_disk *disk, const struct aftl_request *request)
{
	u64 now_ns = ktime_get_ns();
	u64 due_ns = to_host_ns(disk, request->complete_ns);

	return now_ns > due_ns ? now_ns - due_ns : 0;
}

/* Device time passes as fast as the FTL can work. */
static void work_off(struct aftl_disk *disk)
{
	while (aftl_pending(disk->ftl) && aftl_next_event(disk->ftl) != U64_MAX)
		aftl_advance(disk->ftl, aftl_next_event(disk->ftl));
}

static void arm(struct aftl_disk *disk)
{
	u64 next_ns = to_host_ns(disk, aftl_next_event(disk->ftl));

	if (!disk->running || next_ns >= disk->armed_ns)
		return;
	disk->armed_ns = next_ns;
	hrtimer_start(&disk->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

struct aftl_request *aftl_disk_settle(struct aftl_disk *disk)
{
	struct aftl_request *done;

	lockdep_assert_held(&disk->lock);
	if (disk->scale == AFTL_TIMING_OFF)
		work_off(disk);
	else
		arm(disk);
	if (unlikely(aftl_read_only(disk->ftl) && !disk->told && disk->running)) {
		disk->told = true;
		schedule_work(&disk->event);
	}
	done = disk->done;
	disk->done = NULL;
	return done;
}

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct aftl_disk *disk = container_of(timer, struct aftl_disk, timer);
	struct aftl_request *done;

	spin_lock_bh(&disk->lock);
	disk->armed_ns = KTIME_MAX;
	aftl_advance(disk->ftl, aftl_disk_now(disk));
	done = aftl_disk_settle(disk);
	spin_unlock_bh(&disk->lock);
	aftl_io_finish(disk, done);
	return HRTIMER_NORESTART;
}

static void tell_event(struct work_struct *work)
{
	struct aftl_disk *disk = container_of(work, struct aftl_disk, event);

	dm_table_event(disk->table);
}

static int create_parts(struct aftl_disk *disk, const struct aftl_options *options,
			struct aftl_error *error)
{
	const struct aftl_geometry *geo;
	int ret = aftl_create(&disk->ftl, &options->config, options->policy, &aftl_io_host, disk,
			      error);

	if (ret)
		return ret;
	geo = aftl_geometry(disk->ftl);
	disk->unit_shift = ilog2(geo->unit_bytes >> SECTOR_SHIFT);
	disk->store = options->store->create(geo->units, geo->unit_bytes);
	if (!disk->store)
		return aftl_fail(error, -ENOMEM, "not enough memory for the table of %u units",
				 geo->units);
	if (aftl_fill(disk->ftl))
		return aftl_fail(error, -EINVAL,
				 "the device cannot be filled as asked; lower fill_valid or fill_overwrite, or raise op");
	return 0;
}

int aftl_disk_create(struct aftl_disk **out, const struct aftl_options *options,
		     struct aftl_error *error)
{
	struct aftl_disk *disk = kvzalloc(sizeof(*disk), GFP_KERNEL);
	int ret;

	if (!disk)
		return aftl_fail(error, -ENOMEM, "not enough memory for a device");
	spin_lock_init(&disk->lock);
	spin_lock_init(&disk->late_lock);
	disk->scale = options->scale;
	disk->armed_ns = KTIME_MAX;
	INIT_WORK(&disk->event, tell_event);
	aftl_hrtimer_setup(&disk->timer, timer_fired, HRTIMER_MODE_ABS_SOFT);
	ret = create_parts(disk, options, error);
	if (ret)
		aftl_disk_destroy(disk);
	else
		*out = disk;
	return ret;
}

void aftl_disk_destroy(struct aftl_disk *disk)
{
	if (!disk)
		return;
	aftl_disk_stop(disk);
	aftl_destroy(disk->ftl);
	if (disk->store)
		disk->store->type->destroy(disk->store);
	kvfree(disk);
}

void aftl_disk_start(struct aftl_disk *disk, struct dm_table *table)
{
	struct aftl_request *done;

	spin_lock_bh(&disk->lock);
	disk->table = table;
	disk->start_ns = aftl_now(disk->ftl);
	disk->start_host_ns = ktime_get_ns();
	disk->running = true;
	done = aftl_disk_settle(disk);
	spin_unlock_bh(&disk->lock);
	aftl_io_finish(disk, done);
}

void aftl_disk_stop(struct aftl_disk *disk)
{
	spin_lock_bh(&disk->lock);
	disk->running = false;
	spin_unlock_bh(&disk->lock);
	hrtimer_cancel(&disk->timer);
	cancel_work_sync(&disk->event);
	disk->armed_ns = KTIME_MAX;
}

/* Carries out a request of our own on a stopped disk. */
static int carry_out(struct aftl_disk *disk, struct aftl_io *io)
{
	int ret;

	io->request.arrival_ns = aftl_now(disk->ftl);
	ret = aftl_submit(disk->ftl, &io->request);
	work_off(disk);
	disk->done = NULL;
	disk->store->type->release(&io->bytes);
	return ret ? ret : io->request.status;
}

/**
 * struct run - neighbouring units that can be transferred as one write
 * @first: first unit
 * @units: how many
 * @class: enum aftl_class, or AFTL_CLASSES if there is nothing to transfer
 * @held: the store has their bytes
 */
struct run {
	u32 first;
	u32 units;
	u32 class;
	bool held;
};

static struct run look_at(struct aftl_disk *from, u32 unit)
{
	struct run run = { .first = unit, .units = 1, .class = AFTL_CLASSES };

	run.held = from->store->type->holds(from->store, to_unit(unit));
	if (aftl_lookup(from->ftl, to_unit(unit), &run.class) == AFTL_NO_SLOT && run.held)
		run.class = AFTL_PRECISE;
	return run;
}

static struct run find_run(struct aftl_disk *from, u32 first, u32 limit)
{
	struct run run = look_at(from, first);

	while (run.units < min(limit, TRANSFER_UNITS)) {
		struct run next = look_at(from, first + run.units);

		if (next.class != run.class || next.held != run.held)
			break;
		run.units++;
	}
	return run;
}

static int transfer_run(struct aftl_disk *to, struct aftl_disk *from, const struct run *run)
{
	struct aftl_io io = {
		.request = {
			.op = AFTL_OP_WRITE,
			.unit = run->first,
			.units = run->units,
			.class = run->class,
		},
	};
	int ret;

	if (run->class == AFTL_CLASSES)
		return 0;
	INIT_LIST_HEAD(&io.bytes);
	from->store->type->forget(from->store, to_unit(run->first), run->units, &io.bytes);
	spin_lock_bh(&to->lock);
	ret = carry_out(to, &io);
	spin_unlock_bh(&to->lock);
	return ret;
}

int aftl_disk_transfer(struct aftl_disk *to, struct aftl_disk *from)
{
	u32 units = min(aftl_geometry(to->ftl)->units, aftl_geometry(from->ftl)->units);
	u32 unit = 0;
	int ret = 0;

	while (!ret && unit < units) {
		struct run run = find_run(from, unit, units - unit);

		ret = transfer_run(to, from, &run);
		unit += run.units;
		cond_resched();
	}
	aftl_reset_stats(to->ftl);
	return ret;
}
