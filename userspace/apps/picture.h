/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generates test pictures, and compares pictures.
 */
#ifndef AFTL_APPS_PICTURE_H
#define AFTL_APPS_PICTURE_H

#include "app.h"

/*
 * Rows of a piece, the unit of processing: a multiple of the windows' and blocks' sides. The size
 * of a piece is a multiple of FILE_UNIT.
 */
#define PIECE_ROWS 64

/* Compute a pixel of the test picture. */
u8 picture_pixel(const struct app_setup *setup, u64 frame, u64 x, u64 y);

/* Generate the piece of the picture that begins at @row. */
void picture_generate_piece(const struct app_setup *setup, u64 frame, u64 row, u8 *pixels);

static inline u64 picture_pixel_count(const struct app_setup *setup)
{
	return setup->width * setup->height;
}

/* Return: sum of squared differences of two pieces of pictures. */
u64 picture_square_error(const struct app_setup *setup, const u8 *pixels, const u8 *wanted);

/* Add the differences of a piece from the original piece to @result. */
void picture_compare_piece(const struct app_setup *setup, const u8 *pixels, const u8 *wanted,
			   struct app_result *result);

#endif
