// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/approxftl: programs declare which of their data are approximate.
 *
 * Only root may open it, unless a udev rule or an administrator grants access. Permission to tag a
 * file is checked for each descriptor.
 */
#include <linux/blkdev.h>
#include <linux/ctype.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "tags/tags.h"

/**
 * struct aftl_control - open file of /dev/approxftl
 * @scopes: scopes of threads and processes set through it
 */
struct aftl_control {
	struct aftl_scopes scopes;
};

/* Number of ranges or units that a query gathers before it copies them to user space. */
#define BATCH 64

/* Handler of an ioctl, which sets outputs in @argument, a kernel copy of the ioctl's structure. */
typedef int (*control_fn)(struct aftl_control *control, void *argument);

/* Convert offset and length to first and last byte. */
static int get_range_limits(const struct approxftl_range *range, u64 *first, u64 *last)
{
	if (!range->length)
		return -EINVAL;
	if (range->offset > AFTL_LAST_BYTE)
		return -EOVERFLOW;
	*first = range->offset;
	*last = AFTL_LAST_BYTE;
	if (range->length == APPROXFTL_TO_END)
		return 0;
	if (range->length - 1 > AFTL_LAST_BYTE - range->offset)
		return -EOVERFLOW;
	*last = range->offset + range->length - 1;
	return 0;
}

/* Handler of an ioctl that is about an open file of the caller. */
typedef int (*control_file_fn)(struct aftl_control *control, struct file *file, void *argument);

static int call_fn_on_fd(struct aftl_control *control, int fd, control_file_fn fn, void *argument)
{
	struct file *file = fget(fd);
	int ret;

	if (!file)
		return -EBADF;
	ret = fn(control, file, argument);
	fput(file);
	return ret;
}

/* A cursor is a byte offset, or APPROXFTL_TO_END. */
static int check_query_cursor(const struct approxftl_query *query)
{
	return query->cursor > AFTL_LAST_BYTE && query->cursor != APPROXFTL_TO_END ? -EINVAL : 0;
}

/* Tags of files */

/* Return the inode whose page cache holds the data of @file; for an overlay, the underlying one. */
static struct inode *get_data_inode_of_file(const struct file *file)
{
	return d_real_inode(file->f_path.dentry);
}

static int sync_file_range_pages(struct inode *inode, u32 flags, u64 first, u64 last)
{
	if (!(flags & APPROXFTL_SYNC_FIRST))
		return 0;
	return filemap_write_and_wait_range(inode->i_mapping, first, last);
}

/* Tag a range of a file; remove the file's tags if another user has become its owner meanwhile. */
static int tag_file_range_unless_owner_changes(struct file *file, u64 first, u64 last, u32 class,
					       u32 *reason)
{
	struct inode *inode = get_data_inode_of_file(file);
	int ret = aftl_file_tag(inode, first, last, aftl_class_to_tag(class), reason);

	if (ret)
		return ret;
	ret = aftl_check_file_tag_owner(file, reason);
	if (ret)
		aftl_file_drop_tags(inode);
	return ret;
}

static int check_and_tag_file_range(struct aftl_control *control, struct file *file, void *argument)
{
	struct approxftl_range *range = argument;
	u64 first;
	u64 last;
	int ret = get_range_limits(range, &first, &last);

	if (!ret)
		ret = aftl_check_file_tag_owner(file, &range->reason);
	if (!ret && range->class != APPROXFTL_NONE)
		ret = aftl_check_file_may_be_tagged(file->f_path.dentry, &range->reason);
	if (!ret)
		ret = sync_file_range_pages(get_data_inode_of_file(file), range->flags, first,
					    last);
	if (!ret)
		ret = tag_file_range_unless_owner_changes(file, first, last, range->class,
							  &range->reason);
	return ret;
}

static int tag_range_of_file(struct aftl_control *control, struct approxftl_range *range)
{
	range->reason = APPROXFTL_REASON_NONE;
	if (range->flags & ~APPROXFTL_SYNC_FIRST || range->reserved)
		return -EINVAL;
	return call_fn_on_fd(control, range->fd, check_and_tag_file_range, range);
}

static int execute_tag_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_range *range = argument;

	return range->class > APPROXFTL_LEVEL_3 ? -EINVAL : tag_range_of_file(control, range);
}

static int execute_untag_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_range *range = argument;
	int ret;

	if (range->class)
		return -EINVAL;
	range->class = APPROXFTL_NONE;
	ret = tag_range_of_file(control, range);
	range->class = 0;
	return ret;
}

