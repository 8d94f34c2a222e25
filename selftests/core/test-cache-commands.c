// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cache reads and cache programs: which transfers of data overlap with work of a die's array.
 *
 * Profile "demo": a page of 8 KiB takes 20.48 us on the bus, a sensing 45 us, a program 700 us.
 */
#include "tap.h"
#include "test-device.h"

#define PAGE_NS 20480
#define SENSE_NS 45000
#define PROGRAM_NS 700000
#define BUSY_NS 3000
#define ONE_DIE "channels=1 chips=1"

static struct test_device device;

static void open_device_with_data(const char *params, u32 pages)
{
	u32 i;

	test_device_init(&device, "demo");
	test_device_open(&device, "baseline", params);
	for (i = 0; i < pages; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 2 * i, 2, 0, NULL), 0);
	aftl_reset_stats(device.ftl);
}

static struct test_request *submit_page_command(enum aftl_op op, u32 page)
{
	return test_submit_kept(&device, op, 2 * page, 2, 0, 0, aftl_device_time_ns(device.ftl));
}

static u64 measure_cache_command_ns(struct test_request *request, u64 begun_ns)
{
	u64 ns;

	test_wait_for_request(&device, request);
	ns = request->request.complete_ns - begun_ns;
	test_release_request(&device, request);
	return ns;
}

static u64 count_cache_read_commands(void)
{
	return test_counters(&device)->cache_reads;
}

static u64 count_cache_program_commands(void)
{
	return test_counters(&device)->cache_programs;
}

/* Check that of three requests to a die the first takes @first_ns, each next @each_ns more. */
static void check_times_of_three_requests(enum aftl_op op, const char *params, u64 first_ns,
					  u64 each_ns)
{
	struct test_request *requests[3];
	u64 begun_ns;
	u32 i;

	open_device_with_data(params, op == AFTL_OP_READ ? 3 : 0);
	begun_ns = aftl_device_time_ns(device.ftl);
	for (i = 0; i < 3; i++)
		requests[i] = submit_page_command(op, i);
	for (i = 0; i < 3; i++)
		CHECK_EQ(measure_cache_command_ns(requests[i], begun_ns), first_ns + i * each_ns);
	CHECK_EQ(test_lun_info(&device, 0).busy_ns, first_ns + 2 * each_ns);
}

static void check_times_of_three_reads(const char *params, u64 page_ns, u64 each_ns)
{
	check_times_of_three_requests(AFTL_OP_READ, params, SENSE_NS + page_ns, each_ns);
	CHECK_EQ(test_counters(&device)->array_read_ns, 3 * SENSE_NS);
}

static void check_times_of_three_writes(const char *params, u64 each_ns)
{
	check_times_of_three_requests(AFTL_OP_WRITE, params, PAGE_NS + PROGRAM_NS, each_ns);
	CHECK_EQ(test_counters(&device)->bus_ns, 3 * PAGE_NS);
}

TAP_TEST(a_cache_read_senses_while_the_page_before_it_is_transferred)
{
	check_times_of_three_reads(ONE_DIE, PAGE_NS, SENSE_NS + PAGE_NS);
	CHECK_EQ(count_cache_read_commands(), 0);
	check_times_of_three_reads(ONE_DIE " cache_commands=program", PAGE_NS, SENSE_NS + PAGE_NS);
	check_times_of_three_reads(ONE_DIE " cache_commands=read", PAGE_NS, BUSY_NS + SENSE_NS);
	CHECK_EQ(count_cache_read_commands(), 2);
	check_times_of_three_reads(ONE_DIE " cache_commands=read cache_busy=10us", PAGE_NS,
				   10000 + SENSE_NS);
	check_times_of_three_reads(ONE_DIE " cache_commands=both bus=100", 4 * PAGE_NS,
				   4 * PAGE_NS);
}

TAP_TEST(a_cache_read_begins_when_its_request_arrives)
{
	struct test_request *reads[2];
	u64 begun_ns;

	open_device_with_data(ONE_DIE " cache_commands=read", 2);
	begun_ns = aftl_device_time_ns(device.ftl);
	reads[0] = submit_page_command(AFTL_OP_READ, 0);
	test_advance_clock_by(&device, SENSE_NS + 15000);
	reads[1] = submit_page_command(AFTL_OP_READ, 1);
	CHECK_EQ(measure_cache_command_ns(reads[0], begun_ns), SENSE_NS + PAGE_NS);
	CHECK_EQ(measure_cache_command_ns(reads[1], begun_ns),
		 SENSE_NS + 15000 + SENSE_NS + PAGE_NS);
	reads[0] = submit_page_command(AFTL_OP_READ, 0);
	begun_ns = aftl_device_time_ns(device.ftl);
	CHECK_EQ(measure_cache_command_ns(reads[0], begun_ns), SENSE_NS + PAGE_NS);
	CHECK_EQ(count_cache_read_commands(), 1);
}

/* The page of the next read is sensed while the two pages of a multi-plane read are transferred. */
TAP_TEST(a_cache_read_follows_a_multi_plane_read)
{
	static const u32 pages[] = { 2, 0, 1, 3 };
	struct test_request *reads[4];
	u64 begun_ns;
	u32 i;

	test_device_init(&device, "demo");
	test_device_open(&device, "baseline",
			 ONE_DIE " planes=2 plane_mode=wide cache_commands=read");
	for (i = 0; i < 2; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 4 * i, 4, 0, NULL), 0);
	begun_ns = aftl_device_time_ns(device.ftl);
	for (i = 0; i < 4; i++)
		reads[i] = submit_page_command(AFTL_OP_READ, pages[i]);
	CHECK_EQ(measure_cache_command_ns(reads[0], begun_ns), SENSE_NS + PAGE_NS);
	CHECK_EQ(measure_cache_command_ns(reads[1], begun_ns), 2 * SENSE_NS + BUSY_NS + PAGE_NS);
	CHECK_EQ(measure_cache_command_ns(reads[2], begun_ns),
		 2 * SENSE_NS + BUSY_NS + 2 * PAGE_NS);
	CHECK_EQ(measure_cache_command_ns(reads[3], begun_ns),
		 3 * SENSE_NS + 2 * BUSY_NS + PAGE_NS);
}

