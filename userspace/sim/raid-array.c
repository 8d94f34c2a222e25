// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "core-memory.h"
#include "raid-array.h"

/**
 * struct raid_request - a request to the array
 * @admitted: units of a write that are in the cache
 * @parts: units that are not complete
 * @failed: a member failed one of them
 */
struct raid_request {
	u64 arrival_ns;
	u32 unit;
	u32 units;
	u32 admitted;
	u32 parts;
	u8 op;
	u8 class;
	struct aftl_hint hint;
	bool failed;
	struct raid_request *next;
};

/* Entry of the list of RAID requests that wait until one row of the stripe cache is written. */
struct raid_waiter {
	struct raid_request *request;
	struct raid_waiter *next;
};

/**
 * struct raid_operation - a request to a member
 * @request: the core's request
 * @owner: host read of which this is a part; NULL for an operation of the stripe cache
 */
struct raid_operation {
	struct aftl_request request;
	struct raid_request *owner;
	struct stripe *stripe;
	struct raid_operation *next;
};

/* A member's FTL calls this while it advances: queue the completion, to be processed afterwards. */
static void queue_member_completion(void *host, struct aftl_request *request)
{
	struct raid_array *array = host;
	struct raid_operation *operation = container_of(request, struct raid_operation, request);

	operation->next = NULL;
	*array->done_end = operation;
	array->done_end = &operation->next;
}

static const struct aftl_host_ops host_ops = {
	.alloc = core_memory_alloc,
	.alloc_later = core_memory_alloc_or_exit,
	.free = core_memory_free,
	.complete = queue_member_completion,
};

/* Requests of the user */

static void complete_raid_request(struct raid_array *array, struct raid_request *request)
{
	struct raid_counters *counters = &array->counters;
	u64 response_ns = array->now_ns - request->arrival_ns;

	if (request->op == AFTL_OP_READ) {
		counters->read_requests++;
		counters->read_units += request->units;
		aftl_histogram_add(&array->read_response, response_ns);
	} else {
		counters->write_requests++;
		counters->write_units += request->units;
		aftl_histogram_add(&array->write_response, response_ns);
	}
	settling_add_response_time(&array->settling, response_ns);
	counters->failed_requests += request->failed;
	array->pending--;
	free(request);
}

static void complete_parts_of_raid_request(struct raid_array *array, struct raid_request *request,
					   u32 parts)
{
	request->parts -= parts;
	if (!request->parts)
		complete_raid_request(array, request);
}

/* Requests to members */

static void submit_member_operation(struct raid_array *array, u32 member,
				    const struct raid_operation *wanted)
{
	struct raid_operation *operation = memory_alloc_zeroed(1, sizeof(*operation));

	*operation = *wanted;
	operation->request.arrival_ns = array->now_ns;
	/* The request is within the member, so that a refusal is a bug in this file. */
	if (aftl_submit(array->members[member], &operation->request))
		abort();
}

static void send_stripe_unit_to_member(struct raid_array *array, struct stripe *stripe, u32 cell,
				       u8 op)
{
	struct raid_operation operation = {
		.request = {
			.unit = stripe->row,
			.units = 1,
			.op = op,
			.class = stripe->approx >> cell & 1 ? AFTL_APPROX : AFTL_PRECISE,
			.hint = stripe->hints[cell],
		},
		.stripe = stripe,
	};

	stripe->operations++;
	submit_member_operation(array, stripe_member_of_unit(&array->layout, stripe->row, cell),
				&operation);
}

/* Send @op to the member of each cell in @cells. Completions are processed after this call. */
static void send_stripe_units_to_members(struct raid_array *array, struct stripe *stripe, u32 cells,
					 u8 op)
{
	for (; cells; cells &= cells - 1)
		send_stripe_unit_to_member(array, stripe, __ffs(cells), op);
}

/* Rows */

static void write_stripe_row_to_members(struct raid_array *array, struct stripe *stripe)
{
	u32 data = stripe->plan.write & stripe_data_mask(&array->layout);

	stripe->reading = false;
	array->counters.data_units += (u32)__builtin_popcount(data);
	array->counters.parity_units++;
	send_stripe_units_to_members(array, stripe, stripe->plan.write, AFTL_OP_WRITE);
}

static void start_write_of_stripe_row(struct raid_array *array, struct stripe *stripe)
{
	u32 index = stripe_index_in_cache(&array->cache, stripe);
	struct raid_counters *counters;

	stripe_begin_write(&array->cache, &array->layout, stripe);
	array->flying[index] = array->waiting[index];
	array->waiting[index] = NULL;
	counters = &array->counters;
	counters->old_units += (u32)__builtin_popcount(stripe->plan.read);
	if (!stripe->plan.read)
		counters->full_rows++;
	else if (stripe->plan.reconstruct)
		counters->reconstructed_rows++;
	else
		counters->modified_rows++;
	if (!stripe->plan.read) {
		write_stripe_row_to_members(array, stripe);
		return;
	}
	stripe->reading = true;
	send_stripe_units_to_members(array, stripe, stripe->plan.read, AFTL_OP_READ);
}

