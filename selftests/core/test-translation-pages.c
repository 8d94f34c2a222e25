// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cached mapping table: which translation pages it holds and evicts, when requests wait for them,
 * what they cost, and that none is lost.
 */
#include <stdlib.h>

#include "bytes.h"
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/persist/snapshot.h"
#include "core/policy/policies.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SEEDS 120
#define REQUESTS 400
#define SECOND_NS 1000000000ULL

/* Units per translation page of 512 bytes. */
#define EACH 128

static struct test_device device;

/* A translation page fills a flash page. The device has 39 translation pages; the CMT holds six. */
#define SHAPE "channels=1 chips=2 blocks=64 layers=4 word_lines=16 page=512 unit=512 op=40 " \
	"errors=off"
/* A flash page holds two translation pages, so that an eviction waits for a second eviction. */
#define PAIRS SHAPE " bits=2 one_shot=on map_cache=8KiB fill=sequential"
#define SENSE_NS 45000
#define TRANSFER_NS 1280
#define PROGRAM_NS 700000

static void open_device_with_cmt(const char *policy, const char *cache, const char *fill)
{
	test_open_demo_profile(&device, policy, test_format_params(SHAPE " map_cache=%s "
								   "fill=%s", cache, fill));
}

static const struct aftl_trans_page *get_trans_page(u32 number)
{
	return &device.ftl->cmt.all[number];
}

static bool is_trans_page_cached(u32 number)
{
	return get_trans_page(number)->flags & AFTL_TP_CACHED;
}

/* Block of a translation page, or NULL if it was never written. */
static struct aftl_block *find_block_of_trans_page(u32 number)
{
	aftl_ppn_t ppn;

	if (!aftl_l2p_lookup(device.ftl, to_lpn(test_unit_count(&device) + number), &ppn))
		return NULL;
	return aftl_block_of_ppn(&device.ftl->media, ppn);
}

static u64 measure_unit_read_ns(u32 unit)
{
	return test_measure_io_ns(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE);
}

static u64 measure_unit_write_ns(u32 unit)
{
	return test_measure_io_ns(&device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE);
}

/* Wait until the device is idle. */
static void wait_until_idle(void)
{
	test_drain_requests(&device);
	test_advance_clock_by(&device, SECOND_NS);
}

/* Time */

TAP_TEST(a_miss_takes_one_more_read)
{
	open_device_with_cmt("baseline", "4KiB", "sequential");
	CHECK_EQ(device.ftl->geo.trans_pages, 39);
	CHECK_EQ(device.ftl->cmt.capacity, 6);
	/* The most recently used translation pages are cached and clean after a fill. */
	CHECK_EQ(measure_unit_read_ns(38 * EACH), SENSE_NS + TRANSFER_NS);
	CHECK_EQ(measure_unit_read_ns(0), 2 * (SENSE_NS + TRANSFER_NS));
	CHECK_EQ(measure_unit_read_ns(1), SENSE_NS + TRANSFER_NS);
	CHECK_EQ(measure_unit_read_ns(EACH - 1), SENSE_NS + TRANSFER_NS);
	CHECK_EQ(measure_unit_read_ns(EACH), 2 * (SENSE_NS + TRANSFER_NS));
	CHECK_EQ(test_counters(&device)->map_lookups, 5);
	CHECK_EQ(test_counters(&device)->map_misses, 2);
	CHECK_EQ(test_counters(&device)->map_loads, 2);
	CHECK_EQ(test_counters(&device)->array_reads, 7);
	CHECK_EQ(test_counters(&device)->map_changes, 0);
}

TAP_TEST(the_least_recently_used_page_is_evicted)
{
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	for (i = 0; i < 6; i++)
		measure_unit_read_ns(i * EACH);
	measure_unit_read_ns(0);
	measure_unit_read_ns(6 * EACH);
	for (i = 0; i <= 6; i++)
		CHECK_EQ(is_trans_page_cached(i), i != 1);
}

