// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two modes of TVR: program times, placement, retention and wear.
 */
#include "stream.h"
#include "tap.h"

/* A device with the TVR paper's word lines of a fast and a slow page; bus time is negligible. */
#define SHAPE "channels=1 chips=1 blocks=40 layers=1 word_lines=8 bits=2 op=60 unit=0 bus=100000 " \
	"program=1200us program_fast=400us"

#define BUS_NS 82 /* transfer time of a page of 8 KiB at 100000 MB/s */
#define DAY_NS (24 * AFTL_HOUR_NS)

static struct test_device device;

static u64 measure_write_ns(u32 unit)
{
	return test_measure_io_ns(&device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE) - BUS_NS;
}

static bool is_unit_short_lived(u32 unit)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u16 attr = aftl_ppn_attr(media, test_lookup(&device, unit));

	return aftl_page_mode(attr) == AFTL_MODE_REDUCED;
}

/* Check that each block holds only pages of the program mode that its kind names. */
static void check_block_modes(void)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 block;
	u32 page;

	for (block = 0; block < media->geo->blocks; block++)
		for (page = 0; page < media->geo->pages; page++) {
			u16 attr = *aftl_page_attr_ptr(media, block * media->geo->pages + page);
			u32 mode = media->blocks[block].kind ? AFTL_MODE_REDUCED :
							       AFTL_MODE_NORMAL;

			CHECK(!attr || aftl_page_mode(attr) == mode);
		}
}

/* Without margins programs take 11 of 22 ISPP steps (LSB) and 8 of 16 (MSB): half the time. */
TAP_TEST(programs_take_half_the_time, "TV-2: programs take half the time")
{
	test_open_demo_profile(&device, "tvr", SHAPE " tvr_mode=device");
	CHECK_EQ(measure_write_ns(0), 200000);
	CHECK_EQ(measure_write_ns(1), 600000);
	CHECK_EQ(measure_write_ns(2), 200000);
}

/* With half the margins, a fast page takes 17 of 22 ISPP steps, a slow page 12 or 13 of 16. */
TAP_TEST(program_time_follows_from_the_margin)
{
	test_open_demo_profile(&device, "tvr", SHAPE " tvr_mode=device tvr_margin=50");
	CHECK_EQ(measure_write_ns(0), 400000 * aftl_tvr_steps[0][8] / 22);
	CHECK_EQ(measure_write_ns(1), 1200000 * aftl_tvr_steps[1][8] / 16);
	CHECK(aftl_tvr_steps[0][8] > 11 && aftl_tvr_steps[0][8] < 22);
	test_open_demo_profile(&device, "tvr", SHAPE " tvr_mode=device tvr_margin=100");
	CHECK_EQ(measure_write_ns(0), 400000);
	CHECK_EQ(measure_write_ns(1), 1200000);
}

/* A word line of one page takes the sum of the ISPP steps of a fast and a slow page. */
TAP_TEST(one_page_word_lines_take_the_sum_of_both_pages_steps)
{
	test_open_demo_profile(&device, "tvr",
			       SHAPE " bits=1 program_fast=0 tvr_mode=device tvr_margin=25");
	CHECK_EQ(measure_write_ns(0), 1200000 * (aftl_tvr_steps[0][4] + aftl_tvr_steps[1][4]) / 38);
}

TAP_TEST(update_intervals_identify_short_lived_data)
{
	test_open_demo_profile(&device, "tvr", SHAPE " fill=sequential age=30d");
	CHECK(!is_unit_short_lived(1));
	/* Data that replace a version older than the retention budget get voltage margins. */
	measure_write_ns(1);
	CHECK(!is_unit_short_lived(1));
	measure_write_ns(1);
	CHECK(is_unit_short_lived(1));
	/* Data that live six days get margins, as TVR looks for data to refresh only once a day. */
	aftl_advance_age(device.ftl, 6 * DAY_NS);
	measure_write_ns(1);
	CHECK(!is_unit_short_lived(1));
	check_block_modes();
}

