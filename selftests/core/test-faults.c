// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that a user places. A logical page that a fault made uncorrectable stays unreadable until
 * it is written or discarded, whatever happens to its block; no other page is unreadable. An armed
 * fault happens once, directly after its trigger, however late the host calls.
 */
#include <stdlib.h>

#include "core/ftl/run-queue.h"
#include "stream.h"
#include "tap.h"

#define UNITS 40
#define TAGS 65536

static const char small[] = "channels=2 chips=2 blocks=24 layers=4 word_lines=4 op=60";

static struct test_device device;
static struct test_stream stream;

/**
 * struct model - expected state of the device
 * @listener: sees the end of each fault
 * @failed: logical pages that a fault made uncorrectable
 * @programmed: logical pages that a host write has programmed
 * @newest: tag of the last write of each logical page, unless it was discarded since
 * @stored: by tag, the logical page that is being programmed, or U32_MAX
 * @counts: by trigger, host writes and reads
 */
static struct model {
	struct test_listener listener;
	bool *failed;
	bool *programmed;
	u32 *newest;
	u32 stored[TAGS];
	u64 counts[AFTL_FAULT_TIME];
} model;

static void record_accepted_unit_in_fault_model(struct test_listener *self,
						struct test_request *request, aftl_lpn_t lpn,
						u32 tag)
{
	model.failed[from_lpn(lpn)] = false;
	model.newest[from_lpn(lpn)] = tag;
	model.stored[tag % TAGS] = U32_MAX;
}

static void record_submitted_request_in_fault_model(struct test_listener *self,
						    struct test_request *request)
{
	u32 i;

	model.counts[AFTL_FAULT_WRITE] += request->request.op == AFTL_OP_WRITE;
	model.counts[AFTL_FAULT_READ] += request->request.op == AFTL_OP_READ;
	if (request->request.op == AFTL_OP_DISCARD || request->request.op == AFTL_OP_WRITE_ZEROES)
		for (i = 0; i < request->request.units; i++) {
			model.failed[request->request.unit + i] = false;
			model.newest[request->request.unit + i] = U32_MAX;
		}
}

static void record_unit_of_tag_in_fault_model(struct test_listener *self, u32 tag, aftl_lpn_t lpn,
					      aftl_ppn_t ppn)
{
	model.stored[tag % TAGS] = from_lpn(lpn);
}

static void record_programmed_unit_in_fault_model(struct test_listener *self, u32 tag)
{
	u32 unit = model.stored[tag % TAGS];

	if (unit != U32_MAX && model.newest[unit] == tag)
		model.programmed[unit] = true;
}

static void free_fault_model(struct test_listener *self)
{
	free(model.failed);
	free(model.programmed);
	free(model.newest);
}

static void start_fault_model(void)
{
	model = (struct model){
		.listener = { .accept = record_accepted_unit_in_fault_model,
			      .submitted = record_submitted_request_in_fault_model,
			      .program = record_unit_of_tag_in_fault_model,
			      .release = record_programmed_unit_in_fault_model,
			      .close = free_fault_model },
		.failed = tap_zalloc(test_unit_count(&device), sizeof(bool)),
		.programmed = tap_zalloc(test_unit_count(&device), sizeof(bool)),
		.newest = tap_zalloc(test_unit_count(&device), sizeof(u32)),
	};
	test_device_add_listener(&device, &model.listener);
}

static void open_device(const char *policy, const char *params)
{
	test_open_demo_profile(&device, policy, params);
	test_stream_init(&stream, 5);
	start_fault_model();
}

/* Let faults fail random units of the device; return the number of these units. */
static u32 make_random_units_uncorrectable(struct aftl_random *random)
{
	u32 failed = 0;
	u32 i;

	for (i = 0; i < UNITS; i++) {
		u32 unit = aftl_random_below(random, test_unit_count(&device));
		int ret;

		test_begin_host_call(&device);
		ret = aftl_fail_unit(device.ftl, to_lpn(unit));
		test_end_host_call(&device);
		CHECK(!ret || ret == -ENODATA);
		model.failed[unit] |= !ret;
		failed += !ret;
	}
	return failed;
}

