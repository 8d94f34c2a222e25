/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a file: plain, gzip or zstd, of a name or standard input, never all at once.
 */
#ifndef AFTL_TRACE_INPUT_H
#define AFTL_TRACE_INPUT_H

#include "core/base/params.h"

/* As much can be looked at ahead; it should stay in the cache of a processor. */
#define TRACE_INPUT_ROOM 262144

struct trace_codec;

/**
 * struct trace_input - a file under way
 * @name: for a person
 * @fd: of it
 * @codec: who expands it, NULL if nobody must
 * @offset: of the byte at @begin, in what is read; expanded, if it was compressed
 * @line: lines taken
 * @begin: first byte that was not taken yet
 * @end: behind the last one that is there
 * @bytes: buffer
 * @over: there is nothing behind @end
 * @packed_bytes: read from @fd
 */
struct trace_input {
	const char *name;
	int fd;
	struct trace_codec *codec;
	u64 offset;
	u64 line;
	size_t begin;
	size_t end;
	u8 *bytes;
	bool over;
	u64 packed_bytes;
};

/**
 * trace_input_open() - begin to read
 * @path: "-" is standard input
 */
int __must_check trace_input_open(struct trace_input *input, const char *path,
				  struct aftl_error *error);
void trace_input_close(struct trace_input *input);

/* Of the bytes of a buffer, which stay the caller's; for tests. */
void trace_input_of_memory(struct trace_input *input, const char *name, const u8 *bytes,
			   size_t size);

/* Makes that many bytes available, or as many as there are. @wanted <= TRACE_INPUT_ROOM. */
int __must_check trace_input_fill(struct trace_input *input, size_t wanted,
				  struct aftl_error *error);

static inline size_t trace_input_left(const struct trace_input *input)
{
	return input->end - input->begin;
}

static inline const u8 *trace_input_at(const struct trace_input *input)
{
	return input->bytes + input->begin;
}

static inline void trace_input_take(struct trace_input *input, size_t size)
{
	input->begin += size;
	input->offset += size;
}

/* A line without its end. */
struct trace_line {
	const char *at;
	const char *end;
};

/**
 * trace_input_line() - take the next line
 *
 * It stays where it is until the next call. One that is longer than TRACE_INPUT_ROOM comes in
 * pieces.
 *
 * Return: 1, 0 at the end of the file, or a negative error number.
 */
int __must_check trace_input_line(struct trace_input *input, struct trace_line *line,
				  struct aftl_error *error);

#endif