static void start_write_of_full_stripe_row(struct raid_array *array, struct stripe *stripe)
{
	if (!stripe->busy && stripe->dirty == stripe_data_mask(&array->layout))
		start_write_of_stripe_row(array, stripe);
}

static void add_waiting_request(struct raid_array *array, u32 index, struct raid_request *request)
{
	struct raid_waiter *waiter = memory_alloc_zeroed(1, sizeof(*waiter));

	waiter->request = request;
	waiter->next = array->waiting[index];
	array->waiting[index] = waiter;
}

/* Put units into the stripe cache; return false if it has no room for all of them. */
static bool put_raid_write_into_cache(struct raid_array *array, struct raid_request *request)
{
	for (; request->admitted < request->units; request->admitted++) {
		struct stripe *stripe;
		u32 row;
		u32 cell;

		stripe_locate_unit(&array->layout, request->unit + request->admitted, &row, &cell);
		stripe = stripe_get(&array->cache, row);
		if (!stripe)
			return false;
		stripe->hints[cell] = request->hint;
		stripe_mark_unit_dirty(&array->cache, stripe, cell, request->class == AFTL_APPROX,
				       array->now_ns);
		add_waiting_request(array, stripe_index_in_cache(&array->cache, stripe), request);
		start_write_of_full_stripe_row(array, stripe);
	}
	return true;
}

static void start_write_of_oldest_dirty_row(struct raid_array *array)
{
	if (array->cache.dirty.head != STRIPE_NONE)
		start_write_of_stripe_row(array, &array->cache.stripes[array->cache.dirty.head]);
}

static void put_blocked_writes_into_cache(struct raid_array *array)
{
	while (array->blocked && put_raid_write_into_cache(array, array->blocked)) {
		array->blocked = array->blocked->next;
		if (!array->blocked)
			array->blocked_end = &array->blocked;
	}
	if (array->blocked)
		start_write_of_oldest_dirty_row(array);
}

static void fail_waiting_requests(struct raid_waiter *waiter)
{
	for (; waiter; waiter = waiter->next)
		waiter->request->failed = true;
}

static void finish_write_of_stripe_row(struct raid_array *array, struct stripe *stripe)
{
	u32 index = stripe_index_in_cache(&array->cache, stripe);
	struct raid_waiter *waiter = array->flying[index];

	array->flying[index] = NULL;
	stripe_end_write(&array->cache, stripe, array->now_ns);
	while (waiter) {
		struct raid_waiter *next = waiter->next;

		complete_parts_of_raid_request(array, waiter->request, 1);
		free(waiter);
		waiter = next;
	}
	start_write_of_full_stripe_row(array, stripe);
	put_blocked_writes_into_cache(array);
}

static void end_member_operation_of_stripe_row(struct raid_array *array, struct stripe *stripe,
					       bool failed)
{
	if (failed)
		fail_waiting_requests(array->flying[stripe_index_in_cache(&array->cache, stripe)]);
	if (--stripe->operations)
		return;
	if (stripe->reading)
		write_stripe_row_to_members(array, stripe);
	else
		finish_write_of_stripe_row(array, stripe);
}

static void complete_member_operation(struct raid_array *array, struct raid_operation *operation)
{
	struct raid_request *owner = operation->owner;
	struct stripe *stripe = operation->stripe;
	bool failed = operation->request.status != 0;
	u32 units = operation->request.units;

	free(operation);
	if (!owner) {
		end_member_operation_of_stripe_row(array, stripe, failed);
		return;
	}
	owner->failed |= failed;
	complete_parts_of_raid_request(array, owner, units);
}

static void process_completed_member_operations(struct raid_array *array)
{
	while (array->done) {
		struct raid_operation *operation = array->done;

		array->done = operation->next;
		if (!array->done)
			array->done_end = &array->done;
		complete_member_operation(array, operation);
	}
}

/* Reads */

static bool is_stripe_unit_in_write_cache(struct raid_array *array, u32 row, u32 cell)
{
	const struct stripe *stripe = stripe_find(&array->cache, row);

	return stripe && (stripe->dirty | stripe->flying) >> cell & 1;
}

/* Count the units from @unit on that one read of a member can return: none is in the cache. */
static u32 count_contiguous_uncached_units(struct raid_array *array, u32 unit, u32 limit)
{
	u32 run = 0;
	u32 row;
	u32 cell;

	do {
		stripe_locate_unit(&array->layout, unit + run, &row, &cell);
		if (is_stripe_unit_in_write_cache(array, row, cell))
			break;
		run++;
	} while (run < limit && (unit + run) % array->layout.chunk);
	return run;
}

static void send_member_read(struct raid_array *array, struct raid_request *request, u32 unit,
			     u32 units)
{
	struct raid_operation operation = {
		.request = { .units = units, .op = AFTL_OP_READ },
		.owner = request,
	};
	u32 cell;

	stripe_locate_unit(&array->layout, unit, &operation.request.unit, &cell);
	submit_member_operation(array,
				stripe_member_of_unit(&array->layout, operation.request.unit, cell),
				&operation);
}

