// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sectors of the backing device fail. Only data in unreadable sectors are lost, through garbage
 * collection, flush, close and crash, until they are written again. Blocks with unwritable sectors
 * are retired, and no data are lost until no good block is left. Units that a fault made
 * uncorrectable stay uncorrectable after a crash.
 */
#include "lib/small-volume.h"
#include "stream.h"
#include "tap.h"

/* Number of pages that one run of the test makes unreadable. */
#define HURT 24

/* Send requests, while the host executes the volume's operations with a random delay. */
static void run_requests_on_slow_host(u64 seed, u32 steps)
{
	struct test_stream stream;

	test_stream_init(&stream, seed);
	while (steps-- && !tap_failure_count()) {
		test_stream_submit_request(&stream, &durable.device);
		if (steps % 3)
			durable_execute_ops(&durable, steps % 7);
	}
	CHECK_EQ(durable.ret, 0);
}

static void run_requests_on_slow_host_and_drain(u64 seed, u32 steps)
{
	run_requests_on_slow_host(seed, steps);
	durable_drain_all_ops(&durable);
	CHECK_EQ(durable.ret, 0);
}

static u32 damage_random_sectors(struct aftl_random *random)
{
	u32 hurt = 0;
	u32 tries;

	for (tries = 0; tries < 50 * HURT && hurt < HURT; tries++)
		hurt += durable_damage_sector(&durable,
					      (u32)aftl_random_below(random, durable.unit_count),
					      0);
	return hurt;
}

static void check_lost_unit_counts(u32 least)
{
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_execute_ops(&durable, U32_MAX), 0);
	test_audit_device(&durable.device);
	durable_check_all_data(&durable);
	CHECK_RANGE(aftl_count_lost_units(durable.device.ftl), least, durable.lost_units);
}

/* Relocate the data of block @block of each LUN, including lost pages. */
static void relocate_block_of_each_lun(u32 block)
{
	const struct aftl_geometry *geo = aftl_geometry(durable.device.ftl);
	u32 i;

	for (i = block; i < geo->blocks; i += geo->blocks_per_lun)
		CHECK_EQ(aftl_fail_block(durable.device.ftl, i), 0);
	for (i = 0; i < geo->luns; i++)
		CHECK_EQ(aftl_start_lun_gc(durable.device.ftl, i), 0);
	aftl_process_events_until(durable.device.ftl,
				  aftl_device_time_ns(durable.device.ftl) + 1000000000);
	durable_drain_all_ops(&durable);
}

static void reload_and_start_device(const char *policy, bool scan)
{
	volume_exit_on_error(durable_start_device(&durable, policy, scan), "start again");
	CHECK_EQ(durable.recovery.lost_units, aftl_count_lost_units(durable.device.ftl));
}

static void write_all_units(void)
{
	u32 i;

	for (i = 0; i < durable.unit_count; i++)
		CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, i, 1, 0, NULL), 0);
	check_lost_unit_counts(0);
	CHECK_EQ(durable.lost_units, 0);
}

/* Return the number within its LUN of a block that has a page known to be lost. */
static u32 find_block_of_lost_page(void)
{
	const struct aftl_geometry *geo = aftl_geometry(durable.device.ftl);
	u32 unit = aftl_find_lost_lpns(durable.device.ftl, 0, geo->units - 1, true);
	u32 class;
	aftl_ppn_t ppn = aftl_lookup(durable.device.ftl, to_lpn(unit), &class);

	return from_ppn(ppn) / geo->block_ppns % geo->blocks_per_lun;
}

/* Make sectors unreadable: later no further page is lost, and a load finds all lost pages. */
static void check_unreadable_sectors(const char *policy, const char *shape, u64 seed)
{
	struct aftl_random random = { seed };
	u32 lost;

	volume_open(policy, shape);
	run_requests_on_slow_host_and_drain(seed, 900);
	CHECK_RANGE(damage_random_sectors(&random), HURT / 2, HURT);
	check_lost_unit_counts(0);
	relocate_block_of_each_lun(0);
	run_requests_on_slow_host_and_drain(seed + 1, 300);
	check_lost_unit_counts(1);
	relocate_block_of_each_lun(find_block_of_lost_page());
	check_lost_unit_counts(1);
	lost = aftl_count_lost_units(durable.device.ftl);
	volume_close_cleanly();
	reload_and_start_device(policy, seed % 2);
	CHECK_EQ(aftl_count_lost_units(durable.device.ftl), lost);
	CHECK_EQ(durable.recovery.closed, !(seed % 2));
	check_lost_unit_counts(lost);
	run_requests_on_slow_host_and_drain(seed + 2, 100);
	durable_crash(&durable, seed % DISK_CRASHES, &random);
	reload_and_start_device(policy, false);
	check_lost_unit_counts(0);
	write_all_units();
	volume_close_cleanly();
	reload_and_start_device(policy, false);
	CHECK_EQ(durable.lost_units, 0);
}

