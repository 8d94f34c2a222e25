// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion of host requests: counting of parts, the time that controller and link take,
 * statistics, and flushes.
 */
#include "core/ftl/controller.h"
#include "core/ftl/wait.h"
#include "core/sched/completion.h"

static void completion_schedule_event_of_queue(struct aftl *ftl, u32 line)
{
	const struct aftl_request *head = ftl->completion.queues[line].head;

	aftl_events_set_time(&ftl->events, ftl->event_completions + line,
			     head ? head->complete_ns : AFTL_NEVER);
}

/* End of the controller's work on a request: it works on one request per direction at a time. */
static u64 compute_end_of_controller_work_ns(struct aftl *ftl, const struct aftl_request *request,
					     bool inward)
{
	u64 ns = ftl->config.controller_command;

	if (request->flags & AFTL_REQUEST_APPEND)
		ns += ftl->config.controller_append;
	if (ftl->config.controller_vary)
		ns += aftl_random_exponential(&ftl->completion.vary, ftl->config.controller_vary);
	if (!ns && ftl->completion.command_ns[inward] <= ftl->now_ns)
		return ftl->now_ns;
	ftl->completion.command_ns[inward] =
		max(ftl->completion.command_ns[inward], ftl->now_ns) + ns;
	return ftl->completion.command_ns[inward];
}

/* Return how many bytes of its first and of its last logical page @request does not cover. */
static u32 count_uncovered_bytes_of_request(const struct aftl_request *request)
{
	return AFTL_SECTOR_BYTES * (request->head_skip + request->tail_skip);
}

static u64 compute_link_transfer_ns(const struct aftl *ftl, const struct aftl_request *request)
{
	u64 ns = request->units * ftl->unit_link_ns;

	if (request->head_skip | request->tail_skip)
		ns -= div64_u64(ftl->unit_link_ns * count_uncovered_bytes_of_request(request),
				ftl->geo.unit_bytes);
	return ns;
}

/*
 * The link transfers the data of requests one after the other, each direction for itself, while the
 * controller processes the next. A request without data waits for its turn and takes no data time.
 */
static u64 compute_end_of_link_transfer_ns(struct aftl *ftl, const struct aftl_request *request)
{
	bool inward = request->op != AFTL_OP_READ;
	bool data = !inward || request->op == AFTL_OP_WRITE;
	u64 ns = data ? compute_link_transfer_ns(ftl, request) : 0;
	u64 ready_ns = compute_end_of_controller_work_ns(ftl, request, inward);

	if (ftl->unit_link_ns)
		ns += ftl->config.link_command;
	ftl->completion.link_ns[inward] = max(ftl->completion.link_ns[inward], ready_ns) + ns;
	return ftl->completion.link_ns[inward];
}

static u32 completion_queue_of_request(const struct aftl_request *request)
{
	return request->path & AFTL_PATH_ECC ? AFTL_COMPLETION_ECC_READ : AFTL_COMPLETION_READ;
}

/*
 * Queue the completion of a read for a partial write. The data stay in the controller, so this read
 * overtakes those that wait for the link in the same queue, and takes the queue's delay only.
 */
static noinline void completion_insert_rest(struct aftl *ftl, struct aftl_request *request,
					    u32 index)
{
	struct aftl_completion_queue *line = &ftl->completion.queues[index];
	struct aftl_request **at = &line->head;

	request->complete_ns = ftl->now_ns + line->delay_ns;
	while (*at && (*at)->complete_ns <= request->complete_ns)
		at = &(*at)->next;
	request->next = *at;
	*at = request;
	if (!request->next)
		line->tail = request;
	if (line->head == request)
		completion_schedule_event_of_queue(ftl, index);
}

static inline void completion_append_to_queue(struct aftl *ftl, struct aftl_request *request,
					      u32 index, u64 crossed_ns)
{
	struct aftl_completion_queue *line = &ftl->completion.queues[index];

	request->complete_ns = crossed_ns + line->delay_ns;
	aftl_request_list_append(&line->head, &line->tail, request);
	if (line->head == request)
		completion_schedule_event_of_queue(ftl, index);
}

