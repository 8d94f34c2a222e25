// SPDX-License-Identifier: GPL-2.0-only
/*
 * Controller read cache and read-ahead: which reads hit, their times, and the bits they return.
 */
#include <stdlib.h>

#include "bytes.h"
#include "core/ftl/block.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/read-cache.h"
#include "core/hif/hif.h"
#include "core/persist/snapshot.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=2 chips=2 blocks=32 page=16KiB unit=4KiB bus=400 controller=9us ecc=3us " \
	"read=45us op=30"
#define CACHE SHAPE " read_cache=1MiB fill=sequential"
#define PAGE_UNITS 4
#define UNIT_NS 10240
#define MISS_NS (45000 + UNIT_NS + 3000 + 9000)
#define YEAR_NS (365 * 86400000000000ULL)
#define SEEDS 300
#define REQUESTS 400

static struct test_device device;

static u64 read_units(u32 unit, u32 units)
{
	return test_measure_io_ns(&device, AFTL_OP_READ, unit, units, AFTL_PRECISE);
}

static u64 read_single_unit(u32 unit)
{
	return read_units(unit, 1);
}

static void wait_until_idle(void)
{
	test_advance_clock_by(&device, 1000000000);
}

static u64 count_sensed_pages(void)
{
	return test_counters(&device)->array_reads;
}

static u64 count_cache_hits(void)
{
	return test_counters(&device)->read_cache_units;
}

/* Time */

/* A read cache hit takes only the controller's time, and uses neither array nor bus nor ECC. */
TAP_TEST(a_hit_takes_only_the_controllers_time)
{
	test_open_demo_profile(&device, "baseline", CACHE);
	CHECK_EQ(read_single_unit(8), MISS_NS);
	CHECK_EQ(read_single_unit(8), 9000);
	CHECK_EQ(count_cache_hits(), 1);
	CHECK_EQ(count_sensed_pages(), 1);
	CHECK_EQ(test_counters(&device)->bus_ns, UNIT_NS);
	test_open_demo_profile(&device, "baseline", CACHE " read_hit=4us link=1000");
	CHECK_EQ(read_single_unit(8), MISS_NS + 4096);
	CHECK_EQ(read_single_unit(8), 4000 + 4096);
	CHECK_EQ(read_units(8, 2), MISS_NS + 2 * 4096);
}

/* A read of a unit that is being sensed waits for that sensing only. */
TAP_TEST(a_concurrent_read_waits_for_the_sensing_in_progress)
{
	struct test_request *first;
	struct test_request *second;
	u64 now_ns;

	test_open_demo_profile(&device, "baseline", CACHE);
	now_ns = aftl_device_time_ns(device.ftl);
	first = test_submit_kept(&device, AFTL_OP_READ, 8, 1, 0, 0, now_ns);
	second = test_submit_kept(&device, AFTL_OP_READ, 8, 1, 0, 0, now_ns + 50000);
	test_wait_for_request(&device, second);
	test_wait_for_request(&device, first);
	CHECK_EQ(first->request.complete_ns - now_ns, MISS_NS);
	CHECK_EQ(second->request.complete_ns - now_ns, MISS_NS);
	CHECK_EQ(count_sensed_pages(), 1);
	test_release_request(&device, first);
	test_release_request(&device, second);
}

/* Bits */

static u32 seen_flips;

static void record_flipped_bits_of_read(struct test_listener *self, struct test_request *request,
					const struct aftl_read *read)
{
	seen_flips = read->flips;
}

/* A hit returns the bits that were sensed, even if the cells now have more errors. */
TAP_TEST(a_hit_returns_the_bits_as_first_sensed)
{
	static struct test_listener listener = { .read = record_flipped_bits_of_read };
	struct aftl_errors errors;
	u32 flips;

	test_open_demo_profile(&device, "vth_b",
			       CACHE " fill_approx=100 cell_model=voltage cycles=2000 refresh=0");
	test_device_add_listener(&device, &listener);
	read_single_unit(8);
	flips = seen_flips;
	aftl_advance_age(device.ftl, 10 * YEAR_NS);
	read_single_unit(8);
	CHECK_EQ(count_cache_hits(), 1);
	CHECK_EQ(seen_flips, flips);
	CHECK(aftl_get_lpn_read_errors(device.ftl, to_lpn(8), &errors) && errors.flips == flips);
	CHECK_EQ(test_counters(&device)->read_flipped_bits, 2 * flips);
	CHECK_EQ(test_counters(&device)->read_approx_units, 2);
	aftl_read_cache_clear(device.ftl);
	read_single_unit(8);
	CHECK_MSG(flips && seen_flips > flips, "%u bits have flipped, then %u", flips, seen_flips);
}

