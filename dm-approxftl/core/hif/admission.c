// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission of host requests. A request is checked, split into commands (one for each page that is
 * read and for each logical page that is written), or waits until commands are free. With several
 * host queues the waiting requests are chosen by weighted round robin.
 */
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/wait.h"
#include "core/ftl/write-buffer.h"
#include "core/hif/hif.h"
#include "core/hif/host-read.h"
#include "core/hif/host-write.h"
#include "core/sched/die-scheduler.h"
#include "core/sched/die-write.h"

/* Count one request against the weight of @queue, which is restored when a queue's turn begins. */
static void arbitration_count_request_of_queue(struct aftl *ftl, struct aftl_host_queues *turns,
					       u32 queue)
{
	if (queue != turns->queue || !turns->left) {
		turns->queue = queue;
		turns->left = aftl_queue_weight_at(ftl->config.queue_weights, queue);
	}
	turns->left--;
}

/* Remove the next waiting request: weighted round robin, each queue's oldest request first. */
static struct aftl_request *arbitration_dequeue(struct aftl *ftl, struct aftl_host_queues *turns)
{
	u32 queue = turns->queue;

	if (!turns->left || !turns->head[queue]) {
		do
			queue = (queue + 1) % AFTL_QUEUES_MAX;
		while (!turns->head[queue]);
	}
	arbitration_count_request_of_queue(ftl, turns, queue);
	turns->count--;
	return aftl_request_pop(&turns->head[queue]);
}

static void arbitration_enqueue_request(struct aftl *ftl, struct aftl_request *request, bool write)
{
	struct aftl_host_queues *turns = &ftl->host_queues[write];
	u32 queue = request->queue % AFTL_QUEUES_MAX;

	if (ftl->wait_head[write]) {
		if (ftl->waits)
			aftl_note_wait_reason(ftl, request, AFTL_WAIT_QUEUE);
		aftl_request_list_append(&turns->head[queue], &turns->tail[queue], request);
		turns->count++;
		return;
	}
	turns->left = 0;
	arbitration_count_request_of_queue(ftl, turns, queue);
	aftl_request_list_append(&ftl->wait_head[write], &ftl->wait_tail[write], request);
}

/*
 * Let @request wait for admission: in the list wait_head, or with several host queues in its own
 * queue, until arbitration chooses it. Requests may still be in several queues after a change of
 * queue_weights to one.
 */
static noinline void admission_enqueue(struct aftl *ftl, struct aftl_request *request, bool write)
{
	if (ftl->queues > 1 || ftl->host_queues[write].count)
		arbitration_enqueue_request(ftl, request, write);
	else
		aftl_request_list_append(&ftl->wait_head[write], &ftl->wait_tail[write], request);
}

/* Make @request the next one to be admitted; if it is NULL, take one from the host queues. */
static void admission_set_next_request(struct aftl *ftl, struct aftl_request *request, bool write)
{
	struct aftl_host_queues *turns = &ftl->host_queues[write];

	ftl->wait_head[write] = request;
	if (likely(!turns->count) || request)
		return;
	request = arbitration_dequeue(ftl, turns);
	if (ftl->waits)
		aftl_note_wait_reason(ftl, request, AFTL_WAIT_BUFFER);
	aftl_request_list_append(&ftl->wait_head[write], &ftl->wait_tail[write], request);
}

/* Complete @request with @status, without a page command. */
void aftl_request_complete_at_once(struct aftl *ftl, struct aftl_request *request, int status)
{
	request->status = status;
	request->parts = 1;
	aftl_complete_part_of_request(ftl, request, 0);
}

static inline bool admission_admit_request(struct aftl *ftl, struct aftl_request *request,
					   bool write)
{
	if (request->op >= AFTL_OPS) {
		int status = aftl_zone_execute_command(ftl, request);

		if (status != -EINPROGRESS)
			aftl_request_complete_at_once(ftl, request, status);
		return true;
	}
	return write ? aftl_write_admit_request(ftl, request) :
		       aftl_read_admit_request(ftl, request);
}

/*
 * The next request cannot be admitted. If reads for partial writes have ended, the LUNs may not
 * know yet that the write buffer is full: wake them, so that they program its data.
 */
static void admission_wake_luns_for_blocked_write(struct aftl *ftl, bool write)
{
	if (likely(!write || !ftl->rest.ended) || ftl->rest.awaited)
		return;
	ftl->rest.ended = false;
	aftl_wake_luns_with_writes(ftl);
}

/**
 * aftl_admit_waiting_requests() - admit waiting requests, after commands became free
 * @ftl: device
 * @write: admit requests that wait for write commands, else those that wait for read commands
 * @begin: ftl->work when this slice of work began
 *
 * A request stays the first until all of its pages have commands. While zones are being reset no
 * request is admitted.
 */
