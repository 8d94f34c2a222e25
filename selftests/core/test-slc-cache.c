// SPDX-License-Identifier: GPL-2.0-only
/*
 * SLC cache: which writes it takes, which blocks are folded and when, and that neither data nor
 * capacity is lost.
 */
#include <stdlib.h>

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/policy/policies.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SEEDS 240
#define REQUESTS 500
#define SECOND_NS 1000000000ULL

static struct test_device device;

/**
 * struct census - numbers of blocks of a LUN
 * @cached: blocks with one bit per cell
 * @open: open blocks with one bit per cell
 * @closed: closed blocks with one bit per cell
 * @free: erased blocks
 */
struct census {
	u32 cached;
	u32 open;
	u32 closed;
	u32 free;
};

static struct aftl_block *first_block_of_lun(u32 lun)
{
	return &device.ftl->media.blocks[lun * device.ftl->geo.blocks_per_lun];
}

static bool is_block_in_cache(const struct aftl_block *block)
{
	return block->bits == 1 && block->state != AFTL_BLOCK_BAD;
}

static struct census count_slc_blocks_of_lun(u32 lun)
{
	const struct aftl_block *block = first_block_of_lun(lun);
	struct census census = { 0 };
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++, block++) {
		census.free += block->state == AFTL_BLOCK_FREE;
		census.cached += is_block_in_cache(block);
		census.open += is_block_in_cache(block) && block->state == AFTL_BLOCK_OPEN;
		census.closed += is_block_in_cache(block) && block->state == AFTL_BLOCK_CLOSED;
	}
	return census;
}

static u32 count_slc_blocks(void)
{
	u32 cached = 0;
	u32 i;

	for (i = 0; i < device.ftl->geo.luns; i++)
		cached += count_slc_blocks_of_lun(i).cached;
	return cached;
}

/* Round a share of a LUN's blocks up to whole blocks. */
static u32 convert_share_to_blocks_per_lun(u64 share)
{
	return (u32)((device.ftl->geo.blocks_per_lun * share + 9999) / 10000);
}

static u32 count_static_slc_blocks(void)
{
	return convert_share_to_blocks_per_lun(device.ftl->config.slc_static);
}

/* Number of static cache blocks that are not in use. */
static u32 count_unused_static_slc_blocks(const struct census *census)
{
	return count_static_slc_blocks() > census->cached ?
		       count_static_slc_blocks() - census->cached :
		       0;
}

static u32 gc_reserve_of_policy(void)
{
	return device.ftl->type->reserve;
}

#define SHAPE "channels=1 chips=1 blocks=40 layers=4 word_lines=4 bits=3 one_shot=on page=4KiB " \
	"unit=4KiB op=40"

static void open_device_with_slc(const char *policy, const char *kept_share, const char *lent_share,
				 const char *fill)
{
	test_open_demo_profile(&device, policy,
			       test_format_params(SHAPE " slc_static=%s slc_dynamic=%s "
						  "fill=%s", kept_share, lent_share,
						  fill));
}

static void write_units_singly(u32 first, u32 units)
{
	test_write_each_unit(&device, first, units, AFTL_PRECISE);
}

static void write_random_units(u32 writes, u64 seed)
{
	struct aftl_random random = { seed };
	u32 i;

	for (i = 0; i < writes; i++)
		write_units_singly(aftl_random_below(&random, test_unit_count(&device)), 1);
}

/* Units per cache block. */
#define EACH 16

/* On a full, busy device the SLC cache keeps its static blocks and gets no dynamic ones. */
TAP_TEST(the_cache_keeps_its_static_blocks)
{
	u32 fewest = U32_MAX;
	u32 i;

	open_device_with_slc("baseline", "10%", "0", "random");
	CHECK_EQ(count_slc_blocks(), 0);
	for (i = 0; i < 8000; i++) {
		struct census census;

		write_random_units(1, i);
		census = count_slc_blocks_of_lun(0);
		CHECK_EQ(device.ftl->luns[0].slc_blocks, census.cached);
		fewest = min(fewest, census.free + census.cached);
	}
	CHECK_EQ(count_slc_blocks(), 4);
	CHECK(fewest >= 4);
	CHECK(test_counters(&device)->gc_blocks > 50);
	/* After idle time the cache blocks take host writes again, with full capacity. */
	test_advance_clock_by(&device, AFTL_HOUR_NS);
	for (i = 0; i < 4 * EACH - EACH; i++)
		write_units_singly(i, 1);
	for (i = 0; i < 4 * EACH - EACH; i++)
		CHECK_EQ(test_block_of(&device, i)->bits, 1);
}

