/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a device as a stream of bytes.
 *
 * The format, all numbers little-endian:
 *
 *   8 bytes   magic "AFTLSNAP"
 *   u16, u16  major and minor version: 3 if units are lost, else 2; others are refused
 *   16 bytes  policy name, padded with zeroes
 *   u32       number of parameters; for each:
 *               u8 length of the key, the key, u64 value in stored units
 *   u64 x 3   device time and age in ns, sequence number
 *   u64       what the policy remembers
 *   u32       position of the LUN whose turn is next; then
 *   per class and stream below 4: u32 LUN, u32 units left there
 *   for each block:
 *     u8 state, order, kind, flags (1 flip, 2 approximate only, 4 failing,
 *       8 the core's own, 16 has pages between approximate ones, 32 wide, 64 parity)
 *     u16 note; u32 programmed, frontier, erases, wear, reads, first hour; u64 opened
 *     if wide, u8 bits in a cell, 0 for all
 *     if pages are programmed, for each page: u8 attributes, or u16 if wide, u16 hours, and
 *       for each slot: u8 valid (3: lost), u32 unit, and with errors u16 lineage, u16 baked
 *   for each LUN:
 *     u8 flags (1 a move found no place, 2 short of free blocks since the policy
 *       was changed); u32 erases since the last look at wear; u32 next
 *       block to be searched for old data
 *     u32 count and the numbers of its free blocks, oldest first
 *     u32 count and the numbers of its closed blocks in the order of victim search
 *   for each word of the policy's arrays and of its parts': u8 1 and u64 word; then u8 0
 *   for each zone: u8 state, enum aftl_zone_state; u32 units below its write pointer
 *   with its map on flash: u32 sheets in memory; for each, the one that was used longest ago
 *     first, then those that each LUN is to write: u32 number, u8 flags, AFTL_SHEET_...
 *   u32       CRC-32C of everything before it
 *
 * The map is not stored: it follows from the valid slots.
 */
#ifndef AFTL_SNAPSHOT_H
#define AFTL_SNAPSHOT_H

#include "core/ftl/ftl.h"

#define AFTL_SNAPSHOT_MAJOR 2
#define AFTL_SNAPSHOT_MAJOR_LOST 3
#define AFTL_SNAPSHOT_MINOR 0

/**
 * struct aftl_snapshot_sink - where a snapshot goes
 * @write: 0, or a negative error code that ends the snapshot
 * @host: first argument of @write
 */
struct aftl_snapshot_sink {
	int (*write)(void *host, const void *data, size_t bytes);
	void *host;
};

/**
 * struct aftl_snapshot_source - where a snapshot comes from
 * @read: 0 with all of @bytes, or a negative error code
 * @host: first argument of @read
 */
struct aftl_snapshot_source {
	int (*read)(void *host, void *data, size_t bytes);
	void *host;
};

/**
 * aftl_quiesce() - let operations end and begin no other, until aftl_unquiesce()
 * @ftl: device
 *
 * For a host that has to do what the end of operations asks of it before it saves the
 * device. Submit nothing in between.
 */
void aftl_quiesce(struct aftl *ftl);

/* One event of that. Return: whether there are more to come. */
bool aftl_quiesce_step(struct aftl *ftl);
void aftl_unquiesce(struct aftl *ftl);

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
 * first); -ENOSPC if a write buffer that survives holds what no block is left for; or what
 * the sink returned.
 */
int __must_check aftl_save(struct aftl *ftl, const struct aftl_snapshot_sink *sink,
			   struct aftl_error *error);

/**
 * aftl_snapshot_bytes_max() - no snapshot of such a device is larger
 * @geo: shape of the device
 */
u64 aftl_snapshot_bytes_max(const struct aftl_geometry *geo);

/**
 * aftl_snapshot_check_policy_change() - can a device that was saved go on with another policy?
 * @config: its parameters
 * @error: takes the sentence if it cannot
 */
int __must_check aftl_snapshot_check_policy_change(const struct aftl_config *config,
						   struct aftl_error *error);

/**
 * aftl_load() - create a device in a saved state
 * @out: takes the device, before the first call of @ops; NULL after a failure
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
int __must_check aftl_load(struct aftl **out, const struct aftl_snapshot_source *source,
			   const struct aftl_host_ops *ops, void *host, struct aftl_error *error);

/**
 * aftl_load_as() - the same, to go on with another policy or other parameters
 * @out: takes the device
 * @source: which
 * @type: policy; NULL: that of the snapshot
 * @config: parameters; NULL: those of the snapshot. See aftl_config_check()
 * @ops: the host's
 * @host: first argument of @ops
 * @error: takes the sentence on failure
 *
 * Data, map, classes, wear, age and errors stay. To another policy all blocks are of
 * kind 0 without a note, and its predecessor's open blocks are closed. A LUN that has
 * fewer free blocks than the policy works with makes room first. If its data leave the
 * policy no room at all, as after many bad blocks, the device is read-only.
 *
 * Return: as aftl_load(); -EINVAL also if these parameters cannot change or the policy
 * does not fit the device.
 */
int __must_check aftl_load_as(struct aftl **out, const struct aftl_snapshot_source *source,
			      const struct aftl_policy_type *type, const struct aftl_config *config,
			      const struct aftl_host_ops *ops, void *host,
			      struct aftl_error *error);

#endif
