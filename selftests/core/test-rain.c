// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAIN: superblocks are erased jointly, and parity makes data of a failed die readable until they
 * are rebuilt. An independent model decides from programmed pages and live dies which data are
 * readable.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/superblock.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SECOND_NS 1000000000ULL
#define LUNS 8
#define EACH 4

#define SHAPE "channels=2 chips=4 blocks=48 layers=4 word_lines=4 superblock=4"
#define ROOMY SHAPE " op=66"

static const char plain[] = ROOMY;
static const char parity[] = ROOMY " rain=on";
static const char least_busy[] = ROOMY " rain=on allocate=least_busy";
static const char buffered[] = ROOMY " rain=on buffer=256KiB";
static const char caching[] = ROOMY " rain=on read_cache=256KiB read_ahead=64KiB";
static const char suspending[] = ROOMY " rain=on suspend=both";
static const char whole[] = ROOMY " rain=on superblock=8 bits=2 one_shot=on";
static const char mirrored[] = ROOMY " rain=on superblock=2";
static const char dense[] = SHAPE " op=40 rain=on";
static const char foggy[] =
	ROOMY " op=76 layers=2 word_lines=3 rain=on bits=4 one_shot=on passes=2 buffer=512KiB";
static const char worn[] = ROOMY " rain=on rber=4.2e-3 ecc_levels=0";

static struct test_device device;
static struct shadow_store store;
static struct test_stream stream;

/* Number of block erases since the last check, for each superblock. */
struct eraser {
	struct test_listener listener;
	u32 erased[4][48];
	u32 superblocks;
};

static struct eraser eraser;

static const struct aftl_block *block_at(u32 lun, u32 number)
{
	return &aftl_media(device.ftl)->blocks[lun * aftl_geometry(device.ftl)->blocks_per_lun +
					       number];
}

static u32 count_luns_per_die_group(void)
{
	return aftl_geometry(device.ftl)->superblock_luns;
}

static bool is_lun_dead(u32 lun)
{
	return !test_lun_info(&device, lun).good_blocks;
}

static u32 count_live_die_group_luns(u32 group)
{
	u32 live = 0;
	u32 i;

	for (i = 0; i < count_luns_per_die_group(); i++)
		live += !is_lun_dead(group * count_luns_per_die_group() + i);
	return live;
}

static void record_block_erase(struct test_listener *listener, aftl_ppn_t first, u32 slots)
{
	u32 block = from_ppn(first) / slots;
	u32 each = aftl_geometry(device.ftl)->blocks_per_lun;

	u32 group = block / each / count_luns_per_die_group();
	u32 i;

	eraser.erased[group][block % each]++;
	for (i = 0; i < count_luns_per_die_group(); i++) {
		const struct aftl_block *other =
			block_at(group * count_luns_per_die_group() + i, block % each);

		bool orphaned = other->state == AFTL_BLOCK_BAD &&
				(!device.config.rain ||
				 count_live_die_group_luns(group) + 1 < count_luns_per_die_group());

		CHECK_MSG(!other->valid || orphaned,
			  "block %u is erased while there is valid data beside it", block);
	}
}

static void open_device(const char *policy, const char *params)
{
	test_open_demo_profile(&device, policy, params);
	shadow_attach_to_device(&store, &device, false);
	eraser = (struct eraser){ .listener = { .erase = record_block_erase } };
	test_device_add_listener(&device, &eraser.listener);
	test_stream_init(&stream, 5);
}

/* Check that all blocks of each superblock were erased, or none of them. */
static void check_superblocks_are_erased_whole(void)
{
	u32 group;
	u32 number;

	for (group = 0; group < aftl_geometry(device.ftl)->luns / count_luns_per_die_group();
	     group++) {
		for (number = 0; number < 48; number++) {
			u32 *erased = &eraser.erased[group][number];

			if (!*erased)
				continue;
			CHECK_MSG(!count_live_die_group_luns(group) ||
				  *erased % count_live_die_group_luns(group) == 0 ||
				  test_counters(&device)->retired_blocks,
				  "of superblock %u %u blocks are erased", number, *erased);
			eraser.superblocks++;
			*erased = 0;
		}
	}
}

static void send_requests_and_check_erases(u32 requests)
{
	while (requests-- && !tap_failure_count()) {
		test_stream_submit_request(&stream, &device);
		check_superblocks_are_erased_whole();
	}
}

static bool block_may_be_programmed(const struct aftl_block *block)
{
	return block->state == AFTL_BLOCK_FREE || block->state == AFTL_BLOCK_OPEN;
}

/*
 * Parity of a stripe must be on flash as soon as no page will be added to it. In blocks that are
 * not filled sequentially it may be programmed later.
 */
static void check_stripe_parity(u32 first, u32 number, u32 page)
{
	bool in_order = true;
	bool programmed = false;
	bool open = false;
	bool waits = false;
	bool has_page = false;
	bool has = true;
	u32 i;

	for (i = first; i < first + count_luns_per_die_group(); i++) {
		const struct aftl_block *block = block_at(i, number);
		bool here = aftl_page_is_programmed(aftl_media(device.ftl), block, page);
		u16 attr = aftl_block_page_attr(aftl_media(device.ftl), block, page);
		bool fine = here && !aftl_page_is_foggy(attr);

		if (block->parity) {
			has_page = here;
			has = fine || block->state == AFTL_BLOCK_BAD;
			continue;
		}
		programmed |= here;
		open |= block_may_be_programmed(block);
		waits |= !fine && block_may_be_programmed(block);
		in_order &= block->order == AFTL_ORDER_SEQUENTIAL;
	}
	CHECK_MSG(!waits || !has_page, "parity of page %u of superblock %u comes too early", page,
		  number);
	waits |= open && !in_order;
	CHECK_MSG(!programmed || waits || has, "no parity of page %u of superblock %u", page,
		  number);
}

static void check_parity_of_all_stripes(void)
{
	const struct aftl_geometry *geo = aftl_geometry(device.ftl);
	u32 number;
	u32 first;
	u32 page;

	for (first = 0; first < geo->luns; first += count_luns_per_die_group())
		for (number = 0; number < geo->blocks_per_lun; number++)
			for (page = 0; page < geo->pages && !tap_failure_count(); page++)
				check_stripe_parity(first, number, page);
}

