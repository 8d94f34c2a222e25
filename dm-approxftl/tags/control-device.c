// SPDX-License-Identifier: GPL-2.0-only
/* /dev/approxftl: tags of devices, and queries of stored data. */
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "tags/control.h"

/* Return the block device that @file refers to; NULL if it is not a block device. */
static struct block_device *get_block_device_of_file(const struct file *file)
{
	return S_ISBLK(file_inode(file)->i_mode) ? I_BDEV(file->f_mapping->host) : NULL;
}

static int find_target_and_call_fn(dev_t dev, aftl_target_fn fn, void *data, u32 *reason)
{
	int ret = aftl_call_fn_on_target_of_device(dev, fn, data);

	if (ret == -ENODEV)
		*reason = APPROXFTL_REASON_DEVICE;
	return ret;
}

/* APPROXFTL_DEVICE_TAG and APPROXFTL_DEVICE_QUERY: tagged ranges of a device */

/**
 * struct tag_request - arguments of tag_target_ranges(): a range of a device and its new tag
 * @first: first byte
 * @last: last byte
 * @tag: quality level, or AFTL_TAG_NONE to remove the tag
 * @reason: set to enum approxftl_reason on refusal
 */
struct tag_request {
	u64 first;
	u64 last;
	u32 tag;
	u32 reason;
};

/* Largest number of tagged ranges of a device. */
#define MAX_DEVICE_RANGES 65536

static int tag_device_ranges(struct aftl_ranges *ranges, const struct tag_request *request)
{
	u32 before = ranges->count;
	int ret = aftl_tag_byte_range(ranges, request->first, request->last, request->tag,
				      before < MAX_DEVICE_RANGES ? MAX_DEVICE_RANGES - before : 0);

	if (!before && ranges->count)
		atomic_inc(&aftl_tags_in_use);
	else if (before && !ranges->count)
		atomic_dec(&aftl_tags_in_use);
	return ret;
}

static int tag_target_ranges(struct aftl_target *target, void *data)
{
	struct tag_request *request = data;
	u64 bytes = (u64)target->ti->len << SECTOR_SHIFT;
	int ret;

	if (request->first >= bytes)
		return -EOVERFLOW;
	if (request->last != AFTL_LAST_BYTE && request->last >= bytes)
		return -EOVERFLOW;
	ret = tag_device_ranges(&target->table.device->tags, request);
	if (ret == -ENOSPC)
		request->reason = APPROXFTL_REASON_RANGES;
	return ret;
}

