// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "checked-memory.h"
#include "trace-codec.h"
#include "trace-input.h"

/* What was read before it was known to be compressed must fit. */
#define PACKED_ROOM TRACE_INPUT_ROOM

/* 15 bits of window, and a gzip header. */
#define GZIP_WINDOW (15 + 16)

/**
 * struct trace_codec - an expansion under way
 * @gzip: its state, unless @zstd is used
 * @zstd: its state, or NULL
 * @begin: first byte of @packed that was not used yet
 * @end: behind the last one
 * @at_start: between two members of the file
 * @ended: there is nothing more to put into @packed
 * @packed: compressed bytes
 */
struct trace_codec {
	z_stream gzip;
	ZSTD_DStream *zstd;
	size_t begin;
	size_t end;
	bool at_start;
	bool ended;
	u8 packed[PACKED_ROOM];
};

static bool begins(const u8 *bytes, size_t size, const char *magic, size_t length)
{
	return size >= length && !memcmp(bytes, magic, length);
}

static struct trace_codec *create(bool zstd, const u8 *bytes, size_t size)
{
	struct trace_codec *codec = memory_zeroed(1, sizeof(*codec));

	codec->at_start = true;
	codec->end = size;
	memcpy(codec->packed, bytes, size);
	if (zstd)
		codec->zstd = ZSTD_createDStream();
	else
		inflateInit2(&codec->gzip, GZIP_WINDOW);
	return codec;
}

int trace_codec_find(struct trace_codec **out, const u8 *bytes, size_t size,
		     struct aftl_error *error)
{
	*out = NULL;
	if (begins(bytes, size, "\x1f\x8b\x08", 3))
		*out = create(false, bytes, size);
	else if (begins(bytes, size, "\x28\xb5\x2f\xfd", 4))
		*out = create(true, bytes, size);
	else if (begins(bytes, size, "\xfd\x37zXZ", 5))
		return aftl_fail(error, -EOPNOTSUPP, "compressed with xz; expand it first: xz -dc");
	else if (begins(bytes, size, "BZh", 3))
		return aftl_fail(error, -EOPNOTSUPP,
				 "compressed with bzip2; expand it first: bzip2 -dc");
	return 0;
}

void trace_codec_free(struct trace_codec *codec)
{
	if (!codec)
		return;
	if (codec->zstd)
		ZSTD_freeDStream(codec->zstd);
	else
		inflateEnd(&codec->gzip);
	free(codec);
}

bool trace_codec_hungry(const struct trace_codec *codec)
{
	return codec->begin == codec->end && !codec->ended;
}

u8 *trace_codec_room(struct trace_codec *codec, size_t *room)
{
	*room = PACKED_ROOM;
	codec->begin = 0;
	codec->end = 0;
	return codec->packed;
}

void trace_codec_filled(struct trace_codec *codec, size_t size)
{
	codec->end = size;
	codec->ended = !size;
}

bool trace_codec_over(const struct trace_codec *codec)
{
	return codec->ended && codec->at_start;
}

static ssize_t expand_zstd(struct trace_codec *codec, u8 *out, size_t room,
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

static ssize_t expand_gzip(struct trace_codec *codec, u8 *out, size_t room,
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

ssize_t trace_codec_expand(struct trace_codec *codec, u8 *out, size_t room,
			   struct aftl_error *error)
{
	ssize_t got;

	if (codec->begin == codec->end && codec->at_start)
		return 0;
	got = codec->zstd ? expand_zstd(codec, out, room, error) :
			    expand_gzip(codec, out, room, error);
	if (!got && codec->ended && !codec->at_start)
		return aftl_fail(error, -EINVAL, "the compressed data end too early");
	return got;
}
