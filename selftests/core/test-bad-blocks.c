// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that are bad from the factory, fail or wear out until none is left: data stay readable and
 * no request hangs.
 */
#include "bytes.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SMALL "channels=2 chips=1 blocks=64 layers=4 word_lines=4"

static const char small[] = SMALL " op=60";
static const char small_buffered[] = SMALL " op=60 buffer=64KiB";
static const char small_three_bits[] = SMALL " op=60 bits=3 one_shot=on zone1=2ms zone2=9ms";

static struct test_device device;
static struct shadow_store store;
static struct test_stream stream;

static void read_all_units(struct test_listener *self)
{
	u32 all = test_unit_count(&device);
	u32 unit;

	for (unit = 0; unit < all; unit += 8)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, min(8U, all - unit), 0,
					      NULL),
			 0);
}

static void open_device(const char *policy, const char *params)
{
	static struct test_listener reader = { .finish = read_all_units };

	test_open_demo_profile(&device, policy, params);
	shadow_attach_to_device(&store, &device, false);
	test_device_add_listener(&device, &reader);
	test_stream_init(&stream, 7);
}

static void send_requests_to_worn_device(u32 requests)
{
	test_stream_submit_requests(&stream, &device, requests);
}

static const struct aftl_block *block_at(u32 index)
{
	return &aftl_media(device.ftl)->blocks[index];
}

static u32 count_bad_blocks(void)
{
	u32 bad = 0;
	u32 i;

	for (i = 0; i < aftl_geometry(device.ftl)->blocks; i++)
		bad += block_at(i)->state == AFTL_BLOCK_BAD;
	return bad;
}

static u32 count_factory_bad_blocks(const char *seed, const char *share)
{
	u32 bad;

	test_device_init(&device, "demo");
	test_device_set_param_text(&device, "op", "60");
	test_device_set_param_text(&device, "seed", seed);
	test_device_set_param_text(&device, "bad", share);
	CHECK_EQ(test_device_create(&device, "baseline"), 0);
	bad = count_bad_blocks();
	return bad;
}

/* The number of bad blocks among 512 is binomial; allow four standard deviations. */
TAP_TEST(the_number_of_factory_bad_blocks_is_as_configured)
{
	CHECK_EQ(count_factory_bad_blocks("1", "0"), 0);
	CHECK_RANGE(count_factory_bad_blocks("1", "0.1"), 51 - 28, 51 + 28);
	CHECK_RANGE(count_factory_bad_blocks("2", "0.02"), 1, 24);
	CHECK_EQ(count_factory_bad_blocks("1", "0.1"), count_factory_bad_blocks("1", "0.1"));
}

TAP_TEST(bad_blocks_are_never_programmed)
{
	u32 i;

	open_device("vth_b", SMALL " op=60 bad=0.1");
	CHECK(count_bad_blocks() > 3);
	send_requests_to_worn_device(3000);
	for (i = 0; i < aftl_geometry(device.ftl)->blocks; i++)
		if (block_at(i)->state == AFTL_BLOCK_BAD)
			CHECK_EQ(block_at(i)->programmed + block_at(i)->erases, 0);
	CHECK_EQ(test_counters(&device)->retired_blocks, 0);
}

static u32 find_block_in_state(u8 state)
{
	u32 i;

	for (i = 0; i < aftl_geometry(device.ftl)->blocks; i++)
		if (block_at(i)->state == state && !block_at(i)->failing &&
		    (state != AFTL_BLOCK_CLOSED || block_at(i)->valid))
			return i;
	tap_bail_out("no block is in state %u", state);
	return 0;
}