/* All free blocks beyond the number that GC keeps free become dynamic SLC blocks. */
TAP_TEST(free_blocks_are_cache_blocks_until_gc_needs_them)
{
	struct census census;
	u32 lent;

	open_device_with_slc("baseline", "0", "100%", "none");
	write_units_singly(0, 30 * EACH);
	census = count_slc_blocks_of_lun(0);
	CHECK_EQ(census.cached, 30);
	write_units_singly(30 * EACH, 6 * EACH);
	census = count_slc_blocks_of_lun(0);
	lent = census.cached;
	CHECK_EQ(lent, 40 - device.ftl->gc_blocks);
	CHECK_EQ(test_counters(&device)->fold_blocks, 0);
	write_units_singly(36 * EACH, 1);
	CHECK_EQ(test_block_of(&device, 36 * EACH)->bits, 0);
	/* Filling the device folds the data of dynamic cache blocks back into normal blocks. */
	write_units_singly(0, test_unit_count(&device));
	write_units_singly(0, test_unit_count(&device));
	CHECK(count_slc_blocks() < lent / 4);
	CHECK(test_counters(&device)->fold_blocks > lent / 2);
	CHECK_EQ(test_counters(&device)->host_failed_requests, 0);
}

TAP_TEST(idle_luns_fold)
{
	open_device_with_slc("baseline", "0", "50%", "none");
	write_units_singly(0, 3 * EACH + 5);
	CHECK_EQ(count_slc_blocks(), 4);
	test_advance_clock_by(&device, SECOND_NS);
	/* The open block of the SLC cache is not folded. */
	CHECK_EQ(count_slc_blocks(), 1);
	CHECK_EQ(test_block_of(&device, 0)->bits, 0);
	CHECK_EQ(test_block_of(&device, 3 * EACH)->bits, 1);
	CHECK_EQ(test_counters(&device)->fold_blocks, 3);
	CHECK_EQ(test_counters(&device)->fold_idle_blocks, 3);
	CHECK_EQ(test_counters(&device)->programmed_fold_units, 3 * EACH);
	CHECK_EQ(test_counters(&device)->cached_host_units, 3 * EACH + 5);
	CHECK_EQ(test_counters(&device)->programmed_gc_units, 0);
}

/* No block is folded before parameter idle has passed, or while the device has work. */
TAP_TEST(busy_luns_do_not_fold)
{
	u32 i;

	open_device_with_slc("baseline", "0", "50%", "none");
	write_units_singly(0, 3 * EACH);
	for (i = 0; i < 100; i++) {
		CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 1, AFTL_PRECISE, NULL), 0);
		test_advance_clock_by(&device, device.config.idle / 2);
	}
	CHECK_EQ(test_counters(&device)->fold_blocks, 0);
}

/* Write as many units per request as fit into one program. */
static void write_units_three_per_request(u32 first, u32 units)
{
	u32 end = first + units;

	for (; first < end; first += 3)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, first, 3, AFTL_PRECISE, NULL),
			 0);
}

/* Normal victims with less valid data are collected before dynamic SLC blocks are folded. */
TAP_TEST(cheaper_victims_are_collected_before_folding)
{
	open_device_with_slc("baseline", "0", "50%", "none");
	write_units_singly(0, 20 * EACH);
	CHECK_EQ(count_slc_blocks(), 20);
	/* Overwrite data in normal blocks, so that GC finds normal blocks without valid data. */
	while (test_counters(&device)->gc_blocks < 8 && !tap_failure_count())
		write_units_three_per_request(20 * EACH, 48);
	CHECK_EQ(test_counters(&device)->fold_blocks, 0);
	CHECK_EQ(test_counters(&device)->programmed_gc_units, 0);
}

/* A fill of the device does not use the SLC cache. */
TAP_TEST(a_fill_is_not_cached)
{
	open_device_with_slc("baseline", "10%", "50%", "sequential");
	CHECK_EQ(count_slc_blocks(), 0);
	write_units_singly(0, 1);
	CHECK_EQ(count_slc_blocks(), 1);
}

/* Data whose zone or placement handle the host selects bypass the SLC cache. */
TAP_TEST(data_with_a_placement_bypass_the_cache)
{
	open_device_with_slc("streams", "10%", "0", "none");
	device.hint.stream = 3;
	write_units_singly(0, 8);
	CHECK_EQ(count_slc_blocks(), 0);
	CHECK_EQ(test_block_of(&device, 0)->kind, 3);
	device.hint.stream = 0;
	write_units_singly(8, 8);
	CHECK_EQ(count_slc_blocks(), 1);
}

