/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The control device of dm-approxftl, /dev/approxftl: which data may lose bits.
 *
 * Every structure begins with its size, as the caller was compiled with it, and only ever
 * grows at its end. A newer kernel takes what an older caller does not have as zero; an
 * older kernel refuses with E2BIG what it does not know, unless it is zero. Results are
 * written back as far as @size reaches; @size itself never changes. The numbers of the
 * ioctls do not depend on sizes. Members named reserved, and bits that are not defined
 * here, must be zero: EINVAL.
 *
 * An ioctl returns 0, or -1 with errno. Where a structure has a reason, a refusal puts
 * enum approxftl_reason there, for which one errno is too coarse.
 *
 * docs/tags.md tells which write is approximate.
 */
#ifndef _LINUX_APPROXFTL_H
#define _LINUX_APPROXFTL_H

#include <linux/const.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#define APPROXFTL_PATH "/dev/approxftl"

/* Name of the extended attribute that APPROXFTL_WATCH reads; text, see docs/tags.md. */
#define APPROXFTL_XATTR "user.approxftl"

/* Longest xattr and longest label, in bytes. */
#define APPROXFTL_XATTR_MAX 4096
#define APPROXFTL_LABEL_MAX 64

#define APPROXFTL_VERSION 1

/* As a length: to the end of all that a file could hold. */
#define APPROXFTL_TO_END (~0ULL)

/* What may happen to data. */
enum approxftl_class {
	APPROXFTL_PRECISE = 0,	   /* nothing; stronger than approximate, wherever it is said */
	APPROXFTL_APPROXIMATE = 1, /* bits may flip */
	APPROXFTL_NONE = 2,	   /* nothing is said of them, or nothing is stored */
	APPROXFTL_LEVEL_2 = 3,	   /* bits may flip, and more than in what is approximate: 1 */
	APPROXFTL_LEVEL_3 = 4,	   /* still more; both are said to the kernel, which answers */
				   /* APPROXFTL_APPROXIMATE, and the level beside it */
};

/* Quality levels of data: 0 precise, 1 approximate, 2 and 3. */
#define APPROXFTL_LEVEL_MAX 3

/* Why a descriptor cannot be tagged. */
enum approxftl_reason {
	APPROXFTL_REASON_NONE = 0,
	APPROXFTL_REASON_KIND = 1,	/* no regular file, nor what else the ioctl takes */
	APPROXFTL_REASON_READ_ONLY = 2, /* the descriptor cannot write */
	APPROXFTL_REASON_OWNER = 3,	/* the file is somebody else's */
	APPROXFTL_REASON_SWAP = 4,	/* the file is swap space */
	APPROXFTL_REASON_ENCRYPTED = 5, /* one flipped bit spoils a whole cipher block */
	APPROXFTL_REASON_VERITY = 6,	/* one flipped bit makes reads fail */
	APPROXFTL_REASON_CHECKSUM = 7,	/* the same: btrfs without chattr +C or nodatacow */
	APPROXFTL_REASON_FILES = 8,	/* the user has tagged too many files */
	APPROXFTL_REASON_RANGES = 9,	/* the file, or the user, has too many ranges */
	APPROXFTL_REASON_DEVICE = 10,	/* not on a device of dm-approxftl, or not in plain sight */
	APPROXFTL_REASON_IN_USE = 11,	/* the device is mounted, or opened exclusively */
};

/* What can be done: bits of struct approxftl_caps.can and .may. */
#define APPROXFTL_CAN_FILE	_BITULL(0) /* TAG, UNTAG, QUERY of files */
#define APPROXFTL_CAN_BUFFER	_BITULL(1) /* of memfds, for O_DIRECT from them */
#define APPROXFTL_CAN_SCOPE	_BITULL(2) /* SCOPE, PWRITEV */
#define APPROXFTL_CAN_DEVICE	_BITULL(3) /* DEVICE_TAG, DEVICE_QUERY */
#define APPROXFTL_CAN_STORED	_BITULL(4) /* STORED */
#define APPROXFTL_CAN_WATCH	_BITULL(5) /* WATCH */
#define APPROXFTL_CAN_NOTE	_BITULL(6) /* the kernel can note in a blktrace */
#define APPROXFTL_CAN_LEVEL	_BITULL(7) /* APPROXFTL_LEVEL_2 and _3 */

/**
 * struct approxftl_caps - APPROXFTL_CAPS: what there is
 * @size: of this structure
 * @version: APPROXFTL_VERSION of the kernel
 * @can: APPROXFTL_CAN_*: what this kernel can do
 * @may: those of them that the caller may use
 * @max_files: files that a user may have tagged at a time
 * @max_ranges: ranges that a user may have in them
 * @devices: devices of dm-approxftl that could be written now
 * @reserved: 0
 */
struct approxftl_caps {
	__u32 size;
	__u32 version;
	__aligned_u64 can;
	__aligned_u64 may;
	__aligned_u64 max_files;
	__aligned_u64 max_ranges;
	__u32 devices;
	__u32 reserved;
};