static u32 count_lost_units(u32 units)
{
	struct aftl_errors errors;
	u32 lost = 0;
	u32 i;

	for (i = 0; i < units; i++)
		lost += aftl_get_lpn_read_errors(device.ftl, to_lpn(i), &errors) && errors.lost;
	return lost;
}

/* Data in the read cache passed ECC before, so they outlive cells that become uncorrectable. */
TAP_TEST(a_hit_survives_uncorrectable_cells)
{
	test_open_demo_profile(&device, "baseline", CACHE " cell_model=voltage cycles=10000 "
			       "ecc_bits=0 ecc_levels=0 refresh=0");
	CHECK_EQ(count_lost_units(16), 0);
	read_units(0, 16);
	aftl_advance_age(device.ftl, 10 * YEAR_NS);
	CHECK_EQ(count_lost_units(16), 0);
	CHECK_EQ(read_units(0, 16), 9000);
	aftl_read_cache_clear(device.ftl);
	CHECK(count_lost_units(16) > 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 16, AFTL_PRECISE, NULL), -EIO);
}

/* A read must not hit if its unit was written, discarded or lost, or its die failed. */
TAP_TEST(cached_units_that_change_are_read_again)
{
	const struct aftl_lun *lun;
	aftl_ppn_t ppn;

	test_open_demo_profile(&device, "baseline", CACHE);
	read_single_unit(8);
	test_execute_request(&device, AFTL_OP_WRITE, 8, 1, AFTL_PRECISE, NULL);
	CHECK_EQ(read_single_unit(8), MISS_NS);
	CHECK_EQ(read_single_unit(8), 9000);
	test_execute_request(&device, AFTL_OP_DISCARD, 8, 1, AFTL_PRECISE, NULL);
	CHECK_EQ(read_single_unit(8), 9000);
	CHECK_EQ(test_counters(&device)->unmapped_read_units, 1);
	read_single_unit(20);
	CHECK(aftl_l2p_lookup(device.ftl, to_lpn(20), &ppn) &&
	      aftl_mark_unit_lost(device.ftl, ppn));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 20, 1, AFTL_PRECISE, NULL), -EIO);
	read_single_unit(9);
	CHECK(aftl_l2p_lookup(device.ftl, to_lpn(9), &ppn));
	lun = aftl_block_lun(device.ftl, aftl_block_of_ppn(&device.ftl->media, ppn));
	CHECK_EQ(aftl_fail_lun(device.ftl, lun->index), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 9, 1, AFTL_PRECISE, NULL), -EIO);
	CHECK_EQ(count_cache_hits(), 1);
}

static u32 ppn_of_unit(u32 unit)
{
	u32 class;

	return from_ppn(aftl_lookup(device.ftl, to_lpn(unit), &class));
}

/* Read unit 0, rewrite it until it is at the same ppn again: a second read must miss. */
static void check_reused_ppn_is_miss(const char *policy, const char *params, u32 writes)
{
	u32 slot;
	u32 i;

	test_open_demo_profile(&device, policy, params);
	for (i = 0; i < writes; i++)
		test_execute_request(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, NULL);
	slot = ppn_of_unit(0);
	read_single_unit(0);
	for (i = 0; i < 100 && (!i || ppn_of_unit(0) != slot); i++)
		test_execute_request(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, NULL);
	CHECK_EQ(ppn_of_unit(0), slot);
	read_single_unit(0);
	CHECK_EQ(count_cache_hits(), 0);
	read_single_unit(0);
	CHECK_EQ(count_cache_hits(), 1);
}

TAP_TEST(reprogrammed_and_erased_units_are_read_again)
{
	check_reused_ppn_is_miss("ressd",
				 "bits=3 one_shot=on page=4KiB unit=0 layers=6 word_lines=2 "
				 "channels=1 chips=1 op=40 blocks=200 zone1=10ms zone2=40ms "
				 "zone3=100ms "
				 "candidates=2 read_cache=1MiB", 2);
	CHECK(test_counters(&device)->reprogrammed_pages > 0);
	CHECK_EQ(test_counters(&device)->array_erases, 0);
	check_reused_ppn_is_miss("baseline", "channels=1 chips=1 blocks=16 layers=2 word_lines=2 "
				 "bits=1 page=4KiB unit=0 op=80 read_cache=1MiB", 100);
	CHECK(test_counters(&device)->array_erases > 0);
	CHECK_EQ(test_counters(&device)->reprogrammed_pages, 0);
}

