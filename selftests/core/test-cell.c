// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error model: random draws, error rates, and the wear, age and neighbours that raise error rates.
 */
#include <stdlib.h>

#include "core/nand/bit-flips.h"
#include "core/nand/cell.h"
#include "core/policy/param-registry.h"
#include "core/base/random.h"
#include "tap.h"

/* The flash blocks and pages that the tests program directly, without an FTL. */
static struct {
	struct aftl_config config;
	struct aftl_geometry geo;
	struct aftl_media media;
	struct aftl_cell cell;
} lab;

static void set_up_cell_test(u32 blocks, u32 unit)
{
	struct aftl_error error;

	if (aftl_profile_load(&lab.config, "demo", &error))
		tap_bail_out("%s", error.text);
	lab.config.channels = 1;
	lab.config.chips = 1;
	lab.config.bits = 2;
	lab.config.layers = 4;
	lab.config.word_lines = 4;
	lab.config.page = max(unit, 4096U);
	lab.config.unit = unit;
	lab.config.blocks = blocks;
}

static void build_cell_model(void)
{
	struct aftl_error error;
	struct aftl_geometry *geo = &lab.geo;

	if (aftl_geometry_init(geo, &lab.config, &error))
		tap_bail_out("%s", error.text);
	lab.media = (struct aftl_media){
		.geo = geo,
		.blocks = tap_zalloc(geo->blocks, sizeof(struct aftl_block)),
		.models_errors = true,
		.valid = tap_zalloc(geo->ppns / 64 + 1, sizeof(u64)),
	};
	aftl_oob_layout_init(&lab.media);
	lab.media.oob.chunk[0] =
		tap_zalloc((size_t)geo->blocks * geo->pages, lab.media.oob_layout.bytes);
	aftl_cell_init(&lab.cell, &lab.media, &lab.config);
}

static void end_cell_test(void)
{
	free(lab.media.blocks);
	free(lab.media.oob.chunk[0]);
	free(lab.media.valid);
}

static void program_all_pages_of_block(u32 class, u32 mode)
{
	u32 page;

	for (page = 0; page < lab.geo.blocks * lab.geo.pages; page++)
		*aftl_page_attr_ptr(&lab.media, page) = aftl_page_attr(class, mode, 0);
}

TAP_TEST(drawn_error_counts_have_the_requested_mean)
{
	/* Means of the Poisson distributions, in units of 1/65536, from rare events to many. */
	static const u64 means[] = {
		66, 655, 6554, 32768, 65536, 196608, 655360, 1546000, 6553600, 65536000, 400000000,
	};
	const u32 draws = 400000;
	unsigned int i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(means); i++) {
		struct aftl_random random = { i };
		u64 wanted = means[i] * draws >> 16;
		u64 sum = 0;

		for (n = 0; n < draws; n++)
			sum += aftl_poisson_draw(means[i] << 16, aftl_random_next(&random));
		/* The sum of drawn errors may deviate by 1 % plus four standard deviations. */
		CHECK_RANGE((sum > wanted ? sum - wanted : wanted - sum) *
			    (sum > wanted ? sum - wanted : wanted - sum), 0,
			    (wanted / 100 + 1) * (wanted / 100 + 1) + 16 * wanted);
	}
}

TAP_TEST(drawn_error_counts_have_the_variance_of_a_poisson_count)
{
	static const u32 means[] = { 1, 4, 23, 100, 1000 };
	const u32 draws = 200000;
	unsigned int i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(means); i++) {
		struct aftl_random random = { 77 + i };
		u64 squares = 0;

		for (n = 0; n < draws; n++) {
			s64 off = (s64)aftl_poisson_draw((u64)means[i] << 32,
							 aftl_random_next(&random)) - means[i];
			squares += off * off;
		}
		/* Drawing errors from quantile bins truncates the distribution's tails a little. */
		CHECK_RANGE(squares / (draws / 100), 100 * means[i] * 85 / 100,
			    100 * means[i] * 125 / 100);
	}
}

static void check_bit_flip_positions_are_distinct(u32 unit, u16 generation)
{
	u32 bits = lab.geo.unit_bits;
	u8 *hit = tap_zalloc(bits, 1);
	u32 i;

	for (i = 0; i < bits; i++) {
		u32 at = aftl_get_bit_flip_position(&lab.cell, to_lpn(unit), generation, i);

		if (!CHECK_MSG(at < bits && !hit[at], "bit %u of %u is hit twice or outside", at,
			       bits))
			break;
		hit[at] = 1;
	}
	free(hit);
}

