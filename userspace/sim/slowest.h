/* SPDX-License-Identifier: GPL-2.0-only */
/* The slowest requests of a run, with the reasons of their waits: --slowest. */
#ifndef SIM_SLOWEST_H
#define SIM_SLOWEST_H

#include <stdio.h>

#include "core/ftl/ftl.h"
#include "json-writer.h"
#include "request-log.h"

/**
 * struct sim_slow - a slow request
 * @arrival_ns: since the stream began
 * @response_ns: from arrival to completion
 * @service_ns: chip time of the part that ended last, which is no wait
 * @lpn: first logical page
 * @bytes: length
 * @op: enum aftl_op
 * @waits_ns: the response time without @service_ns, by enum aftl_wait
 */
struct sim_slow {
	u64 arrival_ns;
	u64 response_ns;
	u64 service_ns;
	u64 lpn;
	u64 bytes;
	u32 op;
	u64 waits_ns[AFTL_WAITS];
};

/**
 * struct sim_slowest - the slowest requests so far
 * @requests: the slowest first; equally slow requests in the order of completion
 * @count: length of @requests
 * @room: maximum number of requests
 */
struct sim_slowest {
	struct sim_slow *requests;
	u32 count;
	u32 room;
};

/* Keep the completed request @observed if it is one of the slowest. Times count from @base_ns. */
void slowest_add_request(struct sim_slowest *slowest, struct observed_request *observed,
			 u32 unit_bytes, u64 base_ns);

/* Print the requests with their reasons; @title names the run. */
void slowest_print(const struct sim_slowest *slowest, const char *title, FILE *out);
void slowest_write_json(const struct sim_slowest *slowest, struct json_writer *json);

#endif
