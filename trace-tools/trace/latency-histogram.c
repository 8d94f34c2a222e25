// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "latency-histogram.h"

static u32 latency_bucket_of_ns(u64 ns)
{
	u32 bits = fls64(ns);
	u32 shift;

	if (bits <= LATENCY_STEP_SHIFT)
		return (u32)ns;
	shift = bits - LATENCY_STEP_SHIFT - 1;
	return ((shift + 1) << LATENCY_STEP_SHIFT) +
	       (u32)((ns >> shift) & ((1U << LATENCY_STEP_SHIFT) - 1));
}

/* Return: the greatest latency that a bucket of the histogram counts. */
static u64 latency_bucket_upper_end(u32 bucket)
{
	u32 shift = bucket >> LATENCY_STEP_SHIFT;
	u64 step = bucket & ((1U << LATENCY_STEP_SHIFT) - 1);

	if (!shift)
		return bucket;
	shift--;
	return (((1ULL << LATENCY_STEP_SHIFT) + step) << shift) + ((1ULL << shift) - 1);
}

static void alloc_latency_buckets(struct latency_histogram *latency)
{
	if (!latency->buckets)
		latency->buckets = memory_alloc_zeroed(LATENCY_BUCKETS, sizeof(*latency->buckets));
}

void latency_histogram_merge(struct latency_histogram *latency,
			     const struct latency_histogram *other)
{
	if (!other->count)
		return;
	alloc_latency_buckets(latency);
	latency->least = latency->count ? min(latency->least, other->least) : other->least;
	latency->greatest = max(latency->greatest, other->greatest);
	latency->count += other->count;
	latency->sum += other->sum;
	for (u32 i = 0; i < LATENCY_BUCKETS; i++)
		latency->buckets[i] += other->buckets[i];
}

void latency_histogram_add(struct latency_histogram *latency, u64 ns)
{
	alloc_latency_buckets(latency);
	latency->least = latency->count ? min(latency->least, ns) : ns;
	latency->greatest = max(latency->greatest, ns);
	latency->count++;
	latency->sum += ns;
	latency->buckets[latency_bucket_of_ns(ns)]++;
}

void latency_histogram_free(struct latency_histogram *latency)
{
	free(latency->buckets);
	latency->buckets = NULL;
}

u64 latency_histogram_mean(const struct latency_histogram *latency)
{
	return latency->count ? (u64)((latency->sum + latency->count / 2) / latency->count) : 0;
}

u64 latency_histogram_quantile(const struct latency_histogram *latency, u32 per_million)
{
	u64 wanted = (u64)DIV_ROUND_UP((__uint128_t)latency->count * per_million, 1000000);
	u64 seen = 0;
	u32 i;

	if (!latency->count)
		return 0;
	for (i = 0; i < LATENCY_BUCKETS; i++) {
		seen += latency->buckets[i];
		if (seen >= wanted && seen)
			break;
	}
	return min(latency_bucket_upper_end(i), latency->greatest);
}
