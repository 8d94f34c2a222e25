/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disk: one emulated SSD shard, which consists of an FTL, a store and a clock. A device has one
 * disk for each shard, see disks.h.
 */
#ifndef AFTL_DISK_H
#define AFTL_DISK_H

#include "store/disk-types.h"
#include "store/io.h"
#include "store/store.h"

struct block_device;

/* Time scale of "timing off": device time passes only while requests are pending. */
#define AFTL_TIMING_OFF 0

/* Size of a string with the number of a block device, such as "8:16". */
#define AFTL_DEVICE_NAME 32

/**
 * struct aftl_options - parsed table line
 * @store: store type
 * @device: block device of a durable store; empty for other stores
 * @policy: FTL policy
 * @profile: index of the profile
 * @scale: host nanoseconds per nanosecond of device time, or AFTL_TIMING_OFF
 * @class: AFTL_APPROX if all writes are approximate (option tag_all), else AFTL_PRECISE
 * @ioprio_hint: hint in the I/O priority that marks approximate writes; 0 if none does
 * @carriers: by what a write may be approximate, bits of APPROXFTL_CARRIER_*
 * @standard: parameters of the profile
 * @config: @standard with the parameters of the table line applied
 */
struct aftl_options {
	const struct aftl_store_type *store;
	char device[AFTL_DEVICE_NAME];
	const struct aftl_policy_type *policy;
	u32 profile;
	u32 scale;
	u32 class;
	u32 ioprio_hint;
	u32 carriers;
	struct aftl_config standard;
	struct aftl_config config;
};

/* Return the number of write streams by which the host's data are placed. */
static inline u32 aftl_count_placement_streams(const struct aftl_options *options)
{
	const struct aftl_config *config = &options->config;

	return options->policy->host_streams +
	       (u32)(config->placement_handles * config->placement_groups);
}

/* Largest life time of F_SET_RW_HINT. Linux uses the life time of a file as its write stream. */
#define AFTL_LIFE_MAX 5

/*
 * Return the number of the write stream that marks writes as approximate: it follows the streams
 * that place data, and those that stand for a life time.
 */
static inline u32 aftl_get_write_stream_of_tag(const struct aftl_options *options)
{
	return max_t(u32, aftl_count_placement_streams(options), AFTL_LIFE_MAX) + 1;
}

/**
 * aftl_disk_check_options() - check that a device of @options can be created
 * @options: parsed table line
 * @error: set to a message on failure
 *
 * Called when a table is loaded whose device can be created only after the old table has been
 * replaced, so that bad options are refused before that.
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int __must_check aftl_disk_check_options(const struct aftl_options *options,
					 struct aftl_error *error);

/**
 * aftl_disk_new() - allocate a disk without FTL and store
 * @options: parsed table line of the whole device
 * @shard: number of the shard
 *
 * Context: process; may sleep.
 * Return: the disk, or NULL if there is no memory.
 */
struct aftl_disk *aftl_disk_new(const struct aftl_options *options, u32 shard);

/**
 * aftl_disk_create() - create an empty FTL and a store in memory; the clock is stopped
 * @disk: disk from aftl_disk_new(); after a failure it can only be destroyed
 * @options: as for aftl_disk_new()
 * @error: set to a message on failure
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int __must_check aftl_disk_create(struct aftl_disk *disk, const struct aftl_options *options,
				  struct aftl_error *error);

/**
 * aftl_disk_precondition() - fill a new disk as its fill parameters say
 * @disk: disk after aftl_disk_create()
 * @error: set to a message on failure
 *
 * Context: process; may sleep. A fatal signal to the task that creates the disk ends the fill.
 * Return: 0, -EINVAL or -EINTR.
 */
int __must_check aftl_disk_precondition(struct aftl_disk *disk, struct aftl_error *error);

/**
 * aftl_disk_open() - open the volume of this shard on @bdev and recover its FTL
 * @disk: disk from aftl_disk_new(); after a failure it can only be destroyed
 * @options: as for aftl_disk_new()
 * @bdev: block device with the volumes of all shards
 * @first: disk of shard 0, whose volume header locates the others; NULL for shard 0 itself
 * @error: set to a message on failure
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_disk_open(struct aftl_disk *disk, const struct aftl_options *options,
				struct block_device *bdev, const struct aftl_disk *first,
				struct aftl_error *error);

/**
 * aftl_disk_check_memory_for_shards() - check that other shards have memory
 * @disk: disk of shard 0, open
 * @options: parsed table line of the whole device
 * @error: set to a message on failure
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int __must_check aftl_disk_check_memory_for_shards(const struct aftl_disk *disk,
						   const struct aftl_options *options,
						   struct aftl_error *error);

/**
 * aftl_disk_mark_in_use() - prepare the store for aftl_disk_start()
 * @disk: disk that is stopped
 * @config: parameters of the whole device
 * @error: set to a message on failure
 *
 * Context: process; may sleep.
 * Return: 0, or a negative error code if the durable store cannot be written.
 */
int __must_check aftl_disk_mark_in_use(struct aftl_disk *disk, const struct aftl_config *config,
				       struct aftl_error *error);

/**
 * aftl_disk_close() - save the FTL state of a durable disk, for a fast recovery
 * @disk: disk that is stopped
 *
 * Context: process; may sleep. After a fatal signal the state is not saved: the volume is then as
 * after a crash, with all data that were committed.
 */
