/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The control device of dm-approxftl, /dev/approxftl: declares which data may be stored
 * approximately, that is, may come back with flipped bits.
 *
 * The first member of each structure is its size in bytes, as the caller was compiled.
 * Structures only grow at their end. A newer kernel takes members that an older caller
 * lacks as zero; an older kernel fails with E2BIG if members that it does not know are not
 * zero. Results are written back up to @size; @size itself is never changed. The numbers of
 * the ioctls do not depend on sizes. Members named reserved, and undefined bits of flags,
 * must be zero; otherwise the ioctl fails with EINVAL.
 *
 * An ioctl returns 0, or -1 with errno. If a structure has a member reason, a refusal sets
 * it to enum approxftl_reason, which is more precise than errno.
 *
 * docs/tags.md has the rules by which a write becomes approximate.
 */
#ifndef _LINUX_APPROXFTL_H
#define _LINUX_APPROXFTL_H

#include <linux/const.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#define APPROXFTL_PATH "/dev/approxftl"

/* Extended attribute that APPROXFTL_WATCH reads; its value is text, see docs/tags.md. */
#define APPROXFTL_XATTR "user.approxftl"

/* Maximum length of the attribute's value and of a label, in bytes. */
#define APPROXFTL_XATTR_MAX 4096
#define APPROXFTL_LABEL_MAX 64

#define APPROXFTL_VERSION 1

/* The length of a range up to the largest possible offset, beyond the current end of the file. */
#define APPROXFTL_TO_END (~0ULL)

/*
 * Class of data. The levels 2 and 3 are input only: the kernel reports APPROXFTL_APPROXIMATE and a
 * separate level.
 */
enum approxftl_class {
	APPROXFTL_PRECISE = 0,	   /* no bit may flip; wins over an approximate tag */
	APPROXFTL_APPROXIMATE = 1, /* bits may flip */
	APPROXFTL_NONE = 2,	   /* data without a tag; for APPROXFTL_STORED: not on flash */
	APPROXFTL_LEVEL_2 = 3,	   /* approximate with more errors than level 1 */
	APPROXFTL_LEVEL_3 = 4,	   /* approximate with more errors than level 2 */
};

/* Quality levels: 0 is precise, 1 to 3 are approximate with more and more errors. */
#define APPROXFTL_LEVEL_MAX 3

/* Reason for which an ioctl was refused. */
enum approxftl_reason {
	APPROXFTL_REASON_NONE = 0,
	APPROXFTL_REASON_KIND = 1,	/* the ioctl does not take a file of this type */
	APPROXFTL_REASON_READ_ONLY = 2, /* the file descriptor is not open for writing */
	APPROXFTL_REASON_OWNER = 3,	/* another user owns the file */
	APPROXFTL_REASON_SWAP = 4,	/* the file is swap space */
	APPROXFTL_REASON_ENCRYPTED = 5, /* the file is encrypted: a flipped bit garbles a block */
	APPROXFTL_REASON_VERITY = 6,	/* the file has fs-verity: a flipped bit makes reads fail */
	APPROXFTL_REASON_CHECKSUM = 7,	/* btrfs checksums the file: needs chattr +C or nodatacow */
	APPROXFTL_REASON_FILES = 8,	/* the user has tagged the maximum number of files */
	APPROXFTL_REASON_RANGES = 9,	/* the file, or the user, has too many ranges */
	APPROXFTL_REASON_DEVICE = 10,	/* the file system is not directly on dm-approxftl */
	APPROXFTL_REASON_IN_USE = 11,	/* the device is mounted, or opened exclusively */
};

/* Capabilities: bits of struct approxftl_caps.can and .may. */
#define APPROXFTL_CAN_FILE	_BITULL(0) /* the ioctls TAG, UNTAG and QUERY work on files */
#define APPROXFTL_CAN_BUFFER	_BITULL(1) /* memfds can be tagged, for O_DIRECT writes */
#define APPROXFTL_CAN_SCOPE	_BITULL(2) /* the ioctls SCOPE and PWRITEV work */
#define APPROXFTL_CAN_DEVICE	_BITULL(3) /* the ioctls DEVICE_TAG and DEVICE_QUERY work */
#define APPROXFTL_CAN_STORED	_BITULL(4) /* the ioctl STORED works */
#define APPROXFTL_CAN_WATCH	_BITULL(5) /* the ioctl WATCH works */
#define APPROXFTL_CAN_NOTE	_BITULL(6) /* the ioctl NOTE can write to a block trace */
#define APPROXFTL_CAN_LEVEL	_BITULL(7) /* the kernel knows APPROXFTL_LEVEL_2 and _3 */
#define APPROXFTL_CAN_CARRIER	_BITULL(8) /* the ioctl TAG_FD works */

