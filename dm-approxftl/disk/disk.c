// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disk: an FTL and its store under one lock, and the clock that drives them.
 *
 * The FTL computes the device time at which each request completes. The clock must call the FTL no
 * later than at that time. Each submitter advances the FTL to the present, and an hrtimer fires at
 * the next event. It runs in soft interrupt context: on an idle CPU it is as punctual as a hard
 * interrupt, and ksoftirqd takes over when the emulated device is faster than the machine. An idle
 * disk arms no timer.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "disk/disk.h"
#include "log.h"
#include "core/base/profiles.h"
#include "core/persist/snapshot.h"
#include "store/dev.h"

/* Units of aftl_get_amount_of_work_done() after which the disk lock is released: about 100 us. */
#define SLICE_WORK 128

/* Largest number of work slices of a submitter; advance_disk_to_now_work() does the others. */
#define OWN_SLICES 64

/* Limit of the sectors of requests that a soft interrupt ends: copying them takes about 50 us. */
#define SOFTIRQ_SECTORS (SZ_256K >> SECTOR_SHIFT)

/*
 * Workqueue for work that waits for no I/O: aftl_disk.catch_up and, without a durable store,
 * aftl_disk.collect. Memory reclaim may depend on it.
 */
static struct workqueue_struct *workers;

/* Return true if the store's queue lacks room for the operations that one FTL call may add. */
static bool is_store_queue_congested(const struct aftl_disk *disk)
{
	return disk->durable && aftl_dev_is_congested(disk->durable);
}

static bool has_disk_pending_events(const struct aftl_disk *disk)
{
	return aftl_has_pending_work(disk->ftl) && aftl_next_event_ns(disk->ftl) != U64_MAX;
}

bool aftl_disk_process_event(struct aftl_disk *disk)
{
	u64 next_ns = aftl_next_event_ns(disk->ftl);

	lockdep_assert_held(&disk->lock);
	return next_ns != U64_MAX && !is_store_queue_congested(disk) &&
	       aftl_process_next_event(disk->ftl, next_ns);
}

static bool is_disk_work_slice_over(const struct aftl_disk *disk, u32 begin)
{
	return aftl_get_amount_of_work_done(disk->ftl) - begin >= SLICE_WORK;
}

/*
 * Execute one slice of work with "timing off", where device time passes as fast as the FTL can work
 * while requests are pending. Returns true if work is left.
 */
static bool advance_untimed_disk_by_slice(struct aftl_disk *disk)
{
	u32 begin = aftl_get_amount_of_work_done(disk->ftl);

	disk->stalled = false;
	while (has_disk_pending_events(disk)) {
		if (is_disk_work_slice_over(disk, begin))
			return true;
		if (!aftl_disk_process_event(disk)) {
			disk->stalled = is_store_queue_congested(disk);
			return false;
		}
	}
	return false;
}

/* Process a slice of the events up to @until_ns. Returns true if more of these are left. */
static bool advance_disk_by_slice(struct aftl_disk *disk, u64 until_ns)
{
	u32 begin = aftl_get_amount_of_work_done(disk->ftl);

	lockdep_assert_held(&disk->lock);
	do {
		disk->stalled = is_store_queue_congested(disk);
		if (disk->stalled || !aftl_process_next_event(disk->ftl, until_ns))
			return false;
	} while (!is_disk_work_slice_over(disk, begin));
	return true;
}

