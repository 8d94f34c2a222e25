// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write hints reach the policy, and data of different write streams are not mixed.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun-allocation.h"
#include "core/persist/snapshot.h"
#include "core/policy/policies.h"
#include "tap.h"
#include "test-device.h"

#define LIVES_TOLD 4

static const char plain[] =
	"channels=2 chips=1 blocks=40 layers=2 word_lines=4 bits=3 one_shot=on op=50 page=16KiB "
	"unit=4KiB errors=off";

static struct test_device device;
static u32 said[AFTL_LIFETIMES][256];
static u32 placed;
static u32 strange;

/* Test policy that maps each lifetime hint to a write stream. */

static u32 stream_of_lifetime_hint(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	said[write->hint.life][write->hint.stream]++;
	return write->hint.life % LIVES_TOLD;
}

static int place_data_and_check_hint(struct aftl_policy *policy, struct aftl_lun *lun,
				     const struct aftl_program_request *need,
				     struct aftl_placement *placement)
{
	if (need->cause != AFTL_CAUSE_HOST) {
		strange += need->hint.life || need->hint.stream;
	} else if (!aftl_policy_is_preconditioning(policy)) {
		placed++;
		strange += need->hint.life % LIVES_TOLD != need->stream ||
			   need->hint.stream != need->hint.life + 100;
	}
	return aftl_policy_tlc.place(policy, lun, need, placement);
}

static void open_device(const char *more)
{
	static struct aftl_policy_type type;

	type = aftl_policy_tlc;
	type.stream = stream_of_lifetime_hint;
	type.place = place_data_and_check_hint;
	test_device_init(&device, "demo");
	test_device_set_params(&device, plain);
	test_device_open_with_policy_type(&device, &type, more);
	memset(said, 0, sizeof(said));
	placed = 0;
	strange = 0;
}

/* Lifetime hint for a write of @unit: pseudo-random, but equal for a few adjacent units. */
static u8 choose_life_hint_of_unit(u32 unit)
{
	return (u8)(aftl_hash64(unit / 3) % AFTL_LIFETIMES);
}

static void write_unit_with_hint(u32 unit, u32 units)
{
	device.hint.life = choose_life_hint_of_unit(unit);
	device.hint.stream = device.hint.life + 100;
	CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, unit, units, AFTL_PRECISE, 0,
				aftl_device_time_ns(device.ftl)),
		 0);
	test_drain_requests_to_depth(&device, 16);
}

/* No flash page may hold units of two write streams. */
static void check_each_page_has_one_stream(u32 units)
{
	u32 page_units = device.ftl->geo.page_units;
	u32 pages = 0;
	u32 class;
	u32 i;

	for (i = 1; i < units; i++) {
		u32 slot = from_ppn(aftl_lookup(device.ftl, to_lpn(i), &class));
		u32 before = from_ppn(aftl_lookup(device.ftl, to_lpn(i - 1), &class));

		if (slot / page_units != before / page_units)
			continue;
		pages++;
		CHECK_EQ(choose_life_hint_of_unit(i) % LIVES_TOLD,
			 choose_life_hint_of_unit(i - 1) % LIVES_TOLD);
	}
	CHECK_RANGE(pages, 100, units);
}

static void install_hint_listener(const char *more)
{
	u32 writes = 0;
	u32 units;
	u32 told = 0;
	u32 life;
	u32 i;

	open_device(more);
	units = test_unit_count(&device) / 6 * 3;
	for (i = 0; i < units; i += 3, writes++)
		write_unit_with_hint(i, 3);
	test_drain_requests(&device);
	test_advance_clock_by(&device, 1000000000);
	for (life = 0; life < AFTL_LIFETIMES; life++) {
		CHECK_RANGE(said[life][life + 100], writes / AFTL_LIFETIMES / 2, writes);
		told += said[life][life + 100];
	}
	CHECK_EQ(told, writes);
	CHECK_RANGE(placed, writes / 8, writes * 3);
	CHECK_EQ(strange, 0);
	check_each_page_has_one_stream(units);
}

TAP_TEST(stream_and_place_receive_write_hints)
{
	install_hint_listener(NULL);
}

TAP_TEST(write_hints_pass_through_the_write_buffer)
{
	install_hint_listener("buffer=256KiB");
}

