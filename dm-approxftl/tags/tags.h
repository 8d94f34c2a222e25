/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tags: the decision which data are approximate. Declarations that the files of this directory
 * share.
 *
 * uapi/linux/approxftl.h defines the ioctls, docs/tags.md the rules. Files (table.c) and devices
 * have tagged ranges (host/ranges.c); threads and processes have scopes (scope.c). control*.c
 * receives tags from programs, watch.c from extended attributes. decide.c evaluates all of them
 * when a write arrives.
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
 * enum aftl_tag_source - source of the tag decision for a logical page that is being written
 * @AFTL_BY_NONE: untagged
 * @AFTL_BY_PRECISE_TAG: tagged precise
 * @AFTL_BY_PARTIAL_TAG: only a part of the logical page is tagged approximate
 * @AFTL_BY_OTHER_WRITER: the page is tagged, but this write may not be the write-back of its file
 * @AFTL_BY_FILE: range of the file that is written back
 * @AFTL_BY_BUFFER: range of the file in memory (memfd) that an O_DIRECT write comes from
 * @AFTL_BY_THREAD: scope of the thread
 * @AFTL_BY_PROCESS: scope of the process
 * @AFTL_BY_PRIORITY: hint in the I/O priority
 * @AFTL_BY_HINT: write hint of the file
 * @AFTL_BY_STREAM: write stream
 * @AFTL_BY_DEVICE: range of the device
 * @AFTL_BY_TABLE: table option tag_all
 * @AFTL_TAG_SOURCES: number of values; as a value: no decision yet
 *
 * From AFTL_BY_FILE on the data are approximate, before it precise.
 */
enum aftl_tag_source {
	AFTL_BY_NONE,
	AFTL_BY_PRECISE_TAG,
	AFTL_BY_PARTIAL_TAG,
	AFTL_BY_OTHER_WRITER,
	AFTL_BY_FILE,
	AFTL_BY_BUFFER,
	AFTL_BY_THREAD,
	AFTL_BY_PROCESS,
	AFTL_BY_PRIORITY,
	AFTL_BY_HINT,
	AFTL_BY_STREAM,
	AFTL_BY_DEVICE,
	AFTL_BY_TABLE,
	AFTL_TAG_SOURCES,
};

/**
 * struct aftl_tag_decision - tag decision
 * @by: source
 * @level: quality level; 0 if the data are precise
 */
struct aftl_tag_decision {
	enum aftl_tag_source by;
	u32 level;
};

/**
 * aftl_decide_class() - convert a tag and its source to a tag decision
 * @by: source of the tag
 * @tag: quality level, or AFTL_TAG_NONE
 *
 * Return: the decision; AFTL_BY_NONE or AFTL_BY_PRECISE_TAG if the tag says so, else @by.
 */
static inline struct aftl_tag_decision aftl_decide_class(enum aftl_tag_source by, u32 tag)
{
	if (tag == AFTL_TAG_NONE)
		return (struct aftl_tag_decision){ AFTL_BY_NONE };
	return tag ? (struct aftl_tag_decision){ by, tag } :
		     (struct aftl_tag_decision){ AFTL_BY_PRECISE_TAG };
}

/**
 * struct aftl_file - tagged file
 * @mark: fsnotify mark that ties it to the life of its inode
 * @node: node in the table of tagged files
 * @inode: key; not to be dereferenced, as only @mark keeps the inode
 * @ranges: tagged ranges
 * @account: account of the file's owner
 * @super: its file system; not to be dereferenced
 * @type: type of @super
 * @magic: magic number of @super
 * @buffer: file in memory, whose pages are the source of O_DIRECT writes
 * @on_loop: its file system is on a loop device, or a loop device has been seen to use the file
 * @rcu: frees it after its readers
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

/**
 * aftl_tag_table_init() - initialise the table of tagged files
 *
 * Context: module init.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_tag_table_init(void);

/**
 * aftl_tag_table_exit() - remove all tags of files, and free the table
 *
 * Context: module exit.
 */
