// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-place switch (IPS): cached data stay in their cells while the other bits are added; times and
 * errors are no better than those of the resulting cells.
 */
#include "core/ftl/controller.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=1 chips=1 blocks=60 layers=4 word_lines=3 page=4KiB unit=4KiB op=45 " \
	"bits=3 one_shot=on"

/* Number of word lines in two layers, of pages in a word line, and of pages in a block. */
#define LINES 6
#define LINE_PAGES 3
#define PAGES 36

enum { KIND_PRECISE = 1, KIND_APPROX = 4, KIND_SWITCHED = 5 };

static struct test_device device;
static struct test_stream stream;
/* Counts of programs by program mode and cause (host or not). */
static u32 programs[AFTL_MODES][2];
static u64 last_ns;
/* Number of approximate programs in blocks used as a cache. */
static u32 approximate_cached;

static void check_ips_event(void *host, const struct aftl_array_event *event)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	const struct aftl_block *block = &media->blocks[event->block];
	u16 attr;

	if (event->op == AFTL_ARRAY_READ)
		last_ns = event->array_ns;
	if (event->op != AFTL_ARRAY_PROGRAM)
		return;
	last_ns = event->array_ns;
	attr = aftl_block_page_attr(media, block, event->page);
	programs[event->mode][event->cause == AFTL_CAUSE_HOST]++;
	approximate_cached += block->kind == KIND_SWITCHED &&
			      aftl_page_class(attr) == AFTL_APPROX;
	CHECK_EQ(block->kind == KIND_SWITCHED, block->order == AFTL_ORDER_SWITCHED);
	CHECK_EQ(block->kind == KIND_SWITCHED,
		 event->mode == AFTL_MODE_SLC || event->mode == AFTL_MODE_SWITCHED);
}

static void open_device(const char *params)
{
	test_device_init(&device, "demo");
	test_device_set_params(&device, SHAPE);
	device.ops.array = check_ips_event;
	memset(programs, 0, sizeof(programs));
	approximate_cached = 0;
	test_device_open(&device, "ips", params);
}

static void submit_ips_test_requests(u64 seed, u32 steps)
{
	test_stream_init(&stream, seed);
	test_stream_submit_requests(&stream, &device, steps);
	CHECK(test_drain_requests(&device));
}

static u32 ips_page_of_unit(u32 unit)
{
	return from_ppn(test_lookup(&device, unit)) % PAGES;
}

static u32 get_program_mode_of_unit(u32 unit)
{
	return aftl_page_mode(*aftl_page_attr_ptr(&device.ftl->media,
						  from_ppn(test_lookup(&device, unit))));
}

/* Write, by one request, the two pages that a switch adds to the cells of a word line. */
static void write_two_units(u32 unit)
{
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 2, AFTL_PRECISE, NULL), 0);
}

static const char one_block[] = "ips_blocks=1 ips_idle=0";

/* Word lines of two layers get one bit per cell, then two more bits; then come two new layers. */
TAP_TEST(a_switch_leaves_cached_data_in_place)
{
	aftl_ppn_t slots[LINES];
	u32 i;

	open_device(one_block);
	test_write_each_unit(&device, 0, LINES, AFTL_PRECISE);
	for (i = 0; i < LINES; i++) {
		slots[i] = test_lookup(&device, i);
		CHECK_EQ(ips_page_of_unit(i), i * LINE_PAGES);
		CHECK_EQ(get_program_mode_of_unit(i), AFTL_MODE_SLC);
	}
	for (i = 0; i < LINES; i++) {
		write_two_units(100 + 2 * i);
		CHECK_EQ(ips_page_of_unit(100 + 2 * i), i * LINE_PAGES + 1);
		CHECK_EQ(ips_page_of_unit(101 + 2 * i), i * LINE_PAGES + 2);
		CHECK_EQ(get_program_mode_of_unit(100 + 2 * i), AFTL_MODE_SWITCHED);
		CHECK_EQ(get_program_mode_of_unit(i), AFTL_MODE_SWITCHED);
		CHECK_EQ(i == LINES - 1 || get_program_mode_of_unit(i + 1) == AFTL_MODE_SLC, true);
	}
	for (i = 0; i < LINES; i++)
		CHECK(test_lookup(&device, i) == slots[i]);
	test_write_each_unit(&device, 50, 1, AFTL_PRECISE);
	CHECK(test_block_of(&device, 50) == test_block_of(&device, 0));
	CHECK_EQ(ips_page_of_unit(50), LINES * LINE_PAGES);
	CHECK_EQ(get_program_mode_of_unit(50), AFTL_MODE_SLC);
	CHECK_EQ(test_counters(&device)->programmed_gc_units, 0);
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 0);
}

