// SPDX-License-Identifier: GPL-2.0-only
/* fsnotify marks that must all be freed before the module is unloaded. */
#include <linux/delay.h>

#include "tags/marks.h"

/* Until 6.6 a group of fsnotify marks needs this flag if memory reclaim may take its lock. */
#ifndef FSNOTIFY_GROUP_NOFS
#define FSNOTIFY_GROUP_NOFS 0
#endif

int aftl_inode_marks_init(struct aftl_marks *marks, const struct fsnotify_ops *ops)
{
	spin_lock_init(&marks->lock);
	INIT_LIST_HEAD(&marks->list);
	atomic_set(&marks->alive, 0);
	marks->group = fsnotify_alloc_group(ops, FSNOTIFY_GROUP_NOFS);
	return PTR_ERR_OR_ZERO(marks->group);
}

void aftl_mark_init_in_group(struct aftl_marks *marks, struct aftl_mark *mark)
{
	INIT_LIST_HEAD(&mark->list);
	fsnotify_init_mark(&mark->fs, marks->group);
	atomic_inc(&marks->alive);
}

bool aftl_mark_add_to_list(struct aftl_marks *marks, struct aftl_mark *mark)
{
	lockdep_assert_held(&marks->lock);
	if (!(mark->fs.flags & FSNOTIFY_MARK_FLAG_ALIVE))
		return false;
	list_add(&mark->list, &marks->list);
	marks->count++;
	return true;
}

bool aftl_mark_remove_from_list(struct aftl_marks *marks, struct aftl_mark *mark)
{
	lockdep_assert_held(&marks->lock);
	if (list_empty(&mark->list))
		return false;
	list_del_init(&mark->list);
	marks->count--;
	return true;
}

void aftl_marks_count_freed_mark(struct aftl_marks *marks)
{
	atomic_dec(&marks->alive);
}

void aftl_mark_destroy(struct aftl_marks *marks, struct aftl_mark *mark)
{
	fsnotify_destroy_mark(&mark->fs, marks->group);
}

static struct aftl_mark *get_first_active_mark(struct aftl_marks *marks)
{
	struct aftl_mark *mark;

	spin_lock(&marks->lock);
	mark = list_first_entry_or_null(&marks->list, struct aftl_mark, list);
	if (mark)
		aftl_mark_get(mark);
	spin_unlock(&marks->lock);
	return mark;
}

void aftl_marks_exit(struct aftl_marks *marks)
{
	struct aftl_mark *mark;

	for (mark = get_first_active_mark(marks); mark; mark = get_first_active_mark(marks)) {
		aftl_mark_destroy(marks, mark);
		aftl_mark_put(mark);
	}
	/* Wait for marks to which an unmount still has references; the list lacks them already. */
	for (; atomic_read(&marks->alive); msleep(1))
		fsnotify_wait_marks_destroyed();
	/* Wait until the last ->free_mark() has returned: its code is unloaded with the module. */
	fsnotify_wait_marks_destroyed();
	fsnotify_put_group(marks->group);
}
