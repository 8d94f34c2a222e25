/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request as every format gives it, and an event of a block trace.
 */
#ifndef AFTL_TRACE_REQUEST_H
#define AFTL_TRACE_REQUEST_H

#include "core/persist/record.h"

/* Who said that a write may lose bits. The order is that of the names in trace_by_names. */
enum trace_by {
	TRACE_BY_NOBODY,
	TRACE_BY_TAG,
	TRACE_BY_FILE,
	TRACE_BY_BUFFER,
	TRACE_BY_THREAD,
	TRACE_BY_PROCESS,
	TRACE_BY_PRIORITY,
	TRACE_BY_DEVICE,
	TRACE_BY_TABLE,
	TRACE_BY_RULE,
	TRACE_BYS,
};

extern const char *const trace_by_names[TRACE_BYS];

/* What operations are called in tables and files. */
extern const char *const trace_op_names[AFTL_OPS];

/* Numbers of streams are below. */
#define TRACE_STREAMS 65536

/* The quality levels, where the source does not name classes. */
enum trace_class {
	TRACE_PRECISE,
	TRACE_APPROXIMATE,
	TRACE_CLASSES = AFTL_LEVELS,
};

/**
 * struct trace_request - one request
 * @t_ns: when it arrived; first, as trace_window wants it
 * @offset: first byte
 * @bytes: its length; 0 for a flush and for nothing else
 * @latency_ns: 0 if unknown
 * @pid: process, 0 if unknown
 * @depth: requests under way when it began, itself included; 0 if unknown
 * @stream: the source's own division of requests, such as a disk
 * @op: enum aftl_op
 * @class: index into the reader's class names
 * @by: enum trace_by, of a write
 * @life: enum aftl_lifetime, of a write
 * @fua: complete only when it is on flash
 * @preflush: what was written before is on flash before it begins
 */
struct trace_request {
	u64 t_ns;
	u64 offset;
	u64 bytes;
	u64 latency_ns;
	u32 pid;
	u32 depth;
	u16 stream;
	u8 op;
	u8 class;
	u8 by;
	u8 life;
	bool fua;
	bool preflush;
};

enum trace_act {
	TRACE_ACT_QUEUE,
	TRACE_ACT_ISSUE,
	TRACE_ACT_COMPLETE,
	TRACE_ACT_SPLIT,
	TRACE_ACT_PROCESS,
	TRACE_ACT_TAG,
	TRACE_ACT_TEXT,
};

/**
 * struct trace_event - what a block trace says of a moment
 * @t_ns: when; first, as trace_window wants it
 * @sector: where
 * @detail: of a split, the first sector of what is left over
 * @name: of a process, not terminated if it is 16 bytes long
 * @text: of a note about a region or a label, without "approxftl "; lives as long as the file
 * @bytes: how much
 * @pid: who
 * @device: major number << 20 | minor number
 * @cpu: where it was seen
 * @error: of a completion
 * @act: enum trace_act
 * @op: enum aftl_op
 * @class: of a tag, enum trace_class
 * @by: of a tag, enum trace_by
 * @fua: as of a request
 * @preflush: as of a request
 */
struct trace_event {
	u64 t_ns;
	union {
		struct {
			u64 sector;
			u64 detail;
		};
		char name[16];
		const char *text;
	};
	u32 bytes;
	u32 pid;
	u32 device;
	u16 cpu;
	u16 error;
	u8 act;
	u8 op;
	u8 class;
	u8 by;
	bool fua;
	bool preflush;
};

#define TRACE_DEVICE_MINOR_BITS 20

#endif
