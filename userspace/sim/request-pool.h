/* SPDX-License-Identifier: GPL-2.0-only */
/* A pool of requests, which avoids a malloc() for each request. */
#ifndef AFTL_REQUEST_POOL_H
#define AFTL_REQUEST_POOL_H

#include "core/ftl/ftl.h"

/* If more requests than this wait, the device cannot keep up with the arrival rate. */
#define REQUEST_POOL_MAX 1048576U

/**
 * struct request_pool - a pool of requests in chunks that never move
 * @size: bytes of a request, including the owner's data behind it
 * @chunks: arrays of requests
 * @chunk_count: number of chunks
 * @free: free requests, linked by @next
 */
struct request_pool {
	size_t size;
	void **chunks;
	u32 chunk_count;
	struct aftl_request *free;
};

/* Initialise a pool of requests, which begin with a struct aftl_request and have @size bytes. */
void request_pool_init(struct request_pool *pool, size_t size);
void request_pool_release(struct request_pool *pool);

/* Allocate more requests of the pool; return false if the pool has reached its limit. */
bool request_pool_grow(struct request_pool *pool);

static inline struct aftl_request *request_pool_take_request(struct request_pool *pool)
{
	struct aftl_request *request;

	if (!pool->free && !request_pool_grow(pool))
		return NULL;
	request = pool->free;
	pool->free = request->next;
	return request;
}

static inline void request_pool_return_request(struct request_pool *pool,
					       struct aftl_request *request)
{
	request->next = pool->free;
	pool->free = request;
}

#endif
