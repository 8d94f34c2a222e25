/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests out of any files: formats found, files merged, events paired.
 */
#ifndef AFTL_TRACE_READER_H
#define AFTL_TRACE_READER_H

#include "process-names.h"
#include "trace-merge.h"
#include "trace-pairing.h"

/* Devices of one capture. */
#define TRACE_DEVICES 64

#define TRACE_ALL_DEVICES U32_MAX

/**
 * struct trace_paths - files by name
 * @list: they
 * @count: how many
 */
struct trace_paths {
	char **list;
	u32 count;
};

/* Files by their name, or all of a capture: x.blktrace.0, x.blktrace.1 ... if there is no x. */
void trace_paths_add(struct trace_paths *paths, const char *name);
void trace_paths_free(struct trace_paths *paths);

/**
 * struct trace_remark - what an application said about a region or a point in time
 * @t_ns: when
 * @device: number of it
 * @text: "region ..." or "label ..."
 */
struct trace_remark {
	u64 t_ns;
	u32 device;
	const char *text;
};

/**
 * struct trace_wish - how to read
 * @hints: what only the user knows
 * @issue: pair from issue (D) on, not from queue (Q)
 * @device: the only one that counts, TRACE_ALL_DEVICES, or 0: there must be one only
 */
struct trace_wish {
	struct trace_hints hints;
	bool issue;
	u32 device;
};

/**
 * struct trace_reader - reading
 * @wish: how
 * @losses: what could not be read
 * @merge: the files
 * @pairing: of events, or NULL
 * @names: of processes
 * @devices: that were seen, in this order; a stream's number is the place of its device here
 * @device_count: how many
 * @usual_device: that the last request was for, TRACE_ALL_DEVICES before the first
 * @usual_stream: its number
 * @remarks: of applications
 * @remark_count: how many
 * @paths: of the files
 * @ended: there are no more items
 * @last_ns: time of the last request
 */
struct trace_reader {
	struct trace_wish wish;
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
 * trace_reader_open() - begin to read
 * @reader: its losses' strict and list may be set; the rest is overwritten
 * @paths: as trace_paths_add() takes them
 */
int __must_check trace_reader_open(struct trace_reader *reader, const char *const *paths, u32 count,
				   const struct trace_wish *wish, struct aftl_error *error);
void trace_reader_close(struct trace_reader *reader);

/**
 * trace_reader_next() - the next request; its time is never before that of the one before
 *
 * Return: 1, 0 at the end, or a negative error number with a sentence.
 */
int __must_check trace_reader_next(struct trace_reader *reader, struct trace_request *request,
				   struct aftl_error *error);

/* Of the first file. */
const struct trace_format *trace_reader_format(const struct trace_reader *reader);

/* Bytes read from all files so far, before expansion. */
u64 trace_reader_position(const struct trace_reader *reader);

#endif
