/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who issues requests: io_uring, or threads where there is none.
 */
#ifndef AFTL_ENGINE_H
#define AFTL_ENGINE_H

#include "replay-target.h"
#include "ticket.h"

struct engine;

/**
 * struct engine_config - what an engine works with
 * @target: where requests go
 * @depth: most of them under way
 * @threads: of the engine that has some
 * @begin_ns: 0 of the times in tickets, on the machine's clock
 */
struct engine_config {
	const struct replay_target *target;
	u32 depth;
	u32 threads;
	u64 begin_ns;
};

/**
 * struct engine_type - an engine
 * @name: on the command line
 * @open: make one; -EOPNOTSUPP if this machine cannot
 * @submit: issue a request, and note when; there are fewer than the depth under way
 * @wait: return when something is complete, at @until_ns of the machine's clock, or when a
 *	signal came; at once if @until_ns is 0
 * @reap: a ticket that is complete, or NULL
 * @close: nothing is under way any more
 */
struct engine_type {
	const char *name;
	int (*open)(struct engine **out, const struct engine_config *config,
		    struct aftl_error *error);
	void (*submit)(struct engine *engine, struct ticket *ticket);
	void (*wait)(struct engine *engine, u64 until_ns);
	struct ticket *(*reap)(struct engine *engine);
	void (*close)(struct engine *engine);
};

extern const struct engine_type uring_engine;
extern const struct engine_type threads_engine;

#endif
