// SPDX-License-Identifier: GPL-2.0-only
/* The feeder thread prepares requests: it reads the trace ahead, gets memory, generates data. */
#include <stdlib.h>

#include "checked-memory.h"
#include "replay-run.h"

/* Wait for an unused request structure. Return: NULL when the replay stops. */
static struct replay_request *take_unused_replay_request(struct replay_run *run)
{
	struct replay_request *request;

	while (sem_wait(&run->spare_count) && errno == EINTR)
		;
	if (atomic_load(&run->stopping)) {
		sem_post(&run->spare_count);
		return NULL;
	}
	request = replay_queue_peek(&run->spare);
	replay_queue_drop_first(&run->spare);
	return request;
}

static void fill_data_of_replay_request(const struct replay_run *run,
					struct replay_request *request)
{
	u32 unit_bytes = run->expected.unit_bytes;
	struct payload what = {
		.unit = first_unit_of_replay_request(run, request),
		.sequence = (u32)request->sequence,
		.class = request->record.class,
	};

	for (u32 at = 0; at < request->bytes; at += unit_bytes, what.unit++)
		payload_fill((u8 *)request->data + at, unit_bytes, run->expected.seed, &what);
}

static bool allocate_data_of_replay_request(struct replay_run *run, struct replay_request *request)
{
	bool writes = is_replayed_write(request);

	if (!writes && !is_replayed_read(request))
		return true;
	request->bytes = (u32)replay_request_length(request);
	request->kind = writes ? stream_kind(run->stream, request->record.class) : DATA_PRECISE;
	request->data = data_buffer_get(&run->buffers, request->kind, request->bytes);
	if (!request->data)
		return false;
	if (writes)
		fill_data_of_replay_request(run, request);
	else if (run->verifies)
		request->floors = memory_alloc_zeroed(count_units_of_replay_request(run, request),
						      sizeof(*request->floors));
	return true;
}

/* Prepare one request of the stream. Return: false at the end of the stream. */
static bool prepare_next_replay_request(struct replay_run *run, u64 sequence)
{
	struct replay_request *request = take_unused_replay_request(run);
	struct aftl_record record;
	int ret;

	if (!request)
		return false;
	ret = run->source.next(run->source.context, &record, &run->feeder_error);
	*request = (struct replay_request){ .dropped = ret <= 0 };
	if (ret > 0) {
		request->record = record;
		request->due_ns = run->closed_depth ? 0 : record.t_ns;
		request->sequence = run->source.in_stream ? sequence : 0;
		request->dropped = !allocate_data_of_replay_request(run, request);
	}
	replay_queue_put(&run->ready, request);
	return !request->dropped;
}

void *prepare_replay_requests_thread(void *argument)
{
	struct replay_run *run = argument;
	u64 sequence = 1;

	raise_helper_thread_priority(run);
	while (prepare_next_replay_request(run, sequence))
		sequence++;
	atomic_store(&run->fed, true);
	return NULL;
}