static void fail_block_in_state(u8 state)
{
	u64 retired = test_counters(&device)->retired_blocks;
	u32 index = find_block_in_state(state);
	u32 events = 0;

	CHECK_EQ(aftl_fail_block(device.ftl, index), 0);
	CHECK_EQ(aftl_fail_block(device.ftl, index), 0);
	while (block_at(index)->state != AFTL_BLOCK_BAD && events++ < 20000 &&
	       test_process_event(&device))
		;
	CHECK_MSG(block_at(index)->state == AFTL_BLOCK_BAD, "a block in state %u is not retired",
		  state);
	CHECK_EQ(block_at(index)->valid, 0);
	CHECK_EQ(test_counters(&device)->retired_blocks, retired + 1);
	test_audit_device(&device);
}

static void check_data_after_block_failures(const char *policy, const char *params)
{
	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	send_requests_to_worn_device(500);
	fail_block_in_state(AFTL_BLOCK_FREE);
	fail_block_in_state(AFTL_BLOCK_CLOSED);
	fail_block_in_state(AFTL_BLOCK_OPEN);
	send_requests_to_worn_device(500);
	fail_block_in_state(AFTL_BLOCK_OPEN);
	send_requests_to_worn_device(500);
	CHECK_EQ(aftl_fail_block(device.ftl, aftl_geometry(device.ftl)->blocks), -EINVAL);
	CHECK_EQ(aftl_fail_block(device.ftl, U32_MAX), -EINVAL);
	CHECK(!aftl_is_read_only(device.ftl));
	CHECK_EQ(device.failed, 0);
}

static u32 count_free_pages_of_open_block(const struct aftl_lun *lun)
{
	const struct aftl_block *open = block_at(find_block_in_state(AFTL_BLOCK_OPEN));

	return aftl_block_lun(device.ftl, open) == lun ?
		       aftl_geometry(device.ftl)->pages - open->programmed : 0;
}

/*
 * The first relocation finds no open block for relocated data, and all free blocks have failed: it
 * uses the open block of host writes.
 */
static void check_open_block_is_used(const char *params)
{
	struct aftl_lun *lun;
	u32 unit = 0;
	u32 i;

	open_device("separated", params);
	lun = &device.ftl->luns[0];
	test_stream_write_all_units(&stream, &device);
	while (lun->free_blocks > 4 || count_free_pages_of_open_block(lun) < 12)
		test_write_each_unit(&device, unit++ * 7 % test_unit_count(&device), 1,
				     AFTL_PRECISE);
	CHECK_EQ(test_counters(&device)->gc_blocks, 0);
	for (i = 0; i < aftl_geometry(device.ftl)->blocks_per_lun; i++)
		if (block_at(i)->state == AFTL_BLOCK_FREE)
			CHECK_EQ(aftl_fail_block(device.ftl, i), 0);
	CHECK_EQ(lun->free_blocks, 0);
	for (i = 0; i < 100; i++)
		test_write_each_unit(&device, unit++ * 7 % test_unit_count(&device), 1,
				     AFTL_PRECISE);
	CHECK(!aftl_is_read_only(device.ftl));
	CHECK_EQ(device.failed, 0);
	CHECK_RANGE(lun->free_blocks, 1, U32_MAX);
}

TAP_TEST(without_a_free_block_relocation_uses_an_open_one)
{
	check_open_block_is_used(SMALL " channels=1 unit=0 op=28 gc=0");
}

TAP_TEST(without_a_free_block_superblock_gc_uses_an_open_one)
{
	check_open_block_is_used(SMALL " superblock=2 unit=0 op=28 gc=0");
}

TAP_TEST(without_a_free_block_gc_with_two_passes_uses_an_open_one)
{
	check_open_block_is_used(SMALL " channels=1 unit=0 op=28 gc=0 bits=4 one_shot=on passes=2 "
				       "buffer=256KiB");
}

/* Number of open blocks that failed while their LUN had no free block. */
static u32 last_blocks_failed;

/*
 * GC has taken the last free block of a LUN, and this block fails before GC has erased its victim:
 * GC goes on in a block that was closed before it was full, or else in the failing block itself.
 */
