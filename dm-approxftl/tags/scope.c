// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scopes: tags for the writes of a thread or of a process.
 *
 * A process is identified by its mm, a thread by its struct pid and its mm. So the scope of a
 * thread ends with the thread, both kinds end at exec, and the references held here keep the key
 * from being reused. The threads of a process and the workers that io_uring creates for it share
 * its mm.
 */
#include <linux/hash.h>
#include <linux/rhashtable.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "tags/tags.h"

/* Limit of scopes for each open /dev/approxftl; more than a program has threads. */
#define MAX_SCOPES 4096

/**
 * struct writer - key of a scope
 * @pid: thread; NULL for a process
 * @mm: memory of the process
 */
struct writer {
	struct pid *pid;
	struct mm_struct *mm;
};

/**
 * struct scope - tag that one open file has set for a thread or process
 * @node: node in the table, in a list with those of other open files for the same key
 * @list: entry in the open file's list
 * @writer: key
 * @tag: tag of the writes
 * @rcu: frees it after its readers
 */
struct scope {
	struct rhlist_head node;
	struct list_head list;
	struct writer writer;
	u32 tag;
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
 * Numbers of scopes by two hashes of the mm, so that most writers without a scope need no lookup in
 * the table. With one hash, one process in 256 would look in vain on every write.
 */
#define HASH_BITS 8
static atomic_t counts[2][1 << HASH_BITS];

static atomic_t *scope_count_of_mm(const struct mm_struct *mm, u32 which)
{
	u32 hash = hash_ptr(mm, 2 * HASH_BITS) >> which * HASH_BITS;

	return &counts[which][hash & (ARRAY_SIZE(counts[which]) - 1)];
}

static void count_scopes_of_mm(const struct mm_struct *mm, int scopes)
{
	atomic_add(scopes, scope_count_of_mm(mm, 0));
	atomic_add(scopes, scope_count_of_mm(mm, 1));
	atomic_add(scopes, &count);
	atomic_add(scopes, &aftl_tags_in_use);
}

/* Return false if no scope has the address space @mm, true if a scope may have it. */
static bool can_mm_have_tag_scope(const struct mm_struct *mm)
{
	return mm && atomic_read(scope_count_of_mm(mm, 0)) && atomic_read(scope_count_of_mm(mm, 1));
}

int aftl_scope_table_init(void)
{
	return rhltable_init(&table, &table_params);
}

void aftl_scope_table_exit(void)
{
	rhltable_destroy(&table);
}

void aftl_scopes_init_list(struct aftl_scopes *scopes)
{
	mutex_init(&scopes->lock);
	INIT_LIST_HEAD(&scopes->list);
	scopes->count = 0;
}

static struct scope *find_task_scope(struct aftl_scopes *scopes, const struct pid *pid)
{
	struct scope *scope;

	list_for_each_entry(scope, &scopes->list, list)
		if (scope->writer.pid == pid && scope->writer.mm == current->mm)
			return scope;
	return NULL;
}

/* Free a scope. RCU readers only compare its pid and mm, so drop the references to both at once. */
static void drop_scope_references(struct scope *scope)
{
	put_pid(scope->writer.pid);
	mmdrop(scope->writer.mm);
	kfree_rcu(scope, rcu);
}

static struct scope *alloc_task_scope(struct pid *pid, u32 tag)
{
	struct scope *scope = kzalloc(sizeof(*scope), GFP_KERNEL_ACCOUNT);

	if (!scope)
		return NULL;
	scope->writer.pid = get_pid(pid);
	scope->writer.mm = current->mm;
	scope->tag = tag;
	mmgrab(scope->writer.mm);
	return scope;
}

static int add_task_scope(struct aftl_scopes *scopes, struct pid *pid, u32 tag)
{
	struct scope *scope;

	if (scopes->count >= MAX_SCOPES)
		return -ENOSPC;
	scope = alloc_task_scope(pid, tag);
	if (!scope)
		return -ENOMEM;
	if (rhltable_insert(&table, &scope->node, table_params)) {
		drop_scope_references(scope);
		return -ENOMEM;
	}
	list_add(&scope->list, &scopes->list);
	scopes->count++;
	count_scopes_of_mm(scope->writer.mm, 1);
	return 0;
}

static void remove_task_scope(struct aftl_scopes *scopes, struct scope *scope)
{
	count_scopes_of_mm(scope->writer.mm, -1);
	rhltable_remove(&table, &scope->node, table_params);
	list_del(&scope->list);
	scopes->count--;
	drop_scope_references(scope);
}

static int set_task_scope(struct aftl_scopes *scopes, struct pid *pid, u32 tag, u32 *previous)
{
	struct scope *scope = find_task_scope(scopes, pid);

	*previous = scope ? scope->tag : AFTL_TAG_NONE;
	if (tag == *previous)
		return 0;
	if (!scope)
		return add_task_scope(scopes, pid, tag);
	if (tag == AFTL_TAG_NONE)
		remove_task_scope(scopes, scope);
	else
		WRITE_ONCE(scope->tag, tag);
	return 0;
}

int aftl_scopes_set_tag(struct aftl_scopes *scopes, u32 owner, u32 tag, u32 *previous)
{
	struct pid *pid = owner == APPROXFTL_THREAD ? task_pid(current) : NULL;
	int ret;

	mutex_lock(&scopes->lock);
	ret = set_task_scope(scopes, pid, tag, previous);
	mutex_unlock(&scopes->lock);
	return ret;
}

void aftl_scopes_remove_all(struct aftl_scopes *scopes)
{
	struct scope *scope;
	struct scope *next;

	list_for_each_entry_safe(scope, next, &scopes->list, list)
		remove_task_scope(scopes, scope);
	mutex_destroy(&scopes->lock);
}

/* Return the strictest tag, as several open files may tag the same thread. */
static u32 find_strictest_task_tag(struct pid *pid)
{
	struct writer writer = { .pid = pid, .mm = current->mm };
	struct rhlist_head *said = rhltable_lookup(&table, &writer, table_params);
	u32 tag = AFTL_TAG_NONE;
	struct rhlist_head *at;
	struct scope *scope;

	rhl_for_each_entry_rcu(scope, at, said, node)
		tag = min(tag, READ_ONCE(scope->tag));
	return tag;
}

struct aftl_tag_decision aftl_decide_by_scopes(void)
{
	u32 thread;
	u32 process;

	if (current->flags & PF_KTHREAD || !can_mm_have_tag_scope(current->mm))
		return aftl_decide_class(AFTL_BY_THREAD, AFTL_TAG_NONE);
	thread = find_strictest_task_tag(task_pid(current));
	process = find_strictest_task_tag(NULL);
	if (process && thread != AFTL_TAG_NONE)
		return aftl_decide_class(AFTL_BY_THREAD, thread);
	return aftl_decide_class(AFTL_BY_PROCESS, process);
}

u32 aftl_count_scopes(void)
{
	return atomic_read(&count);
}
