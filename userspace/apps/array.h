/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays larger than memory: a file of pages, some of which are in a buffer.
 *
 * An array holds either values, which are approximate, or indices, which are precise and decide
 * which words a program reads.
 *
 * A value is stored as a double. Any of its bits may flip, including the exponent. Therefore each
 * value is checked after reading: one that is not finite, or exceeds the bound of the array,
 * becomes 0.
 */
#ifndef AFTL_APPS_ARRAY_H
#define AFTL_APPS_ARRAY_H

#include "app-file.h"

/* Number of most recently used pages of an array that are never evicted. */
#define ARRAY_HELD 8

/* 32 KiB */
#define ARRAY_PAGE_WORDS 4096

/**
 * struct array_shape - name, size and bounds of an array
 * @name: name of the array's file
 * @words: number of 8-byte words
 * @bound: maximum absolute value; 0 for indices
 * @held: number of pages that the program uses at once, if more than ARRAY_HELD; else 0
 * @page_bound: returns a smaller bound for a page; NULL if @bound applies to all pages
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
 * @shape: name, size and bounds
 * @file: the file
 * @pages: number of pages of ARRAY_PAGE_WORDS; the last one may be partly used
 * @slot_of: slot of each page plus one; 0 for none
 * @slots: pages in memory
 * @slot_count: maximum number of slots
 * @used: number of slots ever used
 * @clock: counter of page uses, for the LRU order
 * @repaired: number of values replaced by 0
 * @spare: substitute for a page that cannot be read
 * @error: message of the first failure
 * @failed: error number of the first failure, or 0
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

/* Create an array of zeroes, with a header that contains @setup. */
int __must_check array_create(struct array *array, const struct app_place *place,
			      const struct array_shape *shape, const struct app_setup *setup,
			      struct aftl_error *error);

/* Open an existing array, which must have been created for the same @setup. */
int __must_check array_open(struct array *array, const struct app_place *place,
			    const struct array_shape *shape, const struct app_setup *setup,
			    struct aftl_error *error);

/**
 * array_page_values() - get a page
 * @write: the caller will change the page
 *
 * The call never fails: after an error it returns substitute memory, and array_close() reports the
 * error.
 *
 * Return: first word of the page. Valid until ARRAY_HELD (or @held) other pages were used.
 */
double *array_page_values(struct array *array, u64 page, bool write);
u64 *array_get_page_as_u64(struct array *array, u64 page, bool write);

/* Write the array's changed pages to the device, and drop all its pages from memory. */
int __must_check array_write_back_all_pages(struct array *array, struct aftl_error *error);

/**
 * array_close() - write back and free an array
 * @repaired: increased by the number of values replaced by 0
 *
 * Also valid for a zeroed struct.
 *
 * Return: 0, or the first failure of any operation on the array.
 */
int __must_check array_close(struct array *array, u64 *repaired, struct aftl_error *error);

/**
 * compute_distance_of_arrays() - compute the relative distance of two arrays of one shape
 * @distance: takes |a - b| / |b|, in the Euclidean norm
 */
int __must_check compute_distance_of_arrays(const struct app_place *a, const struct app_place *b,
					    const struct array_shape *shape,
					    const struct app_setup *setup, double *distance,
					    struct aftl_error *error);

#endif
