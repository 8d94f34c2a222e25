/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read references. Cells lose charge with age, so that the references which tell their
 * states apart best move away from the default ones, by whole steps: in some layers of a
 * block and not in others, the more of them the more worn and the older it is. A read that
 * does not begin at the best ones fails and is tried again, step by step, until it does.
 */
#ifndef AFTL_RETRY_H
#define AFTL_RETRY_H

#include "core/nand/cell.h"

/* Steps that a command can move the references by. */
#define AFTL_SHIFT_MAX 7U

/* The same for a page that is not new, of a block that was erased. */
u32 aftl_aged_read_shift(const struct aftl_cell *cell, const struct aftl_block *block, u32 page,
		      u64 hour);

/**
 * aftl_best_read_shift() - steps from the default read references to the best ones
 * @cell: for the seed and the media
 * @block: block in question
 * @page: page of the block
 * @hour: device age in hours
 *
 * Follows from seed, block, layer, wear and age: two looks agree.
 */
static inline u32 aftl_best_read_shift(const struct aftl_cell *cell, const struct aftl_block *block,
				  u32 page, u64 hour)
{
	/* No page is older than the first of its block. */
	if (likely(!block->erases || hour <= block->first_hour))
		return 0;
	return aftl_aged_read_shift(cell, block, page, hour);
}

#endif
