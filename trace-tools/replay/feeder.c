// SPDX-License-Identifier: GPL-2.0-only
/* The feeder thread prepares requests: it reads the trace ahead, gets memory, generates data. */
#include <stdlib.h>

#include "checked-memory.h"
#include "replay-run.h"

/* Wait for an unused request structure. Return: NULL when the replay stops. */
static struct ticket *take_unused_ticket(struct replay_run *run)
{
	struct ticket *ticket;

	while (sem_wait(&run->spare_count) && errno == EINTR)
		;
	if (atomic_load(&run->stopping)) {
		sem_post(&run->spare_count);
		return NULL;
	}
	ticket = ticket_queue_peek(&run->spare);
	ticket_queue_drop_first(&run->spare);
	return ticket;
}

static void fill_ticket_data(const struct replay_run *run, struct ticket *ticket)
{
	u32 unit_bytes = run->expected.unit_bytes;
	struct payload what = {
		.unit = first_unit_of_replay_request(run, ticket),
		.sequence = (u32)ticket->sequence,
		.class = ticket->request.class,
	};

	for (u32 at = 0; at < ticket->bytes; at += unit_bytes, what.unit++)
		payload_fill((u8 *)ticket->data + at, unit_bytes, run->expected.seed, &what);
}

static bool allocate_ticket_memory(struct replay_run *run, struct ticket *ticket)
{
	bool writes = is_write_ticket(ticket);

	if (!writes && !is_read_ticket(ticket))
		return true;
	ticket->bytes = (u32)ticket_length(ticket);
	ticket->kind = writes ? stream_kind(run->stream, ticket->request.class) : DATA_PRECISE;
	ticket->data = data_buffer_get(&run->buffers, ticket->kind, ticket->bytes);
	if (!ticket->data)
		return false;
	if (writes)
		fill_ticket_data(run, ticket);
	else if (run->verifies)
		ticket->floors = memory_alloc_zeroed(count_units_of_replay_request(run, ticket),
						     sizeof(*ticket->floors));
	return true;
}

/* Prepare one request of the stream. Return: false at the end of the stream. */
static bool prepare_next_ticket(struct replay_run *run, u64 sequence)
{
	struct ticket *ticket = take_unused_ticket(run);
	struct aftl_record record;
	int ret;

	if (!ticket)
		return false;
	ret = run->source.next(run->source.context, &record, &run->feeder_error);
	*ticket = (struct ticket){ .dropped = ret <= 0 };
	if (ret > 0) {
		ticket->request = record;
		ticket->due_ns = run->closed_depth ? 0 : record.t_ns;
		ticket->sequence = run->source.in_stream ? sequence : 0;
		ticket->dropped = !allocate_ticket_memory(run, ticket);
	}
	ticket_queue_put(&run->ready, ticket);
	return !ticket->dropped;
}

void *feeder_thread(void *argument)
{
	struct replay_run *run = argument;
	u64 sequence = 1;

	raise_helper_thread_priority(run);
	while (prepare_next_ticket(run, sequence))
		sequence++;
	atomic_store(&run->fed, true);
	return NULL;
}
