/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a run has settled: response times in the order in which requests end, and what
 * MSER-5 says of them (White, 1997).
 */
#ifndef AFTL_SETTLING_H
#define AFTL_SETTLING_H

#include "aftl-host.h"

#define SETTLING_BATCHES 640
/* A mean that is off by less, in 1/10000, is left alone. */
#define SETTLING_MATTERS 200

/**
 * struct settling - a series of response times that never grows
 * @batch: requests in a batch; doubles when all batches are full
 * @in_last: requests in the batch that is not complete
 * @last_ns: their response times
 * @count: batches that are complete
 * @sums_ns: response times of each
 */
struct settling {
	u64 batch;
	u64 in_last;
	u64 last_ns;
	u32 count;
	u64 sums_ns[SETTLING_BATCHES];
};

/**
 * struct settling_verdict - what is to be made of it
 * @cut: requests at the begin that are worth leaving out
 * @settled: enough is left to say so, and it ends as it was before
 * @known: the run is long enough for any of this; shorter ones are for trying something out
 * @off: by how much the mean of all is off that of the rest, in 1/10000
 */
struct settling_verdict {
	u64 cut;
	bool settled;
	bool known;
	u64 off;
};

void settling_begin(struct settling *settling);
void settling_close_batch(struct settling *settling);
struct settling_verdict settling_judge(const struct settling *settling);

static inline void settling_add(struct settling *settling, u64 response_ns)
{
	settling->last_ns += response_ns;
	if (++settling->in_last == settling->batch)
		settling_close_batch(settling);
}

/**
 * settling_put() - add a time by its number in the series, in any order
 * @settling: of one of several that take turns; it is not complete before settling_close()
 * @number: below which there may be some that others have
 * @response_ns: what settling_add() would add
 */
void settling_put(struct settling *settling, u64 number, u64 response_ns);

/* Add to @sum what another has put, who had other numbers. */
void settling_join(struct settling *sum, const struct settling *other);

/* Numbers below @count were put: from now on it is as if they had been added in turn. */
void settling_close(struct settling *settling, u64 count);

#endif