/*
 * Return true if @ppn can be read from its die or from the rest of its stripe. A lost @ppn looks
 * readable if its stripe has been erased and rewritten; see check_no_unit_lost_after_die_loss().
 */
static bool ppn_is_recoverable(aftl_ppn_t ppn)
{
	const struct aftl_geometry *geo = aftl_geometry(device.ftl);
	u32 block = from_ppn(ppn) / geo->block_ppns;
	u32 page = from_ppn(ppn) % geo->block_ppns / geo->page_units;
	u32 lun = block / geo->blocks_per_lun;
	u32 first = lun - lun % count_luns_per_die_group();
	bool has_parity = false;
	u32 i;

	if (!is_lun_dead(lun))
		return true;
	if (aftl_ppn_is_marked_lost(aftl_media(device.ftl), ppn))
		return false;
	for (i = first; i < first + count_luns_per_die_group(); i++) {
		const struct aftl_block *other = block_at(i, block % geo->blocks_per_lun);

		has_parity |= other->parity && !is_lun_dead(i);
		if (i != lun && is_lun_dead(i) && !other->parity &&
		    aftl_page_is_programmed(aftl_media(device.ftl), other, page) &&
		    !aftl_page_is_foggy(aftl_block_page_attr(aftl_media(device.ftl), other, page)))
			return false;
	}
	return has_parity;
}

