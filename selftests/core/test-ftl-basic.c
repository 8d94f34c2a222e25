// SPDX-License-Identifier: GPL-2.0-only
/*
 * Effect and duration of each request, computed by hand.
 *
 * Profile "demo" has pages of 8 KiB, units of 4 KiB and a bus of 400 MB/s: a unit takes 10.24 us to
 * transfer, a page 20.48 us. Sensing takes 45 us, a program 700 us.
 */
#include "shadow-store.h"
#include "tap.h"

#define UNIT_NS 10240
#define PAGE_NS 20480
#define SENSE_NS 45000
#define PROGRAM_NS 700000
#define WRITE_NS (PAGE_NS + PROGRAM_NS)

#define ONE_DIE "channels=1 chips=1"

static struct test_device device;

static void open_device(const char *profile, const char *policy, const char *params)
{
	test_device_init(&device, profile);
	test_device_open(&device, policy, params);
}

static u64 measure_request_latency(enum aftl_op op, u32 unit, u32 units, u32 class)
{
	return test_measure_io_ns(&device, op, unit, units, class);
}

static u64 measure_write_ns(u32 unit, u32 units)
{
	return measure_request_latency(AFTL_OP_WRITE, unit, units, AFTL_PRECISE);
}

static u64 measure_unit_reads_ns(u32 unit, u32 units)
{
	return measure_request_latency(AFTL_OP_READ, unit, units, AFTL_PRECISE);
}

TAP_TEST(single_requests_of_tcad18_take_the_computed_times)
{
	open_device("tcad18", "baseline", NULL);
	CHECK_EQ(measure_write_ns(0, 1), WRITE_NS);
	CHECK_EQ(measure_unit_reads_ns(0, 1), SENSE_NS + PAGE_NS);
	CHECK_EQ(measure_write_ns(test_unit_count(&device) - 1, 1), WRITE_NS);
	CHECK_EQ(measure_unit_reads_ns(test_unit_count(&device) - 1, 1), SENSE_NS + PAGE_NS);
	CHECK_EQ(measure_write_ns(0, 1), WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 3);
	CHECK_EQ(test_counters(&device)->array_reads, 2);
	CHECK_EQ(test_counters(&device)->array_program_ns, 3 * PROGRAM_NS);
	CHECK_EQ(test_counters(&device)->array_read_ns, 2 * SENSE_NS);
	CHECK_EQ(test_counters(&device)->bus_ns, 5 * PAGE_NS);
	/* At 3.3 V x 25 mA a program of 700 us takes 57.75 uJ, a read of 45 us 3.7125 uJ. */
	CHECK_EQ(test_counters(&device)->program_energy_pj, 3 * 57750000ULL);
	CHECK_EQ(test_counters(&device)->read_energy_pj, 2 * 3712500ULL);
}

/* On 8 buses with 4 dies each, pages on one bus wait for each other's transfer. */
TAP_TEST(large_requests_use_all_dies)
{
	open_device("tcad18", "baseline", NULL);
	CHECK_EQ(measure_write_ns(0, 8), WRITE_NS);
	CHECK_EQ(measure_write_ns(100, 16), WRITE_NS + PAGE_NS);
	CHECK_EQ(measure_write_ns(200, 32), WRITE_NS + 3 * PAGE_NS);
	CHECK_EQ(measure_write_ns(300, 64), 2 * WRITE_NS + 3 * PAGE_NS);
	CHECK_EQ(measure_unit_reads_ns(0, 8), SENSE_NS + PAGE_NS);
	CHECK_EQ(measure_unit_reads_ns(200, 32), SENSE_NS + 4 * PAGE_NS);
}

TAP_TEST(two_units_share_a_flash_page)
{
	open_device("demo", "baseline", NULL);
	CHECK_EQ(measure_write_ns(0, 2), WRITE_NS);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
	CHECK_EQ(measure_unit_reads_ns(0, 1), SENSE_NS + UNIT_NS);
	CHECK_EQ(measure_unit_reads_ns(1, 1), SENSE_NS + UNIT_NS);
	CHECK_EQ(measure_unit_reads_ns(0, 2), SENSE_NS + PAGE_NS);
	CHECK_EQ(test_counters(&device)->array_reads, 3);
	/* A write of a single unit takes a whole page, which is padded. */
	CHECK_EQ(measure_write_ns(7, 1), WRITE_NS);
	CHECK_EQ(test_counters(&device)->padded_units, 1);
	CHECK_EQ(test_counters(&device)->array_programs, 2);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 3);
}

TAP_TEST(reads_of_unmapped_units_take_no_time)
{
	open_device("demo", "baseline", NULL);
	CHECK_EQ(measure_unit_reads_ns(0, 1), 0);
	CHECK_EQ(measure_unit_reads_ns(5, 64), 0);
	CHECK_EQ(test_counters(&device)->unmapped_read_units, 65);
	CHECK_EQ(test_counters(&device)->array_reads, 0);
	CHECK_EQ(measure_write_ns(10, 1), WRITE_NS);
	CHECK_EQ(measure_unit_reads_ns(8, 4), SENSE_NS + UNIT_NS);
	CHECK_EQ(test_counters(&device)->unmapped_read_units, 68);
}

