// SPDX-License-Identifier: GPL-2.0-only
#include <bzlib.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "checked-memory.h"
#include "trace-codec.h"
#include "trace-input.h"

/* Size of the buffer for compressed bytes; the bytes read for detection fit into it. */
#define PACKED_ROOM TRACE_INPUT_ROOM

/* zlib's windowBits: a window of 2^15 bytes, plus 16 for the gzip format. */
#define GZIP_WINDOW (15 + 16)

/* Memory limit of xz. "xz -9" needs 65 MiB; a file that needs more than the limit is refused. */
#define XZ_MEMORY (256ULL << 20)

enum compression { GZIP, ZSTD, XZ, BZIP2 };

/**
 * struct trace_codec - state of a decompressor
 * @kind: compression, which selects one of the states below
 * @gzip: state of zlib
 * @zstd: state of libzstd
 * @xz: state of liblzma
 * @bzip2: state of libbz2
 * @begin: index of the first unused byte in @packed
 * @end: index behind the last byte in @packed
 * @at_start: no byte of the next stream of the file has been decompressed yet
 * @ended: the file has no more bytes
 * @failed: the library could not allocate its state
 * @packed: compressed bytes that were read from the file
 */
struct trace_codec {
	enum compression kind;
	z_stream gzip;
	ZSTD_DStream *zstd;
	lzma_stream xz;
	bz_stream bzip2;
	size_t begin;
	size_t end;
	bool at_start;
	bool ended;
	bool failed;
	u8 packed[PACKED_ROOM];
};

/* Initialise the compression library for a stream; only lack of memory makes this fail. */
static void begin_codec_stream(struct trace_codec *codec)
{
	static const lzma_stream nothing = LZMA_STREAM_INIT;
	bool failed = true;

	switch (codec->kind) {
	case GZIP:
		failed = inflateInit2(&codec->gzip, GZIP_WINDOW) != Z_OK;
		break;
	case ZSTD:
		codec->zstd = ZSTD_createDStream();
		failed = !codec->zstd;
		break;
	case XZ:
		codec->xz = nothing;
		failed = lzma_stream_decoder(&codec->xz, XZ_MEMORY, 0) != LZMA_OK;
		break;
	case BZIP2:
		failed = BZ2_bzDecompressInit(&codec->bzip2, 0, 0) != BZ_OK;
		break;
	}
	codec->failed = failed;
}

static struct trace_codec *create_codec(enum compression kind, const u8 *bytes, size_t size)
{
	struct trace_codec *codec = memory_alloc_zeroed(1, sizeof(*codec));

	codec->kind = kind;
	codec->at_start = true;
	codec->end = size;
	memcpy(codec->packed, bytes, size);
	begin_codec_stream(codec);
	return codec;
}

int trace_codec_find(struct trace_codec **out, const u8 *bytes, size_t size,
		     struct aftl_error *error)
{
	static const struct {
		const char *magic;
		size_t length;
		enum compression kind;
	} known[] = {
		{ "\x1f\x8b\x08", 3, GZIP },
		{ "\x28\xb5\x2f\xfd", 4, ZSTD },
		{ "\xfd\x37zXZ", 6, XZ },
		{ "BZh", 3, BZIP2 },
	};

	*out = NULL;
	for (size_t i = 0; !*out && i < ARRAY_SIZE(known); i++)
		if (size >= known[i].length && !memcmp(bytes, known[i].magic, known[i].length))
			*out = create_codec(known[i].kind, bytes, size);
	(void)error;
	return 0;
}

static void end_codec_stream(struct trace_codec *codec)
{
	switch (codec->kind) {
	case GZIP:
		inflateEnd(&codec->gzip);
		break;
	case ZSTD:
		ZSTD_freeDStream(codec->zstd);
		break;
	case XZ:
		lzma_end(&codec->xz);
		break;
	case BZIP2:
		BZ2_bzDecompressEnd(&codec->bzip2);
		break;
	}
}

void trace_codec_free(struct trace_codec *codec)
{
	if (!codec)
		return;
	end_codec_stream(codec);
	free(codec);
}

bool trace_codec_needs_input(const struct trace_codec *codec)
{
	return codec->begin == codec->end && !codec->ended;
}

u8 *trace_codec_input_room(struct trace_codec *codec, size_t *room)
{
	*room = PACKED_ROOM;
	codec->begin = 0;
	codec->end = 0;
	return codec->packed;
}

void trace_codec_add_input(struct trace_codec *codec, size_t size)
{
	codec->end = size;
	codec->ended = !size;
}

bool trace_codec_is_finished(const struct trace_codec *codec)
{
	return codec->ended && codec->at_start;
}

