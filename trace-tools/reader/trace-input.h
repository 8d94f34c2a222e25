/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffered, sequential reading of a file or standard input, decompressed if necessary.
 */
#ifndef AFTL_TRACE_INPUT_H
#define AFTL_TRACE_INPUT_H

#include "core/base/params.h"

/* Size of the buffer, which limits the look-ahead; chosen to stay in a CPU's cache. */
#define TRACE_INPUT_ROOM 262144

struct trace_codec;

/**
 * struct trace_input - an input file
 * @name: name in messages
 * @fd: descriptor of the file
 * @codec: decompressor; NULL if the file is not compressed
 * @offset: position of the byte at @begin in the (decompressed) file
 * @line: number of lines that the caller has taken
 * @begin: index of the first byte that the caller has not taken yet
 * @end: index behind the last byte in the buffer
 * @bytes: buffer
 * @over: the file has no bytes behind @end
 * @packed_bytes: number of bytes read from @fd
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
 * trace_input_open() - open a file for reading
 * @path: path, or "-" for standard input
 */
int __must_check trace_input_open(struct trace_input *input, const char *path,
				  struct aftl_error *error);
void trace_input_close(struct trace_input *input);

/* Read from a buffer in memory, which the caller keeps, instead of a file; for tests. */
void trace_input_open_memory(struct trace_input *input, const char *name, const u8 *bytes,
			     size_t size);

/* Fill the buffer with at least @wanted bytes (at most TRACE_INPUT_ROOM), or all that are left. */
int __must_check trace_input_fill_buffer(struct trace_input *input, size_t wanted,
					 struct aftl_error *error);

static inline size_t trace_input_left(const struct trace_input *input)
{
	return input->end - input->begin;
}

static inline const u8 *trace_input_next_bytes(const struct trace_input *input)
{
	return input->bytes + input->begin;
}

static inline void trace_input_consume_bytes(struct trace_input *input, size_t size)
{
	input->begin += size;
	input->offset += size;
}

/* struct trace_line - a text line of the input, without the newline */
struct trace_line {
	const char *at;
	const char *end;
};

/**
 * trace_input_next_line() - take the next line
 *
 * The line is valid until the next call. A line longer than TRACE_INPUT_ROOM is returned in
 * pieces.
 *
 * Return: 1, 0 at the end of the file, or a negative error number.
 */
int __must_check trace_input_next_line(struct trace_input *input, struct trace_line *line,
				       struct aftl_error *error);

#endif
