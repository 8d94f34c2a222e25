/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device of several independent FTLs (shards).
 *
 * Each shard has its part of the channels, of the resources that channels share, and of the address
 * space, which is striped over the shards in chunks. A host drives each shard as a device of its
 * own, under a lock of its own or in a thread of its own. The core handles one shard at a time.
 */
#ifndef AFTL_SHARDS_H
#define AFTL_SHARDS_H

#include "core/base/geometry.h"

/* Smallest chunk in bytes: an aligned request of at most this size goes to one shard. */
#define AFTL_SHARD_CHUNK_BYTES (64 * 1024)

/**
 * struct aftl_shards - division of a device into shards
 * @count: number of shards, 1 for a device that is not divided
 * @chunk_shift: units of a chunk, as a power of two; for a zoned device one zone
 * @units: units that the host sees, of all shards
 * @geo: geometry of each shard
 */
struct aftl_shards {
	u32 count;
	u32 chunk_shift;
	u64 units;
	struct aftl_geometry geo;
};

/**
 * aftl_shards_init() - compute the division of a device
 * @shards: takes the division
 * @config: parameters of the whole device
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL with a message.
 */
int __must_check aftl_shards_init(struct aftl_shards *shards, const struct aftl_config *config,
				  struct aftl_error *error);

/* Units of a chunk, as a power of two, if the device has several shards of this geometry. */
u32 aftl_compute_shard_chunk_shift(const struct aftl_geometry *geo);

/**
 * aftl_derive_shard_config() - parameters of one shard
 * @own: takes the parameters
 * @config: parameters of the whole device
 * @index: index of the shard; each has a seed of its own
 */
void aftl_derive_shard_config(struct aftl_config *own, const struct aftl_config *config, u32 index);

/* Index of the shard that contains logical page @unit of the device. */
static inline u32 aftl_shard_of_lpn(const struct aftl_shards *shards, u64 unit)
{
	u64 number = unit >> shards->chunk_shift;

	return (u32)(number - div64_u64(number, shards->count) * shards->count);
}

/* Logical page number, within its shard, of logical page @unit of the device. */
static inline u32 aftl_lpn_within_shard(const struct aftl_shards *shards, u64 unit)
{
	u32 within = (u32)unit & ((1U << shards->chunk_shift) - 1);

	if (shards->count == 1)
		return (u32)unit;
	return (u32)div64_u64(unit >> shards->chunk_shift, shards->count) << shards->chunk_shift |
	       within;
}

/* Number of logical pages from @unit on, at most @units, that lie in the same chunk. */
static inline u32 aftl_count_units_to_chunk_end(const struct aftl_shards *shards, u64 unit,
						u32 units)
{
	u32 length = 1U << shards->chunk_shift;

	return shards->count == 1 ? units : min(units, length - ((u32)unit & (length - 1)));
}

/* Number of logical pages of shard @index that are below logical page @unit of the device. */
static inline u32 aftl_count_shard_lpns_below_device_lpn(const struct aftl_shards *shards,
							 u32 index, u64 unit)
{
	u32 owner = aftl_shard_of_lpn(shards, unit);
	u32 within = (u32)unit & ((1U << shards->chunk_shift) - 1);
	u32 before = aftl_lpn_within_shard(shards, unit);

	if (index == owner)
		return before;
	return before - within + (index < owner ? 1U << shards->chunk_shift : 0);
}

/* Logical page number in the device of logical page @unit of shard @index. */
static inline u64 aftl_device_lpn_of_shard_lpn(const struct aftl_shards *shards, u32 index,
					       u32 unit)
{
	u32 within = unit & ((1U << shards->chunk_shift) - 1);

	if (shards->count == 1)
		return unit;
	return ((u64)(unit >> shards->chunk_shift) * shards->count + index) << shards->chunk_shift |
	       within;
}

#endif
