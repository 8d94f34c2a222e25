// SPDX-License-Identifier: GPL-2.0-only
/*
 * LUN failures at any time: only data on the failed LUN are lost, other requests complete, and none
 * hangs. Also tests GC on request.
 */
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define ROOMY "channels=2 chips=2 blocks=48 layers=4 word_lines=4 op=70"

static const char roomy[] = ROOMY;
static const char buffered[] = ROOMY " buffer=256KiB";
static const char fixed[] = ROOMY " allocate=static suspend=both suspend_for_write=on";
static const char full[] = "channels=2 chips=2 blocks=64 layers=4 word_lines=4 op=50";

static struct test_device device;
static struct shadow_store store;
static struct test_stream stream;

static void open_device(const char *policy, const char *params)
{
	test_open_demo_profile(&device, policy, params);
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, 11);
	stream.partial = 10;
}

static void send_requests_until_failure(u32 requests)
{
	test_stream_submit_requests(&stream, &device, requests);
}

static bool is_unit_in_lun(u32 unit, u32 lun)
{
	const struct aftl_geometry *geo = aftl_geometry(device.ftl);
	u32 class;
	aftl_ppn_t ppn = aftl_lookup(device.ftl, to_lpn(unit), &class);

	return ppn != AFTL_NO_PPN &&
	       from_ppn(ppn) / geo->block_ppns / geo->blocks_per_lun == lun;
}

/* Exactly the units mapped to @lun are unreadable, until they are written or discarded. */
static void check_lost_units(u32 lun)
{
	u32 lost = 0;
	u32 unit;

	test_drain_requests(&device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	for (unit = 0; unit < test_unit_count(&device) && !tap_failure_count(); unit++) {
		bool gone = is_unit_in_lun(unit, lun);
		struct aftl_errors errors = { 0 };

		CHECK_EQ(aftl_lpn_is_unreadable(device.ftl, to_lpn(unit)), gone);
		CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, 0, NULL),
			 gone ? -EIO : 0);
		CHECK(!gone ||
		      (aftl_get_lpn_read_errors(device.ftl, to_lpn(unit), &errors) && errors.lost));
		lost += gone;
		if (!gone || lost % 2)
			continue;
		CHECK_EQ(test_execute_request(&device, lost % 4 ? AFTL_OP_WRITE : AFTL_OP_DISCARD,
					      unit, 1, 0, NULL),
			 0);
		CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, 0, NULL), 0);
	}
	CHECK_MSG(lost > 10, "only %u units were lost", lost);
}

static void check_dead_lun(u32 lun)
{
	const struct aftl_geometry *geo = aftl_geometry(device.ftl);
	const struct aftl_block *block = &aftl_media(device.ftl)->blocks[lun * geo->blocks_per_lun];
	struct aftl_lun_info info;
	u32 i;

	for (i = 0; i < geo->blocks_per_lun; i++)
		CHECK_EQ(block[i].state, AFTL_BLOCK_BAD);
	aftl_get_lun_info(device.ftl, lun, &info);
	CHECK_EQ(info.good_blocks, 0);
	CHECK_EQ(info.free_blocks, 0);
	CHECK_EQ(info.queued, 0);
	CHECK_EQ(test_counters(&device)->retired_blocks, geo->blocks_per_lun);
}

static void fail_lun_under_load(const char *policy, const char *params)
{
	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	send_requests_until_failure(500);
	CHECK_EQ(aftl_fail_lun(device.ftl, 2), 0);
	test_audit_device(&device);
	check_dead_lun(2);
	CHECK(!aftl_is_read_only(device.ftl));
	send_requests_until_failure(1500);
	CHECK_EQ(aftl_fail_lun(device.ftl, 2), 0);
	check_dead_lun(2);
	check_lost_units(2);
	send_requests_until_failure(500);
	CHECK_EQ(aftl_fail_lun(device.ftl, 4), -EINVAL);
}

static u32 policies_with_room;

TAP_TEST(most_policies_ran_in_the_die_failure_tests)
{
	CHECK_MSG(policies_with_room >= 15, "only %u devices", policies_with_room);
}

