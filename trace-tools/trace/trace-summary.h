/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a stream of requests amounts to.
 */
#ifndef AFTL_TRACE_SUMMARY_H
#define AFTL_TRACE_SUMMARY_H

#include "json-writer.h"
#include "latency-histogram.h"
#include "text-table.h"
#include "trace-reader.h"

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

struct process_share {
	char name[PROCESS_NAME_SIZE];
	struct trace_share share;
};

/**
 * struct trace_summary - of all requests so far
 * @first_ns: time of the first one
 * @last_ns: time of the last one
 * @end: behind the last byte that was touched
 * @all: of them
 * @by_op: of each kind
 * @by_class: writes of each class
 * @by_speaker: writes by who said their class
 * @streams: which ones there are
 * @fua: writes that are complete only when they are on flash
 * @preflush: requests with a flush before them
 * @ends: times at which requests under way end, the earliest first
 * @depth: how many
 * @room: of @ends
 * @depth_max: most of them
 * @depth_sum: of the depths that requests met, themselves included
 * @processes: by name
 * @process_count: how many names
 */
struct trace_summary {
	u64 first_ns;
	u64 last_ns;
	u64 end;
	struct trace_share all;
	struct trace_share by_op[AFTL_OPS];
	struct trace_share by_class[AFTL_RECORD_CLASSES];
	struct trace_share by_speaker[TRACE_BYS];
	u8 streams[TRACE_STREAMS / 8];
	u64 fua;
	u64 preflush;
	u64 *ends;
	u64 depth;
	u64 room;
	u64 depth_max;
	u64 depth_sum;
	struct process_share processes[SUMMARY_PROCESSES];
	u32 process_count;
};

struct trace_summary *trace_summary_create(void);
void trace_summary_free(struct trace_summary *summary);

/* @name: of its process, or NULL. */
void trace_summary_add(struct trace_summary *summary, const struct trace_request *request,
		       const char *name);

u32 trace_summary_streams(const struct trace_summary *summary);

/* Members of the object that is open. */
void trace_summary_json(struct json_writer *json, const struct trace_summary *summary,
			const char (*class_names)[AFTL_RECORD_NAME_SIZE], u32 classes);
void trace_summary_text(FILE *out, const struct trace_summary *summary,
			const char (*class_names)[AFTL_RECORD_NAME_SIZE], u32 classes);

#endif