/* Queue a completion if there is a link model, or if the host wants reports of waits. */
static noinline void completion_enqueue_special(struct aftl *ftl, struct aftl_request *request,
						u32 index)
{
	u64 crossed_ns = ftl->now_ns;

	if (ftl->completion.link_paced) {
		crossed_ns = compute_end_of_link_transfer_ns(ftl, request);
		if (request->op != AFTL_OP_READ)
			index = AFTL_COMPLETION_WRITE;
	}
	if (ftl->waits)
		aftl_note_ended_request(ftl, request, crossed_ns,
					crossed_ns + ftl->completion.queues[index].delay_ns);
	completion_append_to_queue(ftl, request, index, crossed_ns);
}

/* All requests of a completion queue have the same delay, so they complete in order of arrival. */
static void completion_enqueue_request(struct aftl *ftl, struct aftl_request *request)
{
	u32 index = completion_queue_of_request(request);

	if (request->path == AFTL_PATH_READ_CACHE)
		index = AFTL_COMPLETION_CACHE_HIT;
	if (request->rest == AFTL_REST_READING)
		completion_insert_rest(ftl, request, index);
	else if (ftl->completion.special)
		completion_enqueue_special(ftl, request, index);
	else
		completion_append_to_queue(ftl, request, index, ftl->now_ns);
}

void aftl_complete_part_of_request(struct aftl *ftl, struct aftl_request *request, u64 service_ns)
{
	request->service_ns = service_ns;
	if (!--request->parts)
		completion_enqueue_request(ftl, request);
}

static_assert(AFTL_COUNTER_DISTANCE_IS(host_write_level_1_units, host_write_level_3_units,
				       AFTL_LEVELS - 2),
	      "units that were written are counted by level");

static void count_approximate_units(struct aftl_counters *counters,
				    const struct aftl_request *request)
{
	u32 level = aftl_normalise_quality_level(AFTL_APPROX, request->level);

	counters->host_write_approx_units += request->units;
	(&counters->host_write_level_1_units)[level - 1] += request->units;
}

static u32 count_partial_pages(const struct aftl_request *request)
{
	return min((u32)(request->head_skip != 0) + (request->tail_skip != 0), request->units);
}

static u64 count_bytes_of_request(const struct aftl *ftl, const struct aftl_request *request)
{
	return (u64)request->units * ftl->geo.unit_bytes -
	       count_uncovered_bytes_of_request(request);
}

