/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests of a run, kept in memory in the order of arrival, one array for each property. */
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
};

/**
 * struct logged_request - a request of a pool whose drive has a log
 * @request: the request
 * @number: its position in the log plus 1; 0: not in the log
 */
struct logged_request {
	struct aftl_request request;
	u64 number;
};

/* Reserve the next position for @request, a part of a struct logged_request. */
void request_log_begin(struct request_log *log, struct aftl_request *request);

/* Store the complete @request, unless it was never begun. */
void request_log_end(struct request_log *log, struct aftl_request *request);

void request_log_release(struct request_log *log);

#endif
