// SPDX-License-Identifier: GPL-2.0-only
/*
 * Superblocks with parity on a volume: data of a dead die survive a crash, rebuilt or not; data
 * lost with two dies stay lost; parity does not move. test-crash.c covers crashes at any moment.
 */
#include <stdlib.h>

#include "core/ftl/controller.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/superblock.h"
#include "lib/small-volume.h"
#include "tap.h"

static const char shape[] =
	"channels=4 chips=1 blocks=64 layers=2 word_lines=4 superblock=4 rain=on op=80";

static void open_superblock_volume(const char *policy)
{
	volume_open(policy, shape);
	volume_run_requests(1, 1500);
}

static void fail_die_of_lun(u32 lun)
{
	CHECK_EQ(aftl_fail_lun(durable.device.ftl, lun), 0);
	test_audit_device(&durable.device);
}

static u32 count_valid_units_in_lun(u32 lun)
{
	struct aftl_lun_info info;

	aftl_get_lun_info(durable.device.ftl, lun, &info);
	return info.valid_units;
}

static void wait_for_rebuild(u32 lun)
{
	u32 last = U32_MAX;

	while (count_valid_units_in_lun(lun) && count_valid_units_in_lun(lun) != last) {
		last = count_valid_units_in_lun(lun);
		test_advance_clock_by(&durable.device, 1000000000);
		CHECK_EQ(durable_drain_all_ops(&durable), 0);
	}
}

/* Data of the dead die are read from the stripe and rebuilt after the crash; nothing is lost. */
static void check_die_failure(const char *policy)
{
	u32 held;

	open_superblock_volume(policy);
	fail_die_of_lun(1);
	held = count_valid_units_in_lun(1);
	CHECK(held > 50);
	volume_crash_and_start(policy);
	CHECK_RANGE(count_valid_units_in_lun(1), 1, held);
	wait_for_rebuild(1);
	CHECK_EQ(count_valid_units_in_lun(1), 0);
	CHECK(test_counters(&durable.device)->programmed_rebuild_units > 0);
	volume_run_requests(2, 1500);
	volume_crash_and_start(policy);
	volume_run_requests(3, 300);
	volume_close_cleanly();
	volume_start_device(policy);
	CHECK(durable.recovery.closed);
	CHECK_EQ(count_valid_units_in_lun(1), 0);
	volume_run_requests(4, 300);
	CHECK_EQ(test_counters(&durable.device)->policy_bugs, 0);
}

static bool is_unit_lost(u32 unit)
{
	return test_execute_request(&durable.device, AFTL_OP_READ, unit, 1, 0, NULL) == -EIO;
}

static u32 record_lost_units(bool *lost)
{
	u32 count = 0;
	u32 i;

	/* Allow the loss of the present data of all units. */
	for (i = 0; i < durable.unit_count; i++) {
		durable.units[i].hurt = durable.units[i].newest;
		if (lost)
			lost[i] = is_unit_lost(i);
		count += lost && lost[i];
	}
	return count;
}

/* Overwrite half of the units, so that GC frees superblocks and the other half stays valid. */
static void overwrite_first_half_of_units(void)
{
	u32 round;
	u32 i;

	for (round = 0; round < 12; round++)
		for (i = 0; i < durable.unit_count / 2; i += 4)
			CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, i, 4, 0,
						      NULL),
				 0);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
}

/* Superblocks with blocks on two dead dies are reused: lost data must not reappear. */
static void check_two_die_failures(const char *policy)
{
	bool *lost;
	u32 i;

	open_superblock_volume(policy);
	lost = calloc(durable.unit_count, sizeof(*lost));
	fail_die_of_lun(1);
	fail_die_of_lun(2);
	CHECK_MSG(record_lost_units(lost) > 20, "nothing is lost");
	overwrite_first_half_of_units();
	CHECK(test_counters(&durable.device)->gc_blocks > 20);
	record_lost_units(lost);
	volume_crash_and_start(policy);
	for (i = durable.unit_count / 2; i < durable.unit_count && !tap_failure_count(); i++)
		CHECK_MSG(!lost[i] || is_unit_lost(i), "unit %u was lost and is there again", i);
	free(lost);
}