static void check_last_free_block_fails(const char *policy, const char *params)
{
	u32 per_lun, writes, i;
	struct aftl_lun *lun;

	open_device(policy, test_format_params("%s channels=1 gc=0", params));
	lun = &device.ftl->luns[0];
	per_lun = aftl_geometry(device.ftl)->blocks_per_lun;
	test_stream_write_all_units(&stream, &device);
	for (writes = 0; lun->free_blocks && writes < 20000; writes++)
		test_stream_submit_request(&stream, &device);
	for (i = 0; !lun->free_blocks && i < per_lun; i++)
		if (block_at(i)->state == AFTL_BLOCK_OPEN && block_at(i) != lun->reloc.from) {
			CHECK_EQ(aftl_fail_block(device.ftl, i), 0);
			last_blocks_failed++;
		}
	send_requests_to_worn_device(500);
	test_drain_requests(&device);
	CHECK_EQ(lun->failing_blocks, 0);
	CHECK(!aftl_is_read_only(device.ftl));
	CHECK_EQ(device.failed, 0);
}

/*
 * All open blocks of a LUN without a free block fail. Retiring them takes more pages than one free
 * block has, so GC has to free a block before each retirement.
 */
TAP_TEST(all_open_blocks_fail_with_placement_handles)
{
	static const char *const params[] = {
		SMALL " op=60 placement_handles=1",
		SMALL " op=60 placement_handles=2",
		SMALL " op=60 placement_handles=4",
		SMALL " op=60 placement_handles=1 placement_isolation=persistent",
		SMALL " op=60 placement_handles=2 placement_isolation=persistent",
		SMALL " op=60 placement_handles=4 placement_isolation=persistent",
		SMALL " op=60 placement_handles=4 victim=fifo",
		SMALL " op=60 chips=2 superblock=2 placement_handles=4",
		SMALL " op=60 chips=2 superblock=2 rain=on placement_handles=4",
		SMALL " op=60 bits=4 one_shot=on passes=2 buffer=256KiB placement_handles=1",
		SMALL " op=60 bits=4 one_shot=on passes=2 buffer=256KiB placement_handles=2",
		SMALL " op=60 bits=4 one_shot=on passes=2 buffer=256KiB placement_handles=4",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		last_blocks_failed = 0;
		check_last_free_block_fails("separated", params[i]);
		CHECK_MSG(last_blocks_failed > 1, "with %s only %u open blocks fail", params[i],
			  last_blocks_failed);
	}
}

/* GC of an isolated handle finds no page of this handle, and no free block. */
TAP_TEST(isolated_data_leave_their_handle_rather_than_be_lost)
{
	static const char params[] = SMALL " op=60 bits=4 one_shot=on passes=2 buffer=256KiB "
					   "seed=1 placement_handles=2 "
					   "placement_isolation=persistent";

	check_last_free_block_fails("streams", params);
	check_last_free_block_fails("midas", params);
}

/*
 * Host writes never pause, so that each block that GC frees is in demand. The failing block waits
 * for GC of another block.
 */
TAP_TEST(a_block_that_fails_under_constant_writes_is_retired)
{
	struct aftl_victim_candidates closed = { .most_valid = U32_MAX };
	struct aftl_lun *lun;
	u32 index;

	open_device("separated", SMALL " op=60 channels=1 gc=0");
	lun = &device.ftl->luns[0];
	stream.read = 0;
	stream.discard = 0;
	stream.gap_ns = 0;
	test_stream_write_all_units(&stream, &device);
	while (!test_counters(&device)->gc_blocks)
		test_stream_submit_request(&stream, &device);
	index = find_block_in_state(AFTL_BLOCK_CLOSED);
	closed.policy = device.ftl->policy;
	closed.lun = lun;
	CHECK(aftl_victim_candidates_contain(&closed, block_at(index)));
	CHECK_EQ(aftl_fail_block(device.ftl, index), 0);
	CHECK_EQ(block_at(index)->listed, 1);
	CHECK(!aftl_victim_candidates_contain(&closed, block_at(index)));
	send_requests_to_worn_device(500);
	CHECK_RANGE(lun->pending_write_lanes, 1, U32_MAX);
	CHECK_EQ(lun->failing_blocks, 0);
	CHECK_EQ(device.failed, 0);
}