/* Check that reads fail for exactly the unreadable units; return the number of these units. */
static u32 check_only_unrecoverable_units_fail(void)
{
	u32 lost = 0;
	u32 unit;

	test_drain_requests(&device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	for (unit = 0; unit < test_unit_count(&device) && !tap_failure_count(); unit++) {
		struct aftl_errors errors;
		u32 class;
		aftl_ppn_t ppn = aftl_lookup(device.ftl, to_lpn(unit), &class);
		bool gone = ppn != AFTL_NO_PPN && !ppn_is_recoverable(ppn);

		if (ppn != AFTL_NO_PPN &&
		    aftl_get_lpn_read_errors(device.ftl, to_lpn(unit), &errors))
			CHECK_EQ(errors.lost, gone);
		CHECK_MSG(test_execute_request(&device, AFTL_OP_READ, unit, 1, 0, NULL) ==
				  (gone ? -EIO : 0),
			  "unit %u is %slost", unit, gone ? "" : "not ");
		lost += gone;
	}
	return lost;
}

static u32 count_valid_units_of_lun(u32 lun)
{
	return test_lun_info(&device, lun).valid_units;
}

/* Return true if no LUN of the die group has room for data of the group's dead die. */
static bool is_die_group_full(u32 lun)
{
	const struct aftl_lun *other = &device.ftl->luns[lun - lun % count_luns_per_die_group()];
	const struct aftl_lun *end = other + count_luns_per_die_group();

	for (; other < end; other++)
		if (aftl_lun_has_room_for_units(other, aftl_geometry(device.ftl)->block_ppns))
			return false;
	return true;
}

/* After die failures the remaining capacity may be too small, so that writes fail. */
static void fail_die_of_lun(u32 lun)
{
	CHECK_EQ(aftl_fail_lun(device.ftl, lun), 0);
	test_audit_device(&device);
	store.full_disk |= aftl_is_read_only(device.ftl);
}

/* Wait until the rebuild of the dead die's data has ended or makes no progress. */
static void wait_for_rebuild(u32 lun)
{
	u32 last = U32_MAX;

	while (count_valid_units_of_lun(lun) && count_valid_units_of_lun(lun) != last) {
		last = count_valid_units_of_lun(lun);
		test_advance_clock_by(&device, SECOND_NS);
	}
}

static u32 devices;

TAP_TEST(most_policies_ran_in_the_die_failure_tests)
{
	CHECK_MSG(devices >= 80, "only %u devices", devices);
}

static void check_superblock_erase(const char *policy, const char *params)
{
	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(4000);
	test_drain_requests(&device);
	test_advance_clock_by(&device, SECOND_NS);
	check_superblocks_are_erased_whole();
	CHECK_MSG(eraser.superblocks > 4, "only %u superblocks", eraser.superblocks);
	if (device.config.rain)
		check_parity_of_all_stripes();
	CHECK(!device.config.rain == !test_counters(&device)->programmed_parity_units);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

static void check_die_failure_loses_nothing(const char *policy, const char *params)
{
	u32 held;

	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(700);
	fail_die_of_lun(2);
	held = count_valid_units_of_lun(2);
	CHECK(held > 20);
	send_requests_and_check_erases(200);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
	CHECK(test_counters(&device)->stripe_reads > 0);
	wait_for_rebuild(2);
	CHECK_MSG(!count_valid_units_of_lun(2) || is_die_group_full(2), "%u units are not rebuilt",
		  count_valid_units_of_lun(2));
	CHECK_RANGE(test_counters(&device)->programmed_rebuild_units, 1, held);
	CHECK(!aftl_is_read_only(device.ftl));
	aftl_reset_stats(device.ftl);
	held = count_valid_units_of_lun(2);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
	CHECK_EQ(test_counters(&device)->read_recovered_units, held);
	send_requests_and_check_erases(3000);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

/* In emergency GC a die reads data for another die's rebuild before it programs host data. */
static void check_host_waits_for_rebuild(struct test_listener *listener, u32 tag, aftl_lpn_t lpn,
					 aftl_ppn_t ppn)
{
	const struct aftl_block *block = aftl_block_of_ppn(aftl_media(device.ftl), ppn);
	const struct aftl_lun *lun = aftl_block_lun(device.ftl, block);

	CHECK_MSG(!lun->stripe_requests || !aftl_superblock_gc_is_urgent(device.ftl, lun),
		  "LUN %u programs data of the host", lun->index);
}

/*
 * MiDAS fills a superblock for each of its groups and collects the oldest one of a group, however
 * full it is. GC must not go on with superblocks that yield no page, and parity moves to a die that
 * has a block for it.
 *
 * With every second seed requests have no pauses until GC has rebuilt most data. Host writes must
 * not use the block that the rebuild needs.
 */
static void check_gc_frees_blocks_on_each_die(const char *policy)
{
	struct test_listener order = { .program = check_host_waits_for_rebuild };
	u32 seed;

	tap_begin("each die gets blocks back: %s", policy);
	for (seed = 1; seed <= 20 && !tap_failure_count(); seed++) {
		open_device(policy, buffered);
		test_device_add_listener(&device, &order);
		test_stream_init(&stream, seed);
		test_stream_write_all_units(&stream, &device);
		send_requests_and_check_erases(700);
		fail_die_of_lun(2);
		send_requests_and_check_erases(200 + seed % 2 * 3000);
		CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
		wait_for_rebuild(2);
		send_requests_and_check_erases(3000);
		CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
		test_advance_clock_by(&device, SECOND_NS);
		check_parity_of_all_stripes();
		CHECK(!aftl_is_read_only(device.ftl));
	}
	tap_end();
}

/* A die takes no parity if a relocation or a rebuild has used its reserve of free blocks. */
TAP_TEST(parity_leaves_each_die_its_reserve)
{
	u32 number = 5;
	struct aftl_lun *lun;

	open_device("baseline", parity);
	lun = &device.ftl->luns[number % EACH];
	while (lun->free_blocks >= aftl_count_gc_reserve_blocks(device.ftl)) {
		CHECK_EQ(aftl_superblock_select_parity_member(device.ftl, 0, number),
			 number % EACH);
		aftl_block_open(device.ftl, aftl_free_block_take(device.ftl, lun, 0),
				AFTL_ORDER_SEQUENTIAL, 0);
	}
	CHECK(aftl_superblock_select_parity_member(device.ftl, 0, number) != number % EACH);
}

/*
 * Host writes make GC free only the reserve, which a rebuild must not use: a rebuild proceeds only
 * if GC also frees blocks for the rebuild.
 */
TAP_TEST(gc_makes_room_for_the_rebuild)
{
	u32 seed;

	for (seed = 0; seed < 20 && !tap_failure_count(); seed++) {
		open_device("approxftl",
			    "channels=2 chips=2 blocks=48 word_lines=2 op=72 superblock=4 rain=on");
		test_stream_init(&stream, seed);
		test_stream_write_all_units(&stream, &device);
		send_requests_and_check_erases(600);
		fail_die_of_lun(1);
		send_requests_and_check_erases(seed * 20);
		wait_for_rebuild(1);
		CHECK_MSG(!count_valid_units_of_lun(1), "seed %u: %u units are not rebuilt", seed,
			  count_valid_units_of_lun(1));
		CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
	}
}

/* Each superblock that a search examines counts as work; after a rebuild none is examined. */
TAP_TEST(searches_of_superblocks_are_counted_as_work)
{
	struct aftl_lun *lun;
	u32 work;

	open_device("baseline", parity);
	test_stream_write_all_units(&stream, &device);
	lun = &device.ftl->luns[0];
	work = aftl_get_amount_of_work_done(device.ftl);
	CHECK(!aftl_superblock_gc_start(device.ftl, lun, AFTL_CAUSE_GC, 0));
	CHECK(aftl_get_amount_of_work_done(device.ftl) - work >=
	      aftl_geometry(device.ftl)->blocks_per_lun);
	fail_die_of_lun(1);
	work = aftl_get_amount_of_work_done(device.ftl);
	CHECK(aftl_superblock_gc_rebuild_block(device.ftl, lun, true));
	CHECK(aftl_get_amount_of_work_done(device.ftl) != work);
	wait_for_rebuild(1);
	CHECK(!aftl_superblock_gc_rebuild_block(device.ftl, lun, true));
	work = aftl_get_amount_of_work_done(device.ftl);
	CHECK(!aftl_superblock_gc_rebuild_block(device.ftl, lun, true));
	CHECK_EQ(aftl_get_amount_of_work_done(device.ftl), work);
}

static bool is_lost[65536];

/* Units that were readable right after the die failures must stay readable. */
static void check_no_unit_lost_after_die_loss(bool first)
{
	u32 unit;

	CHECK(test_unit_count(&device) <= ARRAY_SIZE(is_lost));
	for (unit = 0; unit < test_unit_count(&device); unit++) {
		bool lost = test_execute_request(&device, AFTL_OP_READ, unit, 1, 0, NULL) == -EIO;

		CHECK_MSG(first || !lost || is_lost[unit], "unit %u is lost too late", unit);
		is_lost[unit] = lost;
	}
}

/* After two die failures only stripes with pages on both dies lose data; later no data are lost. */
static void check_losses_of_two_die_failures(const char *policy, const char *params)
{
	open_device(policy, params);
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(300);
	fail_die_of_lun(1);
	fail_die_of_lun(3);
	CHECK_MSG(check_only_unrecoverable_units_fail() > 20, "nothing is lost");
	check_no_unit_lost_after_die_loss(true);
	send_requests_and_check_erases(500);
	wait_for_rebuild(1);
	wait_for_rebuild(3);
	check_only_unrecoverable_units_fail();
	check_no_unit_lost_after_die_loss(false);
	CHECK_EQ(test_counters(&device)->moved_lost_units, 0);
}

TAP_TEST(one_dead_die_in_each_group_loses_no_data)
{
	open_device("baseline", parity);
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(300);
	fail_die_of_lun(1);
	fail_die_of_lun(6);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

/* After a complete rebuild, a second die failure loses no data. */
TAP_TEST(a_second_failure_after_the_rebuild_loses_no_data)
{
	open_device("baseline", parity);
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(300);
	fail_die_of_lun(1);
	test_drain_requests(&device);
	wait_for_rebuild(1);
	CHECK_EQ(count_valid_units_of_lun(1), 0);
	fail_die_of_lun(6);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

static void fail_die_at_random_moments(const char *params, const char *policy)
{
	struct aftl_random random = { 23 };
	u32 i;

	for (i = 0; i < 60 && !tap_failure_count(); i++) {
		u32 die = aftl_random_below(&random, LUNS);

		open_device(policy, params);
		stream.gap_ns = 20000;
		stream.depth = 64;
		test_stream_write_all_units(&stream, &device);
		send_requests_and_check_erases(20 + aftl_random_below(&random, 400));
		aftl_process_events_until(device.ftl, aftl_device_time_ns(device.ftl) +
							      aftl_random_below(&random, 1000000));
		fail_die_of_lun(die);
		send_requests_and_check_erases(aftl_random_below(&random, 200));
		if (i % 2)
			fail_die_of_lun((die + 1 + i % 7) % LUNS);
		send_requests_and_check_erases(100);
		if (i % 2 == 0)
			CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
		else
			check_only_unrecoverable_units_fail();
	}
}

TAP_TEST(die_failures_at_any_time_lose_no_recoverable_data)
{
	fail_die_at_random_moments(parity, "baseline");
	fail_die_at_random_moments(buffered, "approxftl");
	fail_die_at_random_moments(suspending, "separated");
	fail_die_at_random_moments(whole, "approxftl");
	fail_die_at_random_moments(mirrored, "baseline");
	fail_die_at_random_moments(foggy, "baseline");
}

static u32 lun_of_ppn(aftl_ppn_t ppn)
{
	return from_ppn(ppn) / aftl_geometry(device.ftl)->block_ppns / 48;
}

static bool ppns_share_stripe(aftl_ppn_t ppn, aftl_ppn_t other)
{
	u32 lun_ppns = aftl_geometry(device.ftl)->block_ppns * 48;

	return lun_of_ppn(ppn) != lun_of_ppn(other) &&
	       lun_of_ppn(ppn) / count_luns_per_die_group() ==
		       lun_of_ppn(other) / count_luns_per_die_group() &&
	       from_ppn(ppn) % lun_ppns == from_ppn(other) % lun_ppns;
}

/* Return a unit below @end in the stripe of @ppn, or else @end. */
static u32 find_unit_in_stripe(aftl_ppn_t ppn, u32 end)
{
	u32 unit = 0;

	while (unit < end && !ppns_share_stripe(test_lookup(&device, unit), ppn))
		unit++;
	return unit;
}

static u32 find_unit_in_lun(u32 lun)
{
	u32 unit = 0;

	while (lun_of_ppn(test_lookup(&device, unit)) != lun)
		unit++;
	return unit;
}

/*
 * A read suspends a program while a reconstruction needs the page that it programs. The page's data
 * are in the controller; test_record_array_event() checks that nobody senses the page.
 */
TAP_TEST(a_reconstruction_does_not_sense_a_suspended_program)
{
	u32 written = 64;
	aftl_ppn_t ppn;
	u32 lost;

	open_device("baseline", suspending);
	test_write_each_unit(&device, 0, written, AFTL_PRECISE);
	for (;; written++) {
		test_submit_io(&device, AFTL_OP_WRITE, written, 1, AFTL_PRECISE, 0,
			       aftl_device_time_ns(device.ftl));
		test_advance_clock_by(&device, device.config.program / 4);
		ppn = test_lookup(&device, written);
		lost = find_unit_in_stripe(ppn, written);
		if (lost < written)
			break;
		test_drain_requests(&device);
	}
	fail_die_of_lun(lun_of_ppn(test_lookup(&device, lost)));
	test_submit_io(&device, AFTL_OP_READ, find_unit_in_lun(lun_of_ppn(ppn)), 1, AFTL_PRECISE, 0,
		       aftl_device_time_ns(device.ftl));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, lost, 1, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(test_counters(&device)->array_suspends, 1);
	CHECK(test_counters(&device)->read_recovered_units > 0);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

static void submit_single_reads(u32 units)
{
	u32 i;

	for (i = 0; i < units; i++)
		test_submit_io(&device, AFTL_OP_READ, i, 1, AFTL_PRECISE, 0,
			       aftl_device_time_ns(device.ftl));
}

/*
 * A die fails before or during the first transfer of its multi-plane read: each page is read once,
 * also if its data are overwritten (variant 2) or a second die of its stripe fails (variant 3).
 */
TAP_TEST(a_die_failure_in_a_multi_plane_read_delivers_each_page_once)
{
	const struct aftl_request *joined;
	struct aftl_lun *lun;
	u32 variant;
	u32 i;

	for (variant = 0; variant < 4; variant++) {
		open_device("baseline", ROOMY " rain=on planes=2 plane_mode=wide "
				      "multi_plane_read=any_page");
		for (i = 0; i < 256; i += 64)
			CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i, 64, 0, NULL), 0);
		lun = &device.ftl->luns[lun_of_ppn(test_lookup(&device, 0))];
		/* All units are read twice, so that reads reuse commands of multi-plane reads. */
		submit_single_reads(256);
		test_drain_requests(&device);
		submit_single_reads(256);
		for (i = 0; i < 1000 && !lun->work.planes; i++)
			test_advance_clock_by(&device, 1000);
		CHECK_EQ(lun->work.planes, 1);
		i = device.ftl->commands[lun->work.commands].next;
		joined = device.ftl->commands[i].request;
		if (variant == 1)
			test_advance_clock_by(&device, device.config.read + 10000);
		fail_die_of_lun(lun->index);
		for (i = 0; variant == 2 && i < 256; i++)
			test_submit_io(&device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, 0,
				       aftl_device_time_ns(device.ftl));
		if (variant == 3)
			fail_die_of_lun(lun->index ^ 1);
		test_drain_requests(&device);
		CHECK_EQ(joined->status, variant == 3 ? -EIO : 0);
		CHECK_EQ(check_only_unrecoverable_units_fail() > 0, variant == 3);
		CHECK(variant == 3 || test_counters(&device)->read_recovered_units > 0);
	}
}

static u64 count_reconstructing_reads(u32 unit)
{
	u64 before = test_counters(&device)->stripe_reads;

	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, NULL), 0);
	return test_counters(&device)->stripe_reads - before;
}

TAP_TEST(the_read_cache_holds_no_reconstructed_data)
{
	u32 unit = 0;
	u64 hits;

	open_device("baseline", ROOMY " rain=on read_cache=256KiB");
	test_write_each_unit(&device, 0, 64, AFTL_PRECISE);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	while (lun_of_ppn(test_lookup(&device, unit)) == lun_of_ppn(test_lookup(&device, 0)))
		unit++;
	fail_die_of_lun(lun_of_ppn(test_lookup(&device, 0)));
	CHECK(count_reconstructing_reads(0) > 0);
	CHECK(count_reconstructing_reads(0) > 0);
	CHECK_EQ(count_reconstructing_reads(unit), 0);
	hits = test_counters(&device)->read_cache_units;
	CHECK_EQ(count_reconstructing_reads(unit), 0);
	CHECK_EQ(test_counters(&device)->read_cache_units, hits + 1);
}

/* If a full device has no room for a rebuild, no more data are lost and no request hangs. */
TAP_TEST(a_die_failure_of_a_full_device_loses_no_data)
{
	open_device("baseline", dense);
	store.full_disk = true;
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(1000);
	fail_die_of_lun(5);
	send_requests_and_check_erases(1000);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

/* A rebuild of pages whose first unit was uncorrectable must recover the other units. */
TAP_TEST(the_rebuild_leaves_out_only_the_lost_units_of_a_page)
{
	static bool in_lun[65536];
	u32 units;
	u32 kept = 0;
	u32 i;

	open_device("baseline", parity);
	units = aftl_geometry(device.ftl)->units;
	test_stream_write_all_units(&stream, &device);
	test_drain_requests(&device);
	for (i = 0; i < units; i++) {
		aftl_ppn_t ppn = test_lookup(&device, i);

		in_lun[i] = lun_of_ppn(ppn) == 2;
		if (in_lun[i] && from_ppn(ppn) % aftl_geometry(device.ftl)->page_units == 0)
			CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(i)), 0);
		else
			kept += in_lun[i];
	}
	CHECK(kept > 20);
	fail_die_of_lun(2);
	wait_for_rebuild(2);
	for (i = 0; i < units; i++)
		if (in_lun[i] && !aftl_lpn_is_lost(device.ftl, to_lpn(i)))
			kept -= lun_of_ppn(test_lookup(&device, i)) != 2;
	CHECK_EQ(kept, 0);
}

/* Pages that ECC cannot correct are recovered from their stripe's other pages, if readable. */
TAP_TEST(uncorrectable_pages_are_recovered_from_their_stripe)
{
	u64 lost;

	open_device("baseline", worn);
	stream.read = 50;
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(6000);
	test_drain_requests(&device);
	lost = test_counters(&device)->read_lost_units;
	CHECK_MSG(test_counters(&device)->read_recovered_units > 100, "%llu recovered",
		  (unsigned long long)test_counters(&device)->read_recovered_units);
	CHECK_MSG(lost < test_counters(&device)->read_recovered_units / 4, "%llu lost",
		  (unsigned long long)lost);
	CHECK(test_counters(&device)->moved_recovered_units > 0);
}

static u64 read_and_count_recovered_units(u32 units)
{
	u64 before = test_counters(&device)->read_recovered_units;
	u32 unit;

	for (unit = 0; unit < units; unit++)
		test_execute_request(&device, AFTL_OP_READ, unit, 1, AFTL_PRECISE, NULL);
	return test_counters(&device)->read_recovered_units - before;
}

/* Read 200 pages repeatedly; return how many reads had to be recovered by RAIN parity. */
static u64 count_recoveries_with_read_cache(const char *cache)
{
	u64 recovered;

	open_device("baseline",
		    test_format_params(ROOMY " rain=on rber=4.2e-3 ecc_levels=0 %s", cache));
	test_stream_write_all_units(&stream, &device);
	test_drain_requests(&device);
	recovered = read_and_count_recovered_units(200);
	CHECK_EQ(read_and_count_recovered_units(200), recovered);
	CHECK(test_counters(&device)->read_cache_units > 0);
	return recovered;
}

TAP_TEST(the_read_cache_holds_no_page_that_ecc_could_not_correct)
{
	u64 recovered = count_recoveries_with_read_cache("read_cache=1MiB");

	CHECK(recovered > 0);
	/* Read-ahead reconstructs no page of a dead die from its stripe. */
	CHECK_EQ(count_recoveries_with_read_cache("read_cache=1MiB read_ahead=64KiB"), recovered);
}

/* A superblock with bad blocks has fewer pages of data, but still parity. */
TAP_TEST(superblocks_with_bad_blocks_keep_their_parity)
{
	u32 i;

	open_device("separated", parity);
	test_stream_write_all_units(&stream, &device);
	test_drain_requests(&device);
	CHECK(!block_at(0, 1)->parity && block_at(0, 1)->valid);
	CHECK_EQ(aftl_fail_block(device.ftl, 1), 0);
	test_advance_clock_by(&device, SECOND_NS);
	CHECK_EQ(block_at(0, 1)->state, AFTL_BLOCK_BAD);
	for (i = 1; i < 12 && !tap_failure_count(); i++) {
		CHECK_EQ(aftl_fail_block(device.ftl, i * 31), 0);
		send_requests_and_check_erases(300);
	}
	test_drain_requests(&device);
	test_advance_clock_by(&device, SECOND_NS);
	CHECK(test_counters(&device)->retired_blocks >= 8);
	check_parity_of_all_stripes();
	fail_die_of_lun(4);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

static const char fixed[] = ROOMY " allocate=static";
static const char fixed_parity[] = ROOMY " allocate=static rain=on";

/* If the host writes to one die only, the other dies' blocks of its superblocks close empty. */
static void check_writes_to_one_die_only(const char *policy, const char *params)
{
	const struct aftl_geometry *geo;
	u32 units;
	u32 i;

	open_device(policy, params);
	geo = aftl_geometry(device.ftl);
	units = aftl_units_per_program(geo);
	for (i = 0; i < 64 * geo->block_ppns / units && !tap_failure_count(); i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i % 8 * units * geo->luns,
					      units, i & 1, NULL),
			 0);
	CHECK(test_counters(&device)->super_short_blocks > 0);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
}

/* Run @lives devices with random requests and die failures; no request may fail. */
static void run_devices_until_dies_fail(const char *params, u32 lives)
{
	u32 seed;

	for (seed = 0; seed < lives && !tap_failure_count(); seed++) {
		open_device("baseline", params);
		test_stream_init(&stream, seed);
		test_stream_write_all_units(&stream, &device);
		send_requests_and_check_erases(1500);
		CHECK_EQ(device.failed, 0);
	}
}

/*
 * Static allocation: a die without waiting writes has too few free blocks. GC of the other die's
 * open blocks would not help this die and would never end.
 */
TAP_TEST(gc_does_not_collect_open_blocks_for_ever)
{
	run_devices_until_dies_fail("channels=2 chips=1 blocks=34 layers=1 word_lines=3 bits=3 "
				    "page=4KiB op=41.5 superblock=2 rain=on allocate=static gc=5 "
				    "gc_idle_valid=21",
				    10);
}

/* GC must work although in each superblock some LUN may have too many valid units to free space. */
TAP_TEST(no_request_fails_with_few_free_superblocks)
{
	run_devices_until_dies_fail("channels=4 chips=1 blocks=22 layers=1 word_lines=1 bits=2 "
				    "page=2KiB unit=1KiB op=45.7 superblock=4 gc=14 "
				    "gc_idle_valid=84 wear_gap=4",
				    20);
}

/*
 * Without room for all units GC collects the superblocks that yield space, then stops; no request
 * hangs.
 */
TAP_TEST(a_read_only_device_becomes_idle)
{
	static const char full[] =
		"channels=4 chips=1 blocks=29 layers=3 word_lines=2 page=2KiB unit=512 op=46.4 "
		"allocate=static stripe=cwpd superblock=4 rain=on buffer=512KiB buffer_safe=on "
		"gc=13.2 gc_idle_valid=83 wear_gap=8";
	u32 read_only = 0;
	u32 seed;
	u32 steps;

	for (seed = 0; seed < 12 && !tap_failure_count(); seed++) {
		open_device("separated", full);
		test_stream_init(&stream, seed);
		test_stream_write_all_units(&stream, &device);
		send_requests_and_check_erases(seed * 37 % 1000);
		fail_die_of_lun(seed % 4);
		send_requests_and_check_erases(200 + seed * 91 % 2500);
		aftl_set_drain_mode(device.ftl, true);
		for (steps = 0; aftl_has_pending_work(device.ftl) && steps < 200000; steps++)
			test_process_event(&device);
		CHECK_RANGE(steps, 0, 199999);
		read_only += aftl_is_read_only(device.ftl);
	}
	CHECK_RANGE(read_only, 3, 12);
}

/* Parity is programmed in whole word lines, although IPS fills word lines of data in two steps. */
TAP_TEST(parity_is_programmed_in_whole_word_lines)
{
	u32 i;

	open_device("ips", "channels=4 chips=1 blocks=40 layers=1 word_lines=4 bits=3 one_shot=on "
		    "page=4KiB op=89 superblock=4 rain=on");
	for (i = 0; i < 300 && !tap_failure_count(); i++) {
		send_requests_and_check_erases(1);
		test_audit_device(&device);
	}
}

/* Parity takes one block of each superblock, in rotation, and reduces capacity. */
TAP_TEST(parity_takes_one_block_of_each_superblock)
{
	u32 units;
	u32 number;

	test_open_demo_profile(&device, "baseline", plain);
	units = test_unit_count(&device);
	test_open_demo_profile(&device, "baseline", parity);
	CHECK_EQ(test_unit_count(&device), units - units / EACH);
	for (number = 0; number < 48; number++) {
		CHECK_EQ(block_at(number % EACH, number)->parity, 1);
		CHECK_EQ(block_at(number % EACH + EACH, number)->parity, 1);
	}
}

/* A stripe of three pages takes one parity program, and healthy reads do not use it. */
TAP_TEST(a_stripe_takes_one_parity_program)
{
	u64 latency = 0;
	u32 unit = 0;

	test_open_demo_profile(&device, "baseline", test_format_params("unit=8KiB %s", parity));
	while (test_counters(&device)->programmed_parity_units == 0 && unit < 16)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit++, 1, 0, &latency), 0);
	CHECK_EQ(test_counters(&device)->array_programs, unit + 1);
	test_advance_clock_by(&device, SECOND_NS);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 1, 1, 0, &latency), 0);
	CHECK_EQ(test_counters(&device)->stripe_reads, 0);
}

