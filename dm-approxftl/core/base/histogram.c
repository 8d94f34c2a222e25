// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merges histograms and computes their quantiles.
 */
#include "core/base/histogram.h"

void aftl_histogram_merge(struct aftl_histogram *to, const struct aftl_histogram *from)
{
	u32 bin;

	if (from->count && (!to->count || from->smallest < to->smallest))
		to->smallest = from->smallest;
	to->largest = max(to->largest, from->largest);
	to->count += from->count;
	to->sum += from->sum;
	for (bin = 0; bin < AFTL_HISTOGRAM_BINS; bin++)
		to->bins[bin] += from->bins[bin];
}

u64 aftl_histogram_quantile(const struct aftl_histogram *histogram, u32 share)
{
	u64 wanted = DIV_ROUND_UP(histogram->count * share, 10000ULL);
	u64 seen = 0;
	u32 bin;

	for (bin = 0; bin < AFTL_HISTOGRAM_BINS; bin++) {
		seen += histogram->bins[bin];
		if (seen >= wanted && seen)
			return min(aftl_histogram_max_of_bin(bin), histogram->largest);
	}
	return 0;
}
