/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which data may lose bits: what the files that decide it share.
 *
 * uapi/linux/approxftl.h has the words, docs/tags.md the rules. Ranges of bytes with a
 * class (host/ranges.c) belong to files (table.c) and to disks; scopes (scope.c)
 * to threads and processes. control*.c take them from programs, watch.c from
 * attributes of files, and decide.c asks them all when a write arrives.
 */
#ifndef AFTL_TAGS_H
#define AFTL_TAGS_H

#include <linux/buffer_head.h>
#include <linux/fsnotify_backend.h>
#include <linux/magic.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/rhashtable-types.h>

#include <linux/approxftl.h>

#include "disk/targets.h"
#include "host/ranges.h"
#include "tags/marks.h"

/**
 * enum aftl_verdict_by - what is said of a unit that is being written, and by what
 *
 * From AFTL_BY_FILE on it is approximate; whatever comes before is precise.
 */
enum aftl_verdict_by {
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

/**
 * struct aftl_verdict - the same with a quality level
 * @by: what is said, and by what
 * @level: 0 if it is precise
 */
struct aftl_verdict {
	enum aftl_verdict_by by;
	u32 level;
};

/* What is said @by something is @say. */
static inline struct aftl_verdict aftl_verdict(enum aftl_verdict_by by, u32 say)
{
	if (say == AFTL_SAY_NONE)
		return (struct aftl_verdict){ AFTL_SAID_NOTHING };
	return say ? (struct aftl_verdict){ by, say } :
		     (struct aftl_verdict){ AFTL_SAID_PRECISE };
}

/**
 * struct aftl_file - a tagged file
 * @mark: ties it to the life of its inode
 * @node: in the table
 * @inode: key; not to be looked into, for nothing keeps it but @mark
 * @ranges: what is said of it
 * @account: who pays for it
 * @super: its file system; not to be looked into
 * @type: of that
 * @magic: of that
 * @buffer: in memory: its pages matter when they are written elsewhere
 * @on_loop: its file system is on a loop device, or it has been seen below one
 * @rcu: readers may still look at it
 */
struct aftl_file {
	struct aftl_mark mark;
	struct rhash_head node;
	const struct inode *inode;
	struct aftl_ranges ranges;
	struct aftl_account *account;
	const struct super_block *super;
	const struct file_system_type *type;
	unsigned long magic;
	bool buffer;
	bool on_loop;
	struct rcu_head rcu;
};

/* table.c */

int __must_check aftl_files_init(void);
void aftl_files_exit(void);

/**
 * aftl_file_tag() - say @say of the bytes from @first to @last of a file
 * @inode: a regular file that the caller keeps
 * @first: first byte
 * @last: last byte
 * @say: a quality level; AFTL_SAY_NONE takes back what was said
 * @reason: set on refusal
 *
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_file_tag(struct inode *inode, u64 first, u64 last, u32 say, u32 *reason);

/**
 * struct aftl_said - what is said of a range of a file
 * @first: of the range
 * @last: of the range
 * @extents: what is said in it; to be freed by kvfree()
 * @count: how many
 */
struct aftl_said {
	u64 first;
	u64 last;
	struct approxftl_extent *extents;
	u32 count;
};

/**
 * aftl_file_said() - take down what is said of a range of a file
 * @inode: a regular file that the caller keeps
 * @first: first byte
 * @last: last byte
 * @said: takes it
 *
 * Sleeps. Return: 0 or -ENOMEM.
 */
int __must_check aftl_file_said(struct inode *inode, u64 first, u64 last, struct aftl_said *said);

/* Say again what was said of that range from byte @from on. As far as there is memory. Sleeps. */
void aftl_file_say_again(struct inode *inode, u64 from, const struct aftl_said *said);

/* Take back all that was said of @inode. */
void aftl_file_forget(const struct inode *inode);

/* Is anything said of @inode? */
bool aftl_file_tagged(const struct inode *inode);

/* As aftl_ranges_list(), of a file. */
u32 aftl_file_list(const struct inode *inode, u64 *cursor, struct approxftl_extent *extents,
		   u32 room);

/* The file with this inode; valid under rcu_read_lock(). NULL if it has no tags. */
struct aftl_file *aftl_file_find(const struct inode *inode);

/* Fill in limits and counts. */
void aftl_files_caps(struct approxftl_caps *caps);
void aftl_files_stats(struct approxftl_stats *stats);

/* writeback.c */

/* Note where @file, which is new, is stored. @inode is kept by the caller. */
void aftl_writeback_begin(struct aftl_file *file, const struct inode *inode);

/**
 * aftl_writeback_is() - is this how a tagged file itself is stored, and nothing else?
 * @file: found by the mapping of @folio
 * @folio: a page of @bio
 * @bio: a write
 * @disk: the one of ours that it came to
 *
 * Under rcu_read_lock(), wherever a bio may be; does not sleep and takes no lock. Notes in @file
 * that a loop device has it.
 *
 * Return: false whenever that is not certain.
 */
bool aftl_writeback_is(struct aftl_file *file, struct folio *folio, const struct bio *bio,
		       const struct gendisk *disk);

/* A loop device, unlike any file system, forbids I/O for memory of the page cache it works on. */
static inline bool aftl_backs_loop(const struct address_space *mapping)
{
	return !(READ_ONCE(mapping->gfp_mask) & __GFP_IO);
}

/*
 * May data of files of ext4 with this page cache go through its journal? A journal writes pages
 * of files, and takes no reference to them. Known by how such pages can be moved; a kernel that
 * moves none does not tell.
 */
static inline bool aftl_journals_data(unsigned long magic, const struct address_space *mapping)
{
	if (magic != EXT4_SUPER_MAGIC)
		return false;
	return !IS_ENABLED(CONFIG_MIGRATION) ||
	       mapping->a_ops->migrate_folio != buffer_migrate_folio;
}

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
 * aftl_scopes_set() - say @say of what the caller writes
 * @scopes: where it is said
 * @whose: enum approxftl_whose
 * @say: a quality level; AFTL_SAY_NONE takes back what was said
 * @previous: takes what was said here before
 *
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_scopes_set(struct aftl_scopes *scopes, u32 whose, u32 say, u32 *previous);

/* What is said of writes of this thread, as AFTL_BY_THREAD; under rcu_read_lock(). */
struct aftl_verdict aftl_scope_verdict(void);

u32 aftl_scope_count(void);

int __must_check aftl_scope_table_init(void);
void aftl_scope_table_exit(void);

/* decide.c */

/**
 * aftl_tag_bio() - which quality level is a write of?
 * @target: whom
 * @bio: its first unit and all that follow of the same level stay in it
 *
 * Return: its quality level.
 */
u32 aftl_tag_bio(const struct aftl_target *target, struct bio *bio);

/* Fill in the counts of verdicts. */
void aftl_decide_stats(struct approxftl_stats *stats);

/* note.c */

/* Note in the block trace what @bio is, if there is a trace. */
void aftl_note_write(const struct aftl_target *target, const struct bio *bio,
		     const struct aftl_verdict *verdict);

/* Note in the block trace that @bio writes zeroes; one of version 7 calls it a write. */
void aftl_note_zeroes(const struct aftl_target *target, const struct bio *bio);

/*
 * Note a region or a label of the caller in the traces of all devices. Of callers without
 * CAP_SYS_ADMIN only so many a second are: more regions are not noted, more labels -EAGAIN.
 */
void aftl_note_scope(u32 whose, u32 say, const char *label);
int __must_check aftl_note_label(const char *label);

/* control.c */

int __must_check aftl_control_init(void);
void aftl_control_exit(void);

#endif