/* Dies written in rotation fill the blocks of one superblock together. */
TAP_TEST(blocks_of_the_same_number_are_filled_together)
{
	const struct aftl_geometry *geo;
	u32 each;
	u32 i;

	open_device("baseline", parity);
	geo = aftl_geometry(device.ftl);
	each = geo->block_ppns * geo->luns * 3 / 4;
	for (i = 0; i < 4 * each; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i % test_unit_count(&device),
					      1, 0, NULL),
			 0);
	for (i = 0; i < geo->blocks; i++) {
		u32 first = i / geo->blocks_per_lun / EACH * EACH;
		u32 number = i % geo->blocks_per_lun;
		const struct aftl_block *block = block_at(first + (number % EACH ? 0 : 1), number);

		if (!block_at(i / geo->blocks_per_lun, number)->parity)
			CHECK_EQ(block_at(i / geo->blocks_per_lun, number)->state, block->state);
	}
}

static u32 count_valid_data_units(u32 number)
{
	u32 valid = 0;
	u32 i;

	for (i = 0; i < EACH; i++)
		valid += block_at(i, number)->valid;
	return valid;
}

static bool superblock_is_full(u32 number)
{
	u32 i;

	for (i = 0; i < EACH; i++)
		if (!block_at(i, number)->parity &&
		    block_at(i, number)->state != AFTL_BLOCK_CLOSED)
			return false;
	return true;
}