static u32 count_parity_blocks(u8 *member)
{
	const struct aftl_geometry *geo = aftl_geometry(durable.device.ftl);
	u32 begun = 0;
	u32 i;

	memset(member, 0xff, geo->blocks_per_lun);
	for (i = 0; i < geo->blocks; i++) {
		const struct aftl_block *block = &durable.device.ftl->media.blocks[i];

		if (!block->parity || !block->programmed)
			continue;
		member[i % geo->blocks_per_lun] = (u8)(i / geo->blocks_per_lun);
		begun++;
	}
	return begun;
}

/* After a crash, parity is found on the die that has it, and further parity goes to that die. */
static void check_parity_recovered(const char *policy)
{
	u8 before[64];
	u8 after[64];
	u32 i;

	open_superblock_volume(policy);
	CHECK(count_parity_blocks(before) > 5);
	volume_crash_and_start(policy);
	count_parity_blocks(after);
	for (i = 0; i < ARRAY_SIZE(before); i++)
		CHECK_MSG(before[i] == 0xff || before[i] == after[i],
			  "parity of superblock %u was in LUN %u and is in %u", i, before[i],
			  after[i]);
	fail_die_of_lun(0);
	for (i = 0; i < durable.unit_count; i++)
		CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_READ, i, 1, 0, NULL), 0);
}