/* Relocated data have no hint: flash does not store it. */
TAP_TEST(relocated_data_have_no_hint)
{
	struct aftl_random random = { 7 };
	u32 i;

	open_device("fill=random");
	if (aftl_precondition(device.ftl))
		tap_bail_out("the device cannot be filled");
	for (i = 0; i < test_unit_count(&device); i++)
		write_unit_with_hint((u32)aftl_random_below(&random, test_unit_count(&device) / 3) *
				     3, 3);
	test_drain_requests(&device);
	CHECK_RANGE(test_counters(&device)->programmed_gc_units, 1000, U64_MAX);
	CHECK_EQ(strange, 0);
}

TAP_TEST(invalid_lifetimes_are_refused)
{
	open_device(NULL);
	device.hint.life = AFTL_LIFETIMES;
	CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, 0, 0), -EINVAL);
}

/* Policy "streams" */

#define PLACE_UNITS 4

/* Mix hot and cold data: nine of ten writes go to a tenth of the address space. */
static void write_hot_and_cold_data(const char *policy, bool hinted)
{
	static const char mixed[] =
		"channels=2 chips=1 blocks=80 layers=4 word_lines=4 op=50 fill=random errors=off";
	struct aftl_random random = { 11 };
	u32 places;
	u32 i;

	test_device_open(&device, policy, mixed);
	places = test_unit_count(&device) / PLACE_UNITS;
	for (i = 0; i < places * 6 && !tap_failure_count(); i++) {
		bool hot = aftl_random_below(&random, 10);
		u32 place = (u32)aftl_random_below(&random, hot ? places / 10 : places);

		device.hint.life = !hinted ? 0 : hot ? AFTL_LIFETIME_SHORT : AFTL_LIFETIME_EXTREME;
		if (i == places)
			aftl_reset_stats(device.ftl);
		test_submit_io(&device, AFTL_OP_WRITE, place * PLACE_UNITS, PLACE_UNITS,
			       AFTL_PRECISE, 0, aftl_device_time_ns(device.ftl));
		test_drain_requests_to_depth(&device, 16);
	}
	test_drain_requests(&device);
	test_audit_device(&device);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
}

/* Write amplification in 1/1000 since the statistics were reset. */
static u64 write_amplification_permille(void)
{
	return test_sum_programmed_units(&device) * 1000 /
	       test_counters(&device)->programmed_host_units;
}

TAP_TEST(lifetime_hints_reduce_write_amplification)
{
	u64 without;
	u64 same;

	write_hot_and_cold_data("streams", false);
	without = write_amplification_permille();
	write_hot_and_cold_data("baseline", true);
	same = write_amplification_permille();
	write_hot_and_cold_data("streams", true);
	tap_printf("write amplification %llu/1000 with hints, %llu without, %llu of baseline",
		   (unsigned long long)write_amplification_permille(), (unsigned long long)without,
		   (unsigned long long)same);
	CHECK_RANGE(write_amplification_permille(), 1000, without * 9 / 10);
}

/* Each write stream has its open block, and relocated data stay in their write stream. */
TAP_TEST(streams_have_blocks_of_their_own)
{
	const struct aftl_stats *stats;
	u32 i;

	write_hot_and_cold_data("streams", true);
	stats = aftl_get_stats(device.ftl);
	for (i = 0; i < AFTL_STREAMS; i++) {
		bool used = i == AFTL_LIFETIME_SHORT || i == AFTL_LIFETIME_EXTREME;

		CHECK_EQ(stats->stream_units[0][i] != 0, used);
		CHECK(i < AFTL_KINDS_MAX || !stats->stream_units[1][i]);
	}
	CHECK_RANGE(stats->stream_units[1][AFTL_LIFETIME_EXTREME], 1000, U64_MAX);
	CHECK_RANGE(stats->kind_blocks[AFTL_LIFETIME_SHORT], 100, U64_MAX);
	CHECK_RANGE(stats->kind_blocks[AFTL_LIFETIME_EXTREME], 20, U64_MAX);
}

