/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compressed files: what they are known by, and how they are expanded.
 */
#ifndef AFTL_TRACE_CODEC_H
#define AFTL_TRACE_CODEC_H

#include <sys/types.h>

#include "core/base/params.h"

#define TRACE_CODEC_MAGIC_BYTES 6

struct trace_codec;

/**
 * trace_codec_find() - is it compressed?
 * @out: who expands it, already fed with @bytes; NULL if it is not compressed
 * @bytes: the file's first
 *
 * Return: 0, or a negative error number with a sentence, such as -EOPNOTSUPP for a compression
 * that is not supported here.
 */
int __must_check trace_codec_find(struct trace_codec **out, const u8 *bytes, size_t size,
				  struct aftl_error *error);
void trace_codec_free(struct trace_codec *codec);

/* All that it was given is used up. */
bool trace_codec_hungry(const struct trace_codec *codec);

/* Where to put the next bytes of the file, and then how many there are: 0 is its end. */
u8 *trace_codec_room(struct trace_codec *codec, size_t *room);
void trace_codec_filled(struct trace_codec *codec, size_t size);

/* Return: bytes written to @out, or a negative error number with a sentence. */
ssize_t trace_codec_expand(struct trace_codec *codec, u8 *out, size_t room,
			   struct aftl_error *error);

/* Everything was expanded. */
bool trace_codec_over(const struct trace_codec *codec);

#endif
