/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libapproxftl: an application declares which of its data may come back with flipped bits.
 *
 * Data without a declaration stay precise. Without a device of dm-approxftl every call succeeds
 * and does nothing, so that an annotated program runs everywhere.
 *
 * Functions return 0 (or the documented value) or a negative error number; errno is undefined.
 * After a refusal approxftl_reason() returns a message. Several threads may use one handle.
 *
 * The terms are those of <linux/approxftl.h>, which is not needed in addition. A C program that
 * includes both must include <linux/approxftl.h> first.
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

/* Flag of approxftl_open(): fail if there is no device. */
#define APPROXFTL_REQUIRE 0x1u

#ifndef _LINUX_APPROXFTL_H

/* A length that reaches to the largest possible offset in a file. */
#define APPROXFTL_TO_END ((off_t)-1)

/* Maximum length of a label in bytes; labels are printable ASCII. */
#define APPROXFTL_LABEL_MAX 64

/* Class of data: which bit errors the data tolerate. */
enum approxftl_class {
	APPROXFTL_PRECISE = 0,	   /* no bit may flip; overrides any other tag of the data */
	APPROXFTL_APPROXIMATE = 1, /* bits may flip */
	APPROXFTL_NONE = 2,	   /* a range without declared class, or a unit without data */
	APPROXFTL_LEVEL_2 = 3,	   /* more bits may flip than at level 1 */
	APPROXFTL_LEVEL_3 = 4,	   /* more bits may flip than at level 2 */
};

/* Highest quality level: 0 is precise, 1 approximate; at 2 and 3 more bits may flip. */
#define APPROXFTL_LEVEL_MAX 3

/* Reasons why something cannot be tagged. */
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
#define APPROXFTL_CAN_FILE   0x01u /* files: tags can be set, removed and listed */
#define APPROXFTL_CAN_BUFFER 0x02u /* memfds can be tagged, for O_DIRECT writes from them */
#define APPROXFTL_CAN_SCOPE  0x04u /* the kernel supports regions and approxftl_pwrite() */
#define APPROXFTL_CAN_DEVICE 0x08u /* ranges of raw devices can be tagged */
#define APPROXFTL_CAN_STORED 0x10u /* stored units and their errors can be queried */
#define APPROXFTL_CAN_WATCH  0x20u /* the kernel supports approxftl_watch() */
#define APPROXFTL_CAN_NOTE   0x40u /* labels can be added to a block trace */
#define APPROXFTL_CAN_LEVEL  0x80u /* data can have quality levels 2 and 3 */
#define APPROXFTL_CAN_CARRIER 0x100u /* write hints also carry tags of whole files */

/**
 * struct approxftl_extent - a tagged range
 * @offset: first byte
 * @length: number of bytes, or APPROXFTL_TO_END
 * @kind: APPROXFTL_PRECISE or APPROXFTL_APPROXIMATE
 * @level: quality level; 0 if the kernel lacks APPROXFTL_CAN_LEVEL
 */
struct approxftl_extent {
	int64_t offset;
	int64_t length;
	uint32_t kind;
	uint32_t level;
};

#define APPROXFTL_UNIT_LOST	0x1u /* the content is unreadable */
#define APPROXFTL_UNIT_NO_MODEL 0x2u /* errors of the unit are not modelled: ignore its counts */
#define APPROXFTL_UNIT_LEVEL_2	0x4u /* approximate data of quality level 2 */
#define APPROXFTL_UNIT_LEVEL_3	0x8u /* approximate data of quality level 3 */

/**
 * struct approxftl_unit - state of one unit of flash
 * @offset: offset of its first byte, in the file or device that was queried
 * @device_offset: offset of its first byte in the device
 * @kind: precise, approximate, or APPROXFTL_NONE if it is not on flash
 * @flags: APPROXFTL_UNIT_*
 * @flips: number of bits that a read would return inverted now
 * @raw: number of raw bit errors of its page now, before correction
 */
struct approxftl_unit {
	int64_t offset;
	int64_t device_offset;
	uint32_t kind;
	uint32_t flags;
	uint32_t flips;
	uint32_t raw;
};

/* Return: quality level of the data in a unit; also 0 if nothing is stored. */
static inline unsigned int approxftl_unit_level(const struct approxftl_unit *unit)
{
	if (unit->kind != APPROXFTL_APPROXIMATE)
		return 0;
	return unit->flags & APPROXFTL_UNIT_LEVEL_3 ? 3 :
	       unit->flags & APPROXFTL_UNIT_LEVEL_2 ? 2 : 1;
}

#endif

/* In C++ approxftl is the namespace of approx.hpp: the type of a handle is approxftl_handle. */
#ifdef __cplusplus
#define approxftl approxftl_handle
#endif

