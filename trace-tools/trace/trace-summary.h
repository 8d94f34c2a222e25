/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics of the requests of a trace. */
#ifndef AFTL_TRACE_SUMMARY_H
#define AFTL_TRACE_SUMMARY_H

#include "latency-histogram.h"
#include "reader-account.h"
#include "text-table.h"

/* Number of process names with statistics of their own; those of further names are added up. */
#define SUMMARY_PROCESSES 64

/**
 * struct trace_share - statistics of a part of the requests
 * @requests: number of requests
 * @bytes: bytes transferred
 * @latency: latencies, as far as known
 */
struct trace_share {
	u64 requests;
	u64 bytes;
	struct latency_histogram latency;
};

/* Statistics of requests with the same operation, class, source of the class, and process name. */
struct trace_leaf {
	struct trace_share share;
	u8 process;
	u8 op;
	u8 class;
	u8 by;
};

#define SUMMARY_LEAVES (SUMMARY_PROCESSES * AFTL_OPS * AFTL_RECORD_CLASSES * TRACE_BYS)

/**
 * struct trace_summary - statistics of all requests of a trace read so far
 * @requests: number of requests
 * @first_ns: time of the first one
 * @last_ns: time of the last one
 * @end: end of the highest request
 * @streams: streams that occur
 * @fua: number of FUA writes
 * @preflush: number of requests with a preflush
 * @ends: end times of requests in flight, a heap with the earliest first
 * @depth: number of entries in @ends
 * @room: capacity of @ends
 * @depth_max: maximum queue depth
 * @depth_sum: sum of the queue depths that requests met, including themselves
 * @depth_known: number of requests in @depth_sum
 * @leaves: statistics by operation, class, source of the class and process name
 * @slots: index of a process by the number of its name; 0: none yet
 * @slot_room: number of entries in @slots
 * @names: process names by index
 * @processes: number of process indices
 */
struct trace_summary {
	u64 requests;
	u64 first_ns;
	u64 last_ns;
	u64 end;
	u8 streams[TRACE_STREAMS / 8];
	u64 fua;
	u64 preflush;
	u64 *ends;
	u64 depth;
	u64 room;
	u64 depth_max;
	u64 depth_sum;
	u64 depth_known;
	struct trace_leaf *leaves[SUMMARY_LEAVES];
	u8 *slots;
	u32 slot_room;
	char names[SUMMARY_PROCESSES][PROCESS_NAME_SIZE];
	u32 processes;
};

struct trace_summary *trace_summary_create(void);
void trace_summary_free(struct trace_summary *summary);

/* Add a request to the statistics; @names: names of processes. */
void trace_summary_add_request(struct trace_summary *summary, const struct trace_request *request,
			       const struct process_names *names);

u32 trace_summary_count_streams(const struct trace_summary *summary);

/* Write the statistics of the trace as members of the JSON object that is open. */
void trace_summary_write_json(struct json_writer *json, const struct trace_summary *summary,
			      const struct trace_classes *classes);
void trace_summary_print(FILE *out, const struct trace_summary *summary,
			 const struct trace_classes *classes);

#endif
