/* SPDX-License-Identifier: GPL-2.0-only */
/* The headers of a volume, and its state. docs/volume-format.md has the format. */
#ifndef AFTL_VOLUME_FORMAT_H
#define AFTL_VOLUME_FORMAT_H

#include "core/base/shards.h"
#include "core/persist/volume-layout.h"

#define AFTL_VOLUME_MAJOR 1
#define AFTL_VOLUME_MAJOR_REMAPPED 2
/* The major version of a volume with an extent table is higher by this number. */
#define AFTL_VOLUME_MAJOR_LAZY 2
#define AFTL_VOLUME_MAJOR_MAX (AFTL_VOLUME_MAJOR_REMAPPED + AFTL_VOLUME_MAJOR_LAZY)
#define AFTL_VOLUME_MINOR 0
#define AFTL_UUID_BYTES 16
#define AFTL_VOLUME_NAME 16

/**
 * struct aftl_volume_header - the decoded header of a volume
 * @uuid: UUID of the volume
 * @generation: number of times that the header has been written
 * @policy: policy that the volume was last used with
 * @profile: profile that the volume was made from
 * @config: parameters of the device with all its shards
 * @layout: areas of the volume
 * @remapped: there is a remap table
 * @shard: number of the shard, of a device with several
 * @lazy_tables: there is an extent table, or shall be in a volume to be formatted
 */
struct aftl_volume_header {
	u8 uuid[AFTL_UUID_BYTES];
	u64 generation;
	char policy[AFTL_VOLUME_NAME + 1];
	char profile[AFTL_VOLUME_NAME + 1];
	struct aftl_config config;
	struct aftl_layout layout;
	bool remapped;
	u32 shard;
	bool lazy_tables;
};

/**
 * struct aftl_volume_state - the state of a volume at a commit
 * @commit: number of the commit
 * @seq: sequence number of the last change
 * @now_ns: device time
 * @age_ns: time that passed without the device
 * @memory: the policy's state word, see aftl_get_policy_state_word()
 * @snapshot_bytes: size of the snapshot
 * @policy_seq: sequence number of the last change before @policy took over
 * @policy: policy that uses the volume
 * @closed: the snapshot is valid
 */
struct aftl_volume_state {
	u64 commit;
	u64 seq;
	u64 now_ns;
	u64 age_ns;
	u64 memory;
	u64 snapshot_bytes;
	u64 policy_seq;
	char policy[AFTL_VOLUME_NAME + 1];
	bool closed;
};

u32 aftl_volume_header_nonce(const struct aftl_volume_header *header);

/**
 * aftl_volume_header_set_layout() - compute layout and shape of the volume that a header describes
 * @header: with the parameters; its layout is set
 * @geo: takes the shape of one shard
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL if no device has these parameters.
 */
int __must_check aftl_volume_header_set_layout(struct aftl_volume_header *header,
					       struct aftl_geometry *geo, struct aftl_error *error);

/* Change the header of shard 0 into that of shard @index of the same device. */
void aftl_volume_header_set_shard(struct aftl_volume_header *header, u32 index);

/* Return true if @own can be the header of shard @index, where @first is the header of shard 0. */
bool aftl_volume_header_is_of_shard(const struct aftl_volume_header *own,
				    const struct aftl_volume_header *first, u32 index);

/**
 * aftl_volume_header_encode() - encode a header
 * @header: the header
 * @bytes: takes AFTL_FRAME_BYTES
 */
void aftl_volume_header_encode(const struct aftl_volume_header *header, u8 *bytes);

/**
 * aftl_volume_header_decode() - decode and check a header
 * @header: takes the header
 * @bytes: AFTL_FRAME_BYTES of them
 * @error: takes the message on failure
 *
 * Return: 0; -ENODATA if it is zero; -EMEDIUMTYPE for anything else than a volume; -EINVAL for
 * another version of the format; -EUCLEAN if it is damaged.
 */
int __must_check aftl_volume_header_decode(struct aftl_volume_header *header, const u8 *bytes,
					   struct aftl_error *error);

void aftl_volume_state_encode(const struct aftl_volume_state *state, u8 *payload);

/* Decode a record of the volume's state. Return: 0, or -EUCLEAN if @payload is not valid. */
int __must_check aftl_volume_state_decode(struct aftl_volume_state *state, const u8 *payload);

#endif
