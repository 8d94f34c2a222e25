/* SPDX-License-Identifier: GPL-2.0-only */
/* A multithreaded pipeline: every lane (a consumer, such as a shard) takes all chunks in order. */
#ifndef SIM_PIPELINE_H
#define SIM_PIPELINE_H

#include "aftl-host.h"

/* Maximum number of chunks that are made ahead of the slowest lane. */
#define PIPELINE_AHEAD 8

/**
 * struct pipeline - the work of a pipeline
 * @context: first argument of the functions
 * @make: makes chunk @number in the slot of chunk @number - PIPELINE_AHEAD; returns false after
 *	the last chunk. One thread at a time calls it.
 * @take: processes a chunk for @lane. One thread at a time calls it for each lane, with chunks in
 *	order; lanes are independent of each other.
 * @lanes: number of lanes
 * @threads: maximum number of threads, including the caller's
 */
struct pipeline {
	void *context;
	bool (*make)(void *context, u64 number);
	void (*take)(void *context, u64 number, u32 lane);
	u32 lanes;
	u32 threads;
};

/**
 * pipeline_run_all_chunks() - run until every lane has taken all chunks
 *
 * Memory written by one thread is visible to the thread that continues its work. If fewer
 * threads than requested can be created, the run continues with those.
 */
void pipeline_run_all_chunks(const struct pipeline *pipeline);

/* Call @work once for each lane, in several threads; no chunks are made. */
void pipeline_call_each_consumer(void *context, void (*work)(void *context, u64 number, u32 lane),
				 u32 lanes, u32 threads);

#endif