/* Write what is dirty back as it was meant before the change. */
#define APPROXFTL_SYNC_FIRST 0x1

/**
 * struct approxftl_range - APPROXFTL_TAG, _UNTAG, _DEVICE_TAG: a range of bytes
 * @size: of this structure
 * @fd: a file, memfd or, for APPROXFTL_DEVICE_TAG, a device of dm-approxftl
 * @class: enum approxftl_class; 0 for APPROXFTL_UNTAG; APPROXFTL_NONE unsays it
 * @flags: APPROXFTL_SYNC_FIRST
 * @offset: first byte
 * @length: how many, or APPROXFTL_TO_END
 * @reason: out: enum approxftl_reason
 * @reserved: 0
 */
struct approxftl_range {
	__u32 size;
	__s32 fd;
	__u32 class;
	__u32 flags;
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 reason;
	__u32 reserved;
};

/**
 * struct approxftl_extent - a range in the answer of APPROXFTL_QUERY
 * @offset: first byte
 * @length: how many; APPROXFTL_TO_END if there is no end
 * @class: APPROXFTL_PRECISE or APPROXFTL_APPROXIMATE
 * @level: quality level; 0 of kernels without APPROXFTL_CAN_LEVEL
 */
struct approxftl_extent {
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 class;
	__u32 level;
};

/**
 * struct approxftl_query - APPROXFTL_QUERY, _DEVICE_QUERY: what is tagged
 * @size: of this structure
 * @fd: as for tagging; any access will do
 * @cursor: in: ranges that end after this byte; out: where to go on, APPROXFTL_TO_END
 *	when there is no more
 * @extents: address of struct approxftl_extent[@room]
 * @room: how many fit
 * @count: out: how many there are
 */
struct approxftl_query {
	__u32 size;
	__s32 fd;
	__aligned_u64 cursor;
	__aligned_u64 extents;
	__u32 room;
	__u32 count;
};

/* Whose writes a scope is about. */
enum approxftl_whose {
	APPROXFTL_THREAD = 0,  /* the calling thread's */
	APPROXFTL_PROCESS = 1, /* those of everything that shares the caller's memory */
};

/**
 * struct approxftl_scope - APPROXFTL_SCOPE: a region of I/O begins or ends
 * @size: of this structure
 * @whose: enum approxftl_whose
 * @class: what O_DIRECT writes of user memory are from now on; APPROXFTL_NONE ends it
 * @previous: out: what this descriptor had said before, to nest regions
 * @label: address of a name for the block trace, or 0
 * @label_length: bytes of it, at most APPROXFTL_LABEL_MAX
 * @reserved: 0
 *
 * Ends at the latest when the open file of /dev/approxftl that said it is closed, when the
 * process executes another program, or when the thread ends.
 */
struct approxftl_scope {
	__u32 size;
	__u32 whose;
	__u32 class;
	__u32 previous;
	__aligned_u64 label;
	__u32 label_length;
	__u32 reserved;
};

/**
 * struct approxftl_pwritev - APPROXFTL_PWRITEV: write data of a class
 * @size: of this structure
 * @fd: a regular file, which is tagged as by APPROXFTL_TAG, or a block device
 * @class: enum approxftl_class, but APPROXFTL_NONE
 * @flags: 0
 * @offset: where to; O_APPEND is refused
 * @iov: address of struct iovec[@iov_count]
 * @iov_count: how many
 * @reason: out: enum approxftl_reason
 * @written: out: bytes
 *
 * Of what is not written nothing is said that was not said before.
 */
struct approxftl_pwritev {
	__u32 size;
	__s32 fd;
	__u32 class;
	__u32 flags;
	__aligned_u64 offset;
	__aligned_u64 iov;
	__u32 iov_count;
	__u32 reason;
	__aligned_u64 written;
};

#define APPROXFTL_UNIT_LOST	0x1 /* its content cannot be read */
#define APPROXFTL_UNIT_NO_MODEL 0x2 /* errors are not modelled: the counts mean nothing */
#define APPROXFTL_UNIT_LEVEL_2	0x4 /* approximate, of quality level 2 */
#define APPROXFTL_UNIT_LEVEL_3	0x8 /* the same of level 3 */

/**
 * struct approxftl_unit - a mapping unit in the answer of APPROXFTL_STORED
 * @offset: of its first byte, in the file or device that was asked for
 * @device_offset: the same in the device
 * @class: precise, approximate, or APPROXFTL_NONE if it is not on flash
 * @flags: APPROXFTL_UNIT_*
 * @flips: bits that a read would return inverted now
 * @raw: errors of its page now, corrected or not
 */
struct approxftl_unit {
	__aligned_u64 offset;
	__aligned_u64 device_offset;
	__u32 class;
	__u32 flags;
	__u32 flips;
	__u32 raw;
};