/* In TVR's mode "tagged" an approximate tag means a short lifetime: data have no errors. */
TAP_TEST(tags_identify_short_lived_data)
{
	u32 class;
	u32 i;

	test_open_demo_profile(&device, "tvr", SHAPE " tvr_mode=tagged rber_approx=1e-2");
	for (i = 0; i < 3; i++) {
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 1, 1, AFTL_APPROX, NULL), 0);
		CHECK(is_unit_short_lived(1));
		/* Untagged data have full voltage margins, even if they are soon overwritten. */
		measure_write_ns(2);
		CHECK(!is_unit_short_lived(2));
	}
	aftl_lookup(device.ftl, to_lpn(1), &class);
	CHECK_EQ(class, AFTL_PRECISE);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 1, 1, 0, NULL), 0);
	CHECK_EQ(test_counters(&device)->read_flipped_bits, 0);
	measure_write_ns(1);
	CHECK(!is_unit_short_lived(1));
	check_block_modes();
}

TAP_TEST(new_data_are_programmed_with_margins)
{
	test_open_demo_profile(&device, "tvr", SHAPE);
	measure_write_ns(5);
	CHECK(!is_unit_short_lived(5));
	measure_write_ns(5);
	CHECK(is_unit_short_lived(5));
}

static u64 age_hours_of_unit(u32 unit)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	const struct aftl_block *block = aftl_block_of_ppn(media, test_lookup(&device, unit));
	u32 page = aftl_page_of_ppn(media, test_lookup(&device, unit)) % media->geo->pages;

	return aftl_device_age_hours(device.ftl) - block->first_hour -
	       aftl_get_program_timestamp_of_page(media, block, page);
}

static void check_unit_ages(u32 budget_hours)
{
	u32 unit;

	for (unit = 0; unit < test_unit_count(&device); unit++)
		if (test_lookup(&device, unit) != AFTL_NO_PPN && is_unit_short_lived(unit))
			CHECK_MSG(age_hours_of_unit(unit) <= budget_hours,
				  "unit %u is %llu hours old without margins", unit,
				  (unsigned long long)age_hours_of_unit(unit));
}

/* Check the ages of data without margins at each hour; they are highest before a daily search. */
TAP_TEST(data_without_margins_are_refreshed_in_time)
{
	u32 hour;
	u32 unit;

	test_open_demo_profile(&device, "tvr", SHAPE " tvr_mode=device tvr_retention=4d");
	for (hour = 0; hour < 24 * 12; hour++) {
		for (unit = 0; hour < 60 && unit < 3; unit++)
			measure_write_ns((hour * 3 + unit) % test_unit_count(&device));
		test_advance_clock_by(&device, AFTL_HOUR_NS / 2);
		check_unit_ages(4 * 24);
		test_advance_clock_by(&device, AFTL_HOUR_NS / 2);
	}
	CHECK_EQ(test_counters(&device)->programmed_refresh_units, 180);
	for (unit = 0; unit < 180; unit++)
		CHECK(!is_unit_short_lived(unit));
	check_block_modes();
}

static u64 measure_erase_wear(const char *mode, const char *margin)
{
	u32 unit = 0;
	u64 wear;

	test_open_demo_profile(&device, "tvr", test_format_params(SHAPE " tvr_mode=%s "
								  "tvr_margin=%s", mode, margin));
	/* In TVR's mode "block" new data are programmed with voltage margins. */
	while (!test_counters(&device)->array_erases) {
		measure_write_ns(unit);
		test_execute_request(&device, AFTL_OP_DISCARD, unit, 1, AFTL_PRECISE, NULL);
		unit = (unit + 1) % test_unit_count(&device);
	}
	wear = test_counters(&device)->wear_sum / test_counters(&device)->array_erases;
	return wear;
}

/* TV-3: 7.0 % more erases. */
TAP_TEST(blocks_without_margins_last_longer, "TV-3: blocks without margins last longer")
{
	CHECK_EQ(measure_erase_wear("block", "0"), 10000);
	CHECK_EQ(measure_erase_wear("device", "0"), 10000 * 65536ULL / 70134);
	CHECK_EQ(measure_erase_wear("device", "100"), 10000);
}