/* A request that spans two translation pages waits for both. */
TAP_TEST(a_read_waits_for_all_its_translation_pages)
{
	u64 ns;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, EACH - 2, 4, AFTL_PRECISE, &ns), 0);
	CHECK(ns > 3 * SENSE_NS);
	CHECK_EQ(test_counters(&device)->map_loads, 2);
	CHECK_EQ(test_counters(&device)->map_lookups, 4);
	CHECK(is_trans_page_cached(0));
	CHECK(is_trans_page_cached(1));
}

static u64 find_longest_response_ns(struct test_request *const *requests, u32 count)
{
	u64 latest = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		test_wait_for_request(&device, requests[i]);
		latest = max(latest, requests[i]->request.complete_ns -
				     requests[i]->request.arrival_ns);
		test_release_request(&device, requests[i]);
	}
	return latest;
}

static struct test_request *submit_kept_read(u32 unit)
{
	return test_submit_kept(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, 0,
				aftl_device_time_ns(device.ftl));
}

/* Two dies load two translation pages in parallel; requests that miss one page share its load. */
TAP_TEST(misses_of_two_pages_load_in_parallel)
{
	struct test_request *apart[2];
	struct test_request *together[4];
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	CHECK(aftl_block_lun(device.ftl, find_block_of_trans_page(2)) !=
	      aftl_block_lun(device.ftl, find_block_of_trans_page(3)));
	apart[0] = submit_kept_read(2 * EACH);
	apart[1] = submit_kept_read(3 * EACH + 1);
	CHECK(find_longest_response_ns(apart, 2) < 3 * SENSE_NS);
	for (i = 0; i < ARRAY_SIZE(together); i++)
		together[i] = submit_kept_read(4 * EACH + i);
	find_longest_response_ns(together, 4);
	CHECK_EQ(test_counters(&device)->map_loads, 3);
	CHECK_EQ(test_counters(&device)->map_misses, 6);
}

/* A later read with a cached translation page completes first. */
TAP_TEST(a_hit_overtakes_a_miss)
{
	struct test_request *late;
	struct test_request *early;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	late = submit_kept_read(0);
	early = submit_kept_read(38 * EACH);
	test_wait_for_request(&device, late);
	CHECK(early->done);
	CHECK(early->request.complete_ns < late->request.complete_ns);
	test_release_request(&device, early);
	test_release_request(&device, late);
}

/* Return the translation page that a LUN programs now, or U32_MAX. */
static u32 trans_page_being_programmed(void)
{
	const struct aftl_media *media = &device.ftl->media;
	u32 i;

	for (i = 0; i < device.ftl->geo.luns; i++) {
		const struct aftl_work *work = &device.ftl->luns[i].work;
		aftl_ppn_t ppn;

		if (work->kind != AFTL_WORK_TP_PROGRAM || work->phase != AFTL_PHASE_PROGRAM)
			continue;
		ppn = aftl_page_ppn(media, work->placement.block, work->placement.page);
		return from_lpn(aftl_ppn_lpn(media, ppn)) - test_unit_count(&device);
	}
	return U32_MAX;
}

TAP_TEST(a_page_whose_program_is_in_progress_needs_no_load)
{
	u32 number = U32_MAX;
	u64 loads;
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	for (i = 0; i < 8; i++)
		measure_unit_write_ns(i * EACH);
	for (i = 0; i < 40 && number == U32_MAX; i++) {
		test_advance_clock_by(&device, SENSE_NS);
		number = trans_page_being_programmed();
	}
	if (CHECK(number != U32_MAX)) {
		CHECK(!is_trans_page_cached(number));
		loads = test_counters(&device)->map_loads;
		measure_unit_read_ns(number * EACH + 1);
		CHECK(is_trans_page_cached(number));
		CHECK_EQ(test_counters(&device)->map_loads, loads);
	}
	wait_until_idle();
}

