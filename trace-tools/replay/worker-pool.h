/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread pool that performs requests with blocking system calls.
 */
#ifndef AFTL_WORKER_POOL_H
#define AFTL_WORKER_POOL_H

#include "engine.h"

struct worker_pool;

int __must_check worker_pool_create(struct worker_pool **out, const struct engine_config *config,
				    u32 threads, struct aftl_error *error);
void worker_pool_free(struct worker_pool *pool);

/* Queue a request; the worker thread that begins it records the submission time. */
void worker_pool_submit(struct worker_pool *pool, struct replay_request *request);

/* Take a request that has completed. Return: NULL if there is none. */
struct replay_request *worker_pool_reap(struct worker_pool *pool);

/* Return: an eventfd that counts completions; after a read of it, reap until NULL is returned. */
int worker_pool_event_fd(const struct worker_pool *pool);

#endif
