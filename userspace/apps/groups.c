// SPDX-License-Identifier: GPL-2.0-only
#include "groups.h"
#include "picture.h"

/**
 * struct chain - the stored differences of one pixel so far, and the effect of a flip in each of
 * their bits
 * @raised: number of differences whose bit is 0: a flip raises the pixel
 * @lowered: number of differences whose bit is 1: a flip lowers the pixel
 * @raised_frames: sum over @raised of the frames that a flip affects
 * @lowered_frames: sum over @lowered of the frames that a flip affects
 */
struct chain {
	double raised[8];
	double lowered[8];
	double raised_frames[8];
	double lowered_frames[8];
};

static void count_direction_of_each_bit_flip(struct chain *chain, u8 difference, u64 reaches)
{
	for (unsigned int bit = 0; bit < 8; bit++) {
		bool lowers = difference >> bit & 1;

		(lowers ? chain->lowered : chain->raised)[bit]++;
		(lowers ? chain->lowered_frames : chain->raised_frames)[bit] += (double)reaches;
	}
}

/* Return the square of a pixel's error after a flipped bit; 8-bit pixels wrap around. */
static double compute_square_error_of_flip(u8 pixel, int change)
{
	double difference = (u8)(pixel + change) - pixel;

	return difference * difference;
}

static void add_flip_errors_to_forecast(const struct chain *chain, u8 pixel,
					struct app_forecast *forecast)
{
	for (unsigned int bit = 0; bit < 8; bit++) {
		double up = compute_square_error_of_flip(pixel, 1 << bit),
		       down = compute_square_error_of_flip(pixel, -(1 << bit));

		forecast->mean += chain->raised[bit] * up + chain->lowered[bit] * down;
		/*
		 * Add an upper bound of the error's variance: the square of a sum of n terms is at
		 * most n times the sum of the squared terms.
		 */
		forecast->variance += chain->raised_frames[bit] * up * up +
				      chain->lowered_frames[bit] * down * down;
	}
}

/* Add to the forecast the error by a flip of each stored bit of one pixel, in all frames. */
static void forecast_pixel_error(const struct app_setup *setup, u64 x, u64 y,
				 struct app_forecast *forecast)
{
	struct chain chain = { 0 };
	u8 before = 0;

	for (u64 frame = 0; frame < setup->frames; frame++) {
		u8 pixel = picture_compute_pixel(setup, frame, x, y);
		u64 rest = min(setup->group - frame % setup->group, setup->frames - frame);

		if (frame % setup->group == 0)
			chain = (struct chain){ 0 };
		else
			count_direction_of_each_bit_flip(&chain, pixel - before, rest);
		add_flip_errors_to_forecast(&chain, pixel, forecast);
		before = pixel;
	}
}

void forecast_damage_of_frame_groups(const struct app_setup *setup, struct app_forecast *forecast)
{
	double pixels = (double)(setup->frames * picture_pixel_count(setup));

	*forecast = (struct app_forecast){ 0 };
	for (u64 y = 0; y < setup->height; y++)
		for (u64 x = 0; x < setup->width; x++)
			forecast_pixel_error(setup, x, y, forecast);
	forecast->mean /= pixels;
	forecast->variance /= pixels * pixels;
}
