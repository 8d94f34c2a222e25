/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of a run, kept in memory in the order of arrival, one array for each property, and
 * the observation of requests in flight.
 */
#ifndef SIM_REQUEST_LOG_H
#define SIM_REQUEST_LOG_H

#include "core/ftl/ftl.h"

/**
 * struct request_log - requests in the order of their submission
 * @count: requests so far; a request in flight has a response time of 0
 * @room: allocated length of the arrays
 * @unit_bytes: bytes of a logical page
 * @base_ns: device time at which the stream began
 * @arrival_ns: arrival times since @base_ns
 * @response_ns: times from arrival to completion
 * @waiting_ns: response times without the chip time of the part that ended last
 * @offset: first bytes
 * @bytes: lengths
 * @lpn: first logical pages
 * @op: enum aftl_op
 * @class: enum aftl_class of writes
 * @queue: host queues
 * @failed: 1: the request failed
 * @reason: enum aftl_wait that took most of the waiting time; AFTL_WAITS: the request did not wait
 */
struct request_log {
	u64 count;
	u64 room;
	u32 unit_bytes;
	u64 base_ns;
	u64 *arrival_ns;
	u64 *response_ns;
	u64 *waiting_ns;
	u64 *offset;
	u64 *bytes;
	u32 *lpn;
	u8 *op;
	u8 *class;
	u8 *queue;
	u8 *failed;
	u8 *reason;
};

/**
 * struct observed_request - a request of a pool whose drive observes its requests
 * @request: the request
 * @observed: it is in flight, and was sent by the host
 * @logged: it is in the log
 * @number: its position in the log
 * @record: its number in the recording
 * @waits: the time that the request waited for each cause
 */
struct observed_request {
	struct aftl_request request;
	bool observed;
	bool logged;
	u64 number;
	u64 record;
	struct aftl_waits waits;
};

static inline struct observed_request *to_observed_request(struct aftl_request *request)
{
	return container_of(request, struct observed_request, request);
}

static inline u64 get_bytes_of_request(const struct aftl_request *request, u32 unit_bytes)
{
	return (u64)request->units * unit_bytes -
	       ((u64)request->head_skip + request->tail_skip) * AFTL_SECTOR_BYTES;
}

/* Return the response time without the chip time of its part (a page operation) that ended last. */
static inline u64 get_waiting_ns_of_request(const struct aftl_request *request)
{
	u64 response_ns = request->complete_ns - request->arrival_ns;

	return response_ns - min(response_ns, request->service_ns);
}

/* Return the enum aftl_wait with the longest time; AFTL_WAITS if there was no wait. */
u32 request_find_longest_wait_reason(const struct aftl_waits *waits);

/* Reserve the next position in the log for @request, a part of a struct observed_request. */
void request_log_add_request(struct request_log *log, struct aftl_request *request);

/* Store the response time of the completed @request. */
void request_log_complete_request(struct request_log *log, struct aftl_request *request);

void request_log_release(struct request_log *log);

#endif
