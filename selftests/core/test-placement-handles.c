// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement handles (FDP): writes with a placement id have their own reclaim units, relocated data
 * of handles mix or stay apart, and FDP statistics add up.
 */
#include "bytes.h"
#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/placement-handle.h"
#include "core/persist/snapshot.h"
#include "core/policy/policies.h"
#include "stream.h"
#include "tap.h"

static struct test_device device;

#define SHAPE "channels=1 chips=1 blocks=40 layers=4 word_lines=4 bits=3 one_shot=on page=4KiB " \
	"unit=4KiB op=40"
/* Number of units in a block of the test device. */
#define EACH 48

static void open_device_with_handles(const char *policy, const char *handles, const char *isolation,
				     const char *cache)
{
	const char *params = test_format_params(SHAPE " placement_handles=%s "
						"placement_isolation=%s slc_static=%s",
						handles, isolation, cache);

	test_open_demo_profile(&device, policy, params);
}

static void write_units_with_placement_id(u32 first, u32 units, u8 life, u8 id)
{
	device.hint = (struct aftl_hint){ .life = life, .stream = id };
	test_write_each_unit(&device, first, units, AFTL_PRECISE);
}

static const struct aftl_handle_stats *stats_of_handle(u32 handle)
{
	return &aftl_get_stats(device.ftl)->handles[handle];
}

TAP_TEST(each_placement_id_has_its_own_blocks)
{
	u32 i;

	open_device_with_handles("baseline", "3", "initial", "0");
	for (i = 0; i < 8; i++)
		write_units_with_placement_id(i, 1, 0, (u8)i);
	for (i = 0; i < 8; i++)
		CHECK_EQ(test_block_of(&device, i)->handle, i < 4 ? i : 0);
	CHECK_EQ(test_counters(&device)->unknown_placement_requests, 4);
	CHECK_EQ(stats_of_handle(0)->host_units, 5);
	write_units_with_placement_id(0, 2, AFTL_LIFETIME_MEDIUM, 0);
	write_units_with_placement_id(2, 2, AFTL_LIFETIME_SHORT, 1);
	for (i = 0; i < 4; i++)
		CHECK_EQ(test_block_of(&device, i)->handle, i < 2 ? 3 : 1);
}

/* Without placement handles, placement ids have no effect. */
TAP_TEST(without_handles_nothing_is_counted)
{
	open_device_with_handles("baseline", "0", "persistent", "0");
	write_units_with_placement_id(0, 2 * EACH, 0, 2);
	CHECK_EQ(test_block_of(&device, 0)->handle, 0);
	CHECK_EQ(test_counters(&device)->unknown_placement_requests, 0);
	CHECK_EQ(stats_of_handle(0)->host_units + stats_of_handle(0)->media_units, 0);
	CHECK(!device.ftl->luns->handle_blocks);
}

/* A partly filled reclaim unit fails; its three units are relocated in @events runs of units. */
static void check_partial_reclaim_unit(const char *isolation, u32 stride, u32 events)
{
	u32 index;
	u32 i;

	open_device_with_handles("baseline", "2", isolation, "0");
	for (i = 0; i < 3; i++)
		write_units_with_placement_id(i * stride, 1, 0, 1);
	index = aftl_block_index(&device.ftl->media, test_block_of(&device, 0));
	CHECK_EQ(aftl_fail_block(device.ftl, index), 0);
	CHECK_EQ(stats_of_handle(1)->changed_blocks, 1);
	CHECK_EQ(stats_of_handle(1)->partial_blocks, 1);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(stats_of_handle(1)->reallocated_units, 3);
	CHECK_EQ(stats_of_handle(1)->reallocated_events, events);
	CHECK(aftl_block_index(&device.ftl->media, test_block_of(&device, 0)) != index);
}

TAP_TEST(a_partial_reclaim_unit_is_counted)
{
	check_partial_reclaim_unit("persistent", 1, 0);
	CHECK_EQ(test_block_of(&device, 0)->handle, 1);
	write_units_with_placement_id(3, 1, 0, 1);
	CHECK(test_block_of(&device, 3) == test_block_of(&device, 0));
}

/* FDP's event "media reallocated" reports consecutive units, of data that are not isolated. */
TAP_TEST(relocated_runs_of_units_are_counted_as_events)
{
	check_partial_reclaim_unit("initial", 2, 3);
	check_partial_reclaim_unit("initial", 1, 1);
	CHECK_EQ(test_block_of(&device, 0)->handle, 0);
}

