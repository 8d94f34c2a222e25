// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table of tagged files, by inode.
 *
 * The key is the address of the inode. An fsnotify mark ties the entry to the inode's life: it
 * keeps the inode in memory until the last link is gone or the file system is unmounted, and
 * removes the entry before the address can be reused.
 */
#include <linux/hashtable.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "tags/tags.h"

static uint max_files = 65536;
module_param(max_files, uint, 0644);
MODULE_PARM_DESC(max_files, "files that a user may have tagged at a time");

static uint max_ranges = 1 << 18;
module_param(max_ranges, uint, 0644);
MODULE_PARM_DESC(max_ranges, "ranges that a user may have in tagged files");

/**
 * struct aftl_account - tagged files and ranges of one user; exists while there are any
 * @node: node in the table of accounts
 * @uid: owner of the files
 * @files: number of tagged files
 * @ranges: number of ranges in all of them
 */
struct aftl_account {
	struct hlist_node node;
	kuid_t uid;
	u32 files;
	u32 ranges;
};

static const struct rhashtable_params table_params = {
	.key_len = sizeof_field(struct aftl_file, inode),
	.key_offset = offsetof(struct aftl_file, inode),
	.head_offset = offsetof(struct aftl_file, node),
	.automatic_shrinking = true,
};

static struct aftl_marks marks;		  /* marks.lock also protects table and accounts */
static struct rhashtable table;
static DEFINE_HASHTABLE(accounts, 6);
static DEFINE_MUTEX(change);		  /* serialises changes of the tagged ranges of files */

static struct aftl_file *mark_to_tagged_file(struct fsnotify_mark *mark)
{
	return container_of(aftl_to_inode_mark(mark), struct aftl_file, mark);
}

struct aftl_file *aftl_find_tagged_file(const struct inode *inode)
{
	return rhashtable_lookup(&table, &inode, table_params);
}

/* Return the tagged file of @inode with a reference, or NULL. */
static struct aftl_file *get_tagged_file_of_inode(const struct inode *inode)
{
	struct aftl_file *file;

	spin_lock(&marks.lock);
	file = rhashtable_lookup_fast(&table, &inode, table_params);
	if (file)
		aftl_mark_get(&file->mark);
	spin_unlock(&marks.lock);
	return file;
}

/* Functions for the accounts of users (numbers of tagged files). Context: under marks.lock. */

static struct aftl_account *find_user_account(kuid_t uid)
{
	struct aftl_account *account;

	hash_for_each_possible(accounts, account, node, __kuid_val(uid))
		if (uid_eq(account->uid, uid))
			return account;
	return NULL;
}

/* Charge @file to @uid's account, or return -ENOSPC. A new account is *@fresh, which is cleared. */
static int charge_file_to_user_quota(struct aftl_file *file, kuid_t uid,
				     struct aftl_account **fresh)
{
	struct aftl_account *account = find_user_account(uid);

	if (!account) {
		account = *fresh;
		*fresh = NULL;
		account->uid = uid;
		hash_add(accounts, &account->node, __kuid_val(uid));
	}
	if (account->files >= max_files) {
		if (!account->files) {
			hash_del(&account->node);
			*fresh = account;
		}
		return -ENOSPC;
	}
	account->files++;
	file->account = account;
	return 0;
}

static void uncharge_file_from_user_quota(struct aftl_file *file)
{
	struct aftl_account *account = file->account;

	if (!account)
		return;
	account->ranges -= file->ranges.count;
	if (--account->files)
		return;
	hash_del(&account->node);
	kfree(account);
}

/* Callbacks of fsnotify. */

/*
 * Callback of fsnotify after attributes or data of a tagged file have changed. Drop the tags if the
 * file has a new owner, because that user has not set them, or if a loop device writes to the file,
 * because the tags are not for its data.
 */
static int drop_tags_of_changed_file(struct fsnotify_mark *mark, u32 mask, struct inode *inode,
				     struct inode *dir, const struct qstr *name, u32 cookie)
{
	if (inode && (!uid_eq(inode->i_uid, mark_to_tagged_file(mark)->account->uid) ||
		      aftl_file_backs_loop_device(inode->i_mapping)))
		aftl_mark_destroy(&marks, aftl_to_inode_mark(mark));
	return 0;
}

static void remove_file_from_table(struct fsnotify_mark *mark, struct fsnotify_group *group)
{
	struct aftl_file *file = mark_to_tagged_file(mark);

	spin_lock(&marks.lock);
	if (aftl_mark_remove_from_list(&marks, &file->mark)) {
		rhashtable_remove_fast(&table, &file->node, table_params);
		atomic_dec(&aftl_tags_in_use);
	}
	spin_unlock(&marks.lock);
}

