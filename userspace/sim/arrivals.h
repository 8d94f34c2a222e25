/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrival times of requests. */
#ifndef AFTL_ARRIVALS_H
#define AFTL_ARRIVALS_H

#include "distributions.h"
#include "request-stream.h"
#include "sim-options.h"

/**
 * struct sim_arrivals - an arrival process
 * @kind: enum sim_arrival
 * @poisson: exponential intervals of open arrivals, otherwise fixed ones
 * @interval_q16: mean interval of open arrivals in 2^-16 ns
 * @next_q16: fraction of @next_ns
 * @next_ns: time of the next open arrival on a clock on which the burst rate holds throughout
 * @burst_on_ns: length of a burst; 0: no bursts
 * @burst_off_ns: time between two bursts
 * @rate_between: open arrivals per second between bursts
 * @between_q16: time in which a burst has as many arrivals as @burst_off_ns, in 2^-16 ns
 * @exponential: table of the exponential distribution
 * @random: random sequence
 */
struct sim_arrivals {
	u64 kind;
	bool poisson;
	u64 interval_q16;
	u64 next_q16;
	u64 next_ns;
	u64 burst_on_ns;
	u64 burst_off_ns;
	u64 rate_between;
	__uint128_t between_q16;
	struct exponential exponential;
	struct aftl_random random;
};

void sim_arrivals_init(struct sim_arrivals *arrivals, const struct sim_options *options,
		       const struct aftl_config *config, const struct aftl_geometry *geo);

/**
 * sim_set_arrival_time() - return the arrival time of @request since the start of the stream
 * @free_ns: with a closed queue, the time at which the queue got room for the request
 */
u64 sim_set_arrival_time(struct sim_arrivals *arrivals, const struct sim_request *request,
			 u64 free_ns);

/**
 * sim_compute_mean_interval_q16() - return the mean interval of open arrivals in 2^-16 ns
 */
u64 sim_compute_mean_interval_q16(const struct sim_options *options,
				  const struct aftl_config *config,
				  const struct aftl_geometry *geo);

#endif
