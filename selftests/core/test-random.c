// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers: known values, uniformity, limits.
 */
#include "core/base/random.h"
#include "tap.h"

/* The published first outputs of splitmix64 for seed 1234567. */
TAP_TEST(the_mixing_function_is_splitmix64)
{
	static const u64 wanted[] = {
		6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
		4593380528125082431ULL, 16408922859458223821ULL,
	};
	u64 state = 1234567;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		CHECK_EQ(aftl_hash64(state), wanted[i]);
		state += 0x9e3779b97f4a7c15ULL;
	}
}

TAP_TEST(skipping_advances_by_the_requested_number_of_draws)
{
	struct aftl_random drawn = { 12 };
	struct aftl_random skipped = { 12 };
	u32 i;

	for (i = 0; i < 1000; i++)
		aftl_random_next(&drawn);
	aftl_random_skip(&skipped, 1000);
	CHECK_EQ(aftl_random_next(&drawn), aftl_random_next(&skipped));
}

TAP_TEST(draws_stay_below_their_limit)
{
	static const u32 limits[] = { 1, 2, 3, 7, 10, 1000, 65536, 1U << 31, U32_MAX };
	struct aftl_random random = { 99 };
	unsigned int i;
	int round;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		CHECK_EQ(aftl_scale_draw(0, limits[i]), 0);
		CHECK_EQ(aftl_scale_draw(U64_MAX, limits[i]), limits[i] - 1);
		for (round = 0; round < 1000; round++)
			CHECK(aftl_random_below(&random, limits[i]) < limits[i]);
	}
}

/* Six standard deviations of a binomial count. */
static void check_even(const u32 *counts, u32 cells, u32 draws)
{
	u32 expected = draws / cells;
	u64 limit = 36ULL * expected;
	u32 i;

	for (i = 0; i < cells; i++) {
		s64 off = (s64)counts[i] - expected;

		CHECK_MSG((u64)(off * off) < limit, "cell %u: %u of %u", i, counts[i], expected);
	}
}

TAP_TEST(draws_below_ten_are_uniform)
{
	u32 counts[10] = { 0 };
	struct aftl_random random = { 4 };
	u32 i;

	for (i = 0; i < 1000000; i++)
		counts[aftl_random_below(&random, 10)]++;
	check_even(counts, 10, 1000000);
}

TAP_TEST(every_bit_is_uniform)
{
	u32 counts[128] = { 0 };
	struct aftl_random random = { 8 };
	u32 i;
	u32 bit;

	for (i = 0; i < 100000; i++) {
		u64 draw = aftl_random_next(&random);

		for (bit = 0; bit < 64; bit++)
			counts[2 * bit + (draw >> bit & 1)]++;
	}
	for (bit = 0; bit < 64; bit++)
		check_even(&counts[2 * bit], 2, 100000);
}

TAP_TEST(neighbouring_inputs_differ_in_half_of_the_bits)
{
	u64 differing = 0;
	u32 bit;
	u64 i;

	for (i = 0; i < 2000; i++)
		for (bit = 0; bit < 64; bit++)
			differing += __builtin_popcountll(aftl_hash64(i) ^
							  aftl_hash64(i ^ 1ULL << bit));
	CHECK_RANGE(differing / 2000, 64 * 32 - 20, 64 * 32 + 20);
}

TAP_TEST(the_hash_of_a_pair_depends_on_its_order)
{
	CHECK(aftl_hash64_pair(1, 2) != aftl_hash64_pair(2, 1));
	CHECK(aftl_hash64_pair(0, 0) != aftl_hash64_pair(0, 1));
	CHECK(aftl_hash64_pair(0, 0) != aftl_hash64_pair(1, 0));
}
