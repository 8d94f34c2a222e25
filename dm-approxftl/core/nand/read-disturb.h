/* SPDX-License-Identifier: GPL-2.0-only */
/* Read disturb: each sensing of a page shifts the cells of all pages of its block a little. */
#ifndef AFTL_DISTURB_H
#define AFTL_DISTURB_H

#include "core/nand/media.h"

/**
 * aftl_read_disturb_rber() - RBER x 2^40 that reads added to @block since its erase
 * @block: a block
 * @pages: pages of a block
 *
 * Grows with the reads since the erase, and with the wear of the block.
 */
u64 aftl_read_disturb_rber(const struct aftl_block *block, u32 pages);

#endif
