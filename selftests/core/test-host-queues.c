// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host queues: which request gets the next command when commands are scarce. A model that knows
 * weights and arrivals predicts each choice of the core.
 */
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=1 chips=1 blocks=64 page=4KiB depth=16 op=40 fill=sequential read=45us"
#define DEPTH 16
#define SEEDS 150
#define REQUESTS 300
#define WAITING_MAX 128

static struct test_device device;

/**
 * struct waiter - a request that waits until the device gives it commands
 * @version: version of the request
 * @units: units without a command
 * @queue: its host queue
 */
struct waiter {
	u32 version;
	u32 units;
	u32 queue;
};

/**
 * struct model - requests of one direction
 * @weights: of the queues, 0: first come, first served
 * @first: requests selected to get the next commands, in order
 * @firsts: number of requests in @first
 * @others: requests not yet selected, in order of arrival
 * @count: number of waiting requests
 * @queue: queue that is being served
 * @left: number of requests that @queue may send before the next queue is served
 * @most: largest number of waiting requests so far
 */
struct model {
	u64 weights;
	struct waiter first[WAITING_MAX];
	u32 firsts;
	struct waiter others[WAITING_MAX];
	u32 count;
	u32 queue;
	u32 left;
	u32 most;
};

static u32 get_model_queue_weight(const struct model *model, u32 queue)
{
	u32 byte = model->weights >> 8 * queue & 255;

	return byte ? byte : 1;
}

static void remove_waiting_request_from_list(struct waiter *list, u32 *count, u32 index)
{
	memmove(list + index, list + index + 1, (*count - index - 1) * sizeof(*list));
	--*count;
}

/* Index of the oldest waiting request of @queue, or the number of waiting requests. */
static u32 find_oldest_waiting_request(const struct model *model, u32 queue)
{
	u32 i;

	for (i = 0; i < model->count && model->others[i].queue != queue; i++)
		;
	return i;
}

/* A queue is served until it is empty or has sent as many requests as its weight. */
static void choose_next_queue_in_model(struct model *model)
{
	u32 index = model->left ? find_oldest_waiting_request(model, model->queue) : model->count;
	u32 step;

	for (step = 1; index == model->count && step <= AFTL_QUEUES_MAX; step++) {
		model->left = 0;
		index = find_oldest_waiting_request(model, (model->queue + step) % AFTL_QUEUES_MAX);
	}
	if (index == model->count)
		return;
	model->queue = model->others[index].queue;
	model->left = (model->left ? model->left : get_model_queue_weight(model, model->queue)) - 1;
	model->first[model->firsts++] = model->others[index];
	remove_waiting_request_from_list(model->others, &model->count, index);
}

static void add_request_to_queue_model(struct model *model, const struct test_request *mine)
{
	struct waiter waiter = {
		.version = mine->version,
		.units = mine->request.units,
		.queue = mine->request.queue % AFTL_QUEUES_MAX,
	};
	bool turns = model->weights > 255 || model->count;

	if (turns && model->firsts) {
		model->others[model->count++] = waiter;
		model->most = max(model->most, model->count);
		return;
	}
	model->first[model->firsts++] = waiter;
	if (!turns)
		return;
	model->queue = waiter.queue;
	model->left = get_model_queue_weight(model, waiter.queue) - 1;
}

/* Admit one unit of the model's next request; return this request's version number. */
static u32 admit_unit_in_queue_model(struct model *model)
{
	u32 version = model->first[0].version;

	if (--model->first[0].units)
		return version;
	remove_waiting_request_from_list(model->first, &model->firsts, 0);
	if (!model->firsts)
		choose_next_queue_in_model(model);
	return version;
}

/* Model of write admission; the core reports each unit that it accepts. */

struct write_watch {
	struct test_listener listener;
	struct model model;
};

static void add_submitted_write_to_model(struct test_listener *self, struct test_request *request)
{
	if (request->request.op == AFTL_OP_WRITE)
		add_request_to_queue_model(&container_of(self, struct write_watch, listener)->model,
					   request);
}

static void check_write_is_next_in_model(struct test_listener *self, struct test_request *request,
					 aftl_lpn_t lpn, u32 tag)
{
	struct model *model = &container_of(self, struct write_watch, listener)->model;
	u32 version;

	if (!CHECK_MSG(model->firsts, "request %u goes on, but none waits", request->version))
		return;
	version = admit_unit_in_queue_model(model);
	CHECK_MSG(version == request->version, "request %u goes on instead of %u",
		  request->version, version);
}

