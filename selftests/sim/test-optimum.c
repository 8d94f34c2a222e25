// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds of the offline optimum, compared with an exhaustive search: every placement of each write,
 * every relocation at any time, every use of the write buffer, every layout at the start.
 */
#include <stdlib.h>

#include "core/base/random.h"
#include "optimum.h"
#include "tap.h"

#define BLOCKS_MAX 5
#define UNITS_MAX 6
#define OPS_MAX 16
#define COST_MAX 64
#define BLOCK_BITS (UNITS_MAX + 2)
#define TABLE_BITS 15
#define TABLE_SIZE BIT(TABLE_BITS)

/* A random device and a random stream of requests to it */
struct instance {
	struct optimum_device device;
	struct optimum_stream stream;
	u32 ops[OPS_MAX];
};

/**
 * struct state - contents of the device
 * @live: by block, set of the units in it
 * @used: by block, programmed units
 * @buffer: set of the units whose newest version is in the buffer
 */
struct state {
	u8 live[BLOCKS_MAX];
	u8 used[BLOCKS_MAX];
	u8 buffer;
};

/* The states of the search by cost, and the least cost at which each state was seen. */
struct search {
	const struct instance *instance;
	struct state *states[COST_MAX];
	u32 count[COST_MAX];
	u32 room[COST_MAX];
	u64 keys[TABLE_SIZE];
	u8 costs[TABLE_SIZE];
	u32 entries;
};

static struct search searches[2];

static void clear_searched_states(struct search *search, const struct instance *instance)
{
	search->instance = instance;
	memset(search->count, 0, sizeof(search->count));
	memset(search->keys, 0, sizeof(search->keys));
	search->entries = 0;
}

/* Sort the interchangeable blocks of a state. A block without live units is erased at no cost. */
static u64 sort_and_encode_state(struct state *state, u32 blocks)
{
	u64 key = 1;

	for (u32 i = 0; i < blocks; i++) {
		if (!state->live[i])
			state->used[i] = 0;
		for (u32 j = i; j && (state->live[j] << 8 | state->used[j]) <
				     (state->live[j - 1] << 8 | state->used[j - 1]); j--) {
			u8 live = state->live[j], used = state->used[j];

			state->live[j] = state->live[j - 1];
			state->used[j] = state->used[j - 1];
			state->live[j - 1] = live;
			state->used[j - 1] = used;
		}
	}
	for (u32 i = 0; i < blocks; i++)
		key = key << BLOCK_BITS | (u64)state->live[i] << 2 | state->used[i];
	return key << UNITS_MAX | state->buffer;
}

static void add_searched_state(struct search *search, struct state state, u32 cost)
{
	u64 key = sort_and_encode_state(&state, search->instance->device.blocks);
	u32 at = (u32)(key * 0x9e3779b97f4a7c15ULL >> (64 - TABLE_BITS));

	while (search->keys[at] && search->keys[at] != key)
		at = (at + 1) % TABLE_SIZE;
	if (search->keys[at] && search->costs[at] <= cost)
		return;
	search->entries += !search->keys[at];
	if (cost >= COST_MAX || search->entries > TABLE_SIZE / 2)
		abort();
	search->keys[at] = key;
	search->costs[at] = (u8)cost;
	if (search->count[cost] == search->room[cost]) {
		search->room[cost] = 2 * search->room[cost] + 64;
		search->states[cost] = realloc(search->states[cost],
					       search->room[cost] * sizeof(state));
		if (!search->states[cost])
			abort();
	}
	search->states[cost][search->count[cost]++] = state;
}

/* Add the states in which a block with room, other than @except, has got unit @unit of @state. */
static void add_states_after_program(struct search *search, const struct state *state, u32 unit,
				     u32 except, u32 cost)
{
	for (u32 i = 0; i < search->instance->device.blocks; i++) {
		struct state next = *state;

		if (i == except || state->used[i] == search->instance->device.block_units)
			continue;
		next.live[i] |= 1 << unit;
		next.used[i]++;
		add_searched_state(search, next, cost);
	}
}

static struct state state_without_unit(const struct state *state, u32 unit)
{
	struct state next = *state;

	for (u32 i = 0; i < BLOCKS_MAX; i++)
		next.live[i] &= ~(1 << unit);
	next.buffer &= ~(1 << unit);
	return next;
}

/* Add the states that a relocation or a program out of the write buffer reaches. */
static void add_states_after_relocation(struct search *search, const struct state *state, u32 cost)
{
	for (u32 unit = 0; unit < search->instance->device.units; unit++) {
		struct state next = state_without_unit(state, unit);

		if (state->buffer & 1 << unit)
			add_states_after_program(search, &next, unit, BLOCKS_MAX, cost + 1);
		for (u32 i = 0; i < search->instance->device.blocks; i++)
			if (state->live[i] & 1 << unit)
				add_states_after_program(search, &next, unit, i, cost + 1);
	}
}

static void add_states_after_operation(struct search *to, const struct state *state, u32 op,
				       u32 cost)
{
	u32 unit = op & OPTIMUM_UNIT;
	struct state next = state_without_unit(state, unit);

	if (op & OPTIMUM_DISCARD) {
		add_searched_state(to, next, cost);
		return;
	}
	/* Erasing the blocks without live units may make room for the written unit. */
	sort_and_encode_state(&next, to->instance->device.blocks);
	add_states_after_program(to, &next, unit, BLOCKS_MAX, cost + 1);
	next.buffer |= 1 << unit;
	if ((u32)__builtin_popcount(next.buffer) <= to->instance->device.buffer_units)
		add_searched_state(to, next, cost);
}

