// SPDX-License-Identifier: GPL-2.0-only
/* The logging thread checks and logs completed requests, and recycles their memory. */
#include <stdlib.h>

#include "machine-clock.h"
#include "replay-run.h"

/* Intervals at which the logging thread looks for completed requests, and flushes the log. */
#define PAUSE_NS 5000000
#define FLUSH_NS 100000000

static void classify_and_count_read_unit(const struct replay_run *run,
					 const struct replay_request *request, u32 i,
					 struct replay_log_entry *entry)
{
	const u8 *bytes = (const u8 *)request->data + (u64)i * run->expected.unit_bytes;
	u32 kind;
	struct payload what;
	u32 flips;

	switch (expected_data_classify_read_unit(&run->expected, bytes,
						 first_unit_of_replay_request(run, request) + i,
						 request->floors[i], &what, &flips)) {
	case DATA_GOOD:
		kind = what.class < AFTL_RECORD_CLASSES ? stream_kind(run->stream, what.class) :
							  DATA_PRECISE;
		kind = min(kind, (u32)DATA_APPROXIMATE);
		entry->units[kind]++;
		entry->flips[kind] += flips;
		break;
	case DATA_LOST:
		entry->lost++;
		break;
	case DATA_MISPLACED:
		entry->misplaced++;
		break;
	case DATA_STALE:
		entry->stale++;
		break;
	default:
		break;
	}
}

static void write_replay_request_to_log(struct replay_run *run,
					const struct replay_request *request)
{
	struct replay_log_entry entry = {
		.due_ns = request->due_ns,
		.submit_ns = request->submit_ns,
		.complete_ns = request->complete_ns,
		.off_sect = request->record.off_sect,
		.nsect = request->record.nsect,
		.op = request->record.op | (request->record.fua ? REPLAY_LOG_FUA : 0),
		.class = request->record.class,
		.sequence = request->sequence,
		.error = (u16)request->error,
	};

	if (request->floors && !request->error) {
		u32 units = count_units_of_replay_request(run, request);

		for (u32 i = 0; i < units; i++)
			classify_and_count_read_unit(run, request, i, &entry);
	}
	replay_report_add_entry(run->report, &entry);
	if (run->log)
		replay_log_write_entry(run->log, &entry);
}

static void log_completed_replay_requests(struct replay_run *run)
{
	struct replay_request *request;

	while ((request = replay_queue_peek(&run->ended))) {
		replay_queue_drop_first(&run->ended);
		if (!request->dropped)
			write_replay_request_to_log(run, request);
		if (request->data)
			data_buffer_put(&run->buffers, request->kind, request->data,
					request->bytes);
		free(request->floors);
		replay_queue_put(&run->spare, request);
		sem_post(&run->spare_count);
	}
}

static void flush_log_if_due(struct replay_run *run, u64 *flushed_ns)
{
	u64 now = machine_clock_now_ns();

	progress_report(&run->progress, run->report->done);
	if (!run->log || now < *flushed_ns + FLUSH_NS)
		return;
	replay_log_flush(run->log);
	*flushed_ns = now;
}

void *log_completed_requests_thread(void *argument)
{
	const struct timespec pause = ns_to_timespec(PAUSE_NS);
	struct replay_run *run = argument;
	u64 flushed_ns = machine_clock_now_ns();
	bool last = false;

	raise_helper_thread_priority(run);
	while (!last) {
		last = atomic_load(&run->all_submitted);
		log_completed_replay_requests(run);
		flush_log_if_due(run, &flushed_ns);
		if (!last)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return NULL;
}