TAP_TEST(controller_and_ecc_times_are_added)
{
	open_device("demo", "vth_b", "controller=10us ecc=5us command=300ns " ONE_DIE);
	CHECK_EQ(measure_unit_reads_ns(0, 1), 10000);
	CHECK_EQ(measure_write_ns(0, 2), WRITE_NS + 300 + 10000);
	CHECK_EQ(measure_unit_reads_ns(0, 1), SENSE_NS + UNIT_NS + 300 + 10000 + 5000);
	CHECK_EQ(measure_request_latency(AFTL_OP_WRITE, 4, 2, AFTL_APPROX),
		 PAGE_NS + 437500 + 300 + 10000);
	/* Reads of approximate pages take no ECC time. */
	CHECK_EQ(measure_unit_reads_ns(4, 1), SENSE_NS + UNIT_NS + 300 + 10000);
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), 10000);
	CHECK_EQ(measure_request_latency(AFTL_OP_DISCARD, 0, 2, 0), 10000);
}

static void check_request_refused(enum aftl_op op, u32 unit, u32 units, u32 class)
{
	CHECK_MSG(test_submit_io(&device, op, unit, units, class, 0, 0) == -EINVAL,
		  "op %u, unit %u, %u units, class %u is taken", op, unit, units, class);
}

TAP_TEST(invalid_requests_are_refused)
{
	u32 units;
	u32 op;

	open_device("demo", "baseline", NULL);
	units = test_unit_count(&device);
	for (op = 0; op < AFTL_OPS; op++) {
		if (op == AFTL_OP_FLUSH)
			continue;
		check_request_refused(op, 0, 0, 0);
		check_request_refused(op, units, 1, 0);
		check_request_refused(op, units - 1, 2, 0);
		check_request_refused(op, 1, units, 0);
		check_request_refused(op, U32_MAX, 1, 0);
		check_request_refused(op, 1, U32_MAX, 0);
		check_request_refused(op, U32_MAX, U32_MAX, 0);
	}
	check_request_refused(AFTL_OP_FLUSH, 0, 1, 0);
	check_request_refused(AFTL_OPS, 0, 1, 0);
	check_request_refused(255, 0, 1, 0);
	check_request_refused(AFTL_OP_WRITE, 0, 1, AFTL_CLASSES);
	CHECK_EQ(aftl_pending_requests(device.ftl), 0);
	CHECK_EQ(measure_unit_reads_ns(0, units), 0);
}

static struct test_request *submit_timed_request(enum aftl_op op, u32 unit, u32 units)
{
	struct test_request *request = test_submit_kept(&device, op, unit, units, AFTL_PRECISE, 0,
							aftl_device_time_ns(device.ftl));

	if (!request)
		tap_bail_out("a good request is refused");
	return request;
}

static u64 await_request_latency_ns(struct test_request *request)
{
	u64 latency = 0;

	if (test_wait_for_request(&device, request)) {
		CHECK_EQ(request->request.status, 0);
		latency = request->request.complete_ns - request->request.arrival_ns;
		test_release_request(&device, request);
	}
	return latency;
}

TAP_TEST(first_come_is_first_served, "order=fcfs serves requests in order of arrival")
{
	struct test_request *first;
	struct test_request *second;
	struct test_request *read;
	struct test_request *third;

	open_device("demo", "baseline", ONE_DIE " order=fcfs");
	measure_write_ns(0, 2);
	first = submit_timed_request(AFTL_OP_WRITE, 10, 2);
	second = submit_timed_request(AFTL_OP_WRITE, 20, 2);
	read = submit_timed_request(AFTL_OP_READ, 0, 1);
	third = submit_timed_request(AFTL_OP_WRITE, 30, 2);
	CHECK_EQ(await_request_latency_ns(first), WRITE_NS);
	CHECK_EQ(await_request_latency_ns(second), 2 * WRITE_NS);
	CHECK_EQ(await_request_latency_ns(read), 2 * WRITE_NS + SENSE_NS + UNIT_NS);
	CHECK_EQ(await_request_latency_ns(third), 3 * WRITE_NS + SENSE_NS + UNIT_NS);
}

TAP_TEST(a_read_suspends_a_program)
{
	struct test_request *write;
	struct test_request *read;

	open_device("demo", "baseline", ONE_DIE " suspend=program");
	measure_write_ns(0, 2);
	write = submit_timed_request(AFTL_OP_WRITE, 10, 2);
	test_advance_clock_by(&device, 100000);
	read = submit_timed_request(AFTL_OP_READ, 0, 1);
	/* A suspended die takes 20 us to accept the read, and 20 us to resume the program. */
	CHECK_EQ(await_request_latency_ns(read), 20000 + SENSE_NS + UNIT_NS);
	CHECK_EQ(await_request_latency_ns(write), WRITE_NS + SENSE_NS + UNIT_NS + 40000);
	CHECK_EQ(test_counters(&device)->array_suspends, 1);
}

TAP_TEST(a_write_suspends_nothing)
{
	struct test_request *first;
	struct test_request *second;

	open_device("demo", "baseline", ONE_DIE " suspend=both");
	first = submit_timed_request(AFTL_OP_WRITE, 10, 2);
	test_advance_clock_by(&device, 100000);
	second = submit_timed_request(AFTL_OP_WRITE, 20, 2);
	CHECK_EQ(await_request_latency_ns(first), WRITE_NS);
	CHECK_EQ(await_request_latency_ns(second), 2 * WRITE_NS - 100000);
	CHECK_EQ(test_counters(&device)->array_suspends, 0);
}

