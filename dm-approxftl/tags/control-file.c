// SPDX-License-Identifier: GPL-2.0-only
/* /dev/approxftl: tags of files. */
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "compat.h"
#include "tags/control.h"

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
	int ret = aftl_control_get_range_limits(range, &first, &last);

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
	return aftl_control_call_fn_on_fd(control, range->fd, check_and_tag_file_range, range);
}

int aftl_control_tag_range(struct aftl_control *control, void *argument)
{
	struct approxftl_range *range = argument;

	return range->class > APPROXFTL_LEVEL_3 ? -EINVAL : tag_range_of_file(control, range);
}

int aftl_control_untag_range(struct aftl_control *control, void *argument)
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
 * Find the carriers that the device below evaluates: the device that @file is, or on which its file
 * system is directly. All other devices evaluate none.
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

int aftl_control_tag_fd(struct aftl_control *control, void *argument)
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
	return aftl_control_call_fn_on_fd(control, tag->fd, tag_whole_file, tag);
}

/* Copy the next tagged ranges to user space. Returns their number, or a negative error code. */
static int list_next_tags_of_file(const struct inode *inode, struct approxftl_query *query,
				  struct approxftl_extent *extents)
{
	u32 room = min_t(u32, query->room - query->count, AFTL_BATCH);
	struct approxftl_extent __user *to = u64_to_user_ptr(query->extents);
	u32 count = aftl_file_list_tags(inode, &query->cursor, extents, room);

	if (copy_to_user(to + query->count, extents, count * sizeof(*extents)))
		return -EFAULT;
	query->count += count;
	return count;
}

static int list_file_tags(const struct inode *inode, struct approxftl_query *query)
{
	struct approxftl_extent *extents = kmalloc_array(AFTL_BATCH, sizeof(*extents), GFP_KERNEL);
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
	int ret = S_ISREG(file_inode(file)->i_mode) ? aftl_control_check_query_cursor(query) :
						      -EINVAL;

	return ret ? ret : list_file_tags(get_data_inode_of_file(file), query);
}

int aftl_control_query_file(struct aftl_control *control, void *argument)
{
	struct approxftl_query *query = argument;

	query->count = 0;
	return aftl_control_call_fn_on_fd(control, query->fd, query_file_tags, query);
}

static int check_pwritev_argument(const struct approxftl_pwritev *pwritev, const struct file *file)
{
	umode_t mode = file_inode(file)->i_mode;

	if (pwritev->class > APPROXFTL_LEVEL_3 || pwritev->class == APPROXFTL_NONE ||
	    pwritev->flags ||
	    file->f_flags & O_APPEND || !(S_ISREG(mode) || S_ISBLK(mode)))
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

int aftl_control_pwritev(struct aftl_control *control, void *argument)
{
	struct approxftl_pwritev *pwritev = argument;

	pwritev->reason = APPROXFTL_REASON_NONE;
	pwritev->written = 0;
	return aftl_control_call_fn_on_fd(control, pwritev->fd, import_iovec_and_write, pwritev);
}

static int set_file_system_watch(struct aftl_control *control, struct file *file, void *argument)
{
	const struct approxftl_watch *watch = argument;
	struct super_block *sb = file_inode(file)->i_sb;

	return watch->on ? aftl_watch_add_sb(sb) : aftl_watch_remove_sb(sb);
}

int aftl_control_watch_file_system(struct aftl_control *control, void *argument)
{
	struct approxftl_watch *watch = argument;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	watch->reason = APPROXFTL_REASON_NONE;
	if (watch->on > 1)
		return -EINVAL;
	return aftl_control_call_fn_on_fd(control, watch->fd, set_file_system_watch, watch);
}