TAP_TEST(the_emptiest_superblock_is_collected)
{
	u32 least = U32_MAX;
	u32 victim;
	u32 i;

	open_device("baseline", parity);
	test_stream_write_all_units(&stream, &device);
	send_requests_and_check_erases(600);
	test_drain_requests(&device);
	test_advance_clock_by(&device, SECOND_NS);
	aftl_quiesce(device.ftl);
	for (i = 0; i < 48; i++)
		if (superblock_is_full(i))
			least = min(least, count_valid_data_units(i));
	aftl_unquiesce_device(device.ftl);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 1), 0);
	victim = device.ftl->die_groups[0].victim;
	CHECK(victim != AFTL_NIL && superblock_is_full(victim));
	if (victim != AFTL_NIL)
		CHECK_EQ(count_valid_data_units(victim), least);
}

/* Return true if a victim selector may choose a superblock: it is full, with few valid units. */
static bool superblock_may_be_victim(u32 number)
{
	return superblock_is_full(number) &&
	       count_valid_data_units(number) <= device.ftl->gc_idle_valid * (EACH - 1);
}

static s64 superblock_open_time(u32 number)
{
	s64 first = S64_MAX;
	u32 i;

	for (i = 0; i < EACH; i++)
		if (!block_at(i, number)->parity)
			first = min(first, block_at(i, number)->opened_ns);
	return first;
}

