// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "core-memory.h"
#include "drive.h"
#include "look-ahead.h"
#include "shard.h"
#include "core/base/shards.h"

/* Prefetch page states of the next FAR requests, and L2P entries of the FAR requests after them. */
#define FAR 16U

#define EPOCHS 2

/**
 * struct part - a request in flight
 * @request: the core's request
 * @number: number of the host's request among the reads and writes of its epoch
 * @whole: request that it is a part of, or NULL
 * @part: index of the part in @whole
 * @epoch: epoch of arrival
 */
struct part {
	struct aftl_request request;
	u64 number;
	struct whole *whole;
	u32 part;
	u8 epoch;
};

/**
 * struct end - completion of a host request
 * @request: the request
 * @number: number of the host's request among the reads and writes of its epoch
 * @response_ns: response time
 * @service_ns: service time of the part that completed last
 * @fresh: it arrived in the epoch of its completion
 */
struct end {
	struct sim_request request;
	u64 number;
	u64 response_ns;
	u64 service_ns;
	bool fresh;
};

/* Statistics of requests */

static void count_completed_host_request(struct shard *shard, u8 epoch, const struct end *end)
{
	struct shard_sums *sums = &shard->sums[epoch];
	const struct sim_request *request = &end->request;

	switch (end->request.op) {
	case AFTL_OP_READ:
		aftl_histogram_add(&sums->read_response, end->response_ns);
		aftl_histogram_add(&sums->read_service, end->service_ns);
		break;
	case AFTL_OP_WRITE:
		aftl_histogram_add(&sums->class_response[end->request.class], end->response_ns);
		aftl_histogram_add(&sums->write_service, end->service_ns);
		break;
	case AFTL_OP_FLUSH:
		aftl_histogram_add(&sums->flush_response, end->response_ns);
	}
	if (request->op <= AFTL_OP_WRITE && end->fresh)
		settling_add_response_time_by_index(&sums->settling, end->number, end->response_ns);
	if (unlikely(sums->queues) && request->op <= AFTL_OP_WRITE)
		sim_count_io_of_host_queue(sums->queues, request, aftl_geometry(shard->ftl),
					   end->response_ns);
	shard->ended++;
	if (unlikely(shard->tenants) && request->queue < shard->tenants->count)
		shard->tenants->each[request->queue].pending--;
}

/* Return the request's part (on one shard) that completed last; at equal times, the first one. */
static const struct whole_part *find_last_completed_part(const struct whole *whole)
{
	const struct whole_part *last = &whole->parts[0];

	for (u32 i = 1; i < whole->count; i++)
		if (whole->parts[i].complete_ns > last->complete_ns)
			last = &whole->parts[i];
	return last;
}

/*
 * Count a split request once, although the core counts each part. If a part failed in an earlier
 * epoch, the request counts as failed in the epoch of its completion.
 */
static void subtract_split_request_surplus(struct shard *shard, const struct whole *whole, u8 epoch)
{
	struct aftl_counters *surplus = &shard->sums[epoch].surplus;
	u32 parts = 0, failed = 0, any = 0;

	for (u32 i = 0; i < whole->count; i++) {
		const struct whole_part *part = &whole->parts[i];

		any |= part->failed;
		parts += part->epoch == epoch;
		failed += part->epoch == epoch && part->failed;
	}
	/* The core counted a request for each part, but the host sent one: count the surplus. */
	switch (whole->request.op) {
	case AFTL_OP_READ:
		surplus->host_read_requests += parts - 1;
		break;
	case AFTL_OP_WRITE:
		surplus->host_write_requests += parts - 1;
		break;
	case AFTL_OP_FLUSH:
		surplus->host_flush_requests += parts - 1;
		break;
	default:
		surplus->host_discard_requests += parts - 1;
	}
	surplus->host_failed_requests += failed - any;
}

static u8 get_statistics_epoch_of_request(const struct whole *whole)
{
	u8 epoch = 0;

	for (u32 i = 0; i < whole->count; i++)
		epoch = max(epoch, whole->parts[i].epoch);
	return epoch;
}

static void complete_split_request(struct shard *shard, struct whole *whole)
{
	const struct whole_part *last = find_last_completed_part(whole);
	u8 epoch = get_statistics_epoch_of_request(whole);
	const struct end end = {
		.request = whole->request,
		.number = whole->number,
		.response_ns = last->complete_ns - whole->request.time_ns,
		.service_ns = last->service_ns,
		.fresh = epoch == whole->epoch,
	};

	subtract_split_request_surplus(shard, whole, epoch);
	count_completed_host_request(shard, epoch, &end);
	free(whole);
}

/* The shard that completes a request's last part adds the request to the shard's statistics. */
static void complete_shard_part_of_request(struct shard *shard, const struct part *part)
{
	struct whole *whole = part->whole;

	whole->parts[part->part] = (struct whole_part){
		.complete_ns = part->request.complete_ns,
		.service_ns = part->request.service_ns,
		.epoch = shard->epoch,
		.failed = part->request.status,
	};
	if (atomic_fetch_sub_explicit(&whole->left, 1, memory_order_acq_rel) == 1)
		complete_split_request(shard, whole);
}

static void complete_unsplit_request(struct shard *shard, const struct part *part)
{
	const struct aftl_request *request = &part->request;
	const struct end end = {
		.request = sim_request_from_core(request),
		.number = part->number,
		.response_ns = request->complete_ns - request->arrival_ns,
		.service_ns = request->service_ns,
		.fresh = part->epoch == shard->epoch,
	};

	count_completed_host_request(shard, shard->epoch, &end);
}

