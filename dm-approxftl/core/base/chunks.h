/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays with an entry for each lpn, page or ppn.
 *
 * The kernel allocates less than 2 GiB at once, and an array of 2^30 entries needs more. An array
 * of up to 8 GiB is split into chunks, each a power of two of entries and at least 1 GiB, except
 * for the last.
 */
#ifndef AFTL_CHUNKS_H
#define AFTL_CHUNKS_H

#include "core/base/types.h"

/* Limit of chunks in an array; small, as arrays are passed by value, also on kernel stacks. */
#define AFTL_CHUNKS 8

/* Allocate zeroed memory; NULL on failure. */
typedef void *(*aftl_alloc_t)(void *host, size_t bytes);
typedef void (*aftl_free_t)(void *host, void *memory, size_t bytes);

/**
 * struct aftl_chunks - a chunked array
 * @chunk: NULL after the last chunk; the first one is NULL if the array is not allocated
 */
struct aftl_chunks {
	void *chunk[AFTL_CHUNKS];
};

/* log2 of the entries in a chunk of an array; @size: bytes of an entry. */
static inline u32 aftl_get_chunk_entries_shift(u32 size)
{
	return (u32)__builtin_clz(size) - 1;
}

static inline void *aftl_chunk_entry_at(const struct aftl_chunks *chunks, u32 index, u32 size)
{
	u32 bits = aftl_get_chunk_entries_shift(size);

	return (u8 *)chunks->chunk[index >> bits] + (size_t)(index & ((1U << bits) - 1)) * size;
}

/* Address of entry @index of a chunked array; the entry must exist. */
#define aftl_chunk_entry(chunks, type, index) \
	((type *)aftl_chunk_entry_at(chunks, index, sizeof(type)))

/**
 * aftl_chunks_alloc() - allocate an array of zeros
 * @chunks: the array to allocate; all its pointers are NULL
 * @entries: number of entries
 * @size: bytes of an entry
 * @alloc: allocates memory; may sleep if the caller may
 * @host: first argument of @alloc
 *
 * Return: false without memory; aftl_chunks_free() frees the chunks allocated so far.
 */
bool __must_check aftl_chunks_alloc(struct aftl_chunks *chunks, u32 entries, u32 size,
				    aftl_alloc_t alloc, void *host);

/* Free an array, even one allocated partly; if it was never allocated, @size may be 0. */
void aftl_chunks_free(struct aftl_chunks *chunks, u32 entries, u32 size, aftl_free_t free,
		      void *host);

static inline bool aftl_chunks_are_allocated(const struct aftl_chunks *chunks)
{
	return chunks->chunk[0];
}

#endif
