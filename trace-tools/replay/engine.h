/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface to the engine that issues requests: io_uring, or threads where io_uring is missing.
 */
#ifndef AFTL_ENGINE_H
#define AFTL_ENGINE_H

#include "replay-target.h"
#include "replay-request.h"

struct engine;

/**
 * struct engine_config - parameters of an engine that issues requests
 * @target: device or file that requests go to
 * @depth: maximum number of requests in flight
 * @threads: number of threads, for the thread engine
 * @begin_ns: begin of the replay on the machine's clock; the times in struct replay_request count
 *	from it
 */
struct engine_config {
	const struct replay_target *target;
	u32 depth;
	u32 threads;
	u64 begin_ns;
};

/**
 * struct engine_type - an engine that issues requests
 * @name: name on the command line
 * @open: create the engine; -EOPNOTSUPP if this machine lacks support
 * @submit: issue a request and record the time; fewer than depth requests are in flight
 * @wait: sleep until a request completes, the machine's clock reaches @until_ns, or a signal
 *	arrives; return at once if @until_ns is 0
 * @reap: get a completed request, or NULL
 * @close: free the engine; no request is in flight
 */
struct engine_type {
	const char *name;
	int (*open)(struct engine **out, const struct engine_config *config,
		    struct aftl_error *error);
	void (*submit)(struct engine *engine, struct replay_request *request);
	void (*wait)(struct engine *engine, u64 until_ns);
	struct replay_request *(*reap)(struct engine *engine);
	void (*close)(struct engine *engine);
};

extern const struct engine_type uring_engine;
extern const struct engine_type threads_engine;

#endif
