// SPDX-License-Identifier: GPL-2.0-only
/*
 * ApproxFTL against its paper: program times by placement, a manual run of algorithm 1, promotion,
 * wear, refresh.
 */
#include <stdlib.h>

#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define PAGE_NS 20480

/* Listener that records the block and page of the last program. */
struct probe {
	struct test_listener listener;
	const struct aftl_block *block;
	u32 page;
	u32 mode;
	u32 order;
	const char *kind;
};

/* Flag in the policy's note of a block: the block holds data of small requests. */
#define NOTE_HOT 0x08

static struct test_device device;
static struct probe probe;

static const char *get_policy_block_kind_name(const struct aftl_block *block)
{
	return aftl_policy_type(device.ftl)->kinds[block->kind];
}

static void record_programmed_block_and_mode(struct test_listener *listener, u32 tag,
					     aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 page = aftl_page_of_ppn(media, ppn);

	probe.block = aftl_block_of_ppn(media, ppn);
	probe.page = page % media->geo->pages;
	probe.mode = aftl_page_mode(*aftl_page_attr_ptr(media, page));
	probe.order = probe.block->order;
	probe.kind = get_policy_block_kind_name(probe.block);
}

static void open_device(const char *policy, const char *params)
{
	test_open_demo_profile(&device, policy, params);
	probe = (struct probe){ .listener = { .program = record_programmed_block_and_mode } };
}

/* A device with one die and one page per unit, on which no write counts as hot. */
#define ONE_DIE "channels=1 chips=1 unit=0 hot_size=0"

static const char one_die[] = ONE_DIE;

static u64 measure_approxftl_write_ns(u32 unit, u32 class)
{
	return test_measure_io_ns(&device, AFTL_OP_WRITE, unit, 1, class) - PAGE_NS;
}

/* Program time for data of @class, by block kind and page order (ApproxFTL paper). */
static u64 expected_program_ns(u32 class)
{
	if (class == AFTL_APPROX)
		return 437500;
	if (!strcmp(probe.kind, "precise"))
		return 700000;
	return probe.order == AFTL_ORDER_TWO_PASS ? 469000 : 532000;
}

TAP_TEST(service_times_follow_the_placement, "AX-1: program times follow from the placement")
{
	struct aftl_random random = { 1 };
	u32 seen[2][3] = { { 0 } };
	u32 i;

	open_device("approxftl", one_die);
	test_device_add_listener(&device, &probe.listener);
	for (i = 0; i < 6000 && !tap_failure_count(); i++) {
		u32 class = aftl_random_below(&random, 100) < 30 + i / 100;
		u64 ns = measure_approxftl_write_ns(i, class);

		CHECK_EQ(ns, expected_program_ns(class));
		seen[class][probe.mode == AFTL_MODE_BETWEEN ? 0 :
			    probe.mode == AFTL_MODE_AFTER ? 1 : 2]++;
	}
	for (i = 0; i < 3; i++)
		CHECK_MSG(seen[0][i] > 50, "placement %u of precise pages was seen %u times", i,
			  seen[0][i]);
}

TAP_TEST(baseline_delta_b_and_vth_b_have_their_program_times,
	 "AX-1: other policies have their own program times")
{
	static const struct {
		const char *name;
		u64 precise;
		u64 approx;
	} wanted[] = {
		{ "baseline", 700000, 700000 },
		{ "delta_b", 700000, 466667 },
		{ "vth_b", 700000, 437500 },
	};
	unsigned int i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		open_device(wanted[i].name, one_die);
		for (n = 0; n < 300; n++) {
			CHECK_EQ(measure_approxftl_write_ns(2 * n, AFTL_PRECISE),
				 wanted[i].precise);
			CHECK_EQ(measure_approxftl_write_ns(2 * n + 1, AFTL_APPROX),
				 wanted[i].approx);
		}
	}
}

/*
 * Model of the paper's Algorithm 1 (page placement), independent of the core: it numbers blocks,
 * and counts positions instead of reading the core's cursors.
 */