void aftl_tag_table_exit(void);

/**
 * aftl_file_tag() - tag the bytes from @first to @last of a file
 * @inode: regular file; the caller has a reference
 * @first: first byte
 * @last: last byte
 * @tag: quality level, or AFTL_TAG_NONE to remove the tag
 * @reason: set to enum approxftl_reason on -ENOSPC
 *
 * Context: process; may sleep.
 * Return: 0, -ENOSPC, -ENOMEM or another negative error code.
 */
int __must_check aftl_file_tag(struct inode *inode, u64 first, u64 last, u32 tag, u32 *reason);

/**
 * struct aftl_said - tags of a range of a file, saved before a write and restored after its failure
 * @first: first byte of the range
 * @last: last byte of the range
 * @extents: tagged ranges in it; to be freed by kvfree()
 * @count: number of extents
 */
struct aftl_said {
	u64 first;
	u64 last;
	struct approxftl_extent *extents;
	u32 count;
};

/**
 * aftl_file_save_tags() - save the tags of a range of a file
 * @inode: regular file; the caller has a reference
 * @first: first byte
 * @last: last byte
 * @said: set to the tags
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int __must_check aftl_file_save_tags(struct inode *inode, u64 first, u64 last,
				     struct aftl_said *said);

/**
 * aftl_file_restore_tags() - restore saved tags, as far as there is memory
 * @inode: file that aftl_file_save_tags() was called for
 * @from: first byte to restore
 * @said: saved tags
 *
 * Context: process; may sleep.
 */
void aftl_file_restore_tags(struct inode *inode, u64 from, const struct aftl_said *said);

/**
 * aftl_file_drop_tags() - remove all tags of a file
 * @inode: inode; the caller has a reference
 *
 * Context: process; may sleep.
 */
void aftl_file_drop_tags(const struct inode *inode);

/**
 * aftl_is_file_tagged() - return true if a file has tags
 * @inode: inode; the caller has a reference
 *
 * Context: any; does not sleep.
 */
bool aftl_is_file_tagged(const struct inode *inode);

/**
 * aftl_file_list_tags() - list the tagged ranges of a file, see aftl_tagged_ranges_list()
 * @inode: inode; the caller has a reference
 * @cursor: in: list ranges that end at or after this byte; out: the byte to continue from
 * @extents: array that is filled in
 * @room: size of @extents
 *
 * Context: takes the lock of the ranges; does not sleep.
 * Return: number of extents filled in.
 */
u32 aftl_file_list_tags(const struct inode *inode, u64 *cursor, struct approxftl_extent *extents,
			u32 room);

/**
 * aftl_find_tagged_file() - look up a tagged file
 * @inode: key; not dereferenced
 *
 * Context: under rcu_read_lock(), which keeps the result.
 * Return: the tagged file, or NULL.
 */
struct aftl_file *aftl_find_tagged_file(const struct inode *inode);

/**
 * aftl_get_limits_of_tagged_files() - fill in the limits of tagged files
 * @caps: answer to APPROXFTL_CAPS
 *
 * Context: any.
 */
void aftl_get_limits_of_tagged_files(struct approxftl_caps *caps);

/**
 * aftl_get_stats_of_tagged_files() - fill in the numbers of tagged files and of their ranges
 * @stats: answer to APPROXFTL_STATS
 *
 * Context: process.
 */
void aftl_get_stats_of_tagged_files(struct approxftl_stats *stats);

/* writeback.c */

/**
 * aftl_writeback_record_file_system() - record the file system of a new tagged file
 * @file: tagged file, not yet in the table
 * @inode: its inode; the caller has a reference
 *
 * Context: process.
 */
void aftl_writeback_record_file_system(struct aftl_file *file, const struct inode *inode);

/**
 * aftl_is_bio_file_writeback() - check that a write certainly stores the tagged file itself
 * @file: tagged file, found by the mapping of @folio
 * @folio: folio with a page of @bio
 * @bio: write
 * @disk: disk of the mapped device that @bio was submitted to
 *
 * Also sets @file->on_loop if a loop device uses the file.
 *
 * Context: under rcu_read_lock(), in any context of a bio; does not sleep and takes no lock.
 * Return: true if it is write-back of @file and nothing else; false if that is not certain.
 */
