/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Detects and decompresses compressed files.
 */
#ifndef AFTL_TRACE_CODEC_H
#define AFTL_TRACE_CODEC_H

#include <sys/types.h>

#include "core/base/params.h"

#define TRACE_CODEC_MAGIC_BYTES 6

struct trace_codec;

/**
 * trace_codec_find() - detect whether a file is compressed
 * @out: takes a decompressor that already holds @bytes; NULL if the file is not compressed
 * @bytes: the first bytes of the file
 *
 * Return: 0, or a negative error number with a message, such as -EOPNOTSUPP for a compression
 * that is not supported here.
 */
int __must_check trace_codec_find(struct trace_codec **out, const u8 *bytes, size_t size,
				  struct aftl_error *error);
void trace_codec_free(struct trace_codec *codec);

/* Return: true if the decompressor has consumed all the compressed bytes that it holds. */
bool trace_codec_needs_input(const struct trace_codec *codec);

/* Get the buffer for compressed bytes; the caller reports how many it stored (0: end of file). */
u8 *trace_codec_input_room(struct trace_codec *codec, size_t *room);
void trace_codec_add_input(struct trace_codec *codec, size_t size);

/* Decompress to @out. Return: the number of bytes, or a negative error number with a message. */
ssize_t trace_codec_expand(struct trace_codec *codec, u8 *out, size_t room,
			   struct aftl_error *error);

/* Return: true if the whole file was decompressed. */
bool trace_codec_is_finished(const struct trace_codec *codec);

#endif
