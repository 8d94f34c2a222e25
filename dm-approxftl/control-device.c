// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/approxftl: what is said of devices, and what is stored on them.
 */
#include <linux/blkdev.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "control.h"

/* The block device that @file is; NULL if it is something else. */
static struct block_device *device_of(const struct file *file)
{
	return S_ISBLK(file_inode(file)->i_mode) ? I_BDEV(file->f_mapping->host) : NULL;
}

/**
 * struct visit - what is wanted of a device of ours
 * @dev: its number
 * @run: does it; gets the visit
 * @found: there is such a device
 */
struct visit {
	dev_t dev;
	int (*run)(struct aftl_target *target, struct visit *visit);
	bool found;
};

static int visit_if_it_is(struct aftl_target *target, void *data)
{
	struct visit *visit = data;

	if (target->disk->dev != visit->dev)
		return 0;
	visit->found = true;
	return visit->run(target, visit);
}

static int visit_device(struct visit *visit, u32 *reason)
{
	int ret = aftl_target_visit(visit_if_it_is, visit);

	if (visit->found)
		return ret;
	*reason = APPROXFTL_REASON_DEVICE;
	return -ENODEV;
}

/* Ranges of a device. */

/**
 * struct tag_visit - a visit that tags
 * @visit: its common part
 * @first: first byte
 * @last: last byte
 * @class: enum approxftl_class
 * @reason: takes why not
 */
struct tag_visit {
	struct visit visit;
	u64 first;
	u64 last;
	u32 class;
	u32 reason;
};

/* As many as an administrator should ever need. */
#define MAX_DEVICE_RANGES 65536

static int tag_ranges(struct aftl_ranges *ranges, const struct tag_visit *wanted)
{
	u32 before = ranges->count;
	int ret = aftl_ranges_set(ranges, wanted->first, wanted->last, wanted->class,
				  before < MAX_DEVICE_RANGES ? MAX_DEVICE_RANGES - before : 0);

	if (!before && ranges->count)
		atomic_inc(&aftl_tags_in_use);
	else if (before && !ranges->count)
		atomic_dec(&aftl_tags_in_use);
	return ret;
}

static int tag_device(struct aftl_target *target, struct visit *visit)
{
	struct tag_visit *wanted = container_of(visit, struct tag_visit, visit);
	u64 bytes = (u64)target->ti->len << SECTOR_SHIFT;
	int ret;

	if (wanted->first >= bytes)
		return -EOVERFLOW;
	if (wanted->last != AFTL_LAST_BYTE && wanted->last >= bytes)
		return -EOVERFLOW;
	ret = tag_ranges(&target->disk->tags, wanted);
	if (ret == -ENOSPC)
		wanted->reason = APPROXFTL_REASON_RANGES;
	return ret;
}

static int check_device(const struct file *file, struct approxftl_range *range)
{
	const struct block_device *device = device_of(file);

	range->reason = APPROXFTL_REASON_KIND;
	if (!device)
		return -ENOTBLK;
	range->reason = APPROXFTL_REASON_READ_ONLY;
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	range->reason = APPROXFTL_REASON_IN_USE;
	if (range->class != APPROXFTL_NONE && READ_ONCE(device->bd_holder))
		return -EBUSY;
	range->reason = APPROXFTL_REASON_NONE;
	return 0;
}

static int tag_device_file(const struct file *file, struct approxftl_range *range)
{
	struct tag_visit wanted = { .visit.run = tag_device, .class = range->class };
	int ret = aftl_control_span(range, &wanted.first, &wanted.last);

	if (!ret)
		ret = check_device(file, range);
	if (!ret && range->flags & APPROXFTL_SYNC_FIRST)
		ret = filemap_write_and_wait(file->f_mapping);
	if (ret)
		return ret;
	wanted.visit.dev = device_of(file)->bd_dev;
	ret = visit_device(&wanted.visit, &wanted.reason);
	range->reason = wanted.reason;
	return ret;
}

int aftl_control_device_tag(struct aftl_control *control, void *argument)
{
	struct approxftl_range *range = argument;
	struct file *file;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	range->reason = APPROXFTL_REASON_NONE;
	if (range->class > APPROXFTL_NONE || range->flags & ~APPROXFTL_SYNC_FIRST ||
	    range->reserved)
		return -EINVAL;
	file = fget(range->fd);
	if (!file)
		return -EBADF;
	ret = tag_device_file(file, range);
	fput(file);
	return ret;
}