/**
 * struct approxftl_stored - APPROXFTL_STORED: what is stored, unit by unit
 * @size: of this structure
 * @fd: opened for reading: a device of dm-approxftl, or a regular file whose file system is
 *	right on one and can tell where its blocks are (ext4, xfs, f2fs; not btrfs; to xfs one
 *	that has or had clones is all holes); without CAP_SYS_RAWIO the caller's own, of which
 *	ext4 journals no data: EPERM
 * @cursor: in: first byte of interest; out: where to go on, APPROXFTL_TO_END at the end
 * @length: bytes of interest, or APPROXFTL_TO_END
 * @units: address of struct approxftl_unit[@room]
 * @room: how many fit
 * @count: out: how many there are; holes of a file are left out
 * @unit_bytes: out: size of a unit
 * @reason: out: enum approxftl_reason
 *
 * Looks at flash: what waits in a cache or a write buffer is not there yet. A signal ends the call
 * before @room is used up: with what has been found, or with EINTR if nothing has; @cursor says
 * where to go on in both cases.
 */
struct approxftl_stored {
	__u32 size;
	__s32 fd;
	__aligned_u64 cursor;
	__aligned_u64 length;
	__aligned_u64 units;
	__u32 room;
	__u32 count;
	__u32 unit_bytes;
	__u32 reason;
};

/**
 * struct approxftl_watch - APPROXFTL_WATCH: tag files by their attribute when opened
 * @size: of this structure
 * @fd: any file or directory of the file system
 * @on: 1 to begin, 0 to end
 * @reason: out: enum approxftl_reason
 */
struct approxftl_watch {
	__u32 size;
	__s32 fd;
	__u32 on;
	__u32 reason;
};

/**
 * struct approxftl_note - APPROXFTL_NOTE: a label for the block trace; EAGAIN for one too many
 * @size: of this structure
 * @length: bytes of it, at most APPROXFTL_LABEL_MAX
 * @label: its address
 */
struct approxftl_note {
	__u32 size;
	__u32 length;
	__aligned_u64 label;
};

/**
 * struct approxftl_stats - APPROXFTL_STATS: counts of all devices since the module came
 * @size: of this structure
 * @files: files that are tagged now
 * @ranges: ranges of them now
 * @scopes: scopes now
 * @watches: file systems that are watched now
 * @by_file: units written approximate because of a file's range
 * @by_buffer: because of a memfd's range
 * @by_thread: because of a thread's scope
 * @by_process: because of a process's scope
 * @by_priority: because of the hint in their I/O priority
 * @by_device: because of a device's range
 * @by_table: because the table says tag_all
 * @explicit_precise: units written precise because somebody said so
 * @mixed: units written precise because not all of their bytes were approximate
 * @vetoed: units with a tag that did not apply to this write, as a journal's
 * @splits: requests split where class or level changes
 * @reserved: 0
 * @level_2: approximate units of quality level 2, whoever has said so
 * @level_3: of level 3
 */
struct approxftl_stats {
	__u32 size;
	__u32 files;
	__u32 ranges;
	__u32 scopes;
	__u32 watches;
	__u32 reserved;
	__aligned_u64 by_file;
	__aligned_u64 by_buffer;
	__aligned_u64 by_thread;
	__aligned_u64 by_process;
	__aligned_u64 by_priority;
	__aligned_u64 by_device;
	__aligned_u64 by_table;
	__aligned_u64 explicit_precise;
	__aligned_u64 mixed;
	__aligned_u64 vetoed;
	__aligned_u64 splits;
	__aligned_u64 level_2;
	__aligned_u64 level_3;
};

/* Of those that Documentation/userspace-api/ioctl/ioctl-number.rst gives to nobody. */
#define APPROXFTL_IOCTL 0xf7

#define APPROXFTL_CAPS	       _IO(APPROXFTL_IOCTL, 0x40)
#define APPROXFTL_TAG	       _IO(APPROXFTL_IOCTL, 0x41)
#define APPROXFTL_UNTAG	       _IO(APPROXFTL_IOCTL, 0x42)
#define APPROXFTL_QUERY	       _IO(APPROXFTL_IOCTL, 0x43)
#define APPROXFTL_SCOPE	       _IO(APPROXFTL_IOCTL, 0x44)
#define APPROXFTL_PWRITEV      _IO(APPROXFTL_IOCTL, 0x45)
#define APPROXFTL_DEVICE_TAG   _IO(APPROXFTL_IOCTL, 0x46)
#define APPROXFTL_DEVICE_QUERY _IO(APPROXFTL_IOCTL, 0x47)
#define APPROXFTL_STORED       _IO(APPROXFTL_IOCTL, 0x48)
#define APPROXFTL_WATCH	       _IO(APPROXFTL_IOCTL, 0x49)
#define APPROXFTL_NOTE	       _IO(APPROXFTL_IOCTL, 0x4a)
#define APPROXFTL_STATS	       _IO(APPROXFTL_IOCTL, 0x4b)

#endif
