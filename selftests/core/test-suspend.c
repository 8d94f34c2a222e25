// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspension of erases by programs, and of programs by reads: when, how often, at which cost.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "tap.h"
#include "test-device.h"

#define SHAPE "channels=1 chips=1 blocks=64 op=40 suspend_for_write=on"
#define BLOCK_UNITS 256
#define PAGE_NS 20480
#define PROGRAM_NS 700000
#define WRITE_NS (PAGE_NS + PROGRAM_NS)
#define SENSE_NS 45000
#define READ_NS (SENSE_NS + 10240)
#define ERASE_NS 3500000
/* Time until a die that suspends its operation accepts a command, and time of the resume. */
#define LATENCY_NS 20000
#define COST_NS (2 * LATENCY_NS)

static struct test_device device;
static u64 begun_ns;
static u64 erased_ns;

static void record_erase_end(struct test_listener *self, aftl_ppn_t first, u32 slots)
{
	erased_ns = aftl_device_time_ns(device.ftl) - begun_ns;
}

static struct test_listener listener = { .erase = record_erase_end };

static bool is_lun_erasing(void)
{
	return device.ftl->luns[0].work.phase == AFTL_PHASE_ERASE;
}

/* Start the erase of a block without valid data, while another block is open. */
static void begin_block_erase(const char *params)
{
	u32 unit;
	u32 luns;

	test_open_demo_profile(&device, "baseline", params);
	test_device_add_listener(&device, &listener);
	CHECK_EQ(aftl_geometry(device.ftl)->block_ppns, BLOCK_UNITS);
	luns = aftl_geometry(device.ftl)->luns;
	for (unit = 0; unit < luns * (BLOCK_UNITS + 64); unit += 2)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 2, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	test_advance_clock_by(&device, 2 * PROGRAM_NS);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, luns * BLOCK_UNITS, 0, NULL), 0);
	aftl_reset_stats(device.ftl);
	begun_ns = aftl_device_time_ns(device.ftl);
	erased_ns = 0;
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	CHECK(is_lun_erasing());
}

static void check_erase_end(u64 ns)
{
	test_drain_requests(&device);
	test_advance_clock_by(&device, 20000000);
	CHECK_EQ(erased_ns, ns);
}

static struct test_request *begin_suspending(enum aftl_op op, u32 unit, u32 units)
{
	return test_submit_kept(&device, op, unit, units, 0, 0, aftl_device_time_ns(device.ftl));
}

static u64 await_request_completion_ns(struct test_request *request)
{
	u64 ns;

	test_wait_for_request(&device, request);
	ns = request->request.complete_ns - begun_ns;
	test_release_request(&device, request);
	return ns;
}

/* Return a unit of the open block in the first LUN, which is erasing another block. */
static u32 unit_in_first_lun(void)
{
	u32 unit = 2 * BLOCK_UNITS;
	u32 class;

	while (from_ppn(aftl_lookup(device.ftl, to_lpn(unit), &class)) >= 64 * BLOCK_UNITS)
		unit++;
	return unit;
}

static u64 submit_write_at_time(u64 ns)
{
	struct test_request *write;

	test_advance_clock_by(&device, ns);
	write = begin_suspending(AFTL_OP_WRITE, 1000, 2);
	return await_request_completion_ns(write) - ns;
}

TAP_TEST(a_program_suspends_an_erase)
{
	const struct aftl_counters *counters;

	begin_block_erase(SHAPE);
	counters = test_counters(&device);
	CHECK_EQ(submit_write_at_time(1000000), LATENCY_NS + WRITE_NS);
	CHECK_EQ(counters->array_suspends, 1);
	CHECK_EQ(counters->array_suspend_ns, COST_NS);
	test_advance_clock_by(&device, ERASE_NS);
	CHECK_EQ(counters->array_erase_ns, ERASE_NS);
	CHECK_EQ(counters->erase_energy_pj, (ERASE_NS + COST_NS) * 82500ULL / 1000);
	CHECK_EQ(counters->program_energy_pj, PROGRAM_NS * 82500ULL / 1000);
	CHECK_EQ(device.ftl->luns[0].busy_ns, ERASE_NS + COST_NS + WRITE_NS);
	check_erase_end(ERASE_NS + COST_NS + WRITE_NS);
	begin_block_erase(SHAPE " suspend_for_write=off suspend=both");
	CHECK_EQ(submit_write_at_time(1000000), ERASE_NS - 1000000 + WRITE_NS);
	check_erase_end(ERASE_NS);
}