static void check_units_against_model(void)
{
	u32 failed = 0;
	u32 unit;

	test_drain_requests(&device);
	for (unit = 0; unit < test_unit_count(&device) && !tap_failure_count(); unit++) {
		CHECK_EQ(aftl_lpn_is_unreadable(device.ftl, to_lpn(unit)), model.failed[unit]);
		CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, 0, NULL),
			 model.failed[unit] ? -EIO : 0);
		failed += model.failed[unit];
	}
	CHECK_EQ(aftl_count_lost_units(device.ftl), failed);
	test_audit_device(&device);
}

static void run_requests_with_failed_units(const char *policy, const char *params)
{
	struct aftl_random random = { 9 };
	u32 i;

	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	check_units_against_model();
	CHECK_RANGE(make_random_units_uncorrectable(&random), UNITS / 2, UNITS);
	check_units_against_model();
	for (i = 0; i < 4 && !tap_failure_count(); i++) {
		test_stream_submit_requests(&stream, &device, 400);
		make_random_units_uncorrectable(&random);
		check_units_against_model();
	}
	CHECK(test_counters(&device)->gc_blocks);
	CHECK_EQ(test_device_reload(&device), 0);
	check_units_against_model();
}

TAP_TEST(a_unit_that_is_not_on_flash_cannot_fail)
{
	open_device("baseline", "blocks=8 op=60 buffer=1MiB buffer_hold=0 fill=none");
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(test_unit_count(&device))), -EINVAL);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), -ENODATA);
	test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
	test_flush_writes(&device);
	test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), -ENODATA);
	test_flush_writes(&device);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, 0, NULL), -EIO);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), 0);
	CHECK_EQ(aftl_count_lost_units(device.ftl), 1);
	/* A fault of a unit is refused while its newest version is in the buffer or discarded. */
	test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
	test_measure_io_ns(&device, AFTL_OP_READ, 0, 1, AFTL_PRECISE);
	test_measure_io_ns(&device, AFTL_OP_DISCARD, 0, 1, AFTL_PRECISE);
	test_flush_writes(&device);
	CHECK_EQ(aftl_count_lost_units(device.ftl), 0);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), -ENODATA);
	test_measure_io_ns(&device, AFTL_OP_READ, 0, 1, AFTL_PRECISE);
}

/* Armed faults */

static int parse_and_arm_fault(const char *text)
{
	char copy[80];
	char *rest = copy;
	char *words[8];
	struct aftl_fault fault;
	u32 count = 0;
	int ret;

	snprintf(copy, sizeof(copy), "%s", text);
	while (count < ARRAY_SIZE(words) && (words[count] = strsep(&rest, " ")))
		count++;
	ret = aftl_fault_parse(&fault, words, count, &device.error);
	return ret ? ret : aftl_arm_fault(device.ftl, &fault, &device.error);
}

static const struct aftl_fault *fault_at(u32 index)
{
	const struct aftl_fault *all;

	CHECK(index < aftl_get_faults(device.ftl, &all));
	return &all[index];
}

static void check_fault_refused(const char *text, const char *part)
{
	CHECK_MSG(parse_and_arm_fault(text) && strstr(device.error.text, part), "%s: %s", text,
		  device.error.text);
}