/* Saving a device empties its read cache, so that saved and loaded devices behave alike. */
TAP_TEST(saving_empties_the_cache)
{
	struct test_bytes bytes = { 0 };

	test_open_demo_profile(&device, "baseline", CACHE " read_ahead=256KiB");
	read_single_unit(8);
	test_device_save_snapshot(&device, &bytes);
	CHECK_EQ(read_single_unit(8), MISS_NS);
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(read_single_unit(8), MISS_NS);
	free_test_bytes(&bytes);
}

/* Read-ahead */

TAP_TEST(sequential_reads_start_read_ahead)
{
	u32 unit;

	test_open_demo_profile(&device, "baseline", CACHE " read_ahead=256KiB");
	CHECK_EQ(read_single_unit(0), MISS_NS);
	CHECK_EQ(test_counters(&device)->read_ahead_units, 0);
	CHECK_EQ(read_single_unit(1), MISS_NS);
	wait_until_idle();
	for (unit = 2; unit < 400; unit++) {
		CHECK_EQ(read_single_unit(unit), 9000);
		wait_until_idle();
		CHECK_EQ(test_counters(&device)->read_ahead_units,
			 (unit + 65) / PAGE_UNITS * PAGE_UNITS - 2);
	}
	CHECK_EQ(count_cache_hits(), 398);
	CHECK_EQ(count_sensed_pages(),
		 2 + 1 + (test_counters(&device)->read_ahead_units - 2) / PAGE_UNITS);
	CHECK_EQ(test_counters(&device)->read_ahead_vain_units, 0);
}

/* Random and backward reads do not start read-ahead. */
TAP_TEST(random_and_backward_reads_start_no_read_ahead)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", CACHE " read_ahead=256KiB");
	for (i = 0; i < 100; i++)
		read_single_unit(7919 * i % 5000);
	for (i = 400; i > 300; i--)
		read_single_unit(i);
	CHECK_EQ(test_counters(&device)->read_ahead_units, 0);
}

/* Up to sixteen sequential readers are recognised. */
TAP_TEST(sixteen_sequential_readers_are_recognised)
{
	u32 readers;
	u32 i;

	for (readers = AFTL_READ_STREAMS; readers <= AFTL_READ_STREAMS + 1; readers++) {
		test_open_demo_profile(&device, "baseline",
				       CACHE " read_ahead=64KiB read_cache=8MiB");
		for (i = 0; i < 16 * readers; i++) {
			read_single_unit(i % readers * 512 + i / readers);
			wait_until_idle();
		}
		CHECK_EQ(count_cache_hits(), readers == AFTL_READ_STREAMS ? 14 * readers : 0);
	}
}

/* A host read of a unit that read-ahead is about to read senses the whole page. */
TAP_TEST(a_read_before_its_prefetch_senses_the_page)
{
	u32 unit;

	test_open_demo_profile(&device, "baseline", CACHE " channels=1 chips=1 read_ahead=256KiB");
	for (unit = 0; unit < 32; unit++)
		CHECK_EQ(test_submit_io(&device, AFTL_OP_READ, unit, 1, 0, 0, 0), 0);
	test_drain_requests(&device);
	CHECK_RANGE(test_counters(&device)->array_read_ns, 9 * 45000, 11 * 45000);
}

/* Host reads precede read-ahead on the array; read-ahead uses at most half of the commands. */
TAP_TEST(other_reads_precede_read_ahead)
{
	u32 i;

	test_open_demo_profile(&device, "baseline",
			       CACHE " channels=1 chips=1 depth=16 read_ahead=512KiB");
	read_single_unit(0);
	read_single_unit(1);
	CHECK_EQ(device.ftl->free_read_count, 9);
	for (i = 0; i < 3; i++)
		CHECK_EQ(test_submit_io(&device, AFTL_OP_READ, 1000 + 100 * i, 1, 0, 0, 0), 0);
	test_drain_requests(&device);
	CHECK_EQ(count_sensed_pages(), 7);
	wait_until_idle();
	CHECK(count_sensed_pages() > 10);
}

/* Prefetched units that are evicted or overwritten unread are counted. */
TAP_TEST(unused_prefetched_units_are_counted)
{
	const struct aftl_counters *counters;
	u32 i;

	test_open_demo_profile(&device, "baseline", CACHE " read_ahead=64KiB read_cache=128KiB");
	counters = test_counters(&device);
	read_single_unit(0);
	read_single_unit(1);
	wait_until_idle();
	CHECK_EQ(counters->read_ahead_units, 14);
	read_single_unit(2);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 3, 1, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(read_single_unit(3), MISS_NS);
	CHECK_EQ(counters->read_ahead_vain_units, 1);
	wait_until_idle();
	for (i = 0; i < 40; i++)
		read_single_unit(1000 + 7 * i);
	CHECK_EQ(counters->read_ahead_vain_units, counters->read_ahead_units - 1);
}

