/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Codes blocks of 8 x 8 pixels as quantised DCT coefficients, and decodes them.
 */
#ifndef AFTL_APPS_BLOCK_CODE_H
#define AFTL_APPS_BLOCK_CODE_H

#include "core/base/params.h"

#define BLOCK_SIDE 8
/* Pixels of a block. */
#define BLOCK_CELLS 64

/**
 * block_encode_pixels() - compute the coefficients of a block
 * @pixels: first pixel of the block; rows are @width apart
 * @step: quantiser step
 * @cells: takes the coefficients along diagonals, the lowest frequencies first; 128 stands for 0
 */
void block_encode_pixels(const u8 *pixels, u64 width, unsigned int step, u8 cells[BLOCK_CELLS]);

/* Compute the pixels of a block from its coefficients, which may have any values. */
void block_decode_pixels(const u8 cells[BLOCK_CELLS], unsigned int step, u8 *pixels, u64 width);

#endif
