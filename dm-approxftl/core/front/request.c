// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: arrival and admission.
 */
#include "core/front/front.h"

/* One of @queue goes next. */
static void take_turn(struct aftl *ftl, struct aftl_turns *turns, u32 queue)
{
	if (queue != turns->queue || !turns->left) {
		turns->queue = queue;
		turns->left = aftl_weight(ftl->config.queue_weights, queue);
	}
	turns->left--;
}

/* The next of those that wait by queue: as many of each in a row as it weighs. */
static struct aftl_request *next_in_turn(struct aftl *ftl, struct aftl_turns *turns)
{
	u32 queue = turns->queue;

	if (!turns->left || !turns->head[queue]) {
		do
			queue = (queue + 1) % AFTL_QUEUES_MAX;
		while (!turns->head[queue]);
	}
	take_turn(ftl, turns, queue);
	turns->count--;
	return aftl_request_take(&turns->head[queue]);
}

static void wait_in_turn(struct aftl *ftl, struct aftl_request *request, bool write)
{
	struct aftl_turns *turns = &ftl->turns[write];
	u32 queue = request->queue % AFTL_QUEUES_MAX;

	if (ftl->wait_head[write]) {
		aftl_request_append(&turns->head[queue], &turns->tail[queue], request);
		turns->count++;
		return;
	}
	turns->left = 0;
	take_turn(ftl, turns, queue);
	aftl_request_append(&ftl->wait_head[write], &ftl->wait_tail[write], request);
}

/* With several queues, or those that had several before it changed, one waits for all. */
static noinline void wait_for_command(struct aftl *ftl, struct aftl_request *request, bool write)
{
	if (unlikely(ftl->queues > 1 || ftl->turns[write].count))
		wait_in_turn(ftl, request, write);
	else
		aftl_request_append(&ftl->wait_head[write], &ftl->wait_tail[write], request);
}

/* The first that waits is @request; if there is none another queue has its turn. */
static void set_first(struct aftl *ftl, struct aftl_request *request, bool write)
{
	struct aftl_turns *turns = &ftl->turns[write];

	ftl->wait_head[write] = request;
	if (unlikely(turns->count) && !request)
		aftl_request_append(&ftl->wait_head[write], &ftl->wait_tail[write],
				    next_in_turn(ftl, turns));
}

/* It ends here and now. */
static void end_now(struct aftl *ftl, struct aftl_request *request, int status)
{
	request->status = status;
	request->parts = 1;
	aftl_request_part_done(ftl, request, 0);
}

static inline bool admit(struct aftl *ftl, struct aftl_request *request, bool write)
{
	if (unlikely(request->op >= AFTL_OPS)) {
		end_now(ftl, request, aftl_zones_manage(ftl, request));
		return true;
	}
	return write ? aftl_write_admit(ftl, request) : aftl_read_admit(ftl, request);
}

/*
 * aftl_request_admit_waiting() - commands came free: go on with who waits for them
 *
 * As long as a part of it waits a request stays the first.
 */
void aftl_request_admit_waiting(struct aftl *ftl, bool write)
{
	while (ftl->wait_head[write]) {
		struct aftl_request *request = ftl->wait_head[write];
		struct aftl_request *next = request->next;

		if (!admit(ftl, request, write))
			return;
		set_first(ftl, next, write);
		/* After its last part it is in a line, by the same link. */
		if (request->parts)
			request->next = NULL;
	}
}

/*
 * aftl_requests_push() - writes that wait for a full page go now
 */
void aftl_requests_push(struct aftl *ftl)
{
	u32 i;

	if (!aftl_buffered(ftl))
		return;
	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].write_lanes || ftl->luns[i].held_writes)
			aftl_wake_for_write(ftl, &ftl->luns[i]);
}

/* What is not inlined saves no registers on the way of reads. */
static noinline void submit_flush(struct aftl *ftl, struct aftl_request *request)
{
	request->parts = 1;
	request->epoch = ftl->epoch;
	if (aftl_buffered(ftl) && ftl->config.buffer_safe) {
		aftl_request_part_done(ftl, request, 0);
		return;
	}
	aftl_flush_wait(ftl, request);
	if (ftl->flushes)
		aftl_requests_push(ftl);
}

/* What is in the buffer alone, and would be found there after a power failure, is told, too. */
static bool discard_unit(struct aftl *ftl, aftl_unit_t unit)
{
	bool told = aftl_write_forget(ftl, unit) && ftl->geo.kept_units;

	if (!aftl_map_clear(ftl, unit))
		return told;
	if (unlikely(ftl->geo.sheets))
		aftl_sheet_change(ftl, unit);
	ftl->stats.counters.host_discard_units++;
	return true;
}

/* From the first unit that was stored to the last one, in one call. */
static noinline void submit_discard(struct aftl *ftl, struct aftl_request *request)
{
	u32 first = request->units;
	u32 end = 0;
	u32 i;

	for (i = 0; i < request->units; i++) {
		if (!discard_unit(ftl, to_unit(request->unit + i)))
			continue;
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
		aftl_requests_push(ftl);
}

/* Where there are zones, or what follows is read as well. */
static noinline void submit_read(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->geo.zones && aftl_zones_offline(ftl, request)) {
		end_now(ftl, request, -EIO);
		return;
	}
	submit_data(ftl, request, false);
	if (ftl->ahead_units)
		aftl_read_ahead(ftl, request);
}

static noinline void submit_write(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->read_only) {
		end_now(ftl, request, -ENOSPC);
		return;
	}
	aftl_write_name(ftl, request);
	submit_data(ftl, request, true);
}

/*
 * aftl_request_start() - it has arrived
 */
void aftl_request_start(struct aftl *ftl, struct aftl_request *request)
{
	aftl_request_arrive(ftl, request);
	switch (request->op) {
	case AFTL_OP_READ:
		if (unlikely(ftl->geo.zones | ftl->ahead_units))
			submit_read(ftl, request);
		else
			submit_data(ftl, request, false);
		break;
	case AFTL_OP_WRITE:
		submit_write(ftl, request);
		break;
	case AFTL_OP_FLUSH:
		submit_flush(ftl, request);
		break;
	case AFTL_OP_DISCARD:
	case AFTL_OP_WRITE_ZEROES:
		submit_discard(ftl, request);
		break;
	default:
		submit_data(ftl, request, true);
	}
}
