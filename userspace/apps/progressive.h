/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The progressive form of an image.
 *
 * The DCT coefficients of blocks of 8 x 8 pixels are rounded to multiples of PROGRESSIVE_STEP and
 * stored in 8 bits each, with 128 for 0. All coefficients have the same length, so a flipped bit
 * does not shift other bits. Scan 0 has the mean of each block and the leading bits of the other
 * coefficients. Each lower bit plane follows, the highest first, as two scans: low frequencies,
 * then high ones. A scan begins with a header; one bit plane of one coefficient of all blocks
 * follows another; zeroes pad its end. Headers and scan 0 are precise, the other scans are
 * approximate. Each scan refines the picture of the scans before it.
 */
#ifndef AFTL_APPS_PROGRESSIVE_H
#define AFTL_APPS_PROGRESSIVE_H

#include "app.h"

#define PROGRESSIVE_STEP 8

/* Bound of the coding's mean square error: half a step per coefficient, and rounded pixels. */
#define PROGRESSIVE_BOUND ((PROGRESSIVE_STEP + 1) * (PROGRESSIVE_STEP + 1) / 4.0)

bool is_progressive_byte_precise(const struct app_setup *setup, u64 offset);
int __must_check progressive_create(const struct app_place *place, const struct app_setup *setup,
				    struct aftl_error *error);
int __must_check measure_progressive_pictures(const struct app_place *place,
					      const struct app_setup *setup,
					      struct app_result *result, struct aftl_error *error);
void progressive_forecast(const struct app_setup *setup, struct app_forecast *forecast);

#endif
