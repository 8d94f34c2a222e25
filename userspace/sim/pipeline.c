// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes (consumers of chunks) are independent. So that no thread idles while there is work, a free
 * thread processes a chunk for the slowest lane, and makes chunks before this lane has none left.
 */
#include <pthread.h>
#include <stdlib.h>

#include "checked-memory.h"
#include "interruption.h"
#include "pipeline.h"

/**
 * struct lane - a consumer of chunks, which takes all chunks in order
 * @taken: number of chunks taken
 * @busy: a thread is taking a chunk for the lane
 */
struct lane {
	u64 taken;
	bool busy;
};

/**
 * struct crew - threads of a pipeline
 * @plan: the work
 * @lock: protects the rest
 * @news: signalled when there may be more work, or at the end
 * @lanes: all lanes
 * @made: number of chunks that have been made
 * @making: a thread is making a chunk
 * @last: there are no more chunks to make
 * @stop: flag that all threads follow, see interruption_set_stop_flag_of_thread()
 */
struct crew {
	const struct pipeline *plan;
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct lane *lanes;
	u64 made;
	bool making;
	bool last;
	const atomic_bool *stop;
};

/* Return the number of chunks that every lane has taken. */
static u64 get_chunk_count_of_slowest_consumer(const struct crew *crew)
{
	u64 taken = crew->made;

	for (u32 i = 0; i < crew->plan->lanes; i++)
		taken = min(taken, crew->lanes[i].taken);
	return taken;
}

/* Return the idle lane that is furthest behind, or NULL if no idle lane has a chunk to take. */
static struct lane *find_waiting_consumer(const struct crew *crew)
{
	struct lane *found = NULL;

	for (u32 i = 0; i < crew->plan->lanes; i++) {
		struct lane *lane = &crew->lanes[i];

		if (lane->busy || lane->taken == crew->made)
			continue;
		if (!found || lane->taken < found->taken)
			found = lane;
	}
	return found;
}

static bool can_next_chunk_be_made(const struct crew *crew, u32 ahead)
{
	return !crew->last && !crew->making &&
	       crew->made - get_chunk_count_of_slowest_consumer(crew) < ahead;
}

/* Make the next chunk. Context: under @lock of @crew, which is dropped while make() runs. */
static void make_next_pipeline_chunk(struct crew *crew)
{
	bool made;

	crew->making = true;
	pthread_mutex_unlock(&crew->lock);
	made = crew->plan->make(crew->plan->context, crew->made);
	pthread_mutex_lock(&crew->lock);
	crew->making = false;
	crew->made += made;
	crew->last = !made;
}

/* Let @lane take its next chunk. Context: under @lock of @crew, dropped while take() runs. */
static void process_next_chunk_of_consumer(struct crew *crew, struct lane *lane)
{
	lane->busy = true;
	pthread_mutex_unlock(&crew->lock);
	crew->plan->take(crew->plan->context, lane->taken, (u32)(lane - crew->lanes));
	pthread_mutex_lock(&crew->lock);
	lane->busy = false;
	lane->taken++;
}

/*
 * Make or process a chunk; return false if there is no work. Make one if fewer than half of
 * PIPELINE_AHEAD are ready, or if fewer than PIPELINE_AHEAD are and no lane can process one.
 */
static bool make_or_process_one_chunk(struct crew *crew)
{
	struct lane *lane;

	if (can_next_chunk_be_made(crew, PIPELINE_AHEAD / 2)) {
		make_next_pipeline_chunk(crew);
		return true;
	}
	lane = find_waiting_consumer(crew);
	if (lane)
		process_next_chunk_of_consumer(crew, lane);
	else if (can_next_chunk_be_made(crew, PIPELINE_AHEAD))
		make_next_pipeline_chunk(crew);
	else
		return false;
	return true;
}

static void *run_pipeline_thread(void *data)
{
	struct crew *crew = data;

	interruption_set_stop_flag_of_thread(crew->stop);
	pthread_mutex_lock(&crew->lock);
	while (!(crew->last && get_chunk_count_of_slowest_consumer(crew) == crew->made)) {
		if (make_or_process_one_chunk(crew))
			pthread_cond_broadcast(&crew->news);
		else
			pthread_cond_wait(&crew->news, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static void start_and_join_pipeline_threads(struct crew *crew)
{
	u32 wanted = min(crew->plan->threads, crew->plan->lanes);
	pthread_t *threads = memory_alloc_zeroed(max(wanted, 1U), sizeof(*threads));
	u32 begun = 0;

	while (begun + 1 < wanted &&
	       !pthread_create(&threads[begun], NULL, run_pipeline_thread, crew))
		begun++;
	run_pipeline_thread(crew);
	while (begun)
		pthread_join(threads[--begun], NULL);
	free(threads);
}

void pipeline_run_all_chunks(const struct pipeline *pipeline)
{
	struct crew crew = {
		.plan = pipeline,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.news = PTHREAD_COND_INITIALIZER,
		.lanes = memory_alloc_zeroed(pipeline->lanes, sizeof(struct lane)),
		.stop = get_stop_flag_of_thread(),
	};

	start_and_join_pipeline_threads(&crew);
	free(crew.lanes);
}

static bool is_first_pipeline_chunk(void *context, u64 number)
{
	(void)context;
	return !number;
}

void pipeline_call_each_consumer(void *context, void (*work)(void *context, u64 number, u32 lane),
				 u32 lanes, u32 threads)
{
	const struct pipeline pipeline = {
		.context = context,
		.make = is_first_pipeline_chunk,
		.take = work,
		.lanes = lanes,
		.threads = threads,
	};

	pipeline_run_all_chunks(&pipeline);
}