/**
 * struct list_visit - a visit that lists ranges
 * @visit: its common part
 * @cursor: moved on
 * @extents: takes them
 * @room: how many fit
 * @count: how many there are
 */
struct list_visit {
	struct visit visit;
	u64 cursor;
	struct approxftl_extent *extents;
	u32 room;
	u32 count;
};

static int list_device(struct aftl_target *target, struct visit *visit)
{
	struct list_visit *wanted = container_of(visit, struct list_visit, visit);

	wanted->count = aftl_ranges_list(&target->disk->tags, &wanted->cursor, wanted->extents,
					 wanted->room);
	return 0;
}

/* A caller with more room asks again. */
static int query_device(struct block_device *device, struct approxftl_query *query)
{
	struct list_visit wanted = {
		.visit = { .dev = device->bd_dev, .run = list_device },
		.cursor = query->cursor,
		.room = min_t(u32, query->room, AFTL_BATCH),
	};
	u32 reason;
	int ret;

	wanted.extents = kmalloc_array(AFTL_BATCH, sizeof(*wanted.extents), GFP_KERNEL);
	if (!wanted.extents)
		return -ENOMEM;
	ret = visit_device(&wanted.visit, &reason);
	if (!ret && copy_to_user(u64_to_user_ptr(query->extents), wanted.extents,
				 wanted.count * sizeof(*wanted.extents)))
		ret = -EFAULT;
	kfree(wanted.extents);
	query->cursor = wanted.cursor;
	query->count = wanted.count;
	return ret;
}

int aftl_control_device_query(struct aftl_control *control, void *argument)
{
	struct approxftl_query *query = argument;
	struct file *file = fget(query->fd);
	int ret = -ENOTBLK;

	if (!file)
		return -EBADF;
	query->count = 0;
	if (query->cursor > AFTL_LAST_BYTE)
		ret = query->cursor == APPROXFTL_TO_END ? 0 : -EINVAL;
	else if (device_of(file))
		ret = query_device(device_of(file), query);
	fput(file);
	return ret;
}

/* What is stored. */

/**
 * struct look - a visit that looks at units
 * @visit: its common part
 * @units: device_offset says which; the rest is filled in
 * @count: how many
 * @unit_bytes: takes their size
 * @bytes: takes the size of the device
 */
struct look {
	struct visit visit;
	struct approxftl_unit *units;
	u32 count;
	u32 unit_bytes;
	u64 bytes;
};

static void look_at_unit(const struct aftl *ftl, u32 index, struct approxftl_unit *unit)
{
	struct aftl_errors errors;
	u32 class;

	unit->class = APPROXFTL_NONE;
	unit->flags = 0;
	unit->flips = 0;
	unit->raw = 0;
	if (aftl_lookup(ftl, to_unit(index), &class) == AFTL_NO_SLOT)
		return;
	unit->class = class == AFTL_APPROX ? APPROXFTL_APPROXIMATE : APPROXFTL_PRECISE;
	if (!aftl_unit_errors(ftl, to_unit(index), &errors)) {
		unit->flags = APPROXFTL_UNIT_NO_MODEL;
		return;
	}
	unit->flags = errors.lost ? APPROXFTL_UNIT_LOST : 0;
	unit->flips = errors.flips;
	unit->raw = errors.raw;
}

static int look_at_units(struct aftl_target *target, struct visit *visit)
{
	struct look *look = container_of(visit, struct look, visit);
	struct aftl_disk *disk = target->disk;
	u32 i;

	look->unit_bytes = aftl_unit_sectors(disk) << SECTOR_SHIFT;
	look->bytes = (u64)target->ti->len << SECTOR_SHIFT;
	spin_lock_bh(&disk->lock);
	for (i = 0; i < look->count; i++)
		look_at_unit(disk->ftl, look->units[i].device_offset / look->unit_bytes,
			     &look->units[i]);
	spin_unlock_bh(&disk->lock);
	return 0;
}

/**
 * struct survey - an answer to APPROXFTL_STORED in the making
 * @stored: the question
 * @inode: the file; NULL for the device itself
 * @look: at the units of a batch
 * @end: byte at which it ends
 */
struct survey {
	struct approxftl_stored *stored;
	struct inode *inode;
	struct look look;
	u64 end;
};

