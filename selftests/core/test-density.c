// SPDX-License-Identifier: GPL-2.0-only
/*
 * Density classes: which data go to sparse blocks, how many blocks are sparse, and that dense
 * blocks follow ApproxFTL if so configured.
 */
#include "core/ftl/controller.h"
#include "stream.h"
#include "tap.h"

#define BLOCKS 60
#define SHAPE "channels=1 chips=2 blocks=60 layers=4 word_lines=3 page=4KiB unit=4KiB op=45"

enum { KIND_PRECISE = 1, KIND_APPROX = 4, KIND_SPARSE = 5 };

static struct test_device device;
static struct test_stream stream;
/* Counts of programs by bits per cell, data class, and cause (host or not). */
static u32 programs[AFTL_BITS_MAX + 1][AFTL_CLASSES][2];
static u32 most_sparse;

static u32 count_sparse_blocks_of_lun(u32 lun)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 count = 0;
	u32 i;

	for (i = lun * BLOCKS; i < (lun + 1) * BLOCKS; i++)
		count += media->blocks[i].kind == KIND_SPARSE;
	return count;
}

static void check_programmed_block_bits_per_cell(void *host, const struct aftl_array_event *event)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	const struct aftl_block *block = &media->blocks[event->block];
	u16 attr;

	if (event->op != AFTL_ARRAY_PROGRAM)
		return;
	attr = aftl_block_page_attr(media, block, event->page);
	CHECK(attr);
	programs[block->bits][aftl_page_class(attr)][event->cause == AFTL_CAUSE_HOST]++;
	CHECK_EQ(block->kind == KIND_SPARSE, block->bits != 0);
	most_sparse = max(most_sparse, count_sparse_blocks_of_lun(event->block / BLOCKS));
}

static void open_device(const char *bits, const char *params)
{
	test_device_init(&device, "demo");
	test_device_set_params(&device, SHAPE);
	test_device_set_param_text(&device, "bits", bits);
	device.ops.array = check_programmed_block_bits_per_cell;
	memset(programs, 0, sizeof(programs));
	most_sparse = 0;
	test_device_open(&device, "density", params);
}

static void submit_density_test_requests(u64 seed, u32 steps)
{
	test_stream_init(&stream, seed);
	test_stream_submit_requests(&stream, &device, steps);
	CHECK(test_drain_requests(&device));
}

/* Discard the units, and collect all sparse blocks of the only LUN. */
static void discard_sparse_units(u32 units)
{
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, units, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	CHECK(test_drain_requests(&device));
	test_advance_clock_by(&device, AFTL_HOUR_NS);
	CHECK_EQ(count_sparse_blocks_of_lun(0), 0);
}

/* New precise data go to sparse blocks; approximate, relocated, initial data to dense blocks. */
static void check_sparse_blocks_store_precise_data(const char *bits, const char *sparse, u32 wanted)
{
	u32 other;

	open_device(bits,
		    test_format_params("density_bits=%s fill=sequential fill_approx=50%%", sparse));
	CHECK_EQ(count_sparse_blocks_of_lun(0) + count_sparse_blocks_of_lun(1), 0);
	submit_density_test_requests(wanted, 6000);
	CHECK(programs[wanted][AFTL_PRECISE][true] > 500);
	CHECK(programs[0][AFTL_PRECISE][false] > 500);
	CHECK(programs[0][AFTL_APPROX][true] > 500);
	for (other = 1; other <= AFTL_BITS_MAX; other++) {
		CHECK_EQ(programs[other][AFTL_APPROX][true], 0);
		CHECK_EQ(programs[other][AFTL_APPROX][false], 0);
		CHECK_EQ(programs[other][AFTL_PRECISE][false], 0);
		CHECK(other == wanted || !programs[other][AFTL_PRECISE][true]);
	}
}

TAP_TEST(only_new_precise_data_go_to_sparse_blocks)
{
	check_sparse_blocks_store_precise_data("2", "0", 1);
	check_sparse_blocks_store_precise_data("3", "0", 2);
	check_sparse_blocks_store_precise_data("3", "1", 1);
	check_sparse_blocks_store_precise_data("4", "0", 3);
	check_sparse_blocks_store_precise_data("4", "2", 2);
}

/* With ApproxFTL off, each dense block holds data of one class. */
TAP_TEST(each_block_holds_data_of_one_class)
{
	const struct aftl_media *media;
	u32 i;

	open_device("3", "fill=sequential fill_approx=50%");
	submit_density_test_requests(5, 6000);
	media = aftl_media(device.ftl);
	for (i = 0; i < media->geo->blocks; i++) {
		const struct aftl_block *block = &media->blocks[i];

		if (!block->programmed)
			continue;
		CHECK_EQ(block->kind == KIND_APPROX, block->approx_only);
		CHECK(block->kind == KIND_APPROX || !block->valid_approx);
		CHECK(block->kind == KIND_APPROX || block->kind == KIND_PRECISE ||
		      block->kind == KIND_SPARSE);
	}
}