TAP_TEST(a_program_is_suspended_at_most_suspend_limit_times)
{
	struct test_request *write;
	u64 step = 20000 + SENSE_NS + UNIT_NS;
	u32 i;

	open_device("demo", "baseline", ONE_DIE " suspend=both suspend_limit=3");
	measure_write_ns(0, 2);
	write = submit_timed_request(AFTL_OP_WRITE, 10, 2);
	test_advance_clock_by(&device, PAGE_NS);
	for (i = 0; i < 3; i++)
		CHECK_EQ(measure_unit_reads_ns(0, 1), step);
	/* Each of three reads suspends the program (20 us for the resume); a fourth read waits. */
	CHECK_EQ(measure_unit_reads_ns(0, 1), PROGRAM_NS + 3 * 20000 + SENSE_NS + UNIT_NS);
	CHECK_EQ(await_request_latency_ns(write), WRITE_NS + 3 * (step + 20000));
	CHECK_EQ(test_counters(&device)->array_suspends, 3);
}

TAP_TEST(a_suspended_program_resumes_after_suspend_reads_reads)
{
	struct test_request *reads[3];
	struct test_request *write;
	u64 write_ns = WRITE_NS + 40000 + 2 * (SENSE_NS + UNIT_NS);
	u32 i;

	open_device("demo", "baseline", ONE_DIE " suspend=both suspend_limit=1 suspend_reads=2");
	for (i = 0; i < 3; i++)
		measure_write_ns(2 * i, 2);
	write = submit_timed_request(AFTL_OP_WRITE, 10, 2);
	test_advance_clock_by(&device, 100000);
	for (i = 0; i < 3; i++)
		reads[i] = submit_timed_request(AFTL_OP_READ, 2 * i, 1);
	for (i = 0; i < 2; i++)
		CHECK_EQ(await_request_latency_ns(reads[i]),
			 20000 + (i + 1) * (SENSE_NS + UNIT_NS));
	CHECK_EQ(await_request_latency_ns(write), write_ns);
	CHECK_EQ(await_request_latency_ns(reads[2]), write_ns - 100000 + SENSE_NS + UNIT_NS);
}

#define HOUSEKEEPING ONE_DIE " blocks=16 op=50 housekeeping=5ms "

/* Overwrite 16 pages until a block has been erased, and let the device become idle. */
static void overwrite_pages_until_block_erase(void)
{
	u32 page;

	for (page = 0; !test_counters(&device)->array_erases; page = (page + 1) % 16)
		measure_write_ns(2 * page, 2);
	test_advance_clock_by(&device, 1000000000);
}

TAP_TEST(programs_of_host_data_wait_for_the_end_of_housekeeping)
{
	struct test_request *write;

	open_device("demo", "baseline", HOUSEKEEPING "housekeeping_every=9ms");
	CHECK_EQ(measure_write_ns(0, 2), WRITE_NS);
	overwrite_pages_until_block_erase();
	write = submit_timed_request(AFTL_OP_WRITE, 10, 2);
	test_advance_clock_by(&device, 1000000);
	CHECK_EQ(measure_unit_reads_ns(0, 1), SENSE_NS + UNIT_NS);
	CHECK_EQ(await_request_latency_ns(write), 5000000 + WRITE_NS);
	test_advance_clock_by(&device, 20000000);
	CHECK_EQ(measure_write_ns(10, 2), WRITE_NS);
}

TAP_TEST(housekeeping_every_passes_between_two_housekeepings)
{
	open_device("demo", "baseline", HOUSEKEEPING "housekeeping_every=900s");
	overwrite_pages_until_block_erase();
	CHECK_EQ(measure_write_ns(10, 2), WRITE_NS);
	test_advance_clock_by(&device, 900000000000ULL);
	CHECK_EQ(measure_write_ns(10, 2), 5000000 + WRITE_NS);
}

/* A read that arrives before or during an ISPP step is sensed after this step. */
TAP_TEST(a_program_is_suspended_at_a_step_boundary)
{
	static const u64 when[] = { 0, PAGE_NS, PAGE_NS + 1, PAGE_NS + 200000, PAGE_NS + 390000 };
	static const u64 until[] = { PAGE_NS, PAGE_NS, PAGE_NS + 200000, PAGE_NS + 200000,
				     PAGE_NS + 400000 };
	struct test_request *write;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(when); i++) {
		open_device("demo", "baseline", ONE_DIE " suspend=program suspend_step=200us");
		measure_write_ns(0, 2);
		write = submit_timed_request(AFTL_OP_WRITE, 10, 2);
		test_advance_clock_by(&device, when[i]);
		CHECK_EQ(measure_unit_reads_ns(0, 1),
			 until[i] - when[i] + 20000 + SENSE_NS + UNIT_NS);
		CHECK_EQ(await_request_latency_ns(write), WRITE_NS + SENSE_NS + UNIT_NS + 40000);
		CHECK_EQ(test_counters(&device)->array_suspends, 1);
	}
}

TAP_TEST(reads_wait_for_row_programs_at_most)
{
	struct test_request *writes[5];
	struct test_request *read;
	u32 i;

	open_device("demo", "baseline", ONE_DIE " row=3");
	measure_write_ns(0, 2);
	/* With no program pending, the count for parameter "row" (programs in a row) restarts. */
	test_advance_clock_by(&device, 1);
	for (i = 0; i < ARRAY_SIZE(writes); i++)
		writes[i] = submit_timed_request(AFTL_OP_WRITE, 10 * (i + 1), 2);
	read = submit_timed_request(AFTL_OP_READ, 0, 1);
	CHECK_EQ(await_request_latency_ns(read), 3 * WRITE_NS + SENSE_NS + UNIT_NS);
	CHECK_EQ(await_request_latency_ns(writes[2]), 3 * WRITE_NS);
	CHECK_EQ(await_request_latency_ns(writes[4]), 5 * WRITE_NS + SENSE_NS + UNIT_NS);
}