/* With few commands for loads of translation pages and data, all reads must still complete. */
TAP_TEST(reads_complete_although_commands_run_out)
{
	u32 i;

	test_open_demo_profile(&device, "baseline",
			       SHAPE " map_cache=4KiB fill=sequential depth=16");
	for (i = 0; i < 400; i++)
		CHECK_EQ(test_submit_io(&device, AFTL_OP_READ, i * 97 % 4900, 8, AFTL_PRECISE, 0,
					aftl_device_time_ns(device.ftl)),
			 0);
	test_drain_requests(&device);
	CHECK_EQ(device.completed, 400);
	CHECK_EQ(device.ftl->free_read_count, 16);
	CHECK(test_counters(&device)->map_misses > 100);
}

/* Changes */

/* A translation page that is used while its eviction waits stays cached. */
TAP_TEST(a_page_used_during_eviction_stays_cached)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", PAIRS);
	/* A program takes two translation pages, so one eviction waits for a second eviction. */
	measure_unit_write_ns(0);
	for (i = 1; i <= device.ftl->cmt.capacity; i++)
		measure_unit_read_ns(2 * i * EACH);
	wait_until_idle();
	CHECK_EQ(get_trans_page(0)->flags & AFTL_TP_EVICTING, AFTL_TP_EVICTING);
	CHECK_EQ(test_counters(&device)->programmed_map_units, 0);
	measure_unit_read_ns(0);
	CHECK_EQ(get_trans_page(0)->flags & AFTL_TP_REUSED, AFTL_TP_REUSED);
	measure_unit_write_ns(2 * EACH);
	for (i = 3; i <= device.ftl->cmt.capacity + 3; i++)
		measure_unit_read_ns(2 * i * EACH);
	wait_until_idle();
	CHECK_EQ(test_counters(&device)->programmed_map_units, 2);
	CHECK_EQ(get_trans_page(0)->flags, AFTL_TP_CACHED);
	CHECK(!is_trans_page_cached(2));
}

/* Memory */

/* Writes wait for evictions, so that the cache does not exceed its size. */
TAP_TEST(writes_wait_for_evictions)
{
	const struct aftl_cmt *cmt;
	u32 most = 0;
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	cmt = &device.ftl->cmt;
	for (i = 0; i < 300; i++) {
		CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, i * 131 % 4900, 1, AFTL_PRECISE, 0,
					aftl_device_time_ns(device.ftl)),
			 0);
		while (device.pending > 20)
			test_process_event(&device);
		most = max(most, cmt->cached);
	}
	test_drain_requests(&device);
	/* The CMT may exceed its size of 8 by one translation page per die. */
	CHECK_RANGE(most, 8, 8 + 2);
	CHECK(test_counters(&device)->programmed_map_units > 200);
	CHECK_EQ(test_counters(&device)->gc_blocks, 0);
}

/* A CMT that holds the whole L2P table causes no misses and no programs. */
TAP_TEST(a_cache_for_the_whole_table_causes_no_misses)
{
	u32 i;

	open_device_with_cmt("baseline", "1MiB", "sequential");
	for (i = 0; i < 2000; i++)
		measure_unit_write_ns(i * 131 % 4900);
	for (i = 0; i < 100; i++)
		CHECK_EQ(measure_unit_read_ns(i * 131 % 4900), SENSE_NS + TRANSFER_NS);
	CHECK_EQ(test_counters(&device)->map_misses, 0);
	CHECK_EQ(test_counters(&device)->programmed_map_units, 0);
	CHECK_EQ(test_counters(&device)->map_merges, 0);
}

/* Space */

/* Translation pages have their own blocks, which GC collects separately from data. */
TAP_TEST(translation_pages_have_their_own_blocks)
{
	struct aftl_random random = { 1 };
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "random");
	for (i = 0; i < 39; i++)
		CHECK_EQ(find_block_of_trans_page(i)->handle, 1);
	for (i = 0; i < 12000; i++)
		measure_unit_write_ns((u32)aftl_random_below(&random, test_unit_count(&device)));
	CHECK(test_counters(&device)->map_moved_units > 0);
	CHECK(test_counters(&device)->programmed_gc_units >
	      test_counters(&device)->map_moved_units);
}

