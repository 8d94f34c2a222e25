/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads requests from any trace files: detects formats, merges files and pairs events.
 */
#ifndef AFTL_TRACE_READER_H
#define AFTL_TRACE_READER_H

#include "process-names.h"
#include "trace-merge.h"
#include "trace-pairing.h"

/* Maximum number of devices in a capture. */
#define TRACE_DEVICES 64

#define TRACE_ALL_DEVICES U32_MAX

/**
 * struct trace_paths - a list of file names
 * @list: the names
 * @count: number of names
 */
struct trace_paths {
	char **list;
	u32 count;
};

/* Add a file, or all files of a capture: x.blktrace.0, x.blktrace.1 ... if x does not exist. */
void trace_paths_add(struct trace_paths *paths, const char *name);
void trace_paths_free(struct trace_paths *paths);

/**
 * struct trace_remark - an application's note about a region of its run or a point in time
 * @t_ns: time of the note
 * @device: device number
 * @text: "region ..." or "label ..."
 */
struct trace_remark {
	u64 t_ns;
	u32 device;
	const char *text;
};

/**
 * struct trace_open_options - how to read a trace
 * @hints: properties that only the user knows
 * @issue: pair issue (D) events with completions, not queue (Q) events
 * @device: number of the device to read, TRACE_ALL_DEVICES, or 0 if the trace must have one device
 *	only
 */
struct trace_open_options {
	struct trace_hints hints;
	bool issue;
	u32 device;
};

/**
 * struct trace_reader - a trace that is read
 * @open_options: how to read it
 * @losses: unreadable parts
 * @merge: the merged files
 * @pairing: pairs events; NULL if the files hold requests
 * @names: names of processes
 * @devices: devices in order of appearance; the index is the stream number
 * @device_count: number of devices
 * @usual_device: device of the last request; TRACE_ALL_DEVICES before the first request
 * @usual_stream: stream number of @usual_device
 * @remarks: notes of applications
 * @remark_count: number of notes
 * @paths: names of the files
 * @ended: there are no more items
 * @last_ns: time of the last request
 */
struct trace_reader {
	struct trace_open_options open_options;
	struct trace_losses losses;
	struct trace_merge merge;
	struct trace_pairing *pairing;
	struct process_names *names;
	u32 devices[TRACE_DEVICES];
	u32 device_count;
	u32 usual_device;
	u16 usual_stream;
	struct trace_remark *remarks;
	u32 remark_count;
	struct trace_paths paths;
	bool ended;
	u64 last_ns;
};

/**
 * trace_reader_open() - open a trace
 * @reader: the caller may set strict and list of its losses; the rest is overwritten
 * @paths: files, or captures as trace_paths_add() takes them
 */
int __must_check trace_reader_open(struct trace_reader *reader, const char *const *paths, u32 count,
				   const struct trace_open_options *open_options,
				   struct aftl_error *error);
void trace_reader_close(struct trace_reader *reader);

/**
 * trace_reader_next_request() - get the next request; times never decrease
 *
 * Return: 1, 0 at the end, or a negative error number with a message.
 */
int __must_check trace_reader_next_request(struct trace_reader *reader,
					   struct trace_request *request, struct aftl_error *error);

/* Return: the format of the first file of the trace. */
const struct trace_format *trace_reader_format(const struct trace_reader *reader);

/* Return: number of bytes read from all files of the trace so far, before decompression. */
u64 trace_reader_position(const struct trace_reader *reader);

#endif