TAP_TEST(a_read_ahead_larger_than_half_the_cache_is_refused)
{
	test_check_config_refused(&device, "baseline", CACHE " read_ahead=513KiB",
				  "set read_cache at least");
}

static void choose_random_unit(struct aftl_random *random)
{
	test_randomize_geometry(&device, random);
	test_randomize_options(&device, random);
	device.config.read_ahead = 0;
	device.config.read_cache = device.config.unit ? : device.config.page;
	device.config.read_cache *= 1 + aftl_random_below(random, 64);
}

/*
 * Random requests and sequential readers: data are correct, and every prefetched unit is accounted
 * for.
 */

static u64 seen_ahead;
static u64 seen_vain;
static u64 seen_hits;

static void check_read_ahead_pages(void)
{
	const struct aftl_counters *counters = test_counters(&device);
	const struct aftl_read_cache *recent = &device.ftl->read_cache;
	u32 unread = 0;
	u32 i;

	for (i = 0; i < recent->used; i++)
		unread += recent->all[i].flags & AFTL_READ_CACHE_PREFETCHED ? 1 : 0;
	CHECK(unread + counters->read_ahead_vain_units <= counters->read_ahead_units);
	CHECK(counters->read_ahead_units <=
	      unread + counters->read_ahead_vain_units + counters->read_cache_units +
	      counters->read_lost_units);
	CHECK_EQ(device.ftl->free_read_count, device.config.depth);
	seen_ahead += counters->read_ahead_units;
	seen_vain += counters->read_ahead_vain_units;
	seen_hits += counters->read_cache_units;
}

/* Submit the next read of one of two sequential readers, with requests of one and three units. */
static void submit_sequential_read(struct aftl_random *random, u32 at[2])
{
	u32 who = (u32)aftl_random_below(random, 2);
	u32 units = 1 + 2 * who;

	if (at[who] + units > test_unit_count(&device) || !aftl_random_below(random, 50))
		at[who] = (u32)aftl_random_below(random, test_unit_count(&device) - 4);
	CHECK_EQ(test_submit_io(&device, AFTL_OP_READ, at[who], units, 0, 0,
				aftl_device_time_ns(device.ftl)),
		 0);
	at[who] += units;
}

static void run_two_sequential_readers(struct aftl_random *random)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 at[2] = { 0, 0 };
	u32 i;

	test_stream_init(&stream, aftl_random_next(random));
	stream.read = aftl_random_below(random, 30);
	stream.approx = aftl_random_below(random, 101);
	stream.depth = aftl_random_below(random, 24);
	shadow_attach_to_device(&store, &device, false);
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		if (i % 3 == 0)
			test_stream_submit_request(&stream, &device);
		submit_sequential_read(random, at);
		test_drain_requests_to_depth(&device, stream.depth);
		if (i % 100 == 99)
			aftl_advance_age(device.ftl, YEAR_NS / 8);
	}
	test_drain_requests(&device);
	wait_until_idle();
	check_read_ahead_pages();
}

static void check_read_cache_with_seed(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed ^ 0xa4ead) };
	const char *policy = test_draw_policy(false, &random);

	test_device_init(&device, "demo");
	choose_random_unit(&random);
	device.config.read_cache = 65536 + 16384 * aftl_random_below(&random, 20);
	device.config.read_ahead = device.config.read_cache / (2 + aftl_random_below(&random, 4));
	if (!test_device_create(&device, policy) && test_unit_count(&device) > 8)
		run_two_sequential_readers(&random);
	test_finish_device_or_print_config(&device, policy, seed);
}

TAP_TEST(readers_of_random_devices_get_the_right_data)
{
	u64 seed;

	for (seed = 0; seed < SEEDS && !tap_failure_count(); seed++)
		check_read_cache_with_seed(seed);
	tap_printf("%llu units read ahead, %llu in vain, %llu hits", (unsigned long long)seen_ahead,
		   (unsigned long long)seen_vain, (unsigned long long)seen_hits);
	CHECK(tap_failure_count() || (seen_vain > 500 && seen_ahead > 2 * seen_vain));
}

TAP_SEED(check_read_cache_with_seed)
