// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAID level 5: the layout, parity and the stripe cache, compared with a naive model.
 */
#include <stdlib.h>

#include "core/base/random.h"
#include "raid-array.h"
#include "tap.h"

static struct aftl_random random_state = { 1 };

static u32 draw_stripe_u32(u32 n)
{
	return aftl_random_below(&random_state, n);
}

/* Layout */

#define UNITS 4096

/* Each unit has its own member and row, and its row's parity is on another member. */
static void check_array_units_do_not_overlap(u32 members, u32 chunk)
{
	const struct stripe_layout layout = { .members = members, .chunk = chunk };
	u8 *used = calloc((size_t)STRIPE_MEMBERS_MAX * UNITS, 1);
	u64 units = stripe_get_array_capacity(&layout, UNITS);
	u32 unit;
	u32 row;
	u32 cell;

	CHECK_EQ(units, (u64)UNITS / chunk * chunk * (members - 1));
	for (unit = 0; unit < units; unit++) {
		u32 member;

		stripe_locate_unit(&layout, unit, &row, &cell);
		member = stripe_member_of_unit(&layout, row, cell);
		if (!CHECK(row < UNITS && cell < members - 1 && member < members))
			break;
		CHECK(member != stripe_member_of_unit(&layout, row, members - 1));
		CHECK_MSG(!used[member * UNITS + row]++, "unit %u shares its place", unit);
	}
	free(used);
}

TAP_TEST(units_of_an_array_map_one_to_one_to_its_members)
{
	u32 members;

	for (members = STRIPE_MEMBERS_MIN; members <= STRIPE_MEMBERS_MAX; members++) {
		check_array_units_do_not_overlap(members, 64);
		check_array_units_do_not_overlap(members, 1);
		check_array_units_do_not_overlap(members, 1000);
		check_array_units_do_not_overlap(members, UNITS);
		check_array_units_do_not_overlap(members, UNITS + 1);
	}
}

/* md's left-symmetric layout of three members, chunks of one unit: 0 1 P, 3 P 2, P 4 5. */
TAP_TEST(parity_rotates_over_the_members_as_in_md)
{
	static const u32 expected[3][3] = { { 0, 1, 2 }, { 2, 0, 1 }, { 1, 2, 0 } };
	const struct stripe_layout layout = { .members = 3, .chunk = 1 };
	u32 row;
	u32 cell;

	for (row = 0; row < 3; row++)
		for (cell = 0; cell < 3; cell++)
			CHECK_EQ(stripe_member_of_unit(&layout, row, cell), expected[row][cell]);
}

/* Values of the units in a stripe row before and after a planned write, to compute parity. */
static u32 old[STRIPE_MEMBERS_MAX];
static u32 new[STRIPE_MEMBERS_MAX];

static u32 compute_parity_of_stripe_row(const u32 *cells, u32 data)
{
	u32 parity = 0;
	u32 i;

	for (i = 0; i < data; i++)
		parity ^= cells[i];
	return parity;
}

static u32 get_old_unit_for_parity(u32 have, u32 cell)
{
	CHECK_MSG(have >> cell & 1, "cell %u is needed and was not read", cell);
	return old[cell];
}

/* Compute the parity of a stripe row by the method, and from the units, that @plan names. */
static u32 compute_parity_by_stripe_write_plan(const struct stripe_plan *plan, u32 have, u32 dirty,
					       u32 data)
{
	u32 parity = plan->reconstruct ? 0 : get_old_unit_for_parity(have, data);
	u32 i;

	for (i = 0; i < data; i++) {
		if (dirty >> i & 1)
			parity ^= plan->reconstruct ? new[i] :
						      new[i] ^ get_old_unit_for_parity(have, i);
		else if (plan->reconstruct)
			parity ^= get_old_unit_for_parity(have, i);
	}
	return parity;
}

static void check_stripe_write_plan(u32 members, u32 dirty, u32 known)
{
	const struct stripe_layout layout = { .members = members, .chunk = 64 };
	struct stripe_plan plan = stripe_make_plan(&layout, dirty, known);
	u32 data = members - 1;
	u32 modify = 0;
	u32 reconstruct = 0;
	u32 i;

	for (i = 0; i < data; i++) {
		old[i] = (u32)aftl_random_next(&random_state);
		new[i] = dirty >> i & 1 ? (u32)aftl_random_next(&random_state) : old[i];
		modify += (dirty & ~known) >> i & 1;
		reconstruct += (~dirty & ~known) >> i & 1;
	}
	old[data] = compute_parity_of_stripe_row(old, data);
	modify += !(known >> data & 1);
	CHECK_EQ(plan.write, dirty | 1U << data);
	CHECK(!(plan.read & known));
	CHECK_EQ((u32)__builtin_popcount(plan.read), min(modify, reconstruct));
	CHECK_EQ(compute_parity_by_stripe_write_plan(&plan, known | plan.read, dirty, data),
		 compute_parity_of_stripe_row(new, data));
}

