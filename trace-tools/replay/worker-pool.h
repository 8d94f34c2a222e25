/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that do requests with system calls that wait.
 */
#ifndef AFTL_WORKER_POOL_H
#define AFTL_WORKER_POOL_H

#include "engine.h"

struct worker_pool;

int __must_check worker_pool_create(struct worker_pool **out, const struct engine_config *config,
				    u32 threads, struct aftl_error *error);
void worker_pool_free(struct worker_pool *pool);

/* A worker notes the time when it begins. */
void worker_pool_submit(struct worker_pool *pool, struct ticket *ticket);

/* A ticket that is complete, or NULL. */
struct ticket *worker_pool_reap(struct worker_pool *pool);

/* An eventfd that counts completions; whoever has read it must reap until there is NULL. */
int worker_pool_event(const struct worker_pool *pool);

#endif
