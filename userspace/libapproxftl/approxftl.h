/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libapproxftl: an application says which of its data may come back with flipped bits.
 *
 * What nobody speaks of stays precise. Without the device of dm-approxftl every call succeeds
 * and does nothing, so that an annotated program runs everywhere.
 *
 * Functions return 0 or what they say, or a negative error number; what errno has then means
 * nothing. For a refusal approxftl_reason() has a sentence. A handle may be used by several
 * threads at once.
 *
 * The words are those of <linux/approxftl.h>, which is not needed beside this header; who wants
 * both includes that one first, in C.
 */
#ifndef APPROXFTL_H
#define APPROXFTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define APPROXFTL_PUBLIC __attribute__((visibility("default")))
#define APPROXFTL_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define APPROXFTL_PUBLIC
#define APPROXFTL_CHECKED
#endif

/* No device is an error; see approxftl_open(). */
#define APPROXFTL_REQUIRE 0x1u

#ifndef _LINUX_APPROXFTL_H

/* As a length: to the end of all that a file could hold. */
#define APPROXFTL_TO_END ((off_t)-1)

/* Longest label, in bytes; printable ASCII. */
#define APPROXFTL_LABEL_MAX 64

/* What may happen to data. */
enum approxftl_class {
	APPROXFTL_PRECISE = 0,	   /* nothing; stronger than approximate, wherever it is said */
	APPROXFTL_APPROXIMATE = 1, /* bits may flip */
	APPROXFTL_NONE = 2,	   /* nothing is said of them, or nothing is stored */
	APPROXFTL_LEVEL_2 = 3,	   /* bits may flip, and more than in what is approximate: 1 */
	APPROXFTL_LEVEL_3 = 4,	   /* still more; both are said, answers are approximate */
};

/* Quality levels of data: 0 precise, 1 approximate, 2 and 3. */
#define APPROXFTL_LEVEL_MAX 3

/* Why something cannot be tagged. */
enum approxftl_reason {
	APPROXFTL_REASON_NONE = 0,
	APPROXFTL_REASON_KIND = 1,
	APPROXFTL_REASON_READ_ONLY = 2,
	APPROXFTL_REASON_OWNER = 3,
	APPROXFTL_REASON_SWAP = 4,
	APPROXFTL_REASON_ENCRYPTED = 5,
	APPROXFTL_REASON_VERITY = 6,
	APPROXFTL_REASON_CHECKSUM = 7,
	APPROXFTL_REASON_FILES = 8,
	APPROXFTL_REASON_RANGES = 9,
	APPROXFTL_REASON_DEVICE = 10,
	APPROXFTL_REASON_IN_USE = 11,
};

/* Bits of struct approxftl_info.can and .may. */
#define APPROXFTL_CAN_FILE   0x01u /* files: tag, untag, query */
#define APPROXFTL_CAN_BUFFER 0x02u /* memfds, for O_DIRECT from them */
#define APPROXFTL_CAN_SCOPE  0x04u /* regions, approxftl_pwrite() */
#define APPROXFTL_CAN_DEVICE 0x08u /* ranges of raw devices */
#define APPROXFTL_CAN_STORED 0x10u /* approxftl_stored(), approxftl_errors() */
#define APPROXFTL_CAN_WATCH  0x20u /* approxftl_watch() */
#define APPROXFTL_CAN_NOTE   0x40u /* labels in a block trace */
#define APPROXFTL_CAN_LEVEL  0x80u /* quality levels 2 and 3 */

/**
 * struct approxftl_extent - a range of which something is said
 * @offset: first byte
 * @length: how many, or APPROXFTL_TO_END
 * @kind: APPROXFTL_PRECISE or APPROXFTL_APPROXIMATE
 * @level: quality level; 0 of kernels without APPROXFTL_CAN_LEVEL
 */
struct approxftl_extent {
	int64_t offset;
	int64_t length;
	uint32_t kind;
	uint32_t level;
};

#define APPROXFTL_UNIT_LOST	0x1u /* its content cannot be read */
#define APPROXFTL_UNIT_NO_MODEL 0x2u /* errors are not modelled: the counts mean nothing */
#define APPROXFTL_UNIT_LEVEL_2	0x4u /* approximate, of quality level 2 */
#define APPROXFTL_UNIT_LEVEL_3	0x8u /* the same of level 3 */

/**
 * struct approxftl_unit - what is stored in one unit of flash
 * @offset: of its first byte, in the file or device that was asked for
 * @device_offset: the same in the device
 * @kind: precise, approximate, or APPROXFTL_NONE if it is not on flash
 * @flags: APPROXFTL_UNIT_*
 * @flips: bits that a read would return inverted now
 * @raw: errors of its page now, corrected or not
 */
struct approxftl_unit {
	int64_t offset;
	int64_t device_offset;
	uint32_t kind;
	uint32_t flags;
	uint32_t flips;
	uint32_t raw;
};

