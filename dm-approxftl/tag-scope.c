// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said of the writes of a thread, or of a process.
 *
 * A thread is its struct pid and the memory that it had then, a process is its memory: the
 * first ends with the thread, both when another program is executed, and neither can be
 * mistaken for a later one while it is kept here. What shares the memory of a process are
 * its threads and those that io_uring does its work with.
 */
#include <linux/hashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "tags.h"

/* Scopes of one open file: more threads than a program has. */
#define MAX_SCOPES 4096

/**
 * struct scope - one of them
 * @node: in the table
 * @list: in that of the open file
 * @pid: the thread; NULL for a process
 * @mm: the memory
 * @class: enum approxftl_class
 * @rcu: readers may still look at it
 */
struct scope {
	struct hlist_node node;
	struct list_head list;
	struct pid *pid;
	struct mm_struct *mm;
	u32 class;
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(table, 8);
static DEFINE_SPINLOCK(table_lock); /* table, count */
static u32 count;

static unsigned long key_of(const struct pid *pid, const struct mm_struct *mm)
{
	return pid ? (unsigned long)pid : (unsigned long)mm;
}

void aftl_scopes_init(struct aftl_scopes *scopes)
{
	mutex_init(&scopes->lock);
	INIT_LIST_HEAD(&scopes->list);
	scopes->count = 0;
}

static struct scope *find_scope(struct aftl_scopes *scopes, const struct pid *pid)
{
	struct scope *scope;

	list_for_each_entry(scope, &scopes->list, list)
		if (scope->pid == pid && scope->mm == current->mm)
			return scope;
	return NULL;
}

static int add_scope(struct aftl_scopes *scopes, struct pid *pid, u32 class)
{
	struct scope *scope;

	if (scopes->count >= MAX_SCOPES)
		return -ENOSPC;
	scope = kzalloc(sizeof(*scope), GFP_KERNEL_ACCOUNT);
	if (!scope)
		return -ENOMEM;
	scope->pid = get_pid(pid);
	scope->mm = current->mm;
	scope->class = class;
	mmgrab(scope->mm);
	list_add(&scope->list, &scopes->list);
	scopes->count++;
	spin_lock(&table_lock);
	hash_add_rcu(table, &scope->node, key_of(pid, scope->mm));
	count++;
	spin_unlock(&table_lock);
	atomic_inc(&aftl_tags_in_use);
	return 0;
}

static void remove_scope(struct aftl_scopes *scopes, struct scope *scope)
{
	atomic_dec(&aftl_tags_in_use);
	spin_lock(&table_lock);
	hash_del_rcu(&scope->node);
	count--;
	spin_unlock(&table_lock);
	list_del(&scope->list);
	scopes->count--;
	/* Readers compare these, and look no further. */
	put_pid(scope->pid);
	mmdrop(scope->mm);
	kfree_rcu(scope, rcu);
}

static int set_scope(struct aftl_scopes *scopes, struct pid *pid, u32 class, u32 *previous)
{
	struct scope *scope = find_scope(scopes, pid);

	*previous = scope ? scope->class : APPROXFTL_NONE;
	if (class == *previous)
		return 0;
	if (!scope)
		return add_scope(scopes, pid, class);
	if (class == APPROXFTL_NONE)
		remove_scope(scopes, scope);
	else
		WRITE_ONCE(scope->class, class);
	return 0;
}

int aftl_scopes_set(struct aftl_scopes *scopes, u32 whose, u32 class, u32 *previous)
{
	struct pid *pid = whose == APPROXFTL_THREAD ? task_pid(current) : NULL;
	int ret;

	mutex_lock(&scopes->lock);
	ret = set_scope(scopes, pid, class, previous);
	mutex_unlock(&scopes->lock);
	return ret;
}

void aftl_scopes_clear(struct aftl_scopes *scopes)
{
	struct scope *scope;
	struct scope *next;

	list_for_each_entry_safe(scope, next, &scopes->list, list)
		remove_scope(scopes, scope);
	mutex_destroy(&scopes->lock);
}

/* Several open files may speak of one thread: precise is stronger. */
static u32 class_of(const struct pid *pid, const struct mm_struct *mm)
{
	u32 class = APPROXFTL_NONE;
	struct scope *scope;

	hash_for_each_possible_rcu(table, scope, node, key_of(pid, mm))
		if (scope->pid == pid && scope->mm == mm)
			class = min(class, READ_ONCE(scope->class));
	return class;
}

enum aftl_verdict aftl_scope_verdict(void)
{
	u32 thread;
	u32 process;

	if (!READ_ONCE(count) || current->flags & PF_KTHREAD || !current->mm)
		return AFTL_SAID_NOTHING;
	thread = class_of(task_pid(current), current->mm);
	process = class_of(NULL, current->mm);
	if (thread == APPROXFTL_PRECISE || process == APPROXFTL_PRECISE)
		return AFTL_SAID_PRECISE;
	if (thread == APPROXFTL_APPROXIMATE)
		return AFTL_BY_THREAD;
	return process == APPROXFTL_APPROXIMATE ? AFTL_BY_PROCESS : AFTL_SAID_NOTHING;
}

u32 aftl_scope_count(void)
{
	return READ_ONCE(count);
}
