/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets: lines of tables, and the disks that they stand for.
 */
#ifndef AFTL_TARGETS_H
#define AFTL_TARGETS_H

#include <linux/device-mapper.h>
#include <linux/mutex.h>

#include "disk/disks.h"

/**
 * enum aftl_ownership - has a table the data of its mapped device?
 * @AFTL_OWNS_NOTHING: another table has, or no table was resumed yet
 * @AFTL_OWNS_NEW: no table had; this one is being resumed for the first time
 * @AFTL_OWNS_DATA: in @device, or still in @source
 *
 * At most one table of a mapped device is not AFTL_OWNS_NOTHING. A resume takes the data over from
 * the owner before anything can fail, for device-mapper destroys the table before in any case.
 */
enum aftl_ownership {
	AFTL_OWNS_NOTHING,
	AFTL_OWNS_NEW,
	AFTL_OWNS_DATA,
};

/**
 * struct aftl_target - a table line in use
 * @list: in the list of all targets
 * @ti: device-mapper's side
 * @below: the block device of a durable store; NULL for others
 * @options: the line
 * @shards: how the device that it asks for is divided, and its shape
 * @device: what it stands for; NULL once another table has taken it over, and for a
 *	durable store before the first resume
 * @source: data of an earlier table that @device has not taken over yet; NULL: none
 * @source_options: the line of that table, which describes @source
 * @source_sectors: its length
 * @source_unit_sectors: its mapping unit
 * @ownership: changed under the lock of the list and the gate
 * @zones: of a device with zones, a disk that reports them
 * @zones_below: the same, as if it were below
 * @lost: an earlier table had writes that it could not store, and may not have said so yet
 * @resumed: has had I/O, or could have had
 * @suspended: no I/O is under way and none can come
 * @late: where the status line adds up its disks', so that it needs no memory
 * @gate: keeps slow inspection and resume apart
 */
struct aftl_target {
	struct list_head list;
	struct dm_target *ti;
	struct dm_dev *below;
	struct aftl_options options;
	struct aftl_shards shards;
	struct aftl_device *device;
	struct aftl_device *source;
	struct aftl_options source_options;
	sector_t source_sectors;
	u32 source_unit_sectors;
	enum aftl_ownership ownership;
	struct gendisk *zones;
	struct dm_dev zones_below;
	bool lost;
	bool resumed;
	bool suspended;
	struct aftl_histogram late;
	struct mutex gate; /* device, source, lost, resumed, suspended, late */
};

/* All targets, under the lock, so that a reloaded table finds its predecessor. */
extern struct list_head aftl_targets;
extern struct mutex aftl_targets_lock;

typedef int (*aftl_target_fn)(struct aftl_target *target, void *data);

/**
 * aftl_target_visit() - call @fn for a device of ours
 * @dev: which
 * @fn: called under the target's gate; allocates without I/O
 * @data: second argument of @fn
 *
 * May sleep. Return: what @fn did, -ENODEV if the device is none of ours, or -EINTR.
 */
int aftl_target_visit(dev_t dev, aftl_target_fn fn, void *data);

/* Call @fn for each target that is in use; it may look at the queue, but not at the disk. */
void aftl_target_each(aftl_target_fn fn, void *data);

#endif