/* A stream id takes precedence over a lifetime hint; ids above 7 share the seven streams. */
TAP_TEST(each_id_and_lifetime_maps_to_a_stream)
{
	static const struct {
		struct aftl_hint hint;
		u32 stream;
	} told[] = {
		{ { 0, 0 }, 0 },	       { { AFTL_LIFETIME_SHORT, 0 }, 2 },
		{ { AFTL_LIFETIME_SHORT, 6 }, 6 }, { { 0, 7 }, 7 },
		{ { 0, 8 }, 1 },	       { { AFTL_LIFETIME_LONG, 255 }, 3 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(told); i++) {
		test_device_open(&device, "streams", plain);
		device.hint = told[i].hint;
		test_execute_request(&device, AFTL_OP_WRITE, 0, 8, AFTL_PRECISE, NULL);
		CHECK_EQ(aftl_get_stats(device.ftl)->stream_units[0][told[i].stream], 8);
	}
}

/* The counters of units per stream must add up to all programmed units. */
TAP_TEST(units_per_stream_add_up_to_all_programmed_units)
{
	static const char *const policies[] = { "streams", "baseline", "hybrid", "ressd", "agcr" };
	const struct aftl_stats *stats;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		u64 units[2] = { 0 };

		write_hot_and_cold_data(policies[i], true);
		stats = aftl_get_stats(device.ftl);
		for (j = 0; j < 2 * AFTL_STREAMS; j++)
			units[j & 1] += stats->stream_units[j & 1][j >> 1];
		CHECK_EQ(units[0], test_counters(&device)->programmed_host_units);
		CHECK_EQ(units[0] + units[1], test_sum_programmed_units(&device));
	}
}

static int discard_snapshot_bytes(void *host, const void *data, size_t bytes)
{
	return 0;
}

/* Saving stores which LUN four of the streams write to next, and resets the other streams. */
TAP_TEST(saving_resets_the_streams_that_a_snapshot_does_not_store)
{
	const struct aftl_snapshot_sink sink = { .write = discard_snapshot_bytes };
	const struct aftl_lane_lun *bind;
	u8 id;

	test_device_open(&device, "streams", plain);
	bind = device.ftl->allocation.lanes;
	for (id = 3; id < 5; id++) {
		device.hint = (struct aftl_hint){ .stream = id };
		test_execute_request(&device, AFTL_OP_WRITE, id, 1, AFTL_PRECISE, NULL);
	}
	CHECK_EQ(bind[aftl_get_index_of_write_stream(AFTL_PRECISE, 3)].left, 11);
	CHECK_EQ(bind[aftl_get_index_of_write_stream(AFTL_PRECISE, 4)].left, 11);
	CHECK_EQ(aftl_save(device.ftl, &sink, &device.error), 0);
	CHECK_EQ(bind[aftl_get_index_of_write_stream(AFTL_PRECISE, 3)].left, 11);
	CHECK_EQ(bind[aftl_get_index_of_write_stream(AFTL_PRECISE, 4)].left, 0);
}

/* A policy may name 16 different write streams at most. */

static u32 answer;

static u32 return_configured_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	return answer;
}

static int check_stream_of_placed_data(struct aftl_policy *policy, struct aftl_lun *lun,
				       const struct aftl_program_request *need,
				       struct aftl_placement *placement)
{
	CHECK_EQ(need->stream, answer < AFTL_STREAMS ? answer : 0);
	return aftl_policy_baseline.place(policy, lun, need, placement);
}

TAP_TEST(at_most_16_streams_can_be_named)
{
	struct aftl_policy_type type = aftl_policy_baseline;
	u32 i;

	type.stream = return_configured_stream;
	type.place = check_stream_of_placed_data;
	for (i = 0; i < AFTL_STREAMS; i++)
		type.streams[i] = "name";
	test_device_init(&device, "demo");
	test_device_open_with_policy_type(&device, &type, plain);
	for (answer = 0; answer < AFTL_STREAMS + 3; answer++) {
		device.hint = (struct aftl_hint){ 0 };
		test_execute_request(&device, AFTL_OP_WRITE, 12 * answer, 12, AFTL_PRECISE, NULL);
	}
	CHECK_EQ(test_counters(&device)->policy_bugs, 3);
	for (i = 1; i < AFTL_STREAMS; i++)
		CHECK_EQ(aftl_get_stats(device.ftl)->stream_units[0][i], 12);
	test_device_close(&device);
}