TAP_TEST(read_times_depend_on_the_position_in_the_word_line)
{
	u32 i;

	open_device("demo", "baseline", ONE_DIE " bits=3 read_first=30us read_last=60us");
	for (i = 0; i < 6; i++)
		measure_write_ns(2 * i, 2);
	for (i = 0; i < 6; i++)
		CHECK_EQ(measure_unit_reads_ns(2 * i, 1), (i % 3 == 0 ? 30000 :
							   i % 3 == 1 ? SENSE_NS :
									60000) +
								  UNIT_NS);
}

/* In a wide block a word-line position has one page in each plane. */
TAP_TEST(pages_of_all_planes_at_one_position_have_one_read_time)
{
	u32 i;

	open_device("demo", "baseline", ONE_DIE " bits=2 planes=2 plane_mode=wide read_first=30us");
	for (i = 0; i < 4; i++)
		measure_write_ns(4 * i, 4);
	for (i = 0; i < 8; i++)
		CHECK_EQ(measure_unit_reads_ns(2 * i, 1), (i / 2 % 2 ? SENSE_NS : 30000) + UNIT_NS);
}

/* Only relocation reads use parameter read_move; host reads keep their time. */
TAP_TEST(only_relocation_reads_take_the_time_read_move)
{
	const struct aftl_counters *counters;
	u32 i;

	open_device("demo", "baseline", ONE_DIE " read_move=7us");
	for (i = 0; i < 4 * test_unit_count(&device) / 2; i++)
		measure_write_ns(2 * (i * 2654435761U % (test_unit_count(&device) / 2)), 2);
	counters = test_counters(&device);
	CHECK(counters->array_reads > 0);
	CHECK_EQ(counters->array_read_ns, 7000 * counters->array_reads);
	measure_unit_reads_ns(0, 1);
	CHECK_EQ(counters->array_read_ns, 7000 * (counters->array_reads - 1) + SENSE_NS);
}

/* Short requests are limited by the controller, long ones by the link; the times overlap. */
TAP_TEST(link_and_controller_times_overlap)
{
	struct test_request *requests[3];
	u64 unit_ns = 4096;
	u64 now_ns;
	u32 i;

	open_device("demo", "baseline", "channels=1 chips=1 buffer=1MiB link=1000 "
		    "controller_command=10us controller=7us");
	for (i = 0; i < 3; i++)
		requests[i] = submit_timed_request(AFTL_OP_READ, 100 * i, 1);
	for (i = 0; i < 3; i++)
		CHECK_EQ(await_request_latency_ns(requests[i]), (i + 1) * 10000 + unit_ns + 7000);
	test_advance_clock_by(&device, 1000000);
	now_ns = aftl_device_time_ns(device.ftl);
	for (i = 0; i < 3; i++)
		requests[i] = submit_timed_request(AFTL_OP_READ, 100 * i, 5);
	for (i = 0; i < 3; i++)
		CHECK_EQ(await_request_latency_ns(requests[i]),
			 10000 + (i + 1) * 5 * unit_ns + 7000);
	/* Writes and reads use separate directions of the host link and do not delay each other. */
	test_advance_clock_by(&device, 1000000);
	requests[0] = submit_timed_request(AFTL_OP_READ, 0, 1);
	requests[1] = submit_timed_request(AFTL_OP_WRITE, 0, 1);
	requests[2] = submit_timed_request(AFTL_OP_DISCARD, 0, 1);
	CHECK_EQ(await_request_latency_ns(requests[0]), 10000 + unit_ns + 7000);
	CHECK_EQ(await_request_latency_ns(requests[1]), 10000 + unit_ns + 7000);
	CHECK_EQ(await_request_latency_ns(requests[2]), 20000 + 7000);
	CHECK(aftl_device_time_ns(device.ftl) > now_ns);
}

TAP_TEST(controller_time_applies_without_a_link_too)
{
	struct test_request *requests[3];
	u32 i;

	open_device("demo", "baseline", "controller_command=10us");
	for (i = 0; i < 3; i++)
		requests[i] = submit_timed_request(AFTL_OP_READ, 100 * i, 1 + i);
	for (i = 0; i < 3; i++)
		CHECK_EQ(await_request_latency_ns(requests[i]), (i + 1) * 10000);
}

TAP_TEST(suspending_is_off_by_default)
{
	struct test_request *write;
	struct test_request *read;

	open_device("demo", "baseline", ONE_DIE);
	measure_write_ns(0, 2);
	write = submit_timed_request(AFTL_OP_WRITE, 10, 2);
	test_advance_clock_by(&device, 100000);
	read = submit_timed_request(AFTL_OP_READ, 0, 1);
	CHECK_EQ(await_request_latency_ns(read), WRITE_NS - 100000 + SENSE_NS + UNIT_NS);
	CHECK_EQ(await_request_latency_ns(write), WRITE_NS);
}

