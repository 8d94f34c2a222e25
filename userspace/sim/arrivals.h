/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When requests arrive.
 */
#ifndef AFTL_ARRIVALS_H
#define AFTL_ARRIVALS_H

#include "distributions.h"
#include "request-stream.h"
#include "sim-options.h"

/**
 * struct sim_arrivals - an arrival process
 * @kind: enum sim_arrival
 * @poisson: exponential distances of open arrivals, otherwise fixed ones
 * @interval_q16: mean distance of open arrivals in 2^-16 ns
 * @next_q16: fraction of the next open arrival
 * @next_ns: time of the next open arrival, in which all goes as fast as in bursts
 * @burst_on_ns: length of a burst; 0: no bursts
 * @burst_off_ns: time after it
 * @rate_between: open arrivals a second in that time
 * @between_q16: time of a burst with as many arrivals as in that time, in 2^-16 ns
 * @exponential: of the draws
 * @random: of the draws
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
 * sim_arrival() - when @request arrives, since the begin of the stream
 * @free_ns: when its place in a closed queue came free
 */
u64 sim_arrival(struct sim_arrivals *arrivals, const struct sim_request *request, u64 free_ns);

/**
 * sim_interval_q16() - mean distance of open arrivals in 2^-16 ns
 */
u64 sim_interval_q16(const struct sim_options *options, const struct aftl_config *config,
		     const struct aftl_geometry *geo);

#endif
