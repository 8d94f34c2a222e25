// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "core-memory.h"
#include "request-log.h"

#define LEAST_ROOM 4096

static void *resize_log_column(void *column, u64 room, size_t size)
{
	column = memory_resize(column, room, size);
	core_memory_advise_huge_pages(column, room * size);
	return column;
}

static void grow_request_log(struct request_log *log)
{
	u64 room = log->room ? 2 * log->room : LEAST_ROOM;

	log->arrival_ns = resize_log_column(log->arrival_ns, room, sizeof(*log->arrival_ns));
	log->response_ns = resize_log_column(log->response_ns, room, sizeof(*log->response_ns));
	log->waiting_ns = resize_log_column(log->waiting_ns, room, sizeof(*log->waiting_ns));
	log->offset = resize_log_column(log->offset, room, sizeof(*log->offset));
	log->bytes = resize_log_column(log->bytes, room, sizeof(*log->bytes));
	log->lpn = resize_log_column(log->lpn, room, sizeof(*log->lpn));
	log->op = resize_log_column(log->op, room, sizeof(*log->op));
	log->class = resize_log_column(log->class, room, sizeof(*log->class));
	log->queue = resize_log_column(log->queue, room, sizeof(*log->queue));
	log->failed = resize_log_column(log->failed, room, sizeof(*log->failed));
	log->reason = resize_log_column(log->reason, room, sizeof(*log->reason));
	log->room = room;
}

u32 request_find_longest_wait_reason(const struct aftl_waits *waits)
{
	u32 most = AFTL_WAITS;
	u64 most_ns = 0;

	for (u32 i = 0; i < AFTL_WAITS; i++) {
		if (waits->ns[i] <= most_ns)
			continue;
		most_ns = waits->ns[i];
		most = i;
	}
	return most;
}

void request_log_add_request(struct request_log *log, struct aftl_request *request)
{
	u64 i = log->count;

	if (i == log->room)
		grow_request_log(log);
	log->arrival_ns[i] = request->arrival_ns - log->base_ns;
	log->response_ns[i] = 0;
	log->waiting_ns[i] = 0;
	log->offset[i] = (u64)request->unit * log->unit_bytes +
			 (u64)request->head_skip * AFTL_SECTOR_BYTES;
	log->bytes[i] = get_bytes_of_request(request, log->unit_bytes);
	log->lpn[i] = request->unit;
	log->op[i] = request->op;
	log->class[i] = request->class;
	log->queue[i] = request->queue;
	log->failed[i] = 0;
	log->reason[i] = AFTL_WAITS;
	to_observed_request(request)->number = log->count++;
}

void request_log_complete_request(struct request_log *log, struct aftl_request *request)
{
	const struct observed_request *observed = to_observed_request(request);
	u64 i = observed->number;

	log->arrival_ns[i] = request->arrival_ns - log->base_ns;
	log->response_ns[i] = request->complete_ns - request->arrival_ns;
	log->waiting_ns[i] = get_waiting_ns_of_request(request);
	log->reason[i] = (u8)request_find_longest_wait_reason(&observed->waits);
	log->lpn[i] = request->unit;
	log->failed[i] = request->status != 0;
}

void request_log_release(struct request_log *log)
{
	free(log->arrival_ns);
	free(log->response_ns);
	free(log->waiting_ns);
	free(log->offset);
	free(log->bytes);
	free(log->lpn);
	free(log->op);
	free(log->class);
	free(log->queue);
	free(log->failed);
	free(log->reason);
}