TAP_TEST(malformed_faults_are_refused)
{
	u32 i;

	open_device("baseline", small);
	check_fault_refused("unit", "a fault is \"ACTION NUMBER\"");
	check_fault_refused("unit 5 before write 3", "a fault is \"ACTION NUMBER\"");
	check_fault_refused("unit 5 after write", "a fault is \"ACTION NUMBER\"");
	check_fault_refused("disk 0", "\"disk\" is not a fault");
	check_fault_refused("unit 5 after flush 3", "\"flush\" is not a trigger");
	check_fault_refused("unit five", "five");
	check_fault_refused("unit -1", "-1");
	check_fault_refused("age 5 after write 1", "not a duration");
	check_fault_refused("unit 5 after time 3", "not a duration");
	check_fault_refused("unit 4294967296", "\"4294967296\" is not a unit");
	check_fault_refused("block 96 after write 3", "\"96\" is not a block; there are 0 to 95");
	check_fault_refused("die 4 after write 3", "\"4\" is not a die; there are 0 to 3");
	check_fault_refused("die 3 after program 999999", "\"999999\" is not a unit");
	check_fault_refused("unit 5 after write 0", "write 0 does not come any more");
	check_fault_refused("unit 0", "unit 0 is not on flash");
	CHECK_EQ(parse_and_arm_fault("unit 5 after write 3"), 0);
	for (i = 0; i < 2; i++)
		test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
	check_fault_refused("unit 5 after write 2", "is at 2; take a later one");
	for (i = 1; i < AFTL_FAULTS_MAX; i++)
		CHECK_EQ(parse_and_arm_fault("age 1h after write 3"), 0);
	check_fault_refused("age 1h after write 3", "has room for no more; clear it first");
	aftl_clear_faults(device.ftl);
	CHECK_EQ(parse_and_arm_fault("unit 5 after write 1"), 0);
	CHECK_EQ(parse_and_arm_fault("unit 0 after write 1"), 0);
	test_measure_io_ns(&device, AFTL_OP_WRITE, 5, 1, AFTL_PRECISE);
	CHECK_EQ(fault_at(0)->state, AFTL_FAULT_VOID);
	CHECK_EQ(fault_at(1)->state, AFTL_FAULT_HAPPENED);
}

/* A fault happens directly after its trigger, and affects the request that comes next. */
TAP_TEST(a_fault_happens_directly_after_its_trigger)
{
	u64 now_ns;

	open_device("baseline", small);
	test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 8, AFTL_PRECISE);
	CHECK_EQ(parse_and_arm_fault("unit 1 after read 2"), 0);
	CHECK_EQ(parse_and_arm_fault("unit 2 after write 1"), 0);
	CHECK_EQ(parse_and_arm_fault("unit 3 after time 1s"), 0);
	CHECK_EQ(parse_and_arm_fault("unit 4 after program 4"), 0);
	now_ns = aftl_device_time_ns(device.ftl);
	test_measure_io_ns(&device, AFTL_OP_READ, 1, 1, AFTL_PRECISE);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 1, 1, 0, NULL), -EIO);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 2, 1, 0, NULL), 0);
	test_measure_io_ns(&device, AFTL_OP_WRITE, 4, 1, AFTL_PRECISE);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 2, 1, 0, NULL), -EIO);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 4, 1, 0, NULL), -EIO);
	test_advance_clock_to(&device, now_ns + 999999999);
	CHECK_EQ(aftl_count_lost_units(device.ftl), 3);
	test_advance_clock_to(&device, now_ns + 1000000000);
	CHECK_EQ(aftl_count_lost_units(device.ftl), 4);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 3, 1, 0, NULL), -EIO);
	/* A write makes lost logical pages readable; a fault that has happened does not recur. */
	test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 8, AFTL_PRECISE);
	test_advance_clock_by(&device, 2000000000);
	CHECK_EQ(aftl_count_lost_units(device.ftl), 0);
}

static bool is_read_on_fast_path(void)
{
	u32 before = device.fast_reads;

	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, 0, NULL), 0);
	return device.fast_reads != before;
}

/* A past fault stays in the fault list; a fault armed later counts its triggers from zero. */
TAP_TEST(faults_that_happened_are_reported_and_cost_nothing)
{
	const struct aftl_fault *all;
	u32 i;

	open_device("baseline", small);
	device.alone = true;
	test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 8, AFTL_PRECISE);
	CHECK(is_read_on_fast_path());
	for (i = 0; i < AFTL_FAULTS_MAX + 3; i++) {
		CHECK_EQ(parse_and_arm_fault(i ? "age 1h after write 1" : "unit 1 after write 1"),
			 0);
		CHECK(!is_read_on_fast_path());
		test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
		test_drain_requests(&device);
		CHECK(is_read_on_fast_path());
		CHECK_EQ(aftl_get_faults(device.ftl, &all), min(i + 1, (u32)AFTL_FAULTS_MAX));
		CHECK(all[min(i, AFTL_FAULTS_MAX - 1U)].when_ns <= aftl_device_time_ns(device.ftl));
		CHECK(all[0].when_ns > 0);
		CHECK(!i || all[0].when_ns < all[1].when_ns);
		CHECK_EQ(all[0].action,
			 i < AFTL_FAULTS_MAX ? AFTL_FAULT_UNIT : AFTL_FAULT_AGE);
		CHECK_EQ(all[min(i, AFTL_FAULTS_MAX - 1U)].state, AFTL_FAULT_HAPPENED);
	}
}

