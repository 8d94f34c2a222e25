/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growing buffer that a snapshot can be written to and read from.
 */
#ifndef BYTES_H
#define BYTES_H

#include "core/persist/snapshot.h"

/**
 * struct test_bytes - bytes written so far
 * @at: where the next read begins
 * @limit: writes beyond this size fail with -EIO; 0: no limit
 */
struct test_bytes {
	u8 *data;
	size_t size;
	size_t room;
	size_t at;
	size_t limit;
};

struct aftl_snapshot_sink test_bytes_sink(struct test_bytes *bytes);

/* Return a source that reads the buffer from its start, and fails with -EIO past its end. */
struct aftl_snapshot_source test_bytes_source(struct test_bytes *bytes);

void free_test_bytes(struct test_bytes *bytes);

/* CRC-32C, bit by bit. */
u32 compute_reference_crc32c(const u8 *data, size_t size);

/* Store, in the last four bytes of the buffer, the checksum of all bytes before them. */
void test_bytes_add_crc(struct test_bytes *bytes);

#endif
