/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a stream of requests amounts to.
 */
#ifndef AFTL_TRACE_SUMMARY_H
#define AFTL_TRACE_SUMMARY_H

#include "latency-histogram.h"
#include "reader-account.h"
#include "text-table.h"

/* Processes of other names are summed up. */
#define SUMMARY_PROCESSES 64

/**
 * struct trace_share - some of the requests
 * @requests: how many
 * @bytes: of them
 * @latency: of those that have one
 */
struct trace_share {
	u64 requests;
	u64 bytes;
	struct latency_histogram latency;
};

/* Requests of one operation, one class, said by one, of processes of one name. */
struct trace_leaf {
	struct trace_share share;
	u8 process;
	u8 op;
	u8 class;
	u8 by;
};

#define SUMMARY_LEAVES (SUMMARY_PROCESSES * AFTL_OPS * AFTL_RECORD_CLASSES * TRACE_BYS)

/**
 * struct trace_summary - of all requests so far
 * @requests: how many
 * @first_ns: time of the first one
 * @last_ns: time of the last one
 * @end: behind the last byte that was touched
 * @streams: which ones there are
 * @fua: writes that are complete only when they are on flash
 * @preflush: requests with a flush before them
 * @ends: times at which requests under way end, the earliest first
 * @depth: how many
 * @room: of @ends
 * @depth_max: most of them
 * @depth_sum: of the depths that requests met, themselves included
 * @depth_known: requests whose depth is in @depth_sum
 * @leaves: the requests, divided
 * @slots: place of a process by the number of its name, 0: none yet
 * @slot_room: of @slots
 * @names: of processes, by place
 * @processes: how many places
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

/* @names: of processes. */
void trace_summary_add(struct trace_summary *summary, const struct trace_request *request,
		       const struct process_names *names);

u32 trace_summary_streams(const struct trace_summary *summary);

/* Members of the object that is open. */
void trace_summary_json(struct json_writer *json, const struct trace_summary *summary,
			const struct trace_classes *classes);
void trace_summary_text(FILE *out, const struct trace_summary *summary,
			const struct trace_classes *classes);

#endif
