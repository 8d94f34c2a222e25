// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare integer logarithms and powers with exact values; test_generators.py tests random draws.
 */
#include "distributions.h"
#include "tap.h"

/* Compare the integer logarithms with logarithms computed to 60 digits. */
static void check_logarithm(void)
{
	unsigned int bit;

	for (bit = 0; bit < 64; bit++)
		CHECK_EQ(fixed_log2_q32(1ULL << bit), (u64)bit << 32);
	CHECK_EQ(fixed_log2_q32(3), 6807362105ULL);
	CHECK_EQ(fixed_log2_q32(10), 14267572527ULL);
	CHECK_EQ(fixed_log2_q32(1000000), 85605435163ULL);
	CHECK_EQ(fixed_log2_q32(U64_MAX), (64ULL << 32) - 1);
}

static void check_exp2_table(void)
{
	struct fixed_roots roots;
	unsigned int whole;

	init_repeated_square_roots_of_half(&roots);
	for (whole = 0; whole <= 62; whole++)
		CHECK_EQ(fixed_exp2_q62(&roots, (u64)whole << 32), 1ULL << (62 - whole));
	CHECK_EQ(fixed_exp2_q62(&roots, 63ULL << 32), 0);
	/* 2^-0.5, 2^-0.25 */
	CHECK_RANGE(fixed_exp2_q62(&roots, 1ULL << 31), 3260954456333195552, 3260954456333195553);
	CHECK_RANGE(fixed_exp2_q62(&roots, 1ULL << 30), 3877950241171266236, 3877950241171266237);
}

/* exp2(log2(x)) returns x within the rounding error. */
static void check_exp2_of_log2(void)
{
	struct aftl_random random = { 5 };
	struct fixed_roots roots;
	unsigned int i;

	init_repeated_square_roots_of_half(&roots);
	for (i = 0; i < 10000; i++) {
		u64 x = 1 + aftl_random_below(&random, 1 << 30);
		u64 inverse = fixed_exp2_q62(&roots, fixed_log2_q32(x));
		u64 right = (1ULL << 62) / x;

		/* The logarithm is rounded down by less than 2^-32. */
		CHECK_RANGE(inverse, right - 40, right + (right >> 32) + 40);
	}
}

static void check_limits_of_approximate_run_length(void)
{
	struct tags state;

	CHECK(!init_approx_tag_generator(&state, 9000, 2, get_random_sequence_of_purpose(1, 1)));
	CHECK(init_approx_tag_generator(&state, 9000, 10, get_random_sequence_of_purpose(1, 1)));
	CHECK(init_approx_tag_generator(&state, 0, 10, get_random_sequence_of_purpose(1, 1)));
	CHECK(!draw_whether_write_is_approximate(&state));
	CHECK(init_approx_tag_generator(&state, SHARE_WHOLE, 10,
					get_random_sequence_of_purpose(1, 1)));
	CHECK(draw_whether_write_is_approximate(&state));
}

int main(void)
{
	tap_run("binary logarithms are exact", check_logarithm);
	tap_run("the table of powers of two is exact", check_exp2_table);
	tap_run("2 to the power of log2(x) is x", check_exp2_of_log2);
	tap_run("run lengths too short for the share of approximate writes are refused",
		check_limits_of_approximate_run_length);
	return tap_finish();
}