enum role { CHB, PRECISE, PHASE1, PHASE2, ALL_APPROX, ROLES };

struct hand {
	bool exists[ROLES];
	bool flip[ROLES];
	u32 block[ROLES];
	u32 next[ROLES];
	u32 blocks;
	u32 layers;
	u32 positions;
};

static struct hand hand;

static bool is_page_for_approximate_data(bool flip, u32 page)
{
	return (page % hand.positions + page / hand.positions + flip) % 2 == 0;
}

static u32 count_pages_per_model_block(void)
{
	return hand.layers * hand.positions;
}

/* Open a block in the model: its flip bit (which page colour is approximate) becomes 1. */
static void open_block_in_model(enum role role)
{
	if (hand.exists[role])
		return;
	hand.exists[role] = true;
	hand.block[role] = hand.blocks++;
	hand.next[role] = 0;
	hand.flip[role] = role != PRECISE;
}

/* Return the first page from @page on for data of the given class, or the number of pages. */
static u32 find_next_page_of_class_in_model(enum role role, u32 page, bool approximate)
{
	while (page < count_pages_per_model_block() &&
	       is_page_for_approximate_data(hand.flip[role], page) != approximate)
		page++;
	return page;
}

static enum role select_block_in_model(bool approximate)
{
	if (is_page_for_approximate_data(hand.flip[CHB], hand.next[CHB]) == approximate)
		return CHB;
	if (!approximate)
		return hand.exists[PHASE2] ? PHASE2 : PRECISE;
	if (!hand.exists[PHASE2])
		return PHASE1;
	return hand.exists[ALL_APPROX] ? ALL_APPROX : PHASE1;
}

static void start_phase_2_of_model_block(void)
{
	enum role role = !hand.exists[PHASE2] ? PHASE2 : ALL_APPROX;

	if (!hand.exists[PHASE1] ||
	    find_next_page_of_class_in_model(PHASE1, hand.next[PHASE1], true) <
		    count_pages_per_model_block())
		return;
	if (hand.exists[role])
		return;
	hand.exists[role] = true;
	hand.block[role] = hand.block[PHASE1];
	hand.flip[role] = hand.flip[PHASE1];
	hand.next[role] = 0;
	hand.exists[PHASE1] = false;
}

static void predict_page_of_next_program(bool approximate, u32 *block, u32 *page)
{
	enum role role;

	open_block_in_model(CHB);
	role = select_block_in_model(approximate);
	open_block_in_model(role);
	*block = hand.block[role];
	*page = hand.next[role];
	if (role == PHASE1)
		*page = find_next_page_of_class_in_model(role, *page, true);
	else if (role == PHASE2 || role == ALL_APPROX)
		*page = find_next_page_of_class_in_model(role, *page, false);
	hand.next[role] = *page + 1;
	if ((role == CHB || role == PRECISE) && hand.next[role] == count_pages_per_model_block())
		hand.exists[role] = false;
	if ((role == PHASE2 || role == ALL_APPROX) &&
	    find_next_page_of_class_in_model(role, hand.next[role], false) ==
		    count_pages_per_model_block())
		hand.exists[role] = false;
	start_phase_2_of_model_block();
}

static void compare_random_placement_with_model(u64 seed, u32 layers, u32 positions, u32 share,
						u32 run)
{
	struct aftl_random random = { aftl_hash64(seed) };
	u32 block_of[4096];
	u32 writes = layers * positions * 60;
	bool approximate = false;
	u32 i;

	hand = (struct hand){ .layers = layers, .positions = positions };
	memset(block_of, 0xff, sizeof(block_of));
	for (i = 0; i < writes && !tap_failure_count(); i++) {
		u32 block;
		u32 page;

		if (!aftl_random_below(&random, run))
			approximate = aftl_random_below(&random, 100) < share;
		predict_page_of_next_program(approximate, &block, &page);
		measure_approxftl_write_ns(i, approximate ? AFTL_APPROX : AFTL_PRECISE);
		if (block_of[block] == U32_MAX)
			block_of[block] = probe.block - aftl_media(device.ftl)->blocks;
		CHECK_MSG(block_of[block] == probe.block - aftl_media(device.ftl)->blocks,
			  "write %u goes to another block", i);
		CHECK_MSG(probe.page == page, "write %u goes to page %u, not %u", i, probe.page,
			  page);
	}
	CHECK_EQ(test_counters(&device)->array_erases, 0);
}