TAP_TEST(data_with_a_handle_bypass_the_slc_cache)
{
	open_device_with_handles("baseline", "2", "initial", "10%");
	write_units_with_placement_id(0, 3, 0, 2);
	CHECK_EQ(test_block_of(&device, 0)->bits, 0);
	CHECK_EQ(test_block_of(&device, 0)->handle, 2);
	write_units_with_placement_id(3, 3, 0, 0);
	CHECK_EQ(test_block_of(&device, 3)->bits, 1);
}

TAP_TEST(ids_above_the_handles_are_streams_of_the_policy)
{
	open_device_with_handles("streams", "2", "initial", "0");
	write_units_with_placement_id(0, 3, 0, 2);
	write_units_with_placement_id(3, 3, 0, 3);
	write_units_with_placement_id(6, 3, 0, 0);
	CHECK_EQ(test_block_of(&device, 0)->handle, 2);
	CHECK_EQ(test_block_of(&device, 3)->handle, 0);
	CHECK_EQ(test_block_of(&device, 3)->kind, 3);
	CHECK_EQ(test_block_of(&device, 6)->kind, 0);
	CHECK_EQ(test_counters(&device)->unknown_placement_requests, 0);
}

/* A die failure closes the open reclaim units of the die; other placement handles continue. */
TAP_TEST(handles_leave_a_dead_die)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", "placement_handles=4 op=60%");
	for (i = 1; i < 5; i++)
		write_units_with_placement_id(i * 40, 40, 0, (u8)i);
	CHECK_EQ(aftl_fail_lun(device.ftl, 1), 0);
	for (i = 1; i < 5; i++) {
		write_units_with_placement_id(i * 40, 40, 0, (u8)i);
		CHECK_EQ(test_block_of(&device, i * 40)->handle, i);
		CHECK(!device.ftl->luns[1].handle_blocks[i - 1]);
	}
}

/* Policy "streams", which places data by id itself, must give the result of placement handles. */
static void run_requests_of_mixed_tenants(const char *policy, const char *handles,
					  const char *isolation)
{
	struct test_stream stream;
	u32 i;

	open_device_with_handles(policy, handles, isolation, "0");
	test_stream_init(&stream, 5);
	stream.approx = 0;
	test_stream_write_all_units(&stream, &device);
	for (i = 0; i < 9000 && !tap_failure_count(); i++) {
		u32 place = aftl_random_below(&stream.random, test_unit_count(&device) - 8);

		device.hint.stream = (u8)(place / 64 % 8);
		CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, place, 8, AFTL_PRECISE, 0,
					aftl_device_time_ns(device.ftl)),
			 0);
		test_drain_requests_to_depth(&device, 16);
	}
	test_drain_requests(&device);
	CHECK(test_counters(&device)->programmed_gc_units > 1000);
}

/* The data of each handle are written, relocated and erased in its own blocks. */
static void check_handle_statistics(void)
{
	u64 media = 0;
	u64 erased = 0;
	u32 i;

	for (i = 0; i < 8; i++) {
		const struct aftl_handle_stats *stats = stats_of_handle(i);

		CHECK(stats->host_units && stats->reallocated_units && stats->erased_units);
		CHECK(stats->media_units >= stats->host_units + stats->reallocated_units);
		CHECK_EQ(stats->partial_blocks, 0);
		media += stats->media_units;
		erased += stats->erased_units;
	}
	CHECK_EQ(media, test_sum_programmed_units(&device) + test_counters(&device)->padded_units);
	CHECK_EQ(erased, test_counters(&device)->array_erases * EACH);
}

TAP_TEST(persistent_isolation_equals_policy_streams)
{
	struct aftl_counters streams;
	u64 now_ns;

	run_requests_of_mixed_tenants("streams", "0", "initial");
	streams = *test_counters(&device);
	now_ns = aftl_device_time_ns(device.ftl);
	run_requests_of_mixed_tenants("baseline", "7", "persistent");
	CHECK_EQ(memcmp(&streams, test_counters(&device), sizeof(streams)), 0);
	CHECK_EQ(aftl_device_time_ns(device.ftl), now_ns);
	check_handle_statistics();
	run_requests_of_mixed_tenants("baseline", "7", "initial");
	CHECK(streams.programmed_gc_units != test_counters(&device)->programmed_gc_units);
}

/* A policy cannot close a handle's block. */
TAP_TEST(a_policy_cannot_close_a_handles_block)
{
	struct aftl_block *open;

	open_device_with_handles("baseline", "2", "initial", "0");
	write_units_with_placement_id(0, 1, 0, 2);
	open = device.ftl->luns[0].handle_blocks[1];
	aftl_policy_close_block(device.ftl->policy, open);
	CHECK_EQ(open->state, AFTL_BLOCK_OPEN);
	write_units_with_placement_id(1, 1, 0, 2);
	CHECK(test_block_of(&device, 1) == open);
}

