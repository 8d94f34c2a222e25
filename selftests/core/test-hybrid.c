// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy hybrid: which part of the policy handles which data; no part places data in a way that
 * another part excludes.
 */
#include "core/nand/physics-tables.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=2 chips=1 blocks=120 layers=6 word_lines=4 bits=3 one_shot=on page=16KiB " \
	"unit=0 op=50"
#define COSTS "read_coarse=90us read_fine=45us"
#define ALL "hybrid_agcr=on hybrid_ressd=on"
#define SOON "zone1=100ms zone2=200ms zone3=400ms"

enum { KIND_SHORT = 7 };

static struct test_device device;

/* Check that the mode and class of a page are legal for the kind of its block. */
static void check_page_mode(const struct aftl_block *block, u16 attr)
{
	u32 mode = aftl_page_mode(attr);
	bool approx = aftl_page_class(attr) == AFTL_APPROX;

	CHECK_EQ(mode == AFTL_MODE_MLC, block->order == AFTL_ORDER_SUPER_LAYER);
	CHECK_EQ(mode == AFTL_MODE_REDUCED && !approx, block->kind == KIND_SHORT);
	CHECK(!approx || mode == AFTL_MODE_REDUCED);
}

static void check_page_modes_fit_blocks(void)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 i;
	u32 page;

	for (i = 0; i < media->geo->blocks; i++) {
		const struct aftl_block *block = &media->blocks[i];

		for (page = 0; page < media->geo->pages; page++) {
			u16 attr = aftl_block_page_attr(media, block, page);

			if (attr)
				check_page_mode(block, attr);
		}
	}
}

static u64 count_pages_of_mode(u32 mode)
{
	return aftl_get_stats(device.ftl)->mode_pages[mode];
}

TAP_TEST(no_part_of_policy_hybrid_violates_the_rules_of_another)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 mode;
	u32 i;

	test_open_demo_profile(&device, "hybrid",
			       SHAPE " " COSTS " " SOON " " ALL " buffer=1MiB misprograms=1e-2");
	shadow_attach_to_device(&store, &device, true);
	test_stream_init(&stream, 3);
	for (i = 0; i < 20000 && !tap_failure_count(); i++) {
		stream.gap_ns = i / 1000 % 2 ? 100000 : 6000000;
		test_stream_submit_request(&stream, &device);
		if (i % 500 == 0)
			check_page_modes_fit_blocks();
	}
	test_drain_requests(&device);
	check_page_modes_fit_blocks();
	CHECK(test_counters(&device)->gc_blocks > 50);
	CHECK(test_counters(&device)->repeated_programs > 5);
	/* AGCR must not rewrite units, because each would take a whole one-shot word line. */
	CHECK_EQ(count_pages_of_mode(AFTL_MODE_FINE), 0);
	for (mode = 0; mode < AFTL_MODE_SLC; mode++)
		CHECK_MSG(count_pages_of_mode(mode) || mode == AFTL_MODE_FINE, "no page of mode %u",
			  mode);
}

TAP_TEST(without_parts_policy_hybrid_is_plain_page_mapping)
{
	struct test_stream stream;
	u32 mode;

	test_open_demo_profile(&device, "hybrid", SHAPE " " COSTS " " SOON " hybrid_approx=off "
			       "hybrid_cube=off hybrid_agcr=off hybrid_tvr=off hybrid_ressd=off");
	test_stream_init(&stream, 4);
	test_stream_submit_requests(&stream, &device, 3000);
	test_drain_requests(&device);
	for (mode = AFTL_MODE_NORMAL + 1; mode < AFTL_MODES; mode++)
		CHECK_EQ(count_pages_of_mode(mode), 0);
	CHECK(count_pages_of_mode(AFTL_MODE_NORMAL) > 1000);
}

static u64 measure_hybrid_write_ns(u32 unit, u32 class)
{
	u64 before = test_counters(&device)->host_program_ns;

	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 3, class, NULL), 0);
	return test_counters(&device)->host_program_ns - before;
}

