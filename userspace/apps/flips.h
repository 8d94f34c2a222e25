/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits of a program's files that have flipped: by looking, and by asking the device.
 */
#ifndef AFTL_APPS_FLIPS_H
#define AFTL_APPS_FLIPS_H

#include "app.h"

/**
 * struct app_flips - of all inputs
 * @bytes: of the files
 * @approximate_bytes: of them, that may lose bits
 * @flipped: bits of those that are not what was written
 * @damaged: the same of precise bytes
 */
struct app_flips {
	u64 bytes;
	u64 approximate_bytes;
	u64 flipped;
	u64 damaged;
};

/* @reference has the same inputs, as they were written. */
int __must_check flips_count(const struct app *app, const struct app_setup *setup,
			     const struct app_place *place, const struct app_place *reference,
			     struct app_flips *flips, struct aftl_error *error);

/* What the device says of the inputs; all 0 without one. */
int __must_check flips_reported(const struct app *app, const struct app_place *place,
				struct approxftl_errors *errors, struct aftl_error *error);

#endif
