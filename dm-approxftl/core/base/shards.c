// SPDX-License-Identifier: GPL-2.0-only
/*
 * Divides a device into shards.
 */
#include "core/base/random.h"
#include "core/base/shards.h"

/* Parameters of resources that the channels share: each shard gets its part. */
static const u8 divided[] = {
	AFTL_PARAM_AT(channels),   AFTL_PARAM_AT(link),	    AFTL_PARAM_AT(depth),
	AFTL_PARAM_AT(buffer),	   AFTL_PARAM_AT(map_cache), AFTL_PARAM_AT(read_cache),
	AFTL_PARAM_AT(read_ahead),
};

/* A shard's part of a parameter is 0, which may disable a feature, only if the parameter is 0. */
static void divide_param_among_shards(struct aftl_config *own, u8 index, u64 count)
{
	u64 *value = aftl_config_param_ptr(own, index);

	if (*value)
		*value = max_t(u64, div64_u64(*value, count),
			       max(aftl_core_params[index].smallest, 1ULL));
}

void aftl_derive_shard_config(struct aftl_config *own, const struct aftl_config *config, u32 index)
{
	u32 i;

	*own = *config;
	if (config->shards == 1)
		return;
	own->shards = 1;
	own->seed = aftl_hash64_pair(config->seed, index);
	for (i = 0; i < ARRAY_SIZE(divided); i++)
		divide_param_among_shards(own, divided[i], config->shards);
}

static int check_shard_count(const struct aftl_config *config, struct aftl_error *error)
{
	u32 channels = (u32)config->channels;

	if (channels % (u32)config->shards)
		return aftl_fail(error, -EINVAL,
				 "shards: %u channels cannot be shared out among %u; it takes a number that divides them",
				 channels, (u32)config->shards);
	return 0;
}

u32 aftl_compute_shard_chunk_shift(const struct aftl_geometry *geo)
{
	u32 least = max(aftl_units_per_program(geo), (u32)AFTL_SHARD_CHUNK_BYTES / geo->unit_bytes);

	/* A zone lies in one shard, whose FTL orders the writes of the zone. */
	if (geo->zones)
		least = geo->zone_units;
	return (u32)fls64(least - 1);
}

/* Logical pages after the last whole chunk of a shard become over-provisioning. */
static int divide_lpns_among_shards(struct aftl_shards *shards, struct aftl_error *error)
{
	const struct aftl_geometry *geo = &shards->geo;

	shards->units = geo->units;
	if (shards->count == 1)
		return 0;
	shards->chunk_shift = aftl_compute_shard_chunk_shift(geo);
	shards->units = (u64)(geo->units >> shards->chunk_shift << shards->chunk_shift) *
			shards->count;
	if (!shards->units)
		return aftl_fail(error, -EINVAL,
				 "shards: each would have %u units, less than a run of %u; lower shards or raise blocks",
				 geo->units, 1U << shards->chunk_shift);
	return 0;
}

int aftl_shards_init(struct aftl_shards *shards, const struct aftl_config *config,
		     struct aftl_error *error)
{
	struct aftl_config own;
	int ret = check_shard_count(config, error);

	if (ret)
		return ret;
	*shards = (struct aftl_shards){ .count = (u32)config->shards };
	aftl_derive_shard_config(&own, config, 0);
	ret = aftl_geometry_init(&shards->geo, &own, error);
	return ret ? ret : divide_lpns_among_shards(shards, error);
}