static void free_tagged_file(struct fsnotify_mark *mark)
{
	struct aftl_file *file = mark_to_tagged_file(mark);

	spin_lock(&marks.lock);
	uncharge_file_from_user_quota(file);
	spin_unlock(&marks.lock);
	aftl_tagged_ranges_destroy(&file->ranges);
	kfree_rcu(file, rcu);
	aftl_marks_count_freed_mark(&marks);
}

static const struct fsnotify_ops mark_ops = {
	.handle_inode_event = drop_tags_of_changed_file,
	.freeing_mark = remove_file_from_table,
	.free_mark = free_tagged_file,
};

/* Functions that create and change tagged files. Context: under the mutex "change". */

static bool inode_is_of_memory_file(const struct inode *inode)
{
	return inode->i_sb->s_magic == TMPFS_MAGIC || inode->i_sb->s_magic == HUGETLBFS_MAGIC;
}

static struct aftl_file *alloc_tagged_file(struct inode *inode)
{
	struct aftl_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return NULL;
	file->inode = inode;
	file->buffer = inode_is_of_memory_file(inode);
	aftl_writeback_record_file_system(file, inode);
	aftl_tagged_ranges_init_tree(&file->ranges);
	aftl_mark_init_in_group(&marks, &file->mark);
	/* Watch some events: in 6.1 a mark without events does not keep the inode in memory. */
	file->mark.fs.mask = FS_ATTRIB | FS_MODIFY;
	return file;
}

static int alloc_user_quota_and_charge_file(struct aftl_file *file, kuid_t uid)
{
	struct aftl_account *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!fresh)
		return -ENOMEM;
	spin_lock(&marks.lock);
	ret = charge_file_to_user_quota(file, uid, &fresh);
	spin_unlock(&marks.lock);
	kfree(fresh);
	return ret;
}

static int add_file_to_table(struct aftl_file *file)
{
	int ret = -ESTALE;

	spin_lock(&marks.lock);
	if (file->mark.fs.flags & FSNOTIFY_MARK_FLAG_ALIVE)
		ret = rhashtable_insert_fast(&table, &file->node, table_params);
	if (!ret) {
		aftl_mark_add_to_list(&marks, &file->mark);
		atomic_inc(&aftl_tags_in_use);
	}
	spin_unlock(&marks.lock);
	return ret;
}

static int attach_file_to_inode(struct aftl_file *file, struct inode *inode)
{
	int ret = fsnotify_add_inode_mark(&file->mark.fs, inode, 0);

	if (ret)
		return ret;
	ret = add_file_to_table(file);
	if (ret)
		aftl_mark_destroy(&marks, &file->mark);
	return ret;
}

/* Return a new tagged file without ranges, with a reference, or an ERR_PTR(). */
static struct aftl_file *add_tagged_file(struct inode *inode, u32 *reason)
{
	struct aftl_file *file = alloc_tagged_file(inode);
	int ret;

	if (!file)
		return ERR_PTR(-ENOMEM);
	ret = alloc_user_quota_and_charge_file(file, inode->i_uid);
	if (ret == -ENOSPC)
		*reason = APPROXFTL_REASON_FILES;
	if (!ret)
		ret = attach_file_to_inode(file, inode);
	if (!ret)
		return file;
	aftl_mark_put(&file->mark);
	return ERR_PTR(ret);
}

/* Return the number of ranges that the file's owner may still add. */
static u32 get_remaining_range_quota_of_user(const struct aftl_account *account)
{
	u32 left;

	spin_lock(&marks.lock);
	left = account->ranges < max_ranges ? max_ranges - account->ranges : 0;
	spin_unlock(&marks.lock);
	return left;
}

static int change_tagged_ranges(struct aftl_file *file, u64 first, u64 last, u32 tag, u32 *reason)
{
	u32 before = file->ranges.count;
	int ret = aftl_tag_byte_range(&file->ranges, first, last, tag,
				      get_remaining_range_quota_of_user(file->account));

	if (ret == -ENOSPC)
		*reason = APPROXFTL_REASON_RANGES;
	spin_lock(&marks.lock);
	file->account->ranges += file->ranges.count - before;
	spin_unlock(&marks.lock);
	if (!file->ranges.count)
		aftl_mark_destroy(&marks, &file->mark);
	return ret;
}

