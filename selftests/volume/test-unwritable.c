// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sectors of the backing device become unwritable: their blocks are retired, and no data are lost
 * by garbage collection, flush, close or crash, until there is no good block left.
 */
#include "lib/small-volume.h"
#include "stream.h"
#include "tap.h"

static void work_unwritable(u64 seed, u32 steps)
{
	struct test_stream stream;

	test_stream_init(&stream, seed);
	while (steps-- && !tap_failures()) {
		test_stream_step(&stream, &durable.device);
		if (steps % 3)
			durable_work(&durable, steps % 7);
	}
	CHECK_EQ(durable.ret, 0);
}

static void wear_sectors(u32 count, struct aftl_random *random)
{
	u64 first = durable.super.layout.data * AFTL_FRAME_SECTORS;
	u64 end = durable.super.layout.frames * AFTL_FRAME_SECTORS;

	while (count--)
		durable.disk.unwritable[first + aftl_random_below(random, end - first)] = true;
}

/* Remapped data in a retired block would never be relocated. */
static void none_in_retired(void)
{
	const struct aftl_media *media = aftl_media(durable.device.ftl);
	u32 block = aftl_volume_next_remapped(durable.volume, 0);

	for (; block != U32_MAX; block = aftl_volume_next_remapped(durable.volume, block + 1))
		CHECK(media->blocks[block].state != AFTL_BLOCK_BAD);
}

static void check_all(void)
{
	CHECK_EQ(durable_settle(&durable), 0);
	CHECK_EQ(test_do(&durable.device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_work(&durable, U32_MAX), 0);
	none_in_retired();
	test_audit(&durable.device);
	durable_check(&durable);
	CHECK_EQ(durable.lost_units, 0);
}

/* Make one copy of the remap table unreadable. Some unwritable sectors become good again. */
static void crash_unwritable(struct aftl_random *random)
{
	u64 tables = durable.super.layout.snapshot * AFTL_FRAME_SECTORS;
	u32 sectors = AFTL_REMAP_COPIES * AFTL_FRAME_SECTORS;

	durable_crash(&durable, (enum disk_crash)aftl_random_below(random, DISK_CRASHES), random);
	memset(durable.disk.unreadable + tables, false, sectors);
	durable.disk.unreadable[tables + aftl_random_below(random, sectors)] = true;
	if (aftl_random_below(random, 2))
		memset(durable.disk.unwritable, false, durable.disk.medium.bytes / DISK_SECTOR);
}

static u32 survive_unwritable(const char *policy, const char *shape, u64 seed)
{
	struct aftl_random random = { seed };
	u32 displaced;
	u32 round;

	volume_open(policy, shape);
	work_unwritable(seed, 300);
	for (round = 0; round < 9 && !tap_failures(); round++) {
		wear_sectors(2, &random);
		work_unwritable(seed + round, 250);
		if (round % 3 == 1)
			volume_shut();
		else if (round % 3 == 2)
			crash_unwritable(&random);
		if (round % 3)
			volume_start(policy);
		if (round % 2)
			check_all();
	}
	check_all();
	displaced = durable.displaced;
	return displaced;
}

static void each_policy_survives(u32 index)
{
	u32 displaced = 0;
	u64 seed;

	for (seed = 0; seed < 2 * SMALL_VOLUMES && !tap_failures(); seed++)
		displaced += survive_unwritable(aftl_policy_at(index)->name,
						small_volumes[seed % SMALL_VOLUMES],
						seed + 16ULL * index);
	CHECK_RANGE(displaced, 20, U32_MAX);
}

int main(void)
{
	u32 i;

	for (i = 0; aftl_policy_at(i); i++) {
		tap_begin("%s: unwritable sectors", aftl_policy_at(i)->name);
		each_policy_survives(i);
		tap_end();
	}
	return tap_finish();
}
