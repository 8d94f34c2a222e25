// SPDX-License-Identifier: GPL-2.0-only
#include "picture.h"

/* Side of the windows, in pixels, for which the structural similarity is computed. */
#define WINDOW 8

/* Return a triangle wave that rises and falls between 0 and @period / 2. */
static u32 compute_triangle_wave(u64 x, u32 period)
{
	u32 at = x % period;

	return min(at, period - at);
}

/* The test picture: slopes, moving squares with sharp edges, and a fine texture. */
u8 picture_compute_pixel(const struct app_setup *setup, u64 frame, u64 x, u64 y)
{
	u64 index = (frame * setup->height + y) * setup->width + x;
	u32 value = 24 + compute_triangle_wave(x + 2 * frame, 160) +
		    compute_triangle_wave(y + frame, 120);

	if (((x + 4 * frame) / 48 + y / 40) % 3 == 0)
		value += 48;
	return (u8)(value + app_draw_random_u64(setup, PURPOSE_TEXTURE, index) % 12);
}

void picture_generate_rows(const struct app_setup *setup, u64 frame, u64 row, u8 *pixels)
{
	for (u64 i = 0; i < setup->width * PIECE_ROWS; i++)
		pixels[i] = picture_compute_pixel(setup, frame, i % setup->width,
						  row + i / setup->width);
}

/* Return the structural similarity (SSIM) of a window, with the constants for 8-bit pixels. */
static double window_similarity(const u8 *a, const u8 *b, u64 width)
{
	const double c1 = 6.5025, c2 = 58.5225, count = WINDOW * WINDOW;
	double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;

	for (unsigned int y = 0; y < WINDOW; y++) {
		for (unsigned int x = 0; x < WINDOW; x++) {
			double p = a[y * width + x], q = b[y * width + x];

			sum_a += p;
			sum_b += q;
			aa += p * p;
			bb += q * q;
			ab += p * q;
		}
	}
	sum_a /= count;
	sum_b /= count;
	aa = aa / count - sum_a * sum_a;
	bb = bb / count - sum_b * sum_b;
	ab = ab / count - sum_a * sum_b;
	return (2 * sum_a * sum_b + c1) * (2 * ab + c2) /
	       ((sum_a * sum_a + sum_b * sum_b + c1) * (aa + bb + c2));
}

static void compare_picture_windows(const u8 *pixels, const u8 *wanted, u64 width,
				    struct app_result *result)
{
	for (u64 y = 0; y < PIECE_ROWS; y += WINDOW) {
		for (u64 x = 0; x < width; x += WINDOW) {
			result->similarity += window_similarity(pixels + y * width + x,
								wanted + y * width + x, width);
			result->windows++;
		}
	}
}

u64 picture_sum_squared_errors(const struct app_setup *setup, const u8 *pixels, const u8 *wanted)
{
	u64 i, sum = 0;

	for (i = 0; i < setup->width * PIECE_ROWS; i++) {
		s64 difference = pixels[i] - wanted[i];

		sum += difference * difference;
	}
	return sum;
}

void picture_add_pixel_errors_to_result(const struct app_setup *setup, const u8 *pixels,
					const u8 *wanted, struct app_result *result)
{
	result->squared += (double)picture_sum_squared_errors(setup, pixels, wanted);
	result->pixels += setup->width * PIECE_ROWS;
	compare_picture_windows(pixels, wanted, setup->width, result);
}