static int tag_inode_range(struct inode *inode, u64 first, u64 last, u32 tag, u32 *reason)
{
	struct aftl_file *file = get_tagged_file_of_inode(inode);
	int ret;

	if (!file && tag == AFTL_TAG_NONE)
		return 0;
	if (!file)
		file = add_tagged_file(inode, reason);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = change_tagged_ranges(file, first, last, tag, reason);
	aftl_mark_put(&file->mark);
	return ret;
}

int aftl_file_tag(struct inode *inode, u64 first, u64 last, u32 tag, u32 *reason)
{
	int ret;

	mutex_lock(&change);
	ret = tag_inode_range(inode, first, last, tag, reason);
	mutex_unlock(&change);
	return ret;
}

void aftl_file_drop_tags(const struct inode *inode)
{
	struct aftl_file *file = get_tagged_file_of_inode(inode);

	if (!file)
		return;
	aftl_mark_destroy(&marks, &file->mark);
	aftl_mark_put(&file->mark);
}

static u64 get_last_byte_of_extent(const struct approxftl_extent *extent)
{
	return extent->length == APPROXFTL_TO_END ? AFTL_LAST_BYTE :
						    extent->offset + extent->length - 1;
}

static int list_tags_of_range(const struct aftl_file *file, struct aftl_said *said)
{
	u32 room = file->ranges.count;
	u64 cursor = said->first;

	if (!room)
		return 0;
	said->extents = kvmalloc_array(room, sizeof(*said->extents), GFP_KERNEL_ACCOUNT);
	if (!said->extents)
		return -ENOMEM;
	while (cursor <= said->last && said->count < room) {
		said->count += aftl_tagged_ranges_list(&file->ranges, &cursor, said->last,
						       &said->extents[said->count],
						       min_t(u32, room - said->count,
							     AFTL_RANGES_SLICE));
		cond_resched();
	}
	return 0;
}

int aftl_file_save_tags(struct inode *inode, u64 first, u64 last, struct aftl_said *said)
{
	struct aftl_file *file;
	int ret = 0;

	*said = (struct aftl_said){ .first = first, .last = last };
	mutex_lock(&change);
	file = get_tagged_file_of_inode(inode);
	if (file) {
		ret = list_tags_of_range(file, said);
		aftl_mark_put(&file->mark);
	}
	mutex_unlock(&change);
	return ret;
}

static int restore_extent_tag(struct inode *inode, u64 from, const struct aftl_said *said,
			      const struct approxftl_extent *extent)
{
	u64 first = max_t(u64, extent->offset, from);
	u64 last = min(get_last_byte_of_extent(extent), said->last);
	u32 reason;

	return first > last ? 0 : tag_inode_range(inode, first, last, extent->level, &reason);
}

void aftl_file_restore_tags(struct inode *inode, u64 from, const struct aftl_said *said)
{
	u32 reason;
	int ret;
	u32 i;

	mutex_lock(&change);
	ret = tag_inode_range(inode, from, said->last, AFTL_TAG_NONE, &reason);
	for (i = 0; !ret && i < said->count; i++)
		ret = restore_extent_tag(inode, from, said, &said->extents[i]);
	mutex_unlock(&change);
}

bool aftl_is_file_tagged(const struct inode *inode)
{
	bool tagged;

	rcu_read_lock();
	tagged = aftl_find_tagged_file(inode);
	rcu_read_unlock();
	return tagged;
}

u32 aftl_file_list_tags(const struct inode *inode, u64 *cursor, struct approxftl_extent *extents,
			u32 room)
{
	const struct aftl_file *file;
	u32 count = 0;

	rcu_read_lock();
	file = aftl_find_tagged_file(inode);
	if (file)
		count = aftl_tagged_ranges_list(&file->ranges, cursor, AFTL_LAST_BYTE, extents,
						room);
	else
		*cursor = APPROXFTL_TO_END;
	rcu_read_unlock();
	return count;
}

void aftl_get_limits_of_tagged_files(struct approxftl_caps *caps)
{
	caps->max_files = max_files;
	caps->max_ranges = max_ranges;
}

void aftl_get_stats_of_tagged_files(struct approxftl_stats *stats)
{
	struct aftl_account *account;
	int bucket;

	spin_lock(&marks.lock);
	stats->files = marks.count;
	hash_for_each(accounts, bucket, account, node)
		stats->ranges += account->ranges;
	spin_unlock(&marks.lock);
}

int aftl_tag_table_init(void)
{
	int ret = rhashtable_init(&table, &table_params);

	if (ret)
		return ret;
	ret = aftl_inode_marks_init(&marks, &mark_ops);
	if (ret)
		rhashtable_destroy(&table);
	return ret;
}

void aftl_tag_table_exit(void)
{
	aftl_marks_exit(&marks);
	rhashtable_destroy(&table);
}