/* The policy has one write stream for relocated data; the core tells it each relocated unit. */
TAP_TEST(isolated_data_are_relocated_in_one_pass)
{
	struct aftl_policy_type type = *aftl_policy_find("streams");
	struct aftl_random random = { 3 };
	u32 i;

	type.host_streams = 0;
	type.ignores_tags = false;
	test_device_init(&device, "demo");
	test_device_open_with_policy_type(&device, &type,
					  "placement_handles=1 placement_isolation=persistent");
	device.hint.stream = 1;
	for (i = 0; i < test_unit_count(&device) * 3; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE,
					      aftl_random_below(&random, test_unit_count(&device)),
					      1, aftl_random_below(&random, 2), NULL),
			 0);
	CHECK(stats_of_handle(1)->reallocated_units > 1000);
}

static void reload_device_with_placement_handles(struct test_bytes *bytes, u64 handles)
{
	struct aftl_snapshot_source source = test_bytes_source(bytes);

	aftl_destroy(device.ftl);
	device.config.placement_handles = handles;
	CHECK_EQ(aftl_load_with_policy_and_params(&device.ftl, &source,
						  aftl_policy_find("baseline"), &device.config,
						  &device.ops, &device, &device.error),
		 0);
}

/*
 * After a load, handles keep their open blocks, and blocks of removed handles are closed. Block
 * indices of the core begin with @map_blocks blocks for translation pages.
 */
static void check_handle_snapshot(u32 map_blocks)
{
	struct test_bytes bytes = { .limit = SIZE_MAX };
	u32 i;

	test_open_demo_profile(&device, "baseline",
			       test_format_params(SHAPE " placement_handles=5 map_cache=%s "
						  "placement_isolation=persistent",
						  map_blocks ? "256KiB" : "0"));
	for (i = 1; i < 6; i++)
		write_units_with_placement_id(i * EACH, EACH, 0, (u8)i);
	write_units_with_placement_id(6 * EACH, 5, 0, 5);
	test_device_save_snapshot(&device, &bytes);
	reload_device_with_placement_handles(&bytes, 5);
	for (i = 1; i < 6; i++)
		CHECK_EQ(test_block_of(&device, i * EACH)->handle, map_blocks + i);
	write_units_with_placement_id(6 * EACH + 5, 1, 0, 5);
	CHECK(test_block_of(&device, 6 * EACH + 5) == test_block_of(&device, 6 * EACH));
	reload_device_with_placement_handles(&bytes, 2);
	for (i = 1; i < 6; i++)
		CHECK_EQ(test_block_of(&device, i * EACH)->handle, i < 3 ? map_blocks + i : 0);
	CHECK_EQ(test_block_of(&device, 6 * EACH)->state, AFTL_BLOCK_CLOSED);
	write_units_with_placement_id(0, test_unit_count(&device), 0, 2);
	test_audit_device(&device);
	reload_device_with_placement_handles(&bytes, 0);
	CHECK_EQ(test_block_of(&device, EACH)->handle, 0);
	write_units_with_placement_id(0, test_unit_count(&device), 0, 2);
	CHECK_EQ(test_counters(&device)->host_failed_requests, 0);
	test_audit_device(&device);
	free_test_bytes(&bytes);
}

TAP_TEST(handles_survive_a_snapshot)
{
	check_handle_snapshot(0);
}

TAP_TEST(handles_beside_a_cached_map_survive_a_snapshot)
{
	check_handle_snapshot(1);
}

static void change_policy_and_run_requests(const char *policy, u64 seed)
{
	struct test_stream stream;
	u32 i;

	if (test_device_reload_with_policy(&device, policy))
		tap_bail_out("%s", device.error.text);
	for (i = 0; i < device.ftl->geo.luns; i++)
		CHECK(!device.ftl->luns[i].fallback || !device.ftl->luns[i].fallback->handle);
	test_stream_init(&stream, seed);
	test_stream_submit_requests(&stream, &device, 400);
	test_drain_requests(&device);
	CHECK_EQ(test_counters(&device)->host_failed_requests, 0);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	test_audit_device(&device);
}