/* Up to ips_blocks blocks are filled with one bit before any word line is switched. */
TAP_TEST(cache_blocks_are_opened_before_any_is_switched)
{
	u32 i;

	open_device("ips_blocks=3");
	test_write_each_unit(&device, 0, 3 * LINES, AFTL_PRECISE);
	for (i = 0; i < 3 * LINES; i++) {
		CHECK(test_block_of(&device, i) == test_block_of(&device, i / LINES * LINES));
		CHECK_EQ(get_program_mode_of_unit(i), AFTL_MODE_SLC);
	}
	CHECK(test_block_of(&device, 0) != test_block_of(&device, LINES));
	CHECK(test_block_of(&device, LINES) != test_block_of(&device, 2 * LINES));
	write_two_units(100);
	CHECK(test_block_of(&device, 100) == test_block_of(&device, 0));
	CHECK_EQ(get_program_mode_of_unit(100), AFTL_MODE_SWITCHED);
}

static u64 measure_read_ns(u32 unit)
{
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, NULL), 0);
	return last_ns;
}

static u64 compute_error_rate_of_ips_unit(u32 unit)
{
	return aftl_cell_rber_q40(&device.ftl->cell, test_block_of(&device, unit),
				  ips_page_of_unit(unit), aftl_device_age_hours(device.ftl));
}

/* A switch senses the stored bit and then takes a full program. */
TAP_TEST(a_switch_takes_a_sensing_and_a_full_program)
{
	const struct aftl_config *config;

	open_device(one_block);
	config = &device.ftl->config;
	test_write_each_unit(&device, 0, LINES, AFTL_PRECISE);
	CHECK_EQ(last_ns, config->program_slc);
	CHECK_EQ(measure_read_ns(0), config->read_slc);
	write_two_units(100);
	CHECK_EQ(last_ns, config->program + config->read_slc);
	CHECK_EQ(measure_read_ns(0), config->read);
	CHECK_EQ(measure_read_ns(100), config->read);
	CHECK_EQ(measure_read_ns(1), config->read_slc);
}

/* Send a read while a write of @units is programmed; return the number of suspensions. */
static u64 check_suspend_by_read(u32 unit, u32 units, u64 program_ns)
{
	u64 before = test_counters(&device)->array_suspends;

	CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, unit, units, AFTL_PRECISE, 0,
				aftl_device_time_ns(device.ftl)),
		 0);
	test_advance_clock_by(&device, program_ns / 4);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 1, 1, AFTL_PRECISE, NULL), 0);
	test_drain_requests(&device);
	return test_counters(&device)->array_suspends - before;
}

/* An in-place switch is not suspended: only its cells hold the bit that was stored before. */
TAP_TEST(a_read_suspends_a_cached_program_but_not_a_switch)
{
	open_device("ips_blocks=1 ips_idle=0 suspend=program");
	test_write_each_unit(&device, 0, LINES - 1, AFTL_PRECISE);
	CHECK_EQ(check_suspend_by_read(LINES - 1, 1, device.ftl->config.program_slc), 1);
	CHECK_EQ(check_suspend_by_read(100, 2, device.ftl->config.program), 0);
	CHECK_EQ(get_program_mode_of_unit(0), AFTL_MODE_SWITCHED);
}

static u64 age_hours_of_unit(u32 unit)
{
	return aftl_page_age_hours(aftl_media(device.ftl), test_block_of(&device, unit),
				   ips_page_of_unit(unit), aftl_device_age_hours(device.ftl));
}

/*
 * A switched page has the error rate of three-bit cells, at the age of its one-bit program.
 */
