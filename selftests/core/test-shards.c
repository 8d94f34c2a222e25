// SPDX-License-Identifier: GPL-2.0-only
/*
 * Division of a device into shards: units map one to one to shards and offsets within them.
 */
#include <string.h>

#include "core/base/random.h"
#include "core/base/shards.h"
#include "core/base/stats.h"
#include "core/policy/param-registry.h"
#include "tap.h"

static struct aftl_config make_shard_config(u64 channels, u64 shards)
{
	struct aftl_config config;
	struct aftl_error error;

	if (aftl_profile_load(&config, "demo", &error))
		tap_bail_out("%s", error.text);
	config.channels = channels;
	config.shards = shards;
	return config;
}

TAP_TEST(a_single_shard_equals_the_device)
{
	struct aftl_config config = make_shard_config(2, 1);
	struct aftl_geometry geo;
	struct aftl_shards shards;
	struct aftl_config own;
	struct aftl_error error;

	CHECK_EQ(aftl_geometry_init(&geo, &config, &error), 0);
	CHECK_EQ(aftl_shards_init(&shards, &config, &error), 0);
	CHECK_EQ(shards.units, geo.units);
	CHECK_EQ(memcmp(&shards.geo, &geo, sizeof(geo)), 0);
	aftl_derive_shard_config(&own, &config, 0);
	CHECK_EQ(memcmp(&own, &config, sizeof(own)), 0);
	CHECK_EQ(aftl_shard_of_lpn(&shards, 12345), 0);
	CHECK_EQ(aftl_lpn_within_shard(&shards, 12345), 12345);
	CHECK_EQ(aftl_count_units_to_chunk_end(&shards, 12345, 6789), 6789);
	CHECK_EQ(aftl_device_lpn_of_shard_lpn(&shards, 0, 12345), 12345);
}

/* Check that runs of units go to the shards in rotation, each unit to an address of its own. */
static void check_shard_addresses(const struct aftl_shards *shards)
{
	u32 next[64] = { 0 };
	u64 unit;

	for (unit = 0; unit < shards->units; unit++) {
		u32 index = aftl_shard_of_lpn(shards, unit);

		if (index >= shards->count ||
		    aftl_lpn_within_shard(shards, unit) != next[index]++ ||
		    aftl_device_lpn_of_shard_lpn(shards, index, next[index] - 1) != unit)
			break;
	}
	CHECK_EQ(unit, shards->units);
	CHECK_EQ(next[0], shards->units / shards->count);
	CHECK_RANGE(next[0], shards->geo.units - (1U << shards->chunk_shift) + 1,
		    shards->geo.units);
}

TAP_TEST(units_and_shard_addresses_map_one_to_one)
{
	static const u32 counts[] = { 2, 3, 4, 6, 12 };
	struct aftl_shards shards;
	struct aftl_error error;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct aftl_config config = make_shard_config(12, counts[i]);

		CHECK_EQ(aftl_shards_init(&shards, &config, &error), 0);
		CHECK_EQ(shards.count, counts[i]);
		CHECK_EQ(shards.geo.channels, 12 / counts[i]);
		CHECK_EQ(1U << shards.chunk_shift, AFTL_SHARD_CHUNK_BYTES / shards.geo.unit_bytes);
		check_shard_addresses(&shards);
	}
}

/* Compare the sizes of shards with a count of their units, one by one. */
TAP_TEST(a_range_of_the_device_is_a_range_in_each_shard)
{
	struct aftl_config config = make_shard_config(6, 3);
	struct aftl_shards shards;
	struct aftl_error error;
	u32 before[3] = { 0 };
	u32 wrong = 0;
	u64 unit;
	u32 i;

	CHECK_EQ(aftl_shards_init(&shards, &config, &error), 0);
	for (unit = 0; unit <= shards.units; unit++) {
		for (i = 0; i < 3; i++)
			wrong += aftl_count_shard_lpns_below_device_lpn(&shards, i, unit) !=
				 before[i];
		before[aftl_shard_of_lpn(&shards, unit)]++;
	}
	CHECK_EQ(wrong, 0);
}

