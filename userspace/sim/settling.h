/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steady-state detection: records response times in the order of completion and applies MSER-5
 * (White, 1997).
 */
#ifndef AFTL_SETTLING_H
#define AFTL_SETTLING_H

#include "aftl-host.h"

#define SETTLING_BATCHES 640
/* Relative error of the mean response time, in 1/10000, from which the report warns of it. */
#define SETTLING_MATTERS 200

/**
 * struct settling - a series of response times in constant memory
 * @batch: requests in a batch; doubles when all batches are full
 * @in_last: requests in the incomplete batch
 * @last_ns: sum of their response times
 * @count: number of complete batches
 * @sums_ns: sum of response times of each batch
 */
struct settling {
	u64 batch;
	u64 in_last;
	u64 last_ns;
	u32 count;
	u64 sums_ns[SETTLING_BATCHES];
};

/**
 * struct settling_verdict - result of the steady-state detection
 * @cut: requests at the start that belong to the warm-up
 * @settled: enough requests remain after @cut, and their mean does not drift at the end
 * @known: the run is long enough for a result
 * @off: relative difference between the mean of all and of the rest, in 1/10000
 */
struct settling_verdict {
	u64 cut;
	bool settled;
	bool known;
	u64 off;
};

void settling_init(struct settling *settling);
void settling_complete_response_time_batch(struct settling *settling);
struct settling_verdict settling_judge(const struct settling *settling);

static inline void settling_add_response_time(struct settling *settling, u64 response_ns)
{
	settling->last_ns += response_ns;
	if (++settling->in_last == settling->batch)
		settling_complete_response_time_batch(settling);
}

/**
 * settling_add_response_time_by_index() - add the response time of any request in a series
 * @settling: has times of some requests; not usable before settling_finish_indexed_response_times()
 * @number: number of the request in the series
 * @response_ns: response time
 */
void settling_add_response_time_by_index(struct settling *settling, u64 number, u64 response_ns);

/* Add the response times of @other to those of @sum; no request may be in both series. */
void settling_add_all_response_times(struct settling *sum, const struct settling *other);

/*
 * Prepare @settling for settling_judge(), after settling_add_response_time_by_index() was called
 * for all numbers below @count.
 */
void settling_finish_indexed_response_times(struct settling *settling, u64 count);

#endif
