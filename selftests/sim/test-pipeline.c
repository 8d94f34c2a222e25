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
 * @places: number of the chunk in each element of the ring buffer
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

static void count_entering_thread(struct watch *watch, u32 who)
{
	if (atomic_fetch_add(&watch->at_it[who], 1))
		atomic_fetch_add(&watch->wrong, 1);
}

static void count_leaving_thread(struct watch *watch, u32 who)
{
	atomic_fetch_sub(&watch->at_it[who], 1);
}

static bool make_pipeline_chunk(void *context, u64 number)
{
	struct watch *watch = context;

	count_entering_thread(watch, 0);
	watch->places[number % PIPELINE_AHEAD] = number;
	count_leaving_thread(watch, 0);
	return number < watch->chunks;
}

/* Wait up to 500 ms per lane, and a little longer to notice a lane that takes too many chunks. */
static void wait_for_all_consumers_except_first(struct watch *watch)
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

	count_entering_thread(watch, 1 + lane);
	if (watch->slow && !lane && !number)
		wait_for_all_consumers_except_first(watch);
	if (watch->places[number % PIPELINE_AHEAD] != number ||
	    atomic_fetch_add(&watch->taken[lane], 1) != number)
		atomic_fetch_add(&watch->wrong, 1);
	count_leaving_thread(watch, 1 + lane);
}

static void run_and_check_pipeline(u64 chunks, u32 threads, bool slow)
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

	pipeline_run_all_chunks(&pipeline);
	CHECK_EQ(atomic_load(&watch.wrong), 0);
	for (i = 0; i < LANES; i++)
		CHECK_EQ(atomic_load(&watch.taken[i]), chunks);
}

TAP_TEST(each_lane_processes_all_chunks_in_order)
{
	u32 threads;

	for (threads = 0; threads <= LANES + 1; threads++)
		run_and_check_pipeline(CHUNKS, threads, false);
}

/* A chunk stays unchanged while a slow lane of the pipeline uses it. */
TAP_TEST(a_slow_lane_keeps_its_chunk)
{
	run_and_check_pipeline(CHUNKS, 3, true);
	run_and_check_pipeline(CHUNKS, LANES, true);
}

TAP_TEST(the_pipeline_ends_without_chunks)
{
	run_and_check_pipeline(0, 1, false);
	run_and_check_pipeline(0, 3, false);
	run_and_check_pipeline(1, 3, false);
}

static void count_consumed_chunk(void *context, u64 number, u32 lane)
{
	struct watch *watch = context;

	atomic_fetch_add(&watch->taken[lane], 1 + number);
}

TAP_TEST(pipeline_each_calls_each_lane_once)
{
	struct watch watch = { .chunks = 0 };
	u32 i;

	pipeline_call_each_consumer(&watch, count_consumed_chunk, LANES, 2);
	for (i = 0; i < LANES; i++)
		CHECK_EQ(atomic_load(&watch.taken[i]), 1);
}
