// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "file-claims.h"
#include "trace-codec.h"
#include "trace-input.h"

static int report_input_error(const struct trace_input *input, int code, const char *what,
			      struct aftl_error *error)
{
	return aftl_fail(error, code, "%.120s: %s: %s", input->name, what, strerror(-code));
}

/* Read bytes as they are in the input file. Return: their number, 0 at the end of the file. */
static ssize_t read_raw(struct trace_input *input, void *bytes, size_t room)
{
	ssize_t got;

	do {
		got = read(input->fd, bytes, room);
	} while (got < 0 && errno == EINTR);
	if (got > 0)
		input->packed_bytes += (u64)got;
	return got < 0 ? -errno : got;
}

static int refill_codec_input(struct trace_input *input, struct aftl_error *error)
{
	size_t room;
	u8 *packed = trace_codec_input_room(input->codec, &room);
	ssize_t got = read_raw(input, packed, room);

	if (got < 0)
		return report_input_error(input, (int)got, "cannot read", error);
	trace_codec_add_input(input->codec, (size_t)got);
	return 0;
}

static int fill_compressed_input(struct trace_input *input, struct aftl_error *error)
{
	struct aftl_error cause;
	ssize_t got;
	int ret;

	if (trace_codec_needs_input(input->codec)) {
		ret = refill_codec_input(input, error);
		if (ret)
			return ret;
	}
	got = trace_codec_expand(input->codec, input->bytes + input->end,
				 TRACE_INPUT_ROOM - input->end, &cause);
	if (got < 0)
		return aftl_fail(error, (int)got, "%.80s: byte %llu: %.130s", input->name,
				 (unsigned long long)input->packed_bytes, cause.text);
	input->end += (size_t)got;
	input->over = trace_codec_is_finished(input->codec);
	return 0;
}

static int fill_uncompressed_input(struct trace_input *input, struct aftl_error *error)
{
	ssize_t got = read_raw(input, input->bytes + input->end, TRACE_INPUT_ROOM - input->end);

	if (got < 0)
		return report_input_error(input, (int)got, "cannot read", error);
	input->end += (size_t)got;
	input->over = !got;
	return 0;
}

int trace_input_fill_buffer(struct trace_input *input, size_t wanted, struct aftl_error *error)
{
	int ret = 0;

	if (input->begin && input->begin + wanted > TRACE_INPUT_ROOM) {
		memmove(input->bytes, input->bytes + input->begin, trace_input_left(input));
		input->end -= input->begin;
		input->begin = 0;
	}
	while (!ret && !input->over && trace_input_left(input) < wanted)
		ret = input->codec ? fill_compressed_input(input, error) :
				     fill_uncompressed_input(input, error);
	return ret;
}

/* If the file is compressed, pass the bytes read so far to a decompressor. */
static int start_decompressing_input(struct trace_input *input, struct aftl_error *error)
{
	struct aftl_error cause;
	int ret = trace_codec_find(&input->codec, trace_input_next_bytes(input),
				   trace_input_left(input), &cause);

	if (ret < 0)
		return aftl_fail(error, ret, "%.80s: %.150s", input->name, cause.text);
	if (!input->codec)
		return 0;
	input->end = 0;
	input->over = false;
	return 0;
}

int trace_input_open(struct trace_input *input, const char *path, struct aftl_error *error)
{
	bool standard = !strcmp(path, "-");
	int ret = claim_input_file(path, error);

	if (ret)
		return ret;
	*input = (struct trace_input){
		.name = standard ? "standard input" : path,
		.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
	};
	if (input->fd < 0)
		return report_input_error(input, -errno, "cannot open", error);
	input->bytes = memory_alloc_zeroed(TRACE_INPUT_ROOM, 1);
	ret = trace_input_fill_buffer(input, TRACE_CODEC_MAGIC_BYTES, error);
	if (!ret)
		ret = start_decompressing_input(input, error);
	if (ret)
		trace_input_close(input);
	return ret;
}

void trace_input_open_memory(struct trace_input *input, const char *name, const u8 *bytes,
			     size_t size)
{
	*input = (struct trace_input){
		.name = name,
		.fd = -1,
		.bytes = memory_alloc_zeroed(TRACE_INPUT_ROOM, 1),
		.end = min(size, (size_t)TRACE_INPUT_ROOM),
		.over = true,
	};
	memcpy(input->bytes, bytes, input->end);
}

void trace_input_close(struct trace_input *input)
{
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	trace_codec_free(input->codec);
	free(input->bytes);
	*input = (struct trace_input){ .fd = -1 };
}

/* Find the end of the line that starts at @from, if it is in the buffer. */
static const u8 *find_line_end(const struct trace_input *input, size_t from)
{
	return memchr(trace_input_next_bytes(input) + from, '\n', trace_input_left(input) - from);
}

static const u8 *fill_until_line_end(struct trace_input *input, int *ret, struct aftl_error *error)
{
	const u8 *end = find_line_end(input, 0);
	size_t seen;

	while (!end && !input->over && trace_input_left(input) < TRACE_INPUT_ROOM) {
		seen = trace_input_left(input);
		*ret = trace_input_fill_buffer(input, seen + 1, error);
		if (*ret)
			return NULL;
		end = find_line_end(input, seen);
	}
	return end;
}

int trace_input_next_line(struct trace_input *input, struct trace_line *line,
			  struct aftl_error *error)
{
	int ret = 0;
	const u8 *end = fill_until_line_end(input, &ret, error);
	size_t length = end ? (size_t)(end - trace_input_next_bytes(input)) :
			      trace_input_left(input);

	if (ret)
		return ret;
	if (!end && !length)
		return 0;
	line->at = (const char *)trace_input_next_bytes(input);
	line->end = line->at + length;
	if (length && line->end[-1] == '\r')
		line->end--;
	trace_input_consume_bytes(input, length + !!end);
	input->line++;
	return 1;
}
