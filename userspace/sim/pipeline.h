/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chunks that are made one after the other, and that every lane takes in that order, in threads.
 */
#ifndef SIM_PIPELINE_H
#define SIM_PIPELINE_H

#include "aftl-host.h"

/* Chunks that are made before a lane has taken the oldest of them. */
#define PIPELINE_AHEAD 8

/**
 * struct pipeline - what is to be done
 * @context: first argument of the functions
 * @make: makes chunk @number, in the place of chunk @number - PIPELINE_AHEAD; false: there is
 *	none. Called by one thread at a time.
 * @take: does what @lane has to do with it. Called by one thread at a time for each lane, for
 *	one chunk after the other; lanes know nothing of each other.
 * @lanes: how many
 * @threads: most of them; the caller's is one
 */
struct pipeline {
	void *context;
	bool (*make)(void *context, u64 number);
	void (*take)(void *context, u64 number, u32 lane);
	u32 lanes;
	u32 threads;
};

/**
 * pipeline_run() - do it, until every lane has taken all chunks
 *
 * What one thread has done is seen by whoever goes on with it. Fewer threads than wanted are no
 * failure.
 */
void pipeline_run(const struct pipeline *pipeline);

/* The same for a single chunk, which is there: @work for each lane. */
void pipeline_each(void *context, void (*work)(void *context, u64 number, u32 lane), u32 lanes,
		   u32 threads);

#endif
