// SPDX-License-Identifier: GPL-2.0-only
/*
 * Array events match the counters: each LUN executes one operation at a time, and operations take
 * the times that their events announce.
 */
#include <stdlib.h>

#include "stream.h"
#include "tap.h"

#define SEEDS 300
#define REQUESTS 400
#define LUNS_MAX 256

/**
 * struct array - state of a LUN as derived from array events
 * @free_ns: end of the current operation
 * @suspended_ns: remaining array time of the suspended operation
 * @parked: an operation is suspended
 * @block: block of the last operation
 * @parked_block: block of the suspended erase or program
 * @erase: the last operation was an erase
 * @parked_erase: the suspended operation is an erase
 * @yields: programs executed while the erase was suspended
 */
struct array {
	u64 free_ns;
	u64 suspended_ns;
	bool parked;
	u32 block;
	u32 parked_block;
	bool erase;
	bool parked_erase;
	u32 yields;
};

static struct test_device device;
static struct array arrays[LUNS_MAX];
static u64 counts[AFTL_ARRAY_RESUME + 1];
static u64 times[AFTL_ARRAY_RESUME + 1];

static void check_suspended_lun(struct array *array, const struct aftl_array_event *event)
{
	CHECK(!array->parked);
	CHECK_MSG(array->free_ns > event->begin_ns, "LUN %u: nothing to suspend", event->lun);
	CHECK_EQ(event->array_ns, array->free_ns - event->begin_ns +
		 aftl_config(device.ftl)->suspend_cost);
	array->parked = true;
	array->parked_block = event->block;
	array->parked_erase = array->erase;
	CHECK_EQ(array->block, event->block);
	array->suspended_ns = event->array_ns;
	array->free_ns = event->begin_ns + aftl_config(device.ftl)->suspend_cost;
}

static u64 instead;

/* Only host programs to other blocks may run while an erase is suspended. */
static void check_program_during_suspend(struct array *array, const struct aftl_array_event *event)
{
	const struct aftl_config *config = aftl_config(device.ftl);

	instead++;
	CHECK(config->suspend_for_write && array->parked_erase);
	CHECK(event->op == AFTL_ARRAY_PROGRAM && event->cause == AFTL_CAUSE_HOST);
	CHECK(event->block != array->parked_block);
	CHECK(++array->yields <= config->suspend_limit);
}

static void check_operation_begin(struct array *array, const struct aftl_array_event *event)
{
	CHECK_MSG(event->begin_ns >= array->free_ns, "LUN %u begins before it has ended",
		  event->lun);
	if (event->op == AFTL_ARRAY_RESUME) {
		CHECK(array->parked);
		CHECK_EQ(event->array_ns, array->suspended_ns);
		array->parked = false;
	}
	array->free_ns = event->begin_ns + event->array_ns;
	array->block = event->block;
	array->erase = event->op == AFTL_ARRAY_ERASE ||
		       (event->op == AFTL_ARRAY_RESUME && array->parked_erase);
	if (event->op == AFTL_ARRAY_ERASE)
		array->yields = 0;
	if (array->parked && event->op != AFTL_ARRAY_READ)
		check_program_during_suspend(array, event);
}

static void check_array_event(void *host, const struct aftl_array_event *event)
{
	const struct aftl_geometry *geo = aftl_geometry(device.ftl);
	struct array *array = &arrays[event->lun % LUNS_MAX];

	CHECK(host == &device);
	test_record_array_event(host, event);
	CHECK(event->op <= AFTL_ARRAY_RESUME && event->lun < geo->luns);
	CHECK_EQ(event->block / geo->blocks_per_lun, event->lun);
	CHECK(event->pages && event->page + event->pages <= geo->pages);
	CHECK(event->begin_ns >= aftl_device_time_ns(device.ftl) ||
	      (event->op == AFTL_ARRAY_READ && aftl_config(device.ftl)->cache_commands));
	CHECK(event->mode < AFTL_MODES && event->cause < AFTL_CAUSES);
	counts[event->op]++;
	times[event->op] += event->array_ns;
	if (event->op == AFTL_ARRAY_SUSPEND)
		check_suspended_lun(array, event);
	else
		check_operation_begin(array, event);
}