/* Quality level of what is stored in a unit; 0, too, if nothing is. */
static inline unsigned int approxftl_unit_level(const struct approxftl_unit *unit)
{
	if (unit->kind != APPROXFTL_APPROXIMATE)
		return 0;
	return unit->flags & APPROXFTL_UNIT_LEVEL_3 ? 3 :
	       unit->flags & APPROXFTL_UNIT_LEVEL_2 ? 2 : 1;
}

#endif

/* In C++ approxftl is the namespace of approx.hpp, and the handle is approxftl_handle. */
#ifdef __cplusplus
#define approxftl approxftl_handle
#endif

struct approxftl;
struct approxftl_arena;

/* What to say of data of a quality level; APPROXFTL_NONE if there is no such level. */
static inline enum approxftl_class approxftl_level_class(unsigned int level)
{
	if (level == 2)
		return APPROXFTL_LEVEL_2;
	if (level == APPROXFTL_LEVEL_MAX)
		return APPROXFTL_LEVEL_3;
	return level > APPROXFTL_LEVEL_MAX ? APPROXFTL_NONE : (enum approxftl_class)level;
}

/**
 * struct approxftl_info - what there is
 * @version: of the kernel's interface; 0 if there is none
 * @devices: devices of dm-approxftl that could be written now
 * @can: APPROXFTL_CAN_*: what the kernel can do
 * @may: those of them that the caller may use
 * @max_files: files that a user may have tagged at a time
 * @max_ranges: ranges that a user may have in them
 * @reserved: 0
 */
struct approxftl_info {
	uint32_t version;
	uint32_t devices;
	uint64_t can;
	uint64_t may;
	uint64_t max_files;
	uint64_t max_ranges;
	uint64_t reserved[3];
};

/**
 * struct approxftl_errors - errors of a range, which is taken in whole units
 * @unit_bytes: size of a unit
 * @units: stored on flash; holes are left out
 * @approximate_units: of those
 * @flipped_units: of those, with a flipped bit
 * @lost_units: of those, whose content cannot be read
 * @unmodelled_units: of those, of which nothing is known
 * @flipped_bits: bits that a read would return inverted now
 * @raw_errors: errors of the pages, corrected or not
 * @reserved: 0
 */
struct approxftl_errors {
	uint64_t unit_bytes;
	uint64_t units;
	uint64_t approximate_units;
	uint64_t flipped_units;
	uint64_t lost_units;
	uint64_t unmodelled_units;
	uint64_t flipped_bits;
	uint64_t raw_errors;
	uint64_t reserved[2];
};

/**
 * approxftl_open() - get a handle
 * @path: a file or directory on the device, or the device itself; NULL for any device
 * @flags: APPROXFTL_REQUIRE, or 0
 * @out: takes the handle, which approxftl_close() frees; NULL on failure
 *
 * Without APPROXFTL_REQUIRE a machine without the device, or a @path elsewhere, gives a handle
 * that is not active. With it that is an error: -ENODEV. Where @path is on cannot always be
 * found out without privileges; then it counts as being on the device.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_CHECKED int approxftl_open(const char *path, unsigned int flags,
				     struct approxftl **out);

/* Regions that are open end. What was said of files stays. */
APPROXFTL_PUBLIC void approxftl_close(struct approxftl *a);

/* False: every call with this handle succeeds and does nothing. */
APPROXFTL_PUBLIC bool approxftl_active(const struct approxftl *a);

/* The last refusal in this thread, a sentence with its remedy; @a may be NULL. Never NULL. */
APPROXFTL_PUBLIC const char *approxftl_reason(const struct approxftl *a);

/* The sentence of a refusal, without what it was about. Never NULL. */
APPROXFTL_PUBLIC const char *approxftl_explain(enum approxftl_reason reason);

/* "precise", "approximate", "none", "approximate_2" or "approximate_3". */
APPROXFTL_PUBLIC const char *approxftl_class_name(enum approxftl_class kind);

APPROXFTL_PUBLIC int approxftl_caps(struct approxftl *a, struct approxftl_info *info);

/**
 * approxftl_tag() - say what may happen to a range
 * @a: handle
 * @fd: a file or memfd that can be written; or the device itself, for administrators
 * @offset: first byte
 * @length: how many, or APPROXFTL_TO_END
 * @kind: APPROXFTL_APPROXIMATE, APPROXFTL_LEVEL_2, APPROXFTL_LEVEL_3 or APPROXFTL_PRECISE
 *
 * Holds for what is written back from now on, so also for what waits in the page cache: call
 * fdatasync() first where that is not meant.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_PUBLIC int approxftl_tag(struct approxftl *a, int fd, off_t offset, off_t length,
				   enum approxftl_class kind);

/* Nothing is said of the range from now on. What is stored stays as it is. */
APPROXFTL_PUBLIC int approxftl_untag(struct approxftl *a, int fd, off_t offset, off_t length);

/* approxftl_tag() with APPROXFTL_PRECISE: for headers and indices amid approximate data. */
APPROXFTL_PUBLIC int approxftl_protect(struct approxftl *a, int fd, off_t offset, off_t length);