static void compare_placement_with_model(u32 layers, u32 positions, u32 share, u32 run)
{
	char layer_text[16];
	char position_text[16];

	snprintf(layer_text, sizeof(layer_text), "%u", layers);
	snprintf(position_text, sizeof(position_text), "%u", positions);
	open_device("approxftl",
		    test_format_params(ONE_DIE " op=60 blocks=200 layers=%s word_lines=%s "
				       "gc=0", layer_text, position_text));
	test_device_add_listener(&device, &probe.listener);
	compare_random_placement_with_model(share, layers, positions, share, run);
}

TAP_TEST(placements_equal_those_of_algorithm_1)
{
	static const u32 shapes[][2] = {
		{ 8, 16 }, { 8, 15 }, { 3, 5 }, { 1, 7 }, { 7, 1 }, { 2, 2 },
	};
	static const u32 shares[] = { 5, 30, 50, 70, 95 };
	unsigned int shape;
	unsigned int i;

	for (shape = 0; shape < ARRAY_SIZE(shapes); shape++)
		for (i = 0; i < ARRAY_SIZE(shares); i++)
			compare_placement_with_model(shapes[shape][0], shapes[shape][1], shares[i],
						     i % 2 ? 1 : 40);
}

#define PRESSED "channels=2 chips=1 blocks=64 layers=4 word_lines=8 op=50"
#define TEST_BLOCKS_MAX 1024

/*
 * Copies by relocation: @count is how often each unit was relocated as approximate data. If a unit
 * of a victim was rewritten as precise (@precise), so must be all later units of this block.
 */
struct copies {
	struct test_listener listener;
	u8 count[100000];
	bool precise[TEST_BLOCKS_MAX];
	u32 most;
	u64 promoted;
};

static void reset_copy_count_of_written_unit(struct test_listener *listener, u32 tag,
					     aftl_lpn_t lpn, aftl_ppn_t ppn)
{
	container_of(listener, struct copies, listener)->count[from_lpn(lpn)] = 0;
}

static void count_copy_of_unit(struct test_listener *listener, aftl_lpn_t lpn, aftl_ppn_t from,
			       aftl_ppn_t to)
{
	struct copies *copies = container_of(listener, struct copies, listener);
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 before = aftl_page_class(aftl_ppn_attr(media, from));
	u32 after = aftl_page_class(aftl_ppn_attr(media, to));

	bool *precise = &copies->precise[aftl_block_index(media, aftl_block_of_ppn(media, from))];

	CHECK_MSG(before == AFTL_APPROX || after == AFTL_PRECISE, "a copy lost its precision");
	CHECK_MSG(after == AFTL_PRECISE || !*precise, "approximate data follows precise data");
	CHECK(!(aftl_block_of_ppn(media, to)->note & NOTE_HOT));
	*precise |= after == AFTL_PRECISE;
	if (before != AFTL_APPROX)
		return;
	copies->promoted += after == AFTL_PRECISE;
	if (after == AFTL_APPROX) {
		copies->count[from_lpn(lpn)]++;
		if (copies->count[from_lpn(lpn)] > copies->most)
			copies->most = copies->count[from_lpn(lpn)];
	}
}

static void clear_precise_flag_of_erased_block(struct test_listener *listener, aftl_ppn_t first,
					       u32 slots)
{
	container_of(listener, struct copies, listener)->precise[from_ppn(first) / slots] = false;
}