/* A fill writes all translation pages and leaves none dirty. */
TAP_TEST(a_fill_writes_all_translation_pages)
{
	u32 dirty = 0;
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "random");
	for (i = 0; i < 39; i++) {
		CHECK(find_block_of_trans_page(i));
		dirty += (get_trans_page(i)->flags & AFTL_TP_DIRTY) != 0;
	}
	CHECK_EQ(dirty, 0);
	CHECK_EQ(device.ftl->cmt.cached, 6);
	CHECK_EQ(device.ftl->cmt.evicting, 0);
	wait_until_idle();
	CHECK_EQ(test_counters(&device)->array_programs, 0);
}

/* Failures */

TAP_TEST(translation_pages_of_a_dead_die_are_rebuilt)
{
	struct aftl_lun *dead;
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "none");
	for (i = 0; i < 20 * EACH; i += 2)
		measure_unit_write_ns(i);
	wait_until_idle();
	CHECK(!is_trans_page_cached(0));
	dead = aftl_block_lun(device.ftl, find_block_of_trans_page(0));
	CHECK_EQ(aftl_fail_lun(device.ftl, dead->index), 0);
	/* A lost translation page is rebuilt from the L2P table, and written to another die. */
	test_execute_request(&device, AFTL_OP_READ, 0, 1, AFTL_PRECISE, NULL);
	CHECK_EQ(test_counters(&device)->map_loads, 0);
	CHECK_EQ(get_trans_page(0)->flags, AFTL_TP_CACHED | AFTL_TP_DIRTY);
	for (i = 1; i < 20; i++)
		test_execute_request(&device, AFTL_OP_READ, i * EACH, 1, AFTL_PRECISE, NULL);
	wait_until_idle();
	CHECK(find_block_of_trans_page(0));
	CHECK(aftl_block_lun(device.ftl, find_block_of_trans_page(0)) != dead);
}

/* When a die fails, reads that wait for its translation pages continue, and so do evictions. */
TAP_TEST(reads_and_evictions_of_a_dead_die_continue)
{
	struct test_request *requests[12];
	u32 i;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	for (i = 0; i < 6; i++)
		CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, (30 - i) * EACH, 1, AFTL_PRECISE, 0,
					aftl_device_time_ns(device.ftl)),
			 0);
	for (i = 0; i < 12; i++)
		requests[i] = submit_kept_read(i * EACH);
	test_process_event(&device);
	CHECK_EQ(aftl_fail_lun(device.ftl, 0), 0);
	test_audit_device(&device);
	find_longest_response_ns(requests, 12);
	wait_until_idle();
	test_audit_device(&device);
	CHECK_EQ(device.ftl->luns[0].evictions.count, 0);
	CHECK_EQ(aftl_fail_lun(device.ftl, 1), 0);
	wait_until_idle();
	test_audit_device(&device);
	CHECK_EQ(device.ftl->cmt.evicting, 0);
}

/* An eviction that waits on a dead die moves to another die. */
TAP_TEST(pending_evictions_leave_a_dead_die)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", PAIRS);
	measure_unit_write_ns(0);
	for (i = 1; i <= device.ftl->cmt.capacity; i++)
		measure_unit_read_ns(2 * i * EACH);
	wait_until_idle();
	CHECK_EQ(device.ftl->luns[0].evictions.count, 1);
	CHECK_EQ(aftl_fail_lun(device.ftl, 0), 0);
	CHECK_EQ(device.ftl->luns[0].evictions.count, 0);
	CHECK_EQ(device.ftl->luns[1].evictions.count, 1);
	CHECK_EQ(get_trans_page(0)->flags, AFTL_TP_CACHED | AFTL_TP_DIRTY | AFTL_TP_EVICTING);
	test_audit_device(&device);
	CHECK_EQ(aftl_fail_lun(device.ftl, 1), 0);
	CHECK_EQ(device.ftl->cmt.evicting, 0);
}

TAP_TEST(a_bad_block_of_translation_pages_is_relocated)
{
	u32 bad;

	open_device_with_cmt("baseline", "4KiB", "sequential");
	bad = aftl_block_index(&device.ftl->media, find_block_of_trans_page(0));
	CHECK_EQ(aftl_fail_block(device.ftl, bad), 0);
	wait_until_idle();
	CHECK_EQ(device.ftl->media.blocks[bad].state, AFTL_BLOCK_BAD);
	CHECK(test_counters(&device)->map_moved_units > 0);
	CHECK_EQ(test_counters(&device)->map_moved_units,
		 test_counters(&device)->programmed_retire_units);
	CHECK_EQ(find_block_of_trans_page(0)->handle, 1);
}

