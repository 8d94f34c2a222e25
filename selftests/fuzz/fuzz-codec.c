// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compressed files. The first byte selects how the rest becomes a file: as it is, or compressed by
 * zlib or zstd, twice, truncated, or with a changed byte. Valid files decompress to the input,
 * truncated ones are refused, damaged ones are refused with a message or yield some data.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "checked-memory.h"
#include "lib/fuzz.h"
#include "trace-input.h"

enum how {
	HOW_ZLIB = 1,
	HOW_ZSTD = 2,
	HOW_TWICE = 4,
	HOW_CUT = 8,
	HOW_CHANGED = 16,
};

/* Limit of the decompressed size, as a few compressed bytes can expand to very many. */
#define EXPANDED_MAX (16 << 20)

struct packed {
	u8 *bytes;
	size_t size;
};

static size_t compress_zlib(u8 *out, size_t room, const u8 *data, size_t size)
{
	z_stream stream = { .next_out = out, .avail_out = (uInt)room };
	u8 nothing = 0;

	/* zlib's input pointer is not const and must not be NULL. */
	stream.next_in = size ? (Bytef *)data : &nothing;
	stream.avail_in = (uInt)size;
	fuzz_assert(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	fuzz_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static size_t compress_zstd(u8 *out, size_t room, const u8 *data, size_t size)
{
	size_t packed = ZSTD_compress(out, room, data, size, 1);

	fuzz_assert(!ZSTD_isError(packed));
	return packed;
}

static size_t compress_data(u8 how, u8 *out, size_t room, const u8 *data, size_t size)
{
	if (how & HOW_ZLIB)
		return compress_zlib(out, room, data, size);
	if (how & HOW_ZSTD)
		return compress_zstd(out, room, data, size);
	memcpy(out, data, size);
	return size;
}

static struct packed compress_input_data(u8 how, const u8 *data, size_t size)
{
	size_t room = 2 * size + 4096;
	struct packed packed = { .bytes = memory_alloc_zeroed(room, 2) };

	packed.size = compress_data(how, packed.bytes, room, data, size);
	if (how & HOW_TWICE)
		packed.size += compress_data(how, packed.bytes + packed.size, room, data, size);
	if (how & HOW_CHANGED && packed.size)
		packed.bytes[packed.size / 2] ^= how | 1;
	if (how & HOW_CUT && packed.size)
		packed.size--;
	return packed;
}

/* Read a whole decompressed file, which must repeat @data unless @data is NULL. */
static int read_whole_input(struct trace_input *input, const u8 *data, size_t size, u64 *total,
			    struct aftl_error *error)
{
	for (*total = 0; *total < EXPANDED_MAX;) {
		int ret = trace_input_fill_buffer(input, 1, error);
		size_t left = trace_input_left(input), i;

		if (ret || !left)
			return ret;
		for (i = 0; data && i < left; i++)
			fuzz_assert(trace_input_next_bytes(input)[i] == data[(*total + i) % size]);
		*total += left;
		trace_input_consume_bytes(input, left);
	}
	return 0;
}

/* Write the compressed bytes to a new memfd; @path becomes its path in /proc. */
static void write_compressed_file(char *path, size_t room, int *file, const struct packed *packed)
{
	*file = memfd_create("fuzz", MFD_CLOEXEC);
	fuzz_assert(*file >= 0);
	fuzz_assert(write(*file, packed->bytes, packed->size) == (ssize_t)packed->size);
	scnprintf(path, room, "/proc/self/fd/%d", *file);
}

static void read_and_check_compressed_file(const char *path, u8 how, const u8 *data, size_t size)
{
	bool compressed = how & (HOW_ZLIB | HOW_ZSTD), damaged = how & (HOW_CUT | HOW_CHANGED);
	bool sound = compressed && !damaged;
	struct aftl_error error = { "" };
	struct trace_input input;
	u64 total = 0;
	int ret = trace_input_open(&input, path, &error);

	if (!ret) {
		ret = read_whole_input(&input, sound ? data : NULL, size, &total, &error);
		trace_input_close(&input);
	}
	if (ret)
		check_refusal_has_message(&error);
	fuzz_assert(!sound || (!ret && total == (how & HOW_TWICE ? 2 * size : size)));
	fuzz_assert(ret || !compressed || !(how & HOW_CUT) || how & HOW_CHANGED);
}

int fuzz_input(const u8 *data, size_t size)
{
	struct packed packed;
	char path[64];
	int file;

	if (!size)
		return 0;
	packed = compress_input_data(data[0], data + 1, size - 1);
	write_compressed_file(path, sizeof(path), &file, &packed);
	read_and_check_compressed_file(path, data[0], data + 1, size - 1);
	close(file);
	free(packed.bytes);
	return 0;
}
