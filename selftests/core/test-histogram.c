// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log-linear histogram has the quantiles of the sorted samples.
 */
#include <stdlib.h>

#include "core/base/histogram.h"
#include "core/base/random.h"
#include "tap.h"

#define SAMPLES 20000

static struct aftl_histogram histogram;
static u64 samples[SAMPLES];

TAP_TEST(bins_cover_all_numbers_without_overlap)
{
	u32 bin;
	u64 bottom = 0;

	for (bin = 0; bin < AFTL_HISTOGRAM_BINS; bin++) {
		u64 top = aftl_histogram_max_of_bin(bin);

		CHECK(top >= bottom);
		CHECK_EQ(aftl_histogram_find_bin(bottom), bin);
		CHECK_EQ(aftl_histogram_find_bin(top), bin);
		CHECK_MSG(bin == AFTL_HISTOGRAM_BINS - 1 ? top == U64_MAX : top < U64_MAX, "bin %u",
			  bin);
		bottom = top + 1;
	}
	CHECK_EQ(bottom, 0);
}

TAP_TEST(bins_are_at_most_one_32nd_wide)
{
	struct aftl_random random = { 1 };
	int i;

	for (i = 0; i < 100000; i++) {
		u64 value = aftl_random_next(&random) >> aftl_random_below(&random, 64);
		u64 top = aftl_histogram_max_of_bin(aftl_histogram_find_bin(value));

		CHECK(top >= value);
		CHECK((top - value) <= value / 32);
	}
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a;
	u64 y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void fill_random_samples(struct aftl_random *random, int count, unsigned int shift)
{
	int i;

	memset(&histogram, 0, sizeof(histogram));
	for (i = 0; i < count; i++) {
		samples[i] = aftl_random_next(random) >> (shift + aftl_random_below(random, 8));
		aftl_histogram_add(&histogram, samples[i]);
	}
	qsort(samples, count, sizeof(samples[0]), compare_u64);
}

/* Return the smallest sample such that at least the share @share of all samples is not larger. */
static u64 get_quantile_of_sorted_samples(int count, u32 share)
{
	u64 rank = ((u64)count * share + 9999) / 10000;

	return samples[rank ? rank - 1 : 0];
}

static void check_quantiles(int count)
{
	static const u32 shares[] = { 0, 1, 100, 2500, 5000, 9000, 9900, 9990, 9999, 10000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		u64 exact = get_quantile_of_sorted_samples(count, shares[i]);

		CHECK_RANGE(aftl_histogram_quantile(&histogram, shares[i]), exact,
			    exact + exact / 32);
	}
	CHECK_EQ(aftl_histogram_quantile(&histogram, 10000), samples[count - 1]);
}

TAP_TEST(quantiles_agree_with_sorting)
{
	static const int counts[] = { 1, 2, 3, 10, 99, 100, 101, SAMPLES };
	struct aftl_random random = { 2 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		fill_random_samples(&random, counts[i], 8);
		check_quantiles(counts[i]);
		fill_random_samples(&random, counts[i], 52);
		check_quantiles(counts[i]);
	}
}

TAP_TEST(count_sum_and_extremes_are_exact)
{
	struct aftl_random random = { 7 };
	u64 sum = 0;
	int i;

	fill_random_samples(&random, SAMPLES, 20);
	for (i = 0; i < SAMPLES; i++)
		sum += samples[i];
	CHECK_EQ(histogram.count, SAMPLES);
	CHECK_EQ(histogram.sum, sum);
	CHECK_EQ(histogram.smallest, samples[0]);
	CHECK_EQ(histogram.largest, samples[SAMPLES - 1]);
}

/* Merging partial histograms, one of them empty, equals one histogram of all samples. */
TAP_TEST(merged_histograms_equal_one_of_all_samples)
{
	static struct aftl_histogram parts[3], sum;
	struct aftl_random random = { 11 };
	int i;

	fill_random_samples(&random, SAMPLES, 20);
	for (i = 0; i < SAMPLES; i++)
		aftl_histogram_add(&parts[2 * (i > SAMPLES / 3)], samples[i]);
	for (i = 2; i >= 0; i--)
		aftl_histogram_merge(&sum, &parts[i]);
	CHECK_EQ(memcmp(&sum, &histogram, sizeof(sum)), 0);
}

TAP_TEST(extreme_values_are_counted, "0 and 2^64 - 1 are counted")
{
	memset(&histogram, 0, sizeof(histogram));
	CHECK_EQ(aftl_histogram_quantile(&histogram, 5000), 0);
	aftl_histogram_add(&histogram, U64_MAX);
	CHECK_EQ(histogram.smallest, U64_MAX);
	CHECK_EQ(aftl_histogram_quantile(&histogram, 1), U64_MAX);
	aftl_histogram_add(&histogram, 0);
	CHECK_EQ(histogram.smallest, 0);
	CHECK_EQ(histogram.largest, U64_MAX);
	CHECK_EQ(aftl_histogram_quantile(&histogram, 5000), 0);
	CHECK_EQ(aftl_histogram_quantile(&histogram, 5001), U64_MAX);
}

/* A histogram counts more than 2^32 samples, which a fast device completes in an hour. */
TAP_TEST(bins_do_not_overflow)
{
	memset(&histogram, 0, sizeof(histogram));
	aftl_histogram_add(&histogram, 7);
	histogram.bins[7] = U32_MAX;
	histogram.count = U32_MAX;
	aftl_histogram_add(&histogram, 7);
	aftl_histogram_add(&histogram, 1000);
	CHECK_EQ(histogram.bins[7], 1ULL << 32);
	CHECK_EQ(aftl_histogram_quantile(&histogram, 5000), 7);
}

TAP_TEST(a_quantile_never_exceeds_the_largest_value)
{
	memset(&histogram, 0, sizeof(histogram));
	aftl_histogram_add(&histogram, 1000000);
	CHECK_EQ(aftl_histogram_quantile(&histogram, 9999), 1000000);
}
