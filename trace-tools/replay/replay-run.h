/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A replay under way: what its three threads share.
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
 * struct request_source - where requests come from
 * @next: 1, 0 at the end, or a negative error number with a sentence
 * @context: for @next
 * @in_stream: they are the stream's, and count in the report
 */
struct request_source {
	int (*next)(void *context, struct aftl_record *record, struct aftl_error *error);
	void *context;
	bool in_stream;
};

/**
 * struct replay_run - a replay under way
 * @options: what was asked for
 * @stream: for the meaning of classes
 * @target: where requests go
 * @buffers: memory of requests
 * @expected: what reads may return; without units nothing is checked
 * @verifies: whether something is checked
 * @engine_type: how requests are issued
 * @closed_depth: requests to keep under way, 0: by schedule
 * @source: of requests
 * @tickets: all there are
 * @ticket_count: how many, a power of two
 * @spare: from the scribe to the feeder
 * @spare_count: tickets in it
 * @ready: from the feeder to the pilot
 * @ended: from the pilot to the scribe
 * @fed: the feeder has put its last ticket into @ready
 * @flown: the pilot has put its last ticket into @ended
 * @stopping: no more requests
 * @feeder_error: what ended the feeder early, or an empty text
 * @report: what the scribe adds to
 * @log: or NULL
 * @progress: of the scribe
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
	struct ticket *tickets;
	u32 ticket_count;
	struct ticket_queue spare;
	sem_t spare_count;
	struct ticket_queue ready;
	struct ticket_queue ended;
	atomic_bool fed;
	atomic_bool flown;
	atomic_bool stopping;
	struct aftl_error feeder_error;
	struct replay_report *report;
	struct replay_log *log;
	struct progress progress;
};

/* Units of a ticket: all are whole, by the grain of the stream. */
static inline u64 ticket_first_unit(const struct replay_run *run, const struct ticket *ticket)
{
	return ticket_offset(ticket) / run->expected.unit_bytes;
}

static inline u32 ticket_units(const struct replay_run *run, const struct ticket *ticket)
{
	return (u32)(ticket_length(ticket) / run->expected.unit_bytes);
}

/* Threads; each takes the run. */
void *feeder_thread(void *argument);
void *scribe_thread(void *argument);

/*
 * The calling thread, which the pilot will wait for if it is late, comes before other ordinary
 * ones, if this user may have that.
 */
void replay_run_help(const struct replay_run *run);

/**
 * pilot_fly() - issue what is ready, until there is no more or a signal came
 *
 * Return: 0, or a negative error number with a sentence.
 */
int __must_check pilot_fly(struct replay_run *run, struct aftl_error *error);

/*
 * What there is of the program is read now and stays, if this user may have that much: a page of
 * it that comes from a slow disk when it is first run delays requests by milliseconds. To be
 * called before there is memory for data.
 */
void pilot_hold_program(void);

/**
 * replay_run_phase() - all requests of a source
 * @run: prepared but for what belongs to a phase
 */
int __must_check replay_run_phase(struct replay_run *run, const struct request_source *source,
				  u32 closed_depth, struct aftl_error *error);

/* Tickets and queues. */
void replay_run_prepare(struct replay_run *run);
void replay_run_release(struct replay_run *run);

/* A source of reads of every unit that was written; of one run at a time. */
struct read_back {
	const struct expected_data *expected;
	u64 next_unit;
	u32 most_units;
};

int read_back_next(void *context, struct aftl_record *record, struct aftl_error *error);

#endif
