/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk, as its stores know it; disk/disk.h says what it does.
 */
#ifndef AFTL_STORE_DISK_TYPES_H
#define AFTL_STORE_DISK_TYPES_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/ftl/ftl.h"

struct aftl_dev;
struct aftl_disk;
struct aftl_store;
struct dm_table;

/**
 * struct aftl_disk_ops - what a durable store asks of the disk that it belongs to
 */
struct aftl_disk_ops {
	/* End the bios of @done, a chain linked by their next. Any context but a hard interrupt. */
	void (*finish)(struct aftl_disk *disk, struct aftl_request *done);

	/* There may be room again, or there has been a failure. Not with a lock held. */
	void (*go_on)(struct aftl_disk *disk);

	/* There are blocks that cannot be written any more: retire them. Any context. */
	void (*wear)(struct aftl_disk *disk);

	/* Memory is needed that buffered writes hold, or is not. May sleep. */
	void (*hurry)(struct aftl_disk *disk, bool hurry);
};

/**
 * struct aftl_dev_workers - workqueues of a durable store
 * @queue: carries out the queue of operations
 * @salvage: writes elsewhere what could not be written; @queue may have to wait for it
 * @fetch: begins and ends reads of the block device; @queue may have to wait for it
 * @probe: waits for a read of the volume header
 * @submit: submits the reads of cgroups
 *
 * A table makes them when it is loaded: a workqueue has a thread for when memory is short, and no
 * thread can be made for certain while the device that memory is written to is suspended.
 */
struct aftl_dev_workers {
	struct workqueue_struct *queue;
	struct workqueue_struct *salvage;
	struct workqueue_struct *fetch;
	struct workqueue_struct *probe;
	struct workqueue_struct *submit;
};

/**
 * struct aftl_disk - an emulated SSD
 * @ftl: the FTL, under @lock
 * @ops: what a durable store asks of it
 * @store: the bytes, under @lock but for gather(), copy() and release()
 * @durable: the same, if it is the durable store; else NULL
 * @workers: of a durable store, whether it is open or not
 * @lock: of @ftl, @store, @done and the clock; taken by submitters and by the timer
 * @done: requests that are complete and not yet handed back, oldest first
 * @done_tail: the last of them
 * @scale: as in struct aftl_options
 * @unit_shift: sectors in a mapping unit, as a power of two
 * @start_ns: device time of the last resume
 * @start_host_ns: host time of the last resume
 * @armed_ns: host time at which @timer fires, KTIME_MAX if it does not
 * @running: between resume and postsuspend
 * @stalled: device time stands still until the store has room
 * @behind: @catch_up is on its way; until it has ended @timer is not armed
 * @told: user space knows that the disk is read-only or has failed
 * @timer: fires at the FTL's next event
 * @event: tells user space that the disk has become read-only
 * @wear: retires what @ops->wear() is about
 * @collect: lets time pass for aftl_disk_collect() where nobody else does
 * @catch_up: goes on with what takes too long for a soft interrupt or a submitter
 * @table: whom @event is for
 * @dev: number of the block device that it is under
 * @shard: which one of its device it is
 * @node: that its memory is of, NUMA_NO_NODE for any
 * @maker: who waits for it to be made or closed, which a signal ends; NULL for whoever does it
 * @submitted: requests so far
 * @lock_waits: times that a request or a message has found @lock taken
 * @lock_wait_ns: host time that these have waited for it
 * @handovers: times that @catch_up was needed
 * @late_lock: of @late
 * @late: host time from when a request should have been handed back until it was
 */
struct aftl_disk {
	struct aftl *ftl;
	const struct aftl_disk_ops *ops;
	struct aftl_store *store;
	struct aftl_dev *durable;
	struct aftl_dev_workers workers;
	spinlock_t lock; /* FTL, store, done and clock */
	struct aftl_request *done;
	struct aftl_request *done_tail;
	u32 scale;
	u32 unit_shift;
	u64 start_ns;
	u64 start_host_ns;
	u64 armed_ns;
	bool running;
	bool stalled;
	bool behind;
	bool told;
	struct hrtimer timer;
	struct work_struct event;
	struct work_struct wear;
	struct work_struct collect;
	struct work_struct catch_up;
	struct dm_table *table;
	dev_t dev;
	u32 shard;
	int node;
	struct task_struct *maker;
	u64 submitted;
	u64 lock_waits;
	u64 lock_wait_ns;
	u64 handovers;
	spinlock_t late_lock; /* late */
	struct aftl_histogram late;
};

static inline u32 aftl_unit_sectors(const struct aftl_disk *disk)
{
	return 1U << disk->unit_shift;
}

/* What the FTL asks of a disk whose store is in memory, and of one whose store is durable. */
extern const struct aftl_host_ops aftl_host_memory;
extern const struct aftl_host_ops aftl_host_durable;

#endif