TAP_TEST(stripe_plans_read_the_fewest_units_and_make_the_right_parity)
{
	u32 members;
	u32 dirty;
	u32 known;

	for (members = STRIPE_MEMBERS_MIN; members <= 6; members++)
		for (dirty = 1; dirty < 1U << (members - 1); dirty++)
			for (known = 0; known < 1U << members; known++)
				check_stripe_write_plan(members, dirty, known);
	for (dirty = 0; dirty < 20000; dirty++) {
		members = 7 + draw_stripe_u32(STRIPE_MEMBERS_MAX - 6);
		check_stripe_write_plan(members, 1 + draw_stripe_u32((1U << (members - 1)) - 1),
					draw_stripe_u32(1U << members));
	}
}

/* Arrays */

static struct raid_array array;

static void open_array_with_policy(const char *policy, u32 members, u32 chunk, u32 stripes,
				   u64 hold_ns)
{
	const struct stripe_layout layout = { .members = members, .chunk = chunk };
	struct aftl_config config;
	struct aftl_error error;

	if (aftl_profile_load(&config, "demo", &error))
		tap_bail_out("%s", error.text);
	config.blocks = 24;
	config.layers = 4;
	config.op = 5000;
	if (raid_array_create(&array, &layout, &config, aftl_policy_find(policy), stripes,
			      hold_ns, &error))
		tap_bail_out("%s", error.text);
}

static void open_array(u32 members, u32 chunk, u32 stripes, u64 hold_ns)
{
	open_array_with_policy("baseline", members, chunk, stripes, hold_ns);
}

static bool drain_array_cache(void)
{
	while (array.pending) {
		u64 next_ns = raid_array_get_next_event_ns(&array);

		if (!CHECK_MSG(next_ns != U64_MAX, "%u requests wait for ever", array.pending))
			return false;
		raid_array_advance_to_time(&array, next_ns);
	}
	return true;
}

static const struct aftl_hint no_hint;

static void submit_array_write(u32 unit, u32 units)
{
	raid_array_submit(&array, array.now_ns, AFTL_OP_WRITE, unit, units, AFTL_PRECISE, no_hint);
}

static u64 count_written_member_units(u32 member)
{
	return aftl_get_stats(array.members[member])->counters.host_write_units;
}

static u64 count_all_member_units(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < array.layout.members; i++)
		sum += count_written_member_units(i);
	return sum;
}

/* A write of whole stripes reads nothing and writes one parity unit per row. */
TAP_TEST(writes_of_whole_rows_read_nothing)
{
	const struct raid_counters *c = &array.counters;

	open_array(4, 8, 64, 3000000);
	submit_array_write(0, 24);
	drain_array_cache();
	CHECK_EQ(c->data_units, 24);
	CHECK_EQ(c->parity_units, 8);
	CHECK_EQ(c->old_units, 0);
	CHECK_EQ(c->full_rows, 8);
	CHECK_EQ(count_all_member_units(), 32);
	CHECK_EQ(count_written_member_units(3), 8);
	raid_array_release(&array);
}

/* To write a unit on four members both methods read two units: reconstruct-write is chosen. */
TAP_TEST(a_write_of_one_unit_reads_the_fewest_units)
{
	const struct raid_counters *c = &array.counters;

	open_array(4, 8, 64, 3000000);
	submit_array_write(0, 1);
	drain_array_cache();
	CHECK_EQ(c->reconstructed_rows, 1);
	CHECK_EQ(c->old_units, 2);
	/* A write to a row that the stripe cache holds completely reads nothing. */
	submit_array_write(8, 1);
	drain_array_cache();
	CHECK_EQ(c->full_rows, 1);
	CHECK_EQ(c->old_units, 2);
	raid_array_release(&array);
	open_array(6, 8, 64, 3000000);
	submit_array_write(0, 1);
	drain_array_cache();
	CHECK_EQ(c->modified_rows, 1);
	CHECK_EQ(c->old_units, 2);
	CHECK_EQ(c->parity_units, 1);
	raid_array_release(&array);
}

/* Writes that are merged in the cache share a parity write, and complete after that write. */
TAP_TEST(writes_of_one_stripe_are_combined_in_the_cache)
{
	const struct raid_counters *c = &array.counters;
	u32 i;

	open_array(6, 8, 64, 3000000);
	for (i = 0; i < 10; i++)
		submit_array_write(i % 2 * 8, 1);
	CHECK_EQ(array.pending, 10);
	CHECK_EQ(c->parity_units, 0);
	drain_array_cache();
	CHECK_EQ(c->write_requests, 10);
	CHECK_EQ(c->data_units, 2);
	CHECK_EQ(c->parity_units, 1);
	CHECK(array.write_response.smallest >= 3000000);
	raid_array_release(&array);
}

