/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read references and read retry.
 *
 * Cells lose charge with age, so that the best read references move away from the default ones in
 * whole steps. This affects some layers of a block, and more of them with wear and age. A read that
 * starts with other references fails and is retried one step further until the references are
 * right.
 */
#ifndef AFTL_RETRY_H
#define AFTL_RETRY_H

#include "core/nand/cell.h"

/* Largest shift of the read references that a command can name. */
#define AFTL_SHIFT_MAX 7U

/* Out-of-line part of aftl_best_read_ref_shift(). */
u32 aftl_compute_read_reference_shift(const struct aftl_cell *cell, const struct aftl_block *block,
				      u32 page, u64 hour);

/**
 * aftl_best_read_ref_shift() - steps from the default read references to the best ones
 * @cell: provides the seed and the flash array
 * @block: block of the page
 * @page: page of the block
 * @hour: device age in hours
 *
 * A function of seed, block, layer, erase count and age.
 */
static inline u32 aftl_best_read_ref_shift(const struct aftl_cell *cell,
					   const struct aftl_block *block, u32 page, u64 hour)
{
	/* No page is older than the first page that was programmed in its block. */
	if (likely(!block->erases || hour <= block->first_hour))
		return 0;
	return aftl_compute_read_reference_shift(cell, block, page, hour);
}

#endif