static const char *draw_queue_weights(struct aftl_random *random, char text[AFTL_VALUE_SIZE])
{
	u32 queues = aftl_random_below(random, AFTL_QUEUES_MAX + 1);
	size_t used = scnprintf(text, AFTL_VALUE_SIZE, queues ? "1" : "0");

	for (; queues > 1; queues--)
		used += scnprintf(text + used, AFTL_VALUE_SIZE - used, ":%u",
				  1 + (u32)aftl_random_below(random, 5));
	return text;
}

static void set_queue_weights(struct model *model, struct aftl_random *random)
{
	char text[AFTL_VALUE_SIZE];

	CHECK_EQ(aftl_set_param(device.ftl, "queue_weights", draw_queue_weights(random, text),
				&device.error), 0);
	model->weights = aftl_config(device.ftl)->queue_weights;
	model->queue = 0;
	model->left = 0;
}

/* Vary the queue depth, and change the queues' weights while requests wait. */
static void fill_host_queues(enum aftl_op op, struct model *model, struct aftl_random *random)
{
	u32 i;

	set_queue_weights(model, random);
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		u32 units = 1 + aftl_random_below(random, 6);
		u32 unit = aftl_random_below(random, test_unit_count(&device) - units);
		u32 depth = aftl_random_below(random, 3) ? WAITING_MAX / 2 : 2;

		device.queue = (u8)aftl_random_below(random, 256);
		CHECK_EQ(test_submit_io(&device, op, unit, units, 0, 0,
					aftl_device_time_ns(device.ftl)),
			 0);
		test_drain_requests_to_depth(&device, depth);
		if (!aftl_random_below(random, 50))
			set_queue_weights(model, random);
	}
	test_drain_requests(&device);
	CHECK_EQ(model->firsts + model->count, 0);
}

static void compare_write_order_with_model(u64 seed)
{
	struct write_watch watch = {
		.listener = { .submitted = add_submitted_write_to_model,
			      .accept = check_write_is_next_in_model },
	};
	struct aftl_random random = { aftl_hash64(seed) };

	test_device_init(&device, "demo");
	if (seed % 2)
		test_device_set_param_text(&device, "buffer", "128KiB");
	test_device_open(&device, "baseline", SHAPE);
	test_device_add_listener(&device, &watch.listener);
	fill_host_queues(AFTL_OP_WRITE, &watch.model, &random);
	CHECK(watch.model.most > 1);
	test_device_audit_and_close(&device);
}

TAP_TEST(writes_are_served_in_the_order_of_the_model)
{
	u64 seed;

	for (seed = 0; seed < SEEDS && !tap_failure_count(); seed++)
		compare_write_order_with_model(seed);
}

/* Measure the throughput shares of tenants that each keep a queue depth constant. */

/**
 * struct tenants - users of a device, each with a queue
 * @depth: queue depth of each tenant; 0: unused
 * @done: completed requests of each
 * @op: type of all requests
 * @left: remaining requests
 */
struct tenants {
	struct test_listener listener;
	u32 depth[AFTL_QUEUES_MAX];
	u32 done[AFTL_QUEUES_MAX];
	enum aftl_op op;
	u32 left;
	struct aftl_random random;
};

static void submit_request_of_tenant(struct tenants *tenants, u32 queue)
{
	u32 unit = aftl_random_below(&tenants->random, test_unit_count(&device));

	device.queue = (u8)queue;
	CHECK_EQ(test_submit_io(&device, tenants->op, unit, 1, 0, 0,
				aftl_device_time_ns(device.ftl)),
		 0);
}

static void submit_next_request_of_tenant(struct test_listener *self, struct test_request *request)
{
	struct tenants *tenants = container_of(self, struct tenants, listener);

	if (!tenants->left)
		return;
	tenants->done[request->request.queue]++;
	tenants->left--;
	submit_request_of_tenant(tenants, request->request.queue);
}

static void run_requests_of_tenants(struct tenants *tenants, const char *weights, enum aftl_op op)
{
	u32 queue;
	u32 i;

	tenants->listener.complete = submit_next_request_of_tenant;
	tenants->op = op;
	tenants->left = 8000;
	tenants->random.state = 5;
	test_device_init(&device, "demo");
	test_device_set_param_text(&device, "queue_weights", weights);
	test_device_open(&device, "baseline", SHAPE);
	test_device_add_listener(&device, &tenants->listener);
	for (queue = 0; queue < AFTL_QUEUES_MAX; queue++)
		for (i = 0; i < tenants->depth[queue]; i++)
			submit_request_of_tenant(tenants, queue);
	test_device_audit_and_close(&device);
}