static void check_unreadable_sectors_with_policy(const char *policy, const char *params)
{
	static u64 calls;
	u64 seed;

	for (seed = 0; seed < SMALL_VOLUMES && !tap_failure_count(); seed++)
		check_unreadable_sectors(policy, small_volumes[seed], seed + 5 * calls);
	calls++;
}

/*
 * Pages that faults made uncorrectable stay uncorrectable after a crash, because a commit records
 * them even if nothing is programmed.
 */
static void check_faults_survive_crash(const char *policy, const char *shape, u64 seed)
{
	struct aftl_random random = { seed };
	u32 failed = 0;
	u32 i;

	volume_open(policy, shape);
	run_requests_on_slow_host_and_drain(seed, 600);
	for (i = 0; i < 50 * HURT && failed < HURT; i++)
		failed += durable_fail_unit(&durable, (u32)aftl_random_below(&random,
									     durable.unit_count));
	CHECK_RANGE(failed, HURT / 2, HURT);
	check_lost_unit_counts(failed);
	durable_crash(&durable, DISK_CRASH_ALL, &random);
	reload_and_start_device(policy, false);
	check_lost_unit_counts(failed);
	run_requests_on_slow_host_and_drain(seed + 1, 300);
	check_lost_unit_counts(0);
	volume_close_cleanly();
	reload_and_start_device(policy, false);
	check_lost_unit_counts(0);
}

static void check_faults_survive_crash_of_each_volume(const char *policy, const char *params)
{
	u64 seed;

	for (seed = 0; seed < SMALL_VOLUMES && !tap_failure_count(); seed++)
		check_faults_survive_crash(policy, small_volumes[seed], seed);
	if (!strcmp(policy, "baseline"))
		check_faults_survive_crash(policy, "channels=4 blocks=40 layers=4 word_lines=2 "
					   "op=60 rain=on superblock=4", seed);
}

/* Metadata */

static void damage_sector(u64 sector)
{
	durable.disk.unreadable[sector] = true;
}

static void crash_and_check_device(struct aftl_random *random)
{
	durable_crash(&durable, (enum disk_crash)aftl_random_below(random, DISK_CRASHES), random);
	reload_and_start_device("approxftl", false);
	CHECK_EQ(durable.recovery.state + durable.recovery.tables, 0);
}

/* A volume that opens despite a damaged sector repairs it, and loses no data. */
static void open_damaged_volume_and_crash(u64 sector, struct aftl_random *random)
{
	damage_sector(sector);
	reload_and_start_device("approxftl", false);
	if (sector % 2)
		run_requests_on_slow_host_and_drain(sector, 20);
	crash_and_check_device(random);
	CHECK_EQ(aftl_count_lost_units(durable.device.ftl), 0);
	CHECK_EQ(durable.recovery.header, sector < AFTL_FRAME_STATE * AFTL_FRAME_SECTORS);
	durable.disk.unreadable[sector] = false;
}

TAP_TEST(a_closed_volume_survives_unreadable_metadata)
{
	struct aftl_random random = { 11 };
	u64 sector;

	volume_open("approxftl", small_volumes[0]);
	run_requests_on_slow_host_and_drain(3, 900);
	volume_close_cleanly();
	for (sector = 0; sector < durable.super.layout.data * AFTL_FRAME_SECTORS; sector += 7) {
		if (tap_failure_count())
			break;
		open_damaged_volume_and_crash(sector, &random);
		volume_close_cleanly();
	}
	CHECK_RANGE(sector, 300, U64_MAX);
}

