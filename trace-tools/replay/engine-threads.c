// SPDX-License-Identifier: GPL-2.0-only
/*
 * Issues requests with system calls from a thread pool, for kernels and containers without
 * io_uring.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "machine-clock.h"
#include "worker-pool.h"

struct engine {
	struct worker_pool *pool;
};

static int threads_engine_open(struct engine **out, const struct engine_config *config,
			       struct aftl_error *error)
{
	struct engine *engine = memory_alloc_zeroed(1, sizeof(*engine));
	int ret = worker_pool_create(&engine->pool, config, config->threads, error);

	if (ret)
		free(engine);
	else
		*out = engine;
	return ret;
}

static void threads_engine_submit(struct engine *engine, struct replay_request *request)
{
	worker_pool_submit(engine->pool, request);
}

static void threads_engine_wait(struct engine *engine, u64 until_ns)
{
	struct timespec left = ns_to_timespec(machine_clock_get_ns_until_time(until_ns));
	struct pollfd event = { .fd = worker_pool_event_fd(engine->pool), .events = POLLIN };
	u64 count;

	if (ppoll(&event, 1, &left, NULL) > 0 && read(event.fd, &count, sizeof(count)) < 0)
		return; /* Ignore a failed read of the eventfd: the caller polls the worker pool. */
}

static struct replay_request *threads_engine_reap(struct engine *engine)
{
	return worker_pool_reap(engine->pool);
}

static void threads_engine_close(struct engine *engine)
{
	worker_pool_free(engine->pool);
	free(engine);
}

const struct engine_type threads_engine = {
	.name = "threads",
	.open = threads_engine_open,
	.submit = threads_engine_submit,
	.wait = threads_engine_wait,
	.reap = threads_engine_reap,
	.close = threads_engine_close,
};
