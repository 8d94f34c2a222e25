// SPDX-License-Identifier: GPL-2.0-only
/*
 * Integer logarithms, powers and draws against exact values.
 */
#include <stdlib.h>

#include "distributions.h"
#include "tap.h"

#define DRAWS 4000000

/* Compare with logarithms computed to 60 digits. */
static void logarithm(void)
{
	unsigned int bit;

	for (bit = 0; bit < 64; bit++)
		CHECK_EQ(fixed_log2_q32(1ULL << bit), (u64)bit << 32);
	CHECK_EQ(fixed_log2_q32(3), 6807362105ULL);
	CHECK_EQ(fixed_log2_q32(10), 14267572527ULL);
	CHECK_EQ(fixed_log2_q32(1000000), 85605435163ULL);
	CHECK_EQ(fixed_log2_q32(U64_MAX), (64ULL << 32) - 1);
}

static void power(void)
{
	struct fixed_roots roots;
	unsigned int whole;

	fixed_roots_init(&roots);
	for (whole = 0; whole <= 62; whole++)
		CHECK_EQ(fixed_exp2_q62(&roots, (u64)whole << 32), 1ULL << (62 - whole));
	CHECK_EQ(fixed_exp2_q62(&roots, 63ULL << 32), 0);
	/* 2^-0.5, 2^-0.25 */
	CHECK_RANGE(fixed_exp2_q62(&roots, 1ULL << 31), 3260954456333195552, 3260954456333195553);
	CHECK_RANGE(fixed_exp2_q62(&roots, 1ULL << 30), 3877950241171266236, 3877950241171266237);
}

/* exp2(log2(x)) returns x within the rounding error. */
static void power_of_logarithm(void)
{
	struct aftl_random random = { 5 };
	struct fixed_roots roots;
	unsigned int i;

	fixed_roots_init(&roots);
	for (i = 0; i < 10000; i++) {
		u64 x = 1 + aftl_random_below(&random, 1 << 30);
		u64 inverse = fixed_exp2_q62(&roots, fixed_log2_q32(x));
		u64 right = (1ULL << 62) / x;

		/* The logarithm is rounded down by less than 2^-32. */
		CHECK_RANGE(inverse, right - 40, right + (right >> 32) + 40);
	}
}

/* The mean is one, and a share of e^-k of the draws is above k. */
static void exponential(void)
{
	static const u64 above_per_million[] = { 1000000, 367879, 135335, 49787, 18316, 6738 };
	struct aftl_random random = { 9 };
	struct exponential state;
	u64 above[6] = { 0 };
	u64 sum = 0;
	u32 i, k;

	exponential_init(&state);
	for (i = 0; i < DRAWS; i++) {
		u64 draw = exponential_draw_q32(&state, &random);

		sum += draw;
		for (k = 0; k < 6; k++)
			above[k] += draw >> 32 >= k;
	}
	CHECK_RANGE(sum / DRAWS, (1ULL << 32) * 998 / 1000, (1ULL << 32) * 1002 / 1000);
	for (k = 0; k < 6; k++)
		CHECK_RANGE(above[k] * 1000000 / DRAWS, above_per_million[k] - 1000,
			    above_per_million[k] + 1000);
}

/* With an exponent of one, rank r has a probability proportional to 1 / r. */
static void zipf_against_harmonic_numbers(u32 n)
{
	struct zipf *zipf = zipf_create(n, 1ULL << 32);
	struct aftl_random random = { n };
	u64 *seen = calloc(n, sizeof(*seen));
	u64 harmonic = 0, low = 0;
	u32 i, next = 1;

	for (i = 0; i < DRAWS; i++) {
		u32 rank = zipf_draw(zipf, &random);

		CHECK(rank < n);
		seen[rank]++;
	}
	for (i = 1; i <= n; i++)
		harmonic += (1ULL << 40) / i;
	/* Check octaves of ranks: their bounds, and ranks inside them. */
	for (i = 1; i <= n; i++) {
		low += seen[i - 1];
		if (i == next || i == n) {
			u64 part = 0, j;

			for (j = 1; j <= i; j++)
				part += (1ULL << 40) / j;
			part = (u64)((__uint128_t)part * DRAWS / harmonic);
			CHECK_RANGE(low, part - min(part, 4000ULL), part + 4000);
			next *= 2;
		}
	}
	free(seen);
	zipf_destroy(zipf);
}

static void zipf(void)
{
	zipf_against_harmonic_numbers(1);
	zipf_against_harmonic_numbers(2);
	zipf_against_harmonic_numbers(255);
	zipf_against_harmonic_numbers(257);
	zipf_against_harmonic_numbers(100003);
}

/* Inside a wide bin, neighbouring ranks differ only by their weights. */
static void zipf_inside_a_bin(void)
{
	u32 n = 1 << 16;
	struct zipf *zipf = zipf_create(n, 8ULL << 32 >> 1);
	struct aftl_random random = { 1 };
	u64 first = 0;
	u32 i;

	/* At exponent 4 the first rank gets 1 / zeta(4) = 0.92394 of the draws. */
	for (i = 0; i < DRAWS; i++)
		first += zipf_draw(zipf, &random) == 0;
	CHECK_RANGE(first * 100000 / DRAWS, 92394 - 60, 92394 + 60);
	zipf_destroy(zipf);
}

static void tags(void)
{
	struct tags state;

	CHECK(!tags_init(&state, 9000, 2, draw_sequence(1, 1)));
	CHECK(tags_init(&state, 9000, 10, draw_sequence(1, 1)));
	CHECK(tags_init(&state, 0, 10, draw_sequence(1, 1)));
	CHECK(!tags_draw(&state));
	CHECK(tags_init(&state, SHARE_WHOLE, 10, draw_sequence(1, 1)));
	CHECK(tags_draw(&state));
}

int main(void)
{
	tap_run("binary logarithm", logarithm);
	tap_run("power of two", power);
	tap_run("power of a logarithm", power_of_logarithm);
	tap_run("exponential draws", exponential);
	tap_run("Zipf against harmonic numbers", zipf);
	tap_run("Zipf with a large exponent", zipf_inside_a_bin);
	tap_run("tags at their limits", tags);
	return tap_finish();
}