static void check_event_sums_equal_counters(void)
{
	const struct aftl_counters *counters = test_counters(&device);

	CHECK_EQ(counts[AFTL_ARRAY_READ], counters->array_reads);
	CHECK_EQ(times[AFTL_ARRAY_READ], counters->array_read_ns);
	CHECK_EQ(counts[AFTL_ARRAY_PROGRAM], counters->array_programs);
	CHECK_EQ(times[AFTL_ARRAY_PROGRAM], counters->array_program_ns);
	CHECK_EQ(counts[AFTL_ARRAY_ERASE], counters->array_erases);
	CHECK_EQ(times[AFTL_ARRAY_ERASE], counters->array_erase_ns);
	CHECK_EQ(counts[AFTL_ARRAY_SUSPEND], counters->array_suspends);
	CHECK_EQ(counts[AFTL_ARRAY_RESUME], counters->array_suspends);
	CHECK_EQ(counters->array_suspend_ns,
		 counters->array_suspends * 2 * aftl_config(device.ftl)->suspend_cost);
}

static void submit_random_requests_and_drain(struct aftl_random *random)
{
	struct test_stream stream;

	memset(arrays, 0, sizeof(arrays));
	memset(counts, 0, sizeof(counts));
	memset(times, 0, sizeof(times));
	test_stream_init(&stream, aftl_random_next(random));
	test_stream_submit_requests(&stream, &device, REQUESTS);
	test_drain_requests(&device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	test_advance_clock_by(&device, 10000000000ULL);
	check_event_sums_equal_counters();
}

static void check_array_events_with_seed(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed) };
	const char *policy = test_draw_policy(false, &random);

	test_device_init(&device, "demo");
	device.ops.array = check_array_event;
	test_randomize_geometry(&device, &random);
	test_randomize_options(&device, &random);
	if (!test_device_create(&device, policy))
		submit_random_requests_and_drain(&random);
	test_finish_device_or_print_config(&device, policy, seed);
}

TAP_TEST(array_events_of_random_devices_match_the_counters)
{
	u64 suspends = 0;
	u64 seed;

	for (seed = 1; seed <= SEEDS && !tap_failure_count(); seed++) {
		check_array_events_with_seed(seed);
		suspends += counts[AFTL_ARRAY_SUSPEND];
	}
	CHECK_MSG(tap_failure_count() || suspends > 100, "only %llu suspensions",
		  (unsigned long long)suspends);
	CHECK_MSG(tap_failure_count() || instead > 30, "only %llu programs instead of erases",
		  (unsigned long long)instead);
}

static u32 told_luns[LUNS_MAX];
static u64 told_ns[LUNS_MAX];
static u32 told;

static void record_event_lun(void *host, const struct aftl_array_event *event)
{
	if (told == LUNS_MAX)
		return;
	told_luns[told] = event->lun;
	told_ns[told++] = event->begin_ns;
}

/* LUNs on one bus begin their programs in the order in which they receive a request's data. */
TAP_TEST(luns_of_a_bus_start_in_the_order_of_their_data)
{
	u32 luns;
	u32 i;

	test_device_init(&device, "demo");
	test_device_set_param_text(&device, "channels", "1");
	test_device_set_param_text(&device, "chips", "4");
	device.ops.array = record_event_lun;
	CHECK_EQ(test_device_create(&device, "baseline"), 0);
	luns = aftl_geometry(device.ftl)->luns;
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 2 * luns, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(told, luns);
	for (i = 1; i < told; i++) {
		CHECK_EQ(told_luns[i], (told_luns[0] + i) % luns);
		CHECK(told_ns[i] > told_ns[i - 1]);
	}
}

TAP_SEED(check_array_events_with_seed)