/* Close all blocks, so that relocations find no free page; GC can erase blocks without data. */
static void close_all_blocks(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_block *block;
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i++)
		if (ftl->media.blocks[i].state == AFTL_BLOCK_OPEN)
			aftl_close_unfilled_block(ftl, lun, &ftl->media.blocks[i]);
	while ((block = aftl_free_block_take(ftl, lun, 0))) {
		aftl_block_open(ftl, block, AFTL_ORDER_SEQUENTIAL, 0);
		aftl_block_close(ftl, block);
	}
}

/* If pages that GC has read have no destination, GC erases a block without valid pages. */
TAP_TEST(gc_without_a_destination_erases_an_empty_block)
{
	struct aftl_lun *lun;
	u32 i;

	test_open_demo_profile(&device, "baseline", PAIRS " chips=1 gc_idle_valid=100");
	lun = &device.ftl->luns[0];
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, 8, AFTL_PRECISE, NULL), 0);
	wait_until_idle();
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	for (i = 0; i < 100 && !lun->reloc.count; i++)
		test_process_event(&device);
	CHECK(lun->reloc.count);
	close_all_blocks(device.ftl, lun);
	CHECK_EQ(test_counters(&device)->array_erases, 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_RANGE(test_counters(&device)->array_erases, 1, U64_MAX);
	CHECK(!aftl_is_read_only(device.ftl));
}

/*
 * Relocation of translation pages opens the last free block. Evictions in the meantime must not
 * fill it: the rest of the victim would have no destination, and the device would end read-only.
 * A static SLC cache keeps the number of free blocks at the reserve for most of the time.
 */
TAP_TEST(evictions_leave_the_last_free_block_to_gc)
{
	static const char shape[] =
		"channels=2 chips=1 planes=4 plane_mode=shared blocks=128 layers=4 word_lines=4 "
		"bits=2 one_shot=on page=2KiB unit=512 op=20% fill=random errors=off buffer=0 "
		"map_cache=128KiB slc_static=10%";
	struct test_stream stream;
	u32 i;

	test_open_demo_profile(&device, "baseline", shape);
	test_stream_init(&stream, 5);
	stream.read = 0;
	stream.discard = 0;
	stream.flush = 0;
	stream.approx = 0;
	stream.units_max = 8;
	for (i = 0; i < 6000 && !aftl_is_read_only(device.ftl); i++)
		test_stream_submit_request(&stream, &device);
	test_drain_requests(&device);
	CHECK(test_counters(&device)->map_moved_units > 1000);
	CHECK(!aftl_is_read_only(device.ftl));
	CHECK_EQ(device.failed, 0);
	test_audit_device(&device);
}

/* Snapshots */

static int reload_device_with_cmt(const char *policy, struct test_bytes *bytes)
{
	struct aftl_snapshot_source source = test_bytes_source(bytes);
	struct aftl *next;
	int ret = aftl_load_with_policy_and_params(&next, &source, aftl_policy_find(policy), NULL,
						   &device.ops, &device, &device.error);

	if (ret)
		return ret;
	aftl_destroy(device.ftl);
	device.ftl = next;
	test_audit_device(&device);
	return 0;
}

static u64 run_requests_and_digest_device(void)
{
	struct test_stream stream;

	test_stream_init(&stream, 77);
	test_stream_submit_requests(&stream, &device, 400);
	test_drain_requests(&device);
	return aftl_compute_device_digest(device.ftl);
}

/* List the cached translation pages, oldest first; return their number. */
static u32 list_cached_trans_pages(u32 *found)
{
	u32 number = device.ftl->cmt.oldest;
	u32 count = 0;

	for (; number != AFTL_NIL; number = get_trans_page(number)->younger)
		found[count++] = number << 8 | get_trans_page(number)->flags;
	return count;
}

