/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of 8 x 8 pixels as rounded coefficients of cosines, and back.
 */
#ifndef AFTL_APPS_BLOCK_CODE_H
#define AFTL_APPS_BLOCK_CODE_H

#include "core/base/params.h"

#define BLOCK_SIDE 8
/* The square of it. */
#define BLOCK_CELLS 64

/**
 * block_code() - the coefficients of a block
 * @pixels: its first one; the next row is @width farther
 * @step: what coefficients are multiples of
 * @cells: takes them, the lowest frequencies first, along diagonals; 128 stands for 0
 */
void block_code(const u8 *pixels, u64 width, unsigned int step, u8 cells[BLOCK_CELLS]);

/* The reverse, for any @cells. */
void block_decode(const u8 cells[BLOCK_CELLS], unsigned int step, u8 *pixels, u64 width);

#endif
