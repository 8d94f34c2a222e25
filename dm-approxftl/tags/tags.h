/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which data may lose bits: what the files that decide it share.
 *
 * uapi/linux/approxftl.h has the words, docs/tags.md the rules. Ranges of bytes with a
 * class (ranges.c) belong to files (table.c) and to disks; scopes (scope.c)
 * to threads and processes. control*.c take them from programs, watch.c from
 * attributes of files, and decide.c asks them all when a write arrives.
 */
#ifndef AFTL_TAGS_H
#define AFTL_TAGS_H

#include <linux/atomic.h>
#include <linux/fsnotify_backend.h>
#include <linux/mutex.h>
#include <linux/rhashtable-types.h>

#include <linux/approxftl.h>

#include "tags/marks.h"
#include "tags/ranges.h"
#include "target/target.h"

/**
 * enum aftl_verdict - what is said of a unit that is being written, and by what
 *
 * From AFTL_BY_FILE on it is approximate; whatever comes before is precise.
 */
enum aftl_verdict {
	AFTL_SAID_NOTHING,
	AFTL_SAID_PRECISE,
	AFTL_SAID_PARTLY,
	AFTL_SAID_OF_OTHERS,
	AFTL_BY_FILE,
	AFTL_BY_BUFFER,
	AFTL_BY_THREAD,
	AFTL_BY_PROCESS,
	AFTL_BY_PRIORITY,
	AFTL_BY_DEVICE,
	AFTL_BY_TABLE,
	AFTL_VERDICTS,
};

static inline bool aftl_verdict_approx(enum aftl_verdict verdict)
{
	return verdict >= AFTL_BY_FILE;
}

/**
 * struct aftl_file - a tagged file
 * @mark: ties it to the life of its inode
 * @node: in the table
 * @inode: key; not to be looked into, for nothing keeps it but @mark
 * @ranges: what is said of it
 * @account: who pays for it
 * @buffer: in memory: its pages matter when they are written elsewhere
 * @rcu: readers may still look at it
 */
struct aftl_file {
	struct aftl_mark mark;
	struct rhash_head node;
	const struct inode *inode;
	struct aftl_ranges ranges;
	struct aftl_account *account;
	bool buffer;
	struct rcu_head rcu;
};

/* Things that might make a write approximate; a write looks no further when it is 0. */
extern atomic_t aftl_tags_in_use;

/* table.c */

int __must_check aftl_files_init(void);
void aftl_files_exit(void);

/**
 * aftl_file_tag() - say @class of the bytes from @first to @last of a file
 * @inode: a regular file that the caller keeps
 * @first: first byte
 * @last: last byte
 * @class: enum approxftl_class; APPROXFTL_NONE takes back what was said
 * @reason: set on refusal
 *
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_file_tag(struct inode *inode, u64 first, u64 last, u32 class, u32 *reason);

/* Take back all that was said of @inode. */
void aftl_file_forget(const struct inode *inode);

/* Is anything said of @inode? */
bool aftl_file_tagged(const struct inode *inode);

/* As aftl_ranges_list(), of a file. */
u32 aftl_file_list(const struct inode *inode, u64 *cursor, struct approxftl_extent *extents,
		   u32 room);

/* The file with this inode; valid under rcu_read_lock(). NULL if it has no tags. */
const struct aftl_file *aftl_file_find(const struct inode *inode);

/* Fill in limits and counts. */
void aftl_files_caps(struct approxftl_caps *caps);
void aftl_files_stats(struct approxftl_stats *stats);

/* rules.c */

/**
 * aftl_rules_check() - can the regular file at @dentry keep approximate data?
 * @dentry: the file
 * @reason: set on refusal
 *
 * Return: 0, -EOPNOTSUPP or -ETXTBSY.
 */
int __must_check aftl_rules_check(struct dentry *dentry, u32 *reason);

/**
 * aftl_rules_check_owner() - may who holds @file say what may happen to its data?
 * @file: should be a regular file
 * @reason: set on refusal
 *
 * Return: 0, -EINVAL, -EBADF or -EPERM.
 */
int __must_check aftl_rules_check_owner(struct file *file, u32 *reason);

/* watch.c */

int __must_check aftl_watch_init(void);
void aftl_watch_exit(void);

/* Begin or end tagging files of a mounted file system by their attribute. */
int __must_check aftl_watch_begin(struct super_block *sb);
int __must_check aftl_watch_end(const struct super_block *sb);

u32 aftl_watch_count(void);

/* scope.c */

/**
 * struct aftl_scopes - what one open /dev/approxftl has said of threads and processes
 * @lock: of the rest
 * @list: the scopes
 * @count: how many
 */
struct aftl_scopes {
	struct mutex lock; /* list and count */
	struct list_head list;
	u32 count;
};

void aftl_scopes_init(struct aftl_scopes *scopes);

/* Take back all that was said. */
void aftl_scopes_clear(struct aftl_scopes *scopes);

/**
 * aftl_scopes_set() - say @class of what the caller writes
 * @scopes: where it is said
 * @whose: enum approxftl_whose
 * @class: enum approxftl_class; APPROXFTL_NONE takes back what was said
 * @previous: takes what was said here before
 *
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_scopes_set(struct aftl_scopes *scopes, u32 whose, u32 class, u32 *previous);

/* What is said of writes of this thread, as AFTL_BY_THREAD; under rcu_read_lock(). */
enum aftl_verdict aftl_scope_verdict(void);

u32 aftl_scope_count(void);

int __must_check aftl_scope_table_init(void);
void aftl_scope_table_exit(void);

/* decide.c */

/**
 * aftl_tag_bio() - which class is a write of?
 * @target: whom
 * @bio: its first unit and all that follow of the same class stay in it
 *
 * Return: enum aftl_class.
 */
u32 aftl_tag_bio(const struct aftl_target *target, struct bio *bio);

/* Fill in the counts of verdicts. */
void aftl_decide_stats(struct approxftl_stats *stats);

/* note.c */

/* Note in the block trace what @bio is, if there is a trace. */
void aftl_note_write(const struct aftl_target *target, const struct bio *bio,
		     enum aftl_verdict verdict);

/* Note a region or a label of the caller in the traces of all devices. */
void aftl_note_scope(u32 whose, u32 class, const char *label);
void aftl_note_label(const char *label);

/* control.c */

int __must_check aftl_control_init(void);
void aftl_control_exit(void);

#endif