TAP_TEST(the_program_of_an_overwritten_unit_triggers_nothing)
{
	open_device("baseline", small);
	CHECK_EQ(parse_and_arm_fault("unit 0 after program 0"), 0);
	CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, 0,
				aftl_device_time_ns(device.ftl)),
		 0);
	test_advance_clock_by(&device, 300000);
	CHECK(from_ppn(test_lookup(&device, 0)) != from_ppn(AFTL_NO_PPN));
	CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, 0,
				aftl_device_time_ns(device.ftl)),
		 0);
	test_drain_requests(&device);
	aftl_process_events_until(device.ftl, aftl_device_time_ns(device.ftl));
	CHECK_EQ(fault_at(0)->state, AFTL_FAULT_HAPPENED);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, 0, NULL), -EIO);
}

/* At the end of its life the device relocates data of failing blocks, then refuses all writes. */
static void check_end_of_device_life(const char *policy, const char *params)
{
	const struct aftl_fault *all;
	u32 retired;

	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	test_stream_submit_requests(&stream, &device, 400);
	test_drain_requests(&device);
	CHECK_EQ(parse_and_arm_fault("life end after write 1"), 0);
	CHECK_EQ(parse_and_arm_fault("life end"), 0);
	CHECK(!aftl_is_read_only(device.ftl));
	retired = (u32)test_counters(&device)->retired_blocks;
	test_execute_request(&device, AFTL_OP_WRITE, 0, 1, 0, NULL);
	test_advance_clock_by(&device, 20000000000);
	CHECK(aftl_is_read_only(device.ftl));
	CHECK(test_counters(&device)->retired_blocks > retired);
	CHECK_EQ(aftl_get_faults(device.ftl, &all), 2);
	CHECK_EQ(all[0].state, AFTL_FAULT_HAPPENED);
	CHECK_EQ(all[1].state, AFTL_FAULT_HAPPENED);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 1, 0, NULL), -ENOSPC);
	check_units_against_model();
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK(aftl_is_read_only(device.ftl));
	check_units_against_model();
}

TAP_TEST(worn_blocks_are_retired_when_they_are_erased)
{
	const struct aftl_media *media;
	u32 i;

	open_device("baseline", test_format_params("%s endurance=3000", small));
	test_stream_write_all_units(&stream, &device);
	test_stream_submit_requests(&stream, &device, 2000);
	test_drain_requests(&device);
	CHECK_EQ(test_counters(&device)->retired_blocks, 0);
	CHECK_EQ(parse_and_arm_fault("wear 2999 after write 1"), 0);
	CHECK_EQ(parse_and_arm_fault("wear 2000 after write 2"), 0);
	test_stream_submit_requests(&stream, &device, 9);
	CHECK_EQ(test_counters(&device)->retired_blocks, 0);
	media = aftl_media(device.ftl);
	for (i = 0; i < media->geo->blocks; i++)
		CHECK_RANGE(media->blocks[i].wear, 29990000, 29999999 + 10000);
	test_stream_submit_requests(&stream, &device, 4000);
	CHECK(test_counters(&device)->retired_blocks > 0);
	check_fault_refused("wear 429496", "there are 0 to 429495");
	test_audit_device(&device);
}

TAP_TEST(many_blocks_are_worn_in_bounded_steps)
{
	const struct aftl_media *media;
	const struct aftl_fault *all;
	u32 work;
	u32 i;

	open_device("baseline", "channels=2 chips=2 blocks=2500 layers=1 word_lines=1 op=60");
	media = aftl_media(device.ftl);
	CHECK_RANGE(media->geo->blocks, 2 * AFTL_WEAR_BLOCKS + 1, 3 * AFTL_WEAR_BLOCKS);
	work = aftl_get_amount_of_work_done(device.ftl);
	CHECK_EQ(parse_and_arm_fault("wear 7"), 0);
	CHECK_EQ(media->blocks[0].wear, 0);
	test_advance_clock_by(&device, 1);
	CHECK(aftl_get_amount_of_work_done(device.ftl) - work >= 3 * AFTL_SLICE_WORK);
	CHECK_EQ(aftl_get_faults(device.ftl, &all), 1);
	CHECK_EQ(all[0].state, AFTL_FAULT_HAPPENED);
	for (i = 0; i < media->geo->blocks; i++)
		CHECK_EQ(media->blocks[i].wear, 7 * AFTL_FULL_WEAR);
}