TAP_TEST(buffered_writes_complete_at_once)
{
	open_device("demo", "baseline", ONE_DIE " buffer=1MiB");
	CHECK_EQ(measure_write_ns(3, 1), 0);
	CHECK_EQ(measure_unit_reads_ns(3, 1), 0);
	CHECK_EQ(test_counters(&device)->buffer_read_units, 1);
	CHECK_EQ(test_counters(&device)->array_programs, 0);
	/* The write buffer holds a partial page back for 5 ms. */
	test_advance_clock_by(&device, 4999999);
	CHECK_EQ(test_counters(&device)->array_programs, 0);
	test_advance_clock_by(&device, 1);
	CHECK_EQ(test_counters(&device)->array_programs, 1);
	test_advance_clock_by(&device, WRITE_NS);
	CHECK_EQ(measure_unit_reads_ns(3, 1), SENSE_NS + UNIT_NS);
	/* Below its watermark the write buffer holds a full page back, too. */
	CHECK_EQ(measure_write_ns(10, 2), 0);
	test_advance_clock_by(&device, 4999999);
	CHECK_EQ(test_counters(&device)->array_programs, 1);
	test_advance_clock_by(&device, 1 + WRITE_NS);
	CHECK_EQ(measure_unit_reads_ns(10, 2), SENSE_NS + PAGE_NS);
}

TAP_TEST(a_flush_completes_after_every_write_before_it)
{
	open_device("demo", "baseline", ONE_DIE " buffer=1MiB");
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), 0);
	CHECK_EQ(measure_write_ns(3, 1), 0);
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), WRITE_NS);
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), 0);
	CHECK_EQ(measure_write_ns(0, 6), 0);
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), 3 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->host_flush_requests, 4);
}

/* A flush waits only for writes before it, even if the host keeps writing. */
TAP_TEST(a_flush_does_not_wait_for_later_writes)
{
	struct test_request *before;
	struct test_request *after;
	struct test_request *flush;

	open_device("demo", "baseline", ONE_DIE);
	before = submit_timed_request(AFTL_OP_WRITE, 0, 2);
	flush = submit_timed_request(AFTL_OP_FLUSH, 0, 0);
	after = submit_timed_request(AFTL_OP_WRITE, 2, 2);
	CHECK_EQ(await_request_latency_ns(flush), WRITE_NS);
	CHECK_EQ(await_request_latency_ns(before), WRITE_NS);
	CHECK_EQ(await_request_latency_ns(after), 2 * WRITE_NS);
}

/* Without a flush a partial page stays in the buffer. */
TAP_TEST(drain_completes_requests_and_holds_partial_pages,
	 "aftl_drain() completes all requests and holds partial pages")
{
	open_device("demo", "baseline", ONE_DIE " buffer=1MiB buffer_hold=1s");
	submit_timed_request(AFTL_OP_WRITE, 0, 1);
	aftl_drain_requests(device.ftl);
	CHECK_EQ(aftl_device_time_ns(device.ftl), 0);
	submit_timed_request(AFTL_OP_FLUSH, 0, 0);
	CHECK_EQ(aftl_pending_requests(device.ftl), 1);
	aftl_drain_requests(device.ftl);
	CHECK_EQ(aftl_pending_requests(device.ftl), 0);
	CHECK_EQ(aftl_device_time_ns(device.ftl), WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 1);
}

/* A draining device programs partial pages at once, so that the host gets its memory back. */
TAP_TEST(draining_programs_partial_pages_at_once)
{
	open_device("demo", "baseline", ONE_DIE " buffer=1MiB buffer_hold=1s");
	CHECK_EQ(measure_write_ns(3, 1), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 0);
	aftl_set_drain_mode(device.ftl, true);
	CHECK(aftl_has_pending_work(device.ftl));
	test_advance_clock_by(&device, WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 1);
	CHECK(!aftl_has_pending_work(device.ftl));
	CHECK_EQ(measure_write_ns(3, 1), 0);
	test_advance_clock_by(&device, WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 2);
	aftl_set_drain_mode(device.ftl, false);
	CHECK_EQ(measure_write_ns(3, 1), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 2);
}

TAP_TEST(flush_and_fua_take_no_time_with_a_persistent_buffer)
{
	u64 latency = 1;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB buffer_safe=on");
	CHECK_EQ(measure_write_ns(3, 1), 0);
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), 0);
	CHECK_EQ(test_execute_flagged_request(&device, AFTL_OP_WRITE, 9, 1, 0, AFTL_REQUEST_FUA,
					      &latency),
		 0);
	CHECK_EQ(latency, 0);
}

TAP_TEST(a_fua_write_completes_after_its_program)
{
	u64 latency = 0;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB");
	CHECK_EQ(test_execute_flagged_request(&device, AFTL_OP_WRITE, 9, 1, 0, AFTL_REQUEST_FUA,
					      &latency),
		 0);
	CHECK_EQ(latency, WRITE_NS);
}

/* The host waits for a FUA write, so the unit queued before the FUA write must not be held back. */
TAP_TEST(a_fua_write_ends_the_wait_for_a_full_page)
{
	u64 latency = 0;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB page=16KiB");
	CHECK_EQ(measure_write_ns(3, 1), 0);
	CHECK_EQ(test_execute_flagged_request(&device, AFTL_OP_WRITE, 9, 1, 0, AFTL_REQUEST_FUA,
					      &latency),
		 0);
	CHECK_EQ(latency, 4 * UNIT_NS + PROGRAM_NS);
}

TAP_TEST(overwrites_in_the_buffer_are_coalesced)
{
	u32 i;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB");
	for (i = 0; i < 10; i++)
		CHECK_EQ(measure_write_ns(3, 1), 0);
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), WRITE_NS);
	CHECK_EQ(test_counters(&device)->buffer_coalesced_units, 9);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 1);
}