/* After a change of policy GC uses the fallback block if the new policy lacks free blocks. */
TAP_TEST(a_change_of_policy_keeps_handles_working)
{
	static const char params[] =
		"channels=1 chips=1 blocks=44 op=65% layers=4 word_lines=4 placement_handles=4 "
		"placement_isolation=persistent";
	u32 i, j;

	for (i = 0; i < 8 && !tap_failure_count(); i++) {
		struct test_stream stream;

		test_open_demo_profile(&device, i % 2 ? "baseline" : "approxftl", params);
		test_stream_init(&stream, i);
		test_stream_write_all_units(&stream, &device);
		test_stream_submit_requests(&stream, &device, 100 * i);
		test_drain_requests(&device);
		for (j = 0; j < 4; j++)
			change_policy_and_run_requests(j % 2 ? "baseline" :
						       i < 4 ? "hybrid" :
						     "approxftl",
						       i + j);
	}
}

/* A fallback block belongs to no handle, even if it was a handle's block before. */
TAP_TEST(the_fallback_block_has_no_handle)
{
	struct aftl_block *open;
	struct aftl_lun *lun;
	u32 free_blocks;

	open_device_with_handles("baseline", "1", "persistent", "0");
	write_units_with_placement_id(0, 1, 0, 1);
	lun = device.ftl->luns;
	open = lun->handle_blocks[0];
	aftl_close_unfilled_block(device.ftl, lun, open);
	CHECK(!lun->handle_blocks[0]);
	free_blocks = lun->free_blocks;
	lun->free_blocks = 0;
	aftl_block_manager_ensure_fallback_blocks(device.ftl);
	lun->free_blocks = free_blocks;
	CHECK(lun->fallback == open);
	CHECK_EQ(open->handle, 0);
}

#define GROUPS_SHAPE "channels=2 chips=4 blocks=48 layers=4 placement_handles=3 placement_groups=2 "

/* Reclaim group of the LUN that a unit is in. */
static u32 group_of_unit(u32 unit)
{
	const struct aftl *ftl = device.ftl;
	u32 lun = test_block_of(&device, unit) - ftl->media.blocks;

	return lun / ftl->geo.blocks_per_lun / (ftl->geo.luns / 2);
}

/* Ids 1 to 3 are the handles of group 0, ids 4 to 6 those of group 1. */
static void check_unit_is_in_group_of_id(u32 unit, u8 id)
{
	if (id)
		CHECK_EQ(group_of_unit(unit), id > 3);
}

static void check_groups_with_params(const char *params)
{
	struct aftl_random random = { 7 };
	static u8 ids[1 << 16];
	u32 units, i;

	test_open_demo_profile(&device, "baseline", params);
	units = min(test_unit_count(&device), (u32)ARRAY_SIZE(ids));
	for (i = 0; i < 5 * units && !tap_failure_count(); i++) {
		u32 unit = i < units ? i : aftl_random_below(&random, units);

		ids[unit] = i < units ? i % 7 : aftl_random_below(&random, 7);
		device.hint = (struct aftl_hint){ .stream = ids[unit] };
		CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE, 0,
					aftl_device_time_ns(device.ftl)),
			 0);
		test_drain_requests_to_depth(&device, 16);
	}
	test_flush_writes(&device);
	for (i = 0; i < units && !tap_failure_count(); i++)
		check_unit_is_in_group_of_id(i, ids[i]);
	CHECK_EQ(test_counters(&device)->other_group_units, 0);
	CHECK(test_counters(&device)->programmed_gc_units > units / 20);
	test_device_audit_and_close(&device);
}

TAP_TEST(data_stay_in_their_reclaim_group)
{
	check_groups_with_params(GROUPS_SHAPE "op=50%");
	check_groups_with_params(GROUPS_SHAPE
				 "op=50% allocate=static placement_isolation=persistent");
	check_groups_with_params(GROUPS_SHAPE "op=50% allocate=least_busy gc_mode=paced");
	check_groups_with_params(GROUPS_SHAPE "op=60% buffer=1MiB wear_gap=2");
	check_groups_with_params(GROUPS_SHAPE "op=70% superblock=4 rain=on");
	check_groups_with_params(GROUPS_SHAPE "op=60% superblock=2 map_cache=256KiB");
	check_groups_with_params(GROUPS_SHAPE "op=60% bits=3 one_shot=on slc_static=5%");
}

/* A group takes turns with its own LUNs: writes of the other group do not skip any. */
TAP_TEST(writes_are_spread_over_the_luns_of_a_group)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", GROUPS_SHAPE "unit=0");
	for (i = 0; i < 64; i++)
		write_units_with_placement_id(i, 1, 0, i % 2 ? 5 : 1);
	for (i = 0; i < device.ftl->geo.luns; i++)
		CHECK_EQ(device.ftl->luns[i].valid, 8);
}