/* A snapshot keeps the cached translation pages, their order, and pending evictions. */
TAP_TEST(a_loaded_device_behaves_like_the_saved_one)
{
	struct test_bytes bytes = { 0 };
	u32 before[39];
	u32 after[39];
	u64 digest;
	u64 misses;
	u32 i;

	open_device_with_cmt("baseline", "6KiB", "random");
	for (i = 0; i < 500; i++)
		measure_unit_write_ns(i * 131 % 4900);
	for (i = 0; i < 4; i++)
		measure_unit_read_ns((2 * i + 1) * EACH);
	CHECK_EQ(list_cached_trans_pages(before), 10);
	test_device_save_snapshot(&device, &bytes);
	aftl_reset_stats(device.ftl);
	digest = run_requests_and_digest_device();
	misses = test_counters(&device)->map_misses;
	CHECK(misses > 50);
	CHECK_EQ(reload_device_with_cmt("baseline", &bytes), 0);
	CHECK_EQ(list_cached_trans_pages(after), 10);
	CHECK(!memcmp(before, after, 10 * sizeof(u32)));
	CHECK_EQ(run_requests_and_digest_device(), digest);
	CHECK_EQ(test_counters(&device)->map_misses, misses);
	free_test_bytes(&bytes);
}

TAP_TEST(loading_a_device_with_another_policy_is_refused)
{
	struct test_bytes bytes = { 0 };

	open_device_with_cmt("baseline", "4KiB", "sequential");
	test_device_save_snapshot(&device, &bytes);
	CHECK_EQ(reload_device_with_cmt("vth_b", &bytes), -EINVAL);
	CHECK_CONTAINS(device.error.text, "goes on with the policy that it was saved with");
	free_test_bytes(&bytes);
}

static void check_cmt_refused(const char *policy, const char *key, const char *value,
			      const char *cache, const char *why)
{
	test_check_config_refused(&device, policy,
				  test_format_params(SHAPE " map_cache=%s %s=%s", cache, key,
						     value), why);
}

/* Even with minimal over-provisioning flash has room for all translation pages. */
TAP_TEST(capacity_includes_the_translation_pages)
{
	u32 made = 0;
	u32 op;

	for (op = 400; op < 2000; op += 5) {
		test_device_init(&device, "demo");
		test_device_set_params(&device, SHAPE " map_cache=4KiB");
		device.config.op = op;
		if (!test_device_create(&device, "baseline")) {
			made++;
			CHECK(device.ftl->luns[0].max_valid + device.ftl->luns[1].max_valid >=
			      test_unit_count(&device) + device.ftl->geo.trans_pages +
				      2 * device.ftl->program_units);
			CHECK_EQ(aftl_count_reserved_blocks_per_lun(device.ftl),
				 device.ftl->type->open_blocks + device.ftl->type->reserve + 2);
		}
	}
	CHECK_RANGE(made, 1, 319);
}

TAP_TEST(invalid_combinations_with_a_map_cache_are_refused)
{
	struct aftl_error error;

	check_cmt_refused("baseline", "passes", "2", "4KiB", "passes: ");
	check_cmt_refused("baseline", "gc", "10%", "2047", "set at least 2048");
	check_cmt_refused("baseline", "op", "4%", "4KiB",
			  "policy baseline with a cached map keeps");
	open_device_with_cmt("baseline", "4KiB", "none");
	CHECK_EQ(aftl_set_param(device.ftl, "map_cache", "8KiB", &error), -EINVAL);
}

/* Tests of the CMT under concurrent random requests, with random policies and parameters. */

/* Draw small logical pages, which need many translation pages. */
static void draw_small_device_geometry(struct aftl_random *random)
{
	struct aftl_config *config = &device.config;

	config->channels = 1 + aftl_random_below(random, 2);
	config->chips = 1 + aftl_random_below(random, 2);
	config->dies = 1;
	config->planes = 1;
	config->plane_mode = AFTL_PLANES_SHARED;
	config->blocks = 48 + aftl_random_below(random, 64);
	config->layers = 2 + aftl_random_below(random, 3);
	config->word_lines = 4 + aftl_random_below(random, 5);
	config->bits = 1 + aftl_random_below(random, 3);
	config->one_shot = aftl_random_below(random, 2);
	config->unit = 512;
	config->page = 512ULL << aftl_random_below(random, 3);
	config->op = 4500 + aftl_random_below(random, 2500);
	config->passes = 1;
}

