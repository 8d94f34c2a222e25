/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device of several FTLs that know nothing of each other.
 *
 * Each shard has its part of the channels, of what channels have in common, and of the address
 * space: runs of units go to one shard after the other. A host drives each as a device of its
 * own, in its own time if need be: under a lock or in a thread of its own. The core itself
 * knows only devices with one.
 */
#ifndef AFTL_SHARDS_H
#define AFTL_SHARDS_H

#include "core/base/geometry.h"

/* Shortest run in bytes: what is smaller is one shard's, if it is aligned. */
#define AFTL_SHARD_CHUNK_BYTES (64 * 1024)

/**
 * struct aftl_shards - how a device is divided
 * @count: of shards, 1 for a device that is not divided
 * @chunk_shift: units that follow each other in one shard, as a power of two; of zones, one
 * @units: that the host sees, of all shards
 * @geo: shape of each shard
 */
struct aftl_shards {
	u32 count;
	u32 chunk_shift;
	u64 units;
	struct aftl_geometry geo;
};

/**
 * aftl_shards_init() - derive how @config is divided, or say why it cannot be
 * @shards: takes it
 * @config: of the whole device
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int __must_check aftl_shards_init(struct aftl_shards *shards, const struct aftl_config *config,
				  struct aftl_error *error);

/* Units of such a shard that follow each other where there are several, as a power of two. */
u32 aftl_shard_chunk_shift(const struct aftl_geometry *geo);

/**
 * aftl_shard_config() - the configuration of one shard, which is that of a device with one
 * @own: takes it
 * @config: of the whole device
 * @index: which shard; their seeds differ
 */
void aftl_shard_config(struct aftl_config *own, const struct aftl_config *config, u32 index);

/* The shard that has @unit of the device. */
static inline u32 aftl_lpn_shard(const struct aftl_shards *shards, u64 unit)
{
	u64 number = unit >> shards->chunk_shift;

	return (u32)(number - div64_u64(number, shards->count) * shards->count);
}

/* Its number there. */
static inline u32 aftl_shard_lpn(const struct aftl_shards *shards, u64 unit)
{
	u32 within = (u32)unit & ((1U << shards->chunk_shift) - 1);

	if (shards->count == 1)
		return (u32)unit;
	return (u32)div64_u64(unit >> shards->chunk_shift, shards->count) << shards->chunk_shift |
	       within;
}

/* Units from @unit on, at most @units, that are in the same run. */
static inline u32 aftl_shard_run_units(const struct aftl_shards *shards, u64 unit, u32 units)
{
	u32 length = 1U << shards->chunk_shift;

	return shards->count == 1 ? units : min(units, length - ((u32)unit & (length - 1)));
}

/* Units before @unit of the device that are in shard @index: a range of the device is one there. */
static inline u32 aftl_shard_lpns_before(const struct aftl_shards *shards, u32 index, u64 unit)
{
	u32 owner = aftl_lpn_shard(shards, unit);
	u32 within = (u32)unit & ((1U << shards->chunk_shift) - 1);
	u32 before = aftl_shard_lpn(shards, unit);

	if (index == owner)
		return before;
	return before - within + (index < owner ? 1U << shards->chunk_shift : 0);
}

/* The unit of the device that is @unit of shard @index. */
static inline u64 aftl_shard_host_lpn(const struct aftl_shards *shards, u32 index, u32 unit)
{
	u32 within = unit & ((1U << shards->chunk_shift) - 1);

	if (shards->count == 1)
		return unit;
	return ((u64)(unit >> shards->chunk_shift) * shards->count + index) << shards->chunk_shift |
	       within;
}

#endif
