/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stream of requests, as it goes to the target.
 */
#ifndef AFTL_REPLAY_STREAM_H
#define AFTL_REPLAY_STREAM_H

#include "data-tags.h"
#include "foreign-trace.h"
#include "record-file.h"

/* The speed of the record itself. */
#define REPLAY_SPEED_ONE 1000000000000ULL

/**
 * struct stream_change - how requests become others
 * @speed: times are divided by it, in REPLAY_SPEED_ONE
 * @align: offsets and ends are rounded outward to multiples of so many bytes; 0: not
 * @fold_bytes: addresses beyond so many bytes come round again; 0: they do not
 * @limit: requests at most, 0: all
 */
struct stream_change {
	u64 speed;
	u64 align;
	u64 fold_bytes;
	u64 limit;
};

/**
 * struct stream_survey - what is in a stream, after its changes
 * @requests: how many
 * @by_op: of each operation
 * @bytes_by_op: of each operation
 * @span_ns: from the first to the last
 * @end_bytes: behind the last byte that is touched
 * @largest_bytes: longest read or write
 * @grain_bytes: all offsets and lengths are multiples of it; a power of two
 * @folded: requests that came round
 */
struct stream_survey {
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
 * stream_open() - a record file, or a trace of another format
 * @path: "-" is refused: the stream is read twice
 * @reading: how to read another format; lives as long as the stream
 */
int __must_check stream_open(struct replay_stream **out, const char *path,
			     const struct reading_options *reading, struct aftl_error *error);
void stream_close(struct replay_stream *stream);

const struct aftl_record_header *stream_header(const struct replay_stream *stream);

/* What was found out about another format; nothing of a record file. */
void stream_describe(const struct replay_stream *stream, FILE *out);

/* After the last request: what could not be read of another format. */
void stream_losses(const struct replay_stream *stream, FILE *out);

/* Is it a record file as it is? */
bool stream_is_record_file(const struct replay_stream *stream);

/* From now on. */
void stream_set_change(struct replay_stream *stream, const struct stream_change *change);

/* Reads all of it, so that what is damaged is refused before anything is written. */
int __must_check stream_survey(struct replay_stream *stream, struct stream_survey *survey,
			       struct aftl_error *error);

/* Back to the first request. */
int __must_check stream_rewind(struct replay_stream *stream, struct aftl_error *error);

/**
 * stream_next() - the next request, changed; its time counts from the first one
 *
 * Return: 1, 0 at the end, or a negative error number with a sentence.
 */
int __must_check stream_next(struct replay_stream *stream, struct aftl_record *record,
			     struct aftl_error *error);

/* What its class means to a device. */
enum data_kind stream_kind(const struct replay_stream *stream, u32 class);

static inline bool survey_writes(const struct stream_survey *survey)
{
	return survey->by_op[AFTL_OP_WRITE] || survey->by_op[AFTL_OP_DISCARD] ||
	       survey->by_op[AFTL_OP_WRITE_ZEROES];
}

#endif
