// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watched file systems: a file is tagged by its extended attribute when it is opened.
 *
 * The attribute is text: ranges OFFSET+LENGTH (without LENGTH: to the end), each optionally
 * followed by "=" and a name of aftl_level_names ("approximate" by default), separated by blanks. A
 * file that has tags already keeps them, and a file that cannot be tagged is skipped.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xattr.h>

#include "compat.h"
#include "core/persist/record.h"
#include "tags/tags.h"

/**
 * struct watch - watched file system
 * @mark: fsnotify mark that ties it to its super block
 * @sb: super block; not to be dereferenced
 */
struct watch {
	struct aftl_mark mark;
	const struct super_block *sb;
};

static struct aftl_marks marks;
static DEFINE_MUTEX(change); /* serialises aftl_watch_add_sb() and aftl_watch_remove_sb() */

static struct watch *mark_to_watch(struct fsnotify_mark *mark)
{
	return container_of(aftl_to_inode_mark(mark), struct watch, mark);
}

static int parse_class_in_tag_attribute(const char *text, u32 *tag)
{
	u8 level = AFTL_APPROX;

	if (text && !aftl_find_quality_level_by_name(text, &level))
		return -EINVAL;
	*tag = level;
	return 0;
}

static int parse_range_in_tag_attribute(char *text, u64 *first, u64 *last)
{
	char *offset = strsep(&text, "+");
	u64 length;

	if (!text || kstrtou64(offset, 10, first) || *first > AFTL_LAST_BYTE)
		return -EINVAL;
	*last = AFTL_LAST_BYTE;
	if (!*text)
		return 0;
	if (kstrtou64(text, 10, &length) || !length)
		return -EINVAL;
	if (length <= AFTL_LAST_BYTE - *first)
		*last = *first + length - 1;
	return 0;
}

static int tag_range_by_attribute(struct inode *inode, char *text)
{
	char *span = strsep(&text, "=");
	u32 reason;
	u64 first;
	u64 last;
	u32 tag;
	int ret = parse_class_in_tag_attribute(text, &tag);

	if (!ret)
		ret = parse_range_in_tag_attribute(span, &first, &last);
	return ret ? ret : aftl_file_tag(inode, first, last, tag, &reason);
}

/*
 * Tag the ranges in @text, the value of the attribute user.approxftl; stop at the first malformed
 * range, because the file's owner may write anything.
 */
static void tag_file_by_attribute(struct inode *inode, char *text)
{
	char *word;

	while ((word = strsep(&text, "\n ")))
		if (*word && tag_range_by_attribute(inode, word))
			break;
}

/* Read the attribute of an overlay's file through the overlay, which checks permissions. */
static void read_tag_attribute(struct dentry *dentry, struct inode *inode)
{
	char *text = kmalloc(APPROXFTL_XATTR_MAX + 1, GFP_KERNEL);
	ssize_t length;

	if (!text)
		return;
	length = __vfs_getxattr(dentry, d_inode(dentry), APPROXFTL_XATTR, text,
				APPROXFTL_XATTR_MAX);
	if (length > 0) {
		text[length] = '\0';
		tag_file_by_attribute(inode, text);
	}
	kfree(text);
}

static int tag_file_on_open_event(struct fsnotify_group *group, u32 mask, const void *data,
				  int data_type, struct inode *dir, const struct qstr *name,
				  u32 cookie, struct fsnotify_iter_info *iter_info)
{
	const struct path *path = fsnotify_data_path(data, data_type);
	struct inode *inode = path ? d_real_inode(path->dentry) : NULL;
	u32 reason;

	if (inode && S_ISREG(inode->i_mode) && !aftl_is_file_tagged(inode) &&
	    !aftl_check_file_may_be_tagged(path->dentry, &reason))
		read_tag_attribute(path->dentry, inode);
	return 0;
}

static void detach_watch_mark(struct fsnotify_mark *mark, struct fsnotify_group *group)
{
	spin_lock(&marks.lock);
	aftl_mark_remove_from_list(&marks, aftl_to_inode_mark(mark));
	spin_unlock(&marks.lock);
}

static void free_watch(struct fsnotify_mark *mark)
{
	kfree(mark_to_watch(mark));
	aftl_marks_count_freed_mark(&marks);
}

static const struct fsnotify_ops mark_ops = {
	.handle_event = tag_file_on_open_event,
	.freeing_mark = detach_watch_mark,
	.free_mark = free_watch,
};

/* Return the watch of @sb with a reference, or NULL. */
static struct watch *get_superblock_watch(const struct super_block *sb)
{
	struct watch *found = NULL;
	struct watch *watch;

	spin_lock(&marks.lock);
	list_for_each_entry(watch, &marks.list, mark.list)
		if (watch->sb == sb)
			found = watch;
	if (found)
		aftl_mark_get(&found->mark);
	spin_unlock(&marks.lock);
	return found;
}

static int add_superblock_watch(struct super_block *sb)
{
	struct watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	int ret;

	if (!watch)
		return -ENOMEM;
	watch->sb = sb;
	aftl_mark_init_in_group(&marks, &watch->mark);
	watch->mark.fs.mask = FS_OPEN;
	ret = aftl_add_fsnotify_mark_to_sb(&watch->mark.fs, sb);
	if (!ret) {
		spin_lock(&marks.lock);
		aftl_mark_add_to_list(&marks, &watch->mark);
		spin_unlock(&marks.lock);
	}
	aftl_mark_put(&watch->mark);
	return ret;
}

int aftl_watch_add_sb(struct super_block *sb)
{
	struct watch *watch;
	int ret = 0;

	mutex_lock(&change);
	watch = get_superblock_watch(sb);
	if (watch)
		aftl_mark_put(&watch->mark);
	else
		ret = add_superblock_watch(sb);
	mutex_unlock(&change);
	return ret;
}

int aftl_watch_remove_sb(const struct super_block *sb)
{
	struct watch *watch;

	mutex_lock(&change);
	watch = get_superblock_watch(sb);
	if (watch) {
		aftl_mark_destroy(&marks, &watch->mark);
		aftl_mark_put(&watch->mark);
	}
	mutex_unlock(&change);
	return watch ? 0 : -ENOENT;
}

u32 aftl_count_watched_file_systems(void)
{
	return READ_ONCE(marks.count);
}

int aftl_watch_init(void)
{
	return aftl_inode_marks_init(&marks, &mark_ops);
}

void aftl_watch_exit(void)
{
	aftl_marks_exit(&marks);
}
