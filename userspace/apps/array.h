/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays that are larger than memory: pages of a file, of which some are in a buffer.
 *
 * An array has either values, which are approximate, or indices, which are precise and decide
 * where a program reads.
 *
 * A value is stored as it is, a whole double: any of its bits may come back flipped, those of
 * the exponent, too. So what is read is looked at: what is not finite, or greater than any
 * value of the array can be, becomes 0.
 */
#ifndef AFTL_APPS_ARRAY_H
#define AFTL_APPS_ARRAY_H

#include "app-file.h"

/* So many pages, those asked for last, stay where they are. */
#define ARRAY_HELD 8

/* 32 KiB */
#define ARRAY_PAGE_WORDS 4096

/**
 * struct array_shape - what an array is
 * @name: of its file
 * @words: of 8 bytes
 * @bound: no value is greater, disregarding signs; 0 for indices
 * @held: pages that the program uses at a time, if more than ARRAY_HELD
 * @page_bound: a bound for the values of a page, where it is less than @bound; or NULL
 */
struct array_shape {
	const char *name;
	u64 words;
	double bound;
	u32 held;
	double (*page_bound)(const struct array_shape *shape, u64 page);
};

struct array_slot;

/**
 * struct array - an open array
 * @shape: what it is
 * @file: where it is
 * @pages: of ARRAY_PAGE_WORDS, the last of which may be used in part
 * @slot_of: slot of each page, plus one; 0 for none
 * @slots: pages in memory
 * @slot_count: how many there can be
 * @used: slots that were ever used
 * @clock: counts uses
 * @repaired: values that became 0
 * @spare: what a page that cannot be read is
 * @error: the first failure
 * @failed: its code, or 0
 */
struct array {
	struct array_shape shape;
	struct app_file file;
	u64 pages;
	u32 *slot_of;
	struct array_slot *slots;
	u32 slot_count;
	u32 used;
	u64 clock;
	u64 repaired;
	void *spare;
	struct aftl_error error;
	int failed;
};

/* A new array, full of 0, with a header that says @setup. */
int __must_check array_create(struct array *array, const struct app_place *place,
			      const struct array_shape *shape, const struct app_setup *setup,
			      struct aftl_error *error);

/* One that is there, which must have been made for the same @setup. */
int __must_check array_open(struct array *array, const struct app_place *place,
			    const struct array_shape *shape, const struct app_setup *setup,
			    struct aftl_error *error);

/**
 * array_values() - a page
 * @write: whether it is to be changed
 *
 * Whatever goes wrong, there is memory for a page; array_close() tells.
 *
 * Return: its first word. Valid until ARRAY_HELD (or more, see above) others were asked for.
 */
double *array_values(struct array *array, u64 page, bool write);
u64 *array_indices(struct array *array, u64 page, bool write);

/* All of it is on the device, and nothing of it in memory. */
int __must_check array_settle(struct array *array, struct aftl_error *error);

/**
 * array_close() - write back, and free
 * @repaired: is increased by the number of values that became 0
 *
 * For an array of zeroes, too.
 *
 * Return: 0, or the first failure of anything that was done with the array.
 */
int __must_check array_close(struct array *array, u64 *repaired, struct aftl_error *error);

/**
 * array_distance() - how far two arrays of one shape are from each other
 * @distance: takes |a - b| / |b|, by the sums of squares
 */
int __must_check array_distance(const struct app_place *a, const struct app_place *b,
				const struct array_shape *shape, const struct app_setup *setup,
				double *distance, struct aftl_error *error);

#endif