/* A full group does not stop the host: other groups take its data. */
TAP_TEST(other_groups_take_the_data_of_a_full_group)
{
	u32 units, i;

	test_open_demo_profile(&device, "baseline", GROUPS_SHAPE "op=15%");
	units = test_unit_count(&device);
	for (i = 0; i < units; i++)
		write_units_with_placement_id(i, 1, 0, 6);
	CHECK_EQ(test_counters(&device)->host_failed_requests, 0);
	CHECK(test_counters(&device)->other_group_units > units / 4);
	CHECK(test_counters(&device)->other_group_units < units * 6 / 10);
	test_audit_device(&device);
}

/* A newer version of a buffered unit goes to the group that it names. */
TAP_TEST(an_overwrite_in_the_buffer_changes_the_group)
{
	test_open_demo_profile(&device, "baseline", GROUPS_SHAPE "unit=0 buffer=256KiB");
	write_units_with_placement_id(0, 1, 0, 2);
	write_units_with_placement_id(0, 1, 0, 5);
	test_flush_writes(&device);
	CHECK_EQ(test_counters(&device)->buffer_coalesced_units, 1);
	check_unit_is_in_group_of_id(0, 5);
	CHECK_EQ(test_block_of(&device, 0)->handle, 2);
}

/* If a LUN dies, its group continues; if all LUNs of a group die, the other group continues. */
TAP_TEST(a_group_survives_dead_luns)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", GROUPS_SHAPE "op=80%");
	CHECK_EQ(aftl_fail_lun(device.ftl, 0), 0);
	write_units_with_placement_id(0, 200, 0, 2);
	for (i = 0; i < 200; i++)
		check_unit_is_in_group_of_id(i, 2);
	for (i = 1; i < device.ftl->geo.luns / 2; i++)
		CHECK_EQ(aftl_fail_lun(device.ftl, i), 0);
	write_units_with_placement_id(0, 200, 0, 2);
	for (i = 0; i < 200; i++)
		CHECK_EQ(group_of_unit(i), 1);
	CHECK_EQ(test_counters(&device)->other_group_units, 200);
}

/* Handles and streams of the policy have write streams of their own, whatever their numbers. */
static void check_handles_beside_streams(const char *policy, u32 handles, const char *more)
{
	const u32 units = 16 * 48;
	u32 i;

	test_open_demo_profile(&device, policy,
			       test_format_params("op=80%% buffer=256KiB buffer_hold=1s "
						  "placement_handles=%u %s", handles, more));
	for (i = 0; i < units; i++) {
		device.hint = (struct aftl_hint){ .stream = (u8)(i % 16) };
		test_write_each_unit(&device, i, 1, i / 16 % 2 ? AFTL_APPROX : AFTL_PRECISE);
	}
	test_advance_clock_by(&device, 10000000000ULL);
	for (i = 0; i < units; i++) {
		const struct aftl_block *block = test_block_of(&device, i);
		u32 id = i % 16 <= handles ? i % 16 : 0;

		CHECK_EQ(aftl_fdp_handle_of_block(device.ftl, block), id);
	}
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
}

TAP_TEST(handles_have_streams_beside_those_of_a_policy)
{
	check_handles_beside_streams("streams", 12, "blocks=128");
	check_handles_beside_streams("streams", 15, "blocks=128");
	check_handles_beside_streams("streams", 14, "blocks=128 map_cache=1MiB");
	check_handles_beside_streams("hybrid", 12, "blocks=128 bits=3");
	check_handles_beside_streams("approxftl", 15, "blocks=128 chips=2 superblock=2");
}

static void check_handles_refused(const char *policy, const char *handles, const char *blocks,
				  const char *why)
{
	test_check_config_refused(&device, policy,
				  test_format_params("placement_handles=%s "
						     "blocks=%s",
						     handles, blocks),
				  why);
}

TAP_TEST(invalid_combinations_with_placement_handles_are_refused)
{
	test_check_config_refused(&device, "streams",
				  "placement_handles=15 map_cache=1MiB op=80%",
				  "the numbers of 14 handles beside that of the cached map, not for 15");
	check_handles_refused("baseline", "15", "40",
			      "policy baseline with handles keeps 18 of the 40 blocks");
	test_check_config_refused(&device, "baseline", "channels=2 placement_groups=2",
				  "placement_groups: a placement id names a group and a handle, "
				  "and there are no handles; set placement_handles");
	test_check_config_refused(&device, "baseline",
				  "channels=2 chips=4 placement_handles=1 placement_groups=3",
				  "placement_groups: 8 dies cannot be shared out to 3 groups");
	test_check_config_refused(&device, "baseline",
				  "channels=2 chips=4 superblock=4 op=60% placement_handles=1 "
				  "placement_groups=4",
				  "placement_groups: a superblock of 4 dies is a reclaim unit");
}