/* Cost-benefit value of a superblock with three data blocks: age * (1 - u) / 2u, u: utilisation. */
static double superblock_merit(u32 number)
{
	u32 valid = DIV_ROUND_UP(count_valid_data_units(number), EACH - 1);
	double used = (double)valid / device.ftl->geo.block_ppns;
	double age = (double)((s64)device.ftl->now_ns - superblock_open_time(number));

	return used > 0 ? age * (1 - used) / (2 * used) : 1e300;
}

/* Check a die group's victim by @selector; return true if selector greedy takes another. */
static bool check_selected_superblock(const char *selector)
{
	u32 victim = device.ftl->die_groups[0].victim;
	u32 least = U32_MAX;
	u32 i;

	if (victim == AFTL_NIL || !CHECK(superblock_may_be_victim(victim)))
		return false;
	for (i = 0; i < 48; i++) {
		if (!superblock_may_be_victim(i))
			continue;
		least = min(least, count_valid_data_units(i));
		if (!strcmp(selector, "fifo"))
			CHECK(superblock_open_time(victim) <= superblock_open_time(i));
		else
			CHECK(superblock_merit(i) <= superblock_merit(victim) * 1.001);
	}
	return count_valid_data_units(victim) != least;
}

static void check_victim_selector_ranks_superblocks(const char *selector)
{
	u32 differed = 0;
	u32 round;

	tap_begin("%s ranks superblocks", selector);
	open_device("baseline", parity);
	CHECK_EQ(aftl_set_param(device.ftl, "victim", selector, &device.error), 0);
	test_stream_write_all_units(&stream, &device);
	for (round = 0; round < 30 && !tap_failure_count(); round++) {
		send_requests_and_check_erases(100);
		test_drain_requests(&device);
		test_advance_clock_by(&device, SECOND_NS);
		if (device.ftl->die_groups[0].victim != AFTL_NIL)
			continue;
		CHECK_EQ(aftl_start_lun_gc(device.ftl, 1), 0);
		differed += check_selected_superblock(selector);
	}
	CHECK_MSG(differed > 3, "%u times not the emptiest superblock", differed);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
	tap_end();
}

