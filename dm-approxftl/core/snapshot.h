/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a device as a stream of bytes.
 *
 * The format, all numbers little-endian:
 *
 *   8 bytes   magic "AFTLSNAP"
 *   u16, u16  major and minor version; another major is refused
 *   16 bytes  policy name, padded with zeroes
 *   u32       number of parameters; for each:
 *               u8 length of the key, the key, u64 value in stored units
 *   u64 x 3   device time and age in ns, sequence number
 *   u64       what the policy remembers
 *   u32       LUN that the rotation of writes has reached; then
 *   per stream (class, heat): u32 LUN, u32 units left there
 *   for each block:
 *     u8 state, order, kind, flags (1 flip, 2 approximate only, 4 failing,
 *       8 the core's own)
 *     u16 note; u32 programmed, frontier, erases, wear, reads, first hour; u64 opened
 *     if pages are programmed, for each page: u8 attributes, u16 hours, and
 *       for each slot: u8 valid, u32 unit, and with errors u16 lineage, u16 baked
 *   for each LUN:
 *     u8 a move found no place; u32 erases since the last look at wear; u32 next
 *       block to be searched for old data
 *     u32 count and the numbers of its free blocks, oldest first
 *     u32 count and the numbers of its closed blocks in the order of victim search
 *   u32       CRC-32C of everything before it
 *
 * The map is not stored: it follows from the valid slots.
 */
#ifndef AFTL_SNAPSHOT_H
#define AFTL_SNAPSHOT_H

#include "ftl.h"

#define AFTL_SNAPSHOT_MAJOR 1
#define AFTL_SNAPSHOT_MINOR 0

/**
 * struct aftl_sink - where a snapshot goes
 * @write: 0, or a negative error code that ends the snapshot
 * @host: first argument of @write
 */
struct aftl_sink {
	int (*write)(void *host, const void *data, size_t bytes);
	void *host;
};

/**
 * struct aftl_source_stream - where a snapshot comes from
 * @read: 0 with all of @bytes, or a negative error code
 * @host: first argument of @read
 */
struct aftl_source_stream {
	int (*read)(void *host, void *data, size_t bytes);
	void *host;
};

/**
 * aftl_save() - write the state of @ftl to @sink
 * @ftl: device
 * @sink: where the bytes go
 * @error: takes the sentence on failure
 *
 * Operations under way are finished first; background work that has begun starts
 * anew afterwards, here and in the device that is loaded. Statistics are not saved.
 *
 * Return: 0; -EBUSY while requests or buffered writes are under way (flush and wait
 * first); or what the sink returned.
 */
int __must_check aftl_save(struct aftl *ftl, const struct aftl_sink *sink,
			   struct aftl_error *error);

/**
 * aftl_snapshot_bytes_max() - no snapshot of such a device is larger
 * @geo: shape of the device
 */
u64 aftl_snapshot_bytes_max(const struct aftl_geometry *geo);

/**
 * aftl_load() - create a device in a saved state
 * @out: takes the device
 * @source: which
 * @ops: the host's
 * @host: first argument of @ops
 * @error: takes the sentence on failure
 *
 * The bytes are not trusted: a stream that is not exactly the state of a possible
 * device is refused.
 *
 * Return: 0, -EINVAL or -EUCLEAN with a sentence, -ENOMEM, or what the source
 * returned.
 */
int __must_check aftl_load(struct aftl **out, const struct aftl_source_stream *source,
			   const struct aftl_host_ops *ops, void *host, struct aftl_error *error);

#endif