static int check_block_device_file(const struct file *file, struct approxftl_range *range)
{
	const struct block_device *device = get_block_device_of_file(file);

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

static int tag_device_file(struct aftl_control *control, struct file *file, void *argument)
{
	struct approxftl_range *range = argument;
	struct tag_request request = { .tag = aftl_class_to_tag(range->class) };
	int ret = aftl_control_get_range_limits(range, &request.first, &request.last);

	if (!ret)
		ret = check_block_device_file(file, range);
	if (!ret && range->flags & APPROXFTL_SYNC_FIRST)
		ret = filemap_write_and_wait(file->f_mapping);
	if (ret)
		return ret;
	ret = find_target_and_call_fn(get_block_device_of_file(file)->bd_dev,
				      tag_target_ranges, &request, &request.reason);
	range->reason = request.reason;
	return ret;
}

int aftl_control_tag_device(struct aftl_control *control, void *argument)
{
	struct approxftl_range *range = argument;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	range->reason = APPROXFTL_REASON_NONE;
	if (range->class > APPROXFTL_LEVEL_3 || range->flags & ~APPROXFTL_SYNC_FIRST ||
	    range->reserved)
		return -EINVAL;
	return aftl_control_call_fn_on_fd(control, range->fd, tag_device_file, range);
}

/**
 * struct listing - arguments and result of list_device_tags(), which lists a device's tagged ranges
 * @cursor: in: list ranges that end at or after this byte; out: the byte to continue from
 * @extents: array that is filled in
 * @room: size of @extents
 * @count: number of extents filled in
 */
struct listing {
	u64 cursor;
	struct approxftl_extent *extents;
	u32 room;
	u32 count;
};

static int list_device_tags(struct aftl_target *target, void *data)
{
	struct listing *listing = data;

	listing->count = aftl_tagged_ranges_list(&target->table.device->tags, &listing->cursor,
						 AFTL_LAST_BYTE, listing->extents, listing->room);
	return 0;
}

/* Return at most one batch; a caller with a larger buffer repeats the ioctl. */
static int query_device_tags(struct block_device *device, struct approxftl_query *query)
{
	struct listing listing = {
		.cursor = query->cursor,
		.room = min_t(u32, query->room, AFTL_BATCH),
	};
	u32 reason;
	int ret;

	listing.extents = kmalloc_array(AFTL_BATCH, sizeof(*listing.extents), GFP_KERNEL);
	if (!listing.extents)
		return -ENOMEM;
	ret = find_target_and_call_fn(device->bd_dev, list_device_tags, &listing, &reason);
	if (!ret && copy_to_user(u64_to_user_ptr(query->extents), listing.extents,
				 listing.count * sizeof(*listing.extents)))
		ret = -EFAULT;
	kfree(listing.extents);
	query->cursor = listing.cursor;
	query->count = listing.count;
	return ret;
}

static int query_device_file_tags(struct aftl_control *control, struct file *file, void *argument)
{
	struct approxftl_query *query = argument;
	int ret = get_block_device_of_file(file) ? aftl_control_check_query_cursor(query) :
						   -ENOTBLK;

	if (!ret && query->cursor != APPROXFTL_TO_END)
		ret = query_device_tags(get_block_device_of_file(file), query);
	return ret;
}

int aftl_control_query_device(struct aftl_control *control, void *argument)
{
	struct approxftl_query *query = argument;

	query->count = 0;
	return aftl_control_call_fn_on_fd(control, query->fd, query_device_file_tags, query);
}

/* Queries of stored data. */

/**
 * struct look - batch of logical pages whose class and bit errors are queried
 * @units: logical pages; device_offset is the input, the rest is filled in
 * @count: number of @units
 * @unit_bytes: set to the size of a logical page
 * @bytes: set to the size of the device
 */
struct look {
	struct approxftl_unit *units;
	u32 count;
	u32 unit_bytes;
	u64 bytes;
};

static void describe_unit_on_flash(const struct aftl *ftl, u32 index, struct approxftl_unit *unit)
{
	static const u8 levels[AFTL_LEVELS] = { 0, 0, APPROXFTL_UNIT_LEVEL_2,
						APPROXFTL_UNIT_LEVEL_3 };
	struct aftl_errors errors;
	u32 class;

	if (aftl_lookup(ftl, to_lpn(index), &class) == AFTL_NO_PPN)
		return;
	unit->class = class == AFTL_APPROX ? APPROXFTL_APPROXIMATE : APPROXFTL_PRECISE;
	unit->flags = levels[aftl_lpn_quality_level(ftl, to_lpn(index))];
	if (!aftl_get_lpn_read_errors(ftl, to_lpn(index), &errors)) {
		unit->flags |= APPROXFTL_UNIT_NO_MODEL;
		return;
	}
	unit->flags |= errors.lost ? APPROXFTL_UNIT_LOST : 0;
	unit->flips = errors.flips;
	unit->raw = errors.raw;
}

/*
 * Fill in the state of the mapping unit @unit. A file system may report any block number; a unit
 * beyond the end of the device is not on flash.
 */
static void describe_unit_at_device_offset(const struct aftl_device *device,
					   const struct look *look, struct approxftl_unit *unit)
{
	struct aftl_spot spot;

	unit->class = APPROXFTL_NONE;
	unit->flags = 0;
	unit->flips = 0;
	unit->raw = 0;
	if (unit->device_offset >= look->bytes)
		return;
	spot = aftl_device_locate_unit(device, unit->device_offset / look->unit_bytes, 1);
	spin_lock_bh(&spot.disk->lock);
	describe_unit_on_flash(spot.disk->ftl, spot.unit, unit);
	spin_unlock_bh(&spot.disk->lock);
}

static int describe_units_of_batch(struct aftl_target *target, void *data)
{
	struct look *look = data;
	u32 i;

	look->unit_bytes = target->shards.geo.unit_bytes;
	look->bytes = (u64)target->ti->len << SECTOR_SHIFT;
	for (i = 0; i < look->count; i++)
		describe_unit_at_device_offset(target->table.device, look, &look->units[i]);
	return 0;
}

/**
 * struct survey - state of an APPROXFTL_STORED query
 * @stored: query and answer
 * @inode: file; NULL for the device itself
 * @dev: device
 * @look: current batch
 * @end: byte at which the query ends
 */
struct survey {
	struct approxftl_stored *stored;
	struct inode *inode;
	dev_t dev;
	struct look look;
	u64 end;
};

/*
 * Find the device offset of the logical page at @cursor. Returns 1, 0 for a hole, or an error code.
 */
static int locate_file_page(struct survey *survey, u64 cursor, u64 *offset)
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

/* Collect the next batch of logical pages that are no holes, and advance the cursor. */
static int locate_next_batch_of_pages(struct survey *survey)
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
		ret = locate_file_page(survey, stored->cursor, &unit->device_offset);
		if (ret < 0)
			return ret;
		survey->look.count += ret;
		stored->cursor += unit_bytes;
	}
	return 0;
}

