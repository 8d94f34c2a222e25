// SPDX-License-Identifier: GPL-2.0-only
/*
 * AGCR: coupled write and read costs, access histories, rewriting, and the baseline policy "li".
 */
#include "core/ftl/controller.h"
#include "core/ftl/policy-instance.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

/* A device with one page per unit, a negligible bus time, and the AGCR paper's six latencies. */
#define COSTS "unit=0 bus=100000 read=170us read_coarse=310us read_fine=70us program=600us " \
	"program_coarse=450us program_fine=800us rber=1e-3"
#define SHAPE "channels=1 chips=1 blocks=40 layers=4 word_lines=4 op=60 " COSTS

#define BUS_NS 82 /* transfer time of a page of 8 KiB at 100000 MB/s */
#define IDLE_NS 5000000

static struct test_device device;

/* Program mode of @unit, or AFTL_MODES if it is unmapped. */
static u32 find_agcr_mode_of_unit(u32 unit)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 class;
	aftl_ppn_t ppn = aftl_lookup(device.ftl, to_lpn(unit), &class);

	if (ppn == AFTL_NO_PPN)
		return AFTL_MODES;
	return aftl_page_mode(aftl_ppn_attr(media, ppn));
}

static u64 measure_access_ns(bool write, u32 unit)
{
	return test_measure_io_ns(&device, write ? AFTL_OP_WRITE : AFTL_OP_READ, unit, 1,
				  AFTL_PRECISE);
}

/* Perform reads (R) and writes (W) without idle time, in which AGCR would rewrite data. */
static void perform_access_pattern(u32 unit, const char *accesses)
{
	for (; *accesses; accesses++)
		measure_access_ns(*accesses == 'W', unit);
}

TAP_TEST(read_and_write_costs_are_coupled, "AG-1: a cheaper write makes reads more expensive")
{
	test_open_demo_profile(&device, "agcr", SHAPE);
	CHECK_EQ(measure_access_ns(true, 1), 450000 + BUS_NS);
	CHECK_EQ(measure_access_ns(false, 1), 310000 + BUS_NS);
	CHECK_EQ(measure_access_ns(true, 1), 600000 + BUS_NS);
	CHECK_EQ(measure_access_ns(false, 1), 170000 + BUS_NS);
	measure_access_ns(false, 1);
	test_advance_clock_by(&device, IDLE_NS);
	CHECK_EQ(measure_access_ns(false, 1), 70000 + BUS_NS);
	/* AGCR does not rewrite data that have the highest write cost already. */
	test_advance_clock_by(&device, IDLE_NS);
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 1);
	CHECK_EQ(test_counters(&device)->array_program_ns, (450 + 600 + 800) * 1000);
}

struct window_case {
	const char *history;
	const char *accesses;
	u32 mode;
};

/* Program mode of a unit's last write, by the length of AGCR's window of accesses to the unit. */
static const struct window_case windows[] = {
	{ "0", "W", AFTL_MODE_COARSE },	     { "0", "WRW", AFTL_MODE_COARSE },
	{ "1", "W", AFTL_MODE_COARSE },	     { "1", "WRW", AFTL_MODE_NORMAL },
	{ "1", "WRWW", AFTL_MODE_COARSE },   { "1", "WRRWW", AFTL_MODE_COARSE },
	{ "2", "W", AFTL_MODE_COARSE },	     { "2", "WW", AFTL_MODE_COARSE },
	{ "2", "WRW", AFTL_MODE_NORMAL },    { "2", "WRWW", AFTL_MODE_NORMAL },
	{ "2", "WRWWW", AFTL_MODE_COARSE },  { "2", "WRRWWW", AFTL_MODE_COARSE },
};

TAP_TEST(the_write_mode_follows_from_windows_of_0_1_and_2_accesses)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		const struct window_case *mine = &windows[i];

		test_open_demo_profile(&device, "agcr", test_format_params(SHAPE " history=%s "
									   "rewrite=off",
									   mine->history));
		perform_access_pattern(3, mine->accesses);
		CHECK_MSG(find_agcr_mode_of_unit(3) == mine->mode, "history %s, %s: mode %u",
			  mine->history, mine->accesses, find_agcr_mode_of_unit(3));
	}
}

static const struct window_case rewritten[] = {
	{ "0", "WR", AFTL_MODE_FINE },	  { "1", "WR", AFTL_MODE_COARSE },
	{ "1", "WRR", AFTL_MODE_FINE },	  { "1", "WRWR", AFTL_MODE_NORMAL },
	{ "2", "WRR", AFTL_MODE_COARSE }, { "2", "WRRR", AFTL_MODE_FINE },
	{ "1", "WRRW", AFTL_MODE_NORMAL },
};

