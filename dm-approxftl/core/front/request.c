// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: arrival, admission, flush epochs, completion.
 */
#include "core/ftl/device.h"

static void append(struct aftl_request **head, struct aftl_request **tail,
		   struct aftl_request *request)
{
	request->next = NULL;
	if (*head)
		(*tail)->next = request;
	else
		*head = request;
	*tail = request;
}

/* A request that has left a list leads to nobody: its host may look at it much later. */
static struct aftl_request *take_first(struct aftl_request **head)
{
	struct aftl_request *request = *head;

	*head = request->next;
	request->next = NULL;
	return request;
}

static void update_line_event(struct aftl *ftl, u32 line)
{
	const struct aftl_request *head = ftl->lines[line].head;

	aftl_events_set(&ftl->events, ftl->event_lines + line,
			head ? head->complete_ns : AFTL_NEVER);
}

/* A line's delay is constant, so its requests complete in the order they join. */
static void join_line(struct aftl *ftl, struct aftl_request *request)
{
	u32 index = request->decoded ? AFTL_LINE_DECODED : AFTL_LINE_PLAIN;
	struct aftl_line *line = &ftl->lines[index];

	request->complete_ns = ftl->now_ns + line->delay_ns;
	append(&line->head, &line->tail, request);
	if (line->head == request)
		update_line_event(ftl, index);
}

void aftl_request_part_done(struct aftl *ftl, struct aftl_request *request, u64 service_ns)
{
	request->service_ns = service_ns;
	if (!--request->parts)
		join_line(ftl, request);
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
			counters->host_write_approx_units += request->units;
		aftl_histogram_add(&ftl->stats.write_response, response);
		aftl_histogram_add(&ftl->stats.write_service, request->service_ns);
		break;
	case AFTL_OP_FLUSH:
		counters->host_flush_requests++;
		aftl_histogram_add(&ftl->stats.flush_response, response);
		break;
	default:
		counters->host_discard_requests++;
	}
}

/*
 * aftl_requests_complete() - hand back the head of @line, whose time has come
 */
void aftl_requests_complete(struct aftl *ftl, u32 line)
{
	struct aftl_request *request = take_first(&ftl->lines[line].head);

	update_line_event(ftl, line);
	ftl->requests--;
	count_request(ftl, request);
	ftl->ops->complete(ftl->host, request);
}

static void wait_for_command(struct aftl *ftl, struct aftl_request *request, bool write)
{
	append(&ftl->wait_head[write], &ftl->wait_tail[write], request);
}

static bool admit(struct aftl *ftl, struct aftl_request *request, bool write)
{
	return write ? aftl_write_admit(ftl, request) : aftl_read_admit(ftl, request);
}

/*
 * aftl_request_admit_waiting() - commands came free: go on with who waits for them
 */
void aftl_request_admit_waiting(struct aftl *ftl, bool write)
{
	while (ftl->wait_head[write]) {
		struct aftl_request *request = ftl->wait_head[write];
		struct aftl_request *next = request->next;

		/* It stays the first meanwhile, so that nothing is held back. */
		if (!admit(ftl, request, write))
			return;
		ftl->wait_head[write] = next;
		/* After its last part it is in a line, by the same link. */
		if (request->parts)
			request->next = NULL;
	}
}

/* Writes that wait for a full page go now. */
static void push_writes(struct aftl *ftl)
{
	u32 i;

	if (!aftl_buffered(ftl))
		return;
	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].write_streams)
			aftl_lun_kick(ftl, &ftl->luns[i], false);
}

void aftl_hurry(struct aftl *ftl, bool hurry)
{
	ftl->hurry = hurry;
	if (hurry)
		push_writes(ftl);
}

bool aftl_busy(const struct aftl *ftl)
{
	return ftl->requests || (ftl->hurry && ftl->free_write_count != ftl->write_commands);
}

void aftl_requests_retry(struct aftl *ftl)
{
	if (likely(!ftl->retry_writes))
		return;
	ftl->retry_writes = false;
	aftl_request_admit_waiting(ftl, true);
}

/*
 * Flushes. Every write belongs to the epoch of its arrival; a flush ends an epoch
 * and completes when no write of that epoch or an older one is outstanding.
 */

static u32 next_epoch(u32 epoch)
{
	return (epoch + 1) % AFTL_EPOCHS;
}

