// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quality levels: a unit keeps the level it was written with, policies with two classes ignore it,
 * and policy "levels" never stores data with less care than required.
 */
#include "core/ftl/controller.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=2 chips=1 blocks=48 layers=4 word_lines=4 op=50 cell_model=voltage"

static const char small[] = SHAPE;
static const char wide[] = SHAPE " page=16KiB unit=4KiB buffer=256KiB wear_gap=4";

static struct test_device device;

static void open_device(const char *policy, const char *params, u8 level)
{
	test_open_demo_profile(&device, policy, params);
	device.level = level;
}

static void run_requests_of_all_levels(u32 requests)
{
	struct test_stream stream;

	test_stream_init(&stream, 5);
	stream.approx = 60;
	while (requests--)
		test_stream_submit_request(&stream, &device);
	test_drain_requests(&device);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
}

static bool is_counter_of_quality_level(unsigned int counter)
{
	return strstr(aftl_counter_info[counter].name, "_level_");
}

static void check_quality_levels_do_not_change_timing(const char *policy, const char *params)
{
	struct aftl_counters plain;
	u64 ended_ns;
	unsigned int i;

	open_device(policy, params, 0);
	run_requests_of_all_levels(4000);
	plain = *test_counters(&device);
	ended_ns = aftl_device_time_ns(device.ftl);
	open_device(policy, params, AFTL_LEVELS);
	run_requests_of_all_levels(4000);
	CHECK_EQ(aftl_device_time_ns(device.ftl), ended_ns);
	for (i = 0; i < AFTL_COUNTERS; i++)
		CHECK_MSG(is_counter_of_quality_level(i) ||
			  aftl_counter_get(test_counters(&device), i) ==
			  aftl_counter_get(&plain, i),
			  "%s: %s differs", policy, aftl_counter_info[i].name);
	CHECK(test_counters(&device)->host_write_level_3_units);
}

/* Quality levels must change neither time nor counters of policies with two data classes. */
TAP_TEST(policies_with_two_data_classes_ignore_quality_levels)
{
	static const char *const policies[] = { "delta_b", "vth_b", "approxftl", "lending" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		check_quality_levels_do_not_change_timing(policies[i], small);
		check_quality_levels_do_not_change_timing(policies[i], wide);
	}
}

/* Highest quality level that a page with attributes @attr may store. */
static u32 get_max_quality_level_of_page(u16 attr)
{
	if (aftl_page_class(attr) == AFTL_PRECISE)
		return AFTL_PRECISE;
	switch (aftl_page_mode(attr)) {
	case AFTL_MODE_ROUGH:
		return 3;
	case AFTL_MODE_REDUCED:
		return 2;
	}
	return 1;
}

/*
 * Count valid units by level, and check that the mode of their page suits the level. @pure: the
 * page must be in exactly the mode of its level.
 */
static void count_units_by_level(u32 pages[AFTL_LEVELS], bool pure)
{
	const struct aftl_media *media = aftl_media(device.ftl);
	u32 slot;

	for (slot = 0; slot < media->geo->ppns; slot++) {
		u16 attr = aftl_ppn_attr(media, to_ppn(slot));
		u32 level;

		if (!aftl_ppn_is_valid(media, to_ppn(slot)))
			continue;
		level = aftl_lpn_quality_level(device.ftl, aftl_ppn_lpn(media, to_ppn(slot)));
		CHECK_EQ(aftl_ppn_quality_level(media, to_ppn(slot)), level);
		CHECK_MSG(get_max_quality_level_of_page(attr) <= level, "level %u is in mode %u",
			  level, aftl_page_mode(attr));
		CHECK(!pure || get_max_quality_level_of_page(attr) == level);
		pages[level]++;
	}
}

static void check_pages_of_all_quality_levels_exist(const u32 pages[AFTL_LEVELS])
{
	u32 level;

	for (level = 0; level < AFTL_LEVELS; level++)
		CHECK(pages[level] > 50);
}

TAP_TEST(policy_levels_never_mixes_levels_in_a_page)
{
	const char *const shapes[] = { small, wide };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		u32 pages[AFTL_LEVELS] = { 0 };

		open_device("levels", shapes[i], AFTL_LEVELS);
		run_requests_of_all_levels(12000);
		count_units_by_level(pages, true);
		check_pages_of_all_quality_levels_exist(pages);
		CHECK(test_counters(&device)->programmed_gc_units > 1000);
	}
}