TAP_TEST(data_are_promoted_after_the_given_number_of_copies,
	 "AX-8: data become precise after the configured copies")
{
	static struct copies copies;
	char promote[4];
	struct test_stream stream;
	u32 limit;

	for (limit = 1; limit <= 5; limit++) {
		snprintf(promote, sizeof(promote), "%u", limit);
		copies = (struct copies){
			.listener = {
				.program = reset_copy_count_of_written_unit,
				.copy = count_copy_of_unit,
				.erase = clear_precise_flag_of_erased_block,
			},
		};
		open_device("approxftl", test_format_params(PRESSED " promote=%s", promote));
		test_device_add_listener(&device, &copies.listener);
		test_stream_init(&stream, limit);
		stream.approx = 80;
		stream.hot = 85;
		test_stream_write_all_units(&stream, &device);
		test_stream_submit_requests(&stream, &device, 40000);
		test_drain_requests(&device);
		CHECK_MSG(copies.most == limit - 1, "limit %u: %u copies stayed approximate",
			  limit, copies.most);
		CHECK(copies.promoted > 20);
		CHECK_EQ(test_counters(&device)->programmed_promotion_units, copies.promoted);
	}
}

/* Only a block without any precise page is erased at low voltage (ApproxFTL paper). */
struct wear {
	struct test_listener listener;
	u64 erases;
	u64 low;
	bool precise[TEST_BLOCKS_MAX];
};

static void record_class_of_block(struct wear *wear, aftl_ppn_t ppn)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u16 attr = aftl_ppn_attr(media, ppn);
	u32 block = aftl_block_index(media, aftl_block_of_ppn(media, ppn));

	wear->precise[block] |= aftl_page_class(attr) != AFTL_APPROX;
}

static void record_class_of_programmed_unit(struct test_listener *listener, u32 tag, aftl_lpn_t lpn,
					    aftl_ppn_t ppn)
{
	record_class_of_block(container_of(listener, struct wear, listener), ppn);
}

static void record_class_of_relocated_unit(struct test_listener *listener, aftl_lpn_t lpn,
					   aftl_ppn_t from, aftl_ppn_t to)
{
	record_class_of_block(container_of(listener, struct wear, listener), to);
}

static void count_erase_by_voltage(struct test_listener *listener, aftl_ppn_t first, u32 slots)
{
	struct wear *wear = container_of(listener, struct wear, listener);
	bool *precise = &wear->precise[from_ppn(first) / slots];

	wear->erases++;
	wear->low += !*precise;
	*precise = false;
}

static void check_erase_wear(const char *policy)
{
	static struct wear wear;
	struct test_stream stream;
	u64 sum = 0;
	u32 i;

	wear = (struct wear){
		.listener = { .program = record_class_of_programmed_unit,
			      .copy = record_class_of_relocated_unit,
			      .erase = count_erase_by_voltage },
	};
	open_device(policy, PRESSED);
	if (aftl_geometry(device.ftl)->blocks > TEST_BLOCKS_MAX)
		tap_bail_out("more blocks than are followed");
	test_device_add_listener(&device, &wear.listener);
	test_stream_init(&stream, 3);
	stream.approx = 60;
	test_stream_submit_requests(&stream, &device, 40000);
	test_drain_requests(&device);
	for (i = 0; i < aftl_geometry(device.ftl)->blocks; i++) {
		const struct aftl_block *block = &aftl_media(device.ftl)->blocks[i];

		sum += block->wear;
		CHECK_MSG(block->state == AFTL_BLOCK_OPEN ||
			  strncmp(get_policy_block_kind_name(block), "phase", 5),
			  "a used block is still in %s", get_policy_block_kind_name(block));
	}
	CHECK_EQ(test_counters(&device)->array_erases, wear.erases);
	CHECK_EQ(test_counters(&device)->array_low_erases, wear.low);
	CHECK_EQ(sum, wear.erases * 10000 - wear.low * 3800);
	CHECK_EQ(test_counters(&device)->wear_sum, sum);
	CHECK(wear.low > 10 && wear.low < wear.erases);
	/* An erase takes 288.75 uJ. */
	CHECK_EQ(test_counters(&device)->erase_energy_pj, wear.erases * 288750000ULL);
	tap_printf("%s: %llu of %llu erases with reduced voltage", policy,
		   (unsigned long long)wear.low, (unsigned long long)wear.erases);
}