bool aftl_is_bio_file_writeback(struct aftl_file *file, struct folio *folio, const struct bio *bio,
				const struct gendisk *disk);

/**
 * aftl_file_backs_loop_device() - return true if a loop device uses the file
 * @mapping: page cache of the file
 *
 * A loop device clears __GFP_IO in the file's gfp mask, which no file system does.
 *
 * Context: any.
 */
static inline bool aftl_file_backs_loop_device(const struct address_space *mapping)
{
	return !(READ_ONCE(mapping->gfp_mask) & __GFP_IO);
}

/**
 * aftl_may_ext4_journal_data() - return true if data of a file may go through the journal of ext4
 * @magic: magic number of the file system
 * @mapping: page cache of the file
 *
 * The journal writes pages of files without a reference to them. The way in which such pages are
 * migrated shows it; a kernel without page migration does not, so assume a journal.
 *
 * Context: any.
 */
static inline bool aftl_may_ext4_journal_data(unsigned long magic,
					      const struct address_space *mapping)
{
	if (magic != EXT4_SUPER_MAGIC)
		return false;
	return !IS_ENABLED(CONFIG_MIGRATION) ||
	       mapping->a_ops->migrate_folio != buffer_migrate_folio;
}

/* rules.c */

/**
 * aftl_check_file_may_be_tagged() - check that a regular file can store approximate data
 * @dentry: dentry of the file
 * @reason: set to enum approxftl_reason on refusal
 *
 * Context: process; may sleep.
 * Return: 0, -EOPNOTSUPP or -ETXTBSY.
 */
int __must_check aftl_check_file_may_be_tagged(struct dentry *dentry, u32 *reason);

/**
 * aftl_check_file_tag_owner() - check that the caller may tag @file
 * @file: open file
 * @reason: set to enum approxftl_reason on refusal
 *
 * Context: process.
 * Return: 0, -EINVAL if it is not a regular file, -EBADF or -EPERM.
 */
int __must_check aftl_check_file_tag_owner(struct file *file, u32 *reason);

/* watch.c */

/**
 * aftl_watch_init() - initialise the watches of file systems
 *
 * Context: module init.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_watch_init(void);

/**
 * aftl_watch_exit() - end all watches
 *
 * Context: module exit.
 */
void aftl_watch_exit(void);

/**
 * aftl_watch_add_sb() - begin tagging files of a file system by attribute user.approxftl
 * @sb: super block; the caller has a reference
 *
 * Does nothing if the file system is watched already.
 *
 * Context: process; may sleep.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_watch_add_sb(struct super_block *sb);

/**
 * aftl_watch_remove_sb() - stop tagging files of a file system by attribute user.approxftl
 * @sb: super block; the caller has a reference
 *
 * Context: process; may sleep.
 * Return: 0, or -ENOENT if the file system is not watched.
 */
int __must_check aftl_watch_remove_sb(const struct super_block *sb);

/**
 * aftl_count_watched_file_systems() - return the number of watched file systems
 *
 * Context: any.
 */
u32 aftl_count_watched_file_systems(void);

/* scope.c */

/**
 * struct aftl_scopes - scopes set through one open /dev/approxftl
 * @lock: protects @list and @count
 * @list: list of scopes
 * @count: number of scopes
 */
struct aftl_scopes {
	struct mutex lock; /* protects @list and @count */
	struct list_head list;
	u32 count;
};

/**
 * aftl_scopes_init_list() - initialise the list of scopes of an open /dev/approxftl
 * @scopes: scopes: threads and processes whose writes are tagged
 */
void aftl_scopes_init_list(struct aftl_scopes *scopes);

/**
 * aftl_scopes_remove_all() - remove all scopes when /dev/approxftl is closed
 * @scopes: scopes that nobody else uses
 *
 * Context: process.
 */
