// SPDX-License-Identifier: GPL-2.0-only
#include "groups.h"
#include "picture.h"

/**
 * struct chain - a pixel of a group, and what the flipped bits of its differences make of it
 * @raised: differences so far whose bit is 0, and would add to the pixel
 * @lowered: those whose bit is 1
 * @raised_frames: sum of the frames that such a one reaches
 * @lowered_frames: the same
 */
struct chain {
	double raised[8];
	double lowered[8];
	double raised_frames[8];
	double lowered_frames[8];
};

static void extend_chain(struct chain *chain, u8 difference, u64 reaches)
{
	unsigned int bit;

	for (bit = 0; bit < 8; bit++) {
		bool lowers = difference >> bit & 1;

		(lowers ? chain->lowered : chain->raised)[bit]++;
		(lowers ? chain->lowered_frames : chain->raised_frames)[bit] += (double)reaches;
	}
}

/* A pixel of 8 bits begins anew where it overflows. */
static double square_of(u8 pixel, int change)
{
	double difference = (u8)(pixel + change) - pixel;

	return difference * difference;
}

static void add_chain(const struct chain *chain, u8 pixel, struct app_forecast *forecast)
{
	unsigned int bit;

	for (bit = 0; bit < 8; bit++) {
		double up = square_of(pixel, 1 << bit), down = square_of(pixel, -(1 << bit));

		forecast->mean += chain->raised[bit] * up + chain->lowered[bit] * down;
		/* The square of a sum is at most the sum of squares times how many there are. */
		forecast->variance += chain->raised_frames[bit] * up * up +
				      chain->lowered_frames[bit] * down * down;
	}
}

/* All frames of a pixel. */
static void forecast_pixel(const struct app_setup *setup, u64 x, u64 y,
			   struct app_forecast *forecast)
{
	struct chain chain = { 0 };
	u8 before = 0;
	u64 frame;

	for (frame = 0; frame < setup->frames; frame++) {
		u8 pixel = picture_pixel(setup, frame, x, y);
		u64 rest = min(setup->group - frame % setup->group, setup->frames - frame);

		if (frame % setup->group == 0)
			chain = (struct chain){ 0 };
		else
			extend_chain(&chain, pixel - before, rest);
		add_chain(&chain, pixel, forecast);
		before = pixel;
	}
}

void groups_forecast(const struct app_setup *setup, struct app_forecast *forecast)
{
	double pixels = (double)(setup->frames * picture_pixels(setup));
	u64 x, y;

	*forecast = (struct app_forecast){ 0 };
	for (y = 0; y < setup->height; y++)
		for (x = 0; x < setup->width; x++)
			forecast_pixel(setup, x, y, forecast);
	forecast->mean /= pixels;
	forecast->variance /= pixels * pixels;
}