/**
 * struct approxftl_caps - APPROXFTL_CAPS: capabilities and limits
 * @size: of this structure in bytes
 * @version: APPROXFTL_VERSION of the kernel
 * @can: APPROXFTL_CAN_*: capabilities of this kernel
 * @may: those of them that the caller may use
 * @max_files: tagged files that a user may have at a time
 * @max_ranges: tagged ranges that a user may have in all these files
 * @devices: devices of dm-approxftl that can be written now
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

/* Flag: write dirty data of the range back with their old class before its tag changes. */
#define APPROXFTL_SYNC_FIRST 0x1

/**
 * struct approxftl_range - APPROXFTL_TAG, _UNTAG, _DEVICE_TAG: a range of bytes
 * @size: of this structure in bytes
 * @fd: a file, memfd or, for APPROXFTL_DEVICE_TAG, a device of dm-approxftl
 * @class: enum approxftl_class; 0 for APPROXFTL_UNTAG; APPROXFTL_NONE removes the tag
 * @flags: APPROXFTL_SYNC_FIRST
 * @offset: first byte
 * @length: number of bytes, or APPROXFTL_TO_END
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

/*
 * Carriers: the parts of a write that tell a device its class. The table option tag_carrier selects
 * those that a device honours.
 */
#define APPROXFTL_CARRIER_INODE	       0x1 /* tagged ranges of the file, or of the memory */
#define APPROXFTL_CARRIER_WRITE_HINT   0x2 /* hint APPROXFTL_WRITE_HINT of the file (Linux 6.9) */
#define APPROXFTL_CARRIER_IOPRIO       0x4 /* hint in the I/O priority of a direct write */
#define APPROXFTL_CARRIER_WRITE_STREAM 0x8 /* write stream of io_uring's direct I/O (6.16) */

/* The life time that marks a file as approximate: RWH_WRITE_LIFE_MEDIUM of F_SET_RW_HINT. */
#define APPROXFTL_WRITE_HINT 3

/**
 * struct approxftl_tag_fd - APPROXFTL_TAG_FD: tag a whole file by each carrier
 * @size: of this structure in bytes
 * @fd: a file or memfd; or a device of dm-approxftl, which is only queried
 * @class: enum approxftl_class; APPROXFTL_NONE removes the tag
 * @carriers: in: carriers to set, or 0 for the inode and what the device below honours; out: those
 *	that were set. A class other than APPROXFTL_APPROXIMATE clears the write hint
 * @passed: out: carriers that this kernel can pass to a device
 * @honoured: out: those of them that the device honours; 0 if the file system is not directly on
 *	a device of dm-approxftl
 * @io_priority: out: I/O priority that makes a single direct write approximate, for ioprio_set(2),
 *	aio_reqprio or the field ioprio of io_uring; 0 if the device does not honour it
 * @write_stream: out: the same for the field write_stream of io_uring, on the device itself
 * @reason: out: enum approxftl_reason
 * @reserved: 0
 */
struct approxftl_tag_fd {
	__u32 size;
	__s32 fd;
	__u32 class;
	__u32 carriers;
	__u32 passed;
	__u32 honoured;
	__u32 io_priority;
	__u32 write_stream;
	__u32 reason;
	__u32 reserved;
};

/**
 * struct approxftl_extent - a range in the answer of APPROXFTL_QUERY
 * @offset: first byte
 * @length: number of bytes; APPROXFTL_TO_END if there is no end
 * @class: APPROXFTL_PRECISE or APPROXFTL_APPROXIMATE
 * @level: quality level; 0 from kernels without APPROXFTL_CAN_LEVEL
 */
struct approxftl_extent {
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 class;
	__u32 level;
};

/**
 * struct approxftl_query - APPROXFTL_QUERY, _DEVICE_QUERY: list tagged ranges
 * @size: of this structure in bytes
 * @fd: as for tagging; any access mode
 * @cursor: in: list ranges that end after this byte; out: cursor of the next call, APPROXFTL_TO_END
 *	after the last range
 * @extents: address of struct approxftl_extent[@room]
 * @room: number of elements that fit
 * @count: out: number of elements filled in
 */
struct approxftl_query {
	__u32 size;
	__s32 fd;
	__aligned_u64 cursor;
	__aligned_u64 extents;
	__u32 room;
	__u32 count;
};

/* The writes that a scope covers. */
enum approxftl_whose {
	APPROXFTL_THREAD = 0,  /* writes of the calling thread */
	APPROXFTL_PROCESS = 1, /* writes of all threads in the caller's address space */
};