/* The cost of suspending a program is charged to the program. */
TAP_TEST(suspension_is_charged_to_the_suspended_program)
{
	const struct aftl_counters *counters;
	struct test_request *write;
	u64 energy;

	begin_block_erase(SHAPE " suspend=program");
	test_advance_clock_by(&device, 2 * ERASE_NS);
	counters = test_counters(&device);
	energy = counters->erase_energy_pj;
	begun_ns = aftl_device_time_ns(device.ftl);
	write = begin_suspending(AFTL_OP_WRITE, 1000, 2);
	test_advance_clock_by(&device, 100000);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, BLOCK_UNITS, 1, 0, NULL), 0);
	CHECK_EQ(await_request_completion_ns(write), WRITE_NS + COST_NS + READ_NS);
	CHECK_EQ(counters->program_energy_pj, (PROGRAM_NS + COST_NS) * 82500ULL / 1000);
	CHECK_EQ(counters->erase_energy_pj, energy);
	CHECK_EQ(counters->array_program_ns, PROGRAM_NS);
	CHECK_EQ(counters->array_suspend_ns, COST_NS);
	check_erase_end(erased_ns);
}

/* An erase stays suspended for the programs that arrive meanwhile, up to suspend_limit. */
TAP_TEST(at_most_suspend_limit_programs_delay_an_erase)
{
	struct test_request *writes[5];
	u32 i;

	begin_block_erase(SHAPE " suspend_limit=3");
	test_advance_clock_by(&device, 500000);
	for (i = 0; i < ARRAY_SIZE(writes); i++)
		writes[i] = begin_suspending(AFTL_OP_WRITE, 1000 + 2 * i, 2);
	for (i = 0; i < 3; i++)
		CHECK_EQ(await_request_completion_ns(writes[i]),
			 500000 + LATENCY_NS + (i + 1) * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_suspends, 1);
	CHECK_EQ(await_request_completion_ns(writes[3]), ERASE_NS + COST_NS + 4 * WRITE_NS);
	CHECK_EQ(await_request_completion_ns(writes[4]), ERASE_NS + COST_NS + 5 * WRITE_NS);
	check_erase_end(ERASE_NS + COST_NS + 3 * WRITE_NS);
}

/* A read begins after the latency of a suspension, unless the die is suspended already. */
TAP_TEST(a_read_begins_when_the_suspended_die_accepts_it)
{
	struct test_request *reads[4];
	u32 i;

	begin_block_erase(SHAPE " suspend=erase");
	test_advance_clock_by(&device, 500000);
	reads[0] = begin_suspending(AFTL_OP_READ, BLOCK_UNITS, 1);
	test_advance_clock_by(&device, LATENCY_NS / 2);
	reads[1] = begin_suspending(AFTL_OP_READ, BLOCK_UNITS + 4, 1);
	test_advance_clock_by(&device, LATENCY_NS);
	CHECK_EQ(device.ftl->luns[0].work.phase, AFTL_PHASE_SENSE);
	reads[2] = begin_suspending(AFTL_OP_READ, BLOCK_UNITS + 8, 1);
	for (i = 0; i < 3; i++)
		CHECK_EQ(await_request_completion_ns(reads[i]),
			 500000 + LATENCY_NS + (i + 1) * READ_NS);
	CHECK_EQ(test_counters(&device)->array_suspends, 1);
	test_advance_clock_by(&device, 100000);
	CHECK(is_lun_erasing());
	reads[3] = begin_suspending(AFTL_OP_READ, BLOCK_UNITS, 1);
	CHECK_EQ(await_request_completion_ns(reads[3]), 600000 + 2 * LATENCY_NS + 4 * READ_NS);
	CHECK_EQ(test_counters(&device)->array_suspends, 2);
	CHECK_EQ(test_counters(&device)->array_suspend_ns, 2 * COST_NS);
	test_advance_clock_by(&device, ERASE_NS);
	CHECK_EQ(device.ftl->luns[0].busy_ns, ERASE_NS + 2 * COST_NS + 4 * READ_NS);
	check_erase_end(ERASE_NS + 2 * COST_NS + 4 * READ_NS);
	begin_block_erase(SHAPE " suspend=erase suspend_cost=0");
	test_advance_clock_by(&device, 500000);
	reads[0] = begin_suspending(AFTL_OP_READ, BLOCK_UNITS, 1);
	CHECK_EQ(await_request_completion_ns(reads[0]), 500000 + READ_NS);
	check_erase_end(ERASE_NS + READ_NS);
}

