/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tenants: streams side by side, each with a queue of the host that it keeps full.
 */
#ifndef SIM_TENANTS_H
#define SIM_TENANTS_H

#include "request-stream.h"

/**
 * struct sim_tenant - one of them
 * @stream: its requests
 * @depth: so many of them it keeps under way
 * @pending: are
 */
struct sim_tenant {
	struct sim_stream *stream;
	u32 depth;
	u32 pending;
};

/**
 * struct sim_tenants - all of a run
 * @each: by queue
 * @count: how many; 0: there is one stream, which is none of them
 */
struct sim_tenants {
	struct sim_tenant each[AFTL_QUEUES_MAX];
	u32 count;
};

/**
 * sim_tenants_parse() - what --tenants and its like list
 *
 * Return: 0, or -EINVAL with the sentence in @error.
 */
int sim_tenants_parse(struct sim_options *options, struct aftl_error *error);

/**
 * sim_tenants_open() - a generator for each
 * @tenants: empty; some may be open after a failure
 * @options: of the command line
 * @config: of the device, for the seed
 * @geo: as sim_stream_open() takes it
 * @units: the same
 * @error: the sentence
 *
 * Return: as sim_stream_open()
 */
int sim_tenants_open(struct sim_tenants *tenants, const struct sim_options *options,
		     const struct aftl_config *config, const struct aftl_geometry *geo,
		     u64 units, struct aftl_error *error);

/* Requests of all that are under way when all have as many as they want. */
u32 sim_tenants_depth(const struct sim_tenants *tenants);

/**
 * sim_tenants_next() - a request of the first that wants one; one of them does
 * @request: takes it; it is under way from now on
 *
 * Return: as a stream's next()
 */
int sim_tenants_next(struct sim_tenants *tenants, struct sim_request *request,
		     struct aftl_error *error);

void sim_tenants_close(struct sim_tenants *tenants);

#endif