TAP_TEST(flip_positions_of_a_page_do_not_repeat)
{
	u32 unit_bytes;

	for (unit_bytes = 512; unit_bytes <= 65536; unit_bytes *= 2) {
		set_up_cell_test(2, unit_bytes);
		build_cell_model();
		check_bit_flip_positions_are_distinct(0, 0);
		check_bit_flip_positions_are_distinct(1, 0);
		check_bit_flip_positions_are_distinct(0, 1);
		check_bit_flip_positions_are_distinct(123456789, 54321);
		check_bit_flip_positions_are_distinct(U32_MAX, 0xffff);
		end_cell_test();
	}
}

/* In the first bit flips of many writes every bit position must be equally likely. */
TAP_TEST(flipped_bits_are_spread_evenly_over_a_page)
{
	u32 sixteenth[16] = { 0 };
	u32 same = 0;
	u32 i;

	set_up_cell_test(2, 4096);
	build_cell_model();
	for (i = 0; i < 64000; i++) {
		u32 at = aftl_get_bit_flip_position(&lab.cell, to_lpn(i % 100), i / 100, i % 23);

		sixteenth[at / 2048]++;
		same += at ==
			aftl_get_bit_flip_position(&lab.cell, to_lpn(i % 100), i / 100 + 1, i % 23);
	}
	for (i = 0; i < 16; i++)
		CHECK_RANGE(sixteenth[i], 3600, 4400);
	CHECK_RANGE(same, 0, 30);
	end_cell_test();
}

TAP_TEST(another_seed_moves_the_flipped_bits)
{
	u32 first;
	u32 other;

	set_up_cell_test(2, 4096);
	build_cell_model();
	first = aftl_get_bit_flip_position(&lab.cell, to_lpn(1), 2, 3);
	end_cell_test();
	lab.config.seed = 2;
	build_cell_model();
	other = aftl_get_bit_flip_position(&lab.cell, to_lpn(1), 2, 3);
	end_cell_test();
	CHECK(first != other);
}

static u64 sum_raw_errors(u32 class)
{
	u64 sum = 0;
	u32 slot;

	program_all_pages_of_block(class,
				   class == AFTL_APPROX ? AFTL_MODE_REDUCED : AFTL_MODE_NORMAL);
	for (slot = 0; slot < lab.geo.ppns; slot++)
		sum += aftl_cell_read_errors(&lab.cell, to_ppn(slot), 0).raw;
	return sum;
}

/* Check the sum of raw errors of all programmed units against @rate, in 10^-12 per bit. */
static void check_error_rate(u32 class, u64 rate)
{
	double wanted = (double)lab.geo.ppns * lab.geo.unit_bits * rate / 1e12;
	double noise = 4 * __builtin_sqrt(wanted);
	double got = sum_raw_errors(class);

	CHECK_MSG(got > wanted * 0.95 - noise && got < wanted * 1.05 + noise,
		  "%u-byte units, class %u: %.0f errors instead of %.0f", lab.geo.unit_bytes,
		  class, got, wanted);
}

static void check_rber(u32 blocks, u32 unit_bytes, u32 class, u64 rate)
{
	set_up_cell_test(blocks, unit_bytes);
	*(class == AFTL_PRECISE ? &lab.config.rber : &lab.config.rber_approx) = rate;
	build_cell_model();
	check_error_rate(class, rate);
	end_cell_test();
}

/* The tested error rates go up to 0.1, the maximum of the parameters rber and rber_approx. */
TAP_TEST(error_counts_match_the_rates_of_each_class_and_unit_size)
{
	static const u64 rates[] = {
		100000, 1000000, 10000000, 100000000, 2000000000ULL, 4000000000ULL,
		20000000000ULL, 100000000000ULL,
	};
	u32 i;

	for (i = 512; i <= 65536; i *= 4) {
		check_rber(2000, i, AFTL_APPROX, 720000000);
		check_rber(60000, i, AFTL_PRECISE, 10000);
	}
	for (i = 0; i < ARRAY_SIZE(rates); i++)
		check_rber(rates[i] > 2000000000ULL ? 100 : 8000, 4096, AFTL_APPROX, rates[i]);
}

