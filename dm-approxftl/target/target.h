/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target: a line of a table, and device-mapper's methods.
 */
#ifndef AFTL_TARGET_H
#define AFTL_TARGET_H

#include <linux/device-mapper.h>
#include <linux/mutex.h>

#include "disk/disk.h"

/**
 * struct aftl_target - a table line in use
 * @list: in the list of all targets
 * @ti: device-mapper's side
 * @below: the block device of a durable store; NULL for others
 * @options: the line
 * @geo: shape of the device that it asks for
 * @disk: what it stands for; NULL once another table has taken it over, and for a
 *	durable store before the first resume
 * @source: what an earlier table had, while it has not been taken over
 * @resumed: has had I/O, or could have had
 * @suspended: no I/O is under way and none can come
 * @gate: keeps slow inspection and resume apart
 */
struct aftl_target {
	struct list_head list;
	struct dm_target *ti;
	struct dm_dev *below;
	struct aftl_options options;
	struct aftl_geometry geo;
	struct aftl_disk *disk;
	struct aftl_disk *source;
	bool resumed;
	bool suspended;
	struct mutex gate; /* disk, resumed, suspended */
};

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

/* reload.c */

/**
 * aftl_disk_take_over() - make all that is on @from be on @to
 *
 * Both are stopped, their stores are of one kind in memory, and their units of one size.
 *
 * Return: 0, and @from is of no more use; or an error code with a sentence.
 */
int __must_check aftl_disk_take_over(struct aftl_disk *to, struct aftl_disk *from,
				     struct aftl_error *error);

/* message.c */

int aftl_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		 unsigned int maxlen);

/* target/status.c */

void aftl_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
		 char *result, unsigned int maxlen);

#endif
