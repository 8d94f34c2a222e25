// SPDX-License-Identifier: GPL-2.0-only
/* L2P entries of a shuffled fill, stored in the order of lpns. */
#include "core/ftl/controller.h"
#include "core/ftl/fill-map.h"
#include "core/ftl/l2p.h"
#include "core/ftl/memory.h"

/*
 * Number of runs, for each block of a LUN, that @ppns has room for. In a run, which consists of
 * rounds (one program in each LUN), the ppns of each round continue those of the previous round.
 */
#define BLOCK_RUNS 8U

/*
 * Fewest logical pages of a round that is recorded: with smaller rounds @runs would be larger than
 * the L2P entries that it stands for.
 */
#define ROUND_LEAST 16U

/* L2P entries stored between two calls of pause(); a divisor of the entries of a chunk. */
#define SLICE_UNITS 65536U

/* The number x for which @step * x is 1 modulo @units, to which it is coprime. */
static u32 invert_fill_step(u32 step, u32 units)
{
	s64 before = 0;
	s64 inverse = 1;
	u32 rest = units;

	while (step > 1) {
		u32 times = rest / step;
		u32 next = rest - times * step;
		s64 sum = before - (s64)times * inverse;

		before = inverse;
		inverse = sum;
		rest = step;
		step = next;
	}
	return inverse < 0 ? (u32)(inverse + units) : (u32)inverse;
}

struct aftl_fill_order aftl_fill_order_inverse(const struct aftl_fill_order *order)
{
	struct aftl_fill_order inverse = {
		.step = invert_fill_step(order->step, order->units),
		.units = order->units,
	};

	inverse.at = (u32)((order->units - order->at) * (u64)inverse.step % order->units);
	return inverse;
}

void aftl_fill_map_init(struct aftl *ftl, struct aftl_fill_map *map,
			const struct aftl_fill_order *order)
{
	u32 round = ftl->geo.luns * ftl->program_units;

	if (round < ROUND_LEAST)
		return;
	map->order = aftl_fill_order_inverse(order);
	map->program = ftl->program_units;
	map->round = round;
	/*
	 * Limit of the number of runs: a run ends with a block, or in the order LEADER_FIRST with a
	 * layer. If some LUNs are ahead of other LUNs, the ends of their blocks end the run, too.
	 */
	map->size = round * BLOCK_RUNS * ftl->geo.blocks_per_lun;
	map->runs = aftl_memory_alloc(ftl, order->units / round + 1, sizeof(u32));
	map->ppns = aftl_memory_alloc(ftl, map->size, sizeof(u32));
	if (!map->runs || !map->ppns)
		aftl_fill_map_free(ftl, map);
}

u32 *aftl_fill_map_get_ppns(struct aftl_fill_map *map, u32 write)
{
	if (!map->ppns || write % map->round || map->size - map->used < map->round)
		return NULL;
	return map->ppns + map->used;
}

void aftl_fill_map_add_program_rounds(struct aftl_fill_map *map, u32 write, u32 rounds, u32 level)
{
	size_t bytes = map->round * sizeof(u32);
	u32 *run = map->runs + write / map->round;
	u32 *last = map->ppns + map->used;

	map->level = level;
	/* New rounds whose ppns continue those of the last run are added to that run. */
	if (map->used && !memcmp(last - map->round, last, bytes))
		map->used -= map->round;
	while (rounds--)
		*run++ = map->used + 1;
	map->used += map->round;
}

/* A write of the fill: its number, the number of its round, and its position in the round. */
struct write_place {
	u32 write;
	u32 round;
	u32 position;
};

static struct write_place place_of_fill_write(const struct aftl_fill_map *map, u32 write)
{
	return (struct write_place){ write, write / map->round, write % map->round };
}

/*
 * Distance to the write @step earlier in the fill, which wraps around; negative numbers are modulo
 * 2^32.
 */
static struct write_place step_to_previous_place(const struct aftl_fill_map *map, u32 step)
{
	u32 distance = map->order.units - step;
	u32 rounds = DIV_ROUND_UP(distance, map->round);

	return (struct write_place){ -distance, -rounds, rounds * map->round - distance };
}

/*
 * Store the L2P entries from @entry to @end, all in one chunk; @at: write of the first lpn. @map is
 * a copy, so that the compiler knows that the stores do not change it.
 * Return: place, in the fill, of the write of the lpn that follows these entries.
 */
static struct write_place store_l2p_entries(const struct aftl_fill_map map, struct write_place at,
					    u32 *entry, const u32 *end)
{
	const struct write_place next = place_of_fill_write(&map, map.order.step);
	const struct write_place back = step_to_previous_place(&map, map.order.step);

	for (; entry < end; entry++) {
		u32 run = map.runs[at.round];
		bool wraps = at.write + next.write >= map.order.units;

		if (likely(run))
			*entry = map.level << AFTL_PPN_BITS |
				 (map.ppns[run - 1 + at.position] + at.round * map.program + 1);
		at.write += wraps ? back.write : next.write;
		at.round += wraps ? back.round : next.round;
		at.position += wraps ? back.position : next.position;
		if (at.position >= map.round) {
			at.position -= map.round;
			at.round++;
		}
	}
	return at;
}

int aftl_fill_map_finish(struct aftl *ftl, struct aftl_fill_map *map)
{
	u32 units = map->used ? map->order.units : 0;
	struct write_place at;
	int ret = 0;
	u32 lpn;

	if (units)
		at = place_of_fill_write(map, map->order.at);
	for (lpn = 0; !ret && lpn < units; lpn += SLICE_UNITS) {
		u32 *entry = aftl_l2p_entry(ftl, lpn);

		at = store_l2p_entries(*map, at, entry, entry + min(units - lpn, SLICE_UNITS));
		ret = aftl_host_yield(ftl);
	}
	aftl_fill_map_free(ftl, map);
	return ret;
}

void aftl_fill_map_free(struct aftl *ftl, struct aftl_fill_map *map)
{
	aftl_memory_free(ftl, map->runs);
	aftl_memory_free(ftl, map->ppns);
	*map = (struct aftl_fill_map){ 0 };
}
