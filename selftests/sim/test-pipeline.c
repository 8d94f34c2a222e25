// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pipeline makes chunks in order, and each of its lanes (consumers) takes all chunks in that
 * order, with any number of threads.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "pipeline.h"
#include "tap.h"

#define LANES 5
#define CHUNKS 500

/**
 * struct watch - progress of a pipeline
 * @places: number of the chunk in each place of the ring
 * @taken: chunks taken, by lane
 * @slow: the first lane stays at its first chunk until the other lanes are blocked
 * @at_it: threads in make_pipeline_chunk(), then threads in take_pipeline_chunk() by lane
 * @chunks: number of chunks to be made
 * @wrong: concurrent or out-of-order calls
 */
struct watch {
	u64 places[PIPELINE_AHEAD];
	atomic_ullong taken[LANES];
	bool slow;
	atomic_uint at_it[1 + LANES];
	u64 chunks;
	atomic_uint wrong;
};

static void count_thread_in_lane(struct watch *watch, u32 who)
{
	if (atomic_fetch_add(&watch->at_it[who], 1))
		atomic_fetch_add(&watch->wrong, 1);
}

static void uncount_thread_in_lane(struct watch *watch, u32 who)
{
	atomic_fetch_sub(&watch->at_it[who], 1);
}

static bool make_pipeline_chunk(void *context, u64 number)
{
	struct watch *watch = context;

	count_thread_in_lane(watch, 0);
	watch->places[number % PIPELINE_AHEAD] = number;
	uncount_thread_in_lane(watch, 0);
	return number < watch->chunks;
}

/* Wait up to 500 ms per lane, and a little longer to notice a lane that takes too many chunks. */
static void wait_for_other_lanes(struct watch *watch)
{
	u32 lane, ms;

	for (lane = 1; lane < LANES; lane++)
		for (ms = 0; atomic_load(&watch->taken[lane]) < PIPELINE_AHEAD && ms < 500; ms++)
			usleep(1000);
	usleep(5000);
}

static void take_pipeline_chunk(void *context, u64 number, u32 lane)
{
	struct watch *watch = context;

	count_thread_in_lane(watch, 1 + lane);
	if (watch->slow && !lane && !number)
		wait_for_other_lanes(watch);
	if (watch->places[number % PIPELINE_AHEAD] != number ||
	    atomic_fetch_add(&watch->taken[lane], 1) != number)
		atomic_fetch_add(&watch->wrong, 1);
	uncount_thread_in_lane(watch, 1 + lane);
}

static void check_pipeline_of_lanes(u64 chunks, u32 threads, bool slow)
{
	struct watch watch = { .chunks = chunks, .slow = slow };
	const struct pipeline pipeline = {
		.context = &watch,
		.make = make_pipeline_chunk,
		.take = take_pipeline_chunk,
		.lanes = LANES,
		.threads = threads,
	};
	u32 i;

	pipeline_run(&pipeline);
	CHECK_EQ(atomic_load(&watch.wrong), 0);
	for (i = 0; i < LANES; i++)
		CHECK_EQ(atomic_load(&watch.taken[i]), chunks);
}

TAP_TEST(each_lane_processes_all_chunks_in_order)
{
	u32 threads;

	for (threads = 0; threads <= LANES + 1; threads++)
		check_pipeline_of_lanes(CHUNKS, threads, false);
}

/* A chunk stays unchanged while a slow lane of the pipeline uses it. */
TAP_TEST(a_slow_lane_keeps_its_chunk)
{
	check_pipeline_of_lanes(CHUNKS, 3, true);
	check_pipeline_of_lanes(CHUNKS, LANES, true);
}

TAP_TEST(the_pipeline_ends_without_chunks)
{
	check_pipeline_of_lanes(0, 1, false);
	check_pipeline_of_lanes(0, 3, false);
	check_pipeline_of_lanes(1, 3, false);
}

static void count_taken_chunk(void *context, u64 number, u32 lane)
{
	struct watch *watch = context;

	atomic_fetch_add(&watch->taken[lane], 1 + number);
}

TAP_TEST(pipeline_each_calls_each_lane_once)
{
	struct watch watch = { .chunks = 0 };
	u32 i;

	pipeline_run_lanes(&watch, count_taken_chunk, LANES, 2);
	for (i = 0; i < LANES; i++)
		CHECK_EQ(atomic_load(&watch.taken[i]), 1);
}