/* The buffer holds sixteen units; programs of two units begin at its watermark of eight. */
TAP_TEST(full_pages_wait_for_the_watermark_of_the_buffer)
{
	open_device("demo", "baseline", ONE_DIE " buffer=64KiB buffer_hold=1s");
	CHECK_EQ(measure_write_ns(0, 7), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 0);
	CHECK_EQ(measure_write_ns(7, 1), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 1);
	CHECK_EQ(measure_write_ns(8, 6), 0);
	test_advance_clock_by(&device, 20 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 4);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
	CHECK_EQ(aftl_set_param(device.ftl, "buffer_high", "0", &device.error), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 7);
	CHECK_EQ(measure_write_ns(14, 1), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 7);
}

/* LUNs that have data for a full program start together, not one after the other. */
TAP_TEST(above_the_watermark_all_luns_program_at_once)
{
	open_device("demo", "baseline", "buffer=64KiB buffer_hold=1s");
	CHECK_EQ(aftl_geometry(device.ftl)->luns, 4);
	CHECK_EQ(measure_write_ns(0, 7), 0);
	test_advance_clock_by(&device, WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 0);
	CHECK_EQ(measure_write_ns(7, 1), 0);
	test_advance_clock_by(&device, 2 * WRITE_NS - 1);
	CHECK_EQ(test_counters(&device)->array_programs, 4);
}

/* An overwrite of a buffered unit takes no second entry of the buffer. */
TAP_TEST(an_overwrite_in_the_buffer_takes_no_second_place)
{
	u32 i;

	open_device("demo", "baseline", ONE_DIE " buffer=16KiB buffer_hold=1s buffer_high=100%");
	CHECK_EQ(measure_write_ns(0, 3), 0);
	for (i = 0; i < 10; i++)
		CHECK_EQ(measure_write_ns(i % 3, 1), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 0);
	CHECK_EQ(measure_write_ns(3, 1), 0);
	test_advance_clock_by(&device, 10 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->buffer_coalesced_units, 10);
	CHECK_EQ(measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0), WRITE_NS);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 4);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
}

/* However often overwritten, a unit leaves the buffer a time buffer_hold after its first write. */
TAP_TEST(an_overwritten_unit_leaves_the_buffer_in_time)
{
	u32 i;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB buffer_hold=5ms");
	for (i = 0; i < 5; i++) {
		CHECK_EQ(measure_write_ns(0, 2), 0);
		test_advance_clock_by(&device, 1000000);
	}
	test_advance_clock_by(&device, WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 1);
}

/* An overwrite in another class moves a buffered unit to another queue; flushes cover the unit. */
TAP_TEST(an_overwrite_in_another_class_replaces_the_unit)
{
	u32 class = AFTL_APPROX;

	open_device("demo", "separated", ONE_DIE " buffer=1MiB buffer_hold=1s");
	CHECK_EQ(measure_request_latency(AFTL_OP_WRITE, 4, 3, AFTL_APPROX), 0);
	CHECK_EQ(measure_request_latency(AFTL_OP_WRITE, 5, 1, AFTL_PRECISE), 0);
	CHECK_EQ(test_counters(&device)->buffer_coalesced_units, 1);
	measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 3);
	CHECK(from_ppn(aftl_lookup(device.ftl, to_lpn(5), &class)) != U32_MAX);
	CHECK_EQ(class, AFTL_PRECISE);
}

/* A FUA write replaces a buffered write of its unit, and completes after its own program. */
TAP_TEST(a_fua_write_replaces_a_buffered_unit)
{
	u64 latency = 0;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB buffer_hold=1s");
	CHECK_EQ(measure_write_ns(9, 1), 0);
	CHECK_EQ(test_execute_flagged_request(&device, AFTL_OP_WRITE, 9, 1, 0, AFTL_REQUEST_FUA,
					      &latency),
		 0);
	CHECK_EQ(latency, WRITE_NS);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 1);
}

/* With a write buffer of four units, the third page waits for the first page's program. */
TAP_TEST(a_write_waits_while_the_buffer_is_full)
{
	struct test_request *late;

	open_device("demo", "baseline", ONE_DIE " buffer=16KiB");
	CHECK_EQ(aftl_count_buffer_tags(device.ftl), 4);
	CHECK_EQ(measure_write_ns(0, 4), 0);
	late = submit_timed_request(AFTL_OP_WRITE, 10, 1);
	CHECK_EQ(await_request_latency_ns(late), WRITE_NS);
	late = submit_timed_request(AFTL_OP_WRITE, 20, 8);
	test_drain_requests(&device);
	await_request_latency_ns(late);
}

/* A discard supersedes every earlier write, whether buffered, being programmed or relocated. */
TAP_TEST(a_discard_supersedes_every_earlier_write)
{
	static const char *const buffers[] = { "0", "1MiB" };
	struct test_request *write;
	unsigned int i;
	u32 class;
	u32 wait;

	for (i = 0; i < 2; i++)
		for (wait = 0; wait < 1000000; wait += 300000) {
			open_device("demo", "baseline", test_format_params(ONE_DIE
									   " buffer=%s",
									   buffers[i]));
			submit_timed_request(AFTL_OP_WRITE, 10, 2)->keep = false;
			write = submit_timed_request(AFTL_OP_WRITE, 5, 2);
			test_advance_clock_by(&device, wait);
			CHECK_EQ(measure_request_latency(AFTL_OP_DISCARD, 5, 1, 0), 0);
			CHECK_EQ(measure_unit_reads_ns(5, 1), 0);
			await_request_latency_ns(write);
			test_advance_clock_by(&device, 10000000);
			CHECK_EQ(from_ppn(aftl_lookup(device.ftl, to_lpn(5), &class)), U32_MAX);
			CHECK(from_ppn(aftl_lookup(device.ftl, to_lpn(6), &class)) != U32_MAX);
			test_advance_clock_by(&device, 10000000);
			measure_write_ns(5, 1);
			test_advance_clock_by(&device, 10000000);
			CHECK(from_ppn(aftl_lookup(device.ftl, to_lpn(5), &class)) != U32_MAX);
		}
}

