// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sectors of the backing device become unreadable: their data are lost, and no others, through
 * garbage collection, flush, close and crash, until they are written again.
 */
#include "lib/small-volume.h"
#include "stream.h"
#include "tap.h"

/* Pages that one run makes unreadable. */
#define HURT 24

static void work_unreadable(u64 seed, u32 steps)
{
	struct test_stream stream;

	test_stream_init(&stream, seed);
	while (steps-- && !tap_failures()) {
		test_stream_step(&stream, &durable.device);
		/* The host works off operations late, by a varying amount. */
		if (steps % 3)
			durable_work(&durable, steps % 7);
	}
	durable_settle(&durable);
	CHECK_EQ(durable.ret, 0);
}

static u32 hurt_some(struct aftl_random *random)
{
	u32 hurt = 0;
	u32 tries;

	for (tries = 0; tries < 50 * HURT && hurt < HURT; tries++)
		hurt += durable_hurt(&durable, (u32)aftl_random_below(random, durable.unit_count),
				     0);
	return hurt;
}

static void check_counts(u32 least)
{
	CHECK_EQ(test_do(&durable.device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_work(&durable, U32_MAX), 0);
	test_audit(&durable.device);
	durable_check(&durable);
	CHECK_RANGE(aftl_lost_units(durable.device.ftl), least, durable.lost_units);
}

/* Relocate block @block of each LUN with its lost pages. */
static void move_block(u32 block)
{
	const struct aftl_geometry *geo = aftl_geometry(durable.device.ftl);
	u32 i;

	for (i = block; i < geo->blocks; i += geo->blocks_per_lun)
		CHECK_EQ(aftl_fail_block(durable.device.ftl, i), 0);
	for (i = 0; i < geo->luns; i++)
		CHECK_EQ(aftl_start_gc(durable.device.ftl, i), 0);
	aftl_advance(durable.device.ftl, aftl_now(durable.device.ftl) + 1000000000);
	durable_settle(&durable);
}

static void start_again(const char *policy, bool scan)
{
	volume_must(durable_start(&durable, policy, scan), "start again");
	CHECK_EQ(durable.recovery.lost_units, aftl_lost_units(durable.device.ftl));
}

static void write_everything(void)
{
	u32 i;

	for (i = 0; i < durable.unit_count; i++)
		CHECK_EQ(test_do(&durable.device, AFTL_OP_WRITE, i, 1, 0, NULL), 0);
	check_counts(0);
	CHECK_EQ(durable.lost_units, 0);
}

/* Return the block of a page that is known to be lost, within its LUN. */
static u32 block_of_lost(void)
{
	const struct aftl_geometry *geo = aftl_geometry(durable.device.ftl);
	u32 unit = aftl_find_lost(durable.device.ftl, 0, geo->units - 1, true);
	u32 class;
	aftl_ppn_t ppn = aftl_lookup(durable.device.ftl, to_lpn(unit), &class);

	return from_ppn(ppn) / geo->block_ppns % geo->blocks_per_lun;
}

/* The number of lost pages, and of those that a load could find to be lost, only decreases. */
static void survive_unreadable(const char *policy, const char *shape, u64 seed)
{
	struct aftl_random random = { seed };
	u32 lost;

	volume_open(policy, shape);
	work_unreadable(seed, 900);
	CHECK_RANGE(hurt_some(&random), HURT / 2, HURT);
	check_counts(0);
	move_block(0);
	work_unreadable(seed + 1, 300);
	check_counts(1);
	move_block(block_of_lost());
	check_counts(1);
	lost = aftl_lost_units(durable.device.ftl);
	volume_shut();
	start_again(policy, seed % 2);
	CHECK_EQ(aftl_lost_units(durable.device.ftl), lost);
	CHECK_EQ(durable.recovery.closed, !(seed % 2));
	check_counts(lost);
	work_unreadable(seed + 2, 100);
	durable_crash(&durable, seed % DISK_CRASHES, &random);
	start_again(policy, false);
	check_counts(0);
	write_everything();
	volume_shut();
	start_again(policy, false);
	CHECK_EQ(durable.lost_units, 0);
}

static void each_policy_survives(u32 index)
{
	u64 seed;

	for (seed = 0; seed < SMALL_VOLUMES && !tap_failures(); seed++)
		survive_unreadable(aftl_policy_at(index)->name, small_volumes[seed],
				   seed + 5ULL * index);
}

/* Metadata */

static void hurt_sector(u64 sector)
{
	durable.disk.unreadable[sector] = true;
}

static void crash_and_check(struct aftl_random *random)
{
	durable_crash(&durable, (enum disk_crash)aftl_random_below(random, DISK_CRASHES), random);
	start_again("approxftl", false);
	CHECK_EQ(durable.recovery.state + durable.recovery.tables, 0);
}

/* A volume that opens despite a damaged sector repairs it, and loses no data. */
static void open_and_crash(u64 sector, struct aftl_random *random)
{
	hurt_sector(sector);
	start_again("approxftl", false);
	if (sector % 2)
		work_unreadable(sector, 20);
	crash_and_check(random);
	CHECK_EQ(aftl_lost_units(durable.device.ftl), 0);
	CHECK_EQ(durable.recovery.header, sector < AFTL_FRAME_STATE * AFTL_FRAME_SECTORS);
	durable.disk.unreadable[sector] = false;
}

TAP_TEST(a_closed_volume_survives_unreadable_metadata)
{
	struct aftl_random random = { 11 };
	u64 sector;

	volume_open("approxftl", small_volumes[0]);
	work_unreadable(3, 900);
	volume_shut();
	for (sector = 0; sector < durable.super.layout.data * AFTL_FRAME_SECTORS; sector += 7) {
		if (tap_failures())
			break;
		open_and_crash(sector, &random);
		volume_shut();
	}
	CHECK_RANGE(sector, 300, U64_MAX);
}

/* Each run starts from the same crash. */
TAP_TEST(a_crashed_volume_survives_unreadable_metadata)
{
	struct aftl_random random = { 12 };
	u64 spares, snapshot, sector;
	u32 refused = 0;

	volume_open("approxftl", small_volumes[0]);
	work_unreadable(4, 900);
	spares = durable.super.layout.spares * AFTL_FRAME_SECTORS;
	snapshot = durable.super.layout.snapshot * AFTL_FRAME_SECTORS;
	durable_crash(&durable, DISK_CRASH_ALL, &random);
	for (sector = 0; sector < snapshot && !tap_failures(); sector += 7) {
		if (sector < spares) {
			open_and_crash(sector, &random);
			durable_crash(&durable, DISK_CRASH_ALL, &random);
			continue;
		}
		hurt_sector(sector);
		refused += durable_start(&durable, "approxftl", false) == -ENODATA;
		durable_stop(&durable);
		durable.disk.unreadable[sector] = false;
	}
	CHECK_RANGE(refused, 15, U32_MAX);
	start_again("approxftl", false);
	CHECK_EQ(aftl_lost_units(durable.device.ftl), 0);
}

int main(void)
{
	u32 i;

	for (i = 0; aftl_policy_at(i); i++) {
		tap_begin("%s: unreadable data", aftl_policy_at(i)->name);
		each_policy_survives(i);
		tap_end();
	}
	return tap_run_all();
}