/* The write hint of a unit reaches the member that stores the unit; parity gets no hint. */
TAP_TEST(write_hints_reach_the_members_of_an_array)
{
	const struct aftl_hint hints[] = { { .stream = 7 }, { .life = AFTL_LIFETIME_SHORT } };
	static const u32 stream_of[] = { 7, AFTL_LIFETIME_SHORT, 0 };
	u32 cell;
	u32 i;

	open_array_with_policy("streams", 3, 8, 64, 3000000);
	for (cell = 0; cell < 2; cell++)
		raid_array_submit(&array, array.now_ns, AFTL_OP_WRITE, 8 * cell, 1, AFTL_PRECISE,
				  hints[cell]);
	drain_array_cache();
	for (cell = 0; cell < 3; cell++)
		for (i = 0; i < AFTL_STREAMS; i++) {
			struct aftl *member =
				array.members[stripe_member_of_unit(&array.layout, 0, cell)];

			CHECK_EQ(aftl_get_stats(member)->stream_units[0][i] != 0,
				 i == stream_of[cell]);
		}
	raid_array_release(&array);
}

TAP_TEST(reads_return_cached_writes)
{
	open_array(4, 8, 64, 3000000);
	submit_array_write(0, 1);
	raid_array_submit(&array, array.now_ns, AFTL_OP_READ, 0, 8, AFTL_PRECISE, no_hint);
	drain_array_cache();
	CHECK_EQ(array.counters.cached_units, 1);
	CHECK_EQ(array.counters.read_units, 8);
	raid_array_submit(&array, array.now_ns, AFTL_OP_READ, 0, 48, AFTL_PRECISE, no_hint);
	drain_array_cache();
	CHECK_EQ(array.counters.cached_units, 1);
	CHECK_EQ(array.counters.read_requests, 2);
	raid_array_release(&array);
}

/* All requests complete even if the stripe cache holds one row and chunks are one unit. */
static void write_randomly_to_array(u32 members, u32 chunk, u32 stripes, u64 hold_ns)
{
	u64 units = 0;
	u32 i;

	open_array(members, chunk, stripes, hold_ns);
	for (i = 0; i < 400 && !tap_failure_count(); i++) {
		u32 length = 1 + draw_stripe_u32(40);
		u32 unit = draw_stripe_u32((u32)array.units - length);

		raid_array_submit(&array, array.now_ns + draw_stripe_u32(2) * 500000,
				  draw_stripe_u32(3) ? AFTL_OP_WRITE : AFTL_OP_READ, unit,
				  length, AFTL_PRECISE, no_hint);
		units += length;
		if (array.pending > 16)
			drain_array_cache();
	}
	drain_array_cache();
	CHECK_EQ(array.counters.read_units + array.counters.write_units, units);
	CHECK_EQ(array.counters.failed_requests, 0);
	CHECK(array.counters.data_units <= array.counters.write_units);
	CHECK_EQ(array.counters.data_units + array.counters.parity_units, count_all_member_units());
	CHECK_EQ(array.counters.full_rows + array.counters.modified_rows +
		 array.counters.reconstructed_rows, array.counters.parity_units);
	raid_array_release(&array);
}

TAP_TEST(arrays_of_the_smallest_size_complete_requests)
{
	write_randomly_to_array(3, 1, 1, 0);
	write_randomly_to_array(3, 64, 1, 3000000);
	write_randomly_to_array(4, 1, 2, 3000000);
	write_randomly_to_array(5, 7, 3, 0);
	write_randomly_to_array(16, 64, 256, 3000000);
	write_randomly_to_array(10, 1000, 16, 100000);
}

/*
 * Without a hold time, each one-unit write is a row of its own. A model of the cache that remembers
 * the last rows must give the same counters.
 */
TAP_TEST(member_counters_equal_a_recount)
{
	const struct stripe_layout layout = { .members = 5, .chunk = 4 };
	u32 *known = calloc(UNITS, sizeof(u32));
	u64 reads = 0;
	u32 i;

	open_array(5, 4, 100000, 0);
	for (i = 0; i < 2000 && !tap_failure_count(); i++) {
		u32 unit = draw_stripe_u32((u32)array.units / 8);
		struct stripe_plan plan;
		u32 row;
		u32 cell;

		stripe_locate_unit(&layout, unit, &row, &cell);
		plan = stripe_make_plan(&layout, 1U << cell, known[row]);
		known[row] |= plan.read | plan.write;
		reads += (u32)__builtin_popcount(plan.read);
		submit_array_write(unit, 1);
		drain_array_cache();
		CHECK_EQ(array.counters.old_units, reads);
		CHECK_EQ(array.counters.parity_units, i + 1);
		CHECK_EQ(count_all_member_units(), 2 * ((u64)i + 1));
	}
	CHECK(reads > 500);
	free(known);
	raid_array_release(&array);
}
