/* SPDX-License-Identifier: GPL-2.0-only */
/* The stream of a trace's requests after the changes that the options ask for. */
#ifndef AFTL_REPLAY_STREAM_H
#define AFTL_REPLAY_STREAM_H

#include "data-tags.h"
#include "foreign-trace.h"
#include "record-file.h"

/* Value of stream_change.speed for a replay at the recorded speed. */
#define REPLAY_SPEED_ONE 1000000000000ULL

/**
 * struct stream_change - changes to the requests of a trace
 * @speed: divisor of times, in units of REPLAY_SPEED_ONE
 * @align: round offsets and ends outward to multiples of this; 0: do not
 * @fold_bytes: wrap addresses at this size; 0: do not
 * @limit: maximum number of requests; 0: all
 */
struct stream_change {
	u64 speed;
	u64 align;
	u64 fold_bytes;
	u64 limit;
};

/**
 * struct stream_summary - summary of a stream after the changes
 * @requests: number of requests
 * @by_op: number of requests by operation
 * @bytes_by_op: bytes by operation
 * @span_ns: time from the first to the last request
 * @end_bytes: end of the highest request
 * @largest_bytes: length of the longest read or write
 * @grain_bytes: largest power of two that divides all offsets and lengths
 * @folded: number of requests that were wrapped
 */
struct stream_summary {
	u64 requests;
	u64 by_op[AFTL_OPS];
	u64 bytes_by_op[AFTL_OPS];
	u64 span_ns;
	u64 end_bytes;
	u64 largest_bytes;
	u64 grain_bytes;
	u64 folded;
};

struct replay_stream;

/**
 * stream_open() - open a record file or a trace in another format
 * @path: path of the file; "-" is refused because the stream is read twice
 * @reading: how to read other formats; must outlive the stream
 */
int __must_check stream_open(struct replay_stream **out, const char *path,
			     const struct reading_options *reading, struct aftl_error *error);
void stream_close(struct replay_stream *stream);

const struct aftl_record_header *stream_header(const struct replay_stream *stream);

/* Print the detected format of the trace; print nothing for a record file. */
void stream_print_format(const struct replay_stream *stream, FILE *out);

/* Print unreadable parts of a trace that is no record file; call this after the last request. */
void stream_print_losses(const struct replay_stream *stream, FILE *out);

/* Return true if the stream is read from a record file, not from another format. */
bool stream_is_record_file(const struct replay_stream *stream);

/* Set the changes that the stream makes to all requests from now on. */
void stream_set_request_transform(struct replay_stream *stream, const struct stream_change *change);

/* Read the whole stream, so that a damaged stream is refused before the target is written. */
int __must_check read_and_summarise_request_stream(struct replay_stream *stream,
						   struct stream_summary *survey,
						   struct aftl_error *error);

/* Go back to the first request of the stream. */
int __must_check stream_rewind(struct replay_stream *stream, struct aftl_error *error);

/**
 * stream_next_request() - get the next changed request; times are relative to the first request
 *
 * Return: 1, 0 at the end, or a negative error number with a message.
 */
int __must_check stream_next_request(struct replay_stream *stream, struct aftl_record *record,
				     struct aftl_error *error);

/* Map the class of a request to the kind of its data memory. */
enum data_kind stream_kind(const struct replay_stream *stream, u32 class);

static inline bool does_stream_change_data(const struct stream_summary *survey)
{
	return survey->by_op[AFTL_OP_WRITE] || survey->by_op[AFTL_OP_DISCARD] ||
	       survey->by_op[AFTL_OP_WRITE_ZEROES];
}

#endif
