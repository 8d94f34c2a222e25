// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of requests: their parts, the line at the controller, the epochs of flushes.
 */
#include "core/hif/hif.h"

static void completion_set_event(struct aftl *ftl, u32 line)
{
	const struct aftl_request *head = ftl->completions[line].head;

	aftl_events_set(&ftl->events, ftl->event_completions + line,
			head ? head->complete_ns : AFTL_NEVER);
}

/* The controller deals with one request after the other, each way. */
static u64 controller_process_ns(struct aftl *ftl, bool inward)
{
	if (!ftl->config.controller_command)
		return ftl->now_ns;
	ftl->command_ns[inward] = max(ftl->command_ns[inward], ftl->now_ns) +
				  ftl->config.controller_command;
	return ftl->command_ns[inward];
}

/* So does the link with their data, meanwhile. What has none waits its turn. */
static u64 link_transfer_ns(struct aftl *ftl, const struct aftl_request *request)
{
	bool inward = request->op != AFTL_OP_READ;
	bool data = !inward || request->op == AFTL_OP_WRITE;
	u64 ns = data ? request->units * ftl->unit_link_ns : 0;
	u64 ready_ns = controller_process_ns(ftl, inward);

	if (ftl->unit_link_ns)
		ns += ftl->config.link_command;
	ftl->link_ns[inward] = max(ftl->link_ns[inward], ready_ns) + ns;
	return ftl->link_ns[inward];
}

static u32 completion_line_of(const struct aftl_request *request)
{
	return request->path & AFTL_PATH_ECC ? AFTL_COMPLETION_ECC_READ : AFTL_COMPLETION_READ;
}

/* A line's delay is constant, so its requests complete in the order they join. */
static void completion_enqueue(struct aftl *ftl, struct aftl_request *request)
{
	u32 index = completion_line_of(request);
	u64 crossed_ns = ftl->now_ns;
	struct aftl_completion_queue *line;

	if (unlikely(request->path == AFTL_PATH_READ_CACHE))
		index = AFTL_COMPLETION_CACHE_HIT;
	if (unlikely(ftl->link_paced)) {
		crossed_ns = link_transfer_ns(ftl, request);
		if (request->op != AFTL_OP_READ)
			index = AFTL_COMPLETION_WRITE;
	}
	line = &ftl->completions[index];
	request->complete_ns = crossed_ns + line->delay_ns;
	aftl_request_append(&line->head, &line->tail, request);
	if (line->head == request)
		completion_set_event(ftl, index);
}

void aftl_request_part_done(struct aftl *ftl, struct aftl_request *request, u64 service_ns)
{
	request->service_ns = service_ns;
	if (!--request->parts)
		completion_enqueue(ftl, request);
}

static_assert(AFTL_COUNTER_DISTANCE_IS(host_write_level_1_units, host_write_level_3_units,
				       AFTL_LEVELS - 2),
	      "units that were written are counted by level");

static void count_approximate(struct aftl_counters *counters, const struct aftl_request *request)
{
	u32 level = aftl_quality_level(AFTL_APPROX, request->level);

	counters->host_write_approx_units += request->units;
	(&counters->host_write_level_1_units)[level - 1] += request->units;
}

static void count_request(struct aftl *ftl, const struct aftl_request *request)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	u64 response = request->complete_ns - request->arrival_ns;

	counters->host_failed_requests += request->status != 0;
	switch (request->op) {
	case AFTL_OP_READ:
		counters->host_read_requests++;
		counters->host_read_units += request->units;
		aftl_histogram_add(&ftl->stats.read_response, response);
		aftl_histogram_add(&ftl->stats.read_service, request->service_ns);
		break;
	case AFTL_OP_WRITE:
		counters->host_write_requests++;
		counters->host_write_units += request->units;
		if (request->class == AFTL_APPROX)
			count_approximate(counters, request);
		aftl_histogram_add(&ftl->stats.write_response, response);
		aftl_histogram_add(&ftl->stats.write_service, request->service_ns);
		break;
	case AFTL_OP_FLUSH:
		counters->host_flush_requests++;
		aftl_histogram_add(&ftl->stats.flush_response, response);
		break;
	case AFTL_OP_DISCARD:
	case AFTL_OP_WRITE_ZEROES:
		counters->host_discard_requests++;
	}
}

static void complete_to_host(struct aftl *ftl, struct aftl_request *request)
{
	ftl->requests--;
	count_request(ftl, request);
	ftl->ops->complete(ftl->host, request);
}

/*
 * aftl_completion_line_event() - hand back the head of @line, whose time has come
 */
void aftl_completion_line_event(struct aftl *ftl, u32 line)
{
	struct aftl_request *request = aftl_request_pop(&ftl->completions[line].head);

	completion_set_event(ftl, line);
	complete_to_host(ftl, request);
}

/*
 * aftl_read_fastpath_complete() - a read is done, and nothing else has happened meanwhile
 *
 * It joins its line, and has its turn at once if that is what happens next.
 */
void aftl_read_fastpath_complete(struct aftl *ftl, struct aftl_request *request, u64 service_ns)
{
	u64 complete_ns = ftl->now_ns + ftl->completions[completion_line_of(request)].delay_ns;

	request->parts = 0;
	request->service_ns = service_ns;
	if (aftl_events_when(&ftl->events) <= complete_ns) {
		completion_enqueue(ftl, request);
		return;
	}
	request->complete_ns = complete_ns;
	request->next = NULL;
	ftl->now_ns = complete_ns;
	complete_to_host(ftl, request);
}

/*
 * Flushes. Every write belongs to the epoch of its arrival; a flush ends an epoch
 * and completes when no write of that epoch or an older one is outstanding.
 */

static u32 next_epoch(u32 epoch)
{
	return (epoch + 1) % AFTL_EPOCHS;
}

/* Each of them covers what has been lost, those that are still to come, too. */
static void complete_flushes(struct aftl *ftl, u32 epoch)
{
	while (ftl->flushes && ftl->flushes->epoch == epoch) {
		struct aftl_request *flush = aftl_request_pop(&ftl->flushes);

		if (ftl->buffer_lost)
			flush->status = -EIO;
		aftl_request_part_done(ftl, flush, 0);
	}
}

/* Start a new epoch after one that a flush waits for, if the ring has room. */
static void epoch_advance(struct aftl *ftl)
{
	if (next_epoch(ftl->epoch) != ftl->oldest_epoch)
		ftl->epoch = next_epoch(ftl->epoch);
}

static void epoch_retire_finished(struct aftl *ftl)
{
	while (!ftl->outstanding[ftl->oldest_epoch]) {
		complete_flushes(ftl, ftl->oldest_epoch);
		if (ftl->oldest_epoch == ftl->epoch)
			return;
		ftl->oldest_epoch = next_epoch(ftl->oldest_epoch);
	}
}

void aftl_epoch_write_done(struct aftl *ftl, u32 epoch)
{
	if (!--ftl->outstanding[epoch])
		epoch_retire_finished(ftl);
}

/*
 * aftl_flush_wait() - until all that was written before @request has been programmed
 */
void aftl_flush_wait(struct aftl *ftl, struct aftl_request *request)
{
	aftl_request_append(&ftl->flushes, &ftl->last_flush, request);
	epoch_advance(ftl);
	epoch_retire_finished(ftl);
}