static u32 look_up_data_class_of_unit(u32 unit)
{
	u32 class = AFTL_CLASSES;

	aftl_lookup(device.ftl, to_lpn(unit), &class);
	return class;
}

/* Folding separates precise and approximate data of a cache block. */
TAP_TEST(folding_keeps_the_data_class)
{
	u32 i;

	open_device_with_slc("vth_b", "0", "50%", "none");
	for (i = 0; i < 2 * EACH; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i, 1, i / 3 % 2, NULL), 0);
	CHECK_EQ(count_slc_blocks(), 2);
	for (i = 0; i < 2 * EACH; i++)
		CHECK_EQ(look_up_data_class_of_unit(i), i / 3 % 2);
	test_advance_clock_by(&device, SECOND_NS);
	for (i = 0; i < EACH; i++) {
		CHECK_EQ(test_block_of(&device, i)->bits, 0);
		CHECK_EQ(look_up_data_class_of_unit(i), i / 3 % 2);
		CHECK_EQ(test_block_of(&device, i)->kind, i / 3 % 2);
	}
}

/* Requested GC also folds. */
TAP_TEST(requested_gc_folds)
{
	open_device_with_slc("baseline", "25%", "0", "none");
	write_units_singly(0, 5 * EACH);
	CHECK_EQ(count_slc_blocks(), 5);
	CHECK_EQ(aftl_start_lun_gc(device.ftl, 0), 0);
	/* The requested GC of LUN 0 has begun to collect the first of its 40 blocks. */
	CHECK_EQ(device.ftl->luns[0].forced_gc, 40 - 1);
	test_advance_clock_by(&device, 100 * device.config.idle);
	CHECK_EQ(test_counters(&device)->fold_idle_blocks, 0);
	CHECK_EQ(test_counters(&device)->fold_blocks, 5);
	CHECK_EQ(count_slc_blocks(), 0);
}

/* A policy cannot close the core's open cache block. */
TAP_TEST(a_policy_cannot_close_a_cache_block)
{
	struct aftl_block *open;

	open_device_with_slc("baseline", "10%", "0", "none");
	write_units_singly(0, 4);
	open = device.ftl->luns[0].slc_open;
	aftl_policy_close_block(device.ftl->policy, open);
	CHECK_EQ(open->state, AFTL_BLOCK_OPEN);
	write_units_singly(4, EACH - 4);
	CHECK(test_block_of(&device, EACH - 1) == open);
	CHECK(!device.ftl->luns[0].slc_open);
}

static void reload_device_with_slc_shares(const char *policy, const char *kept_share,
					  const char *lent_share)
{
	test_device_set_param_text(&device, "slc_static", kept_share);
	test_device_set_param_text(&device, "slc_dynamic", lent_share);
	if (test_device_reload_with_policy(&device, policy))
		tap_bail_out("%s", device.error.text);
	test_audit_device(&device);
}

/* After a load, the SLC cache continues its open block at the same page. */
TAP_TEST(the_cache_survives_a_snapshot)
{
	u64 digest;

	open_device_with_slc("baseline", "25%", "0", "none");
	write_units_singly(0, EACH + 5);
	write_units_singly(EACH + 5, EACH - 5);
	digest = aftl_compute_device_digest(device.ftl);
	open_device_with_slc("baseline", "25%", "0", "none");
	write_units_singly(0, EACH + 5);
	reload_device_with_slc_shares("baseline", "25%", "0");
	CHECK_EQ(test_block_of(&device, EACH)->bits, 1);
	write_units_singly(EACH + 5, EACH - 5);
	CHECK_EQ(aftl_compute_device_digest(device.ftl), digest);
	CHECK(test_block_of(&device, 2 * EACH - 1) == test_block_of(&device, EACH));
	/* A change of the policy does not close the open block of the SLC cache. */
	write_units_singly(0, 3);
	reload_device_with_slc_shares("vth_b", "5%", "0");
	write_units_singly(3, 1);
	CHECK(test_block_of(&device, 3) == test_block_of(&device, 0));
}

