/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interfaces between the files of the device-mapper target.
 *
 * DOC: contexts and locks of the target
 *
 * Contexts, and the locks that each takes:
 *
 * - .map: process context, of the submitter or of a worker of an upper device. It may sleep for
 *   memory (GFP_NOIO) and for room in the queue of a durable store, but never waits for I/O of its
 *   own. It takes rcu_read_lock() and the lock of a maple tree of tags; aftl_disk.lock;
 *   aftl_dev.gather_lock.
 * - aftl_disk.timer: soft interrupt. It takes aftl_disk.lock, and completes requests.
 * - catch_up, collect and wear (work of aftl_disk): process context, may sleep. They take
 *   aftl_disk.lock, and complete requests. The work "event" takes a mutex of device-mapper, and
 *   none of these locks.
 * - Work of aftl_dev, process context: "work" executes the queue, submits I/O, waits for it and
 *   commits; "salvage_work" remaps data whose write failed; "fetch_work" starts and ends reads;
 *   "probe_work" waits for a read of the volume header. They take aftl_disk.lock and aftl_dev.lock.
 *   submit_cgroup_bios_work() submits the reads of one cgroup, and the block layer may throttle it.
 * - bi_end_io of I/O to the backing device: hard or soft interrupt. It takes aftl_dev.lock and
 *   aftl_bdev.lock. A worker does all that may sleep or needs aftl_disk.lock.
 * - The other methods of device-mapper, messages included: process context; preresume allocates
 *   with GFP_NOIO. Constructor, preresume and destructor take aftl_targets_lock. All of them may
 *   take aftl_target.gate and aftl_disk.lock. Preresume holds neither aftl_targets_lock nor the
 *   gate while it opens a volume or moves data, which are reserved for it (disk/ownership.h).
 * - ioctl() of /dev/approxftl: process context. It takes aftl_targets_lock, under which it only
 *   tries aftl_target.gate; aftl_disk.lock; the mutexes of tags, and aftl_marks.lock.
 * - fsnotify callbacks when an inode or super block is freed: process context, also in memory
 *   reclaim. They take aftl_marks.lock.
 *
 * Lock order, outermost first. A context may skip locks, but takes none while it holds a later one:
 *
 * 1. aftl_targets_lock protects the list of targets and the ownership of data. It is not held
 *    during I/O.
 * 2. aftl_target.gate of the target that is resumed, suspended or removed, or that gets a message.
 *    aftl_call_fn_on_target_of_device() and lock_target_list_and_target() only try it, because
 *    postsuspend holds it during I/O, and the message "audit" for long. The others may wait for
 *    it under lock 1: a table that is being resumed has no device, so its messages end at once,
 *    and device-mapper has waited for the messages of a table that it destroys.
 * 3. aftl_target.gate of the previous owner, taken by reserve_device_data_for_target() only.
 * 4. aftl_dev.gather_lock serializes submitters that wait for the last pages of a durable store;
 *    aftl_bdev.probe_lock serializes readers of the volume header. No context holds both.
 * 5. The mutexes "change" in tags/table.c and in tags/watch.c, and aftl_scopes.lock. No context
 *    holds two of them.
 * 6. aftl_disk.lock, bottom halves off, protects the FTL, a store in memory, the list of completed
 *    requests and the clock. It is held for one slice of work, see SLICE_WORK in disk/disk.c;
 *    docs/kernel-contract.md lists the exceptions.
 * 7. aftl_dev.lock, interrupts off, protects the queue of a durable store.
 * 8. aftl_bdev.lock, interrupts off, protects the writes in flight to the backing device, and the
 *    first error of that device.
 *
 * Under the following locks none of the above is taken: aftl_disk.late_lock (bottom halves off, not
 * under 6), aftl_bdev.lanes_lock (process context), aftl_marks.lock, the lock of a maple tree of
 * tags.
 *
 * Locks 1 to 5 are mutexes. No context holds the aftl_disk.lock of two disks.
 */
#ifndef AFTL_TARGET_H
#define AFTL_TARGET_H

#include "disk/targets.h"

/* reload.c */

/**
 * aftl_device_take_over_data() - move the data of one device in memory to another
 * @to: destination; may have another number of shards
 * @from: source; its write buffers are empty
 * @error: takes the message on failure
 *
 * Both devices are stopped. Their stores are in memory and of the same type, and their mapping
 * units have the same size.
 *
 * Context: process, no lock held; may sleep.
 * Return: 0, after which @from can only be destroyed; or an error code with a message, after which
 * @from is unchanged and @to can only be destroyed.
 */
int __must_check aftl_device_take_over_data(struct aftl_device *to, struct aftl_device *from,
					    struct aftl_error *error);

/* message.c */

/**
 * aftl_target_message() - the message method of the target
 * @ti: target
 * @argc: number of arguments
 * @argv: arguments, the name of the message first
 * @result: takes the answer
 * @maxlen: size of @result in bytes
 *
 * Failures are logged with their cause.
 *
 * Context: process; takes the target's gate and allocates with GFP_NOIO.
 * Return: 0; 1 if @result has an answer; or an error code.
 */
int aftl_target_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			unsigned int maxlen);

/* zones.c: functions for zoned devices */

struct dm_report_zones_args;

#ifdef CONFIG_BLK_DEV_ZONED
/**
 * aftl_zones_create() - create the gendisk from which device-mapper reads zones and their limits
 * @target: target whose options and geometry are set
 * @error: takes the message on failure
 *
 * Context: process; may sleep.
 * Return: 0, or an error code with a message.
 */
int __must_check aftl_zones_create(struct aftl_target *target, struct aftl_error *error);

/**
 * aftl_zones_destroy() - free the gendisk of aftl_zones_create()
 * @target: target, which may have no gendisk
 *
 * Context: process; may sleep.
 */
void aftl_zones_destroy(struct aftl_target *target);

/**
 * aftl_zones_set_queue_limits() - set the queue limits of a zoned device
 * @target: zoned target
 * @limits: limits to be changed
 *
 * Context: process, no lock needed.
 */
void aftl_zones_set_queue_limits(const struct aftl_target *target, struct queue_limits *limits);

/**
 * aftl_zones_report() - the report_zones method of the target
 * @ti: target
 * @args: device-mapper's arguments
 * @zones: largest number of zones to report
 *
 * Context: process; takes the target's gate and the disk's lock for each zone.
 * Return: 0, or an error code; -EOPNOTSUPP if the target is not zoned.
 */
int aftl_zones_report(struct dm_target *ti, struct dm_report_zones_args *args,
		      unsigned int zones);
#else
static inline int __must_check aftl_zones_create(struct aftl_target *target,
						 struct aftl_error *error)
{
	return aftl_fail(error, -EOPNOTSUPP,
			 "zoned: this kernel was built without CONFIG_BLK_DEV_ZONED");
}

static inline void aftl_zones_destroy(struct aftl_target *target)
{
}

static inline void aftl_zones_set_queue_limits(const struct aftl_target *target,
					       struct queue_limits *limits)
{
}

#define aftl_zones_report NULL
#endif

/* status.c */

/**
 * aftl_target_status() - the status method of the target
 * @ti: target
 * @type: status line, table line or IMA record
 * @status_flags: ignored
 * @result: takes the text
 * @maxlen: size of @result in bytes
 *
 * Context: process; allocates nothing. Takes the target's gate, except for an IMA record, and the
 * disks' locks for a status line.
 */
void aftl_target_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			char *result, unsigned int maxlen);

#endif