/* All closed blocks are full of valid pages, so that GC has no victim. */
TAP_TEST(a_failing_block_is_retired_without_a_gc_victim)
{
	const struct aftl_lun *lun;
	u32 i;

	open_device("baseline", SMALL " op=60");
	lun = &device.ftl->luns[0];
	stream.approx = 0;
	test_stream_write_all_units(&stream, &device);
	test_drain_requests(&device);
	for (i = 0; lun->free_blocks > 1; i++)
		if (block_at(i)->state == AFTL_BLOCK_FREE)
			CHECK_EQ(aftl_fail_block(device.ftl, i), 0);
	fail_block_in_state(AFTL_BLOCK_CLOSED);
	CHECK(!aftl_is_read_only(device.ftl));
	CHECK_EQ(device.failed, 0);
}

TAP_TEST(the_last_free_block_fails_with_optional_parts_of_the_controller)
{
	static const char *const parts[] = {
		SMALL " op=60 map_cache=64KiB",
		SMALL " op=60 bits=4 one_shot=on passes=2 buffer=256KiB",
		SMALL " op=60 bits=3 one_shot=on slc_static=4%",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		last_blocks_failed = 0;
		check_last_free_block_fails("separated", parts[i]);
		CHECK_MSG(last_blocks_failed, "with %s a LUN always has a free block", parts[i]);
	}
}

/* Fail random blocks while requests are in progress. */
static void check_blocks_fail_under_load(const char *policy, const char *params)
{
	struct aftl_random random = { 3 };
	u32 i;

	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	for (i = 0; i < 8; i++) {
		u32 index = aftl_random_below(&random, aftl_geometry(device.ftl)->blocks);

		send_requests_to_worn_device(100);
		CHECK_EQ(aftl_fail_block(device.ftl, index), 0);
	}
	send_requests_to_worn_device(1000);
	CHECK_EQ(device.failed, 0);
}

/* After the loss of data in a volatile write buffer every flush must fail. */
static void check_read_only_device(void)
{
	u64 latency = 1;
	int flushed;

	CHECK(aftl_is_read_only(device.ftl));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 1, 0, &latency), -ENOSPC);
	CHECK_EQ(latency, 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, 1, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, 0, NULL), 0);
	test_drain_requests(&device);
	flushed = test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL);
	CHECK(!flushed || flushed == -EIO);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), flushed);
}

/* Several flushes wait for buffered writes that no block can store any more. */
TAP_TEST(every_flush_fails_after_write_buffer_data_were_lost)
{
	struct test_request *flushes[3];
	u32 i;

	open_device("baseline", small_buffered);
	store.full_disk = true;
	test_stream_write_all_units(&stream, &device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 8, 1, 0, NULL), 0);
	for (i = 0; i < aftl_geometry(device.ftl)->blocks; i++)
		CHECK_EQ(aftl_fail_block(device.ftl, i), 0);
	for (i = 0; i < ARRAY_SIZE(flushes); i++)
		flushes[i] = test_submit_kept(&device, AFTL_OP_FLUSH, 0, 0, 0, 0,
					      aftl_device_time_ns(device.ftl));
	test_drain_requests(&device);
	for (i = 0; i < ARRAY_SIZE(flushes); i++) {
		CHECK_EQ(flushes[i]->request.status, -EIO);
		test_release_request(&device, flushes[i]);
	}
	check_read_only_device();
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), -EIO);
}

/*
 * If no block can store the data of a persistent write buffer, the buffer serves reads of the data,
 * and flushes succeed. Closing does not wait for the data; a snapshot without them is refused.
 */