static void draw_cmt_size(struct aftl_random *random)
{
	struct aftl_config *config = &device.config;
	u64 program = config->page / 512 * (config->one_shot ? config->bits : 1);
	u64 limit = config->channels * config->chips * program;

	config->map_cache = 512 * (2 * limit + aftl_random_below(random, 24));
}

static u64 seen_used;
static u32 seen_opened;

/* Translation pages must not use the GC reserve. */
static void check_trans_block_leaves_gc_reserve(void *host, const struct aftl_array_event *event)
{
	const struct aftl_lun *lun = &device.ftl->luns[event->lun];

	if (event->op != AFTL_ARRAY_PROGRAM || event->cause != AFTL_CAUSE_MAP || event->page)
		return;
	seen_opened++;
	CHECK_MSG(lun->free_blocks + 1 > aftl_count_gc_reserve_blocks(device.ftl),
		  "%u blocks are left", lun->free_blocks);
}

/* The limit of translation pages under eviction may be exceeded by those of one program. */
static void check_eviction_limit(struct test_listener *self, u32 tag, aftl_lpn_t lpn,
				 aftl_ppn_t ppn)
{
	CHECK_MSG(device.ftl->cmt.evicting <= device.ftl->cmt.max_evicting +
		  device.ftl->program_units, "%u are being evicted", device.ftl->cmt.evicting);
}

static u32 lived;

static void run_random_cmt_requests(struct aftl_random *random)
{
	static struct test_listener watch = { .program = check_eviction_limit };
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	test_stream_init(&stream, aftl_random_next(random));
	stream.read = aftl_random_below(random, 60);
	stream.approx = aftl_random_below(random, 101);
	stream.depth = aftl_random_below(random, 40);
	stream.units_max = 1 + aftl_random_below(random, 40);
	stream.gap_ns = aftl_random_below(random, 3) * 1000000;
	shadow_attach_to_device(&store, &device, false);
	test_device_add_listener(&device, &watch);
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		seen_used += device.ftl->cmt.evicting > device.ftl->cmt.max_evicting;
		if (i % 16 == 0)
			shadow_compare_device_with_store(&store);
	}
	wait_until_idle();
	CHECK_EQ(test_counters(&device)->host_failed_requests, 0);
	CHECK(!aftl_is_read_only(device.ftl));
	CHECK(device.ftl->cmt.evicting <= device.ftl->cmt.max_evicting);
	CHECK(device.ftl->cmt.cached - device.ftl->cmt.evicting <= device.ftl->cmt.capacity);
}

static void check_cmt_with_seed(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed ^ 0x5ee75) };
	const char *policy = test_draw_policy(false, &random);

	test_device_init(&device, "demo");
	device.ops.array = check_trans_block_leaves_gc_reserve;
	test_randomize_options(&device, &random);
	draw_small_device_geometry(&random);
	device.config.bad = 0;
	device.config.endurance = 0;
	device.config.placement_handles = aftl_random_below(&random, 4);
	draw_cmt_size(&random);
	if (!test_device_create(&device, policy)) {
		lived++;
		run_random_cmt_requests(&random);
	}
	test_finish_device_or_print_config(&device, policy, seed);
}

TAP_TEST(random_devices_lose_neither_data_nor_translation_pages)
{
	u64 seed;

	for (seed = 0; seed < 3 * SEEDS && !tap_failure_count(); seed++)
		check_cmt_with_seed(seed);
	tap_printf("%u devices", lived);
	CHECK(tap_failure_count() || lived > SEEDS);
	CHECK(tap_failure_count() || (seen_used > 100 && seen_opened > 100));
}

TAP_SEED(check_cmt_with_seed)
