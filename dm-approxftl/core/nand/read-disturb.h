/* SPDX-License-Identifier: GPL-2.0-only */
/* Read disturb: each sensing of a page shifts the cells of all pages of its block a little. */
#ifndef AFTL_DISTURB_H
#define AFTL_DISTURB_H

#include "core/nand/media.h"

/**
 * aftl_disturb_q40() - RBER that reads since the erase have added to the pages of @block, in 2^-40
 * @block: a block
 * @pages: pages of a block
 *
 * Grows with the reads since the erase, and with the wear of the block.
 */
u64 aftl_disturb_q40(const struct aftl_block *block, u32 pages);

#endif
