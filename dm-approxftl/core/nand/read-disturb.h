/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read disturb: each sensing of a page lifts the cells of its whole block a little.
 */
#ifndef AFTL_DISTURB_H
#define AFTL_DISTURB_H

#include "core/nand/media.h"

/**
 * aftl_disturb_q40() - error rate that reads have added to the pages of @block, in 2^-40
 * @block: block in question
 * @pages: of a block
 *
 * Grows with the reads since the erase, the more so the more worn the block is.
 */
u64 aftl_disturb_q40(const struct aftl_block *block, u32 pages);

#endif