static void count_completed_request_in_stats(struct aftl *ftl, const struct aftl_request *request)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	u64 response = request->complete_ns - request->arrival_ns;

	counters->host_failed_requests += request->status != 0;
	switch (request->op) {
	case AFTL_OP_READ:
		counters->host_read_requests++;
		counters->host_read_units += request->units;
		counters->host_read_bytes += count_bytes_of_request(ftl, request);
		aftl_histogram_add(&ftl->stats.read_response, response);
		aftl_histogram_add(&ftl->stats.read_service, request->service_ns);
		break;
	case AFTL_OP_WRITE:
		counters->host_write_requests++;
		counters->host_write_units += request->units;
		counters->host_write_bytes += count_bytes_of_request(ftl, request);
		counters->host_partial_write_units += count_partial_pages(request);
		if (request->class == AFTL_APPROX)
			count_approximate_units(counters, request);
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

/*
 * The controller has read all that the partial write @request does not cover. Make the write the
 * next to be admitted: all waiting requests arrived later, or have no page in common with it.
 */
static noinline void complete_rest(struct aftl *ftl, struct aftl_request *request)
{
	u32 i = 0;

	while (ftl->rest.requests[i] != request)
		i++;
	ftl->rest.requests[i] = ftl->rest.requests[--ftl->rest.count];
	if (ftl->waits)
		aftl_note_wait_reason(ftl, request, AFTL_WAIT_BUFFER);
	request->rest = AFTL_REST_READ;
	request->admitted = 0;
	request->parts = request->units;
	request->path = 0;
	request->next = ftl->wait_head[1];
	if (!ftl->wait_head[1])
		ftl->wait_tail[1] = request;
	ftl->wait_head[1] = request;
	ftl->rest.awaited = false;
	ftl->rest.ended = true;
	ftl->retry = true;
}

static void complete_request_to_host(struct aftl *ftl, struct aftl_request *request)
{
	if (request->rest == AFTL_REST_READING) {
		complete_rest(ftl, request);
		return;
	}
	ftl->requests--;
	count_completed_request_in_stats(ftl, request);
	ftl->ops->complete(ftl->host, request);
}

/**
 * aftl_handle_completion_queue_event() - complete the oldest request of a completion queue
 * @ftl: device; its time is the request's complete_ns
 * @line: number of the queue
 */
void aftl_handle_completion_queue_event(struct aftl *ftl, u32 line)
{
	struct aftl_request *request = aftl_request_pop(&ftl->completion.queues[line].head);

	completion_schedule_event_of_queue(ftl, line);
	complete_request_to_host(ftl, request);
}

/**
 * aftl_read_fastpath_complete() - complete a read of the fast path
 * @ftl: device
 * @request: the read, whose data are in the controller
 * @service_ns: time of array and channel
 *
 * Device time jumps to the completion unless another event comes first; then the read is queued for
 * completion as any other.
 */
void aftl_read_fastpath_complete(struct aftl *ftl, struct aftl_request *request, u64 service_ns)
{
	u64 complete_ns = ftl->now_ns +
			  ftl->completion.queues[completion_queue_of_request(request)].delay_ns;

	request->parts = 0;
	request->service_ns = service_ns;
	if (aftl_next_event_ns(ftl) <= complete_ns) {
		completion_enqueue_request(ftl, request);
		return;
	}
	request->complete_ns = complete_ns;
	request->next = NULL;
	ftl->now_ns = complete_ns;
	complete_request_to_host(ftl, request);
}

/*
 * Flushes. Each write belongs to the epoch of its arrival. A flush ends an epoch and completes when
 * no write of that epoch or of an older one is outstanding. Epochs form a ring.
 */

static u32 get_next_flush_epoch(u32 epoch)
{
	return (epoch + 1) % AFTL_EPOCHS;
}

/* Every flush after the loss of buffered data fails: it covers the lost writes, too. */
static void complete_flushes(struct aftl *ftl, u32 epoch)
{
	while (ftl->epochs.flushes && ftl->epochs.flushes->epoch == epoch) {
		struct aftl_request *flush = aftl_request_pop(&ftl->epochs.flushes);

		if (ftl->buffer_lost)
			flush->status = -EIO;
		aftl_complete_part_of_request(ftl, flush, 0);
	}
}

/*
 * Begin a new epoch for the writes after a flush. If the ring is full, the epoch goes on, and the
 * flush waits for later writes, too.
 */
static void begin_next_flush_epoch(struct aftl *ftl)
{
	if (get_next_flush_epoch(ftl->epochs.newest) != ftl->epochs.oldest)
		ftl->epochs.newest = get_next_flush_epoch(ftl->epochs.newest);
}

static void complete_flushes_of_finished_epochs(struct aftl *ftl)
{
	while (!ftl->epochs.outstanding[ftl->epochs.oldest]) {
		complete_flushes(ftl, ftl->epochs.oldest);
		if (ftl->epochs.oldest == ftl->epochs.newest)
			return;
		ftl->epochs.oldest = get_next_flush_epoch(ftl->epochs.oldest);
	}
}

void aftl_flush_epoch_count_ended_write(struct aftl *ftl, u32 epoch)
{
	if (!--ftl->epochs.outstanding[epoch])
		complete_flushes_of_finished_epochs(ftl);
}

/**
 * aftl_flush_enqueue() - queue a flush until all writes before it have been programmed
 * @ftl: device
 * @request: the flush
 */
void aftl_flush_enqueue(struct aftl *ftl, struct aftl_request *request)
{
	if (ftl->waits)
		aftl_note_wait_reason(ftl, request, AFTL_WAIT_FLUSH);
	aftl_request_list_append(&ftl->epochs.flushes, &ftl->epochs.last_flush, request);
	begin_next_flush_epoch(ftl);
	complete_flushes_of_finished_epochs(ftl);
}
