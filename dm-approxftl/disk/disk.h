/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk: the emulated SSD behind a table line, which is FTL, bytes and clock. It outlives
 * its target when the table is reloaded.
 */
#ifndef AFTL_DISK_H
#define AFTL_DISK_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/ftl/ftl.h"
#include "store/store.h"
#include "tags/ranges.h"

struct aftl_dev;
struct aftl_io;
struct block_device;
struct dm_table;

/* Time scale of "timing off": the device's time passes only while it works. */
#define AFTL_TIMING_OFF 0

/* Room for the number of a block device. */
#define AFTL_DEVICE_NAME 32

/**
 * struct aftl_options - a table line, understood
 * @store: kind of store
 * @device: the block device that the store is on; empty for others
 * @policy: kind of FTL
 * @profile: index of the profile
 * @scale: host nanoseconds in a nanosecond of the device, or AFTL_TIMING_OFF
 * @class: enum aftl_class that every write is treated as
 * @ioprio_hint: hint in the I/O priority of approximate writes; 0 for none
 * @standard: the profile's parameters
 * @config: those with the line's changes
 */
struct aftl_options {
	const struct aftl_store_type *store;
	char device[AFTL_DEVICE_NAME];
	const struct aftl_policy_type *policy;
	u32 profile;
	u32 scale;
	u32 class;
	u32 ioprio_hint;
	struct aftl_config standard;
	struct aftl_config config;
};

/**
 * struct aftl_disk - an emulated SSD
 * @ftl: the FTL, under @lock
 * @store: the bytes, under @lock but for gather() and release()
 * @durable: the same, if it is the durable store; else NULL
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
 * @told: user space knows that the disk is read-only or has failed
 * @timer: fires at the FTL's next event
 * @event: tells user space that the disk has become read-only
 * @collect: lets time pass for aftl_disk_collect() where nobody else does
 * @table: whom @event is for
 * @dev: number of the block device that it is under
 * @tags: ranges that are approximate while nobody has claimed the device; changed under
 *	the target's gate
 * @submitted: requests so far
 * @late_lock: of @late
 * @late: host time from when a request should have been handed back until it was
 */
struct aftl_disk {
	struct aftl *ftl;
	struct aftl_store *store;
	struct aftl_dev *durable;
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
	bool told;
	struct hrtimer timer;
	struct work_struct event;
	struct work_struct collect;
	struct dm_table *table;
	dev_t dev;
	struct aftl_ranges tags;
	u64 submitted;
	spinlock_t late_lock; /* late */
	struct aftl_histogram late;
};

static inline u32 aftl_unit_sectors(const struct aftl_disk *disk)
{
	return 1U << disk->unit_shift;
}

/**
 * aftl_disk_check() - could there be such an SSD?
 *
 * For a table line that can only be carried out later, when its refusal would cost the
 * old table.
 *
 * Return: 0, or -EINVAL or -ENOMEM with a sentence.
 */
int __must_check aftl_disk_check(const struct aftl_options *options, struct aftl_error *error);

/**
 * aftl_disk_create() - an SSD as new, or filled as configured; its time stands still
 *
 * Return: 0, or -EINVAL or -ENOMEM with a sentence.
 */
int __must_check aftl_disk_create(struct aftl_disk **out, const struct aftl_options *options,
				  struct aftl_error *error);

/**
 * aftl_disk_open() - the SSD that is on @bdev, or a new one if there are zeroes
 *
 * Return: 0, or an error code with a sentence.
 */
int __must_check aftl_disk_open(struct aftl_disk **out, const struct aftl_options *options,
				struct block_device *bdev, struct aftl_error *error);

/**
 * aftl_disk_begin() - the disk is about to be started
 *
 * Return: 0, or an error code with a sentence if its store cannot be written.
 */
int __must_check aftl_disk_begin(struct aftl_disk *disk, struct aftl_error *error);

/**
 * aftl_disk_destroy() - the end of a disk; a durable one is saved, so that it is found quickly
 * @disk: no I/O may be under way; NULL is fine
 *
 * Context: process. A fatal signal cuts the saving short: the volume is then as after a
 * crash, with all that was committed.
 */
void aftl_disk_destroy(struct aftl_disk *disk);

/**
 * aftl_disk_start() - let time pass; @table is told of what user space waits for
 */
void aftl_disk_start(struct aftl_disk *disk, struct dm_table *table);

/**
 * aftl_disk_stop() - stop time, and commit what a durable disk has been given
 * @disk: no I/O may be under way
 *
 * Context: process. Takes as long as a flush, however large the disk is.
 */
void aftl_disk_stop(struct aftl_disk *disk);

/**
 * aftl_disk_collect() - aftl_collect() has been called: let that happen
 * @disk: disk; one that is stopped begins when it is started
 *
 * With "timing off" a worker lets device time pass until nothing is collected. Context: any;
 * no lock is needed.
 */
void aftl_disk_collect(struct aftl_disk *disk);

/**
 * aftl_disk_carry_out() - carry out a request of our own on a stopped disk
 *
 * Context: process, no lock held. Return: the status of the request.
 */
int aftl_disk_carry_out(struct aftl_disk *disk, struct aftl_io *io);

/* Nanoseconds of device time, now. Under the disk's lock. */
u64 aftl_disk_now(const struct aftl_disk *disk);

/**
 * aftl_disk_enter() - lock the disk, at the present, for one call of the FTL
 * @killable: the caller can live without
 *
 * The FTL speaks under a spinlock to a store that may have to wait: only here, where there
 * is room for whatever that call causes, and in aftl_disk_step(), may it be called. For a
 * second call, aftl_disk_leave() and enter again.
 *
 * Context: process, no lock held; the disk's lock is held on return, in any case. Return:
 * 0; -EINTR; or -EBUSY if the store is full and at rest. Then the FTL must not be called.
 */
int __must_check aftl_disk_enter(struct aftl_disk *disk, bool killable);

/**
 * aftl_disk_leave() - the FTL has been called: go on, and hand back what is complete
 *
 * With "timing off" it first lets the device work until nothing is pending. Context: not a
 * hard interrupt; drops the disk's lock.
 */
void aftl_disk_leave(struct aftl_disk *disk);

/**
 * aftl_disk_step() - let the FTL process its next event, whenever that is
 *
 * Context: the disk's lock is held. Return: false if there is none, or no room for it.
 */
bool aftl_disk_step(struct aftl_disk *disk);

/**
 * aftl_disk_continue() - the store may have room again, or has failed
 *
 * Context: process or softirq, no lock held.
 */
void aftl_disk_continue(struct aftl_disk *disk);

/**
 * aftl_disk_hurry() - the store needs memory that buffered writes hold, or does not
 *
 * Context: process, no lock held.
 */
void aftl_disk_hurry(struct aftl_disk *disk, bool hurry);

/**
 * aftl_disk_late() - host nanoseconds since @request should have been handed back
 */
u64 aftl_disk_late(const struct aftl_disk *disk, const struct aftl_request *request);

#endif
