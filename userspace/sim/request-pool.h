/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that are taken and given back without a malloc for each.
 */
#ifndef AFTL_REQUEST_POOL_H
#define AFTL_REQUEST_POOL_H

#include "core/ftl/ftl.h"

/* More waiting requests than this are a device that cannot keep up. */
#define REQUEST_POOL_MAX 1048576U

/**
 * struct request_pool - requests in chunks that stay where they are
 * @size: of each, with what its owner has behind it
 * @chunks: arrays of requests
 * @chunk_count: how many
 * @free: requests that are not under way, linked by @next
 */
struct request_pool {
	size_t size;
	void **chunks;
	u32 chunk_count;
	struct aftl_request *free;
};

/* Requests of @size bytes, which begin with a struct aftl_request. */
void request_pool_init(struct request_pool *pool, size_t size);
void request_pool_release(struct request_pool *pool);

/* Makes more requests; false when there are too many already. */
bool request_pool_grow(struct request_pool *pool);

static inline struct aftl_request *request_pool_take(struct request_pool *pool)
{
	struct aftl_request *request;

	if (!pool->free && !request_pool_grow(pool))
		return NULL;
	request = pool->free;
	pool->free = request->next;
	return request;
}

static inline void request_pool_give(struct request_pool *pool, struct aftl_request *request)
{
	request->next = pool->free;
	pool->free = request;
}

#endif
