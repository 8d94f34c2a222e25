/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays with an entry for each unit, page or slot. Up to 2^30 of them are more bytes than a
 * host gives in one piece, which in the kernel is less than 2 GiB: an array is chunks of 2^22
 * entries, and the last one may be shorter. The largest are those of pages with 64 units.
 */
#ifndef AFTL_CHUNKS_H
#define AFTL_CHUNKS_H

#include "core/base/types.h"

#define AFTL_CHUNK_BITS 22
#define AFTL_CHUNKS (1U << (AFTL_SLOT_BITS - AFTL_CHUNK_BITS))

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

static inline void *aftl_entry_at(const struct aftl_chunks *chunks, u32 index, u32 size)
{
	return (u8 *)chunks->chunk[index >> AFTL_CHUNK_BITS] +
	       (size_t)(index & ((1U << AFTL_CHUNK_BITS) - 1)) * size;
}

/* Address of an entry, which must be there. */
#define aftl_entry(chunks, type, index) ((type *)aftl_entry_at(chunks, index, sizeof(type)))

/**
 * aftl_chunks_take() - an array of zeroes
 * @chunks: all zero
 * @entries: how many
 * @size: of one, in bytes
 * @alloc: gives memory; may sleep if the caller may
 * @host: its first argument
 *
 * Return: false if there was no memory; aftl_chunks_give() takes back what was given.
 */
bool __must_check aftl_chunks_take(struct aftl_chunks *chunks, u32 entries, u32 size,
				   aftl_alloc_t alloc, void *host);

/* Give it back, whole or not. */
void aftl_chunks_give(struct aftl_chunks *chunks, u32 entries, u32 size, aftl_free_t free,
		      void *host);

static inline bool aftl_chunks_there(const struct aftl_chunks *chunks)
{
	return chunks->chunk[0];
}

#endif
