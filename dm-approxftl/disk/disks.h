/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device: the disks of one table line, one for each shard. Disks share nothing but struct
 * aftl_device, so that writers of different shards do not wait for each other.
 */
#ifndef AFTL_DISKS_H
#define AFTL_DISKS_H

#include "core/base/shards.h"
#include "disk/disk.h"
#include "host/ranges.h"

/**
 * struct aftl_device - the disks of a target; may outlive the target on a reload
 * @shards: mapping of the device's logical pages to shards
 * @unit_shift: log2 of the sectors of a logical page
 * @tags: tagged ranges, in effect while the device is not claimed; changed under the target's gate
 * @workers: workqueue for @tasks; NULL if there is one disk
 * @at_work: number of tasks that have not ended
 * @done: completed when @at_work becomes 0
 * @tasks: per disk: long operation (fill, open, close) that runs in parallel with the others'
 * @disks: the disks, by shard
 */
struct aftl_device {
	struct aftl_shards shards;
	u32 unit_shift;
	struct aftl_ranges tags;
	struct workqueue_struct *workers;
	atomic_t at_work;
	struct completion done;
	struct aftl_shard_task *tasks;
	struct aftl_disk *disks[];
};

/**
 * struct aftl_spot - location of a logical page of a device
 * @disk: disk of its shard
 * @unit: logical page in the shard
 * @units: contiguous logical pages in the shard from @unit on
 */
struct aftl_spot {
	struct aftl_disk *disk;
	u32 unit;
	u32 units;
};

/* Iterate over the disks of @device in order of shards; @disk points into @device->disks. */
#define aftl_each_disk(disk, device)                             \
	for (struct aftl_disk *const *disk = (device)->disks;    \
	     disk < (device)->disks + (device)->shards.count; disk++)

/**
 * aftl_device_locate_unit() - locate a logical page of a device
 * @device: device
 * @unit: logical page of the device
 * @units: maximum length of the run that is returned
 *
 * Context: any.
 * Return: the disk, and the run of logical pages there that begins with @unit.
 */
static inline struct aftl_spot aftl_device_locate_unit(const struct aftl_device *device, u64 unit,
						       u32 units)
{
	return (struct aftl_spot){
		.disk = device->disks[aftl_shard_of_lpn(&device->shards, unit)],
		.unit = aftl_lpn_within_shard(&device->shards, unit),
		.units = aftl_count_units_to_chunk_end(&device->shards, unit, units),
	};
}

/**
 * aftl_device_alloc() - allocate a device whose disks have no FTL and no store
 * @out: set to the device on success
 * @options: parsed table line; must outlive aftl_device_open()
 * @error: set to a message on failure
 *
 * Allocates all that does not need an open volume: disks and workqueues.
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_device_alloc(struct aftl_device **out, const struct aftl_options *options,
				   struct aftl_error *error);

/**
 * aftl_device_open() - open the volumes on @bdev and recover their FTLs
 * @device: device from aftl_device_alloc()
 * @bdev: block device with the volumes
 * @error: set to a message on failure
 *
 * Shards are recovered in parallel.
 *
 * Context: process; may sleep. A fatal signal ends it.
 * Return: 0, or a negative error code; the device can then only be destroyed.
 */
int __must_check aftl_device_open(struct aftl_device *device, struct block_device *bdev,
				  struct aftl_error *error);

/**
 * aftl_device_create() - create a device in memory
 * @out: set to the device on success
 * @options: parsed table line; not used after return
 * @error: set to a message on failure
 *
 * Shards are filled in parallel.
 *
 * Context: process; may sleep. A fatal signal ends it.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_device_create(struct aftl_device **out, const struct aftl_options *options,
				    struct aftl_error *error);

/**
 * aftl_device_begin_use() - call aftl_disk_mark_in_use() for each disk until one fails
 * @device: device that is stopped
 * @config: parameters of the whole device
 * @error: set to a message on failure
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_device_begin_use(struct aftl_device *device, const struct aftl_config *config,
				       struct aftl_error *error);

/**
 * aftl_device_destroy() - stop, close and free a device
 * @device: device, or NULL
 *
 * Disks are closed in parallel, see aftl_disk_close().
 *
 * Context: process; may sleep.
 */
void aftl_device_destroy(struct aftl_device *device);

/**
 * aftl_device_drain_write_buffers() - call aftl_disk_drain_write_buffer() for each disk
 * @device: device that is stopped
 *
 * Context: process, without a disk's lock; may sleep.
 */
void aftl_device_drain_write_buffers(struct aftl_device *device);

struct aftl_counts;

/**
 * aftl_device_save_counters() - copy the counters of all disks
 * @device: device that is stopped
 *
 * Context: process; may sleep.
 * Return: the counters, to be freed by kvfree(), or NULL if there is no memory.
 */
struct aftl_counts *aftl_device_save_counters(const struct aftl_device *device);

/**
 * aftl_device_restore_counters() - add the counters of the device whose data @device has taken over
 * @device: device that is stopped
 * @counts: counters of the previous device
 *
 * Context: process.
 */
void aftl_device_restore_counters(struct aftl_device *device, const struct aftl_counts *counts);

/**
 * aftl_device_start() - call aftl_disk_start() for each disk
 * @device: device after aftl_device_begin_use()
 * @table: dm table that gets an event when a disk becomes read-only or its store fails
 *
 * Context: process.
 */
void aftl_device_start(struct aftl_device *device, struct dm_table *table);

/**
 * aftl_device_stop() - call aftl_disk_stop() for each disk
 * @device: device without I/O in flight
 *
 * Context: process; may sleep.
 */
void aftl_device_stop(struct aftl_device *device);

#endif