TAP_TEST(a_switched_page_has_the_errors_of_all_bits)
{
	u64 before;
	u64 beside;

	open_device("ips_blocks=1 ips_idle=0 cell_model=voltage");
	test_write_each_unit(&device, 0, LINES, AFTL_PRECISE);
	test_block_of(&device, 0)->erases = 2000;
	test_advance_clock_by(&device, 2000 * AFTL_HOUR_NS);
	before = compute_error_rate_of_ips_unit(0);
	write_two_units(100);
	beside = compute_error_rate_of_ips_unit(100);
	CHECK(compute_error_rate_of_ips_unit(0) > 2 * before);
	CHECK_EQ(age_hours_of_unit(0), 2000);
	CHECK_EQ(age_hours_of_unit(100), 0);
	CHECK(compute_error_rate_of_ips_unit(1) < beside);
}

static u32 get_program_disturbance_mv_of_unit(u32 unit)
{
	return aftl_compute_page_disturbance_mv(aftl_media(device.ftl),
						test_block_of(&device, unit),
						ips_page_of_unit(unit));
}

/* A one-bit word line is disturbed by the switch of its predecessor, not by its own switch. */
TAP_TEST(only_later_programs_disturb_a_cached_word_line)
{
	u32 side;
	u32 above;
	u32 i;

	open_device(one_block);
	test_write_each_unit(&device, 0, LINES, AFTL_PRECISE);
	CHECK_EQ(get_program_disturbance_mv_of_unit(LINES - 1), 0);
	side = get_program_disturbance_mv_of_unit(4);
	above = get_program_disturbance_mv_of_unit(2);
	CHECK(side && above);
	CHECK_EQ(get_program_disturbance_mv_of_unit(0), side + above);
	write_two_units(100);
	CHECK_EQ(get_program_disturbance_mv_of_unit(0), 0);
	CHECK_EQ(get_program_disturbance_mv_of_unit(1), side + side + above);
	for (i = 1; i < LINES; i++)
		write_two_units(100 + 2 * i);
	CHECK_EQ(get_program_disturbance_mv_of_unit(0), side + above);
	CHECK_EQ(get_program_disturbance_mv_of_unit(3), side);
	test_write_each_unit(&device, 50, 1, AFTL_PRECISE);
	CHECK_EQ(get_program_disturbance_mv_of_unit(3), side + above);
}

/*
 * Relocated data fill the other bits of cached word lines, so that the host finds new word lines.
 */
TAP_TEST(relocated_data_fill_the_other_bits_of_cached_word_lines)
{
	open_device("fill=sequential fill_approx=30%");
	submit_ips_test_requests(4, 9000);
	CHECK(programs[AFTL_MODE_SLC][true] > 500);
	CHECK(programs[AFTL_MODE_SWITCHED][false] > 200);
	CHECK_EQ(programs[AFTL_MODE_SLC][false], 0);
	CHECK_EQ(programs[AFTL_MODE_NORMAL][true], 0);
	CHECK(approximate_cached);
}

/* Prepare a GC victim that has four valid pages, and six word lines with one bit per cell. */
static void open_nearly_empty_block(const char *idle)
{
	open_device(test_format_params("ips_blocks=1 ips_idle=%s fill=sequential idle=1ms", idle));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, PAGES - 4, AFTL_PRECISE, NULL),
		 0);
	CHECK(test_block_of(&device, PAGES - 4) == test_block_of(&device, PAGES - 1));
	test_write_each_unit(&device, 0, LINES, AFTL_PRECISE);
	test_advance_clock_by(&device, AFTL_HOUR_NS);
}

TAP_TEST(idle_time_relocates_blocks_up_to_ips_idle)
{
	u32 i;

	open_nearly_empty_block("25%");
	for (i = PAGES - 4; i < PAGES; i++) {
		CHECK(test_block_of(&device, i) == test_block_of(&device, 0));
		CHECK_EQ(get_program_mode_of_unit(i), AFTL_MODE_SWITCHED);
	}
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 4);
	open_nearly_empty_block("11%");
	CHECK(test_block_of(&device, PAGES - 1) != test_block_of(&device, 0));
	open_nearly_empty_block("0");
	CHECK(test_block_of(&device, PAGES - 1) != test_block_of(&device, 0));
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 0);
}

