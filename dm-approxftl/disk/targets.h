/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets: the loaded tables, and the mapped devices that they belong to. */
#ifndef AFTL_TARGETS_H
#define AFTL_TARGETS_H

#include <linux/device-mapper.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "disk/disks.h"
#include "disk/ownership.h"

/**
 * struct aftl_line - properties of a table that a later table must match to take over its data
 * @options: parsed table line, with changes by the message "policy"
 * @unit_bytes: size of a logical page
 * @zones: zones of a shard; 0 if the device is not zoned
 * @sectors: length of the table
 */
struct aftl_line {
	struct aftl_options options;
	u32 unit_bytes;
	u32 zones;
	u64 sectors;
};

/**
 * struct aftl_mapped - mapped device with tables of this target
 * @list: entry in the list of all mapped devices
 * @md: mapped device
 * @own: its data, and the table that owns them
 * @line: properties of the last table that owned the data; valid while the data have no owner
 */
struct aftl_mapped {
	struct list_head list;
	struct mapped_device *md;
	struct aftl_ownership own;
	struct aftl_line line;
};

/**
 * struct aftl_target - target instance of a table
 * @list: entry in aftl_targets
 * @ti: dm target
 * @mapped: mapped device
 * @table: state of the table, and the device while the table owns the data
 * @below: block device of a durable store; NULL for other stores
 * @options: parsed table line
 * @shards: mapping to shards, and geometry, of the device that the line asks for
 * @zones: for a zoned device: disk that reports the zones to dm
 * @zones_below: @zones as an underlying device
 * @late: sum of the disks' histograms; here, because the status line must not allocate
 * @gate: keeps @table.device from being taken away while it is in use
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
	struct mutex gate; /* protects the target's @table, @options.config and @late */
};

/*
 * aftl_targets_lock protects the lists of targets and mapped devices, and all changes of ownership.
 * It is held briefly: no I/O and no waiting. A target's gate may be taken under it, never the other
 * way round. A change of a table's state needs both, except that starting and stopping I/O needs
 * the gate only; so either lock suffices to read the state.
 */
extern struct list_head aftl_targets;
extern struct mutex aftl_targets_lock;

/* Woken when a table has opened or closed the data that were reserved for it. */
extern struct wait_queue_head aftl_data_settled;

/**
 * aftl_target_register() - register a target that is being constructed
 * @target: target with @ti set
 *
 * Finds the mapped device of the target's table, or creates its entry.
 *
 * Context: process; takes aftl_targets_lock.
 * Return: 0 or -ENOMEM.
 */
int __must_check aftl_target_register(struct aftl_target *target);

/**
 * aftl_target_unregister() - unregister a target
 * @target: target without a spare device
 *
 * Context: process; takes aftl_targets_lock and the gate of @target.
 * Return: data in memory that no table uses any more, which the caller destroys; else NULL.
 */
struct aftl_device *aftl_target_unregister(struct aftl_target *target);

/**
 * aftl_target_copy_table_properties() - copy the properties that a later table must match
 * @target: target
 * @line: set to them
 *
 * Context: under aftl_targets_lock.
 */
void aftl_target_copy_table_properties(const struct aftl_target *target, struct aftl_line *line);

typedef int (*aftl_target_fn)(struct aftl_target *target, void *data);

/**
 * aftl_call_fn_on_target_of_device() - call @fn for the live or suspended target of a device
 * @dev: number of the mapped device
 * @fn: called under the target's gate; must allocate memory without I/O
 * @data: second argument of @fn
 *
 * Retries while the target is being resumed or its gate is held.
 *
 * Context: process; may sleep.
 * Return: result of @fn, -ENODEV if @dev is no device of this target, or -EINTR.
 */
int aftl_call_fn_on_target_of_device(dev_t dev, aftl_target_fn fn, void *data);

/**
 * aftl_call_fn_on_each_target() - call @fn for each target that owns data
 * @fn: function that uses the request queue at most, not the disks; its result is ignored
 * @data: second argument of @fn
 *
 * Calls nothing after a fatal signal.
 *
 * Context: process; takes aftl_targets_lock, but no gate.
 */
void aftl_call_fn_on_each_target(aftl_target_fn fn, void *data);

#endif
