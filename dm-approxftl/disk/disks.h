/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a table line stands for: a disk for each shard. They have nothing in common but what is
 * here, so that who writes to one waits for nobody who writes to another.
 */
#ifndef AFTL_DISKS_H
#define AFTL_DISKS_H

#include "core/base/shards.h"
#include "disk/disk.h"
#include "host/ranges.h"

/**
 * struct aftl_device - the disks of a target; it outlives that when the table is reloaded
 * @shards: how units are divided among them
 * @unit_shift: sectors in a mapping unit, as a power of two
 * @tags: ranges that are approximate while nobody has claimed the device; changed under
 *	the target's gate
 * @workers: of what takes long, where there are several disks
 * @at_work: how many of them have not ended
 * @done: none
 * @tasks: what they do, of each disk
 * @disks: one for each shard
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
 * struct aftl_spot - where a unit of a device is
 * @disk: the shard's
 * @unit: its number there
 * @units: that follow in the same run, it included
 */
struct aftl_spot {
	struct aftl_disk *disk;
	u32 unit;
	u32 units;
};

/* Each disk of @device, the first one first; @disk points to its place among them. */
#define aftl_each_disk(disk, device)                             \
	for (struct aftl_disk *const *disk = (device)->disks;    \
	     disk < (device)->disks + (device)->shards.count; disk++)

/* Where @unit is; at most @units are asked for. */
static inline struct aftl_spot aftl_device_spot(const struct aftl_device *device, u64 unit,
						u32 units)
{
	return (struct aftl_spot){
		.disk = device->disks[aftl_lpn_shard(&device->shards, unit)],
		.unit = aftl_shard_lpn(&device->shards, unit),
		.units = aftl_shard_run_units(&device->shards, unit, units),
	};
}

/**
 * aftl_device_new() - a device whose disks are nothing yet
 * @out: takes it
 * @options: what is asked for; must outlive aftl_device_open()
 * @error: takes the sentence on failure
 *
 * All that can be made before a volume is opened: disks, workqueues. Return: 0, or an error code
 * with a sentence.
 */
int __must_check aftl_device_new(struct aftl_device **out, const struct aftl_options *options,
				 struct aftl_error *error);

/**
 * aftl_device_open() - make the disks of a new device those whose volumes are on @bdev
 *
 * Shards are recovered at once. Context: process; a fatal signal ends it. Return: 0, or an error
 * code with a sentence: then the device can only be destroyed.
 */
int __must_check aftl_device_open(struct aftl_device *device, struct block_device *bdev,
				  struct aftl_error *error);

/**
 * aftl_device_create() - a device in memory
 * @out: takes it
 * @options: what is asked for; not looked at later
 * @error: takes the sentence on failure
 *
 * Shards are filled at once. Context: process; a fatal signal ends it. Return: 0, or an error code
 * with a sentence.
 */
int __must_check aftl_device_create(struct aftl_device **out, const struct aftl_options *options,
				    struct aftl_error *error);

/* As aftl_disk_begin() */
int __must_check aftl_device_begin(struct aftl_device *device, const struct aftl_config *config,
				   struct aftl_error *error);

/**
 * aftl_device_destroy() - the end of a device, of all that has been made; NULL is fine
 *
 * As aftl_disk_stop(), aftl_disk_close() and aftl_disk_destroy() of each disk; they are closed at
 * once.
 */
void aftl_device_destroy(struct aftl_device *device);

/* As aftl_disk_empty_buffer() */
void aftl_device_empty_buffers(struct aftl_device *device);

struct aftl_counts;

/**
 * aftl_device_counts() - what the disks of a device that is stopped have counted
 *
 * Return: that, to be freed by kvfree(); NULL without memory.
 */
struct aftl_counts *aftl_device_counts(const struct aftl_device *device);

/* Let a device that has taken over the data of another one count on from there. */
void aftl_device_carry_counts(struct aftl_device *device, const struct aftl_counts *counts);

/* As aftl_disk_start() and aftl_disk_stop() */
void aftl_device_start(struct aftl_device *device, struct dm_table *table);
void aftl_device_stop(struct aftl_device *device);

#endif