/* Count superblocks with data, and superblocks with blocks of several write streams. */
static void count_superblocks_of_mixed_streams(u32 *used, u32 *mixed)
{
	u32 number;
	u32 i;

	for (number = 0; number < 48; number++) {
		const struct aftl_block *first = NULL;
		bool differs = false;

		for (i = 0; i < EACH; i++) {
			const struct aftl_block *block = block_at(i, number);

			if (block->parity || block->state == AFTL_BLOCK_FREE)
				continue;
			differs |= first && (block->kind != first->kind ||
					     block->handle != first->handle);
			first = block;
		}
		*used += !!first;
		*mixed += differs;
	}
}

static const char streams[] = "op=80 gc=50";
static const char handles[] = "op=80 placement_handles=3 gc=50";
static const char mapped[] = "map_cache=64KiB page=4KiB unit=512 word_lines=8";

/*
 * Policy streams, placement handles and translation pages each fill superblocks of their own. A few
 * superblocks are mixed: a die needed a block while every superblock was in use.
 */
static void check_superblocks_hold_one_stream(const char *policy, const char *params, u32 ids)
{
	u32 seen = 0;
	u32 used = 0;
	u32 mixed = 0;
	u32 round;
	u32 i;

	tap_begin("superblocks hold one stream each: %s, %s", policy, params);
	open_device(policy, test_format_params("%s %s", parity, params));
	test_stream_write_all_units(&stream, &device);
	for (round = 0; round < 20 && !tap_failure_count(); round++) {
		for (i = 0; i < 200; i++) {
			device.hint.stream = (u8)aftl_random_below(&stream.random, ids);
			test_submit_io(&device, AFTL_OP_WRITE,
				       (u32)aftl_random_below(&stream.random,
							      test_unit_count(&device) - 4),
				       4, AFTL_PRECISE, 0, aftl_device_time_ns(device.ftl));
			test_drain_requests_to_depth(&device, 16);
		}
		count_superblocks_of_mixed_streams(&used, &mixed);
		for (i = 0; i < 48; i++)
			seen |= 1U << (block_at(0, i)->kind + block_at(0, i)->handle);
	}
	test_drain_requests(&device);
	CHECK_RANGE((u32)__builtin_popcount(seen), 2, 32);
	CHECK_MSG(mixed * 3 < used, "%u of %u superblocks are mixed", mixed, used);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
	tap_end();
}

static const char slc[] = SHAPE " op=78 rain=on bits=3 one_shot=on slc_static=6% slc_dynamic=10%";

/* All blocks of a superblock, also its parity block, have the same number of bits per cell. */
static void check_blocks_of_superblock_have_equal_bits(void)
{
	u32 number;
	u32 i;

	for (number = 0; number < 48; number++) {
		const struct aftl_block *first = NULL;

		for (i = 0; i < EACH; i++) {
			const struct aftl_block *block = block_at(i, number);

			if (block->state == AFTL_BLOCK_FREE || block->state == AFTL_BLOCK_BAD)
				continue;
			CHECK_MSG(!first || first->bits == block->bits,
				  "superblock %u mixes bits per cell", number);
			first = block;
		}
	}
}