/* Shards divide shared resources such as channels; parameters of each shard keep their value. */
TAP_TEST(shared_resources_are_divided_among_shards)
{
	struct aftl_config config = make_shard_config(8, 4);
	struct aftl_config own[2];

	config.buffer = 1 << 20;
	config.link = 2;
	config.read_cache = 0;
	config.depth = 20;
	aftl_derive_shard_config(&own[0], &config, 0);
	aftl_derive_shard_config(&own[1], &config, 1);
	CHECK_EQ(own[0].shards, 1);
	CHECK_EQ(own[0].channels, 2);
	CHECK_EQ(own[0].buffer, 1 << 18);
	CHECK_EQ(own[0].link, 1);
	CHECK_EQ(own[0].read_cache, 0);
	CHECK_EQ(own[0].depth, 16);
	CHECK_EQ(own[0].chips, config.chips);
	CHECK_EQ(own[0].controller, config.controller);
	CHECK(own[0].seed != own[1].seed);
	own[1].seed = own[0].seed;
	CHECK_EQ(memcmp(&own[0], &own[1], sizeof(own[0])), 0);
}

/* Each zone is in one shard, and zones follow each other without gaps. */
TAP_TEST(a_run_of_a_zoned_device_is_a_zone)
{
	struct aftl_config config = make_shard_config(4, 4);
	struct aftl_shards shards;
	struct aftl_error error;

	config.zoned = 1 << 20;
	config.zone_capacity = 768 << 10;
	CHECK_EQ(aftl_shards_init(&shards, &config, &error), 0);
	CHECK_EQ(1U << shards.chunk_shift, shards.geo.zone_units);
	CHECK_EQ(shards.units, (u64)shards.geo.zones * shards.geo.zone_units * 4);
	check_shard_addresses(&shards);
	CHECK_EQ(aftl_shard_of_lpn(&shards, 6 * shards.geo.zone_units), 2);
	CHECK_EQ(aftl_lpn_within_shard(&shards, 6 * shards.geo.zone_units), shards.geo.zone_units);
}

static void check_shards_refused(u64 channels, u64 shards, const char *sentence)
{
	struct aftl_config config = make_shard_config(channels, shards);
	struct aftl_shards unused;
	struct aftl_error error;

	CHECK_EQ(aftl_shards_init(&unused, &config, &error), -EINVAL);
	CHECK_CONTAINS(error.text, sentence);
}

TAP_TEST(geometries_that_shards_cannot_divide_are_refused)
{
	struct aftl_config config = make_shard_config(4, 2);
	struct aftl_geometry geo;
	struct aftl_error error;

	check_shards_refused(4, 3, "shards: 4 channels cannot be shared out among 3;");
	check_shards_refused(2, 4, "shards: 2 channels cannot be shared out among 4;");
	CHECK_EQ(aftl_geometry_init(&geo, &config, &error), -EINVAL);
	CHECK_TEXT(error.text, "shards: an FTL serves only one shard; set shards 1");
}

/* Adding the statistics of shards adds their counters, but not their histograms. */
TAP_TEST(counters_of_shards_are_added)
{
	static struct aftl_stats sum, more;
	size_t words = offsetof(struct aftl_stats, read_response) / sizeof(u64);
	size_t i;

	for (i = 0; i < sizeof(sum) / sizeof(u64); i++) {
		((u64 *)&sum)[i] = i;
		((u64 *)&more)[i] = 1ULL << 40;
	}
	aftl_stats_accumulate(&sum, &more);
	for (i = 0; i < sizeof(sum) / sizeof(u64); i++)
		CHECK_EQ(((u64 *)&sum)[i], i + ((u64)(i < words) << 40));
	CHECK_EQ(sum.counters.host_read_requests >> 40, 1);
	CHECK_EQ(sum.kind_pages[7] >> 40, 1);
	CHECK_EQ(sum.stream_units[1][AFTL_STREAMS - 1] >> 40, 1);
	CHECK_EQ(sum.handles[AFTL_HANDLES_MAX].host_units >> 40, 1);
	CHECK_EQ(sum.class_pages[AFTL_CLASSES - 1] >> 40, 1);
	CHECK_EQ(sum.since_ns >> 40, 0);
}
