// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random numbers: known values and limits.
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
	aftl_random_skip_draws(&skipped, 1000);
	CHECK_EQ(aftl_random_next(&drawn), aftl_random_next(&skipped));
}

TAP_TEST(draws_stay_below_their_limit)
{
	static const u32 limits[] = { 1, 2, 3, 7, 10, 1000, 65536, 1U << 31, U32_MAX };
	struct aftl_random random = { 99 };
	unsigned int i;
	int round;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		CHECK_EQ(aftl_map_random_to_range(0, limits[i]), 0);
		CHECK_EQ(aftl_map_random_to_range(U64_MAX, limits[i]), limits[i] - 1);
		for (round = 0; round < 1000; round++)
			CHECK(aftl_random_below(&random, limits[i]) < limits[i]);
	}
}

/* Shares of draws that exceed multiples of an exponential distribution's mean, in millionths. */
TAP_TEST(exponential_draws_have_their_mean_and_tail)
{
	static const struct { u32 above, share, tolerance; } tails[] = {
		{ 100, 904837, 8000 }, { 693, 500000, 5000 }, { 1000, 367879, 5000 },
		{ 2303, 100000, 3000 }, { 4605, 10000, 1000 }, { 6908, 1000, 200 },
	};
	enum { DRAWS = 1000000 };
	struct aftl_random random = { 4711 };
	u32 above[ARRAY_SIZE(tails)] = { 0 };
	u64 sum = 0;
	u32 i, k;

	for (i = 0; i < DRAWS; i++) {
		u64 draw = aftl_random_exponential(&random, 1000);

		sum += draw;
		for (k = 0; k < ARRAY_SIZE(tails); k++)
			above[k] += draw > tails[k].above;
	}
	CHECK(sum > 993ULL * DRAWS && sum < 1005ULL * DRAWS);
	for (k = 0; k < ARRAY_SIZE(tails); k++)
		CHECK(above[k] + tails[k].tolerance > tails[k].share &&
		      above[k] < tails[k].share + tails[k].tolerance);
}

TAP_TEST(the_hash_of_a_pair_depends_on_its_order)
{
	CHECK(aftl_hash64_pair(1, 2) != aftl_hash64_pair(2, 1));
	CHECK(aftl_hash64_pair(0, 0) != aftl_hash64_pair(0, 1));
	CHECK(aftl_hash64_pair(0, 0) != aftl_hash64_pair(1, 0));
}