/* Host data are written to SLC superblocks, protected by parity, and folded. */
TAP_TEST(superblocks_of_the_slc_cache_are_folded)
{
	u64 slc_units = 0;
	u32 round;
	u32 i;

	open_device("baseline", slc);
	stream.read = 0;
	test_stream_write_all_units(&stream, &device);
	for (round = 0; round < 40 && !tap_failure_count(); round++) {
		send_requests_and_check_erases(100);
		check_blocks_of_superblock_have_equal_bits();
		for (i = 0; i < 48 * LUNS; i++)
			if (device.ftl->media.blocks[i].bits == 1)
				slc_units += device.ftl->media.blocks[i].valid;
		if (round % 8 == 7)
			test_advance_clock_by(&device, SECOND_NS);
	}
	test_drain_requests(&device);
	CHECK_MSG(slc_units / 40 > 50, "%llu units are in the cache",
		  (unsigned long long)slc_units / 40);
	CHECK_RANGE(test_counters(&device)->fold_blocks, 30, U64_MAX);
	CHECK_RANGE(test_counters(&device)->fold_idle_blocks, 1, U64_MAX);
	CHECK_RANGE(test_counters(&device)->gc_blocks, 1, U64_MAX);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	test_audit_device(&device);
	send_requests_and_check_erases(40);
	fail_die_of_lun(1);
	CHECK_EQ(check_only_unrecoverable_units_fail(), 0);
	check_blocks_of_superblock_have_equal_bits();
}

/*
 * While a die group erases a superblock, no idle LUN may begin to collect a superblock: the device
 * would forget which blocks of the first superblock have been erased.
 */
TAP_TEST(one_superblock_of_a_group_is_collected_at_a_time)
{
	struct aftl_die_group before = { .victim = AFTL_NIL };
	struct aftl_die_group *group;
	u32 number;
	u32 i;

	open_device("baseline", slc);
	group = &device.ftl->die_groups[0];
	stream.read = 0;
	test_stream_write_all_units(&stream, &device);
	for (i = 0; i < 20000 && (group->victim == AFTL_NIL || !group->erased); i++)
		test_stream_submit_request(&stream, &device);
	CHECK(group->victim != AFTL_NIL && group->erased);
	before = *group;
	for (number = 0; number < 48; number++)
		CHECK_MSG(!aftl_collect_superblock_of_block(device.ftl, block_at(0, number),
							    AFTL_CAUSE_FOLD),
			  "superblock %u", number);
	CHECK_EQ(group->victim, before.victim);
	CHECK_EQ(group->erased, before.erased);
}

/* A small version of the enterprise profile uses all features of such drives together. */
TAP_TEST(an_enterprise_profile_with_rain_loses_no_data)
{
	const struct aftl_counters *counters;
	u32 i;

	test_device_init(&device, "enterprise");
	test_device_open(&device, "streams", "channels=4 blocks=100 layers=6 word_lines=2 op=66 "
			 "superblock=8 buffer=1MiB map_cache=768KiB page=2KiB unit=512");
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, 5);
	stream.units_max = 64;
	test_stream_write_all_units(&stream, &device);
	for (i = 0; i < 36000 && !tap_failure_count(); i++) {
		device.hint.stream = (u8)(i % 3);
		test_stream_submit_request(&stream, &device);
	}
	test_drain_requests(&device);
	counters = test_counters(&device);
	CHECK_RANGE(counters->gc_blocks, 1, U64_MAX);
	CHECK_RANGE(counters->gc_paced_steps, 1, U64_MAX);
	CHECK_RANGE(counters->fold_blocks, 1, U64_MAX);
	CHECK_RANGE(counters->map_lookups, 1, U64_MAX);
	CHECK_RANGE(counters->programmed_map_units, 1, U64_MAX);
	CHECK_RANGE(counters->programmed_parity_units, 1, U64_MAX);
}

static const char again[] = ROOMY " rain=on blocks=128 bits=2 one_shot=on";

TAP_TEST(invalid_combinations_with_rain_are_refused)
{
	static const char *const refused[][3] = {
		{ "baseline", "rain=on", "set superblock to 2 dies or more" },
		{ "baseline", "superblock=3", "4 dies cannot be shared out in groups of 3" },
		{ "baseline", "superblock=1", "it takes at least 2" },
		{ "baseline", "superblock=4 zoned=64KiB", "a zone is already striped over dies" },
		{ "ressd", again, "policy ressd has pages that parity cannot follow" },
		{ "density", again, "policy density has pages that parity cannot follow" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		test_check_config_refused(&device, refused[i][0], refused[i][1], refused[i][2]);
}

int main(void)
{
	check_victim_selector_ranks_superblocks("fifo");
	check_victim_selector_ranks_superblocks("cost_benefit");
	check_gc_frees_blocks_on_each_die("midas");
	check_gc_frees_blocks_on_each_die("baseline");
	check_gc_frees_blocks_on_each_die("streams");
	check_superblocks_hold_one_stream("streams", streams, 8);
	check_superblocks_hold_one_stream("baseline", handles, 4);
	check_superblocks_hold_one_stream("baseline", mapped, 1);
	devices += test_run_with_each_policy("superblocks with an SLC cache", slc,
					     check_superblock_erase);
	devices += test_run_with_each_policy("a die dies, with an SLC cache", slc,
					     check_die_failure_loses_nothing);
	devices += test_run_with_each_policy("a second die dies, with an SLC cache", slc,
					     check_losses_of_two_die_failures);
	devices += test_run_with_each_policy("superblocks", plain, check_superblock_erase);
	devices += test_run_with_each_policy("superblocks with parity", parity,
					     check_superblock_erase);
	devices += test_run_with_each_policy("a die dies", parity, check_die_failure_loses_nothing);
	devices += test_run_with_each_policy("a die dies, with a buffer", buffered,
					     check_die_failure_loses_nothing);
	devices += test_run_with_each_policy("a die dies, word lines at once", whole,
					     check_die_failure_loses_nothing);
	devices += test_run_with_each_policy("superblocks with parity, two passes", foggy,
					     check_superblock_erase);
	devices +=
		test_run_with_each_policy("a die dies, two passes", foggy,
					  check_die_failure_loses_nothing);
	devices += test_run_with_each_policy("a die dies, with a read cache", caching,
					     check_die_failure_loses_nothing);
	devices += test_run_with_each_policy("a second die dies", parity,
					     check_losses_of_two_die_failures);
	devices += test_run_with_each_policy("a second die dies, writes to the least busy die",
					     least_busy,
					     check_losses_of_two_die_failures);
	devices += test_run_with_each_policy("one die is written", fixed,
					     check_writes_to_one_die_only);
	devices += test_run_with_each_policy("one die is written, with parity", fixed_parity,
					     check_writes_to_one_die_only);
	return tap_run_all();
}