static int answer_next_batch_of_stored_units(struct survey *survey)
{
	struct approxftl_unit __user *to = u64_to_user_ptr(survey->stored->units);
	struct look *look = &survey->look;
	int ret = locate_next_batch_of_pages(survey);

	if (!ret)
		ret = find_target_and_call_fn(survey->dev, describe_units_of_batch, look,
					      &survey->stored->reason);
	if (ret)
		return ret;
	if (copy_to_user(to + survey->stored->count, look->units,
			 look->count * sizeof(*look->units)))
		return -EFAULT;
	survey->stored->count += look->count;
	return 0;
}

/* Find the device, and set the first and the last byte of the query. */
static int set_limits_of_stored_units_query(struct survey *survey, const struct file *file)
{
	struct approxftl_stored *stored = survey->stored;
	int ret = find_target_and_call_fn(survey->dev, describe_units_of_batch,
					  &survey->look, &stored->reason);
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

/*
 * A sparse file may have 2^62 bytes, so any signal ends the call. The caller can continue from the
 * cursor, which is copied to user space on errors, too.
 */
static int answer_query_of_stored_units(struct survey *survey, const struct file *file)
{
	struct approxftl_stored *stored = survey->stored;
	int ret = set_limits_of_stored_units_query(survey, file);

	while (!ret && stored->count < stored->room && stored->cursor < survey->end) {
		ret = answer_next_batch_of_stored_units(survey);
		cond_resched();
		if (signal_pending(current))
			break;
	}
	if (!ret && !stored->count && stored->cursor < survey->end && signal_pending(current))
		ret = -EINTR;
	if (!ret && stored->cursor >= survey->end)
		stored->cursor = APPROXFTL_TO_END;
	return ret;
}

/*
 * Check permissions: bmap() reveals block locations, which only the owner may know. For a file with
 * a data journal it may also write back the journal and wait, so refuse such files.
 */
static int check_permission_to_query_stored_units(struct survey *survey, struct file *file)
{
	const struct inode *inode = survey->inode;

	if (!inode || capable(CAP_SYS_RAWIO))
		return 0;
	survey->stored->reason = APPROXFTL_REASON_OWNER;
	if (!aftl_file_owner_or_capable(file))
		return -EPERM;
	survey->stored->reason = APPROXFTL_REASON_DEVICE;
	if (aftl_may_ext4_journal_data(inode->i_sb->s_magic, inode->i_mapping))
		return -EPERM;
	survey->stored->reason = APPROXFTL_REASON_NONE;
	return 0;
}

/* Determine the device of the query, and check permissions. */
static int identify_queried_device(struct survey *survey, struct file *file)
{
	struct block_device *device = get_block_device_of_file(file);
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
	survey->dev = device->bd_dev;
	return check_permission_to_query_stored_units(survey, file);
}

static int query_storage_of_file(struct aftl_control *control, struct file *file, void *stored)
{
	struct survey survey = { .stored = stored };
	int ret = identify_queried_device(&survey, file);

	if (ret)
		return ret;
	survey.look.units = kcalloc(AFTL_BATCH, sizeof(*survey.look.units), GFP_KERNEL);
	if (!survey.look.units)
		return -ENOMEM;
	ret = answer_query_of_stored_units(&survey, file);
	kfree(survey.look.units);
	return ret;
}

int aftl_control_query_stored_units(struct aftl_control *control, void *argument)
{
	struct approxftl_stored *stored = argument;

	stored->count = 0;
	stored->reason = APPROXFTL_REASON_NONE;
	return aftl_control_call_fn_on_fd(control, stored->fd, query_storage_of_file, stored);
}
