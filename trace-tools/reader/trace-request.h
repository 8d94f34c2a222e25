/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request in the form that all trace formats share, and an event of a block trace.
 */
#ifndef AFTL_TRACE_REQUEST_H
#define AFTL_TRACE_REQUEST_H

#include "core/persist/record.h"

/* Origin of the class of a write. trace_by_names has the names in this order. */
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
	TRACE_BY_HINT,
	TRACE_BY_STREAM,
	TRACE_BYS,
};

extern const char *const trace_by_names[TRACE_BYS];

/* Names of request operations, for tables and files. */
#define trace_op_names aftl_op_names

/* Bound of the numbers of request streams, into which a trace divides its requests. */
#define TRACE_STREAMS 65536

/* Classes of a trace that has no class names: the quality levels. */
enum trace_class {
	TRACE_PRECISE,
	TRACE_APPROXIMATE,
	TRACE_CLASSES = AFTL_LEVELS,
};

/**
 * struct trace_request - one request
 * @t_ns: arrival time; must be the first member for trace_window
 * @offset: first byte
 * @bytes: length; 0 exactly for a flush
 * @latency_ns: latency; 0 if unknown
 * @pid: process id; 0 if unknown
 * @depth: requests pending when it began, including itself; 0 if unknown
 * @stream: stream number: the source's own division of requests, such as a disk
 * @op: enum aftl_op
 * @class: index into the reader's class names
 * @by: source of the class of a write, enum trace_by
 * @life: lifetime hint of a write, enum aftl_lifetime
 * @fua: force unit access: the write is durable when complete
 * @preflush: earlier writes become durable before the request begins
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
 * struct trace_event - an event of a block trace
 * @t_ns: time; must be the first member for trace_window
 * @sector: first sector
 * @detail: split event: the first sector of the remainder
 * @name: process name; not terminated if it has 16 characters
 * @text: note about a region or label, without "approxftl "; valid as long as the file is open
 * @bytes: length
 * @pid: process id
 * @device: major number << 20 | minor number
 * @cpu: CPU that recorded the event
 * @error: error number of a completion
 * @act: enum trace_act
 * @op: enum aftl_op
 * @class: class in a note, enum trace_class
 * @by: source of the class in a note, enum trace_by
 * @fua: see struct trace_request
 * @preflush: see struct trace_request
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