/**
 * struct approxftl_scope - APPROXFTL_SCOPE: begin or end a region of I/O
 * @size: of this structure in bytes
 * @whose: enum approxftl_whose
 * @class: class of O_DIRECT writes from user memory from now on; APPROXFTL_NONE ends the scope
 * @previous: out: class that this descriptor had set before, to nest regions
 * @label: address of a name for the block trace, or 0 @label_length: bytes of the label, at most
 * APPROXFTL_LABEL_MAX
 * @reserved: 0
 *
 * The scope also ends when the open file of /dev/approxftl that set it is closed, when the
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
 * @size: of this structure in bytes
 * @fd: a regular file, which is tagged as by APPROXFTL_TAG, or a block device
 * @class: enum approxftl_class, except APPROXFTL_NONE
 * @flags: 0
 * @offset: of the first byte in the file; O_APPEND is refused
 * @iov: address of struct iovec[@iov_count]
 * @iov_count: number of elements
 * @reason: out: enum approxftl_reason
 * @written: out: number of bytes written
 *
 * Bytes that are not written keep the tags that they had.
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

#define APPROXFTL_UNIT_LOST	0x1 /* the data of the unit cannot be read */
#define APPROXFTL_UNIT_NO_MODEL 0x2 /* errors are not modelled: ignore members flips and raw */
#define APPROXFTL_UNIT_LEVEL_2	0x4 /* approximate, of quality level 2 */
#define APPROXFTL_UNIT_LEVEL_3	0x8 /* approximate, of quality level 3 */

/**
 * struct approxftl_unit - a mapping unit in the answer of APPROXFTL_STORED
 * @offset: of its first byte in the file or device that @fd names
 * @device_offset: of its first byte in the device
 * @class: precise, approximate, or APPROXFTL_NONE if it is not on flash
 * @flags: APPROXFTL_UNIT_*
 * @flips: bits that a read would return flipped now
 * @raw: bit errors of its page now, before error correction
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
 * struct approxftl_stored - APPROXFTL_STORED: list the mapping units on flash
 * @size: of this structure in bytes
 * @fd: opened for reading: a device of dm-approxftl, or a regular file whose file system is
 *	directly on one and can map file offsets to blocks (ext4, xfs, f2fs; not btrfs; xfs
 *	reports a file that has or had clones as all holes). Without CAP_SYS_RAWIO the caller
 *	must own the file, and ext4 must not journal its data; otherwise EPERM
 * @cursor: in: first byte; out: cursor of the next call, APPROXFTL_TO_END at the end
 * @length: number of bytes, or APPROXFTL_TO_END
 * @units: address of struct approxftl_unit[@room]
 * @room: number of elements that fit
 * @count: out: number of elements filled in; holes of a file are omitted
 * @unit_bytes: out: size of a mapping unit in bytes
 * @reason: out: enum approxftl_reason
 *
 * Data in a cache or a write buffer are not on flash yet. A signal ends the call early: with the
 * units found so far, or with EINTR if there are none. @cursor is valid in both cases.
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
 * struct approxftl_watch - APPROXFTL_WATCH: tag files by APPROXFTL_XATTR when they are opened
 * @size: of this structure in bytes
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
 * struct approxftl_note - APPROXFTL_NOTE: write a label to the block trace
 * @size: of this structure in bytes @length: bytes of the label, at most APPROXFTL_LABEL_MAX
 * @label: address of the label
 *
 * Fails with EAGAIN if callers without CAP_SYS_ADMIN write too many labels in a second.
 */
struct approxftl_note {
	__u32 size;
	__u32 length;
	__aligned_u64 label;
};

/**
 * struct approxftl_stats - APPROXFTL_STATS: counters of all devices since the module was loaded
 * @size: of this structure in bytes
 * @files: tagged files now
 * @ranges: ranges of tagged files now
 * @scopes: scopes now
 * @watches: watched file systems now
 * @by_file: units written approximate because of a file's range
 * @by_buffer: units written approximate because of a memfd's range
 * @by_thread: units written approximate because of a thread's scope
 * @by_process: units written approximate because of a process's scope
 * @by_priority: units written approximate because of the hint in their I/O priority
 * @by_device: units written approximate because of a device's range
 * @by_table: units written approximate because of the table option tag_all
 * @explicit_precise: units written precise because a tag or scope demands it
 * @mixed: units written precise because not all of their bytes were approximate
 * @vetoed: units whose tag did not apply to this write, such as one by a journal
 * @splits: requests split where class or level changes
 * @reserved: 0
 * @level_2: units written approximate with quality level 2
 * @level_3: units written approximate with quality level 3
 * @by_hint: units written approximate because of the write hint of their file
 * @by_stream: units written approximate because of their write stream
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
	__aligned_u64 by_hint;
	__aligned_u64 by_stream;
};

/* Type of the ioctls; it is free in Documentation/userspace-api/ioctl/ioctl-number.rst. */
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
#define APPROXFTL_TAG_FD       _IO(APPROXFTL_IOCTL, 0x4c)

#endif
