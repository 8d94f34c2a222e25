/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quantiles for people: only those that the sample size supports, with the precision of the
 * bins.
 */
#ifndef AFTL_QUANTILES_H
#define AFTL_QUANTILES_H

#include "core/base/histogram.h"
#include "human-units.h"

/*
 * A quantile is shown if at least this many values exceed it; else it hardly differs from the
 * maximum.
 */
#define QUANTILE_BEYOND 10

/* Stands for a quantile that is not shown, because fewer than QUANTILE_BEYOND values exceed it. */
#define QUANTILE_UNKNOWN U64_MAX

/* Return the quantile @share / 10000: the upper end of its bin, which is up to 3 % wide. */
static inline u64 get_histogram_quantile_ns(const struct aftl_histogram *histogram, u32 share)
{
	if (histogram->count && histogram->count * (10000 - share) < QUANTILE_BEYOND * 10000)
		return QUANTILE_UNKNOWN;
	return aftl_histogram_quantile(histogram, share);
}

/* Print a quantile, or "-" if it is QUANTILE_UNKNOWN. */
static inline void format_quantile(char text[HUMAN_SIZE], u64 ns)
{
	if (ns == QUANTILE_UNKNOWN)
		scnprintf(text, HUMAN_SIZE, "-");
	else
		human_format_histogram_bin_time(text, ns);
}

#endif