void aftl_disk_close(struct aftl_disk *disk);

/**
 * aftl_disk_destroy() - free a disk that is stopped
 * @disk: disk, or NULL
 *
 * Context: process; may sleep.
 */
void aftl_disk_destroy(struct aftl_disk *disk);

/**
 * aftl_disk_start() - start the clock
 * @disk: disk after aftl_disk_mark_in_use()
 * @table: dm table that gets an event when the disk becomes read-only or its store fails
 *
 * Context: process.
 */
void aftl_disk_start(struct aftl_disk *disk, struct dm_table *table);

/**
 * aftl_disk_stop() - stop the clock, and commit the data of a durable disk
 * @disk: disk without I/O in flight
 *
 * Context: process; may sleep. Takes as long as a flush, whatever the size of the disk.
 */
void aftl_disk_stop(struct aftl_disk *disk);

/**
 * aftl_disk_queue_gc() - run GC that aftl_start_lun_gc() has requested
 * @disk: disk; GC of a stopped disk begins when the disk is started
 *
 * With "timing off" a work item lets device time pass until GC has ended.
 *
 * Context: any; needs no lock.
 */
void aftl_disk_queue_gc(struct aftl_disk *disk);

/**
 * aftl_disk_execute_request() - execute an internal request on a stopped disk
 * @disk: disk that is stopped
 * @io: request without a bio
 *
 * Context: process, without the disk's lock; may sleep.
 * Return: status of the request, or a negative error code.
 */
int aftl_disk_execute_request(struct aftl_disk *disk, struct aftl_io *io);

/**
 * aftl_disk_drain_write_buffer() - program all data of the write buffer, even if it has PLP
 * @disk: disk that is stopped
 *
 * A flush leaves data in a buffer with power-loss protection.
 *
 * Context: process, without the disk's lock; may sleep.
 */
void aftl_disk_drain_write_buffer(struct aftl_disk *disk);

/**
 * aftl_disk_lock_and_advance() - lock the disk and advance it to the present, for one FTL call
 * @disk: disk
 * @killable: return early on a fatal signal
 *
 * The FTL is called under a spinlock, but a durable store may have to wait for room in its queue.
 * This function waits until there is room for all operations that one FTL call may queue. So call
 * the FTL once after this function; before another call, unlock the disk and call this function
 * again. aftl_disk_process_event() checks for room itself. The lock is dropped now and then until
 * the present is reached.
 *
 * Context: process, without the disk's lock; may sleep. The lock is held on return, also on
 * failure.
 * Return: 0; -EINTR; or -EBUSY if the store is full and suspended. On failure do not call the FTL.
 */
int __must_check aftl_disk_lock_and_advance(struct aftl_disk *disk, bool killable);

/**
 * aftl_disk_unlock_and_end_bios() - unlock the disk and end the bios that are complete
 * @disk: disk, locked
 *
 * With "timing off" the disk first works until nothing is pending. If that takes long, it leaves
 * the rest to a work item.
 *
 * Context: process; releases the disk's lock.
 */
void aftl_disk_unlock_and_end_bios(struct aftl_disk *disk);

/**
 * aftl_disk_process_event() - process the next event of the FTL, whatever its time
 * @disk: disk
 *
 * Context: under the disk's lock.
 * Return: true if an event was processed; false if there is none, or the store has no room for it.
 */
bool aftl_disk_process_event(struct aftl_disk *disk);

/**
 * aftl_disks_init() - create the workqueue that all disks share
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __must_check aftl_disks_init(void);

/**
 * aftl_disks_exit() - destroy the workqueue that all disks share
 *
 * Context: module exit; no disk is left.
 */
void aftl_disks_exit(void);

/* clock.c */

/**
 * aftl_disk_now_ns() - read the clock of a disk
 * @disk: disk with an FTL
 *
 * Context: under the disk's lock.
 * Return: device time in ns.
 */
u64 aftl_disk_now_ns(const struct aftl_disk *disk);

/**
 * aftl_disk_to_host_ns() - convert device time to host time
 * @disk: disk that has been started
 * @device_ns: device time in ns, not before the start of the disk
 *
 * Context: any; needs no lock while the disk is running.
 * Return: host time (ktime) in ns; KTIME_MAX if it does not fit.
 */
u64 aftl_disk_to_host_ns(const struct aftl_disk *disk, u64 device_ns);

/**
 * aftl_disk_completion_lateness() - compute by how much the completion of a request is late
 * @disk: disk that has been started
 * @request: request that is complete in device time
 *
 * Context: any; needs no lock while the disk is running.
 * Return: host time in ns since the completion was due; 0 if it is not late.
 */
u64 aftl_disk_completion_lateness(const struct aftl_disk *disk, const struct aftl_request *request);

/* finish.c */

/**
 * aftl_disk_finish_requests() - end the bios of completed requests
 * @disk: disk
 * @done: list of requests, linked by @next; may be NULL
 *
 * Context: any but hard interrupts, without the disk's lock.
 */
void aftl_disk_finish_requests(struct aftl_disk *disk, struct aftl_request *done);

/**
 * aftl_disk_end_io() - end a bio
 * @disk: disk
 * @io: the bio's I/O, which the FTL does not have or has completed
 * @status: status of the bio
 *
 * Context: any but hard interrupts, without the disk's lock.
 */
void aftl_disk_end_io(struct aftl_disk *disk, struct aftl_io *io, blk_status_t status);

#endif