/* Idle-time GC relocates no more data than the SLC word lines that wait for the switch can take. */
TAP_TEST(idle_time_relocates_only_what_cached_word_lines_hold)
{
	open_device("ips_blocks=1 ips_idle=100% fill=sequential idle=1ms");
	test_write_each_unit(&device, 0, LINES - 1, AFTL_PRECISE);
	test_advance_clock_by(&device, AFTL_HOUR_NS);
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 0);
	test_write_each_unit(&device, LINES - 1, 1, AFTL_PRECISE);
	test_advance_clock_by(&device, AFTL_HOUR_NS);
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 2 * LINES);
	CHECK_EQ(programs[AFTL_MODE_NORMAL][false], 0);
}

static void run_requests_with_ips_params(const char *policy, const char *key, const char *value,
					 const char *other, const char *set)
{
	test_open_demo_profile(&device, policy,
			       test_format_params(SHAPE " fill=sequential fill_approx=30%% %s=%s "
						  "%s=%s", key, value, other, set));
	submit_ips_test_requests(11, 12000);
	test_audit_device(&device);
}

/* Without cache blocks policy ips must equal ApproxFTL with hot_size=0 (no hot data). */
TAP_TEST(without_cache_blocks_the_policy_equals_approxftl)
{
	struct aftl_counters counters;

	run_requests_with_ips_params("approxftl", "hot_size", "0", "bits", "3");
	counters = *test_counters(&device);
	run_requests_with_ips_params("ips", "ips_approx", "on", "ips_blocks", "0");
	CHECK(counters.array_low_erases && counters.programmed_gc_units);
	CHECK(!memcmp(&counters, test_counters(&device), sizeof(counters)));
}

/* With ips_approx, ApproxFTL instead of the cache places approximate data from the start. */
TAP_TEST(with_approxftl_on_approximate_data_are_not_cached)
{
	open_device("ips_approx=on fill=sequential fill_approx=50%");
	submit_ips_test_requests(2, 9000);
	CHECK_EQ(approximate_cached, 0);
	CHECK(programs[AFTL_MODE_REDUCED][true] > 500);
	CHECK(programs[AFTL_MODE_SLC][true] > 500);
	CHECK(programs[AFTL_MODE_SWITCHED][false] > 50);
}

static void check_no_word_line_is_switched(const char *params)
{
	test_open_demo_profile(&device, "ips", params);
	submit_ips_test_requests(1, 3000);
	CHECK_EQ(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_SLC], 0);
	CHECK_EQ(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_SWITCHED], 0);
}

/* IPS needs three-bit cells, whole-word-line programs, one pass, and no SLC cache of the core. */
TAP_TEST(devices_that_cannot_switch_have_no_cache)
{
	test_open_demo_profile(&device, "ips", SHAPE " slc_static=10%");
	submit_ips_test_requests(1, 3000);
	CHECK(test_counters(&device)->cached_host_units);
	CHECK_EQ(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_SWITCHED], 0);
	check_no_word_line_is_switched("bits=2 one_shot=on");
	check_no_word_line_is_switched("bits=3 op=40%");
	check_no_word_line_is_switched("bits=4 one_shot=on passes=2 buffer=1MiB op=40%");
}

TAP_TEST(a_loaded_device_continues_its_switched_blocks)
{
	struct aftl_block *block;

	open_device(one_block);
	test_write_each_unit(&device, 0, LINES, AFTL_PRECISE);
	write_two_units(100);
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(get_program_mode_of_unit(0), AFTL_MODE_SWITCHED);
	CHECK_EQ(get_program_mode_of_unit(1), AFTL_MODE_SLC);
	write_two_units(102);
	CHECK_EQ(ips_page_of_unit(102), LINE_PAGES + 1);
	CHECK_EQ(get_program_mode_of_unit(1), AFTL_MODE_SWITCHED);
	/* A load closes a block whose kind a forged snapshot changes. */
	block = test_block_of(&device, 0);
	block->kind = KIND_PRECISE;
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(test_block_of(&device, 0)->state, AFTL_BLOCK_CLOSED);
	test_write_each_unit(&device, 50, 1, AFTL_PRECISE);
	CHECK(test_block_of(&device, 50) != test_block_of(&device, 0));
	CHECK_EQ(get_program_mode_of_unit(50), AFTL_MODE_SLC);
}
