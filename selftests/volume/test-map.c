// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation pages on a volume: a clean close preserves them. After a crash all of them are
 * rebuilt in memory from OOB metadata, and programmed before host writes continue. test-crash.c
 * covers crashes at any moment.
 */
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "lib/small-volume.h"
#include "tap.h"

/* Two dies program two translation pages each, so that four may be evicted at a time. */
#define LEAVE 4
#define KEPT 12
#define TRANS_PAGES 39
#define PROGRAM_NS 700000

static const char shape[] =
	"channels=2 chips=1 blocks=64 layers=4 word_lines=4 bits=2 unit=512 page=1KiB op=40 "
	"errors=off map_cache=8KiB";

static const struct aftl_counters *map_counters(void)
{
	return test_counters(&durable.device);
}

static const struct aftl_cmt *cmt_of_device(void)
{
	return &durable.device.ftl->cmt;
}

/* Start a device on a volume on which every unit is written. */
static void start_device_with_all_units_written(const char *policy)
{
	u32 i;

	volume_open(policy, shape);
	CHECK_EQ(aftl_geometry(durable.device.ftl)->trans_pages, TRANS_PAGES);
	CHECK_EQ(cmt_of_device()->capacity, KEPT);
	for (i = 0; i < durable.unit_count; i++)
		CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, i, 1, 0, NULL), 0);
	volume_run_requests(1, 300);
}

static u64 write_first_unit(void)
{
	return test_measure_io_ns(&durable.device, AFTL_OP_WRITE, 0, 1, 0);
}

static u32 count_trans_pages_on_flash(void)
{
	const struct aftl_geometry *geo = aftl_geometry(durable.device.ftl);
	aftl_ppn_t ppn;
	u32 count = 0;
	u32 i;

	for (i = 0; i < geo->trans_pages; i++)
		count += aftl_l2p_lookup(durable.device.ftl, to_lpn(geo->units + i), &ppn);
	return count;
}

static u32 count_trans_pages_written(void)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < durable.unit_count; i++)
		count += aftl_l2p_lookup(durable.device.ftl, to_lpn(i), &(aftl_ppn_t){ 0 });
	return count;
}

/* After recovery all translation pages are in memory, except those whose program has started. */
static void check_recovered_l2p_table(const char *policy)
{
	volume_load(policy, false);
	CHECK_EQ(durable.recovery.mapped_units, count_trans_pages_written());
	CHECK_RANGE(count_trans_pages_on_flash(), LEAVE / 2, LEAVE);
	CHECK_EQ(cmt_of_device()->cached + count_trans_pages_on_flash(), TRANS_PAGES);
	CHECK_EQ(cmt_of_device()->cached - cmt_of_device()->evicting, KEPT);
	CHECK(write_first_unit() >= (TRANS_PAGES - KEPT - LEAVE) / LEAVE * PROGRAM_NS);
	CHECK_RANGE(map_counters()->programmed_map_units, TRANS_PAGES - KEPT - LEAVE, TRANS_PAGES);
	CHECK(cmt_of_device()->cached - cmt_of_device()->evicting <= KEPT);
	CHECK(cmt_of_device()->evicting <= LEAVE);
	durable_stop(&durable);
}

static void check_crash_recovery(const char *policy)
{
	start_device_with_all_units_written(policy);
	CHECK(count_trans_pages_on_flash() > TRANS_PAGES / 2);
	volume_crash_and_start(policy);
	durable_stop(&durable);
	check_recovered_l2p_table(policy);
	volume_start_device(policy);
	volume_run_requests(2, 1000);
	CHECK(map_counters()->map_loads > 0);
	CHECK_EQ(map_counters()->policy_bugs, 0);
}

/* A clean close keeps the cached translation pages; writes after it do not wait. */
static void check_cleanly_closed_volume_keeps_cmt(const char *policy)
{
	u32 cached;
	u32 flash;

	start_device_with_all_units_written(policy);
	cached = cmt_of_device()->cached;
	flash = count_trans_pages_on_flash();
	volume_close_cleanly();
	volume_start_device(policy);
	CHECK(durable.recovery.closed);
	CHECK_EQ(durable.recovery.mapped_units, count_trans_pages_written());
	CHECK_EQ(cmt_of_device()->cached, cached);
	CHECK_EQ(count_trans_pages_on_flash(), flash);
	CHECK(write_first_unit() <= 2 * PROGRAM_NS);
}

/* Power fails repeatedly while the recovery writes translation pages. */
static void crash_repeatedly_during_recovery(const char *policy)
{
	u32 i;

	start_device_with_all_units_written(policy);
	for (i = 0; i < 60; i++) {
		volume_crash_and_start(policy);
		CHECK(cmt_of_device()->cached > KEPT);
		volume_run_requests(i, i % 7);
	}
	CHECK(!aftl_is_read_only(durable.device.ftl));
	CHECK_EQ(durable.device.failed, 0);
}

/* Translation pages of the dead die are written to the other die. */
static void check_dead_die_recovery(const char *policy)
{
	u32 i;

	start_device_with_all_units_written(policy);
	CHECK_EQ(aftl_fail_lun(durable.device.ftl, 1), 0);
	for (i = 0; i < durable.unit_count; i++)
		durable.units[i].hurt = durable.units[i].newest;
	volume_crash_and_start(policy);
	test_advance_clock_by(&durable.device, 1000000000);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	CHECK(cmt_of_device()->evicting < LEAVE / 2);
}

TAP_TEST(a_volume_with_a_map_cache_refuses_other_policies)
{
	start_device_with_all_units_written("baseline");
	check_volume_keeps_policy("baseline", "separated");
}

static const char *const policies[] = { "baseline", "separated", "streams", "approxftl" };

int main(void)
{
	tap_run_test_per_name("translation pages are recovered after a crash", policies,
			      ARRAY_SIZE(policies), check_crash_recovery);
	tap_run_test_per_name("an orderly close keeps the cached translation pages", policies,
			      ARRAY_SIZE(policies), check_cleanly_closed_volume_keeps_cmt);
	tap_run_test_per_name("translation pages survive repeated crashes", policies,
			      ARRAY_SIZE(policies), crash_repeatedly_during_recovery);
	tap_run_test_per_name("translation pages of a dead die are rebuilt", policies,
			      ARRAY_SIZE(policies), check_dead_die_recovery);
	return tap_run_all();
}