TAP_TEST(a_persistent_buffer_keeps_data_that_no_block_can_store)
{
	struct test_bytes bytes = { 0 };
	struct aftl_snapshot_sink sink = test_bytes_sink(&bytes);
	u64 reads;
	u32 i;

	open_device("baseline", SMALL " op=60 buffer=64KiB buffer_safe=on");
	test_stream_write_all_units(&stream, &device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 8, 1, 0, NULL), 0);
	for (i = 0; i < aftl_geometry(device.ftl)->blocks; i++)
		CHECK_EQ(aftl_fail_block(device.ftl, i), 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK(!aftl_buffer_is_lost(device.ftl));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	store.full_disk = true;
	check_read_only_device();
	reads = test_counters(&device)->buffer_read_units;
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 8, 1, 0, NULL), 0);
	CHECK_EQ(test_counters(&device)->buffer_read_units, reads + 1);
	aftl_set_drain_mode(device.ftl, true);
	CHECK(!aftl_has_pending_work(device.ftl));
	read_all_units(NULL);
	test_audit_device(&device);
	CHECK_EQ(aftl_save(device.ftl, &sink, &device.error), -ENOSPC);
	CHECK_EQ(bytes.size, 0);
	CHECK_CONTAINS(device.error.text, "no block is left for what the write buffer holds");
}

/* Fail block after block until the device becomes read-only. */
static void check_all_blocks_fail(const char *policy, const char *params)
{
	u32 i;

	open_device(policy, params);
	store.full_disk = true;
	test_stream_write_all_units(&stream, &device);
	for (i = 0; i < aftl_geometry(device.ftl)->blocks && !tap_failure_count(); i++) {
		u32 lun_wise = i / 2 + i % 2 * aftl_geometry(device.ftl)->blocks_per_lun;

		CHECK_EQ(aftl_fail_block(device.ftl, lun_wise), 0);
		send_requests_to_worn_device(30);
	}
	test_drain_requests(&device);
	check_read_only_device();
}

static void check_blocks_wear_out(const char *policy, const char *params)
{
	u64 requests = 0;
	u32 i;

	open_device(policy, test_format_params("endurance=6 %s", params));
	store.full_disk = true;
	stream.read = 20;
	stream.flush = 0;
	while (!aftl_is_read_only(device.ftl) && requests++ < 300000 && !tap_failure_count())
		test_stream_submit_request(&stream, &device);
	CHECK_MSG(aftl_is_read_only(device.ftl), "the device does not wear out");
	for (i = 0; i < aftl_geometry(device.ftl)->blocks; i++)
		CHECK(block_at(i)->wear < (block_at(i)->state == AFTL_BLOCK_BAD ? 7 : 6) * 10000);
	send_requests_to_worn_device(300);
	test_drain_requests(&device);
	check_read_only_device();
	/* MiDAS collects blocks with much valid data, but not once the spare blocks have failed. */
	CHECK_RANGE(test_counters(&device)->retired_blocks, strcmp(policy, "midas") ? 11 : 50,
		    U32_MAX);
}

static void fail_blocks_with_every_policy(const char *what,
					  void (*body)(const char *policy, const char *params))
{
	unsigned int i;

	for (i = 0; aftl_policy_at(i); i++) {
		tap_begin("%s: %s", what, aftl_policy_at(i)->name);
		body(aftl_policy_at(i)->name, small);
		if (!tap_failure_count())
			body(aftl_policy_at(i)->name, small_buffered);
		if (!tap_failure_count())
			body(aftl_policy_at(i)->name, small_three_bits);
		tap_end();
	}
}

int main(void)
{
	fail_blocks_with_every_policy("single blocks fail", check_data_after_block_failures);
	fail_blocks_with_every_policy("blocks fail under load", check_blocks_fail_under_load);
	fail_blocks_with_every_policy("the last free block fails", check_last_free_block_fails);
	fail_blocks_with_every_policy("all blocks fail", check_all_blocks_fail);
	fail_blocks_with_every_policy("blocks wear out", check_blocks_wear_out);
	return tap_run_all();
}