/* A page that is programmed after an erase draws new errors. */
TAP_TEST(a_program_after_an_erase_draws_new_errors)
{
	u32 slot;
	u32 same = 0;

	set_up_cell_test(20, 4096);
	build_cell_model();
	program_all_pages_of_block(AFTL_APPROX, AFTL_MODE_REDUCED);
	for (slot = 0; slot < lab.geo.ppns; slot++) {
		struct aftl_block *block = aftl_block_of_ppn(&lab.media, to_ppn(slot));
		u32 before = aftl_cell_read_errors(&lab.cell, to_ppn(slot), 0).raw;

		block->erases++;
		same += before == aftl_cell_read_errors(&lab.cell, to_ppn(slot), 0).raw;
		block->erases--;
	}
	CHECK_RANGE(same, 1, lab.geo.ppns / 4);
	end_cell_test();
}

TAP_TEST(errors_never_fall_with_age)
{
	u32 mode;
	u32 slot;

	set_up_cell_test(4, 4096);
	lab.config.cell_model = AFTL_CELL_VOLTAGE;
	build_cell_model();
	for (mode = 0; mode < AFTL_MODES; mode++) {
		program_all_pages_of_block(mode == AFTL_MODE_REDUCED, mode);
		for (slot = 0; slot < lab.geo.ppns; slot += 5) {
			u64 hour = 0;
			u32 last = 0;

			for (; hour < 400000; hour += 1 + hour / 3) {
				u32 raw = aftl_cell_read_errors(&lab.cell, to_ppn(slot), hour).raw;

				CHECK_MSG(raw >= last, "mode %u, hour %llu: %u after %u", mode,
					  (unsigned long long)hour, raw, last);
				last = raw;
			}
		}
	}
	end_cell_test();
}

TAP_TEST(rates_rise_with_wear)
{
	struct aftl_block *block;
	u64 unworn;
	u64 last;
	u32 erases;

	set_up_cell_test(1, 4096);
	lab.config.cell_model = AFTL_CELL_VOLTAGE;
	build_cell_model();
	program_all_pages_of_block(AFTL_PRECISE, AFTL_MODE_NORMAL);
	block = &lab.media.blocks[0];
	unworn = aftl_cell_rber_q40(&lab.cell, block, 3, 1000);
	last = unworn;
	for (erases = 0; erases < 50000; erases += 1 + erases / 5) {
		u64 rate;

		block->erases = erases;
		rate = aftl_cell_rber_q40(&lab.cell, block, 3, 1000);
		CHECK_MSG(rate >= last, "%u erases: %llu after %llu", erases,
			  (unsigned long long)rate, (unsigned long long)last);
		last = rate;
	}
	CHECK(last > 2 * unworn);
	end_cell_test();
}

/* With 4 layers of 8 positions the neighbours of page 12 are the pages 11, 13, 4 and 20. */
TAP_TEST(only_later_programs_of_neighbours_disturb_a_page)
{
	static const u32 neighbours[] = { 4, 11, 13, 20 };
	struct aftl_block *block;
	u32 page;
	u32 i;

	set_up_cell_test(1, 4096);
	build_cell_model();
	block = &lab.media.blocks[0];
	*aftl_page_attr_ptr(&lab.media, 12) = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0);
	CHECK_EQ(aftl_compute_page_disturbance_mv(&lab.media, block, 12), 0);
	for (page = 0; page < lab.geo.pages; page++) {
		bool disturbs = page == 13 || page == 20;

		if (page == 12)
			continue;
		*aftl_page_attr_ptr(&lab.media, page) =
			aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0);
		CHECK_MSG(!aftl_compute_page_disturbance_mv(&lab.media, block, 12) == !disturbs,
			  "page %u: disturb of page 12", page);
		*aftl_page_attr_ptr(&lab.media, page) = 0;
	}
	/* In checkerboard order page 12 has one page colour, its neighbours have the other. */
	block->order = AFTL_ORDER_TWO_PASS;
	for (block->flip = 0;; block->flip = 1) {
		for (i = 0; i < ARRAY_SIZE(neighbours); i++) {
			*aftl_page_attr_ptr(&lab.media, neighbours[i]) =
				aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0);
			CHECK_MSG(!aftl_compute_page_disturbance_mv(&lab.media, block, 12) ==
					  !block->flip,
				  "flip %u: page %u", block->flip, neighbours[i]);
			*aftl_page_attr_ptr(&lab.media, neighbours[i]) = 0;
		}
		if (block->flip)
			break;
	}
	end_cell_test();
}