static void submit_raid_read(struct raid_array *array, struct raid_request *request)
{
	u32 cached = 0;
	u32 at = 0;

	while (at < request->units) {
		u32 run = count_contiguous_uncached_units(array, request->unit + at,
							  request->units - at);

		if (run)
			send_member_read(array, request, request->unit + at, run);
		cached += !run;
		at += run ? run : 1;
	}
	array->counters.cached_units += cached;
	if (cached)
		complete_parts_of_raid_request(array, request, cached);
}

void raid_array_submit(struct raid_array *array, u64 at_ns, u8 op, u32 unit, u32 units,
		       u8 class, struct aftl_hint hint)
{
	struct raid_request *request = memory_alloc_zeroed(1, sizeof(*request));

	raid_array_advance_to_time(array, at_ns);
	*request = (struct raid_request){
		.arrival_ns = at_ns,
		.unit = unit,
		.units = units,
		.parts = units,
		.op = op,
		.class = class,
		.hint = hint,
	};
	array->pending++;
	if (op == AFTL_OP_READ) {
		submit_raid_read(array, request);
	} else {
		request->next = NULL;
		*array->blocked_end = request;
		array->blocked_end = &request->next;
		if (array->blocked == request)
			put_blocked_writes_into_cache(array);
	}
	process_completed_member_operations(array);
}

/* Time */

static u64 get_write_back_ns_of_oldest_dirty_row(const struct raid_array *array)
{
	u32 oldest = array->cache.dirty.head;

	return oldest == STRIPE_NONE ? U64_MAX :
				       array->cache.stripes[oldest].since_ns + array->hold_ns;
}

u64 raid_array_get_next_event_ns(const struct raid_array *array)
{
	u64 next_ns = get_write_back_ns_of_oldest_dirty_row(array);

	for (u32 i = 0; i < array->layout.members; i++) {
		u64 member_ns = aftl_next_event_ns(array->members[i]);

		next_ns = min(next_ns, member_ns);
	}
	return next_ns;
}

static void process_array_events(struct raid_array *array, u64 now_ns)
{
	array->now_ns = max(array->now_ns, now_ns);
	for (u32 i = 0; i < array->layout.members; i++)
		if (aftl_next_event_ns(array->members[i]) <= now_ns)
			aftl_process_events_until(array->members[i], now_ns);
	process_completed_member_operations(array);
	if (get_write_back_ns_of_oldest_dirty_row(array) <= now_ns)
		start_write_of_oldest_dirty_row(array);
	process_completed_member_operations(array);
}

void raid_array_advance_to_time(struct raid_array *array, u64 now_ns)
{
	u64 next_ns;

	while ((next_ns = raid_array_get_next_event_ns(array)) <= now_ns)
		process_array_events(array, next_ns);
	array->now_ns = max(array->now_ns, now_ns);
}

void raid_array_reset_stats(struct raid_array *array)
{
	for (u32 i = 0; i < array->layout.members; i++)
		aftl_reset_stats(array->members[i]);
	memset(&array->counters, 0, sizeof(array->counters));
	memset(&array->read_response, 0, sizeof(array->read_response));
	memset(&array->write_response, 0, sizeof(array->write_response));
	settling_init(&array->settling);
}

/* Set-up and tear-down */

static int create_raid_member(struct raid_array *array, u32 index, const struct aftl_config *config,
			      const struct aftl_policy_type *policy, struct aftl_error *error)
{
	struct aftl_config own = *config;
	int ret;

	own.seed += index;
	ret = aftl_create(&array->members[index], &own, policy, &host_ops, array, error);
	if (ret)
		return ret;
	ret = aftl_precondition(array->members[index]);
	if (ret)
		return aftl_fail(error, ret,
				 "a member ran out of free blocks while it was filled; raise op or lower fill_valid");
	return 0;
}

int raid_array_create(struct raid_array *array, const struct stripe_layout *layout,
		      const struct aftl_config *config, const struct aftl_policy_type *policy,
		      u32 stripes, u64 hold_ns, struct aftl_error *error)
{
	int ret = 0;

	*array = (struct raid_array){ .layout = *layout, .hold_ns = hold_ns };
	settling_init(&array->settling);
	array->blocked_end = &array->blocked;
	array->done_end = &array->done;
	stripe_cache_init(&array->cache, stripes);
	array->waiting = memory_alloc_zeroed(stripes, sizeof(struct raid_waiter *));
	array->flying = memory_alloc_zeroed(stripes, sizeof(struct raid_waiter *));
	for (u32 i = 0; !ret && i < layout->members; i++)
		ret = create_raid_member(array, i, config, policy, error);
	if (!ret && aftl_geometry(array->members[0])->zones)
		ret = aftl_fail(error, -EINVAL,
				"zoned: an array writes in no zone's order; set it to 0");
	if (ret)
		return ret;
	array->units = stripe_get_array_capacity(layout, aftl_geometry(array->members[0])->units);
	return 0;
}

void raid_array_release(struct raid_array *array)
{
	for (u32 i = 0; i < STRIPE_MEMBERS_MAX; i++)
		aftl_destroy(array->members[i]);
	stripe_cache_release(&array->cache);
	free(array->waiting);
	free(array->flying);
}