TAP_TEST(low_voltage_erases_are_accounted_for, "AX-6: low-voltage erases are accounted for")
{
	check_erase_wear("approxftl");
	check_erase_wear("vth_b");
}

TAP_TEST(other_policies_erase_with_full_voltage,
	 "AX-6: Baseline and Delta_b erase with full voltage")
{
	static const char *const policies[] = { "baseline", "delta_b" };
	struct test_stream stream;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		open_device(policies[i], PRESSED);
		test_stream_init(&stream, 3);
		stream.approx = 100;
		test_stream_submit_requests(&stream, &device, 10000);
		test_drain_requests(&device);
		CHECK(test_counters(&device)->array_erases > 50);
		CHECK_EQ(test_counters(&device)->wear_sum,
			 test_counters(&device)->array_erases * 10000);
	}
}

static u32 count_units_of_class(u32 wanted)
{
	u32 count = 0;
	u32 unit;

	for (unit = 0; unit < test_unit_count(&device); unit++) {
		u32 class;

		if (from_ppn(aftl_lookup(device.ftl, to_lpn(unit), &class)) != U32_MAX)
			count += class == wanted;
	}
	return count;
}

/* In blocks of four pages a checkerboard takes precise (P) and approximate (A) pages as P A A P. */
#define TINY ONE_DIE " op=60 blocks=60 layers=2 word_lines=2 gc=0 gc_idle_valid=0"

static void write_unit_of_each_class_letter(u32 unit, const char *classes)
{
	for (; *classes; classes++)
		measure_approxftl_write_ns(unit++, *classes == 'A' ? AFTL_APPROX : AFTL_PRECISE);
}

static void discard_unit(u32 unit)
{
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, unit, 1, AFTL_PRECISE, NULL), 0);
}

static bool is_unit_in_selected_victim(u32 unit)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 class;

	return aftl_gc_select_victim(device.ftl, device.ftl->luns, 4) ==
	       aftl_block_of_ppn(media, aftl_lookup(device.ftl, to_lpn(unit), &class));
}

/* GC must take the checkerboard block whose two valid pages are both approximate. */
TAP_TEST(victims_hold_few_valid_precise_pages)
{
	open_device("approxftl", TINY);
	write_unit_of_each_class_letter(0, "PAAPPAAP");
	discard_unit(4);
	discard_unit(7);
	discard_unit(1);
	discard_unit(2);
	CHECK(is_unit_in_selected_victim(5));
}

/* GC takes full precise blocks last, unless a checkerboard block takes precise data. */
TAP_TEST(closed_precise_blocks_are_collected_last)
{
	open_device("approxftl", TINY);
	write_unit_of_each_class_letter(0, "PAAPPPPPP");
	discard_unit(1);
	discard_unit(2);
	discard_unit(5);
	discard_unit(6);
	CHECK(is_unit_in_selected_victim(0));
	write_unit_of_each_class_letter(9, "AAAA");
	CHECK(is_unit_in_selected_victim(7));
}

TAP_TEST(small_requests_go_to_the_hot_pool)
{
	open_device("approxftl", ONE_DIE " hot_size=8KiB");
	test_device_add_listener(&device, &probe.listener);
	measure_approxftl_write_ns(0, AFTL_PRECISE);
	CHECK(probe.block->note & NOTE_HOT);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 1, 2, AFTL_PRECISE, NULL), 0);
	CHECK(!(probe.block->note & NOTE_HOT));
}

TAP_TEST(young_updates_of_any_size_go_to_the_hot_pool)
{
	open_device("approxftl", ONE_DIE " hot_size=8KiB hot_age=1s");
	test_device_add_listener(&device, &probe.listener);
	measure_approxftl_write_ns(0, AFTL_PRECISE);
	CHECK(!(probe.block->note & NOTE_HOT));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 2, AFTL_PRECISE, NULL), 0);
	CHECK(probe.block->note & NOTE_HOT);
	test_advance_clock_by(&device, 2000000000);
	measure_approxftl_write_ns(0, AFTL_PRECISE);
	CHECK(!(probe.block->note & NOTE_HOT));
}