static ssize_t decompress_zstd(struct trace_codec *codec, u8 *out, size_t room,
			       struct aftl_error *error)
{
	ZSTD_inBuffer in = { codec->packed, codec->end, codec->begin };
	ZSTD_outBuffer bytes = { out, room, 0 };
	size_t ret = ZSTD_decompressStream(codec->zstd, &bytes, &in);

	codec->begin = in.pos;
	if (ZSTD_isError(ret))
		return aftl_fail(error, -EINVAL, "the zstd data are damaged: %s",
				 ZSTD_getErrorName(ret));
	codec->at_start = !ret;
	return (ssize_t)bytes.pos;
}

static ssize_t decompress_gzip(struct trace_codec *codec, u8 *out, size_t room,
			       struct aftl_error *error)
{
	z_stream *gzip = &codec->gzip;
	int ret;

	gzip->next_in = codec->packed + codec->begin;
	gzip->avail_in = (uInt)(codec->end - codec->begin);
	gzip->next_out = out;
	gzip->avail_out = (uInt)room;
	ret = inflate(gzip, Z_NO_FLUSH);
	codec->begin = codec->end - gzip->avail_in;
	codec->at_start = ret == Z_STREAM_END;
	if (codec->at_start)
		inflateReset(gzip);
	else if (ret != Z_OK && ret != Z_BUF_ERROR)
		return aftl_fail(error, -EINVAL, "the gzip data are damaged: %s",
				 gzip->msg ? gzip->msg : "no such code");
	return (ssize_t)(room - gzip->avail_out);
}

/* Prepare for another compressed stream that may follow in the file. */
static void restart_decompressor(struct trace_codec *codec)
{
	end_codec_stream(codec);
	begin_codec_stream(codec);
	codec->at_start = true;
}

static ssize_t expand_xz(struct trace_codec *codec, u8 *out, size_t room, struct aftl_error *error)
{
	lzma_stream *xz = &codec->xz;
	lzma_ret ret;

	xz->next_in = codec->packed + codec->begin;
	xz->avail_in = codec->end - codec->begin;
	xz->next_out = out;
	xz->avail_out = room;
	ret = lzma_code(xz, LZMA_RUN);
	codec->begin = codec->end - xz->avail_in;
	room -= xz->avail_out;
	codec->at_start = false;
	if (ret == LZMA_STREAM_END)
		restart_decompressor(codec);
	else if (ret == LZMA_MEMLIMIT_ERROR)
		return aftl_fail(error, -EINVAL,
				 "the xz data take more than %llu MiB of memory; expand them first: xz -dc",
				 XZ_MEMORY >> 20);
	else if (ret != LZMA_OK && ret != LZMA_BUF_ERROR)
		return aftl_fail(error, -EINVAL, "the xz data are damaged");
	return (ssize_t)room;
}

static ssize_t decompress_bzip2(struct trace_codec *codec, u8 *out, size_t room,
				struct aftl_error *error)
{
	bz_stream *bzip2 = &codec->bzip2;
	int ret;

	bzip2->next_in = (char *)codec->packed + codec->begin;
	bzip2->avail_in = (unsigned int)(codec->end - codec->begin);
	bzip2->next_out = (char *)out;
	bzip2->avail_out = (unsigned int)room;
	ret = BZ2_bzDecompress(bzip2);
	codec->begin = codec->end - bzip2->avail_in;
	room -= bzip2->avail_out;
	codec->at_start = false;
	if (ret == BZ_STREAM_END)
		restart_decompressor(codec);
	else if (ret != BZ_OK)
		return aftl_fail(error, -EINVAL, "the bzip2 data are damaged");
	return (ssize_t)room;
}

static ssize_t decompress_stream(struct trace_codec *codec, u8 *out, size_t room,
				 struct aftl_error *error)
{
	switch (codec->kind) {
	case GZIP:
		return decompress_gzip(codec, out, room, error);
	case ZSTD:
		return decompress_zstd(codec, out, room, error);
	case XZ:
		return expand_xz(codec, out, room, error);
	case BZIP2:
		return decompress_bzip2(codec, out, room, error);
	}
	return -EINVAL;
}

ssize_t trace_codec_expand(struct trace_codec *codec, u8 *out, size_t room,
			   struct aftl_error *error)
{
	ssize_t got;

	if (codec->begin == codec->end && codec->at_start)
		return 0;
	if (codec->failed)
		return aftl_fail(error, -ENOMEM, "not enough memory to decompress the trace");
	got = decompress_stream(codec, out, room, error);
	if (!got && codec->ended && !codec->at_start)
		return aftl_fail(error, -EINVAL, "the compressed data end too early");
	return got;
}