/**
 * approxftl_query() - list what is said of a file or device
 * @a: handle
 * @fd: as for approxftl_tag(), but need not be writable
 * @from: ranges that end after this byte
 * @out: takes them, in order
 * @room: how many fit
 *
 * Return: how many there are in @out, or a negative error number. Where they fill it, go on at
 * the end of the last.
 */
APPROXFTL_PUBLIC int approxftl_query(struct approxftl *a, int fd, off_t from,
				     struct approxftl_extent *out, size_t room);

/**
 * approxftl_region_begin() - from now on O_DIRECT writes of this thread are of a class
 * @a: handle
 * @kind: as for approxftl_tag()
 * @label: a name for the block trace, or NULL
 *
 * Regions nest. They reach writes from ordinary memory that this thread submits itself; what
 * goes through the page cache, and io_uring that hands over to workers, takes
 * approxftl_tag().
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_PUBLIC int approxftl_region_begin(struct approxftl *a, enum approxftl_class kind,
					    const char *label);

/* Ends the region that this thread began last; -EINVAL if there is none. */
APPROXFTL_PUBLIC int approxftl_region_end(struct approxftl *a);

/* A name for the block trace, where there is one: at most APPROXFTL_LABEL_MAX printable bytes. */
APPROXFTL_PUBLIC int approxftl_label(struct approxftl *a, const char *text);

/* pwrite(2) of data of a class; tags the range of a file, too. Returns bytes, or an error. */
APPROXFTL_PUBLIC ssize_t approxftl_pwrite(struct approxftl *a, int fd, const void *data,
					  size_t bytes, off_t offset, enum approxftl_class kind);

/**
 * approxftl_errors() - how many bits of a range are flipped now
 * @a: handle
 * @fd: a file of the caller's, or any for root, that is open for reading, on a file system
 *	right on the device (ext4 without data=journal, xfs, f2fs); or the device itself
 * @offset: first byte
 * @length: how many, or APPROXFTL_TO_END
 * @out: takes the answer; all 0 without a device
 *
 * Looks at flash: fdatasync() comes first.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_PUBLIC int approxftl_errors(struct approxftl *a, int fd, off_t offset, off_t length,
				      struct approxftl_errors *out);

/* The same of the units that are of one quality level; since APPROXFTL_2. */
APPROXFTL_PUBLIC int approxftl_level_errors(struct approxftl *a, int fd, off_t offset, off_t length,
					    unsigned int level, struct approxftl_errors *out);

/**
 * approxftl_stored() - the same unit by unit
 * @a: handle
 * @fd: as for approxftl_errors()
 * @from: first byte; takes where to go on, APPROXFTL_TO_END at the end
 * @length: how many, or APPROXFTL_TO_END
 * @out: takes the units, holes left out
 * @room: how many fit
 *
 * A signal that the program handles ends the call early; @from says where to go on then, too.
 *
 * Return: how many there are in @out, or a negative error number: -EINTR if a signal came before
 * any was found.
 */
APPROXFTL_PUBLIC int approxftl_stored(struct approxftl *a, int fd, off_t *from, off_t length,
				      struct approxftl_unit *out, size_t room);

/* Puts what is said of a file into its attribute user.approxftl, which outlives an unmount. */
APPROXFTL_PUBLIC int approxftl_remember(struct approxftl *a, int fd);

/* Says what the attribute says; returns how many ranges that are. */
APPROXFTL_PUBLIC int approxftl_recall(struct approxftl *a, int fd);

/* Has the kernel do so with every file that is opened on the file system of @fd. Needs root. */
APPROXFTL_PUBLIC int approxftl_watch(struct approxftl *a, int fd, bool on);

/**
 * approxftl_arena_create() - approximate memory that is backed by a file
 * @a: handle
 * @fd: a file or memfd, open for reading and writing; what it holds is kept
 * @out: takes the arena
 *
 * All of the file becomes approximate: what describes the pieces is kept elsewhere. The
 * descriptor may be closed. Works without the device, too.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_CHECKED int approxftl_arena_create(struct approxftl *a, int fd,
					     struct approxftl_arena **out);

/* Whole pages, filled with 0 if the file had none there. NULL with errno if there is no room. */
APPROXFTL_PUBLIC void *approxftl_alloc(struct approxftl_arena *arena, size_t size);

/* Gives the pages back to the arena; the file keeps its size. @memory may be NULL. */
APPROXFTL_PUBLIC void approxftl_free(struct approxftl_arena *arena, void *memory);

/* Where a piece of memory is in the file; -EINVAL if it is not of this arena. */
APPROXFTL_PUBLIC off_t approxftl_arena_offset(struct approxftl_arena *arena, const void *memory);

/* The memory of a byte of the file, to find what an earlier run has left; NULL beyond its end. */
APPROXFTL_PUBLIC void *approxftl_arena_at(struct approxftl_arena *arena, off_t offset);

/* Everything is on the device when this returns 0. */
APPROXFTL_PUBLIC int approxftl_arena_sync(struct approxftl_arena *arena);

/* Its memory is gone; the file stays. */
APPROXFTL_PUBLIC void approxftl_arena_destroy(struct approxftl_arena *arena);

#ifdef __cplusplus
#undef approxftl
}
#endif

#endif