TAP_TEST(a_read_after_a_program_is_no_cache_read)
{
	struct test_request *write;
	struct test_request *reads[2];
	u64 begun_ns;

	open_device_with_data(ONE_DIE " cache_commands=both row=2 write_expire=0 order=fcfs", 2);
	begun_ns = aftl_device_time_ns(device.ftl);
	reads[0] = submit_page_command(AFTL_OP_READ, 0);
	write = submit_page_command(AFTL_OP_WRITE, 8);
	reads[1] = submit_page_command(AFTL_OP_READ, 1);
	CHECK_EQ(measure_cache_command_ns(reads[0], begun_ns), SENSE_NS + PAGE_NS);
	CHECK_EQ(measure_cache_command_ns(write, begun_ns), SENSE_NS + 2 * PAGE_NS + PROGRAM_NS);
	CHECK_EQ(measure_cache_command_ns(reads[1], begun_ns),
		 2 * SENSE_NS + 3 * PAGE_NS + PROGRAM_NS);
	CHECK_EQ(count_cache_read_commands() + count_cache_program_commands(), 0);
}

/* Collect a block that is half valid. Return: the time that GC takes for it. */
static u64 measure_half_valid_relocation_ns(const char *commands)
{
	u64 begun_ns;
	u32 i;

	test_device_init(&device, "demo");
	test_device_open(&device, "baseline",
			 test_format_params(ONE_DIE " planes=2 plane_mode=wide "
					    "cache_commands=%s", commands));
	for (i = 0; i < aftl_geometry(device.ftl)->block_ppns + 4; i += 4)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i, 4, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, i / 2, 0, NULL), 0);
	aftl_reset_stats(device.ftl);
	begun_ns = aftl_device_time_ns(device.ftl);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	while (aftl_count_luns_in_gc(device.ftl))
		aftl_process_events_until(device.ftl, aftl_next_event_ns(device.ftl));
	CHECK_EQ(test_counters(&device)->array_erases, 1);
	return aftl_device_time_ns(device.ftl) - begun_ns;
}

/* GC reads two pages for each program, so each second read overlaps with a transfer. */
TAP_TEST(relocation_reads_overlap_with_transfers)
{
	u64 saved_ns = measure_half_valid_relocation_ns("off");

	CHECK_EQ(count_cache_read_commands(), 0);
	saved_ns -= measure_half_valid_relocation_ns("read");
	CHECK_EQ(count_cache_read_commands(), test_counters(&device)->array_reads / 2);
	CHECK_EQ(saved_ns, count_cache_read_commands() * (PAGE_NS - BUSY_NS));
}

TAP_TEST(a_cache_program_takes_its_data_during_the_program_before_it)
{
	check_times_of_three_writes(ONE_DIE, PAGE_NS + PROGRAM_NS);
	check_times_of_three_writes(ONE_DIE " cache_commands=read", PAGE_NS + PROGRAM_NS);
	CHECK_EQ(count_cache_program_commands(), 0);
	check_times_of_three_writes(ONE_DIE " cache_commands=program", BUSY_NS + PROGRAM_NS);
	CHECK_EQ(count_cache_program_commands(), 2);
	/* If time cache_busy is nearly the program time, the next transfer outlasts the program. */
	check_times_of_three_writes(ONE_DIE " cache_commands=both cache_busy=690us",
				    690000 + PROGRAM_NS);
}

/* Data that arrive 5 us before a program ends save 5 us of the transfer after the program. */
TAP_TEST(data_that_arrives_late_is_transferred_in_part)
{
	struct test_request *writes[2];
	u64 begun_ns;

	open_device_with_data(ONE_DIE " cache_commands=program", 0);
	begun_ns = aftl_device_time_ns(device.ftl);
	writes[0] = submit_page_command(AFTL_OP_WRITE, 0);
	test_advance_clock_by(&device, PAGE_NS + PROGRAM_NS - 5000);
	writes[1] = submit_page_command(AFTL_OP_WRITE, 1);
	CHECK_EQ(measure_cache_command_ns(writes[0], begun_ns), PAGE_NS + PROGRAM_NS);
	CHECK_EQ(measure_cache_command_ns(writes[1], begun_ns),
		 2 * PAGE_NS - 5000 + 2 * PROGRAM_NS);
}

/* Dies share a channel, on which a page takes 409.6 us: their transfers wait for each other. */
TAP_TEST(cached_data_waits_for_the_channel_of_another_die)
{
	struct test_request *writes[4];
	u64 begun_ns;
	u32 i;

	open_device_with_data("channels=1 chips=2 cache_commands=program bus=20", 0);
	begun_ns = aftl_device_time_ns(device.ftl);
	for (i = 0; i < 4; i++)
		writes[i] = submit_page_command(AFTL_OP_WRITE, i);
	for (i = 0; i < 4; i++)
		CHECK_EQ(measure_cache_command_ns(writes[i], begun_ns),
			 20 * (i + 1) * PAGE_NS + PROGRAM_NS);
}