/* A program mode that uses up the voltage margin may skip verifies, but not enlarge ISPP steps. */
TAP_TEST(margins_are_used_by_one_part_of_policy_hybrid_only)
{
	u64 steps = aftl_tvr_steps[0][0] + aftl_tvr_steps[1][0];
	u64 all = aftl_tvr_steps[0][AFTL_TVR_MARGIN_POINTS - 1] +
		  aftl_tvr_steps[1][AFTL_TVR_MARGIN_POINTS - 1];
	u64 brief = 700000 * steps / all;
	u64 skipped = aftl_cube_program_ns[4][0];

	test_open_demo_profile(&device, "hybrid", SHAPE " channels=1");
	/* Five writes open an approximate block and fill a layer of a checkerboard block. */
	CHECK_EQ(measure_hybrid_write_ns(0, AFTL_APPROX), 437500);
	CHECK_EQ(measure_hybrid_write_ns(3, AFTL_PRECISE), 532000);
	CHECK_EQ(measure_hybrid_write_ns(6, AFTL_APPROX), 437500);
	CHECK_EQ(measure_hybrid_write_ns(9, AFTL_PRECISE), 532000 * skipped / 700000);
	CHECK_EQ(measure_hybrid_write_ns(18, AFTL_APPROX), 437500 * skipped / 700000);
	/* Data that are overwritten again are programmed without retention margins. */
	CHECK_EQ(measure_hybrid_write_ns(3, AFTL_PRECISE), brief);
	CHECK_EQ(measure_hybrid_write_ns(9, AFTL_PRECISE), brief * skipped / 700000);
	/*
	 * The next page of the checkerboard is for approximate data, so precise data open a block
	 * of their own, with full margins.
	 */
	CHECK_EQ(measure_hybrid_write_ns(12, AFTL_PRECISE), 700000);
	CHECK_RANGE(measure_hybrid_write_ns(15, AFTL_PRECISE), 400000, 586000);
	CHECK_EQ(count_pages_of_mode(AFTL_MODE_FOLLOWER), 3);
}

static void access_units_singly(enum aftl_op op, u32 first, u32 end, u32 class)
{
	for (; first < end; first++)
		CHECK_EQ(test_execute_request(&device, op, first, 1, class, NULL), 0);
}

/* Rewrites in idle time use AGCR's mode fine, repetitions of misprogrammed pages do not. */
TAP_TEST(a_repeated_program_keeps_its_write_cost)
{
	u64 repeated;

	test_open_demo_profile(&device, "hybrid", SHAPE " " COSTS " bits=1 hybrid_agcr=on "
			       "hybrid_tvr=off misprograms=1e-1");
	access_units_singly(AFTL_OP_WRITE, 0, 300, AFTL_PRECISE);
	repeated = test_counters(&device)->programmed_rewrite_units;
	CHECK_RANGE(repeated, 10, 100);
	CHECK_EQ(count_pages_of_mode(AFTL_MODE_FINE), 0);
	/* AGCR assigns no read or write cost to pages in program mode "between". */
	CHECK_RANGE(count_pages_of_mode(AFTL_MODE_BETWEEN), 1, 2);
	access_units_singly(AFTL_OP_READ, 0, 10, AFTL_PRECISE);
	access_units_singly(AFTL_OP_READ, 0, 10, AFTL_PRECISE);
	test_advance_clock_by(&device, 1000000000);
	CHECK_RANGE(count_pages_of_mode(AFTL_MODE_FINE), 8, 10);
}

/* Approximate data are always read at the lowest cost. */
TAP_TEST(approximate_data_are_not_rewritten)
{
	test_open_demo_profile(&device, "hybrid", SHAPE " " COSTS " bits=1 hybrid_agcr=on");
	access_units_singly(AFTL_OP_WRITE, 0, 20, AFTL_APPROX);
	access_units_singly(AFTL_OP_READ, 0, 20, AFTL_APPROX);
	access_units_singly(AFTL_OP_READ, 0, 20, AFTL_APPROX);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_rewrite_units, 0);
}

TAP_TEST(the_age_of_updated_data_selects_the_part)
{
	test_open_demo_profile(&device, "hybrid", SHAPE " " SOON " " ALL);
	measure_hybrid_write_ns(0, AFTL_PRECISE);
	measure_hybrid_write_ns(30, AFTL_PRECISE);
	/* Soon overwritten data go to two-bit word lines, which can be reprogrammed. */
	measure_hybrid_write_ns(0, AFTL_PRECISE);
	CHECK(count_pages_of_mode(AFTL_MODE_MLC) > 0);
	CHECK_EQ(count_pages_of_mode(AFTL_MODE_REDUCED), 0);
	/* Only data that are overwritten within a week are programmed without voltage margins. */
	test_advance_clock_by(&device, 10000000000ULL);
	measure_hybrid_write_ns(30, AFTL_PRECISE);
	CHECK_EQ(count_pages_of_mode(AFTL_MODE_REDUCED), 3);
	aftl_advance_age(device.ftl, 30 * 24 * AFTL_HOUR_NS);
	test_advance_clock_by(&device, 1000000000);
	measure_hybrid_write_ns(0, AFTL_PRECISE);
	CHECK_EQ(count_pages_of_mode(AFTL_MODE_REDUCED), 3);
	/* No page may be programmed in AGCR's mode of low write cost. */
	CHECK_EQ(count_pages_of_mode(AFTL_MODE_COARSE), 0);
}
