/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the flipped bits of a program's files: by comparison, and by asking the device.
 */
#ifndef AFTL_APPS_FLIPS_H
#define AFTL_APPS_FLIPS_H

#include "app.h"

/**
 * struct app_flips - flipped bits in all input files of a program
 * @bytes: size of the files
 * @approximate_bytes: bytes declared approximate
 * @flipped: flipped bits in approximate bytes
 * @damaged: flipped bits in precise bytes
 */
struct app_flips {
	u64 bytes;
	u64 approximate_bytes;
	u64 flipped;
	u64 damaged;
};

/* Compare a program's input files with the unchanged input files in @reference. */
int __must_check count_flips_in_files(const struct app *app, const struct app_setup *setup,
				      const struct app_place *place,
				      const struct app_place *reference, struct app_flips *flips,
				      struct aftl_error *error);

/* Get the number of flipped bits that the device reports for the inputs; 0 without a device. */
int __must_check count_reported_flips(const struct app *app, const struct app_place *place,
				      struct approxftl_errors *errors, struct aftl_error *error);

#endif
