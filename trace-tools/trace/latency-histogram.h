/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of latencies: exact mean, minimum and maximum; quantiles are at most 1/64 too high.
 */
#ifndef AFTL_LATENCY_HISTOGRAM_H
#define AFTL_LATENCY_HISTOGRAM_H

#include "aftl-host.h"

/* The latencies between two powers of two have 2^LATENCY_STEP_SHIFT buckets. */
#define LATENCY_STEP_SHIFT 6
#define LATENCY_BUCKETS ((64 - LATENCY_STEP_SHIFT + 1) << LATENCY_STEP_SHIFT)

/**
 * struct latency_histogram - a histogram of latencies
 * @count: number of latencies
 * @sum: sum of the latencies
 * @least: minimum
 * @greatest: maximum
 * @buckets: number of latencies per bucket; NULL while there are none
 */
struct latency_histogram {
	u64 count;
	__uint128_t sum;
	u64 least;
	u64 greatest;
	u64 *buckets;
};

void latency_histogram_add(struct latency_histogram *latency, u64 ns);
/* Add the latencies of histogram @other to @latency. */
void latency_histogram_merge(struct latency_histogram *latency,
			     const struct latency_histogram *other);
void latency_histogram_free(struct latency_histogram *latency);

u64 latency_histogram_mean(const struct latency_histogram *latency);

/* Return: a quantile: the latency that @per_million of a million latencies do not exceed. */
u64 latency_histogram_quantile(const struct latency_histogram *latency, u32 per_million);

#endif