/* Add every layout of the live units in blocks as an initial state of the search. */
static void add_initial_states(struct search *search, const struct state *state, u32 unit, u32 live)
{
	if (unit == search->instance->device.units) {
		add_searched_state(search, *state, 0);
		return;
	}
	if (!(live & 1 << unit)) {
		add_initial_states(search, state, unit + 1, live);
		return;
	}
	for (u32 i = 0; i < search->instance->device.blocks; i++) {
		struct state next = *state;

		if (next.used[i] == search->instance->device.block_units)
			continue;
		next.live[i] |= 1 << unit;
		next.used[i]++;
		add_initial_states(search, &next, unit + 1, live);
	}
}

/* Return the least number of programs for the requests of @instance, by exhaustive search. */
static u64 find_least_program_count(const struct instance *instance)
{
	const struct optimum_stream *stream = &instance->stream;
	const struct state empty = { .buffer = 0 };
	u32 live = (1 << stream->filled) - 1;
	struct search *after = &searches[0];
	u32 cost = 0;

	for (u32 i = 0; i < stream->begin; i++) {
		u32 bit = 1 << (stream->ops[i] & OPTIMUM_UNIT);

		live = stream->ops[i] & OPTIMUM_DISCARD ? live & ~bit : live | bit;
	}
	clear_searched_states(after, instance);
	add_initial_states(after, &empty, 0, live);
	for (u64 i = stream->begin; i < stream->count; i++) {
		struct search *before = after;

		after = &searches[after == &searches[0]];
		clear_searched_states(after, instance);
		for (cost = 0; cost < COST_MAX; cost++)
			for (u32 j = 0; j < before->count[cost]; j++) {
				struct state state = before->states[cost][j];

				add_states_after_relocation(before, &state, cost);
				add_states_after_operation(after, &state, stream->ops[i], cost);
			}
	}
	for (cost = 0; cost < COST_MAX && !after->count[cost];)
		cost++;
	return cost;
}

static struct instance draw_instance(struct aftl_random *random)
{
	struct instance made = { .device = {
		.block_units = 1 + (u32)aftl_random_below(random, 3),
		.buffer_units = (u32)aftl_random_below(random, 6) / 4,
	} };
	struct optimum_device *device = &made.device;
	u32 room;

	/* In blocks of one unit, relocation is pointless, and the lower bound is the optimum. */
	device->blocks = device->block_units == 1 ? BLOCKS_MAX :
						    3 + (u32)aftl_random_below(random, 2);
	room = (device->blocks - 1) * device->block_units;
	room = min(room, (u32)UNITS_MAX);
	device->units = room - (u32)aftl_random_below(random, min(room, 3U));
	made.stream.count = OPS_MAX - aftl_random_below(random, OPS_MAX) / 2;
	made.stream.begin = aftl_random_below(random, made.stream.count + 1) / 4;
	if (aftl_random_below(random, 4))
		made.stream.filled = device->units;
	for (u32 i = 0; i < made.stream.count; i++) {
		made.ops[i] = (u32)aftl_random_below(random, device->units);
		if (!aftl_random_below(random, 8))
			made.ops[i] |= OPTIMUM_DISCARD;
	}
	return made;
}

/* Sums over random devices: devices, those where a bound equals the optimum, and programs. */
struct score {
	u64 instances;
	u64 lower_met;
	u64 reached_met;
	u64 least;
	u64 reached;
};

static void check_bounds_of_random_device(struct aftl_random *random, struct score *score)
{
	struct instance made = draw_instance(random);
	struct optimum optimum;
	u64 least;

	made.stream.ops = made.ops;
	least = find_least_program_count(&made);
	CHECK_EQ(optimum_count_flash_programs(&made.device, &made.stream, NULL, &optimum), 0);
	CHECK(optimum_get_min_programmed_units(&optimum) <= least);
	CHECK(least <= optimum_get_offline_programmed_units(&optimum));
	if (made.device.block_units == 1)
		CHECK_EQ(optimum_get_min_programmed_units(&optimum), least);
	if (optimum_get_offline_programmed_units(&optimum) == U64_MAX)
		return;
	score->instances++;
	score->lower_met += optimum_get_min_programmed_units(&optimum) == least;
	score->reached_met += optimum_get_offline_programmed_units(&optimum) == least;
	score->least += least;
	score->reached += optimum_get_offline_programmed_units(&optimum);
}

/* Compare both bounds with the optimum on 800 random devices, with AFTL_ALL=1 on 100,000. */
TAP_TEST(the_optimum_is_between_its_bounds_on_random_tiny_devices)
{
	struct aftl_random random = { 47 };
	struct score score = { 0 };
	const char *all = getenv("AFTL_ALL");
	u32 wanted = all && *all ? 100000 : 800;

	for (u32 i = 0; i < wanted; i++)
		check_bounds_of_random_device(&random, &score);
	tap_printf("%u instances: lower bound met %llu times, optimum reached %llu times", wanted,
		   (unsigned long long)score.lower_met, (unsigned long long)score.reached_met);
	tap_printf("%llu programs instead of %llu", (unsigned long long)score.reached,
		   (unsigned long long)score.least);
	CHECK_EQ(score.instances, wanted);
	/* Both bounds must be near the optimum, not merely above or below the optimum. */
	CHECK(score.lower_met * 100 > score.instances * 98);
	CHECK(score.reached_met * 2 > score.instances);
	CHECK(score.reached * 10 < score.least * 14);
}
