// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "request-pool.h"

#define CHUNK 1024
#define CHUNKS_MAX (REQUEST_POOL_MAX / CHUNK)

void request_pool_init(struct request_pool *pool, size_t size)
{
	*pool = (struct request_pool){
		.size = size,
		.chunks = memory_alloc_zeroed(CHUNKS_MAX, sizeof(void *)),
	};
}

void request_pool_release(struct request_pool *pool)
{
	for (u32 i = 0; i < pool->chunk_count; i++)
		free(pool->chunks[i]);
	free(pool->chunks);
}

bool request_pool_grow(struct request_pool *pool)
{
	char *chunk;

	if (pool->chunk_count == CHUNKS_MAX)
		return false;
	chunk = memory_alloc_zeroed(CHUNK, pool->size);
	pool->chunks[pool->chunk_count++] = chunk;
	for (u32 i = 0; i < CHUNK; i++)
		request_pool_return_request(pool, (void *)(chunk + i * pool->size));
	return true;
}
