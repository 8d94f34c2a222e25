/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quantiles for people: only those that the number of values carries, with the digits of the bins.
 */
#ifndef AFTL_QUANTILES_H
#define AFTL_QUANTILES_H

#include "core/base/histogram.h"
#include "human-units.h"

/* Fewest values beyond a quantile that is shown; with fewer it is hardly more than the largest. */
#define QUANTILE_BEYOND 10

/* In place of a quantile that has too few values beyond it. */
#define QUANTILE_UNKNOWN U64_MAX

/* The quantile @share / 10000, which is the upper end of a bin that is up to 3 % wide. */
static inline u64 quantile_of(const struct aftl_histogram *histogram, u32 share)
{
	if (histogram->count && histogram->count * (10000 - share) < QUANTILE_BEYOND * 10000)
		return QUANTILE_UNKNOWN;
	return aftl_histogram_quantile(histogram, share);
}

/* "-" for one that is not known. */
static inline void quantile_print(char text[HUMAN_SIZE], u64 ns)
{
	if (ns == QUANTILE_UNKNOWN)
		scnprintf(text, HUMAN_SIZE, "-");
	else
		human_binned_time(text, ns);
}

#endif
