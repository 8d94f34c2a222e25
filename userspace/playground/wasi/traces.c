// SPDX-License-Identifier: GPL-2.0-only
/*
 * Implements trace-codec.h without zlib and zstd: the web page decompresses traces. Defines the
 * trace format Parquet, which the playground cannot read.
 */
#include "trace-codec.h"
#include "trace-format.h"

const struct trace_format trace_format_parquet = { .name = "parquet", .told_only = true };

int trace_codec_find(struct trace_codec **out, const u8 *bytes, size_t size,
		     struct aftl_error *error)
{
	static const u8 magic[][3] = { "\x1f\x8b\x08", "\x28\xb5\x2f", "\3757z", "BZh" };

	*out = NULL;
	for (size_t i = 0; size >= sizeof(magic[0]) && i < ARRAY_SIZE(magic); i++)
		if (!memcmp(bytes, magic[i], sizeof(magic[0])))
			return aftl_fail(error, -EOPNOTSUPP,
					 "the trace is compressed; expand it first");
	return 0;
}

void trace_codec_free(struct trace_codec *codec)
{
	(void)codec;
}

bool trace_codec_needs_input(const struct trace_codec *codec)
{
	(void)codec;
	return false;
}

u8 *trace_codec_input_room(struct trace_codec *codec, size_t *room)
{
	(void)codec;
	*room = 0;
	return NULL;
}

void trace_codec_add_input(struct trace_codec *codec, size_t size)
{
	(void)codec;
	(void)size;
}

ssize_t trace_codec_expand(struct trace_codec *codec, u8 *out, size_t room,
			   struct aftl_error *error)
{
	(void)codec;
	(void)out;
	(void)room;
	(void)error;
	return 0;
}

bool trace_codec_is_finished(const struct trace_codec *codec)
{
	(void)codec;
	return true;
}