/* Let GC relocate every second unit, and count the relocated units without margins. */
static void check_mode_after_relocation(const char *mode, bool keep)
{
	struct aftl_random random = { 6 };
	u32 half;
	u32 shorts = 0;
	u32 i;

	test_open_demo_profile(&device, "tvr",
			       test_format_params(SHAPE " op=30 tvr_mode=%s", mode));
	half = test_unit_count(&device) / 2;
	for (i = 0; i < 2 * half; i++) {
		measure_write_ns(i);
		measure_write_ns(i);
		CHECK(is_unit_short_lived(i));
	}
	for (i = 0; i < 4000; i++)
		measure_write_ns(2 * aftl_random_below(&random, half) + 1);
	CHECK(test_counters(&device)->programmed_gc_units > half);
	for (i = 0; i < half; i++)
		shorts += is_unit_short_lived(2 * i);
	CHECK_EQ(shorts, keep ? half : 0);
	check_block_modes();
}

TAP_TEST(mode_block_relocates_data_with_margins)
{
	check_mode_after_relocation("block", false);
}

TAP_TEST(mode_device_relocates_data_without_margins)
{
	check_mode_after_relocation("device", true);
}

static u64 interpolate_tvr_table_q16(const u32 *table)
{
	return ((u64)table[0] + table[1]) / 2;
}

/* Wear makes programs faster and erases slower; 100000 erases are midway between table entries. */
TAP_TEST(program_and_erase_times_follow_the_cycles)
{
	u64 factor = interpolate_tvr_table_q16(aftl_tvr_program_wear_q16);
	u64 erase = interpolate_tvr_table_q16(aftl_tvr_erase_ns[0]) +
		    interpolate_tvr_table_q16(aftl_tvr_erase_ns[1]);
	u64 new_ns = aftl_tvr_erase_ns[0][0] + aftl_tvr_erase_ns[1][0];
	u32 unit;

	test_open_demo_profile(&device, "tvr",
			       SHAPE " wear_times=on cycles=100000 tvr_mode=device");
	CHECK_RANGE(measure_write_ns(0), 200000 * factor / 65536 - 2, 200000 * factor / 65536 + 2);
	for (unit = 0; !test_counters(&device)->array_erases; unit++)
		measure_write_ns(unit % 20);
	CHECK_RANGE(test_counters(&device)->array_erase_ns,
		    3500000ULL * erase / new_ns - 100, 3500000ULL * erase / new_ns + 100);
}

TAP_TEST(new_blocks_have_the_configured_times)
{
	test_open_demo_profile(&device, "tvr", SHAPE " wear_times=on");
	CHECK_EQ(measure_write_ns(0), 400000);
	CHECK_EQ(measure_write_ns(1), 1200000);
}

static u64 compute_error_rate_of_tvr_unit(u32 unit)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 page = aftl_page_of_ppn(media, test_lookup(&device, unit)) % media->geo->pages;

	return aftl_cell_rber_q40(aftl_cell(device.ftl), test_block_of(&device, unit), page,
				  aftl_device_age_hours(device.ftl));
}

/* Error rate of a page programmed with share @margin of the margins, after @age_ns. */
static u64 measure_error_rate_with_tvr_margin(const char *margin, u64 age_ns)
{
	const char *params = test_format_params(SHAPE " tvr_mode=device cell_model=voltage "
						"cycles=3000 tvr_margin=%s", margin);
	u64 rber;

	test_open_demo_profile(&device, "tvr", params);
	measure_write_ns(0);
	aftl_advance_age(device.ftl, age_ns);
	CHECK(is_unit_short_lived(0));
	rber = compute_error_rate_of_tvr_unit(0);
	return rber;
}

TAP_TEST(margins_reduce_errors_by_retention)
{
	u64 fresh = measure_error_rate_with_tvr_margin("0", 0);
	u64 week = measure_error_rate_with_tvr_margin("0", 20 * AFTL_HOUR_NS);

	CHECK(fresh > (1ULL << 40) / 10000);
	CHECK(week > fresh);
	CHECK(measure_error_rate_with_tvr_margin("50", 0) < fresh / 2);
	CHECK(measure_error_rate_with_tvr_margin("100", 20 * AFTL_HOUR_NS) < week / 10);
}