/* Begin to collect a block in which the first @valid units are valid: sense its first page. */
static void begin_relocation(const char *params, u32 valid)
{
	u32 block_units;
	u32 unit;

	test_open_demo_profile(&device, "baseline", params);
	block_units = aftl_geometry(device.ftl)->block_ppns;
	for (unit = 0; unit < block_units + 64; unit += 2)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 2, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, valid, block_units - valid, 0,
				      NULL),
		 0);
	aftl_reset_stats(device.ftl);
	begun_ns = aftl_device_time_ns(device.ftl);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	CHECK_EQ(device.ftl->luns[0].work.phase, AFTL_PHASE_SENSE);
}

static void check_relocation_end(void)
{
	test_drain_requests(&device);
	test_advance_clock_by(&device, 20000000);
	CHECK_EQ(test_counters(&device)->array_erases, 1);
}

/* Data that are being programmed are in the controller: reads of them need no array. */
TAP_TEST(data_of_a_program_in_progress_are_not_sensed)
{
	const u64 programs_ns = SENSE_NS + PAGE_NS;
	const struct aftl_counters *counters;
	struct test_request *other;
	u64 over_ns;

	begin_relocation(SHAPE " suspend=program", 4);
	counters = test_counters(&device);
	test_advance_clock_by(&device, programs_ns);
	CHECK_EQ(device.ftl->luns[0].work.phase, AFTL_PHASE_PROGRAM);
	CHECK_EQ(await_request_completion_ns(begin_suspending(AFTL_OP_READ, 1, 1)), programs_ns);
	CHECK_EQ(counters->array_suspends, 0);
	test_advance_clock_by(&device, 200000);
	other = begin_suspending(AFTL_OP_READ, BLOCK_UNITS, 1);
	CHECK_EQ(await_request_completion_ns(begin_suspending(AFTL_OP_READ, 0, 2)),
		 programs_ns + 200000);
	CHECK_EQ(device.ftl->luns[0].work.phase, AFTL_PHASE_SUSPEND);
	test_advance_clock_by(&device, LATENCY_NS);
	CHECK_EQ(device.ftl->luns[0].work.phase, AFTL_PHASE_SENSE);
	CHECK_EQ(await_request_completion_ns(begin_suspending(AFTL_OP_READ, 1, 1)),
		 programs_ns + 200000 + LATENCY_NS);
	over_ns = programs_ns + 200000 + LATENCY_NS + READ_NS;
	CHECK_EQ(await_request_completion_ns(other), over_ns);
	CHECK_EQ(counters->buffer_read_units, 4);
	CHECK_EQ(counters->array_reads, 2);
	/* A host read of units 0 to 3 senses units 2 and 3, which GC has not relocated yet. */
	CHECK_EQ(await_request_completion_ns(begin_suspending(AFTL_OP_READ, 0, 4)),
		 over_ns + LATENCY_NS + SENSE_NS + PAGE_NS);
	CHECK_EQ(counters->buffer_read_units, 6);
	CHECK_EQ(counters->array_suspends, 2);
	check_relocation_end();
}

/* A copyback relocates a page by one command, so that the program follows the sensing at once. */
TAP_TEST(queued_reads_are_served_when_their_program_begins)
{
	struct test_request *other;
	struct test_request *read;

	begin_relocation(SHAPE " unit=0", 1);
	other = begin_suspending(AFTL_OP_READ, 150, 1);
	read = begin_suspending(AFTL_OP_READ, 0, 1);
	CHECK_EQ(await_request_completion_ns(read), SENSE_NS);
	CHECK_EQ(test_counters(&device)->buffer_read_units, 1);
	CHECK_EQ(await_request_completion_ns(other),
		 SENSE_NS + 2 * PAGE_NS + PROGRAM_NS + SENSE_NS + PAGE_NS);
	CHECK_EQ(test_counters(&device)->array_reads, 2);
	check_relocation_end();
}

