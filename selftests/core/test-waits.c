// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of waits: the times that a request waited for each reason add up to its waiting time,
 * each reason is right, and the callback waits() of a host does not change the device.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "stream.h"
#include "tap.h"

#define SEEDS 300
#define REQUESTS 400
#define ERASE_NS 10000000

static struct test_device device;
static u64 seen[AFTL_WAITS];

static u64 sum_wait_times_of_request(const struct aftl_waits *waits)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < AFTL_WAITS; i++)
		sum += waits->ns[i];
	return sum;
}

static void check_sum_of_request_waits(struct test_listener *self, struct test_request *request)
{
	const struct aftl_request *done = &request->request;
	u64 response_ns = done->complete_ns - done->arrival_ns;
	u32 i;

	(void)self;
	if (!device.ops.waits)
		return;
	CHECK_MSG(sum_wait_times_of_request(&request->waits) ==
			  response_ns - min(response_ns, done->service_ns),
		  "op %u: the reasons are %llu ns, the response is %llu ns, the service %llu ns",
		  done->op, (unsigned long long)sum_wait_times_of_request(&request->waits),
		  (unsigned long long)response_ns, (unsigned long long)done->service_ns);
	if (done->op <= AFTL_OP_FLUSH)
		CHECK_EQ(request->waits.ns[AFTL_WAIT_OTHER], 0);
	for (i = 0; i < AFTL_WAITS; i++)
		seen[i] += request->waits.ns[i];
}

static struct test_listener listener = { .complete = check_sum_of_request_waits };

/* Run random requests on a random device; return its digest, or 0 if the policy refuses it. */
static u64 run_random_device_for_digest(u64 seed, bool with_waits)
{
	struct aftl_random random = { aftl_hash64(seed) };
	const char *policy = test_draw_policy(false, &random);
	struct test_stream stream;
	u64 digest = 0;
	u32 i;

	test_device_init(&device, "demo");
	device.ops.waits = with_waits ? test_waits : NULL;
	test_randomize_geometry(&device, &random);
	test_randomize_options(&device, &random);
	if (seed % 3 == 0) {
		device.config.blocks = 128;
		device.config.map_cache = 8 * device.config.page;
	}
	if (!test_device_create(&device, policy)) {
		test_device_add_listener(&device, &listener);
		test_stream_init(&stream, seed);
		stream.partial = 10;
		stream.depth = aftl_random_below(&random, 40);
		for (i = 0; i < REQUESTS && !tap_failure_count(); i++)
			test_stream_submit_request(&stream, &device);
		test_drain_requests(&device);
		digest = aftl_compute_device_digest(device.ftl);
	}
	test_device_close(&device);
	if (tap_failure_count())
		test_print_config(&device, policy, seed);
	return digest;
}

TAP_TEST(the_reasons_add_up_and_observing_changes_nothing)
{
	static const u8 rare[AFTL_WAITS] = { [AFTL_WAIT_OTHER] = 1, [AFTL_WAIT_PARITY] = 1,
					      [AFTL_WAIT_HELD] = 1 };
	u64 seed;
	u32 i;

	memset(seen, 0, sizeof(seen));
	for (seed = 1; seed <= SEEDS && !tap_failure_count(); seed++)
		CHECK_EQ(run_random_device_for_digest(seed, true),
			 run_random_device_for_digest(seed, false));
	for (i = 0; i < AFTL_WAITS; i++)
		CHECK_MSG(seen[i] || rare[i], "no request has waited for %s", aftl_wait_names[i]);
}

static void open_device_of_one_die(const char *pairs)
{
	static const char shape[] =
		"channels=1 chips=1 blocks=16 layers=2 word_lines=4 unit=0 op=30 errors=off "
		"erase=10ms";

	test_device_init(&device, "demo");
	device.ops.waits = test_waits;
	test_device_set_params(&device, shape);
	test_device_set_params(&device, pairs);
	if (test_device_create(&device, "baseline"))
		tap_bail_out("no such device: %s", device.error.text);
	test_device_add_listener(&device, &listener);
	test_write_each_unit(&device, 0, test_unit_count(&device), AFTL_PRECISE);
	test_write_each_unit(&device, 0, 8, AFTL_PRECISE);
}

static void advance_until_first_lun_enters_phase(u32 phase)
{
	while (device.ftl->luns->work.phase != phase &&
	       CHECK(aftl_next_event_ns(device.ftl) < AFTL_TIME_MAX))
		aftl_process_events_until(device.ftl, aftl_next_event_ns(device.ftl));
}

/* Send a request now, and check that it waits for @reason alone, for @ns. */
static void check_wait_reason(enum aftl_op op, u32 unit, enum aftl_wait reason, u64 ns)
{
	struct test_request *request = test_submit_kept(&device, op, unit, 1, AFTL_PRECISE, 0,
							aftl_device_time_ns(device.ftl));

	test_drain_requests(&device);
	CHECK(request->done);
	CHECK_EQ(request->waits.ns[reason], ns);
	CHECK_EQ(sum_wait_times_of_request(&request->waits), ns);
	test_release_request(&device, request);
}

TAP_TEST(a_read_behind_an_erase_of_10_ms_waits_for_the_erase)
{
	open_device_of_one_die("");
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	advance_until_first_lun_enters_phase(AFTL_PHASE_ERASE);
	aftl_process_events_until(device.ftl, aftl_device_time_ns(device.ftl) + ERASE_NS / 4);
	check_wait_reason(AFTL_OP_READ, 9, AFTL_WAIT_ERASE, ERASE_NS * 3ULL / 4);
}

TAP_TEST(a_read_that_suspends_a_program_waits_for_the_suspend)
{
	const struct aftl_work *work;

	open_device_of_one_die("suspend=both suspend_cost=30us");
	test_submit_io(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, 0,
		       aftl_device_time_ns(device.ftl));
	aftl_process_events_until(device.ftl, aftl_device_time_ns(device.ftl));
	work = &device.ftl->luns->work;
	CHECK_EQ(work->phase, AFTL_PHASE_PROGRAM);
	aftl_process_events_until(device.ftl, work->array_ns + 1000);
	check_wait_reason(AFTL_OP_READ, 9, AFTL_WAIT_SUSPEND, 30000);
}

/* A queue of weight 1 beside a busy queue of weight 200 waits, with the reason "other queues". */
TAP_TEST(a_starved_queue_waits_for_the_other_queues)
{
	struct test_request *request;
	u32 i;

	open_device_of_one_die("depth=16 queue_weights=1:200");
	device.queue = 1;
	for (i = 0; i < 50; i++)
		test_submit_io(&device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, 0,
			       aftl_device_time_ns(device.ftl));
	device.queue = 0;
	test_submit_io(&device, AFTL_OP_WRITE, 60, 1, AFTL_PRECISE, 0,
		       aftl_device_time_ns(device.ftl));
	request = test_submit_kept(&device, AFTL_OP_WRITE, 61, 1, AFTL_PRECISE, 0,
				   aftl_device_time_ns(device.ftl));
	device.queue = 1;
	for (i = 0; i < 30; i++)
		test_submit_io(&device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, 0,
			       aftl_device_time_ns(device.ftl));
	test_drain_requests(&device);
	CHECK(request->waits.ns[AFTL_WAIT_QUEUE] >
	      sum_wait_times_of_request(&request->waits) * 2 / 3);
	CHECK_EQ(request->waits.ns[AFTL_WAIT_OTHER], 0);
	test_release_request(&device, request);
}

int main(void)
{
	return tap_run_all();
}
