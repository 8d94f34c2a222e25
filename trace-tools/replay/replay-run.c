// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "checked-memory.h"
#include "replay-run.h"

/* Number of request structures for requests that are prepared, or completed but not logged yet. */
#define REQUESTS_AHEAD 15360

/* Nice value of the helper threads: the highest priority below real time. */
#define HELPER_NICE (-20)

void replay_run_prepare(struct replay_run *run)
{
	run->request_count = 1U << fls64(((u32)run->options->limit + REQUESTS_AHEAD) - 1);
	run->requests = memory_alloc_zeroed(run->request_count, sizeof(*run->requests));
	replay_queue_create(&run->spare, run->request_count);
	replay_queue_create(&run->ready, run->request_count);
	replay_queue_create(&run->ended, run->request_count);
	sem_init(&run->spare_count, 0, run->request_count);
	for (u32 i = 0; i < run->request_count; i++)
		replay_queue_put(&run->spare, &run->requests[i]);
}

void replay_run_release(struct replay_run *run)
{
	if (!run->requests)
		return;
	replay_queue_free(&run->spare);
	replay_queue_free(&run->ready);
	replay_queue_free(&run->ended);
	sem_destroy(&run->spare_count);
	free(run->requests);
}

/* Start a thread with signals blocked: only the submitting thread handles them. */
static int start_replay_thread(pthread_t *id, void *(*body)(void *argument), struct replay_run *run,
			       struct aftl_error *error)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ret = pthread_create(id, NULL, body, run);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret ? aftl_fail(error, -ret, "cannot create a thread: %s", strerror(ret)) : 0;
}

void raise_helper_thread_priority(const struct replay_run *run)
{
	/* Without CAP_SYS_NICE setpriority() may fail, and requests may be less punctual. */
	if (!run->closed_depth)
		setpriority(PRIO_PROCESS, 0, HELPER_NICE);
}

static int run_replay_threads(struct replay_run *run, struct aftl_error *error)
{
	pthread_t feeder;
	int ret = start_replay_thread(&feeder, prepare_replay_requests_thread, run, error);

	if (ret)
		return ret;
	ret = run_replay_loop(run, error);
	atomic_store(&run->stopping, true);
	data_buffers_end_allocation(&run->buffers);
	pthread_join(feeder, NULL);
	return ret;
}

int replay_run_execute_phase(struct replay_run *run, const struct request_source *source,
			     u32 closed_depth, struct aftl_error *error)
{
	pthread_t logger;
	int ret;

	run->source = *source;
	run->closed_depth = closed_depth;
	run->feeder_error.text[0] = '\0';
	atomic_store(&run->fed, false);
	atomic_store(&run->all_submitted, false);
	atomic_store(&run->stopping, false);
	data_buffers_allow_allocation(&run->buffers);
	ret = start_replay_thread(&logger, log_completed_requests_thread, run, error);
	if (ret)
		return ret;
	ret = run_replay_threads(run, error);
	atomic_store(&run->all_submitted, true);
	pthread_join(logger, NULL);
	if (!ret && run->feeder_error.text[0]) {
		*error = run->feeder_error;
		ret = -EINVAL;
	}
	return ret;
}

static bool was_unit_written(const struct read_back *back, u64 unit)
{
	return back->expected->units[unit].newest;
}

int next_read_back_request(void *context, struct aftl_record *record,
			   struct aftl_error *error __maybe_unused)
{
	struct read_back *back = context;
	u32 sectors = back->expected->unit_bytes >> AFTL_RECORD_SECTOR_SHIFT;
	u64 first = back->next_unit;
	u64 end;

	while (first < back->expected->count && !was_unit_written(back, first))
		first++;
	if (first >= back->expected->count)
		return 0;
	for (end = first + 1; end < back->expected->count && end - first < back->most_units; end++)
		if (!was_unit_written(back, end))
			break;
	back->next_unit = end;
	*record = (struct aftl_record){
		.op = AFTL_OP_READ,
		.off_sect = first * sectors,
		.nsect = (u32)(end - first) * sectors,
	};
	return 1;
}
