/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a replay, shared by its three threads: feeder, submitter and logger.
 */
#ifndef AFTL_REPLAY_RUN_H
#define AFTL_REPLAY_RUN_H

#include <pthread.h>
#include <semaphore.h>

#include "data-buffers.h"
#include "engine.h"
#include "expected-data.h"
#include "progress.h"
#include "replay-log.h"
#include "replay-options.h"
#include "replay-report.h"
#include "replay-stream.h"

/**
 * struct request_source - an iterator over requests
 * @next: get a request; returns 1, 0 at the end, or a negative error number with a message
 * @context: first argument of @next
 * @in_stream: the requests belong to the stream and count in the report
 */
struct request_source {
	int (*next)(void *context, struct aftl_record *record, struct aftl_error *error);
	void *context;
	bool in_stream;
};

/**
 * struct replay_run - a running replay
 * @options: options of the user
 * @stream: maps classes to kinds of data
 * @target: device or file that requests go to
 * @buffers: memory for the data
 * @expected: data that reads may return; without units nothing is checked
 * @verifies: data that are read are checked
 * @engine_type: engine that issues requests
 * @closed_depth: number of requests to keep in flight; 0: follow the schedule
 * @source: iterator over the requests
 * @requests: all requests
 * @request_count: number of requests, a power of two
 * @spare: unused requests, from the logger to the feeder
 * @spare_count: number of requests in @spare
 * @ready: prepared requests, from the feeder to the submitter
 * @ended: completed requests, from the submitter to the logger
 * @fed: the feeder has put its last request into @ready
 * @all_submitted: the submitter has put its last request into @ended
 * @stopping: no more requests may be prepared or issued
 * @feeder_error: error that stopped the feeder, or an empty text
 * @report: report that the logger adds to
 * @log: log that the logger writes, or NULL
 * @progress: progress display of the logger
 */
struct replay_run {
	const struct replay_options *options;
	const struct replay_stream *stream;
	struct replay_target target;
	struct data_buffers buffers;
	struct expected_data expected;
	bool verifies;
	const struct engine_type *engine_type;
	u32 closed_depth;
	struct request_source source;
	struct replay_request *requests;
	u32 request_count;
	struct replay_queue spare;
	sem_t spare_count;
	struct replay_queue ready;
	struct replay_queue ended;
	atomic_bool fed;
	atomic_bool all_submitted;
	atomic_bool stopping;
	struct aftl_error feeder_error;
	struct replay_report *report;
	struct replay_log *log;
	struct progress progress;
};

/* Return the number of a request's first unit; requests begin and end at units. */
static inline u64 first_unit_of_replay_request(const struct replay_run *run,
					       const struct replay_request *request)
{
	return replay_request_offset(request) / run->expected.unit_bytes;
}

static inline u32 count_units_of_replay_request(const struct replay_run *run,
						const struct replay_request *request)
{
	return (u32)(replay_request_length(request) / run->expected.unit_bytes);
}

/* Thread functions of a replay; the argument is the struct replay_run. */
void *prepare_replay_requests_thread(void *argument);
void *log_completed_requests_thread(void *argument);

/*
 * Raise the priority of the calling helper thread, if permitted: a late helper delays the
 * submitter.
 */
void raise_helper_thread_priority(const struct replay_run *run);

/**
 * run_replay_loop() - issue ready requests until the stream ends or a signal arrives
 *
 * Return: 0, or a negative error number with a message.
 */
int __must_check run_replay_loop(struct replay_run *run, struct aftl_error *error);

/*
 * Lock the program's present pages in memory, if permitted: a page fault on a slow disk would
 * delay requests by milliseconds. Call this before the memory for data is allocated.
 */
void lock_pages_in_memory(void);

/**
 * replay_run_execute_phase() - issue all requests of a source, wait for them and log them
 * @run: prepared, except for members that this function sets
 */
int __must_check replay_run_execute_phase(struct replay_run *run,
					  const struct request_source *source,
					  u32 closed_depth, struct aftl_error *error);

/* Allocate the request structures, and the queues between the threads. */
void replay_run_prepare(struct replay_run *run);
void replay_run_release(struct replay_run *run);

/* struct read_back - state of a request source that reads back all written units */
struct read_back {
	const struct expected_data *expected;
	u64 next_unit;
	u32 most_units;
};

int next_read_back_request(void *context, struct aftl_record *record, struct aftl_error *error);

#endif
