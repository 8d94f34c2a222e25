/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log-linear histogram of durations, with exact count, sum, minimum and maximum.
 *
 * There are 32 linear bins per power of two: a quantile is at most 1/32 too high.
 */
#ifndef AFTL_HISTOGRAM_H
#define AFTL_HISTOGRAM_H

#include "aftl-host.h"

#define AFTL_HISTOGRAM_LINEAR_BITS 5
#define AFTL_HISTOGRAM_BINS ((64 - AFTL_HISTOGRAM_LINEAR_BITS + 1) << AFTL_HISTOGRAM_LINEAR_BITS)

struct aftl_histogram {
	u64 count;
	u64 sum;
	u64 smallest;
	u64 largest;
	u64 bins[AFTL_HISTOGRAM_BINS];
};

static inline u32 aftl_histogram_find_bin(u64 value)
{
	u32 shift = value >> AFTL_HISTOGRAM_LINEAR_BITS ?
			    fls64(value) - 1 - AFTL_HISTOGRAM_LINEAR_BITS :
			    0;

	return (shift << AFTL_HISTOGRAM_LINEAR_BITS) + (u32)(value >> shift);
}

/* Largest value in @bin. */
static inline u64 aftl_histogram_max_of_bin(u32 bin)
{
	u32 linear = 1U << AFTL_HISTOGRAM_LINEAR_BITS;
	u32 shift = bin < linear ? 0 : (bin >> AFTL_HISTOGRAM_LINEAR_BITS) - 1;
	u64 base = bin - ((u64)shift << AFTL_HISTOGRAM_LINEAR_BITS);

	return ((base + 1) << shift) - 1;
}

static inline void aftl_histogram_add(struct aftl_histogram *histogram, u64 value)
{
	if (!histogram->count || value < histogram->smallest)
		histogram->smallest = value;
	if (value > histogram->largest)
		histogram->largest = value;
	histogram->count++;
	histogram->sum += value;
	histogram->bins[aftl_histogram_find_bin(value)]++;
}

void aftl_histogram_merge(struct aftl_histogram *to, const struct aftl_histogram *from);

/**
 * aftl_histogram_quantile() - smallest value such that @share / 10000 of all values are not larger
 * @histogram: histogram
 * @share: in 1/10000
 */
u64 aftl_histogram_quantile(const struct aftl_histogram *histogram, u32 share);

#endif