/* Fill in @data, a struct approxftl_tag_fd: the passed tag carriers that @target evaluates. */
static int copy_tag_carriers_of_target(struct aftl_target *target, void *data)
{
	const struct aftl_options *options = &target->options;
	struct approxftl_tag_fd *tag = data;

	tag->honoured = options->carriers & tag->passed;
	if (tag->honoured & APPROXFTL_CARRIER_IOPRIO)
		tag->io_priority = IOPRIO_CLASS_BE << IOPRIO_CLASS_SHIFT |
				   options->ioprio_hint << 3 | IOPRIO_BE_NORM;
	if (tag->honoured & APPROXFTL_CARRIER_WRITE_STREAM)
		tag->write_stream = aftl_get_write_stream_of_tag(options);
	return 0;
}

/*
 * Copy to @tag the tag carriers that an approxftl target evaluates. @file is the target's block
 * device, or a file on a file system that is mounted directly on the target. If the file system is
 * on another device, @tag stays as it is: no stacked device tells which carriers it passes on.
 */
static int get_tag_carriers_of_device_below(const struct file *file, struct approxftl_tag_fd *tag)
{
	const struct inode *inode = get_data_inode_of_file(file);
	const struct block_device *below = inode->i_sb->s_bdev;
	dev_t dev = S_ISBLK(inode->i_mode) ? inode->i_rdev : below ? below->bd_dev : 0;
	int ret = dev ? aftl_call_fn_on_target_of_device(dev, copy_tag_carriers_of_target, tag) :
			-ENODEV;

	return ret == -ENODEV ? 0 : ret;
}

/*
 * Set the write hint that marks approximate files, as F_SET_RW_HINT does, or clear it. A different
 * hint is not cleared, because an application has set it.
 */
static void set_write_hint(struct inode *inode, bool approximate)
{
	inode_lock(inode);
	if (approximate)
		WRITE_ONCE(inode->i_write_hint, APPROXFTL_WRITE_HINT);
	else if (inode->i_write_hint == APPROXFTL_WRITE_HINT)
		WRITE_ONCE(inode->i_write_hint, 0);
	inode_unlock(inode);
}

/*
 * Tag the file by each of @carriers: tagged ranges of the inode, write hint. Set tag->carriers to
 * those that were set, because the device may not evaluate write hints.
 */
static int tag_file_by_carriers(struct file *file, struct approxftl_tag_fd *tag, u32 carriers)
{
	int ret = 0;

	if (carriers & APPROXFTL_CARRIER_INODE)
		ret = tag_file_range_unless_owner_changes(file, 0, AFTL_LAST_BYTE, tag->class,
							  &tag->reason);
	if (ret)
		return ret;
	tag->carriers = carriers & APPROXFTL_CARRIER_INODE;
	if (carriers & APPROXFTL_CARRIER_WRITE_HINT & tag->passed) {
		set_write_hint(get_data_inode_of_file(file), tag->class == APPROXFTL_APPROXIMATE);
		tag->carriers |= APPROXFTL_CARRIER_WRITE_HINT;
	}
	return 0;
}

static int tag_whole_file(struct aftl_control *control, struct file *file, void *argument)
{
	struct approxftl_tag_fd *tag = argument;
	u32 carriers = tag->carriers;
	int ret = get_tag_carriers_of_device_below(file, tag);

	tag->carriers = 0;
	if (ret || S_ISBLK(file_inode(file)->i_mode))
		return ret;
	ret = aftl_check_file_tag_owner(file, &tag->reason);
	if (!ret && tag->class != APPROXFTL_NONE)
		ret = aftl_check_file_may_be_tagged(file->f_path.dentry, &tag->reason);
	if (ret)
		return ret;
	return tag_file_by_carriers(file, tag,
				    carriers ? carriers : APPROXFTL_CARRIER_INODE | tag->honoured);
}

static int execute_tag_fd_ioctl(struct aftl_control *control, void *argument)
{
	const u32 known = APPROXFTL_CARRIER_INODE | APPROXFTL_CARRIER_WRITE_HINT;
	struct approxftl_tag_fd *tag = argument;

	tag->passed = APPROXFTL_CARRIER_INODE | AFTL_BIO_CARRIERS;
	tag->honoured = 0;
	tag->io_priority = 0;
	tag->write_stream = 0;
	tag->reason = APPROXFTL_REASON_NONE;
	if (tag->class > APPROXFTL_LEVEL_3 || tag->carriers & ~known || tag->reserved)
		return -EINVAL;
	return call_fn_on_fd(control, tag->fd, tag_whole_file, tag);
}