/* Fail a LUN at many moments, with writes at every stage. */
static void fail_lun_at_random_moments(const char *params)
{
	struct aftl_random random = { 17 };
	u32 i;

	for (i = 0; i < 300 && !tap_failure_count(); i++) {
		open_device("approxftl", params);
		stream.gap_ns = 20000;
		stream.depth = 64;
		send_requests_until_failure(20 + aftl_random_below(&random, 300));
		aftl_process_events_until(device.ftl, aftl_device_time_ns(device.ftl) +
							      aftl_random_below(&random, 1000000));
		CHECK_EQ(aftl_fail_lun(device.ftl, aftl_random_below(&random, 4)), 0);
		test_audit_device(&device);
		send_requests_until_failure(100);
	}
}

TAP_TEST(a_lun_failure_at_any_time_loses_only_its_data)
{
	fail_lun_at_random_moments(roomy);
	fail_lun_at_random_moments(buffered);
	fail_lun_at_random_moments(fixed);
}

/* Too few LUNs remain: the device is read-only, and only data of failed LUNs are lost. */
TAP_TEST(a_device_with_too_few_luns_is_read_only)
{
	open_device("baseline", full);
	store.full_disk = true;
	test_stream_write_all_units(&stream, &device);
	test_drain_requests(&device);
	CHECK_EQ(aftl_fail_lun(device.ftl, 0), 0);
	CHECK_EQ(aftl_fail_lun(device.ftl, 3), 0);
	CHECK(aftl_is_read_only(device.ftl));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 1, 0, NULL), -ENOSPC);
	send_requests_until_failure(300);
	CHECK_EQ(aftl_fail_lun(device.ftl, 1), 0);
	CHECK_EQ(aftl_fail_lun(device.ftl, 2), 0);
	send_requests_until_failure(300);
	test_drain_requests(&device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, 8, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 8, 0, NULL), 0);
}

TAP_TEST(a_dead_lun_is_saved_and_loaded)
{
	u64 digest;

	open_device("vth_b", roomy);
	test_stream_write_all_units(&stream, &device);
	CHECK_EQ(aftl_fail_lun(device.ftl, 1), 0);
	test_drain_requests(&device);
	digest = aftl_compute_device_digest(device.ftl);
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(aftl_compute_device_digest(device.ftl), digest);
	check_lost_units(1);
	send_requests_until_failure(500);
}

static u32 count_free_blocks_of_lun(u32 lun)
{
	return test_lun_info(&device, lun).free_blocks;
}

static void check_requested_gc(const char *policy, const char *params)
{
	u32 before[4];
	u32 i;

	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	send_requests_until_failure(1500);
	test_drain_requests(&device);
	test_advance_clock_by(&device, 1000000000);
	for (i = 0; i < 4; i++)
		before[i] = count_free_blocks_of_lun(i);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 1), 0);
	CHECK(aftl_count_luns_in_gc(device.ftl));
	/* GC on request continues after quiesce and resume, although no host request arrives. */
	aftl_quiesce(device.ftl);
	aftl_unquiesce_device(device.ftl);
	CHECK(aftl_count_luns_in_gc(device.ftl));
	for (i = 0; i < 1000000 && aftl_count_luns_in_gc(device.ftl); i++)
		if (!test_process_event(&device))
			break;
	CHECK(!aftl_count_luns_in_gc(device.ftl));
	CHECK_MSG(count_free_blocks_of_lun(1) > before[1], "%u free blocks become %u", before[1],
		  count_free_blocks_of_lun(1));
	CHECK_EQ(count_free_blocks_of_lun(2), before[2]);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 1), 0);
	CHECK(!aftl_count_luns_in_gc(device.ftl));
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 4), -EINVAL);
}

int main(void)
{
	policies_with_room += test_run_with_each_policy("a LUN dies", roomy, fail_lun_under_load);
	policies_with_room +=
		test_run_with_each_policy("a LUN dies, with a buffer", buffered,
					  fail_lun_under_load);
	policies_with_room += test_run_with_each_policy("a LUN dies, writes go by address", fixed,
							fail_lun_under_load);
	policies_with_room += test_run_with_each_policy("garbage is collected on request", roomy,
							check_requested_gc);
	return tap_run_all();
}
