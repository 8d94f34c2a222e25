// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "block-code.h"

/* Offset that is added to stored coefficients, and subtracted from pixels before the transform. */
#define MIDDLE 128

/* Return the DCT basis: row u is the cosine of frequency u. */
static const double (*get_dct_basis(void))[BLOCK_SIDE]
{
	static double rows[BLOCK_SIDE][BLOCK_SIDE];
	unsigned int u, x;

	if (rows[0][0] > 0)
		return (const double (*)[BLOCK_SIDE])rows;
	for (u = BLOCK_SIDE; u-- > 0;)
		for (x = BLOCK_SIDE; x-- > 0;)
			rows[u][x] = sqrt((u ? 2.0 : 1.0) / BLOCK_SIDE) *
				     cos((2 * x + 1) * u * M_PI / (2 * BLOCK_SIDE));
	return (const double (*)[BLOCK_SIDE])rows;
}

/* Transform the columns of @from to rows of @to; a second call transforms the original rows. */
static void transform_block_dct(const double *from, double *to, bool back)
{
	const double (*cosine)[BLOCK_SIDE] = get_dct_basis();

	for (unsigned int column = 0; column < BLOCK_SIDE; column++) {
		for (unsigned int u = 0; u < BLOCK_SIDE; u++) {
			double sum = 0;

			for (unsigned int x = 0; x < BLOCK_SIDE; x++)
				sum += (back ? cosine[x][u] : cosine[u][x]) *
				       from[x * BLOCK_SIDE + column];
			to[column * BLOCK_SIDE + u] = sum;
		}
	}
}

/* List the coefficients of a block diagonal by diagonal, each from top to bottom. */
static void list_block_diagonals(u8 places[BLOCK_CELLS])
{
	unsigned int diagonal, row, count = 0;

	for (diagonal = 0; diagonal < 2 * BLOCK_SIDE - 1; diagonal++)
		for (row = 0; row < BLOCK_SIDE; row++)
			if (diagonal - row < BLOCK_SIDE)
				places[count++] = row * BLOCK_SIDE + diagonal - row;
}

/* Return: distance of a block's pixel @i from the block's first pixel; rows have @width pixels. */
static u64 get_block_pixel_offset(unsigned int i, u64 width)
{
	return i / BLOCK_SIDE * width + i % BLOCK_SIDE;
}

static u8 clamp_value_to_byte(double value)
{
	return (u8)fmin(fmax(round(value), 0), 255);
}

void block_encode_pixels(const u8 *pixels, u64 width, unsigned int step, u8 cells[BLOCK_CELLS])
{
	double values[BLOCK_CELLS], turned[BLOCK_CELLS];
	u8 places[BLOCK_CELLS];

	for (unsigned int i = 0; i < BLOCK_CELLS; i++)
		values[i] = pixels[get_block_pixel_offset(i, width)] - MIDDLE;
	transform_block_dct(values, turned, false);
	transform_block_dct(turned, values, false);
	list_block_diagonals(places);
	for (unsigned int i = 0; i < BLOCK_CELLS; i++)
		cells[i] = clamp_value_to_byte(values[places[i]] / step + MIDDLE);
}

void block_decode_pixels(const u8 cells[BLOCK_CELLS], unsigned int step, u8 *pixels, u64 width)
{
	double values[BLOCK_CELLS], turned[BLOCK_CELLS];
	u8 places[BLOCK_CELLS];

	list_block_diagonals(places);
	for (unsigned int i = 0; i < BLOCK_CELLS; i++)
		values[places[i]] = ((double)cells[i] - MIDDLE) * step;
	transform_block_dct(values, turned, true);
	transform_block_dct(turned, values, true);
	for (unsigned int i = 0; i < BLOCK_CELLS; i++)
		pixels[get_block_pixel_offset(i, width)] = clamp_value_to_byte(values[i] + MIDDLE);
}