/* Set the wear of the free list's first four blocks to @first, of the other blocks to @others. */
static void set_free_block_wear(u32 first, u32 others)
{
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks; i++)
		device.ftl->media.blocks[i].wear = i < 4 ? first : others;
}

/*
 * A block with twice the least wear of all blocks is not opened; a block with less is. The least
 * wear is recomputed at every second block.
 */
TAP_TEST(blocks_with_twice_the_least_wear_are_not_opened)
{
	open_device("approxftl", TINY " wear_period=2");
	test_device_add_listener(&device, &probe.listener);
	set_free_block_wear(60000, 30000);
	write_unit_of_each_class_letter(0, "P");
	CHECK_EQ(probe.block->wear, 30000);
	write_unit_of_each_class_letter(1, "P");
	CHECK(!strcmp(probe.kind, "precise"));
	set_free_block_wear(150000, 70000);
	write_unit_of_each_class_letter(2, "AAA");
	CHECK(!strcmp(probe.kind, "phase1"));
	CHECK_EQ(probe.block->wear, 70000);
	set_free_block_wear(100000, 70000);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 4, 2, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(probe.block->wear, 100000);
}

#define DAY_NS 86400000000000ULL

static void check_refresh_by_policy(const char *policy)
{
	static struct shadow_store store;
	u32 unit;

	open_device(policy, PRESSED);
	shadow_attach_to_device(&store, &device, false);
	for (unit = 0; unit < 400; unit += 4)
		test_execute_request(&device, AFTL_OP_WRITE, unit, 4,
				     unit < 200 ? AFTL_APPROX : AFTL_PRECISE, NULL);
	test_execute_request(&device, AFTL_OP_READ, 0, 64, 0, NULL);
	CHECK_EQ(count_units_of_class(AFTL_APPROX), 200);
	aftl_advance_age(device.ftl, 181 * DAY_NS);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_refresh_units, 0);
	aftl_advance_age(device.ftl, 2 * DAY_NS);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_refresh_units, 200);
	CHECK_EQ(count_units_of_class(AFTL_APPROX), 0);
	CHECK_EQ(count_units_of_class(AFTL_PRECISE), 400);
	/* Refresh does not correct bits of approximate data that had flipped before. */
	for (unit = 0; unit < 400; unit += 8)
		test_execute_request(&device, AFTL_OP_READ, unit, 8, 0, NULL);
	aftl_advance_age(device.ftl, 400 * DAY_NS);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_refresh_units, 200);
}

TAP_TEST(data_older_than_six_months_becomes_precise)
{
	check_refresh_by_policy("delta_b");
	check_refresh_by_policy("vth_b");
	check_refresh_by_policy("approxftl");
}

/* A block has pages of two ages: refresh rewrites each page when it is due, not before. */
TAP_TEST(each_page_is_refreshed_by_its_own_age)
{
	u32 unit;

	open_device("vth_b", PRESSED);
	for (unit = 0; unit < 80; unit += 4) {
		if (unit == 40)
			aftl_advance_age(device.ftl, 100 * DAY_NS);
		test_execute_request(&device, AFTL_OP_WRITE, unit, 4, AFTL_APPROX, NULL);
	}
	aftl_advance_age(device.ftl, 83 * DAY_NS);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_refresh_units, 40);
	CHECK_EQ(count_units_of_class(AFTL_APPROX), 40);
	aftl_advance_age(device.ftl, 100 * DAY_NS);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_refresh_units, 80);
}

TAP_TEST(without_refresh_old_approximate_data_stay_approximate, "refresh=0 turns refresh off")
{
	open_device("vth_b", PRESSED " refresh=0");
	test_execute_request(&device, AFTL_OP_WRITE, 0, 8, AFTL_APPROX, NULL);
	aftl_advance_age(device.ftl, 3000 * DAY_NS);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(count_units_of_class(AFTL_APPROX), 8);
	CHECK_EQ(aftl_next_event_ns(device.ftl), U64_MAX);
}
