// SPDX-License-Identifier: GPL-2.0-only
/* The submitting thread issues requests when they are due; it does nothing else, to be punctual. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "interruption.h"
#include "machine-clock.h"
#include "replay-run.h"

/* Time from the start of the submitting thread to time 0 of the request stream. */
#define RUN_UP_NS 20000000
/* Time limit for preparing requests before the replay begins, and the polling interval. */
#define AHEAD_NS 2000000000
#define AHEAD_LOOK_NS 20000000
/* Maximum sleep, which bounds the delay of a signal that arrives just before the sleep. */
#define LOOK_UP_NS 100000000
/* Polling interval while no prepared request is available. */
#define STARVING_NS 100000

struct submitter {
	struct replay_run *run;
	const struct engine_type *type;
	struct engine *engine;
	u64 begin_ns;
	u32 under_way;
	u32 depth;
};

/* Return true if the request changes the content of units. */
static bool does_replay_request_change_data(const struct replay_request *request)
{
	return !is_replayed_read(request) && request->record.op != AFTL_OP_FLUSH;
}

static void record_expected_content(struct replay_run *run, struct replay_request *request)
{
	const struct payload what = { .sequence = (u32)request->sequence,
				      .class = request->record.class };
	u64 first = first_unit_of_replay_request(run, request);
	u32 count = count_units_of_replay_request(run, request);

	if (does_replay_request_change_data(request))
		request->alone = expected_data_begin_write(&run->expected, first, count, &what,
							   is_replayed_write(request));
	else if (request->floors)
		expected_data_begin_read(&run->expected, first, count, request->floors);
}

static void reap_completed_requests(struct submitter *submitter)
{
	struct replay_run *run = submitter->run;
	struct replay_request *request;

	while (submitter->under_way && (request = submitter->type->reap(submitter->engine))) {
		submitter->under_way--;
		if (run->verifies && does_replay_request_change_data(request))
			expected_data_end_write(&run->expected,
						first_unit_of_replay_request(run, request),
						count_units_of_replay_request(run, request),
						(u32)request->sequence, request->alone,
						request->error);
		replay_queue_put(&run->ended, request);
	}
}

/* Return: when the submitting thread has to look for work again; 0 if @request can be submitted. */
static u64 next_wakeup_time(const struct submitter *submitter, const struct replay_request *request)
{
	u64 now = machine_clock_now_ns();
	u64 due;

	if (!request)
		return now + (atomic_load(&submitter->run->fed) ? LOOK_UP_NS : STARVING_NS);
	if (submitter->under_way == submitter->depth)
		return now + LOOK_UP_NS;
	due = submitter->begin_ns + request->due_ns;
	return due > now ? min(due, now + LOOK_UP_NS) : 0;
}

/* Sleep until shortly before the time @moment (option --spin), then poll without sleeping. */
static void wait_until_wakeup_time(struct submitter *submitter, u64 moment)
{
	u64 spin_ns = submitter->run->options->spin_ns;

	if (machine_clock_get_ns_until_time(moment) > spin_ns)
		submitter->type->wait(submitter->engine, moment - spin_ns);
	else
		submitter->type->wait(submitter->engine, 0);
}

static bool has_replay_finished(const struct submitter *submitter)
{
	/* Read @fed before the queue: the feeder queues its last request, then sets @fed. */
	return !submitter->under_way && atomic_load(&submitter->run->fed) &&
	       !replay_queue_peek(&submitter->run->ready);
}

static void submit_replay_request_or_wait(struct submitter *submitter)
{
	struct replay_run *run = submitter->run;
	struct replay_request *request = replay_queue_peek(&run->ready);
	u64 moment;

	if (is_stop_requested())
		atomic_store(&run->stopping, true);
	if (request && (request->dropped || atomic_load(&run->stopping))) {
		request->dropped = true;
		replay_queue_drop_first(&run->ready);
		replay_queue_put(&run->ended, request);
		return;
	}
	moment = next_wakeup_time(submitter, request);
	if (!request || moment) {
		wait_until_wakeup_time(submitter, moment);
	} else {
		replay_queue_drop_first(&run->ready);
		if (submitter->run->verifies)
			record_expected_content(submitter->run, request);
		submitter->under_way++;
		submitter->type->submit(submitter->engine, request);
	}
	reap_completed_requests(submitter);
}

void lock_pages_in_memory(void)
{
	(void)mlockall(MCL_CURRENT);
}

/*
 * Use exact timers and, if permitted, a real-time priority, so that other threads do not delay a
 * request that is due. Threads that the submitter creates do not inherit the priority.
 */
static int raise_thread_priority(const struct replay_options *options, struct aftl_error *error)
{
	const struct sched_param first = { .sched_priority = 1 };
	bool granted = !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);

	prctl(PR_SET_TIMERSLACK, 1UL);
	if (!options->realtime)
		return 0;
	if (!granted || mlockall(MCL_CURRENT | MCL_ONFAULT))
		return aftl_fail(error, -errno, "--realtime: %s; it needs root or CAP_SYS_NICE",
				 strerror(errno));
	return 0;
}

static int open_engine(struct submitter *submitter, struct aftl_error *error)
{
	const struct replay_options *options = submitter->run->options;
	struct engine_config config = {
		.target = &submitter->run->target,
		.depth = (u32)options->limit,
		.threads = (u32)options->threads,
		.begin_ns = submitter->begin_ns,
	};

	return submitter->type->open(&submitter->engine, &config, error);
}

int run_replay_loop(struct replay_run *run, struct aftl_error *error)
{
	struct submitter submitter = {
		.run = run,
		.type = run->engine_type,
		.depth = run->closed_depth ? run->closed_depth : (u32)run->options->limit,
	};
	int ret;

	if (!run->closed_depth) {
		const struct timespec look = ns_to_timespec(AHEAD_LOOK_NS);
		u64 end = machine_clock_now_ns() + AHEAD_NS;
		u32 ready = 0, before;

		/* Wait until the feeder thread is done, or has no memory for more requests. */
		do {
			before = ready;
			clock_nanosleep(CLOCK_MONOTONIC, 0, &look, NULL);
			ready = replay_queue_length(&run->ready);
		} while (ready > before && !atomic_load(&run->fed) && !is_stop_requested() &&
			 machine_clock_now_ns() < end);
	}
	submitter.begin_ns = machine_clock_now_ns() + RUN_UP_NS;
	ret = open_engine(&submitter, error);
	if (!ret)
		ret = raise_thread_priority(run->options, error);
	while (!ret && !has_replay_finished(&submitter))
		submit_replay_request_or_wait(&submitter);
	if (submitter.engine)
		submitter.type->close(submitter.engine);
	return ret;
}