static void complete_flushes(struct aftl *ftl, u32 epoch)
{
	while (ftl->flushes && ftl->flushes->epoch == epoch) {
		struct aftl_request *flush = take_first(&ftl->flushes);

		if (ftl->buffer_lost)
			flush->status = -EIO;
		ftl->buffer_lost = false;
		aftl_request_part_done(ftl, flush, 0);
	}
}

/* Start a new epoch after one that a flush waits for, if the ring has room. */
static void turn_epoch(struct aftl *ftl)
{
	if (next_epoch(ftl->epoch) != ftl->oldest_epoch)
		ftl->epoch = next_epoch(ftl->epoch);
}

static void retire_epochs(struct aftl *ftl)
{
	while (!ftl->outstanding[ftl->oldest_epoch]) {
		complete_flushes(ftl, ftl->oldest_epoch);
		if (ftl->oldest_epoch == ftl->epoch)
			return;
		ftl->oldest_epoch = next_epoch(ftl->oldest_epoch);
	}
}

void aftl_epoch_leave(struct aftl *ftl, u32 epoch)
{
	if (!--ftl->outstanding[epoch])
		retire_epochs(ftl);
}

static void submit_flush(struct aftl *ftl, struct aftl_request *request)
{
	request->parts = 1;
	request->epoch = ftl->epoch;
	if (aftl_buffered(ftl) && ftl->config.buffer_safe) {
		aftl_request_part_done(ftl, request, 0);
		return;
	}
	append(&ftl->flushes, &ftl->last_flush, request);
	turn_epoch(ftl);
	retire_epochs(ftl);
	if (ftl->flushes)
		push_writes(ftl);
}

/* From the first unit that was stored to the last one, in one call. */
static void submit_discard(struct aftl *ftl, struct aftl_request *request)
{
	u32 first = request->units;
	u32 end = 0;
	u32 i;

	for (i = 0; i < request->units; i++) {
		aftl_unit_t unit = to_unit(request->unit + i);

		aftl_write_forget(ftl, unit);
		if (!aftl_map_clear(ftl, unit))
			continue;
		ftl->stats.counters.host_discard_units++;
		first = min(first, i);
		end = i + 1;
	}
	if (end && ftl->ops->unmap)
		ftl->ops->unmap(ftl->host, to_unit(request->unit + first), end - first);
	request->parts = 1;
	aftl_request_part_done(ftl, request, 0);
}

static void submit_data(struct aftl *ftl, struct aftl_request *request, bool write)
{
	bool queued = ftl->wait_head[write];

	request->parts = request->units;
	if (!queued && admit(ftl, request, write))
		return;
	wait_for_command(ftl, request, write);
	/* What the full buffer holds back for a full page must make room. */
	if (write && !queued)
		push_writes(ftl);
}

static void submit_write(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_write write = {
		.unit = to_unit(request->unit),
		.units = request->units,
		.class = request->class,
	};

	if (ftl->read_only) {
		request->status = -ENOSPC;
		request->parts = 1;
		aftl_request_part_done(ftl, request, 0);
		return;
	}
	if (ftl->type->heat)
		request->heat = ftl->type->heat(ftl->policy, &write) % AFTL_HEATS;
	submit_data(ftl, request, true);
}

static void start(struct aftl *ftl, struct aftl_request *request)
{
	request->status = 0;
	request->service_ns = 0;
	request->admitted = 0;
	request->heat = 0;
	request->decoded = 0;
	ftl->requests++;
	switch (request->op) {
	case AFTL_OP_READ:
		submit_data(ftl, request, false);
		break;
	case AFTL_OP_WRITE:
		submit_write(ftl, request);
		break;
	case AFTL_OP_FLUSH:
		submit_flush(ftl, request);
		break;
	default:
		submit_discard(ftl, request);
	}
}

static bool sensible(const struct aftl *ftl, const struct aftl_request *request)
{
	if (request->op >= AFTL_OPS || request->class >= AFTL_CLASSES)
		return false;
	if (request->op == AFTL_OP_FLUSH)
		return !request->units;
	return request->units && request->unit < ftl->geo.units &&
	       request->units <= ftl->geo.units - request->unit;
}

int aftl_submit(struct aftl *ftl, struct aftl_request *request)
{
	if (!sensible(ftl, request))
		return -EINVAL;
	/* A request from inside complete() arrives at this very moment. */
	if (!ftl->running)
		aftl_advance(ftl, request->arrival_ns);
	request->arrival_ns = ftl->now_ns;
	start(ftl, request);
	if (!ftl->running)
		aftl_requests_retry(ftl);
	return 0;
}