/* A queued read of old data is served from the controller once another die programs new data. */
TAP_TEST(a_queued_read_is_served_from_a_program_on_another_die)
{
	struct test_request *writes[2];
	struct test_request *read;
	u32 unit;

	begin_block_erase(SHAPE " chips=2 suspend=program suspend_for_write=off");
	unit = unit_in_first_lun();
	test_advance_clock_by(&device, ERASE_NS - 100000);
	read = begin_suspending(AFTL_OP_READ, unit, 1);
	writes[0] = begin_suspending(AFTL_OP_WRITE, unit, 2);
	writes[1] = begin_suspending(AFTL_OP_WRITE, unit, 2);
	CHECK_EQ(device.ftl->luns[1].work.phase, AFTL_PHASE_PROGRAM);
	CHECK_EQ(await_request_completion_ns(read), ERASE_NS);
	await_request_completion_ns(writes[0]);
	await_request_completion_ns(writes[1]);
	check_erase_end(ERASE_NS);
}

/* A die suspends only one operation at a time. */
TAP_TEST(a_read_waits_for_the_program_that_suspended_an_erase)
{
	struct test_request *write;
	struct test_request *read;

	begin_block_erase(SHAPE " suspend=both");
	test_advance_clock_by(&device, 500000);
	write = begin_suspending(AFTL_OP_WRITE, 1000, 2);
	test_advance_clock_by(&device, 100000);
	read = begin_suspending(AFTL_OP_READ, BLOCK_UNITS, 1);
	CHECK_EQ(await_request_completion_ns(write), 500000 + LATENCY_NS + WRITE_NS);
	CHECK_EQ(await_request_completion_ns(read), 500000 + LATENCY_NS + WRITE_NS + READ_NS);
	CHECK_EQ(test_counters(&device)->array_suspends, 1);
	check_erase_end(ERASE_NS + COST_NS + WRITE_NS + READ_NS);
}

/* Buffered data do not suspend an erase, except for a flush or a full buffer. */
TAP_TEST(buffered_data_suspend_only_for_a_flush_or_lack_of_space)
{
	static const char params[] = SHAPE " buffer=64KiB buffer_hold=0";
	struct test_request *flush;
	struct test_request *last;

	begin_block_erase(params);
	test_advance_clock_by(&device, 500000);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 1000, 8, 0, NULL), 0);
	test_advance_clock_by(&device, 500000);
	CHECK_EQ(test_counters(&device)->array_suspends, 0);
	flush = begin_suspending(AFTL_OP_FLUSH, 0, 0);
	CHECK_EQ(await_request_completion_ns(flush), 1000000 + LATENCY_NS + 4 * WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_suspends, 1);
	check_erase_end(ERASE_NS + COST_NS + 4 * WRITE_NS);
	begin_block_erase(params);
	test_advance_clock_by(&device, 500000);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 1000, 16, 0, NULL), 0);
	CHECK_EQ(test_counters(&device)->array_suspends, 0);
	last = begin_suspending(AFTL_OP_WRITE, 2000, 1);
	CHECK_EQ(await_request_completion_ns(last), 500000 + LATENCY_NS + WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_suspends, 1);
	test_drain_requests(&device);
	test_advance_clock_by(&device, 50000000);
	CHECK(erased_ns > ERASE_NS);
	check_erase_end(erased_ns);
}

/* Programs suspend an erase at a boundary of its steps, as reads do. */
TAP_TEST(programs_suspend_erases_at_step_boundaries)
{
	begin_block_erase(SHAPE " suspend_step=400us");
	CHECK_EQ(submit_write_at_time(900000), 300000 + LATENCY_NS + WRITE_NS);
	check_erase_end(ERASE_NS + COST_NS + WRITE_NS);
}

/* A write that needs the block that is being erased waits for the erase. */
TAP_TEST(a_write_that_needs_the_erased_block_does_not_suspend)
{
	u32 free_blocks;

	begin_block_erase(SHAPE);
	free_blocks = device.ftl->luns[0].free_blocks;
	device.ftl->luns[0].free_blocks = 1;
	CHECK_EQ(submit_write_at_time(1000000), ERASE_NS - 1000000 + WRITE_NS);
	CHECK_EQ(test_counters(&device)->array_suspends, 0);
	device.ftl->luns[0].free_blocks += free_blocks - 1;
	check_erase_end(ERASE_NS);
}
