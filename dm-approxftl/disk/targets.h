/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets: lines of tables, and the disks that they stand for.
 */
#ifndef AFTL_TARGETS_H
#define AFTL_TARGETS_H

#include <linux/device-mapper.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "disk/disks.h"
#include "disk/ownership.h"

/**
 * struct aftl_line - what a reload has to keep of the table before
 * @options: the line as it was last, with what message policy has changed
 * @unit_bytes: size of a mapping unit
 * @zones: zones of a shard; 0 if it has none
 * @sectors: length of the table
 */
struct aftl_line {
	struct aftl_options options;
	u32 unit_bytes;
	u32 zones;
	u64 sectors;
};

/**
 * struct aftl_mapped - a mapped device with tables of ours
 * @list: in the list of all mapped devices
 * @md: device-mapper's side
 * @own: its data, and which table has them
 * @line: of the last owner, where the data have none
 */
struct aftl_mapped {
	struct list_head list;
	struct mapped_device *md;
	struct aftl_ownership own;
	struct aftl_line line;
};

/**
 * struct aftl_target - a table of ours
 * @list: in the list of all targets
 * @ti: device-mapper's side
 * @mapped: the mapped device
 * @table: its state, and the device while it has the data
 * @below: the block device of a durable store; NULL for others
 * @options: the line
 * @shards: how the device that it asks for is divided, and its shape
 * @zones: of a device with zones, a disk that reports them
 * @zones_below: the same, as if it were below
 * @late: where the status line adds up its disks', so that it needs no memory
 * @gate: keeps the device that @table has from being taken away while it is looked at
 */
struct aftl_target {
	struct list_head list;
	struct dm_target *ti;
	struct aftl_mapped *mapped;
	struct aftl_table table;
	struct dm_dev *below;
	struct aftl_options options;
	struct aftl_shards shards;
	struct gendisk *zones;
	struct dm_dev zones_below;
	struct aftl_histogram late;
	struct mutex gate; /* table, options.config, late */
};

/*
 * The lock of all targets is for the lists and for all changes of ownership, which are short: no
 * I/O, no wait. A gate is taken under it, never the other way round. A change of a table's state
 * needs both, the start and the end of I/O its gate alone; so either lets one read it.
 */
extern struct list_head aftl_targets;
extern struct mutex aftl_targets_lock;

/* Woken when the data of a mapped device are not reserved any more. */
extern struct wait_queue_head aftl_data_settled;

/**
 * aftl_target_add() - a table is about to be made, of a mapped device that may have others
 *
 * Return: 0 or -ENOMEM.
 */
int __must_check aftl_target_add(struct aftl_target *target);

/**
 * aftl_target_remove() - it is gone
 *
 * Return: data in memory of which it was the last table, to be destroyed.
 */
struct aftl_device *aftl_target_remove(struct aftl_target *target);

/* What a reload of @target would have to keep. Under the lock of all targets. */
void aftl_target_line(const struct aftl_target *target, struct aftl_line *line);

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
