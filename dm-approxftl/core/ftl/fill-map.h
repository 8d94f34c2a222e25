/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * L2P entries of the first writes of preconditioning.
 *
 * A shuffled fill would store the L2P entries in random order, which costs a cache miss each. The
 * shuffle is the walk lpn(k + 1) = lpn(k) + step modulo the number of logical pages, whose inverse
 * is such a walk, too. So the fill only records the ppns of whole rounds, and the entries are
 * stored in the order of lpns at its end, or before the first access by a relocation.
 */
#ifndef AFTL_FILL_MAP_H
#define AFTL_FILL_MAP_H

#include "core/base/fill-order.h"

struct aftl;

/**
 * struct aftl_fill_map - L2P entries that are still to be stored
 * @order: numbers of the writes of the fill, in the order of their lpns
 * @level: quality level of all data
 * @program: logical pages of a program
 * @round: logical pages of a round: one program in each LUN
 * @runs: by round: index in @ppns of the run that contains the round, plus 1; 0: the round is not
 * recorded
 * @ppns: by run and position in the round: the ppn, minus the ppns that the LUN programs in all
 * rounds before; NULL: nothing is recorded
 * @used: used entries of @ppns
 * @size: allocated entries of @ppns
 */
struct aftl_fill_map {
	struct aftl_fill_order order;
	u32 level;
	u32 program;
	u32 round;
	u32 *runs;
	u32 *ppns;
	u32 used;
	u32 size;
};

/**
 * aftl_fill_map_init() - begin to record the ppns of a shuffled fill
 * @ftl: device
 * @map: takes the recording; without memory nothing is recorded
 * @order: order of the fill
 */
void aftl_fill_map_init(struct aftl *ftl, struct aftl_fill_map *map,
			const struct aftl_fill_order *order);

/**
 * aftl_fill_map_get_ppns() - get room for the ppns of a new run of rounds
 * @map: recording
 * @write: number of the first write of the run
 *
 * Return: an entry for each logical page of a round; NULL if the run is not recorded.
 */
u32 *aftl_fill_map_get_ppns(struct aftl_fill_map *map, u32 write);

/* Record @rounds rounds from write @write on; the caller has filled in the ppns of their run. */
void aftl_fill_map_record_programs_of_all_luns(struct aftl_fill_map *map, u32 write, u32 rounds,
					       u32 level);

/**
 * aftl_fill_map_store_l2p_entries() - store the recorded entries and end the recording
 * @ftl: device
 * @map: recording
 *
 * Return: 0, or the error code of the host's pause().
 */
int __must_check aftl_fill_map_store_l2p_entries(struct aftl *ftl, struct aftl_fill_map *map);

/* Free the recording. */
void aftl_fill_map_free(struct aftl *ftl, struct aftl_fill_map *map);

#endif