/* The SLC cache can be turned off, which leaves its data to GC, and turned on again. */
TAP_TEST(the_cache_can_be_turned_off_and_on)
{
	u32 i;

	open_device_with_slc("baseline", "10%", "20%", "none");
	write_units_singly(0, 7 * EACH + 3);
	CHECK_EQ(count_slc_blocks(), 8);
	reload_device_with_slc_shares("baseline", "0", "0");
	CHECK_EQ(count_slc_blocks(), 8);
	for (i = 0; i < device.ftl->geo.blocks; i++)
		CHECK(device.ftl->media.blocks[i].state != AFTL_BLOCK_OPEN);
	for (i = 0; i < 4; i++)
		write_units_singly(0, test_unit_count(&device));
	CHECK_EQ(count_slc_blocks(), 0);
	CHECK_EQ(test_counters(&device)->cached_host_units, 0);
	reload_device_with_slc_shares("baseline", "10%", "0");
	write_random_units(2000, 3);
	CHECK_EQ(count_slc_blocks(), 4);
	CHECK_EQ(test_counters(&device)->host_failed_requests, 0);
}

TAP_TEST(invalid_combinations_with_an_slc_cache_are_refused)
{
	static const char tiny[] =
		"bits=2 layers=1 word_lines=2 blocks=200 slc_static=5% page=16KiB op=70% "
		"one_shot=on";
	static const char full[] = SHAPE " slc_static=50%";

	test_check_config_refused(&device, "baseline", "bits=1 slc_dynamic=1%",
				  "a cell of this device holds one bit");
	test_check_config_refused(&device, "vth_b", tiny, "raise layers or word_lines");
	test_check_config_refused(&device, "baseline", full,
				  "policy baseline with a cache keeps 23 of the 40 blocks");
}

/* Tests of the SLC cache under random requests, on random devices with random policies. */

static void draw_slc_cache_params(struct aftl_random *random)
{
	struct aftl_config *config = &device.config;

	if (config->bits == 1)
		config->bits = 2 + aftl_random_below(random, 3);
	config->slc_static = aftl_random_below(random, 3) * 600;
	config->slc_dynamic = config->slc_static ? aftl_random_below(random, 3) * 2500 :
						   1 + aftl_random_below(random, 10000);
	config->op = max(config->op, (u64)4000);
	config->gc = aftl_random_below(random, 2000);
	config->idle = 100000 + aftl_random_below(random, 2000000);
}

/* After idle time no block is left that could be folded. */
static void check_no_block_can_fold(void)
{
	u32 i;

	test_drain_requests(&device);
	test_advance_clock_by(&device, 100 * SECOND_NS);
	for (i = 0; i < device.ftl->geo.luns; i++) {
		struct census census = count_slc_blocks_of_lun(i);

		CHECK_EQ(device.ftl->luns[i].slc_blocks, census.cached);
		CHECK_MSG(!census.closed || census.free <= gc_reserve_of_policy() +
			  count_unused_static_slc_blocks(&census),
			  "%u blocks are left, %u free", census.closed, census.free);
	}
}

static u32 lived;
static u64 folds;

static void run_random_slc_cache_requests(struct aftl_random *random)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	test_stream_init(&stream, aftl_random_next(random));
	stream.read = aftl_random_below(random, 40);
	stream.approx = aftl_random_below(random, 101);
	stream.depth = aftl_random_below(random, 40);
	stream.gap_ns = aftl_random_below(random, 3) * 1000000;
	shadow_attach_to_device(&store, &device, false);
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		if (i % 16 == 0)
			shadow_compare_device_with_store(&store);
	}
	check_no_block_can_fold();
	CHECK_EQ(test_counters(&device)->host_failed_requests, 0);
	CHECK(!aftl_is_read_only(device.ftl));
	folds += test_counters(&device)->fold_blocks;
}

static void check_slc_cache_with_seed(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed ^ 0xcac4e) };
	const char *policy = test_draw_policy(false, &random);

	test_device_init(&device, "demo");
	test_randomize_geometry(&device, &random);
	test_randomize_options(&device, &random);
	device.config.bad = 0;
	device.config.endurance = 0;
	draw_slc_cache_params(&random);
	if (!test_device_create(&device, policy)) {
		lived++;
		run_random_slc_cache_requests(&random);
	}
	test_finish_device_or_print_config(&device, policy, seed);
}

TAP_TEST(random_devices_fold_all_they_can_when_they_are_idle)
{
	u64 seed;

	for (seed = 1; seed <= SEEDS && !tap_failure_count(); seed++)
		check_slc_cache_with_seed(seed);
	tap_printf("%u devices: %llu blocks folded", lived, (unsigned long long)folds);
	CHECK(tap_failure_count() || (lived > SEEDS / 4 && folds > 500));
}

TAP_SEED(check_slc_cache_with_seed)
