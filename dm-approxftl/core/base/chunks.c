// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation of chunked arrays.
 */
#include "core/base/chunks.h"

static size_t get_chunk_bytes(u32 entries, u32 size, u32 index)
{
	u32 bits = aftl_get_chunk_entries_shift(size);

	return (size_t)min(entries - (index << bits), 1U << bits) * size;
}

static u32 count_chunks_of_array(u32 entries, u32 size)
{
	u32 bits = aftl_get_chunk_entries_shift(size);

	return (entries >> bits) + !!(entries & ((1U << bits) - 1));
}

bool aftl_chunks_alloc(struct aftl_chunks *chunks, u32 entries, u32 size, aftl_alloc_t alloc,
		       void *host)
{
	u32 i;

	for (i = 0; i < count_chunks_of_array(entries, size); i++) {
		chunks->chunk[i] = alloc(host, get_chunk_bytes(entries, size, i));
		if (!chunks->chunk[i])
			return false;
	}
	return true;
}

void aftl_chunks_free(struct aftl_chunks *chunks, u32 entries, u32 size, aftl_free_t free,
		      void *host)
{
	u32 i;

	for (i = 0; i < AFTL_CHUNKS && chunks->chunk[i]; i++)
		free(host, chunks->chunk[i], get_chunk_bytes(entries, size, i));
	*chunks = (struct aftl_chunks){ 0 };
}