/* A later neighbour shifts V_th by 0.2 V in Y or 0.15 V in Z direction, less at 5 V of swing. */
TAP_TEST(program_disturbance_has_the_size_of_the_paper)
{
	struct aftl_block *block;

	set_up_cell_test(1, 4096);
	build_cell_model();
	block = &lab.media.blocks[0];
	program_all_pages_of_block(AFTL_PRECISE, AFTL_MODE_NORMAL);
	CHECK_EQ(aftl_compute_page_disturbance_mv(&lab.media, block, 0), 350);
	CHECK_EQ(aftl_compute_page_disturbance_mv(&lab.media, block, 7), 150);
	CHECK_EQ(aftl_compute_page_disturbance_mv(&lab.media, block, 24), 200);
	CHECK_EQ(aftl_compute_page_disturbance_mv(&lab.media, block, 31), 0);
	program_all_pages_of_block(AFTL_APPROX, AFTL_MODE_REDUCED);
	CHECK_RANGE(aftl_compute_page_disturbance_mv(&lab.media, block, 0), 217, 221);
	CHECK_RANGE(aftl_compute_page_disturbance_mv(&lab.media, block, 24), 124, 126);
	end_cell_test();
}

/* ECC corrects 20 bits per KiB, 80 in a unit of 4 KiB, and a quarter more per sensing level. */
TAP_TEST(ecc_takes_more_levels_for_more_errors_up_to_its_limit)
{
	u32 seen = 0;
	u32 slot;

	set_up_cell_test(64, 4096);
	lab.config.rber = 3750000000ULL; /* a mean of 123 bit errors in a unit of 32768 bits */
	lab.config.ecc_bits = 20;
	lab.config.ecc_levels = 3;
	build_cell_model();
	program_all_pages_of_block(AFTL_PRECISE, AFTL_MODE_NORMAL);
	for (slot = 0; slot < lab.geo.ppns; slot++) {
		struct aftl_errors errors = aftl_cell_read_errors(&lab.cell, to_ppn(slot), 0);
		u32 wanted = errors.raw <= 80 ? 0 : (errors.raw - 80 + 19) / 20;

		CHECK_EQ(errors.levels, wanted);
		CHECK_EQ(errors.lost, wanted > 3);
		CHECK_EQ(errors.flips, 0);
		seen |= 1 << min(wanted, 4U);
	}
	CHECK_MSG((seen & 0x1c) == 0x1c, "the rate does not reach levels 2, 3 and loss: %x", seen);
	end_cell_test();
}

TAP_TEST(approximate_data_skips_ecc)
{
	u32 slot;

	set_up_cell_test(16, 4096);
	lab.config.rber_approx = 3800000000ULL;
	lab.config.ecc_bits = 10;
	build_cell_model();
	program_all_pages_of_block(AFTL_APPROX, AFTL_MODE_REDUCED);
	for (slot = 0; slot < lab.geo.ppns; slot++) {
		struct aftl_errors errors = aftl_cell_read_errors(&lab.cell, to_ppn(slot), 0);

		CHECK_EQ(errors.flips, errors.raw);
		CHECK_EQ(errors.levels, 0);
		CHECK(!errors.lost);
		CHECK(errors.raw > 40);
	}
	end_cell_test();
}

TAP_TEST(errors_that_a_copy_inherited_stay)
{
	struct aftl_errors errors;
	u16 *inherited;

	set_up_cell_test(1, 4096);
	build_cell_model();
	lab.media.blocks->extra = tap_zalloc(lab.media.oob_layout.extra, sizeof(u16));
	lab.media.blocks->extra_used = 1;
	inherited = aftl_oob_inherited_errors_ptr(&lab.media, lab.media.blocks, to_ppn(9));
	program_all_pages_of_block(AFTL_APPROX, AFTL_MODE_REDUCED);
	errors = aftl_cell_read_errors(&lab.cell, to_ppn(9), 0);
	*inherited = 40;
	CHECK_EQ(aftl_cell_read_errors(&lab.cell, to_ppn(9), 0).flips, errors.raw + 40);
	CHECK_EQ(aftl_cell_read_errors(&lab.cell, to_ppn(9), 0).raw, errors.raw);
	program_all_pages_of_block(AFTL_PRECISE, AFTL_MODE_NORMAL);
	CHECK_EQ(aftl_cell_read_errors(&lab.cell, to_ppn(9), 0).flips, 40);
	*inherited = 32768 + 100;
	CHECK_EQ(aftl_cell_read_errors(&lab.cell, to_ppn(9), 0).flips, 32768);
	CHECK(!aftl_cell_read_errors(&lab.cell, to_ppn(9), 0).lost);
	*inherited = AFTL_INHERITED_LOST;
	CHECK(aftl_cell_read_errors(&lab.cell, to_ppn(9), 0).lost);
	free(lab.media.blocks->extra);
	end_cell_test();
}