/* Copy the next tagged ranges to user space. Returns their number, or a negative error code. */
static int list_next_tags_of_file(const struct inode *inode, struct approxftl_query *query,
				  struct approxftl_extent *extents)
{
	u32 room = min_t(u32, query->room - query->count, BATCH);
	struct approxftl_extent __user *to = u64_to_user_ptr(query->extents);
	u32 count = aftl_file_list_tags(inode, &query->cursor, extents, room);

	if (copy_to_user(to + query->count, extents, count * sizeof(*extents)))
		return -EFAULT;
	query->count += count;
	return count;
}

static int list_file_tags(const struct inode *inode, struct approxftl_query *query)
{
	struct approxftl_extent *extents = kmalloc_array(BATCH, sizeof(*extents), GFP_KERNEL);
	int ret = extents ? 1 : -ENOMEM;

	while (ret > 0 && query->count < query->room && query->cursor <= AFTL_LAST_BYTE) {
		ret = fatal_signal_pending(current) ? -EINTR :
						      list_next_tags_of_file(inode, query, extents);
		cond_resched();
	}
	kfree(extents);
	return min(ret, 0);
}

static int query_file_tags(struct aftl_control *control, struct file *file, void *query)
{
	int ret = S_ISREG(file_inode(file)->i_mode) ? check_query_cursor(query) : -EINVAL;

	return ret ? ret : list_file_tags(get_data_inode_of_file(file), query);
}

static int execute_query_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_query *query = argument;

	query->count = 0;
	return call_fn_on_fd(control, query->fd, query_file_tags, query);
}

static int check_pwritev_argument(const struct approxftl_pwritev *pwritev, const struct file *file)
{
	umode_t mode = file_inode(file)->i_mode;

	if (pwritev->class > APPROXFTL_LEVEL_3 || pwritev->class == APPROXFTL_NONE ||
	    pwritev->flags || file->f_flags & O_APPEND || !(S_ISREG(mode) || S_ISBLK(mode)))
		return -EINVAL;
	if (pwritev->offset > AFTL_LAST_BYTE)
		return -EOVERFLOW;
	return file->f_mode & FMODE_WRITE ? 0 : -EBADF;
}

/* Tag the written range: a tag of the calling thread would not affect write-back of its pages. */
static int tag_written_range(struct approxftl_pwritev *pwritev, struct file *file, u64 bytes)
{
	u64 first = pwritev->offset;

	if (!bytes || !S_ISREG(file_inode(file)->i_mode))
		return 0;
	return tag_file_range_unless_owner_changes(file, first, first + bytes - 1, pwritev->class,
						   &pwritev->reason);
}

/* Check that the range of a write can be tagged, before the write begins. */
static int check_range_of_pwritev(struct approxftl_pwritev *pwritev, struct file *file, u64 bytes)
{
	int ret;

	if (!bytes || !S_ISREG(file_inode(file)->i_mode))
		return 0;
	if (bytes - 1 > AFTL_LAST_BYTE - pwritev->offset)
		return -EOVERFLOW;
	ret = aftl_check_file_tag_owner(file, &pwritev->reason);
	return ret ? ret : aftl_check_file_may_be_tagged(file->f_path.dentry, &pwritev->reason);
}

/*
 * Write without O_SYNC semantics, even if the file has them: the range must be tagged before it is
 * written back. sync_written_range() syncs it.
 */
static ssize_t write_in_scope(struct aftl_control *control, u32 class, struct file *file,
			      struct iov_iter *iter, loff_t position)
{
	u32 previous;
	u32 ours;
	ssize_t written = aftl_scopes_set_tag(&control->scopes, APPROXFTL_THREAD,
					      aftl_class_to_tag(class), &previous);

	if (written)
		return written;
	written = aftl_iter_write(file, iter, position, IOCB_DSYNC | IOCB_SYNC);
	if (aftl_scopes_set_tag(&control->scopes, APPROXFTL_THREAD, previous, &ours))
		WARN_ON_ONCE(1);
	return written;
}

static int sync_written_range(struct file *file, u64 first, u64 bytes)
{
	if (!bytes || !(file->f_flags & O_DSYNC || IS_SYNC(file_inode(file))))
		return 0;
	return vfs_fsync_range(file, first, first + bytes - 1, !(file->f_flags & __O_SYNC));
}

