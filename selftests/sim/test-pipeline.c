// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks are made in turn, and each lane takes all of them in that order, with any threads.
 */
#include <stdatomic.h>

#include "pipeline.h"
#include "tap.h"

#define LANES 5
#define CHUNKS 500

/**
 * struct watch - what a pipeline has done so far
 * @places: number of the chunk that is there
 * @taken: by lane
 * @at_it: who is in make(), or by lane in take()
 * @chunks: to be made
 * @wrong: calls that should not have come, or not now
 */
struct watch {
	u64 places[PIPELINE_AHEAD];
	u64 taken[LANES];
	atomic_uint at_it[1 + LANES];
	u64 chunks;
	atomic_uint wrong;
};

static void enter(struct watch *watch, u32 who)
{
	if (atomic_fetch_add(&watch->at_it[who], 1))
		atomic_fetch_add(&watch->wrong, 1);
}

static void leave(struct watch *watch, u32 who)
{
	atomic_fetch_sub(&watch->at_it[who], 1);
}

static bool make(void *context, u64 number)
{
	struct watch *watch = context;

	enter(watch, 0);
	watch->places[number % PIPELINE_AHEAD] = number;
	leave(watch, 0);
	return number < watch->chunks;
}

static void take(void *context, u64 number, u32 lane)
{
	struct watch *watch = context;

	enter(watch, 1 + lane);
	if (watch->places[number % PIPELINE_AHEAD] != number || watch->taken[lane]++ != number)
		atomic_fetch_add(&watch->wrong, 1);
	leave(watch, 1 + lane);
}

static void check(u64 chunks, u32 threads)
{
	struct watch watch = { .chunks = chunks };
	const struct pipeline pipeline = {
		.context = &watch,
		.make = make,
		.take = take,
		.lanes = LANES,
		.threads = threads,
	};
	u32 i;

	pipeline_run(&pipeline);
	CHECK_EQ(atomic_load(&watch.wrong), 0);
	for (i = 0; i < LANES; i++)
		CHECK_EQ(watch.taken[i], chunks);
}

static void everything_is_taken(void)
{
	u32 threads;

	for (threads = 0; threads <= LANES + 1; threads++)
		check(CHUNKS, threads);
}

static void nothing_is_there(void)
{
	check(0, 1);
	check(0, 3);
	check(1, 3);
}

static void once(void *context, u64 number, u32 lane)
{
	struct watch *watch = context;

	watch->taken[lane] += 1 + number;
}

static void each_once(void)
{
	struct watch watch = { .chunks = 0 };
	u32 i;

	pipeline_each(&watch, once, LANES, 2);
	for (i = 0; i < LANES; i++)
		CHECK_EQ(watch.taken[i], 1);
}

int main(void)
{
	tap_run("each lane takes every chunk in its turn", everything_is_taken);
	tap_run("without chunks it ends", nothing_is_there);
	tap_run("each lane is asked once", each_once);
	return tap_finish();
}