void aftl_scopes_remove_all(struct aftl_scopes *scopes);

/**
 * aftl_scopes_set_tag() - tag the writes of the calling thread or process
 * @scopes: scopes of the open file
 * @owner: enum approxftl_whose
 * @tag: quality level, or AFTL_TAG_NONE to remove the scope
 * @previous: set to the previous tag in @scopes
 *
 * Context: process; may sleep.
 * Return: 0, -ENOSPC or -ENOMEM.
 */
int __must_check aftl_scopes_set_tag(struct aftl_scopes *scopes, u32 owner, u32 tag, u32 *previous);

/**
 * aftl_decide_by_scopes() - return the decision by the scopes of the calling thread and its process
 *
 * If the thread or the process has a precise scope, the data are precise; else the scope of the
 * thread decides.
 *
 * Context: under rcu_read_lock().
 * Return: the decision.
 */
struct aftl_tag_decision aftl_decide_by_scopes(void);

/**
 * aftl_count_scopes() - return the number of scopes of all open files
 *
 * Context: any.
 */
u32 aftl_count_scopes(void);

/**
 * aftl_scope_table_init() - initialise the table of scopes
 *
 * Context: module init.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_scope_table_init(void);

/**
 * aftl_scope_table_exit() - free the table of scopes
 *
 * Context: module exit; no scope is left.
 */
void aftl_scope_table_exit(void);

/* decide.c */

/**
 * aftl_tag_bio() - determine the quality level of a write
 * @target: target that the write was submitted to
 * @bio: write; split before its first logical page of another level
 *
 * Context: any context of dm's map function; does not sleep.
 * Return: quality level of the pages that are left in @bio; 0 if they are precise.
 */
u32 aftl_tag_bio(const struct aftl_target *target, struct bio *bio);

/**
 * aftl_get_decision_stats() - fill in the numbers of decisions by source
 * @stats: answer to APPROXFTL_STATS
 *
 * Context: any.
 */
void aftl_get_decision_stats(struct approxftl_stats *stats);

/* note.c */

/**
 * aftl_blktrace_emit_class_of_write() - add a write's class and its source to the block trace
 * @target: target
 * @bio: write, after it has been split
 * @decision: decision
 *
 * Context: any context of dm's map function.
 */
void aftl_blktrace_emit_class_of_write(const struct aftl_target *target, const struct bio *bio,
				       const struct aftl_tag_decision *decision);

/**
 * aftl_blktrace_emit_write_zeroes() - note in the block trace, if any, that a bio writes zeroes
 * @target: target
 * @bio: write of zeroes, which block traces of version 7 call a write
 *
 * Context: any context of dm's map function.
 */
void aftl_blktrace_emit_write_zeroes(const struct aftl_target *target, const struct bio *bio);

/**
 * aftl_blktrace_emit_task_tag_change() - add a region of a thread to the traces of all devices
 * @owner: enum approxftl_whose, about the calling thread
 * @tag: tag of the region; AFTL_TAG_NONE ends it
 * @label: name of the region, or ""
 *
 * Callers without CAP_SYS_ADMIN can add max_notes (a module parameter) regions and labels a second.
 *
 * Context: process; may sleep.
 */
void aftl_blktrace_emit_task_tag_change(u32 owner, u32 tag, const char *label);

/**
 * aftl_blktrace_emit_user_label() - add a label of this thread to the traces of all devices
 * @label: label
 *
 * Context: process; may sleep.
 * Return: 0; -EAGAIN for more than max_notes labels a second of callers without CAP_SYS_ADMIN.
 */
int __must_check aftl_blktrace_emit_user_label(const char *label);

/* control.c */

/**
 * aftl_control_init() - register /dev/approxftl
 *
 * Context: module init.
 * Return: 0 or a negative error code.
 */
int __must_check aftl_control_init(void);

/**
 * aftl_control_exit() - remove /dev/approxftl
 *
 * Context: module exit.
 */
void aftl_control_exit(void);

#endif