/* After a crash a die counts as dead if one of its blocks was recorded as retired. */
TAP_TEST(the_entry_of_one_block_marks_its_die_dead)
{
	struct aftl_lun_info info;

	open_superblock_volume("baseline");
	fail_die_of_lun(1);
	CHECK_EQ(durable_execute_ops(&durable, 3), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	volume_crash();
	volume_start_device("baseline");
	aftl_get_lun_info(durable.device.ftl, 1, &info);
	CHECK_EQ(info.good_blocks, 0);
}

/* The retirement of a dead die's block must be durable before a later erase, or data reappear. */
TAP_TEST(a_die_failure_is_recorded_before_an_erase)
{
	struct aftl_erase_entry entry;
	u64 commit;

	open_superblock_volume("baseline");
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	commit = aftl_volume_state(durable.volume)->commit;
	aftl_erase_entry_describe_block(&entry, durable.device.ftl, 0);
	CHECK_EQ(aftl_volume_record_erase(durable.volume, 0, &entry), 0);
	CHECK_EQ(aftl_volume_state(durable.volume)->commit, commit);
	entry.bad = true;
	CHECK_EQ(aftl_volume_record_retirement(durable.volume, 1, &entry), 0);
	CHECK_EQ(aftl_volume_record_erase(durable.volume, 0, &entry), 0);
	CHECK_EQ(aftl_volume_state(durable.volume)->commit, commit + 1);
}

/* If a die fails that has parity of an unfinished superblock, another die takes the parity over. */
static void check_live_die_takes_over_parity(const char *policy)
{
	u32 i;

	open_superblock_volume(policy);
	for (i = 1; i < 3; i++) {
		fail_die_of_lun(i);
		wait_for_rebuild(i);
		record_lost_units(NULL);
		volume_run_requests(i, 600);
		volume_crash_and_start(policy);
	}
}

/* If a dead and a living die have parity of one superblock, that of the dead die is outdated. */
TAP_TEST(of_two_parity_blocks_the_one_in_the_dead_die_is_older)
{
	const u32 each = 64;
	struct aftl *ftl;
	u32 tried = 0;
	u32 i;

	open_superblock_volume("baseline");
	ftl = durable.device.ftl;
	fail_die_of_lun(1);
	for (i = 0; i < each; i++) {
		struct aftl_block *dead = &ftl->media.blocks[each + i];
		struct aftl_block *parity_block = aftl_parity_block_of(ftl, dead);

		if (!parity_block || parity_block == dead || parity_block->erases != dead->erases)
			continue;
		dead->parity = 1;
		aftl_equalise_erase_counts_of_superblocks(ftl);
		CHECK(!dead->parity && parity_block->parity);
		tried++;
	}
	CHECK(tried > 20);
	test_audit_device(&durable.device);
}

/* Return a superblock with parity, an open block with data and free blocks, or AFTL_NIL. */
static u32 find_superblock_in_use(void)
{
	const struct aftl_geometry *geo = aftl_geometry(durable.device.ftl);
	const struct aftl_block *blocks = aftl_media(durable.device.ftl)->blocks;
	u32 number;
	u32 lun;

	for (number = 0; number < geo->blocks_per_lun; number++) {
		u32 open = 0;
		u32 free = 0;

		for (lun = 0; lun < geo->luns; lun++) {
			const struct aftl_block *block =
				&blocks[lun * geo->blocks_per_lun + number];

			open += !block->parity && block->state == AFTL_BLOCK_OPEN && block->valid;
			free += !block->parity && block->state == AFTL_BLOCK_FREE;
		}
		if (open && free)
			return number;
	}
	return AFTL_NIL;
}

/* Recovery accepts a superblock that GC closed early, some of whose blocks have no data. */
TAP_TEST(a_superblock_closed_early_is_reloaded_after_a_crash)
{
	static const char *const passes[] = { "", " passes=2" };
	char params[256];
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct aftl_block *block;
		u32 number = AFTL_NIL;
		struct aftl *ftl;
		u32 lun = 0;
		u32 unit;

		snprintf(params, sizeof(params),
			 "channels=4 chips=1 blocks=24 layers=2 word_lines=3 superblock=4 rain=on op=80 bits=4 one_shot=on page=4KiB buffer=64KiB%s",
			 passes[i]);
		volume_open("baseline", params);
		ftl = durable.device.ftl;
		for (unit = 0; number == AFTL_NIL && unit < 4096; unit += 4) {
			test_execute_request(&durable.device, AFTL_OP_WRITE,
					     unit % (durable.unit_count - 4), 4, AFTL_PRECISE,
					     NULL);
			number = find_superblock_in_use();
		}
		CHECK(number != AFTL_NIL);
		while (aftl_superblock_block(ftl, 0, number, lun)->parity ||
		       aftl_superblock_block(ftl, 0, number, lun)->state != AFTL_BLOCK_OPEN)
			lun++;
		block = aftl_superblock_block(ftl, 0, number, lun);
		CHECK(aftl_collect_superblock_of_block(ftl, block, AFTL_CAUSE_GC));
		aftl_quiesce(ftl);
		aftl_unquiesce_device(ftl);
		test_advance_clock_by(&durable.device, 20000000);
		volume_crash_and_start("baseline");
		test_audit_device(&durable.device);
		CHECK_EQ(test_device_reload(&durable.device), 0);
	}
}

TAP_TEST(a_volume_with_superblocks_refuses_other_policies)
{
	open_superblock_volume("baseline");
	check_volume_keeps_policy("baseline", "separated");
}

static const char *const policies[] = { "baseline", "separated", "cubeftl", "tvr" };

int main(void)
{
	tap_run_test_per_name("data of a dead die are recovered after a crash", policies,
			      ARRAY_SIZE(policies), check_die_failure);
	tap_run_test_per_name("data lost with two dies do not reappear", policies,
			      ARRAY_SIZE(policies), check_two_die_failures);
	tap_run_test_per_name("written parity is found after a crash", policies,
			      ARRAY_SIZE(policies), check_parity_recovered);
	tap_run_test_per_name("another die takes over the parity of a dead die", policies,
			      ARRAY_SIZE(policies), check_live_die_takes_over_parity);
	return tap_run_all();
}