void aftl_admit_waiting_requests(struct aftl *ftl, bool write, u32 begin)
{
	while (ftl->wait_head[write]) {
		struct aftl_request *request = ftl->wait_head[write];
		struct aftl_request *next = request->next;

		if (ftl->zones.reset.request || aftl_work_slice_is_over(ftl, begin)) {
			ftl->retry = true;
			return;
		}
		ftl->work++;
		if (!admission_admit_request(ftl, request, write)) {
			admission_wake_luns_for_blocked_write(ftl, write);
			return;
		}
		admission_set_next_request(ftl, next, write);
		/* Keep request->next of a request that has ended: a completion queue may use it. */
		if (request->parts)
			request->next = NULL;
	}
}

/* noinline: otherwise aftl_request_submit() would save more registers for each read. */
static noinline void submit_flush(struct aftl *ftl, struct aftl_request *request)
{
	request->parts = 1;
	request->epoch = ftl->epochs.newest;
	if (aftl_has_write_buffer(ftl) && ftl->config.buffer_safe) {
		aftl_complete_part_of_request(ftl, request, 0);
		return;
	}
	aftl_flush_enqueue(ftl, request);
	if (ftl->epochs.flushes)
		aftl_wake_luns_with_writes(ftl);
}

/*
 * Return true if the host must record the discard. A page that only the write buffer holds counts
 * if the buffer survives power loss: recovery would find its entry.
 */
static bool unmap_discarded_lpn(struct aftl *ftl, aftl_lpn_t lpn, bool *buffered)
{
	bool found = aftl_write_mark_lpn_discarded(ftl, lpn);

	*buffered |= found;
	if (!aftl_l2p_unmap_lpn(ftl, lpn))
		return found && ftl->geo.plp_entries;
	if (ftl->geo.trans_pages)
		aftl_cmt_mark_entry_dirty(ftl, lpn);
	ftl->stats.counters.host_discard_units++;
	return true;
}

/*
 * Call unmap() once, for the range from the first to the last discarded page that has data. A page
 * that is discarded in part keeps its data.
 */
static noinline void submit_discard(struct aftl *ftl, struct aftl_request *request)
{
	u32 begin = request->head_skip != 0;
	u32 behind = request->units - (request->tail_skip != 0);
	u32 first = request->units;
	bool buffered = false;
	u32 end = 0;
	u32 i;

	for (i = begin; i < behind; i++) {
		if (!unmap_discarded_lpn(ftl, to_lpn(request->unit + i), &buffered))
			continue;
		first = min(first, i);
		end = i + 1;
	}
	if (end && ftl->ops->unmap)
		ftl->ops->unmap(ftl->host, to_lpn(request->unit + first), end - first);
	for (i = begin; buffered && i < behind; i++)
		aftl_write_drop_discarded_lpn(ftl, to_lpn(request->unit + i));
	request->parts = 1;
	aftl_complete_part_of_request(ftl, request, 0);
}

static void submit_data_request(struct aftl *ftl, struct aftl_request *request, bool write)
{
	bool queued = ftl->wait_head[write] || ftl->zones.reset.request;

	request->parts = request->units;
	if (!queued && admission_admit_request(ftl, request, write))
		return;
	admission_enqueue(ftl, request, write);
	/* The buffer is full: wake LUNs, which then program its partial pages to free commands. */
	if (write && !queued && likely(!ftl->rest.awaited))
		aftl_wake_luns_with_writes(ftl);
}

/* Submit a read of a zoned device or with read-ahead. All other reads take a shorter path. */
static noinline void submit_host_read(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->geo.zones && aftl_read_touches_offline_zone(ftl, request)) {
		aftl_request_complete_at_once(ftl, request, -EIO);
		return;
	}
	submit_data_request(ftl, request, false);
	if (ftl->read_ahead.units)
		aftl_queue_read_ahead(ftl, request);
}

static noinline void submit_host_write(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->read_only) {
		aftl_request_complete_at_once(ftl, request, -ENOSPC);
		return;
	}
	aftl_write_choose_stream(ftl, request);
	submit_data_request(ftl, request, true);
}

/**
 * aftl_request_submit() - start a request that has arrived
 * @ftl: device
 * @request: valid for this device
 *
 * The caller runs aftl_start_slice_of_lun_operations() afterwards.
 */
void aftl_request_submit(struct aftl *ftl, struct aftl_request *request)
{
	aftl_init_arrived_request(ftl, request);
	switch (request->op) {
	case AFTL_OP_READ:
		if (ftl->geo.zones | ftl->read_ahead.units)
			submit_host_read(ftl, request);
		else
			submit_data_request(ftl, request, false);
		break;
	case AFTL_OP_WRITE:
		submit_host_write(ftl, request);
		break;
	case AFTL_OP_FLUSH:
		submit_flush(ftl, request);
		break;
	case AFTL_OP_DISCARD:
	case AFTL_OP_WRITE_ZEROES:
		submit_discard(ftl, request);
		break;
	default:
		submit_data_request(ftl, request, true);
	}
}