struct approxftl;
struct approxftl_arena;

/* Return: class of quality level @level; APPROXFTL_NONE if there is no such level. */
static inline enum approxftl_class approxftl_level_class(unsigned int level)
{
	if (level == 2)
		return APPROXFTL_LEVEL_2;
	if (level == APPROXFTL_LEVEL_MAX)
		return APPROXFTL_LEVEL_3;
	return level > APPROXFTL_LEVEL_MAX ? APPROXFTL_NONE : (enum approxftl_class)level;
}

/**
 * struct approxftl_info - what the kernel and the devices support
 * @version: version of the kernel's interface; 0 if there is none
 * @devices: number of dm-approxftl devices that are ready for writes
 * @can: features of the kernel, APPROXFTL_CAN_*
 * @may: features of @can that the caller has permission to use
 * @max_files: maximum number of files that a user may have tagged at a time
 * @max_ranges: maximum number of ranges that a user may have in these files
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
 * struct approxftl_errors - errors of a range, rounded outward to whole units
 * @unit_bytes: size of a unit
 * @units: units stored on flash, without holes
 * @approximate_units: number of approximate units in @units
 * @flipped_units: number of units with a flipped bit
 * @lost_units: number of units with unreadable content
 * @unmodelled_units: number of units whose errors are not modelled
 * @flipped_bits: number of bits that a read would return inverted now
 * @raw_errors: raw bit errors of the pages, before correction
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
 * @out: takes the handle, which the caller frees with approxftl_close(); NULL on failure
 *
 * If the machine has no device, or @path is not on one, the handle is inactive; with
 * APPROXFTL_REQUIRE the call fails with -ENODEV instead. Without privileges the device of @path
 * may be unknown; then @path counts as being on a dm-approxftl device.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_CHECKED int approxftl_open(const char *path, unsigned int flags,
				     struct approxftl **out);

/* Close a handle and end its open regions. Tags of files stay. */
APPROXFTL_PUBLIC void approxftl_close(struct approxftl *a);

/* Return false if the handle is inactive: all calls with it succeed and do nothing. */
APPROXFTL_PUBLIC bool approxftl_active(const struct approxftl *a);

/* Return: message about this thread's last refusal, with its remedy; never NULL. @a may be NULL. */
APPROXFTL_PUBLIC const char *approxftl_reason(const struct approxftl *a);

/* Return: message about @reason, without the name of the file or device; never NULL. */
APPROXFTL_PUBLIC const char *approxftl_explain(enum approxftl_reason reason);

/* Return: "precise", "approximate", "none", "approximate_2" or "approximate_3". */
APPROXFTL_PUBLIC const char *approxftl_class_name(enum approxftl_class kind);

APPROXFTL_PUBLIC int approxftl_caps(struct approxftl *a, struct approxftl_info *info);

/**
 * approxftl_tag() - declare the class of a range
 * @a: handle
 * @fd: a writable file or memfd; or the device itself, for administrators
 * @offset: first byte
 * @length: number of bytes, or APPROXFTL_TO_END
 * @kind: APPROXFTL_APPROXIMATE, APPROXFTL_LEVEL_2, APPROXFTL_LEVEL_3 or APPROXFTL_PRECISE
 *
 * The tag applies to all later write-back, including data already in the page cache. Call
 * fdatasync() first to exclude these.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_PUBLIC int approxftl_tag(struct approxftl *a, int fd, off_t offset, off_t length,
				   enum approxftl_class kind);

/* Remove the tag of a range. Stored data do not change. */
APPROXFTL_PUBLIC int approxftl_untag(struct approxftl *a, int fd, off_t offset, off_t length);

/* Tag a range as APPROXFTL_PRECISE, such as a header or an index amid approximate data. */
APPROXFTL_PUBLIC int approxftl_protect(struct approxftl *a, int fd, off_t offset, off_t length);

/**
 * approxftl_query() - list the tagged ranges of a file or device
 * @a: handle
 * @fd: as for approxftl_tag(), but may be read-only
 * @from: skip ranges that end at or before this byte
 * @out: takes the ranges, in order
 * @room: capacity of @out
 *
 * Return: number of ranges in @out, or a negative error number. If @out is full, continue from the
 * end of its last range.
 */
APPROXFTL_PUBLIC int approxftl_query(struct approxftl *a, int fd, off_t from,
				     struct approxftl_extent *out, size_t room);

/**
 * approxftl_region_begin() - declare the class of this thread's O_DIRECT writes from now on
 * @a: handle
 * @kind: as for approxftl_tag()
 * @label: a name for the block trace, or NULL
 *
 * Regions nest. They apply to writes from ordinary memory that this thread submits itself. Writes
 * through the page cache, and io_uring requests that a worker thread executes, need
 * approxftl_tag() instead.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_PUBLIC int approxftl_region_begin(struct approxftl *a, enum approxftl_class kind,
					    const char *label);

/* End the region that this thread began last. Return: -EINVAL if there is none. */
APPROXFTL_PUBLIC int approxftl_region_end(struct approxftl *a);