/* A multi-plane read senses once; then the pages use the bus one after the other. */
#define PLANES_NS(planes) (SENSE_NS + (planes) * PAGE_NS)

/*
 * Four planes with two units a page: a program stores 8 units, and page i of plane p has the units
 * 8i + 2p and the next one.
 */
static void open_four_plane_device(const char *rule)
{
	u32 i;

	open_device("demo", "baseline", test_format_params(ONE_DIE " planes=4 plane_mode=wide "
							   "multi_plane_read=%s", rule));
	for (i = 0; i < 4; i++)
		measure_write_ns(8 * i, 8);
}

static u64 lun_busy_ns(void)
{
	return test_lun_info(&device, 0).busy_ns;
}

static void check_read_times_of_two_planes(u32 first, u32 second, bool together)
{
	u64 reads = test_counters(&device)->multi_plane_reads;
	u64 sensed_ns = test_counters(&device)->array_read_ns;
	u64 busy_ns = lun_busy_ns();
	struct test_request *blocker = submit_timed_request(AFTL_OP_READ, 0, 1);
	struct test_request *a = submit_timed_request(AFTL_OP_READ, first, 2);
	struct test_request *b = submit_timed_request(AFTL_OP_READ, second, 2);
	u64 blocked_ns = await_request_latency_ns(blocker);

	CHECK_EQ(await_request_latency_ns(a), blocked_ns + PLANES_NS(1));
	CHECK_EQ(await_request_latency_ns(b),
		 blocked_ns + (together ? PLANES_NS(2) : 2 * PLANES_NS(1)));
	CHECK_EQ(test_counters(&device)->multi_plane_reads - reads, together);
	CHECK_EQ(test_counters(&device)->array_read_ns - sensed_ns, (together ? 2 : 3) * SENSE_NS);
	CHECK_EQ(lun_busy_ns() - busy_ns,
		 blocked_ns + PLANES_NS(1) + PAGE_NS + (together ? 0 : SENSE_NS));
}

TAP_TEST(waiting_reads_of_planes_are_merged)
{
	open_four_plane_device("same_block");
	CHECK_EQ(measure_unit_reads_ns(0, 8), PLANES_NS(4));
	CHECK_EQ(test_counters(&device)->array_reads, 4);
	CHECK_EQ(test_counters(&device)->multi_plane_reads, 1);
	CHECK_EQ(measure_unit_reads_ns(4, 8), 2 * PLANES_NS(2));
	check_read_times_of_two_planes(8, 14, true);
	check_read_times_of_two_planes(14, 8, true);
	check_read_times_of_two_planes(8, 8, false);
	check_read_times_of_two_planes(8, 18, false);
	open_four_plane_device("any_page");
	check_read_times_of_two_planes(8, 18, true);
	check_read_times_of_two_planes(8, 16, false);
	CHECK_EQ(measure_unit_reads_ns(4, 8), PLANES_NS(4));
	open_four_plane_device("off");
	CHECK_EQ(measure_unit_reads_ns(0, 8), 4 * PLANES_NS(1));
	check_read_times_of_two_planes(8, 14, false);
	CHECK_EQ(test_counters(&device)->multi_plane_reads, 0);
}

/* A read joins a multi-plane read although an earlier read in the queue cannot join it. */
TAP_TEST(a_read_may_overtake_another_into_a_multi_plane_read)
{
	struct test_request *blocker;
	struct test_request *reads[4];
	u64 begin_ns;

	open_four_plane_device("same_block");
	blocker = submit_timed_request(AFTL_OP_READ, 0, 1);
	reads[0] = submit_timed_request(AFTL_OP_READ, 8, 2);
	reads[1] = submit_timed_request(AFTL_OP_READ, 24, 2);
	reads[2] = submit_timed_request(AFTL_OP_READ, 10, 2);
	reads[3] = submit_timed_request(AFTL_OP_READ, 26, 2);
	begin_ns = await_request_latency_ns(blocker);
	CHECK_EQ(await_request_latency_ns(reads[0]), begin_ns + PLANES_NS(1));
	CHECK_EQ(await_request_latency_ns(reads[2]), begin_ns + PLANES_NS(2));
	CHECK_EQ(await_request_latency_ns(reads[1]), begin_ns + PLANES_NS(2) + PLANES_NS(1));
	CHECK_EQ(await_request_latency_ns(reads[3]), begin_ns + 2 * PLANES_NS(2));
}

TAP_TEST(independent_planes_execute_separate_programs)
{
	open_device("demo", "baseline", ONE_DIE " planes=2 plane_mode=independent");
	CHECK_EQ(measure_write_ns(0, 4), 2 * PAGE_NS + PROGRAM_NS);
	CHECK_EQ(test_counters(&device)->array_programs, 2);
}

TAP_TEST(planes_that_share_a_lun_are_programmed_in_turn)
{
	open_device("demo", "baseline", ONE_DIE " planes=2");
	CHECK_EQ(measure_write_ns(0, 4), 2 * WRITE_NS);
}

