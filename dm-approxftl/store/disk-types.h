/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The structure of a disk, for the stores; disk/disk.h has its functions.
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
 * struct aftl_disk_ops - calls of a durable store to its disk
 */
struct aftl_disk_ops {
	/* End the bios of the requests in the list @done. Context: any but a hard interrupt. */
	void (*finish)(struct aftl_disk *disk, struct aftl_request *done);

	/* Advance device time again: the queue got room, or the store failed. Context: no lock. */
	void (*go_on)(struct aftl_disk *disk);

	/* Retire blocks that have remapped data, see aftl_dev_find_worn_block(). Context: any. */
	void (*wear)(struct aftl_disk *disk);

	/* Start or stop draining the write buffer, whose memory is needed. Context: may sleep. */
	void (*hurry)(struct aftl_disk *disk, bool hurry);
};

/**
 * struct aftl_dev_workers - workqueues of a durable store
 * @queue: executes the queue of operations
 * @salvage: writes data again whose write failed; @queue may wait for it
 * @fetch: starts and ends reads from the block device; @queue may wait for it
 * @background: work that @queue never waits for: retires worn blocks, collects garbage by message,
 *	reads the volume header to find out whether the block device responds
 * @submit: submits the reads of cgroups
 *
 * They are allocated when a table is loaded. Each has a rescuer thread, and creating a thread may
 * block while the device that memory is swapped out to is suspended.
 */
struct aftl_dev_workers {
	struct workqueue_struct *queue;
	struct workqueue_struct *salvage;
	struct workqueue_struct *fetch;
	struct workqueue_struct *background;
	struct workqueue_struct *submit;
};

/**
 * struct aftl_disk - an emulated SSD
 * @ftl: FTL; protected by @lock
 * @ops: calls for a durable store
 * @store: store; called under @lock, except its operations gather(), copy() and release()
 * @durable: @store if it is a durable store; else NULL
 * @workers: workqueues of a durable store, allocated before it is opened
 * @lock: protects @ftl, @store, @done and the clock; taken by submitters and by @timer
 * @done: complete requests whose bios have not ended yet, oldest first
 * @done_tail: last entry of @done
 * @scale: host nanoseconds per nanosecond of device time, or AFTL_TIMING_OFF
 * @unit_shift: log2 of the sectors of a mapping unit
 * @start_ns: device time of the last resume
 * @start_host_ns: host time of the last resume
 * @armed_ns: host time at which @timer fires; KTIME_MAX if it is not armed
 * @running: true from resume until postsuspend
 * @stalled: device time stands still until the store has room
 * @behind: @catch_up is queued or runs; @timer is not armed before it has ended
 * @told: user space was told that the disk is read-only or has failed
 * @timer: fires at the next event of the FTL
 * @event: tells user space that the disk is read-only or has failed
 * @wear: retires blocks for @ops->wear()
 * @collect: advances device time for aftl_disk_queue_gc() while there are no requests
 * @catch_up: continues work that takes too long for a soft interrupt or a submitter
 * @table: table that gets the event
 * @dev: number of the mapped device
 * @shard: number of the shard in the device
 * @node: NUMA node of its memory; NUMA_NO_NODE for any
 * @maker: task that waits until the disk is made or closed, and whose fatal signal interrupts that;
 *	NULL for the current task
 * @submitted: number of requests so far
 * @lock_waits: number of requests and messages that had to wait for @lock
 * @lock_wait_ns: host time that they waited
 * @handovers: number of times that @catch_up was queued
 * @late_lock: protects @late
 * @late: host time from when a request was due until it completed
 */
struct aftl_disk {
	struct aftl *ftl;
	const struct aftl_disk_ops *ops;
	struct aftl_store *store;
	struct aftl_dev *durable;
	struct aftl_dev_workers workers;
	spinlock_t lock; /* protects FTL, store, done and clock */
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
	spinlock_t late_lock; /* protects the histogram @late */
	struct aftl_histogram late;
};

static inline u32 aftl_disk_unit_sectors(const struct aftl_disk *disk)
{
	return 1U << disk->unit_shift;
}

/* Callbacks of the FTL: for a disk whose store is in memory, and for one with a durable store. */
extern const struct aftl_host_ops aftl_host_memory;
extern const struct aftl_host_ops aftl_host_durable;

#endif