TAP_TEST(data_that_are_only_read_are_rewritten_at_high_write_cost)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rewritten); i++) {
		const struct window_case *mine = &rewritten[i];

		test_open_demo_profile(&device, "agcr", test_format_params(SHAPE
									   " history=%s",
									   mine->history));
		perform_access_pattern(3, mine->accesses);
		test_advance_clock_by(&device, IDLE_NS);
		CHECK_MSG(find_agcr_mode_of_unit(3) == mine->mode, "history %s, %s: mode %u",
			  mine->history, mine->accesses, find_agcr_mode_of_unit(3));
	}
}

/* Check program modes of two units after idle time with @word as value of "rewrite". */
static void check_modes_after_idle_rewrite(const char *word, u32 low, u32 medium)
{
	test_open_demo_profile(&device, "agcr", test_format_params(SHAPE " rewrite=%s", word));
	perform_access_pattern(1, "WRR");
	perform_access_pattern(2, "WRWRR");
	test_advance_clock_by(&device, IDLE_NS);
	CHECK_EQ(find_agcr_mode_of_unit(1), low);
	CHECK_EQ(find_agcr_mode_of_unit(2), medium);
}

TAP_TEST(parameter_rewrite_selects_which_costs_are_rewritten)
{
	check_modes_after_idle_rewrite("off", AFTL_MODE_COARSE, AFTL_MODE_NORMAL);
	check_modes_after_idle_rewrite("low", AFTL_MODE_FINE, AFTL_MODE_NORMAL);
	check_modes_after_idle_rewrite("any", AFTL_MODE_FINE, AFTL_MODE_FINE);
}

/* Units that the initial fill wrote have medium write cost, and no access history. */
TAP_TEST(filled_data_have_medium_cost_and_no_history)
{
	test_open_demo_profile(&device, "agcr", SHAPE " fill=sequential");
	CHECK_EQ(find_agcr_mode_of_unit(1), AFTL_MODE_NORMAL);
	perform_access_pattern(1, "W");
	CHECK_EQ(find_agcr_mode_of_unit(1), AFTL_MODE_COARSE);
	perform_access_pattern(2, "R");
	test_advance_clock_by(&device, IDLE_NS);
	CHECK_EQ(find_agcr_mode_of_unit(2), AFTL_MODE_FINE);
}

/* The rewrite queue holds 1,024 units; on a device without idle time later units are dropped. */
TAP_TEST(the_rewrite_queue_holds_at_most_1024_units)
{
	u32 unit;

	test_open_demo_profile(&device, "agcr", SHAPE " blocks=300 fill=sequential");
	for (unit = 0; unit < 1500; unit++)
		measure_access_ns(false, unit);
	for (unit = 0; unit < 1500; unit++)
		measure_access_ns(false, unit);
	test_advance_clock_by(&device, 20000000000ULL);
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 1024);
	CHECK_EQ(find_agcr_mode_of_unit(1023), AFTL_MODE_FINE);
	CHECK_EQ(find_agcr_mode_of_unit(1024), AFTL_MODE_NORMAL);
	measure_access_ns(false, 1024);
	test_advance_clock_by(&device, IDLE_NS);
	CHECK_EQ(find_agcr_mode_of_unit(1024), AFTL_MODE_FINE);
}

TAP_TEST(a_queued_unit_is_checked_again_before_it_is_rewritten)
{
	test_open_demo_profile(&device, "agcr", SHAPE);
	perform_access_pattern(1, "WRRW");
	perform_access_pattern(2, "WRR");
	perform_access_pattern(3, "WRR");
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 2, 1, AFTL_PRECISE, NULL), 0);
	test_advance_clock_by(&device, IDLE_NS);
	CHECK_EQ(find_agcr_mode_of_unit(1), AFTL_MODE_NORMAL);
	CHECK_EQ(find_agcr_mode_of_unit(2), AFTL_MODES);
	CHECK_EQ(find_agcr_mode_of_unit(3), AFTL_MODE_FINE);
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 1);
}

/* Whatever state a snapshot restores, the rewrite queue must hold valid units only. */
TAP_TEST(invalid_state_from_a_snapshot_is_made_valid)
{
	u64 index;
	u64 word;

	test_open_demo_profile(&device, "agcr", SHAPE);
	perform_access_pattern(1, "W");
	for (index = 0; aftl_policy_instance_save(device.ftl->policy, index, &word); index++)
		aftl_policy_instance_restore(device.ftl->policy, index, ~word);
	aftl_policy_instance_finish_load(device.ftl->policy);
	test_advance_clock_by(&device, IDLE_NS);
	perform_access_pattern(1, "WRRW");
	test_advance_clock_by(&device, IDLE_NS);
}