/* Add a label to the block trace, if one is recorded: up to APPROXFTL_LABEL_MAX printable bytes. */
APPROXFTL_PUBLIC int approxftl_label(struct approxftl *a, const char *text);

/*
 * Like pwrite(2) for data of class @kind; also tags the range of a file. Return: bytes, or an
 * error.
 */
APPROXFTL_PUBLIC ssize_t approxftl_pwrite(struct approxftl *a, int fd, const void *data,
					  size_t bytes, off_t offset, enum approxftl_class kind);

/**
 * approxftl_errors() - count the flipped bits of a range
 * @a: handle
 * @fd: a file that is open for reading (one of the caller's; for root any), on a file system
 *	directly on the device (ext4 without data=journal, xfs, f2fs); or the device itself
 * @offset: first byte
 * @length: number of bytes, or APPROXFTL_TO_END
 * @out: takes the counts; all 0 without a device
 *
 * The counts refer to flash: call fdatasync() first.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_PUBLIC int approxftl_errors(struct approxftl *a, int fd, off_t offset, off_t length,
				      struct approxftl_errors *out);

/* Like approxftl_errors(), for units of one quality level; symbol version APPROXFTL_2. */
APPROXFTL_PUBLIC int approxftl_level_errors(struct approxftl *a, int fd, off_t offset, off_t length,
					    unsigned int level, struct approxftl_errors *out);

/**
 * approxftl_stored() - get the state of each unit of a range
 * @a: handle
 * @fd: as for approxftl_errors()
 * @from: first byte; updated to the byte to continue from, or APPROXFTL_TO_END at the end
 * @length: number of bytes, or APPROXFTL_TO_END
 * @out: takes the units, without holes
 * @room: capacity of @out
 *
 * A handled signal ends the call early; @from is valid then, too.
 *
 * Return: number of units in @out, or a negative error number; -EINTR if a signal came before any
 * unit was found.
 */
APPROXFTL_PUBLIC int approxftl_stored(struct approxftl *a, int fd, off_t *from, off_t length,
				      struct approxftl_unit *out, size_t room);

/* Store the tags of a file in its attribute user.approxftl, which survives an unmount. */
APPROXFTL_PUBLIC int approxftl_remember(struct approxftl *a, int fd);

/* Set a file's tags from its attribute user.approxftl. Return: number of ranges, or an error. */
APPROXFTL_PUBLIC int approxftl_recall(struct approxftl *a, int fd);

/*
 * Make the kernel tag each file by its attribute when the file is opened, on @fd's file system.
 * Requires root.
 */
APPROXFTL_PUBLIC int approxftl_watch(struct approxftl *a, int fd, bool on);

/**
 * approxftl_arena_create() - create approximate memory that is backed by a file
 * @a: handle
 * @fd: a file or memfd, open for reading and writing; its content is kept
 * @out: takes the arena
 *
 * The whole file becomes approximate; the bookkeeping of allocations is kept in ordinary memory.
 * The descriptor may be closed. Also works without a device.
 *
 * Return: 0 or a negative error number.
 */
APPROXFTL_CHECKED int approxftl_arena_create(struct approxftl *a, int fd,
					     struct approxftl_arena **out);

/*
 * Allocate whole pages, zeroed where the file had no data. Return: NULL with errno if memory
 * lacks.
 */
APPROXFTL_PUBLIC void *approxftl_alloc(struct approxftl_arena *arena, size_t size);

/* Return pages to the arena; the size of the file does not change. @memory may be NULL. */
APPROXFTL_PUBLIC void approxftl_free(struct approxftl_arena *arena, void *memory);

/* Return: offset in the file of a piece of memory; -EINVAL if it is not in this arena. */
APPROXFTL_PUBLIC off_t approxftl_arena_offset(struct approxftl_arena *arena, const void *memory);

/* Return: address of a byte of the file, such as data of an earlier run; NULL beyond its end. */
APPROXFTL_PUBLIC void *approxftl_arena_at(struct approxftl_arena *arena, off_t offset);

/* Write all data of the arena to the device. Return: 0 when all data are written. */
APPROXFTL_PUBLIC int approxftl_arena_sync(struct approxftl_arena *arena);

/* Unmap and free the arena; the file stays. */
APPROXFTL_PUBLIC void approxftl_arena_destroy(struct approxftl_arena *arena);

#ifdef __cplusplus
#undef approxftl
}
#endif

#endif
