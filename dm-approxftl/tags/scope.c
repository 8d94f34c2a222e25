// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said of the writes of a thread, or of a process.
 *
 * A thread is its struct pid and the memory that it had then, a process is its memory: the
 * first ends with the thread, both when another program is executed, and neither can be
 * mistaken for a later one while it is kept here. What shares the memory of a process are
 * its threads and those that io_uring does its work with.
 */
#include <linux/hash.h>
#include <linux/rhashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "tags/tags.h"

/* Scopes of one open file: more threads than a program has. */
#define MAX_SCOPES 4096

/**
 * struct writer - whose writes
 * @pid: the thread; NULL for a process
 * @mm: the memory
 */
struct writer {
	struct pid *pid;
	struct mm_struct *mm;
};

/**
 * struct scope - what one open file says of a writer
 * @node: in the table, beside what others say of the same
 * @list: in that of the open file
 * @writer: key
 * @say: of the writes
 * @rcu: readers may still look at it
 */
struct scope {
	struct rhlist_head node;
	struct list_head list;
	struct writer writer;
	u32 say;
	struct rcu_head rcu;
};

static const struct rhashtable_params table_params = {
	.key_len = sizeof_field(struct scope, writer),
	.key_offset = offsetof(struct scope, writer),
	.head_offset = offsetof(struct scope, node),
	.automatic_shrinking = true,
};

static struct rhltable table;
static atomic_t count __read_mostly;

/*
 * Scopes by two hashes of their memory: most writers are told here that nothing is said of them.
 * One alone had one in 256 look in the table for as long as they ran.
 */
#define HASH_BITS 8
static atomic_t counts[2][1 << HASH_BITS];

static atomic_t *count_of(const struct mm_struct *mm, u32 which)
{
	u32 hash = hash_ptr(mm, 2 * HASH_BITS) >> which * HASH_BITS;

	return &counts[which][hash & (ARRAY_SIZE(counts[which]) - 1)];
}

static void count_scope(const struct mm_struct *mm, int scopes)
{
	atomic_add(scopes, count_of(mm, 0));
	atomic_add(scopes, count_of(mm, 1));
	atomic_add(scopes, &count);
	atomic_add(scopes, &aftl_tags_in_use);
}

/* Whether a scope may have this memory */
static bool may_be_said_of(const struct mm_struct *mm)
{
	return mm && atomic_read(count_of(mm, 0)) && atomic_read(count_of(mm, 1));
}

int aftl_scope_table_init(void)
{
	return rhltable_init(&table, &table_params);
}

void aftl_scope_table_exit(void)
{
	rhltable_destroy(&table);
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
		if (scope->writer.pid == pid && scope->writer.mm == current->mm)
			return scope;
	return NULL;
}

/* Readers compare the two, and look no further. */
static void forget(struct scope *scope)
{
	put_pid(scope->writer.pid);
	mmdrop(scope->writer.mm);
	kfree_rcu(scope, rcu);
}

static struct scope *new_scope(struct pid *pid, u32 say)
{
	struct scope *scope = kzalloc(sizeof(*scope), GFP_KERNEL_ACCOUNT);

	if (!scope)
		return NULL;
	scope->writer.pid = get_pid(pid);
	scope->writer.mm = current->mm;
	scope->say = say;
	mmgrab(scope->writer.mm);
	return scope;
}

static int add_scope(struct aftl_scopes *scopes, struct pid *pid, u32 say)
{
	struct scope *scope;

	if (scopes->count >= MAX_SCOPES)
		return -ENOSPC;
	scope = new_scope(pid, say);
	if (!scope)
		return -ENOMEM;
	if (rhltable_insert(&table, &scope->node, table_params)) {
		forget(scope);
		return -ENOMEM;
	}
	list_add(&scope->list, &scopes->list);
	scopes->count++;
	count_scope(scope->writer.mm, 1);
	return 0;
}

static void remove_scope(struct aftl_scopes *scopes, struct scope *scope)
{
	count_scope(scope->writer.mm, -1);
	rhltable_remove(&table, &scope->node, table_params);
	list_del(&scope->list);
	scopes->count--;
	forget(scope);
}

static int set_scope(struct aftl_scopes *scopes, struct pid *pid, u32 say, u32 *previous)
{
	struct scope *scope = find_scope(scopes, pid);

	*previous = scope ? scope->say : AFTL_SAY_NONE;
	if (say == *previous)
		return 0;
	if (!scope)
		return add_scope(scopes, pid, say);
	if (say == AFTL_SAY_NONE)
		remove_scope(scopes, scope);
	else
		WRITE_ONCE(scope->say, say);
	return 0;
}

int aftl_scopes_set(struct aftl_scopes *scopes, u32 whose, u32 say, u32 *previous)
{
	struct pid *pid = whose == APPROXFTL_THREAD ? task_pid(current) : NULL;
	int ret;

	mutex_lock(&scopes->lock);
	ret = set_scope(scopes, pid, say, previous);
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

/* Several open files may speak of one thread: the most careful is the strongest. */
static u32 said_of(struct pid *pid)
{
	struct writer writer = { .pid = pid, .mm = current->mm };
	struct rhlist_head *said = rhltable_lookup(&table, &writer, table_params);
	u32 say = AFTL_SAY_NONE;
	struct rhlist_head *at;
	struct scope *scope;

	rhl_for_each_entry_rcu(scope, at, said, node)
		say = min(say, READ_ONCE(scope->say));
	return say;
}

struct aftl_verdict aftl_scope_verdict(void)
{
	u32 thread;
	u32 process;

	if (current->flags & PF_KTHREAD || !may_be_said_of(current->mm))
		return aftl_verdict(AFTL_BY_THREAD, AFTL_SAY_NONE);
	thread = said_of(task_pid(current));
	process = said_of(NULL);
	if (process && thread != AFTL_SAY_NONE)
		return aftl_verdict(AFTL_BY_THREAD, thread);
	return aftl_verdict(AFTL_BY_PROCESS, process);
}

u32 aftl_scope_count(void)
{
	return atomic_read(&count);
}
