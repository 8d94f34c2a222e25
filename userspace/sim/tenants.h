/* SPDX-License-Identifier: GPL-2.0-only */
/* Tenants: concurrent streams, each with a host queue that it keeps full. */
#ifndef SIM_TENANTS_H
#define SIM_TENANTS_H

#include "request-stream.h"

/**
 * struct sim_tenant - a tenant: a stream with a host queue of its own
 * @stream: its requests
 * @depth: queue depth
 * @pending: requests in flight
 */
struct sim_tenant {
	struct sim_stream *stream;
	u32 depth;
	u32 pending;
};

/**
 * struct sim_tenants - all tenants of a run
 * @each: tenants, by number of their host queue
 * @count: number of tenants; 0: the run has a single stream without tenants
 */
struct sim_tenants {
	struct sim_tenant each[AFTL_QUEUES_MAX];
	u32 count;
};

/**
 * sim_tenants_parse() - parse --tenants and the other options of tenants
 *
 * Return: 0, or -EINVAL with a message in @error.
 */
int sim_tenants_parse(struct sim_options *options, struct aftl_error *error);

/**
 * sim_tenants_open() - open a generator for each tenant
 * @tenants: empty; some may be open after a failure
 * @options: options of the command line
 * @config: configuration of the device, for the seed
 * @geo: geometry of the device, or the joint geometry of several
 * @units: capacity that the host sees and that the requests will fit
 * @error: receives the error message
 *
 * Return: as sim_stream_open()
 */
int sim_tenants_open(struct sim_tenants *tenants, const struct sim_options *options,
		     const struct aftl_config *config, const struct aftl_geometry *geo,
		     u64 units, struct aftl_error *error);

/* Return the sum of all queue depths. */
u32 sim_tenants_sum_queue_depths(const struct sim_tenants *tenants);

/**
 * sim_tenants_next_request() - draw a request of the first tenant whose queue is not full
 * @request: receives the request, which counts as in flight from now on
 *
 * At least one queue must have room.
 *
 * Return: as a stream's next()
 */
int sim_tenants_next_request(struct sim_tenants *tenants, struct sim_request *request,
			     struct aftl_error *error);

void sim_tenants_close(struct sim_tenants *tenants);

#endif
