/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generates test pictures, and compares pictures.
 */
#ifndef AFTL_APPS_PICTURE_H
#define AFTL_APPS_PICTURE_H

#include "app.h"

/*
 * Number of picture rows that are processed at once: a multiple of the sides of windows and blocks,
 * with a size that is a multiple of FILE_UNIT.
 */
#define PIECE_ROWS 64

/* Compute a pixel of the test picture. */
u8 picture_compute_pixel(const struct app_setup *setup, u64 frame, u64 x, u64 y);

/* Generate the rows of the test picture, beginning with @row, that are processed at once. */
void picture_generate_rows(const struct app_setup *setup, u64 frame, u64 row, u8 *pixels);

static inline u64 picture_pixel_count(const struct app_setup *setup)
{
	return setup->width * setup->height;
}

/* Return: sum of squared pixel differences of two parts of pictures. */
u64 picture_sum_squared_errors(const struct app_setup *setup, const u8 *pixels, const u8 *wanted);

/* Add the errors of a part of a picture, compared with the original part, to @result. */
void picture_add_pixel_errors_to_result(const struct app_setup *setup, const u8 *pixels,
					const u8 *wanted, struct app_result *result);

#endif