/* Tag only the bytes that have been written: the rest of the range has no new data. */
static ssize_t write_as_approximate(struct aftl_control *control, struct approxftl_pwritev *pwritev,
				    struct file *file, struct iov_iter *iter)
{
	ssize_t written = write_in_scope(control, pwritev->class, file, iter, pwritev->offset);
	int ret;

	if (written <= 0)
		return written;
	pwritev->written = written;
	ret = tag_written_range(pwritev, file, written);
	return ret ? ret : written;
}

/*
 * Tag the range as precise before writing, so that write-back cannot store new data with the old
 * tag. Restore the old tags of bytes that were not written.
 */
static ssize_t write_as_precise(struct aftl_control *control, struct approxftl_pwritev *pwritev,
				struct file *file, struct iov_iter *iter)
{
	u64 bytes = iov_iter_count(iter);
	u64 first = pwritev->offset;
	struct aftl_said said = { };
	ssize_t written;
	int ret = 0;

	if (bytes && S_ISREG(file_inode(file)->i_mode))
		ret = aftl_file_save_tags(get_data_inode_of_file(file), first, first + bytes - 1,
					  &said);
	if (!ret)
		ret = tag_written_range(pwritev, file, bytes);
	written = ret ? ret : write_in_scope(control, pwritev->class, file, iter, first);
	if (!ret && written < (ssize_t)bytes)
		aftl_file_restore_tags(get_data_inode_of_file(file),
				       first + max_t(ssize_t, written, 0), &said);
	kvfree(said.extents);
	return written;
}

static int write_tagged_file(struct aftl_control *control, struct approxftl_pwritev *pwritev,
			     struct file *file, struct iov_iter *iter)
{
	ssize_t written = check_range_of_pwritev(pwritev, file, iov_iter_count(iter));

	if (!written)
		written = pwritev->class == APPROXFTL_PRECISE ?
				  write_as_precise(control, pwritev, file, iter) :
				  write_as_approximate(control, pwritev, file, iter);
	if (written < 0)
		return written;
	pwritev->written = written;
	return sync_written_range(file, pwritev->offset, written);
}

static int import_iovec_and_write(struct aftl_control *control, struct file *file, void *argument)
{
	struct approxftl_pwritev *pwritev = argument;
	struct iovec fast[UIO_FASTIOV];
	struct iovec *iov = fast;
	struct iov_iter iter;
	ssize_t ret = check_pwritev_argument(pwritev, file);

	if (ret)
		return ret;
	ret = import_iovec(ITER_SOURCE, u64_to_user_ptr(pwritev->iov), pwritev->iov_count,
			   ARRAY_SIZE(fast), &iov, &iter);
	if (ret < 0)
		return ret;
	ret = write_tagged_file(control, pwritev, file, &iter);
	kfree(iov);
	return ret;
}

static int execute_pwritev_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_pwritev *pwritev = argument;

	pwritev->reason = APPROXFTL_REASON_NONE;
	pwritev->written = 0;
	return call_fn_on_fd(control, pwritev->fd, import_iovec_and_write, pwritev);
}

static int set_file_system_watch(struct aftl_control *control, struct file *file, void *argument)
{
	const struct approxftl_watch *watch = argument;
	struct super_block *sb = file_inode(file)->i_sb;

	return watch->on ? aftl_watch_add_sb(sb) : aftl_watch_remove_sb(sb);
}

static int execute_watch_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_watch *watch = argument;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	watch->reason = APPROXFTL_REASON_NONE;
	if (watch->on > 1)
		return -EINVAL;
	return call_fn_on_fd(control, watch->fd, set_file_system_watch, watch);
}

/* Tags of devices, and queries of stored data */

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
	int ret = get_range_limits(range, &request.first, &request.last);

	if (!ret)
		ret = check_block_device_file(file, range);
	if (!ret && range->flags & APPROXFTL_SYNC_FIRST)
		ret = filemap_write_and_wait(file->f_mapping);
	if (ret)
		return ret;
	ret = find_target_and_call_fn(get_block_device_of_file(file)->bd_dev, tag_target_ranges,
				      &request, &request.reason);
	range->reason = request.reason;
	return ret;
}