static void complete_shard_request(void *host, struct aftl_request *request)
{
	const struct part *part = container_of(request, struct part, request);
	struct shard *shard = host;

	if (unlikely(part->whole))
		complete_shard_part_of_request(shard, part);
	else
		complete_unsplit_request(shard, part);
	request_pool_return_request(&shard->pool, request);
}

static const struct aftl_host_ops host_ops = {
	.alloc = core_memory_alloc,
	.alloc_later = core_memory_alloc_or_exit,
	.free = core_memory_free,
	.complete = complete_shard_request,
};

/* Set-up and tear-down */

int shard_create(struct shard *shard, const struct sim_options *options, u32 index,
		 const struct aftl_policy_type *policy, struct aftl_error *error)
{
	struct aftl_config own;
	int ret;

	aftl_derive_shard_config(&own, &options->params, index);
	request_pool_init(&shard->pool, sizeof(struct part));
	shard->sums = memory_alloc_zeroed(EPOCHS, sizeof(*shard->sums));
	for (u32 i = 0; i < EPOCHS; i++) {
		settling_init(&shard->sums[i].settling);
		shard->sums[i].queues = sim_queues_create(options, &own);
	}
	ret = aftl_create(&shard->ftl, &own, policy, &host_ops, shard, error);
	if (ret)
		return ret;
	ret = aftl_precondition(shard->ftl);
	return ret ? sim_report_fill_failure(ret, error) : 0;
}

void shard_release(struct shard *shard)
{
	aftl_destroy(shard->ftl);
	for (u32 i = 0; shard->sums && i < EPOCHS; i++)
		free(shard->sums[i].queues);
	free(shard->sums);
	request_pool_release(&shard->pool);
}

/* Work */

static int submit_to_shard(struct shard *shard, const struct shard_work *work,
			   struct aftl_error *error)
{
	struct aftl_request *request = request_pool_take_request(&shard->pool);
	struct part *part;

	if (!request)
		return sim_report_overload(aftl_device_time_ns(shard->ftl), error);
	part = container_of(request, struct part, request);
	sim_request_copy_to_core(request, &work->request);
	request->arrival_ns = work->request.time_ns;
	part->number = work->number;
	part->whole = work->whole;
	part->part = work->part;
	part->epoch = shard->epoch;
	if (aftl_submit(shard->ftl, request))
		return aftl_fail(error, -EIO, "a shard refuses a request for %u units from %llu on",
				 work->request.units, (unsigned long long)work->request.unit);
	return 0;
}

/* The core counts a request with an unknown placement id once per part: subtract the surplus. */
static int submit_shard_part_of_request(struct shard *shard, const struct shard_work *work,
					struct aftl_error *error)
{
	const struct aftl_counters *counters = &aftl_get_stats(shard->ftl)->counters;
	u64 before = counters->unknown_placement_requests;
	int ret = submit_to_shard(shard, work, error);

	if (!ret && work->part)
		shard->sums[shard->epoch].surplus.unknown_placement_requests +=
			counters->unknown_placement_requests - before;
	return ret;
}

static int fail_last_die_of_shard(struct shard *shard, struct aftl_error *error)
{
	if (aftl_fail_lun(shard->ftl, aftl_geometry(shard->ftl)->luns - 1))
		return aftl_fail(error, -EIO, "--die-dies: the FTL has no die to fail, a bug");
	return 0;
}

static int execute_shard_work_item(struct shard *shard, const struct shard_work *work,
				   struct aftl_error *error)
{
	if (likely(work->request.op < SHARD_COUNTS))
		return work->whole ? submit_shard_part_of_request(shard, work, error) :
				     submit_to_shard(shard, work, error);
	aftl_process_events_until(shard->ftl, work->request.time_ns);
	if (work->request.op == SHARD_LOSES_DIE)
		return fail_last_die_of_shard(shard, error);
	aftl_reset_stats(shard->ftl);
	shard->epoch = 1;
	return 0;
}

/* Prefetch the mapping data of the next requests back to back, see look-ahead.c. */
static void prefetch_shard_pages(const struct shard *shard, const struct shard_work *list, u32 left)
{
	for (u32 i = 0; i < min(left, 2 * FAR); i++)
		look_ahead_prefetch_mapping(shard->ftl, (u32)list[i].request.unit, &list[i].request,
					    i < FAR);
}

int shard_execute_work_list(struct shard *shard, const struct shard_work *list, u32 count,
			    struct aftl_error *error)
{
	int ret = 0;

	for (u32 i = 0; i < count && !ret; i++) {
		if (i % FAR == 0)
			prefetch_shard_pages(shard, list + i, count - i);
		ret = execute_shard_work_item(shard, list + i, error);
	}
	return ret;
}

int shard_drain_requests(struct shard *shard, struct aftl_error *error)
{
	u64 last_ns = aftl_device_time_ns(shard->ftl);
	u32 pending;

	while ((pending = aftl_pending_requests(shard->ftl))) {
		u64 next_ns = aftl_next_event_ns(shard->ftl);

		if (is_sim_device_stuck(next_ns, last_ns))
			return sim_report_stuck_device(pending, error);
		aftl_process_events_until(shard->ftl, next_ns);
		if (aftl_pending_requests(shard->ftl) != pending)
			last_ns = aftl_device_time_ns(shard->ftl);
	}
	return 0;
}