/* A freed sparse block takes data again after as many program steps as a dense block has. */
TAP_TEST(a_freed_sparse_block_is_used_after_a_blocks_worth_of_steps)
{
	u32 unit;

	open_device("2", "density_share=2% chips=1");
	for (unit = 0; unit < 12; unit++)
		test_write_each_unit(&device, unit, 1, AFTL_PRECISE);
	CHECK_EQ(count_sparse_blocks_of_lun(0), 1);
	test_write_each_unit(&device, 50, 1, AFTL_PRECISE);
	CHECK_EQ(test_block_of(&device, 50)->kind, KIND_PRECISE);
	discard_sparse_units(12);
	for (unit = 51; unit < 50 + 24; unit++) {
		/* Approximate writes do not bring the opening of the next sparse block nearer. */
		test_write_each_unit(&device, 200, 1, AFTL_APPROX);
		test_write_each_unit(&device, unit, 1, AFTL_PRECISE);
		CHECK_EQ(test_block_of(&device, unit)->kind, KIND_PRECISE);
	}
	test_write_each_unit(&device, 100, 1, AFTL_PRECISE);
	CHECK_EQ(test_block_of(&device, 100)->kind, KIND_SPARSE);
}

/*
 * No block is sparse if cells have one bit, if density_bits equals the bits per cell, or if an SLC
 * cache takes the writes.
 */
TAP_TEST(no_block_is_sparse_if_cells_cannot_hold_fewer_bits)
{
	open_device("1", NULL);
	submit_density_test_requests(1, 2000);
	CHECK_EQ(most_sparse, 0);
	open_device("3", "density_bits=3");
	submit_density_test_requests(1, 2000);
	CHECK_EQ(most_sparse, 0);
	test_open_demo_profile(&device, "density", "bits=3 op=50% slc_static=10% density_bits=1");
	submit_density_test_requests(1, 2000);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	CHECK(test_counters(&device)->cached_host_units);
	CHECK_EQ(aftl_get_stats(device.ftl)->kind_blocks[KIND_SPARSE], 0);
}

static void open_device_with_param(const char *policy, const char *key, const char *value)
{
	test_open_demo_profile(&device, policy,
			       test_format_params(SHAPE " bits=3 fill=sequential fill_approx=30%% "
						  "density_share=0 %s=%s", key, value));
	submit_density_test_requests(11, 12000);
	test_audit_device(&device);
}

/* Without sparse blocks policy density must equal ApproxFTL with hot_size=0 (no hot data). */
TAP_TEST(without_sparse_blocks_the_policy_equals_approxftl)
{
	struct aftl_counters counters;
	u64 kinds[AFTL_KINDS_MAX];

	open_device_with_param("approxftl", "hot_size", "0");
	counters = *test_counters(&device);
	memcpy(kinds, aftl_get_stats(device.ftl)->kind_blocks, sizeof(kinds));
	open_device_with_param("density", "density_approx", "on");
	CHECK(counters.array_low_erases && counters.programmed_gc_units);
	CHECK(!memcmp(&counters, test_counters(&device), sizeof(counters)));
	CHECK(!memcmp(kinds, aftl_get_stats(device.ftl)->kind_blocks, sizeof(kinds)));
}

/* With ApproxFTL on, sparse blocks are filled first, and the core refuses no placement. */
TAP_TEST(sparse_blocks_are_filled_before_approxftls_blocks)
{
	const u64 *kinds;

	open_device("3", "density_approx=on fill=sequential fill_approx=50%");
	submit_density_test_requests(2, 9000);
	CHECK(programs[2][AFTL_PRECISE][true] > 500);
	CHECK_EQ(programs[2][AFTL_PRECISE][false] + programs[2][AFTL_APPROX][true], 0);
	CHECK_EQ(most_sparse, BLOCKS / 10);
	kinds = aftl_get_stats(device.ftl)->kind_blocks;
	CHECK(kinds[0] && kinds[KIND_SPARSE]);
	CHECK(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_REDUCED]);
	CHECK(test_counters(&device)->array_low_erases);
}

/* Sparse blocks take one pass, dense blocks two: ApproxFTL cannot place pages in dense blocks. */
TAP_TEST(dense_blocks_take_two_passes_sparse_blocks_one)
{
	open_device("4", "one_shot=on passes=2 buffer=1MiB density_approx=on");
	submit_density_test_requests(4, 6000);
	CHECK(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_TLC]);
	CHECK(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_FOGGY]);
	CHECK_EQ(aftl_get_stats(device.ftl)->mode_pages[AFTL_MODE_REDUCED], 0);
}

/* A loaded device continues its open blocks and its count of steps to the next sparse block. */
TAP_TEST(a_loaded_device_continues_its_open_blocks)
{
	u32 unit;

	open_device("3", "density_share=2% chips=1");
	for (unit = 0; unit < 5; unit++)
		test_write_each_unit(&device, unit, 1, AFTL_PRECISE);
	CHECK_EQ(test_device_reload(&device), 0);
	for (; unit < 24; unit++) {
		test_write_each_unit(&device, unit, 1, AFTL_PRECISE);
		CHECK(test_block_of(&device, unit) == test_block_of(&device, 0));
	}
	test_write_each_unit(&device, 24, 1, AFTL_PRECISE);
	CHECK_EQ(test_block_of(&device, 24)->kind, KIND_PRECISE);
	discard_sparse_units(24);
	CHECK_EQ(test_device_reload(&device), 0);
	for (unit = 25; unit < 24 + 36; unit++) {
		test_write_each_unit(&device, unit, 1, AFTL_PRECISE);
		CHECK_EQ(test_block_of(&device, unit)->kind, KIND_PRECISE);
	}
}