/* Sets @offset to where the unit at @cursor is. Returns 1, 0 for a hole, or an error code. */
static int locate(struct survey *survey, u64 cursor, u64 *offset)
{
	u32 shift;
	sector_t block;
	int ret;

	*offset = cursor;
	if (!survey->inode)
		return 1;
	shift = survey->inode->i_blkbits;
	block = cursor >> shift;
	ret = bmap(survey->inode, &block);
	if (ret)
		return ret;
	*offset = ((u64)block << shift) + (cursor & ((1U << shift) - 1));
	return block ? 1 : 0;
}

/* The next few units that are somewhere; moves the cursor on. */
static int gather(struct survey *survey)
{
	struct approxftl_stored *stored = survey->stored;
	u32 room = min_t(u32, stored->room - stored->count, AFTL_BATCH);
	u32 unit_bytes = survey->look.unit_bytes;
	u32 tries;

	survey->look.count = 0;
	for (tries = 0; tries < AFTL_BATCH && survey->look.count < room; tries++) {
		struct approxftl_unit *unit = &survey->look.units[survey->look.count];
		int ret;

		if (stored->cursor >= survey->end)
			break;
		unit->offset = stored->cursor;
		ret = locate(survey, stored->cursor, &unit->device_offset);
		if (ret < 0)
			return ret;
		survey->look.count += ret;
		stored->cursor += unit_bytes;
	}
	return 0;
}

static int answer_some(struct survey *survey)
{
	struct approxftl_unit __user *to = u64_to_user_ptr(survey->stored->units);
	struct look *look = &survey->look;
	int ret = gather(survey);

	if (!ret)
		ret = visit_device(&look->visit, &survey->stored->reason);
	if (ret)
		return ret;
	if (copy_to_user(to + survey->stored->count, look->units,
			 look->count * sizeof(*look->units)))
		return -EFAULT;
	survey->stored->count += look->count;
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* Finds the device; sets where to begin and where to end. */
static int begin(struct survey *survey, const struct file *file)
{
	struct approxftl_stored *stored = survey->stored;
	int ret = visit_device(&survey->look.visit, &stored->reason);
	u64 bytes = survey->inode ? i_size_read(survey->inode) : survey->look.bytes;

	if (ret)
		return ret;
	stored->unit_bytes = survey->look.unit_bytes;
	if (stored->cursor > AFTL_LAST_BYTE)
		return stored->cursor == APPROXFTL_TO_END ? 0 : -EOVERFLOW;
	survey->end = stored->length < bytes - min(bytes, stored->cursor) ?
			      stored->cursor + stored->length :
			      bytes;
	stored->cursor = round_down(stored->cursor, stored->unit_bytes);
	return 0;
}

static int answer(struct survey *survey, const struct file *file)
{
	struct approxftl_stored *stored = survey->stored;
	int ret = begin(survey, file);

	while (!ret && stored->count < stored->room && stored->cursor < survey->end) {
		ret = answer_some(survey);
		cond_resched();
	}
	if (!ret && stored->cursor >= survey->end)
		stored->cursor = APPROXFTL_TO_END;
	return ret;
}

/* Which device is it about, and may the caller know? */
static int identify(struct survey *survey, const struct file *file)
{
	struct block_device *device = device_of(file);
	struct inode *inode = file_inode(file);

	if (!(file->f_mode & FMODE_READ)) {
		survey->stored->reason = APPROXFTL_REASON_KIND;
		return -EBADF;
	}
	if (!device && S_ISREG(inode->i_mode)) {
		survey->inode = inode;
		device = inode->i_sb->s_bdev;
	}
	if (!device || (survey->inode && !inode->i_mapping->a_ops->bmap)) {
		survey->stored->reason = APPROXFTL_REASON_DEVICE;
		return -EOPNOTSUPP;
	}
	survey->look.visit.dev = device->bd_dev;
	return 0;
}

static int survey_file(struct approxftl_stored *stored, const struct file *file)
{
	struct survey survey = { .stored = stored, .look.visit.run = look_at_units };
	int ret = identify(&survey, file);

	if (ret)
		return ret;
	survey.look.units = kcalloc(AFTL_BATCH, sizeof(*survey.look.units), GFP_KERNEL);
	if (!survey.look.units)
		return -ENOMEM;
	ret = answer(&survey, file);
	kfree(survey.look.units);
	return ret;
}

int aftl_control_stored(struct aftl_control *control, void *argument)
{
	struct approxftl_stored *stored = argument;
	struct file *file = fget(stored->fd);
	int ret;

	if (!file)
		return -EBADF;
	stored->count = 0;
	stored->reason = APPROXFTL_REASON_NONE;
	ret = survey_file(stored, file);
	fput(file);
	return ret;
}
