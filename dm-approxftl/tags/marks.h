/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fsnotify marks that must all be freed before the module is unloaded.
 *
 * A mark is destroyed with its inode or super block, or by aftl_marks_exit().
 */
#ifndef AFTL_TAG_MARKS_H
#define AFTL_TAG_MARKS_H

#include <linux/fsnotify_backend.h>

/**
 * struct aftl_mark - fsnotify mark
 * @fs: fsnotify's part
 * @list: entry in the list of active marks; empty unless active
 */
struct aftl_mark {
	struct fsnotify_mark fs;
	struct list_head list;
};

/**
 * struct aftl_marks - marks of one kind
 * @group: fsnotify group
 * @lock: protects @list, @count, and the owner's tables of marks
 * @list: active marks
 * @count: number of active marks
 * @alive: number of marks that have been initialised and not freed
 */
struct aftl_marks {
	struct fsnotify_group *group;
	spinlock_t lock; /* protects @list and @count */
	struct list_head list;
	u32 count;
	atomic_t alive;
};

/**
 * aftl_inode_marks_init() - create a group of marks
 * @marks: marks
 * @ops: callbacks of fsnotify
 *
 * Context: module init.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_inode_marks_init(struct aftl_marks *marks, const struct fsnotify_ops *ops);

/**
 * aftl_marks_exit() - destroy all marks and their group
 * @marks: marks
 *
 * Returns when ->free_mark() has returned for each mark.
 *
 * Context: module exit; sleeps.
 */
void aftl_marks_exit(struct aftl_marks *marks);

/**
 * aftl_mark_init_in_group() - initialise a mark with one reference
 * @marks: marks that it belongs to
 * @mark: mark
 *
 * Context: process.
 */
void aftl_mark_init_in_group(struct aftl_marks *marks, struct aftl_mark *mark);

/**
 * aftl_mark_add_to_list() - make an attached mark active
 * @marks: marks that it belongs to
 * @mark: mark
 *
 * Context: under @marks->lock.
 * Return: false if it has been detached already.
 */
bool aftl_mark_add_to_list(struct aftl_marks *marks, struct aftl_mark *mark);

/**
 * aftl_mark_remove_from_list() - make a mark inactive, for ->freeing_mark()
 * @marks: marks that it belongs to
 * @mark: mark
 *
 * Context: under @marks->lock.
 * Return: true if it was active.
 */
bool aftl_mark_remove_from_list(struct aftl_marks *marks, struct aftl_mark *mark);

/**
 * aftl_marks_count_freed_mark() - subtract a freed mark from @alive, at the end of ->free_mark()
 * @marks: marks that it belonged to
 */
void aftl_marks_count_freed_mark(struct aftl_marks *marks);

static inline void aftl_mark_get(struct aftl_mark *mark)
{
	refcount_inc(&mark->fs.refcnt);
}

static inline void aftl_mark_put(struct aftl_mark *mark)
{
	fsnotify_put_mark(&mark->fs);
}

/**
 * aftl_mark_destroy() - detach a mark
 * @marks: marks that it belongs to
 * @mark: mark; the caller has a reference
 *
 * Context: process; may sleep.
 */
void aftl_mark_destroy(struct aftl_marks *marks, struct aftl_mark *mark);

static inline struct aftl_mark *aftl_to_inode_mark(struct fsnotify_mark *mark)
{
	return container_of(mark, struct aftl_mark, fs);
}

#endif