static int execute_device_tag_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_range *range = argument;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	range->reason = APPROXFTL_REASON_NONE;
	if (range->class > APPROXFTL_LEVEL_3 || range->flags & ~APPROXFTL_SYNC_FIRST ||
	    range->reserved)
		return -EINVAL;
	return call_fn_on_fd(control, range->fd, tag_device_file, range);
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
		.room = min_t(u32, query->room, BATCH),
	};
	u32 reason;
	int ret;

	listing.extents = kmalloc_array(BATCH, sizeof(*listing.extents), GFP_KERNEL);
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
	int ret = get_block_device_of_file(file) ? check_query_cursor(query) : -ENOTBLK;

	if (!ret && query->cursor != APPROXFTL_TO_END)
		ret = query_device_tags(get_block_device_of_file(file), query);
	return ret;
}

static int execute_device_query_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_query *query = argument;

	query->count = 0;
	return call_fn_on_fd(control, query->fd, query_device_file_tags, query);
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
	u32 room = min_t(u32, stored->room - stored->count, BATCH);
	u32 unit_bytes = survey->look.unit_bytes;
	u32 tries;

	survey->look.count = 0;
	for (tries = 0; tries < BATCH && survey->look.count < room; tries++) {
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
	int ret = find_target_and_call_fn(survey->dev, describe_units_of_batch, &survey->look,
					  &stored->reason);
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
	survey.look.units = kcalloc(BATCH, sizeof(*survey.look.units), GFP_KERNEL);
	if (!survey.look.units)
		return -ENOMEM;
	ret = answer_query_of_stored_units(&survey, file);
	kfree(survey.look.units);
	return ret;
}

static int execute_stored_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_stored *stored = argument;

	stored->count = 0;
	stored->reason = APPROXFTL_REASON_NONE;
	return call_fn_on_fd(control, stored->fd, query_storage_of_file, stored);
}

/* Other ioctls, and the table of all */

#define LAST_MEMBER(type, member) offsetofend(struct type, member)

/* Kernel copy of the structure of an ioctl. */
union argument {
	u32 size;
	struct approxftl_caps caps;
	struct approxftl_range range;
	struct approxftl_query query;
	struct approxftl_scope scope;
	struct approxftl_pwritev pwritev;
	struct approxftl_stored stored;
	struct approxftl_watch watch;
	struct approxftl_note note;
	struct approxftl_stats stats;
	struct approxftl_tag_fd tag_fd;
};

/**
 * struct call - an ioctl of /dev/approxftl
 * @size: current size of its structure
 * @least: size of the structure in version 1 of the interface
 * @run: function that executes the ioctl
 */
struct call {
	u32 size;
	u32 least;
	control_fn run;
};

static int increment_device_count(struct aftl_target *target, void *devices)
{
	++*(u32 *)devices;
	return 0;
}

static int execute_caps_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_caps *caps = argument;

	*caps = (struct approxftl_caps){
		.size = caps->size,
		.version = APPROXFTL_VERSION,
		.can = APPROXFTL_CAN_FILE | APPROXFTL_CAN_BUFFER | APPROXFTL_CAN_SCOPE |
		       APPROXFTL_CAN_DEVICE | APPROXFTL_CAN_STORED | APPROXFTL_CAN_WATCH |
		       APPROXFTL_CAN_LEVEL | APPROXFTL_CAN_CARRIER,
	};
	if (IS_ENABLED(CONFIG_BLK_DEV_IO_TRACE))
		caps->can |= APPROXFTL_CAN_NOTE;
	caps->may = caps->can;
	/* Do not audit the check of CAP_SYS_ADMIN: the ioctl APPROXFTL_CAPS uses no privilege. */
	if (!ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN))
		caps->may &= ~(APPROXFTL_CAN_DEVICE | APPROXFTL_CAN_WATCH);
	aftl_get_limits_of_tagged_files(caps);
	aftl_call_fn_on_each_target(increment_device_count, &caps->devices);
	return 0;
}

/* Copy a label from user space; it must be printable ASCII, so that it fits in a line of text. */
static int copy_label_from_user(char *label, u64 address, u32 length)
{
	u32 i;

	if (length > APPROXFTL_LABEL_MAX)
		return -EINVAL;
	if (copy_from_user(label, u64_to_user_ptr(address), length))
		return -EFAULT;
	label[length] = '\0';
	for (i = 0; i < length; i++)
		if (!isascii(label[i]) || !isprint(label[i]))
			return -EINVAL;
	return 0;
}

static int execute_scope_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_scope *scope = argument;
	char label[APPROXFTL_LABEL_MAX + 1];
	u32 previous;
	int ret;

	if (scope->whose > APPROXFTL_PROCESS || scope->class > APPROXFTL_LEVEL_3 || scope->reserved)
		return -EINVAL;
	ret = copy_label_from_user(label, scope->label, scope->label_length);
	if (!ret)
		ret = aftl_scopes_set_tag(&control->scopes, scope->whose,
					  aftl_class_to_tag(scope->class), &previous);
	if (ret)
		return ret;
	scope->previous = aftl_tag_to_class(previous);
	aftl_blktrace_emit_task_tag_change(scope->whose, aftl_class_to_tag(scope->class), label);
	return 0;
}

