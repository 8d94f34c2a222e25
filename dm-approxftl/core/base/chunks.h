/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays with an entry for each unit, page or slot. Up to 2^30 of them are more bytes than a
 * host gives in one piece, which in the kernel is less than 2 GiB: an array of up to 8 GiB is
 * chunks of a power of two of entries and at least 1 GiB, but for the last one.
 */
#ifndef AFTL_CHUNKS_H
#define AFTL_CHUNKS_H

#include "core/base/types.h"

/* Few: arrays are handed about by value, on a kernel's stack too. */
#define AFTL_CHUNKS 8

/* Zeroed memory or NULL. */
typedef void *(*aftl_alloc_t)(void *host, size_t bytes);
typedef void (*aftl_free_t)(void *host, void *memory, size_t bytes);

/**
 * struct aftl_chunks - such an array
 * @chunk: NULL where the array has ended; the first one is NULL if there is no array
 */
struct aftl_chunks {
	void *chunk[AFTL_CHUNKS];
};

/* log2 of a chunk's entries of @size bytes; a constant where @size is one */
static inline u32 aftl_chunk_bits(u32 size)
{
	return (u32)__builtin_clz(size) - 1;
}

static inline void *aftl_chunk_entry_at(const struct aftl_chunks *chunks, u32 index, u32 size)
{
	u32 bits = aftl_chunk_bits(size);

	return (u8 *)chunks->chunk[index >> bits] + (size_t)(index & ((1U << bits) - 1)) * size;
}

/* Address of an entry, which must be there. */
#define aftl_chunk_entry(chunks, type, index) ((type *)aftl_chunk_entry_at(chunks, index, sizeof(type)))

/**
 * aftl_chunks_alloc() - an array of zeroes
 * @chunks: all zero
 * @entries: how many
 * @size: of one, in bytes
 * @alloc: gives memory; may sleep if the caller may
 * @host: its first argument
 *
 * Return: false if there was no memory; aftl_chunks_free() takes back what was given.
 */
bool __must_check aftl_chunks_alloc(struct aftl_chunks *chunks, u32 entries, u32 size,
				   aftl_alloc_t alloc, void *host);

/* Give it back, whole or not, or not taken at all: then @size may be 0. */
void aftl_chunks_free(struct aftl_chunks *chunks, u32 entries, u32 size, aftl_free_t free,
		      void *host);

static inline bool aftl_chunks_allocated(const struct aftl_chunks *chunks)
{
	return chunks->chunk[0];
}

#endif