/* A wear fault without a trigger is due at once; a large device ages some blocks per event. */
TAP_TEST(a_cleared_list_finishes_a_fault_that_is_due)
{
	const struct aftl_media *media;
	const struct aftl_fault *all;
	u32 i;

	open_device("baseline", "channels=2 chips=2 blocks=2500 layers=1 word_lines=1 op=60");
	media = aftl_media(device.ftl);
	CHECK_EQ(parse_and_arm_fault("unit 1 after program 1"), 0);
	CHECK_EQ(parse_and_arm_fault("wear 7"), 0);
	CHECK_EQ(parse_and_arm_fault("wear 9 after time 1h"), 0);
	aftl_clear_faults(device.ftl);
	CHECK_EQ(aftl_get_faults(device.ftl, &all), 1);
	CHECK_EQ(all[0].state, AFTL_FAULT_DUE);
	test_advance_clock_by(&device, 1);
	for (i = 0; i < media->geo->blocks; i++)
		CHECK_EQ(media->blocks[i].wear, 7 * AFTL_FULL_WEAR);
	CHECK_EQ(fault_at(0)->state, AFTL_FAULT_HAPPENED);
	aftl_clear_faults(device.ftl);
	CHECK_EQ(aftl_get_faults(device.ftl, &all), 0);
	/* A fault armed after the fault list was cleared counts writes from its arming on. */
	CHECK_EQ(parse_and_arm_fault("unit 1 after write 2"), 0);
	test_measure_io_ns(&device, AFTL_OP_WRITE, 0, 8, AFTL_PRECISE);
	CHECK_EQ(aftl_count_lost_units(device.ftl), 0);
	test_measure_io_ns(&device, AFTL_OP_WRITE, 8, 8, AFTL_PRECISE);
	CHECK_EQ(aftl_count_lost_units(device.ftl), 1);
}

TAP_TEST(faults_that_a_device_cannot_have_are_refused)
{
	open_device("baseline", small);
	check_fault_refused("life 3", "the fault life takes the word end, not \"3\"");
	check_fault_refused("power end", "the fault power takes the word cut");
	check_fault_refused("power cut after write 5", "power is cut from durable devices");
	open_device("baseline", "blocks=96 zoned=4MiB buffer=4MiB buffer_safe=on");
	check_fault_refused("life end", "a zoned device has no end of life");
}

#define FAULTS 40

/* Arm random faults; a fault of a unit has no time trigger, which the model could not order. */
static void arm_random_faults(struct aftl_random *random)
{
	const struct aftl_geometry *geo = aftl_geometry(device.ftl);
	struct aftl_fault fault;
	u32 i;

	for (i = 0; i < FAULTS; i++) {
		fault.trigger = (u8)aftl_random_below(random, AFTL_FAULT_NOW);
		fault.action = (u8)(i ? aftl_random_below(random, 2) : AFTL_FAULT_DIE);
		if (fault.trigger == AFTL_FAULT_TIME)
			fault.action = aftl_random_below(random, 2) ? AFTL_FAULT_BLOCK :
								     AFTL_FAULT_AGE;
		fault.after = 1 + aftl_random_below(random, fault.trigger == AFTL_FAULT_TIME ?
						    100000000 : min(300U, geo->units - 1));
		fault.number = aftl_random_below(random, fault.action == AFTL_FAULT_UNIT ?
						 geo->units : geo->luns);
		CHECK_MSG(!aftl_arm_fault(device.ftl, &fault, &device.error), "%s",
			  device.error.text);
	}
}