static int execute_trace_note_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_note *note = argument;
	char label[APPROXFTL_LABEL_MAX + 1];
	int ret = note->length ? copy_label_from_user(label, note->label, note->length) : -EINVAL;

	return ret ? ret : aftl_blktrace_emit_user_label(label);
}

static int execute_stats_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_stats *stats = argument;

	*stats = (struct approxftl_stats){ .size = stats->size };
	aftl_get_stats_of_tagged_files(stats);
	aftl_get_decision_stats(stats);
	stats->scopes = aftl_count_scopes();
	stats->watches = aftl_count_watched_file_systems();
	return 0;
}

#define CALL(number, type, member, function)            \
	[_IOC_NR(number) - _IOC_NR(APPROXFTL_CAPS)] = { \
		.size = sizeof(struct type),            \
		.least = LAST_MEMBER(type, member),     \
		.run = function,                        \
	}

/* The ioctls: CALL(ioctl, its structure, last member that version 1 had, handler) */
static const struct call calls[] = {
	CALL(APPROXFTL_CAPS, approxftl_caps, reserved, execute_caps_ioctl),
	CALL(APPROXFTL_TAG, approxftl_range, reserved, execute_tag_ioctl),
	CALL(APPROXFTL_UNTAG, approxftl_range, reserved, execute_untag_ioctl),
	CALL(APPROXFTL_QUERY, approxftl_query, count, execute_query_ioctl),
	CALL(APPROXFTL_SCOPE, approxftl_scope, reserved, execute_scope_ioctl),
	CALL(APPROXFTL_PWRITEV, approxftl_pwritev, written, execute_pwritev_ioctl),
	CALL(APPROXFTL_DEVICE_TAG, approxftl_range, reserved, execute_device_tag_ioctl),
	CALL(APPROXFTL_DEVICE_QUERY, approxftl_query, count, execute_device_query_ioctl),
	CALL(APPROXFTL_STORED, approxftl_stored, reason, execute_stored_ioctl),
	CALL(APPROXFTL_WATCH, approxftl_watch, reason, execute_watch_ioctl),
	CALL(APPROXFTL_NOTE, approxftl_note, label, execute_trace_note_ioctl),
	CALL(APPROXFTL_STATS, approxftl_stats, splits, execute_stats_ioctl),
	CALL(APPROXFTL_TAG_FD, approxftl_tag_fd, reserved, execute_tag_fd_ioctl),
};

/* Copy the ioctl's structure to user space on failure, too: it has the reason of a refusal. */
static int execute_control_ioctl(const struct call *call, struct aftl_control *control,
				 void __user *user)
{
	union argument argument = { };
	u32 size;
	int ret;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < call->least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&argument, call->size, user, size);
	if (ret)
		return ret;
	argument.size = size;
	ret = call->run(control, &argument);
	if (copy_to_user(user, &argument, min(size, call->size)))
		return -EFAULT;
	return ret;
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long user)
{
	u32 index = _IOC_NR(command) - _IOC_NR(APPROXFTL_CAPS);

	if (command != _IO(APPROXFTL_IOCTL, _IOC_NR(command)) || index >= ARRAY_SIZE(calls))
		return -ENOTTY;
	/* A mispredicted check must not read beyond the table (Spectre variant 1). */
	index = array_index_nospec(index, ARRAY_SIZE(calls));
	return execute_control_ioctl(&calls[index], file->private_data, (void __user *)user);
}

static int control_open(struct inode *inode, struct file *file)
{
	struct aftl_control *control = kzalloc(sizeof(*control), GFP_KERNEL_ACCOUNT);

	if (!control)
		return -ENOMEM;
	aftl_scopes_init_list(&control->scopes);
	file->private_data = control;
	return 0;
}

static int control_release(struct inode *inode, struct file *file)
{
	struct aftl_control *control = file->private_data;

	aftl_scopes_remove_all(&control->scopes);
	kfree(control);
	return 0;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.release = control_release,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice control_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "approxftl",
	.fops = &control_fops,
};

int aftl_control_init(void)
{
	return misc_register(&control_device);
}

void aftl_control_exit(void)
{
	misc_deregister(&control_device);
}