static void arm_disk_timer(struct aftl_disk *disk)
{
	u64 next_ns = aftl_disk_to_host_ns(disk, aftl_next_event_ns(disk->ftl));

	if (!disk->running || disk->stalled || disk->behind || next_ns >= disk->armed_ns)
		return;
	disk->armed_ns = next_ns;
	hrtimer_start(&disk->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

/* Return true if the disk is read-only or its block device failed; user space is told so once. */
static bool disk_has_unreported_failure(const struct aftl_disk *disk)
{
	return aftl_is_read_only(disk->ftl) || (disk->durable && aftl_dev_get_error(disk->durable));
}

static void report_disk_failure(struct aftl_disk *disk)
{
	if (likely(!disk_has_unreported_failure(disk) || disk->told || !disk->running))
		return;
	disk->told = true;
	schedule_work(&disk->event);
}

/*
 * Remove completed requests from disk->done, at least one, until they add up to @sectors or more.
 * The caller ends them without the lock. Returns NULL if the disk is stopped: a stopped disk has
 * only internal requests without a bio, see aftl_disk_execute_request().
 */
static struct aftl_request *take_completed_requests(struct aftl_disk *disk, u64 sectors)
{
	struct aftl_request *done = disk->done;
	struct aftl_request *last = done;
	u64 sum = 0;

	lockdep_assert_held(&disk->lock);
	if (!done || !disk->running)
		return NULL;
	for (; last->next; last = last->next) {
		sum += (u64)last->units << disk->unit_shift;
		if (sum >= sectors)
			break;
	}
	disk->done = last->next;
	last->next = NULL;
	return done;
}

/*
 * Queue advance_disk_to_now_work() for work that would take the caller too long. @behind means
 * that the FTL has not reached the present; the timer then stays off until the worker ends.
 * Otherwise only requests are left to be ended.
 */
static void queue_work_to_advance_disk(struct aftl_disk *disk, bool behind)
{
	lockdep_assert_held(&disk->lock);
	disk->behind |= behind;
	disk->handovers += queue_work(workers, &disk->catch_up);
}

/* Execute a slice of due work, and arm the timer for the rest. Returns true if more is due. */
static bool execute_slice_of_disk_work(struct aftl_disk *disk)
{
	bool more = false;

	lockdep_assert_held(&disk->lock);
	if (disk->scale == AFTL_TIMING_OFF)
		more = advance_untimed_disk_by_slice(disk);
	else if (aftl_next_event_ns(disk->ftl) <= aftl_device_time_ns(disk->ftl))
		more = advance_disk_by_slice(disk, aftl_device_time_ns(disk->ftl));
	if (!more && disk->scale != AFTL_TIMING_OFF)
		arm_disk_timer(disk);
	report_disk_failure(disk);
	return more;
}

/* Lock the disk and count lock contention. The clock is read only if the lock is contended. */
static void lock_disk_and_read_clock(struct aftl_disk *disk)
	__acquires(&disk->lock)
{
	u64 begin_ns;

	if (likely(spin_trylock_bh(&disk->lock)))
		return;
	begin_ns = ktime_get_ns();
	spin_lock_bh(&disk->lock);
	disk->lock_waits++;
	disk->lock_wait_ns += ktime_get_ns() - begin_ns;
}

/* Release the disk's lock briefly, for other CPUs, and end completed requests meanwhile. */
static void drop_disk_lock_briefly(struct aftl_disk *disk)
	__must_hold(&disk->lock)
{
	struct aftl_request *done = take_completed_requests(disk, U64_MAX);

	spin_unlock_bh(&disk->lock);
	aftl_disk_finish_requests(disk, done);
	cond_resched();
	spin_lock_bh(&disk->lock);
}

/*
 * Advance to the time of this call, or to a later device time that other callers reach meanwhile.
 * The clock is read only once: an FTL that is slower than the clock would never reach the present.
 */
int aftl_disk_lock_and_advance(struct aftl_disk *disk, bool killable) __acquires(&disk->lock)
{
	u64 now_ns;
	int ret = 0;

	lock_disk_and_read_clock(disk);
	now_ns = aftl_disk_now_ns(disk);
	while (!ret) {
		if (advance_disk_by_slice(disk, max(now_ns, aftl_device_time_ns(disk->ftl)))) {
			drop_disk_lock_briefly(disk);
			if (killable && fatal_signal_pending(current))
				ret = -EINTR;
		} else if (disk->stalled) {
			spin_unlock_bh(&disk->lock);
			ret = aftl_dev_wait_for_room_in_queue(disk->durable, killable);
			spin_lock_bh(&disk->lock);
		} else {
			break;
		}
	}
	return ret;
}

void aftl_disk_unlock_and_end_bios(struct aftl_disk *disk) __releases(&disk->lock)
{
	bool running = disk->running;
	struct aftl_request *done;
	u32 slices = 1;

	/* A stopped disk's FTL may be called by the caller of aftl_disk_stop() only. */
	while (disk->running == running && execute_slice_of_disk_work(disk)) {
		if (slices++ >= OWN_SLICES && running) {
			queue_work_to_advance_disk(disk, true);
			break;
		}
		drop_disk_lock_briefly(disk);
	}
	done = take_completed_requests(disk, U64_MAX);
	spin_unlock_bh(&disk->lock);
	aftl_disk_finish_requests(disk, done);
}

/*
 * This worker runs until the disk stops or reaches the present, which an overloaded FTL never does.
 * After each slice of work it lets other CPUs have the disk's lock.
 */
static void advance_disk_to_now_work(struct work_struct *work)
{
	struct aftl_disk *disk = container_of(work, struct aftl_disk, catch_up);

	spin_lock_bh(&disk->lock);
	while (disk->running && (disk->scale == AFTL_TIMING_OFF ?
					 advance_untimed_disk_by_slice(disk) :
					 advance_disk_by_slice(disk, aftl_disk_now_ns(disk))))
		drop_disk_lock_briefly(disk);
	disk->behind = false;
	aftl_disk_unlock_and_end_bios(disk);
}

static enum hrtimer_restart handle_fired_disk_timer(struct hrtimer *timer)
{
	struct aftl_disk *disk = container_of(timer, struct aftl_disk, timer);
	struct aftl_request *done;
	bool more;

	spin_lock_bh(&disk->lock);
	disk->armed_ns = KTIME_MAX;
	/* Do nothing if the disk was stopped while the timer waited for the disk's lock. */
	if (!disk->running) {
		spin_unlock_bh(&disk->lock);
		return HRTIMER_NORESTART;
	}
	more = advance_disk_by_slice(disk, aftl_disk_now_ns(disk));
	done = take_completed_requests(disk, SOFTIRQ_SECTORS);
	if (more || disk->done)
		queue_work_to_advance_disk(disk, more);
	arm_disk_timer(disk);
	report_disk_failure(disk);
	spin_unlock_bh(&disk->lock);
	aftl_disk_finish_requests(disk, done);
	return HRTIMER_NORESTART;
}

static void continue_stalled_disk_work(struct aftl_disk *disk)
{
	/*
	 * Take the lock so that a caller that saw the store's queue full and is about to stall sees
	 * that there is room now. Only aftl_disk_execute_request() runs the FTL of a stopped disk.
	 */
	spin_lock_bh(&disk->lock);
	if (disk->running &&
	    (disk->stalled || (aftl_dev_get_error(disk->durable) && !disk->told))) {
		advance_disk_by_slice(disk, aftl_disk_now_ns(disk));
		aftl_disk_unlock_and_end_bios(disk);
	} else {
		spin_unlock_bh(&disk->lock);
	}
}

static bool disk_may_continue_gc(const struct aftl_disk *disk)
{
	return disk->running && aftl_count_luns_in_gc(disk->ftl) &&
	       aftl_next_event_ns(disk->ftl) != U64_MAX;
}

/* With a durable store GC waits for room in the queue, and so for the backing device. */
static void queue_untimed_gc_work(struct aftl_disk *disk)
{
	queue_work(disk->durable ? disk->workers.background : workers, &disk->collect);
}

/*
 * With "timing off" device time passes only while requests are pending. GC has no request, so this
 * work item processes its events, one slice at a time.
 */
static void advance_untimed_gc_work(struct work_struct *work)
{
	struct aftl_disk *disk = container_of(work, struct aftl_disk, collect);
	u32 begin;
	bool more;

	if (aftl_disk_lock_and_advance(disk, false)) {
		aftl_disk_unlock_and_end_bios(disk);
		return;
	}
	begin = aftl_get_amount_of_work_done(disk->ftl);
	while (!is_disk_work_slice_over(disk, begin) && disk_may_continue_gc(disk) &&
	       aftl_disk_process_event(disk))
		;
	more = disk_may_continue_gc(disk);
	aftl_disk_unlock_and_end_bios(disk);
	if (more)
		queue_untimed_gc_work(disk);
}

void aftl_disk_queue_gc(struct aftl_disk *disk)
{
	if (disk->scale == AFTL_TIMING_OFF && READ_ONCE(disk->running))
		queue_untimed_gc_work(disk);
}

/*
 * Work item that retires the blocks with remapped data. It ends when the disk stops, because only
 * the caller of aftl_disk_stop() may then use the FTL; aftl_disk_start() queues the item again.
 */
static void retire_worn_blocks_work(struct work_struct *work)
{
	struct aftl_disk *disk = container_of(work, struct aftl_disk, wear);
	u32 block = aftl_dev_find_worn_block(disk->durable, 0);

	for (; READ_ONCE(disk->running) && block != U32_MAX;
	     block = aftl_dev_find_worn_block(disk->durable, block + 1)) {
		if (!aftl_disk_lock_and_advance(disk, false))
			WARN_ON_ONCE(aftl_fail_block(disk->ftl, block));
		aftl_disk_unlock_and_end_bios(disk);
	}
}

/*
 * Until a worn block is retired, its data occupy spare sectors, without which failing writes are
 * lost. Such writes may come from memory reclaim, so the retirement must not wait for memory.
 */
static void queue_retirement_of_worn_blocks(struct aftl_disk *disk)
{
	queue_work(disk->workers.background, &disk->wear);
}

static void disk_set_drain_mode(struct aftl_disk *disk, bool hurry)
{
	if (!aftl_disk_lock_and_advance(disk, false))
		aftl_set_drain_mode(disk->ftl, hurry);
	aftl_disk_unlock_and_end_bios(disk);
}

static const struct aftl_disk_ops ops = {
	.finish = aftl_disk_finish_requests,
	.go_on = continue_stalled_disk_work,
	.wear = queue_retirement_of_worn_blocks,
	.hurry = disk_set_drain_mode,
};

static void send_dm_event_of_disk_work(struct work_struct *work)
{
	struct aftl_disk *disk = container_of(work, struct aftl_disk, event);

	dm_table_event(disk->table);
}

int aftl_disk_create(struct aftl_disk *disk, const struct aftl_options *options,
		     struct aftl_error *error)
{
	const struct aftl_geometry *geo;
	struct aftl_config own;
	int ret;

	aftl_derive_shard_config(&own, &options->config, disk->shard);
	ret = aftl_create(&disk->ftl, &own, options->policy, &aftl_host_memory, disk, error);
	if (ret)
		return ret;
	geo = aftl_geometry(disk->ftl);
	disk->unit_shift = ilog2(geo->unit_bytes >> SECTOR_SHIFT);
	disk->store = options->store->create(geo, disk->node);
	if (!disk->store)
		return aftl_fail(error, -ENOMEM, "not enough memory to store %u logical pages",
				 geo->units);
	return 0;
}

int aftl_disk_precondition(struct aftl_disk *disk, struct aftl_error *error)
{
	int ret = aftl_precondition(disk->ftl);

	if (ret == -EINTR)
		return aftl_fail(error, ret, "interrupted while the device was filled");
	if (ret)
		return aftl_fail(error, -EINVAL,
				 "the device cannot be filled as asked; lower fill_valid or fill_overwrite, or raise op");
	return 0;
}

int aftl_disk_open(struct aftl_disk *disk, const struct aftl_options *options,
		   struct block_device *bdev, const struct aftl_disk *first,
		   struct aftl_error *error)
{
	struct aftl_volume_header *super = kzalloc(sizeof(*super), GFP_KERNEL);
	int ret;

	if (!super)
		return aftl_fail(error, -ENOMEM, "not enough memory for a volume header");
	strscpy(super->policy, options->policy->name, sizeof(super->policy));
	strscpy(super->profile, aftl_profile_name(options->profile), sizeof(super->profile));
	super->config = options->config;
	super->shard = disk->shard;
	ret = aftl_dev_open(&disk->store, disk, bdev, first ? first->durable : NULL, super,
			    error);
	kfree(super);
	if (!ret)
		disk->unit_shift = ilog2(aftl_geometry(disk->ftl)->unit_bytes >> SECTOR_SHIFT);
	return ret;
}

/* Distribute shards over the NUMA nodes that have memory. A single shard has no preferred node. */
static int select_numa_node_of_shard(const struct aftl_options *options, u32 shard)
{
	u32 turn = shard % num_node_state(N_MEMORY);
	int node;

	if (options->config.shards == 1)
		return NUMA_NO_NODE;
	for_each_node_state(node, N_MEMORY)
		if (!turn--)
			return node;
	return NUMA_NO_NODE;
}

struct aftl_disk *aftl_disk_new(const struct aftl_options *options, u32 shard)
{
	int node = select_numa_node_of_shard(options, shard);
	struct aftl_disk *disk = kvzalloc_node(sizeof(*disk), GFP_KERNEL, node);

	if (!disk)
		return NULL;
	if (options->store == &aftl_store_dev && aftl_dev_workers_create(&disk->workers)) {
		kvfree(disk);
		return NULL;
	}
	disk->shard = shard;
	disk->node = node;
	spin_lock_init(&disk->lock);
	spin_lock_init(&disk->late_lock);
	disk->ops = &ops;
	disk->scale = options->scale;
	disk->armed_ns = KTIME_MAX;
	INIT_WORK(&disk->event, send_dm_event_of_disk_work);
	INIT_WORK(&disk->wear, retire_worn_blocks_work);
	INIT_WORK(&disk->collect, advance_untimed_gc_work);
	INIT_WORK(&disk->catch_up, advance_disk_to_now_work);
	aftl_hrtimer_setup(&disk->timer, handle_fired_disk_timer, HRTIMER_MODE_ABS_SOFT);
	return disk;
}

/*
 * Check the memory for the stores of all shards and for their FTLs, except that of shard 0, which
 * exists already. So a lack of memory is reported now, not after most shards have been recovered or
 * the old table is gone.
 */
static int check_disk_memory(const struct aftl_options *options, const struct aftl *ftl,
			     struct aftl_error *error)
{
	u64 store = options->store->need(aftl_geometry(ftl));
	u64 bytes = aftl_memory_bytes(ftl);
	u64 shards = options->config.shards;

	if ((bytes * (shards - 1) + store * shards) >> PAGE_SHIFT < (u64)si_mem_available())
		return 0;
	return aftl_fail(error, -ENOMEM,
			 "not enough memory: the tables of %llu shards take %llu MiB each",
			 shards, (bytes + store) >> 20);
}

int aftl_disk_check_memory_for_shards(const struct aftl_disk *disk,
				      const struct aftl_options *options,
				      struct aftl_error *error)
{
	return check_disk_memory(options, disk->ftl, error);
}

int aftl_disk_check_options(const struct aftl_options *options, struct aftl_error *error)
{
	struct aftl_config own;
	struct aftl *ftl;
	int ret;

	aftl_derive_shard_config(&own, &options->config, 0);
	ret = aftl_create(&ftl, &own, options->policy, &aftl_host_memory, NULL, error);
	if (ret)
		return ret;
	ret = check_disk_memory(options, ftl, error);
	aftl_destroy(ftl);
	return ret;
}

int aftl_disk_mark_in_use(struct aftl_disk *disk, const struct aftl_config *config,
			  struct aftl_error *error)
{
	return disk->durable ? aftl_dev_begin_use(disk->durable, config, error) : 0;
}

void aftl_disk_start(struct aftl_disk *disk, struct dm_table *table)
{
	spin_lock_bh(&disk->lock);
	disk->table = table;
	disk->dev = disk_devt(dm_disk(dm_table_get_md(table)));
	disk->start_ns = aftl_device_time_ns(disk->ftl);
	disk->start_host_ns = ktime_get_ns();
	disk->running = true;
	aftl_disk_unlock_and_end_bios(disk);
	aftl_disk_queue_gc(disk);
	if (disk->durable)
		queue_retirement_of_worn_blocks(disk);
}

static void stop_disk_clock(struct aftl_disk *disk)
{
	u64 now_ns;

	spin_lock_bh(&disk->lock);
	/* A disk that could not be opened has no FTL to advance; its @running is false. */
	now_ns = disk->running ? aftl_disk_now_ns(disk) : 0;
	while (disk->running && advance_disk_by_slice(disk, now_ns))
		drop_disk_lock_briefly(disk);
	disk->running = false;
	spin_unlock_bh(&disk->lock);
	hrtimer_cancel(&disk->timer);
	cancel_work_sync(&disk->catch_up);
	cancel_work_sync(&disk->event);
	cancel_work_sync(&disk->wear);
	cancel_work_sync(&disk->collect);
	disk->armed_ns = KTIME_MAX;
	disk->behind = false;
}

/* Process events until no request is pending; if the store's queue is full, wait for room. */
static void drain_disk_without_timing(struct aftl_disk *disk)
{
	while (has_disk_pending_events(disk)) {
		if (!aftl_disk_lock_and_advance(disk, false))
			advance_untimed_disk_by_slice(disk);
		spin_unlock_bh(&disk->lock);
		cond_resched();
	}
	disk->done = NULL;
}

int aftl_disk_execute_request(struct aftl_disk *disk, struct aftl_io *io)
{
	int ret = aftl_disk_lock_and_advance(disk, false);

	io->request.arrival_ns = aftl_device_time_ns(disk->ftl);
	if (!ret)
		ret = aftl_submit(disk->ftl, &io->request);
	spin_unlock_bh(&disk->lock);
	drain_disk_without_timing(disk);
	return ret ? ret : io->request.status;
}

/* Finish the FTL's operations in progress and begin no new ones, see aftl_quiesce(). */
static void quiesce_disk(struct aftl_disk *disk)
{
	bool more = true;

	while (more) {
		if (!aftl_disk_lock_and_advance(disk, false))
			more = aftl_quiesce_device_by_slice(disk->ftl);
		spin_unlock_bh(&disk->lock);
	}
}

/*
 * Make all data durable, as a flush does. The FTL state for a fast recovery stays in memory until
 * aftl_disk_close() writes it.
 */
static void commit_durable_store(struct aftl_disk *disk)
{
	struct aftl_io flush = { .request = { .op = AFTL_OP_FLUSH } };
	struct block_device *bdev = disk->durable->device.bdev;
	int ret = aftl_disk_execute_request(disk, &flush);

	if (ret)
		DMERR("%pg: buffered writes could not be programmed", bdev);
	if (aftl_dev_suspend(disk->durable))
		DMERR("%pg: the volume could not be written", bdev);
}

static void set_drain_mode_of_stopped_disk(struct aftl_disk *disk, bool hurry)
{
	if (!aftl_disk_lock_and_advance(disk, false))
		aftl_set_drain_mode(disk->ftl, hurry);
	spin_unlock_bh(&disk->lock);
}

void aftl_disk_drain_write_buffer(struct aftl_disk *disk)
{
	set_drain_mode_of_stopped_disk(disk, true);
	drain_disk_without_timing(disk);
	set_drain_mode_of_stopped_disk(disk, false);
}

void aftl_disk_close(struct aftl_disk *disk)
{
	struct aftl_error error;

	if (!disk->durable || !disk->ftl || !aftl_dev_resume(disk->durable))
		return;
	/* A snapshot can be written only if the write buffer is empty. */
	if (disk->durable->safe)
		aftl_disk_drain_write_buffer(disk);
	quiesce_disk(disk);
	if (aftl_dev_close(disk->durable, &error))
		DMERR("%pg: %s", disk->durable->device.bdev, error.text);
}

void aftl_disk_stop(struct aftl_disk *disk)
{
	bool ran = disk->running;

	stop_disk_clock(disk);
	if (ran && disk->durable)
		commit_durable_store(disk);
}

void aftl_disk_destroy(struct aftl_disk *disk)
{
	if (!disk)
		return;
	stop_disk_clock(disk);
	aftl_destroy(disk->ftl);
	if (disk->store)
		disk->store->type->destroy(disk->store);
	aftl_dev_workers_destroy(&disk->workers);
	kvfree(disk);
}

int aftl_disks_init(void)
{
	workers = alloc_workqueue("aftl_disks", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return workers ? 0 : -ENOMEM;
}

void aftl_disks_exit(void)
{
	destroy_workqueue(workers);
}
