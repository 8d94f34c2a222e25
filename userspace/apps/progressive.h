/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The progressive form of an image.
 *
 * Blocks of 8 x 8 pixels are transformed (cosines, orthonormal), and each coefficient is rounded
 * to a multiple of PROGRESSIVE_STEP and stored in 8 bits, 128 of which is 0: all have the same
 * length, so that a flipped bit moves no other. Scan 0 has the mean of each block, and the leading
 * bits of the rest. Each plane of bits below follows, the highest first, in two scans: of the low
 * frequencies, and of the high ones. In a scan the bits of one plane of one coefficient follow each
 * other for all blocks; it begins with a header, and its end is filled up with zeroes. Headers and
 * scan 0 are precise, the others approximate: each makes the picture of those before it finer.
 */
#ifndef AFTL_APPS_PROGRESSIVE_H
#define AFTL_APPS_PROGRESSIVE_H

#include "app.h"

#define PROGRESSIVE_STEP 8

/* Each coefficient is off by half a step at most, each pixel is rounded: mean square at most. */
#define PROGRESSIVE_BOUND ((PROGRESSIVE_STEP + 1) * (PROGRESSIVE_STEP + 1) / 4.0)

/* Of struct app, for @setup->scans > 0. */
bool progressive_is_precise(const struct app_setup *setup, u64 offset);
int __must_check progressive_create(const struct app_place *place, const struct app_setup *setup,
				    struct aftl_error *error);
int __must_check progressive_compute(const struct app_place *place, const struct app_setup *setup,
				     struct app_result *result, struct aftl_error *error);
void progressive_forecast(const struct app_setup *setup, struct app_forecast *forecast);

#endif
