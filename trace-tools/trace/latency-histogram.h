/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latencies, without keeping each: exact mean, least and greatest; quantiles at most 1/64 too
 * great.
 */
#ifndef AFTL_LATENCY_HISTOGRAM_H
#define AFTL_LATENCY_HISTOGRAM_H

#include "aftl-host.h"

/* A power of two is divided into so many. */
#define LATENCY_STEP_SHIFT 6
#define LATENCY_BUCKETS ((64 - LATENCY_STEP_SHIFT + 1) << LATENCY_STEP_SHIFT)

/**
 * struct latency_histogram - what was seen
 * @count: latencies
 * @sum: of them
 * @least: of them
 * @greatest: of them
 * @buckets: how many of each size, or NULL as long as there is none
 */
struct latency_histogram {
	u64 count;
	__uint128_t sum;
	u64 least;
	u64 greatest;
	u64 *buckets;
};

void latency_add(struct latency_histogram *latency, u64 ns);
/* What @other has seen, @latency has seen, too. */
void latency_merge(struct latency_histogram *latency, const struct latency_histogram *other);
void latency_free(struct latency_histogram *latency);

u64 latency_mean(const struct latency_histogram *latency);

/* So many of a million are not greater. */
u64 latency_quantile(const struct latency_histogram *latency, u32 per_million);

#endif