/* Profile ics14: 2 KiB at 40 MB/s take 51.2 us; the first page of a word line is fast. */
TAP_TEST(ics14_has_fast_and_slow_pages)
{
	open_device("ics14", "baseline", ONE_DIE);
	CHECK_EQ(measure_write_ns(0, 1), 51200 + 460000);
	CHECK_EQ(measure_write_ns(1, 1), 51200 + 1118000);
	CHECK_EQ(measure_write_ns(2, 1), 51200 + 460000);
	CHECK_EQ(measure_unit_reads_ns(0, 1), 51200 + 50000);
}

/* A read of two units must return the newer data of the second one from the write buffer. */
TAP_TEST(a_read_returns_the_newer_unit_from_the_buffer)
{
	static struct shadow_store store;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB");
	shadow_attach_to_device(&store, &device, false);
	measure_write_ns(0, 2);
	measure_request_latency(AFTL_OP_FLUSH, 0, 0, 0);
	measure_write_ns(1, 1);
	measure_unit_reads_ns(0, 2);
	measure_unit_reads_ns(1, 1);
}

/* Data that a flush covers become durable even if overwritten while the flush waits. */
TAP_TEST(a_flush_covers_data_that_are_overwritten_meanwhile)
{
	static struct shadow_store store;
	struct test_request *flush;

	open_device("demo", "baseline", ONE_DIE " buffer=1MiB");
	shadow_attach_to_device(&store, &device, false);
	/* Keep the die busy, so that the next writes stay in the write buffer. */
	measure_write_ns(10, 2);
	measure_write_ns(3, 1);
	flush = submit_timed_request(AFTL_OP_FLUSH, 0, 0);
	measure_write_ns(3, 1);
	await_request_latency_ns(flush);
	test_drain_requests(&device);
	test_advance_clock_by(&device, 20000000);
}

TAP_TEST(a_request_stamped_in_the_past_arrives_now)
{
	struct test_request *request;

	open_device("demo", "baseline", NULL);
	test_advance_clock_by(&device, 5000000);
	request = test_submit_kept(&device, AFTL_OP_WRITE, 0, 2, AFTL_PRECISE, 0, 1000);
	CHECK_EQ(request->request.arrival_ns, 5000000);
	CHECK_EQ(await_request_latency_ns(request), WRITE_NS);
	request = test_submit_kept(&device, AFTL_OP_WRITE, 0, 2, AFTL_PRECISE, 0, 90000000);
	CHECK_EQ(aftl_device_time_ns(device.ftl), 90000000);
	CHECK_EQ(await_request_latency_ns(request), WRITE_NS);
}

static u32 requests_left;

/* Host callback complete() that submits the next request. */
static void submit_next_request_on_completion(struct test_listener *listener,
					      struct test_request *request)
{
	if (requests_left) {
		requests_left--;
		test_submit_io(&device, AFTL_OP_WRITE, requests_left, 2, AFTL_PRECISE, 0, 0);
	}
}

TAP_TEST(complete_may_submit, "complete() may submit a request")
{
	static struct test_listener chain = { .complete = submit_next_request_on_completion };
	u64 start;

	requests_left = 99;
	open_device("demo", "baseline", NULL);
	test_device_add_listener(&device, &chain);
	start = aftl_device_time_ns(device.ftl);
	test_submit_io(&device, AFTL_OP_WRITE, 500, 2, AFTL_PRECISE, 0, 0);
	test_drain_requests(&device);
	CHECK_EQ(requests_left, 0);
	CHECK_EQ(aftl_device_time_ns(device.ftl) - start, 100 * WRITE_NS);
}

TAP_TEST(response_statistics_are_exact)
{
	const struct aftl_stats *stats;

	open_device("demo", "baseline", NULL);
	measure_write_ns(0, 2);
	measure_write_ns(2, 2);
	measure_unit_reads_ns(0, 1);
	measure_unit_reads_ns(9, 1);
	stats = aftl_get_stats(device.ftl);
	CHECK_EQ(stats->write_response.count, 2);
	CHECK_EQ(stats->write_response.sum, 2 * WRITE_NS);
	CHECK_EQ(stats->read_response.count, 2);
	CHECK_EQ(stats->read_response.largest, SENSE_NS + UNIT_NS);
	CHECK_EQ(stats->read_response.smallest, 0);
	CHECK_EQ(stats->write_service.largest, WRITE_NS);
	CHECK_EQ(stats->counters.host_write_units, 4);
	CHECK_EQ(stats->counters.host_read_units, 2);
	aftl_reset_stats(device.ftl);
	CHECK_EQ(stats->write_response.count, 0);
	CHECK_EQ(stats->counters.host_write_units, 0);
	CHECK_EQ(stats->since_ns, aftl_device_time_ns(device.ftl));
}

TAP_TEST(memory_is_accounted_for, "aftl_memory_bytes() equals the allocated bytes")
{
	open_device("demo", "approxftl", NULL);
	CHECK_EQ(aftl_memory_bytes(device.ftl), device.held_bytes);
}

/* The clock must reach any timestamp, because a trace may contain any. */
TAP_TEST(the_clock_can_advance_to_its_maximum)
{
	open_device("demo", "baseline", NULL);
	test_submit_io(&device, AFTL_OP_WRITE, 0, 2, AFTL_PRECISE, 0, U64_MAX / 2);
	CHECK_EQ(aftl_device_time_ns(device.ftl), U64_MAX / 2);
	aftl_process_events_until(device.ftl, U64_MAX - 1);
	CHECK(aftl_device_time_ns(device.ftl) >= U64_MAX / 2);
	test_device_close(&device);
}
