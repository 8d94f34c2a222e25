// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sparse blocks, whose cells hold fewer bits: their pages, program and read times, and errors.
 */
#include <stdlib.h>

#include "tap.h"
#include "test-device.h"

static struct test_device device;
static u32 bits_of_mode[AFTL_MODES];
static u64 ns_of_mode[AFTL_MODES];
static u32 pages_told;

static void record_program_ns(void *host, const struct aftl_array_event *event)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 mode = event->mode;

	if (event->op != AFTL_ARRAY_PROGRAM)
		return;
	if (media->blocks[event->block].bits) {
		pages_told += event->pages;
		bits_of_mode[mode] = media->blocks[event->block].bits;
		ns_of_mode[mode] = event->array_ns;
	}
}

static void open_device_with_one_shot_and_bits(const char *one_shot, const char *bits)
{
	const char *shape = test_format_params("channels=1 chips=1 blocks=40 layers=4 word_lines=4 "
					       "bits=%s one_shot=%s page=4KiB unit=4KiB op=40%% "
					       "slc_static=25%% read_slc=20us program_slc=150us "
					       "ecc=0", bits, one_shot);

	test_device_init(&device, "demo");
	device.ops.array = record_program_ns;
	memset(bits_of_mode, 0, sizeof(bits_of_mode));
	pages_told = 0;
	test_device_open(&device, "baseline", shape);
}

static void write_units_singly(u32 first, u32 units)
{
	test_write_each_unit(&device, first, units, AFTL_PRECISE);
}

/* Check that only the first page of each word line is programmed. */
static void check_only_first_pages_programmed(const struct aftl_block *block, u32 bits)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 page;

	for (page = 0; page < media->geo->pages; page++)
		CHECK_EQ(aftl_page_is_programmed(media, block, page), page % bits == 0);
}

static void check_one_bit_mode(const char *one_shot, const char *bits)
{
	u32 word_lines = 4 * 4;

	open_device_with_one_shot_and_bits(one_shot, bits);
	write_units_singly(0, word_lines);
	CHECK_EQ(test_block_of(&device, 0)->bits, 1);
	CHECK(test_block_of(&device, 0) == test_block_of(&device, word_lines - 1));
	CHECK_EQ(test_block_of(&device, 0)->state, AFTL_BLOCK_CLOSED);
	CHECK_EQ(test_block_of(&device, 0)->programmed, word_lines);
	check_only_first_pages_programmed(test_block_of(&device, 0), (u32)strtoul(bits, NULL, 10));
	CHECK_EQ(bits_of_mode[AFTL_MODE_SLC], 1);
	CHECK_EQ(ns_of_mode[AFTL_MODE_SLC], 150000);
	CHECK_EQ(pages_told, word_lines);
	write_units_singly(word_lines, 1);
	CHECK(test_block_of(&device, word_lines) != test_block_of(&device, 0));
}

TAP_TEST(one_bit_blocks_use_only_the_first_page_of_each_word_line)
{
	check_one_bit_mode("on", "3");
	check_one_bit_mode("off", "3");
	check_one_bit_mode("on", "4");
	check_one_bit_mode("off", "2");
}

static u64 measure_read_ns(u32 unit)
{
	u64 before_ns = aftl_get_stats(device.ftl)->read_service.sum;

	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, NULL), 0);
	return aftl_get_stats(device.ftl)->read_service.sum - before_ns;
}

/* Read a unit from the SLC cache and again after it was folded. */
TAP_TEST(reads_of_one_bit_blocks_take_read_slc)
{
	u64 cached_ns;

	open_device_with_one_shot_and_bits("on", "3");
	write_units_singly(0, 16);
	cached_ns = measure_read_ns(3);
	test_advance_clock_by(&device, AFTL_HOUR_NS);
	CHECK_EQ(test_block_of(&device, 3)->bits, 0);
	CHECK_EQ(measure_read_ns(3) - cached_ns, device.config.read - 20000);
}

/* Loading refuses a snapshot with a valid checksum and an impossible state of a block. */
TAP_TEST(a_forged_snapshot_with_an_impossible_frontier_is_refused)
{
	open_device_with_one_shot_and_bits("off", "3");
	write_units_singly(0, 5);
	((struct aftl_block *)test_block_of(&device, 4))->frontier++;
	CHECK_EQ(test_device_reload(&device), -EUCLEAN);
	CHECK_CONTAINS(device.error.text, "impossible state");
}

/* Program modes must keep their numbers, which flash stores: check bits and time of each. */
TAP_TEST(program_modes_keep_their_numbers)
{
	static const u32 bits[] = { 0, 0, 0, 0, 0, 0, 0, 2, 1, 3, 0, 0, 0, 0 };
	u32 mode;

	CHECK_EQ(AFTL_MODES, ARRAY_SIZE(bits));
	CHECK_EQ(AFTL_MODE_MLC, 7);
	CHECK_EQ(AFTL_MODE_SLC, 8);
	CHECK_EQ(AFTL_MODE_TLC, 9);
	CHECK_EQ(AFTL_MODE_FOGGY, 10);
	CHECK_EQ(AFTL_MODE_LENDING, 11);
	CHECK_EQ(AFTL_MODE_SWITCHED, 12);
	CHECK_EQ(AFTL_MODE_ROUGH, 13);
	for (mode = 0; mode < AFTL_MODES; mode++) {
		u16 attr = aftl_page_attr(AFTL_APPROX, mode, 2);

		CHECK_EQ(aftl_mode_bits_per_cell(mode), bits[mode]);
		CHECK_EQ(aftl_page_mode(attr), mode);
		CHECK_EQ(aftl_page_class(attr), AFTL_APPROX);
		CHECK_EQ(aftl_get_reprogram_count_of_page(attr), 2);
		CHECK(aftl_page_attr_is_possible(attr));
	}
	CHECK(!aftl_page_attr_is_possible(aftl_page_attr(AFTL_PRECISE, AFTL_MODES, 0)));
}

static u64 count_errors_of_mode(const char *share, const char *cycles)
{
	const char *shape = test_format_params("channels=1 chips=1 blocks=40 bits=3 one_shot=on "
					       "page=16KiB unit=16KiB cell_model=voltage cycles=%s "
					       "op=50%% slc_static=%s ecc_bits=80", cycles, share);
	u64 raw = 0;
	u32 i;

	test_open_demo_profile(&device, "baseline", shape);
	write_units_singly(0, 128);
	for (i = 0; i < 128; i++) {
		struct aftl_errors errors = { 0 };

		aftl_get_lpn_read_errors(device.ftl, to_lpn(i), &errors);
		raw += errors.raw;
	}
	return raw;
}

/* Pages with one bit per cell have fewer errors than pages with three bits. */
TAP_TEST(one_bit_cells_have_fewer_errors)
{
	u64 slc = count_errors_of_mode("20%", "3000");
	u64 tlc = count_errors_of_mode("0", "3000");

	CHECK_MSG(slc * 1000 < tlc, "%llu errors with one bit, %llu with three",
		  (unsigned long long)slc, (unsigned long long)tlc);
}