/* If metadata of a crashed volume are unreadable, the volume is refused, or has all its data. */
TAP_TEST(a_crashed_volume_survives_unreadable_metadata)
{
	struct aftl_random random = { 12 };
	u64 spares, snapshot, sector;
	u32 refused = 0;

	volume_open("approxftl", small_volumes[0]);
	run_requests_on_slow_host_and_drain(4, 900);
	spares = durable.super.layout.spares * AFTL_FRAME_SECTORS;
	snapshot = durable.super.layout.snapshot * AFTL_FRAME_SECTORS;
	durable_crash(&durable, DISK_CRASH_ALL, &random);
	for (sector = 0; sector < snapshot && !tap_failure_count(); sector += 7) {
		if (sector < spares) {
			open_damaged_volume_and_crash(sector, &random);
			durable_crash(&durable, DISK_CRASH_ALL, &random);
			continue;
		}
		damage_sector(sector);
		refused += durable_start_device(&durable, "approxftl", false) == -ENODATA;
		durable_stop(&durable);
		durable.disk.unreadable[sector] = false;
	}
	CHECK_RANGE(refused, 15, U32_MAX);
	reload_and_start_device("approxftl", false);
	CHECK_EQ(aftl_count_lost_units(durable.device.ftl), 0);
}

/* Unwritable sectors */

static void make_sectors_unwritable(u32 count, struct aftl_random *random)
{
	u64 first = durable.super.layout.data * AFTL_FRAME_SECTORS;
	u64 end = durable.super.layout.frames * AFTL_FRAME_SECTORS;

	while (count--)
		durable.disk.unwritable[first + aftl_random_below(random, end - first)] = true;
}

/* Check that no remapped data are in a retired block, where they would never be relocated. */
static void check_no_remap_in_retired_blocks(void)
{
	const struct aftl_media *media = aftl_media(durable.device.ftl);
	u32 block = aftl_volume_find_next_remapped_block(durable.volume, 0);

	for (; block != U32_MAX;
	     block = aftl_volume_find_next_remapped_block(durable.volume, block + 1))
		CHECK(media->blocks[block].state != AFTL_BLOCK_BAD);
}

static void commit_data_and_check_no_unit_lost(void)
{
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_execute_ops(&durable, U32_MAX), 0);
	check_no_remap_in_retired_blocks();
	test_audit_device(&durable.device);
	durable_check_all_data(&durable);
	CHECK_EQ(durable.lost_units, 0);
}

/* Crash, make a copy of the remap table unreadable, and perhaps repair unwritable sectors. */
static void crash_and_damage_remap_table(struct aftl_random *random)
{
	u64 tables = durable.super.layout.snapshot * AFTL_FRAME_SECTORS;
	u32 sectors = AFTL_REMAP_COPIES * AFTL_FRAME_SECTORS;

	durable_crash(&durable, (enum disk_crash)aftl_random_below(random, DISK_CRASHES), random);
	memset(durable.disk.unreadable + tables, false, sectors);
	durable.disk.unreadable[tables + aftl_random_below(random, sectors)] = true;
	if (aftl_random_below(random, 2))
		memset(durable.disk.unwritable, false, durable.disk.medium.bytes / DISK_SECTOR);
}

static u32 check_unwritable_sectors(const char *policy, const char *shape, u64 seed)
{
	struct aftl_random random = { seed };
	u32 displaced;
	u32 round;

	volume_open(policy, shape);
	run_requests_on_slow_host(seed, 300);
	for (round = 0; round < 9 && !tap_failure_count(); round++) {
		make_sectors_unwritable(2, &random);
		run_requests_on_slow_host(seed + round, 250);
		if (round % 3 == 1)
			volume_close_cleanly();
		else if (round % 3 == 2)
			crash_and_damage_remap_table(&random);
		if (round % 3)
			volume_start_device(policy);
		if (round % 2)
			commit_data_and_check_no_unit_lost();
	}
	commit_data_and_check_no_unit_lost();
	displaced = durable.displaced;
	return displaced;
}

static void check_unwritable_sectors_with_policy(const char *policy, const char *params)
{
	static u64 calls;
	u32 displaced = 0;
	u64 seed;

	for (seed = 0; seed < 2 * SMALL_VOLUMES && !tap_failure_count(); seed++)
		displaced += check_unwritable_sectors(policy, small_volumes[seed % SMALL_VOLUMES],
						      seed + 16 * calls);
	calls++;
	CHECK_RANGE(displaced, 20, U32_MAX);
}

int main(void)
{
	test_run_with_each_policy("unreadable data", NULL, check_unreadable_sectors_with_policy);
	test_run_with_each_policy("units that a fault made uncorrectable", NULL,
				  check_faults_survive_crash_of_each_volume);
	test_run_with_each_policy("unwritable sectors", NULL, check_unwritable_sectors_with_policy);
	return tap_run_all();
}
