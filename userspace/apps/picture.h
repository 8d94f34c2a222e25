/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pictures show, and how far one is from another.
 */
#ifndef AFTL_APPS_PICTURE_H
#define AFTL_APPS_PICTURE_H

#include "app.h"

/*
 * Rows that are worked on at a time, a multiple of what is compared and transformed together; the
 * size of such a piece is a multiple of FILE_UNIT.
 */
#define PIECE_ROWS 64

/* What a pixel is. */
u8 picture_pixel(const struct app_setup *setup, u64 frame, u64 x, u64 y);

/* The piece that begins at @row. */
void picture_piece(const struct app_setup *setup, u64 frame, u64 row, u8 *pixels);

static inline u64 picture_pixels(const struct app_setup *setup)
{
	return setup->width * setup->height;
}

/* Sum of squared differences of two pieces. */
u64 picture_squared(const struct app_setup *setup, const u8 *pixels, const u8 *wanted);

/* Adds how far a piece is from what it should be. */
void picture_compare(const struct app_setup *setup, const u8 *pixels, const u8 *wanted,
		     struct app_result *result);

#endif