/*
 * Rewriting must leave the reserved free blocks to garbage collection, even while GC finds no
 * victim, because half of each block stays valid.
 */
TAP_TEST(rewriting_does_not_use_the_gc_reserve)
{
	struct aftl_lun_info info;
	u32 unit;

	test_open_demo_profile(&device, "agcr",
			       SHAPE " blocks=24 op=30 gc=0 gc_idle_valid=0 fill=sequential");
	for (unit = 0; unit < test_unit_count(&device); unit += 2)
		perform_access_pattern(unit, "RR");
	test_advance_clock_by(&device, 2000000000);
	aftl_get_lun_info(device.ftl, 0, &info);
	CHECK_EQ(info.free_blocks, aftl_policy_type(device.ftl)->reserve);
	CHECK_RANGE(test_counters(&device)->programmed_rewrite_units, 50,
		    test_unit_count(&device) / 2 - 1);
	for (unit = 0; unit < test_unit_count(&device); unit++)
		perform_access_pattern(unit, "W");
	CHECK_EQ(device.failed, 0);
}

/* Independent model: AGCR chooses the program mode by only the previous access to the unit. */
struct access_model {
	u8 last[1000];
	u8 mode[1000];
};

static void apply_access_to_agcr_model(struct access_model *model, u32 unit, bool write)
{
	if (write)
		model->mode[unit] = model->last[unit] == 'R' ? AFTL_MODE_NORMAL :
							       AFTL_MODE_COARSE;
	model->last[unit] = write ? 'W' : 'R';
}

static void compare_modes_with_model(const struct access_model *model)
{
	u32 unit;

	for (unit = 0; unit < test_unit_count(&device); unit++)
		CHECK_MSG(!model->last[unit] || find_agcr_mode_of_unit(unit) == model->mode[unit],
			  "unit %u has mode %u, not %u", unit, find_agcr_mode_of_unit(unit),
			  model->mode[unit]);
}

TAP_TEST(relocation_keeps_the_write_cost_of_data)
{
	struct access_model model = { .last = { 0 } };
	struct aftl_random random = { 5 };
	u32 i;

	test_open_demo_profile(&device, "agcr", SHAPE " rewrite=off wear_gap=4");
	CHECK_RANGE(test_unit_count(&device), 100, 1000);
	for (i = 0; i < 20000 && !tap_failure_count(); i++) {
		u32 unit = aftl_random_below(&random, test_unit_count(&device));
		bool write = !model.last[unit] || aftl_random_below(&random, 2);

		measure_access_ns(write, unit);
		apply_access_to_agcr_model(&model, unit, write);
		if (i % 100 == 0)
			compare_modes_with_model(&model);
	}
	CHECK(test_counters(&device)->programmed_gc_units > 1000);
}

/* Policy li: a write has low cost if another request waits behind it, else high cost. */
TAP_TEST(policy_li_writes_faster_if_another_request_waits)
{
	test_open_demo_profile(&device, "li", SHAPE " fill=sequential");
	CHECK_EQ(find_agcr_mode_of_unit(4), AFTL_MODE_NORMAL);
	CHECK_EQ(measure_access_ns(true, 1), 800000 + BUS_NS);
	test_submit_io(&device, AFTL_OP_WRITE, 1, 1, AFTL_PRECISE, 0, 0);
	test_submit_io(&device, AFTL_OP_WRITE, 2, 1, AFTL_PRECISE, 0, 0);
	test_submit_io(&device, AFTL_OP_WRITE, 3, 1, AFTL_PRECISE, 0, 0);
	test_drain_requests(&device);
	CHECK_EQ(find_agcr_mode_of_unit(1), AFTL_MODE_FINE);
	CHECK_EQ(find_agcr_mode_of_unit(2), AFTL_MODE_COARSE);
	CHECK_EQ(find_agcr_mode_of_unit(3), AFTL_MODE_FINE);
}

/* AGCR allocates one byte per unit and its queues, whatever the length of the access window. */
TAP_TEST(the_policy_needs_one_byte_for_each_unit)
{
	static const char off[] = SHAPE " rewrite=off history=2";
	u64 without;

	test_open_demo_profile(&device, "traditional", off);
	without = aftl_memory_bytes(device.ftl);
	test_open_demo_profile(&device, "agcr", off);
	CHECK_RANGE(aftl_memory_bytes(device.ftl) - without, test_unit_count(&device),
		    test_unit_count(&device) + 64);
}
