/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fsnotify marks that must all be gone before the module is.
 *
 * A mark dies with its inode or super block, or when aftl_marks_exit() destroys it.
 */
#ifndef AFTL_TAG_MARKS_H
#define AFTL_TAG_MARKS_H

#include <linux/fsnotify_backend.h>

/**
 * struct aftl_mark - a mark of ours
 * @fs: fsnotify's part
 * @list: in the list of those in force; empty before and after
 */
struct aftl_mark {
	struct fsnotify_mark fs;
	struct list_head list;
};

/**
 * struct aftl_marks - marks of one kind
 * @group: fsnotify's
 * @lock: of @list and of what its owner looks marks up in
 * @list: those in force
 * @count: how many
 * @alive: those in force, and those whose memory is still needed
 */
struct aftl_marks {
	struct fsnotify_group *group;
	spinlock_t lock; /* list, count */
	struct list_head list;
	u32 count;
	atomic_t alive;
};

int __must_check aftl_marks_init(struct aftl_marks *marks, const struct fsnotify_ops *ops);

/* Destroy all, and wait until ->free_mark() has been called for each. */
void aftl_marks_exit(struct aftl_marks *marks);

void aftl_mark_init(struct aftl_marks *marks, struct aftl_mark *mark);

/* @mark is attached: it is in force unless it has died already. Under the lock. */
bool aftl_mark_enter(struct aftl_marks *marks, struct aftl_mark *mark);

/* To be called by ->freeing_mark(), under the lock. Returns whether it was in force. */
bool aftl_mark_leave(struct aftl_marks *marks, struct aftl_mark *mark);

/* To be called at the end of ->free_mark(). */
void aftl_mark_gone(struct aftl_marks *marks);

static inline void aftl_mark_get(struct aftl_mark *mark)
{
	refcount_inc(&mark->fs.refcnt);
}

static inline void aftl_mark_put(struct aftl_mark *mark)
{
	fsnotify_put_mark(&mark->fs);
}

/* Detach @mark, of which the caller has a reference. */
void aftl_mark_destroy(struct aftl_marks *marks, struct aftl_mark *mark);

static inline struct aftl_mark *aftl_mark_of(struct fsnotify_mark *mark)
{
	return container_of(mark, struct aftl_mark, fs);
}

#endif