static bool is_fault_trigger_reached(const struct aftl_fault *fault, u64 since_ns)
{
	if (fault->trigger == AFTL_FAULT_TIME)
		return aftl_device_time_ns(device.ftl) - since_ns >= fault->after;
	if (fault->trigger == AFTL_FAULT_PROGRAM)
		return model.programmed[fault->after];
	return model.counts[fault->trigger] >= fault->after;
}

static void check_fault_states(u64 since_ns, u8 *states)
{
	u32 i;

	aftl_process_events_until(device.ftl, aftl_device_time_ns(device.ftl));
	for (i = 0; i < FAULTS; i++) {
		const struct aftl_fault *fault = fault_at(i);

		CHECK(fault->state != AFTL_FAULT_DUE);
		CHECK_MSG((fault->state != AFTL_FAULT_PENDING) ==
				  is_fault_trigger_reached(fault, since_ns),
			  "fault %u is %s", i, aftl_fault_states[fault->state]);
		CHECK(states[i] == AFTL_FAULT_PENDING || states[i] == fault->state);
		CHECK(fault->state != AFTL_FAULT_VOID || fault->action == AFTL_FAULT_UNIT);
		if (states[i] != fault->state && fault->state == AFTL_FAULT_HAPPENED &&
		    fault->action == AFTL_FAULT_UNIT)
			model.failed[fault->number] = true;
		states[i] = fault->state;
	}
}

/* Run random faults; return the final digest. The host advances time @steps times per request. */
static u64 run_random_faults(u64 seed, u32 steps)
{
	struct aftl_random random = { seed };
	u8 states[FAULTS] = { 0 };
	const char *policy;
	u64 since_ns;
	u32 i, j;

	test_device_init(&device, "demo");
	test_randomize_geometry(&device, &random);
	device.config.op = max_t(u64, device.config.op, 6000);
	device.config.buffer = seed % 2 ? 64 << 10 : 0;
	device.config.read_cache = seed % 3 ? 0 : 128 << 10;
	policy = test_draw_policy(true, &random);
	if (test_device_create(&device, policy))
		return 0;
	test_stream_init(&stream, seed);
	stream.depth = 1;
	stream.units_max = 4;
	start_fault_model();
	test_stream_submit_requests(&stream, &device, 60);
	test_drain_requests(&device);
	memset(model.programmed, 0, test_unit_count(&device));
	memset(model.counts, 0, sizeof(model.counts));
	since_ns = aftl_device_time_ns(device.ftl);
	arm_random_faults(&random);
	for (i = 0; i < 400 && !tap_failure_count(); i++) {
		if (!test_stream_submit_request(&stream, &device))
			break;
		for (j = 0; j < steps; j++)
			test_advance_clock_by(&device, 1000);
		test_advance_clock_by(&device, 100000 - steps * 1000);
		check_fault_states(since_ns, states);
	}
	test_audit_device(&device);
	return aftl_compute_device_digest(device.ftl);
}

TAP_TEST(each_fault_happens_once_on_random_devices)
{
	u32 ran = 0;
	u64 seed;

	for (seed = 1; seed < 60 && !tap_failure_count(); seed++) {
		u64 digest = run_random_faults(seed, 0);

		ran += digest != 0;
		CHECK_EQ(run_random_faults(seed, 50), digest);
		if (tap_failure_count())
			tap_printf("seed %llu", (unsigned long long)seed);
	}
	CHECK_RANGE(ran, 20, 60);
}

int main(void)
{
	test_run_with_each_policy("failed units are lost until rewritten", small,
				  run_requests_with_failed_units);
	test_run_with_each_policy("failed units are lost, with caches and errors",
				  test_format_params("%s buffer=256KiB read_cache=1MiB "
						     "read_ahead=64KiB errors=on", small),
				  run_requests_with_failed_units);
	test_run_with_each_policy("failed units are lost, with parity",
				  test_format_params("%s rain=on", small),
				  run_requests_with_failed_units);
	test_run_with_each_policy("the device is read-only at the end of its life", small,
				  check_end_of_device_life);
	test_run_with_each_policy("the device is read-only at the end of its life, with parity",
				  test_format_params("%s rain=on", small),
				  check_end_of_device_life);
	return tap_run_all();
}