/* If another policy mixed quality levels in a page, relocation uses the most careful mode. */
TAP_TEST(mixed_pages_are_relocated_in_the_most_careful_mode)
{
	u32 pages[AFTL_LEVELS] = { 0 };
	struct test_bytes bytes = { 0 };
	u64 digest;
	u32 round;

	open_device("lending", wide, AFTL_LEVELS);
	run_requests_of_all_levels(3000);
	test_device_save_snapshot(&device, &bytes);
	free_test_bytes(&bytes);
	digest = aftl_compute_device_digest(device.ftl);
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(aftl_compute_device_digest(device.ftl), digest);
	CHECK_EQ(test_device_reload_with_policy(&device, "levels"), 0);
	/* Check the modes of pages with mixed levels, until relocation has separated the levels. */
	for (round = 0; round < 20; round++) {
		run_requests_of_all_levels(600);
		count_units_by_level(pages, false);
	}
	check_pages_of_all_quality_levels_exist(pages);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	test_audit_device(&device);
}

/* Totals of the program and read operations on data of one quality level. */
struct cost {
	u64 flips;
	u64 program_ns;
	u64 energy_pj;
	u64 wear;
};

static struct cost cost_of_level(u32 level)
{
	struct cost cost;
	u32 round;
	u32 unit;

	open_device("levels", small, level);
	for (round = 0; round < 6; round++)
		for (unit = 0; unit < test_unit_count(&device); unit++)
			CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 1, level != 0,
						      NULL),
				 0);
	for (unit = 0; unit < test_unit_count(&device); unit++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, unit, 1, 0, NULL), 0);
	cost.flips = test_counters(&device)->read_flipped_bits;
	CHECK_EQ(cost.flips,
		 level ? (&test_counters(&device)->read_precise_flipped_bits)[level] : 0);
	cost.program_ns = test_counters(&device)->array_program_ns;
	cost.energy_pj = test_counters(&device)->program_energy_pj +
			 test_counters(&device)->erase_energy_pj;
	cost.wear = test_counters(&device)->wear_sum;
	return cost;
}

TAP_TEST(higher_levels_have_more_errors_and_cost_less)
{
	struct cost cost[AFTL_LEVELS];
	u32 level;

	for (level = 0; level < AFTL_LEVELS; level++) {
		cost[level] = cost_of_level(level);
		tap_printf("level %u: %llu flips, %llu ns, %llu pJ, wear %llu", level,
			   (unsigned long long)cost[level].flips,
			   (unsigned long long)cost[level].program_ns,
			   (unsigned long long)cost[level].energy_pj,
			   (unsigned long long)cost[level].wear);
	}
	CHECK_EQ(cost[0].flips, 0);
	CHECK(cost[1].flips < 20 && 100 * cost[1].flips < cost[2].flips);
	CHECK(3 * cost[2].flips < 2 * cost[3].flips);
	CHECK_EQ(cost[1].program_ns, cost[0].program_ns);
	CHECK(cost[2].program_ns < cost[1].program_ns && cost[3].program_ns < cost[2].program_ns);
	CHECK(cost[2].energy_pj < cost[1].energy_pj && cost[3].energy_pj < cost[2].energy_pj);
	CHECK(cost[2].wear < cost[1].wear && cost[3].wear <= cost[2].wear);
}

static void check_level_refused(u8 class, u8 level)
{
	struct aftl_request request = {
		.op = AFTL_OP_WRITE, .units = 1, .class = class, .level = level,
	};

	CHECK_EQ(aftl_submit(device.ftl, &request), -EINVAL);
}

static void check_level_accepted(u8 class, u8 level)
{
	device.level = level;
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 1, class, NULL), 0);
	CHECK_EQ(aftl_lpn_quality_level(device.ftl, to_lpn(0)),
		 aftl_normalise_quality_level(class, level));
}

TAP_TEST(only_approximate_data_have_a_level)
{
	open_device("levels", small, 0);
	check_level_accepted(AFTL_PRECISE, 0);
	check_level_refused(AFTL_PRECISE, 1);
	check_level_refused(AFTL_PRECISE, 3);
	check_level_accepted(AFTL_APPROX, 0);
	check_level_accepted(AFTL_APPROX, 3);
	check_level_refused(AFTL_APPROX, 4);
	check_level_refused(AFTL_APPROX, 255);
	CHECK_EQ(aftl_lpn_quality_level(device.ftl, to_lpn(0)), 3);
	CHECK_EQ(aftl_lpn_quality_level(device.ftl, to_lpn(1)), 0);
	CHECK_EQ(aftl_lpn_quality_level(device.ftl, to_lpn(U32_MAX)), 0);
}

/* Refreshed data become precise and lose their level. */
TAP_TEST(promoted_data_lose_their_level)
{
	u32 unit;

	open_device("levels", small, AFTL_LEVELS);
	for (unit = 0; unit < 200; unit++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 1, AFTL_APPROX, NULL),
			 0);
	aftl_advance_age(device.ftl, 200 * AFTL_DAY_NS);
	test_advance_clock_by(&device, 200000000000ULL);
	for (unit = 0; unit < 200; unit++)
		CHECK_EQ(aftl_lpn_quality_level(device.ftl, to_lpn(unit)), 0);
	CHECK_EQ(test_counters(&device)->programmed_refresh_units, 200);
}
