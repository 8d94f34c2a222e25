/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of declarations in uapi/linux/approxftl.h and libapproxftl's header from before quality
 * levels existed, to test binary compatibility. Each structure that is passed to a call has a mark
 * behind it, which the call must not overwrite.
 */
#ifndef OLD_APPROXFTL_H
#define OLD_APPROXFTL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PRECISE, APPROXIMATE, NONE };

/* uapi/linux/approxftl.h, with the numbers that its macros make */

enum { TAG = 0xf741, QUERY = 0xf743, STORED = 0xf748, STATS = 0xf74b };

struct range {
	uint32_t size;
	int32_t fd;
	uint32_t class, flags;
	uint64_t offset, length;
	uint32_t reason, reserved;
	uint64_t mark;
};

struct extent {
	uint64_t offset, length;
	uint32_t class, reserved;
};

struct query {
	uint32_t size;
	int32_t fd;
	uint64_t cursor, extents;
	uint32_t room, count;
	uint64_t mark;
};

struct unit {
	uint64_t offset, device_offset;
	uint32_t class, flags, flips, raw;
};

struct stored {
	uint32_t size;
	int32_t fd;
	uint64_t cursor, length, units;
	uint32_t room, count, unit_bytes, reason;
	uint64_t mark;
};

struct stats {
	uint32_t size, files, ranges, scopes, watches, reserved;
	uint64_t by_file, by_buffer, by_thread, by_process, by_priority, by_device, by_table;
	uint64_t explicit_precise, mixed, vetoed, splits;
	uint64_t mark;
};

/* libapproxftl/approxftl.h */

struct approxftl;

struct errors {
	uint64_t unit_bytes, units, approximate_units, flipped_units, lost_units, unmodelled_units;
	uint64_t flipped_bits, raw_errors, reserved[2];
	uint64_t mark;
};

int approxftl_open(const char *path, unsigned int flags, struct approxftl **out);
int approxftl_tag(struct approxftl *a, int fd, off_t offset, off_t length, int kind);
int approxftl_query(struct approxftl *a, int fd, off_t from, struct extent *out, size_t room);
int approxftl_errors(struct approxftl *a, int fd, off_t offset, off_t length, struct errors *out);
int approxftl_stored(struct approxftl *a, int fd, off_t *cursor, off_t length, struct unit *out,
		     size_t room);

#endif
