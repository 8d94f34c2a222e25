/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device-mapper's methods.
 *
 * DOC: contexts and locks of the target
 *
 * Contexts, with the locks that they take:
 *
 * - .map, in process context: of a submitter, or of a worker of whatever is above. May sleep for
 *   memory (GFP_NOIO) and for room in the queue of a durable store, never for I/O of its own. RCU
 *   and a tree of tags; the disk's lock; gather_lock.
 * - The disk's timer, a soft interrupt: the disk's lock; completions.
 * - Work of a disk (catch_up, collect, wear): the disk's lock; completions. May sleep. Its work
 *   "event" takes a mutex of device-mapper, and no lock of ours.
 * - Workers of a durable store: "work" carries out the queue, submits I/O, waits for it and
 *   commits; "salvage_work" writes elsewhere what could not be written; "fetch_work" begins and
 *   ends reads; "probe_work" waits for a read of the volume header. They take the disk's lock, and
 *   that of the store. "lane_work" submits the reads of one cgroup, and may be throttled.
 * - The end of I/O of the device below, a hard or soft interrupt: the store's lock and that of its
 *   block device. What may sleep or needs the disk's lock is queued to a worker.
 * - Methods of device-mapper but .map, and messages: process context, with GFP_NOIO in preresume.
 *   Load, resume and removal: the list of targets. All: the target's gate, and the disk's lock.
 *   Preresume holds neither while it opens a volume or moves data: these are reserved for it then
 *   (disk/ownership.h).
 * - ioctls of /dev/approxftl: process context. The list of targets and, tried only, a gate; the
 *   disk's lock; the mutexes and marks of tags.
 * - fsnotify's callbacks, at the end of an inode or super block: process context, memory reclaim
 *   included. The lock of marks.
 *
 * Order, the outermost first. A lock may be left out; none is taken inside one that follows it.
 *
 * 1. aftl_targets_lock, of the list of targets and of who owns the data. Not held during I/O.
 * 2. aftl_target.gate of the target that is resumed, suspended or removed, or has got a message.
 *    aftl_target_visit() only tries it, for postsuspend holds it during I/O.
 * 3. aftl_target.gate of the owner before, in begin_table() alone
 * 4. aftl_dev.gather_lock, by submitters that wait for the last pages of the store;
 *    aftl_bdev.probe_lock, by readers of the volume header. Neither with the other.
 * 5. "change" of tags/table.c and of tags/watch.c, aftl_scopes.lock: each by itself
 * 6. aftl_disk.lock, bottom halves off: the FTL, a store in memory, what is complete, the clock.
 *    Held for a slice of work: see SLICE_WORK in disk/disk.c; docs/kernel-contract.md has the
 *    exceptions.
 * 7. aftl_dev.lock, interrupts off: the queue of a durable store
 * 8. aftl_bdev.lock, interrupts off: writes under way and the first error of the device below
 *
 * Innermost, with none of ours inside: aftl_disk.late_lock (bottom halves off, without 6),
 * aftl_bdev.lanes_lock (in process context), aftl_marks.lock, the lock of a maple tree of tags.
 *
 * Sleeping locks are 1 to 5. Of two disks no context holds both locks.
 */
#ifndef AFTL_TARGET_H
#define AFTL_TARGET_H

#include "disk/targets.h"

/* reload.c */

/**
 * aftl_device_take_over() - make all that is on @from be on @to, whatever their shards
 *
 * Both are stopped, their stores are of one kind in memory, and their units of one size. The
 * buffers of @from are empty.
 *
 * Return: 0, and @from is of no more use; or an error code with a sentence: then it is as it was,
 * and @to is of no use.
 */
int __must_check aftl_device_take_over(struct aftl_device *to, struct aftl_device *from,
				       struct aftl_error *error);

/* message.c */

int aftl_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		 unsigned int maxlen);

/* zones.c, for a device with zones */

struct dm_report_zones_args;

#ifdef CONFIG_BLK_DEV_ZONED
/**
 * aftl_zones_create() - prepare what device-mapper asks of a device with zones
 *
 * Return: 0, or an error code with a sentence.
 */
int __must_check aftl_zones_create(struct aftl_target *target, struct aftl_error *error);
void aftl_zones_destroy(struct aftl_target *target);
void aftl_zones_limit(const struct aftl_target *target, struct queue_limits *limits);
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

static inline void aftl_zones_limit(const struct aftl_target *target, struct queue_limits *limits)
{
}

#define aftl_zones_report NULL
#endif

/* target/status.c */

void aftl_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
		 char *result, unsigned int maxlen);

#endif