static void check_request_counts_of_tenants(const char *weights, enum aftl_op op, u32 first,
					    u32 second, u32 third)
{
	struct tenants tenants = { .depth = { 64, 64, 64 } };

	run_requests_of_tenants(&tenants, weights, op);
	CHECK_RANGE(tenants.done[0], first - 60, first + 60);
	CHECK_RANGE(tenants.done[1], second - 60, second + 60);
	CHECK_RANGE(tenants.done[2], third - 60, third + 60);
}

TAP_TEST(completed_requests_are_in_proportion_to_weights)
{
	check_request_counts_of_tenants("5:2:1", AFTL_OP_READ, 5000, 2000, 1000);
	check_request_counts_of_tenants("5:2:1", AFTL_OP_WRITE, 5000, 2000, 1000);
	/* A queue without a weight gets weight 1. */
	check_request_counts_of_tenants("2:1", AFTL_OP_READ, 4000, 2000, 2000);
	check_request_counts_of_tenants("1:1:1", AFTL_OP_WRITE, 2667, 2667, 2667);
}

/* A shallow queue gets its share, and no command is kept free for a queue with a large weight. */
TAP_TEST(a_shallow_queue_still_gets_its_share)
{
	struct tenants with = { .depth = { 1, 100 } };
	struct tenants without = { .depth = { 1, 100 } };
	struct tenants alone = { .depth = { 0, 100 } };

	run_requests_of_tenants(&with, "1:1", AFTL_OP_READ);
	run_requests_of_tenants(&without, "0", AFTL_OP_READ);
	/*
	 * With host queues a tenant's request waits for the commands in progress; without host
	 * queues it waits for all earlier requests.
	 */
	CHECK_RANGE(with.done[0], 8000 / (DEPTH + 2), 8000 / DEPTH);
	CHECK_RANGE(without.done[0], 8000 / 102, 8000 / 99);
	run_requests_of_tenants(&alone, "9:1", AFTL_OP_READ);
	CHECK_EQ(alone.done[1], 8000);
}

/* Total time */

static u64 measure_total_ns_with_host_queues(const char *weights, u32 at_once, u32 queues)
{
	struct aftl_random random = { 77 };
	u64 now_ns;
	u32 i;

	test_device_init(&device, "demo");
	test_device_set_param_text(&device, "queue_weights", weights);
	test_device_open(&device, "baseline", SHAPE);
	for (i = 0; i < 2000; i++) {
		device.queue = (u8)(i % queues);
		CHECK_EQ(test_submit_io(&device,
					aftl_random_below(&random, 2) ? AFTL_OP_READ :
									AFTL_OP_WRITE,
					aftl_random_below(&random, test_unit_count(&device)), 1, 0,
					0, aftl_device_time_ns(device.ftl)),
			 0);
		test_drain_requests_to_depth(&device, at_once);
	}
	test_drain_requests(&device);
	now_ns = aftl_device_time_ns(device.ftl) ^ aftl_compute_device_digest(device.ftl);
	return now_ns;
}

TAP_TEST(weights_have_no_effect_while_commands_suffice)
{
	u64 few = measure_total_ns_with_host_queues("0", 8, 1);
	u64 many = measure_total_ns_with_host_queues("0", 100, 1);

	CHECK_EQ(measure_total_ns_with_host_queues("7", 100, 4), many);
	CHECK_EQ(measure_total_ns_with_host_queues("3:1", 8, 4), few);
	CHECK_EQ(measure_total_ns_with_host_queues("3:1:5", 100, 1), many);
	CHECK(measure_total_ns_with_host_queues("3:1", 100, 2) != many);
}

/* Requests of several queues must not be lost when queues are switched off. */
TAP_TEST(requests_survive_a_change_to_a_single_queue)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", SHAPE " queue_weights=1:200");
	for (i = 0; i < 400; i++) {
		device.queue = (u8)(i % 2);
		CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, i, 1, 0, 0,
					aftl_device_time_ns(device.ftl)),
			 0);
		if (i == 200)
			CHECK_EQ(aftl_set_param(device.ftl, "queue_weights", "0", &device.error),
				 0);
	}
	test_drain_requests(&device);
	CHECK_EQ(device.completed, 400);
	CHECK_EQ(device.failed, 0);
}
