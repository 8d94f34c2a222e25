// SPDX-License-Identifier: GPL-2.0-only
/* L2P entries of a shuffled fill, stored in the order of lpns. */
#include "core/ftl/controller.h"
#include "core/ftl/fill-map.h"
#include "core/ftl/l2p.h"
#include "core/ftl/memory.h"
#include "core/ftl/pause.h"

/*
 * Limit of recorded runs of rounds, for each block of a LUN. A round is one program in each LUN;
 * the ppns of the rounds of a run are consecutive in every LUN.
 */
#define BLOCK_RUNS 8U

/*
 * Rounds of fewer than ROUND_LEAST logical pages are not recorded: map->runs, with a number for
 * each round, would not be smaller than the L2P entries.
 */
#define ROUND_LEAST 16U

/* L2P entries stored between two calls of the host's pause(); divides the entries of a chunk. */
#define SLICE_UNITS 65536U

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
	 * The fill has few runs of rounds: a run ends where a LUN begins its next block, or with
	 * LEADER_FIRST its next layer, and LUNs need not begin blocks in the same round.
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

void aftl_fill_map_record_programs_of_all_luns(struct aftl_fill_map *map, u32 write, u32 rounds,
					       u32 level)
{
	size_t bytes = map->round * sizeof(u32);
	u32 *run = map->runs + write / map->round;
	u32 *last = map->ppns + map->used;

	map->level = level;
	/* If the new ppns continue those of the last run, extend that run. */
	if (map->used && !memcmp(last - map->round, last, bytes))
		map->used -= map->round;
	while (rounds--)
		*run++ = map->used + 1;
	map->used += map->round;
}

/* Position of a write of the fill: number of the write, its round, and its place in the round. */
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
 * Return the difference, modulo 2^32, between the positions of a write and of the write @step later
 * in the fill order, if the order wraps around between the two writes.
 */
static struct write_place step_to_previous_place(const struct aftl_fill_map *map, u32 step)
{
	u32 distance = map->order.units - step;
	u32 rounds = DIV_ROUND_UP(distance, map->round);

	return (struct write_place){ -distance, -rounds, rounds * map->round - distance };
}

/*
 * Store L2P entries from @entry to before @end, which are in one chunk. @at is the position in the
 * fill of the first of their lpns. @map is a copy, so that the compiler can keep it in registers.
 *
 * Return: position in the fill of the lpn after the last one.
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

int aftl_fill_map_store_l2p_entries(struct aftl *ftl, struct aftl_fill_map *map)
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
		ret = aftl_call_pause_callback(ftl);
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
