// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "flips.h"

#define PIECE (16UL * FILE_UNIT)

/**
 * struct comparison - two files to compare for flipped bits
 * @kind: class of the file's data
 */
struct comparison {
	const struct app *app;
	const struct app_setup *setup;
	enum approxftl_class kind;
};

static u64 count_differing_word_bits(const u64 *a, const u64 *b, size_t bytes)
{
	u64 count = 0;

	for (size_t i = 0; i < bytes / sizeof(*a); i++)
		count += __builtin_popcountll(a[i] ^ b[i]);
	return count;
}

/* Compare the bytes at @offset of two files. */
static void compare_input_file_bytes(struct app_flips *flips, const struct comparison *of,
				     const char *a, const char *b, u64 offset, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += FILE_UNIT) {
		u64 bits = count_differing_word_bits((const u64 *)(a + at), (const u64 *)(b + at),
						     FILE_UNIT);

		flips->bytes += FILE_UNIT;
		if (of->kind == APPROXFTL_PRECISE ||
		    is_app_unit_precise(of->app, of->setup, offset + at)) {
			flips->damaged += bits;
		} else {
			flips->approximate_bytes += FILE_UNIT;
			flips->flipped += bits;
		}
	}
}

static int compare_input_files(const struct comparison *of, struct app_file *a, struct app_file *b,
			       struct app_flips *flips, struct aftl_error *error)
{
	char *pieces = alloc_file_buffer(2 * PIECE);
	int ret = 0;

	for (u64 offset = 0; !ret && offset < a->bytes; offset += PIECE) {
		size_t bytes = min_t(u64, PIECE, a->bytes - offset);

		ret = app_file_read(a, pieces, offset, bytes, error);
		if (!ret)
			ret = app_file_read(b, pieces + PIECE, offset, bytes, error);
		if (!ret)
			compare_input_file_bytes(flips, of, pieces, pieces + PIECE, offset, bytes);
	}
	free(pieces);
	return ret;
}

int count_flips_in_files(const struct app *app, const struct app_setup *setup,
			 const struct app_place *place, const struct app_place *reference,
			 struct app_flips *flips, struct aftl_error *error)
{
	const struct app_input *input;
	int ret = 0;

	*flips = (struct app_flips){ 0 };
	for (input = app->inputs; !ret && input->name; input++) {
		const struct comparison of = { app, setup, input->kind };
		struct app_file a, b = { 0 };

		ret = app_file_open(&a, place, input->name, input->kind, error);
		if (!ret)
			ret = app_file_open(&b, reference, input->name, input->kind, error);
		if (!ret)
			ret = compare_input_files(&of, &a, &b, flips, error);
		app_file_close(&a);
		app_file_close(&b);
	}
	return ret;
}

static int add_errors_reported_for_file(const struct app_place *place, struct app_file *file,
					struct approxftl_errors *sum, struct aftl_error *error)
{
	struct approxftl_errors one;
	int ret = approxftl_errors(place->tags, file->fd, 0, APPROXFTL_TO_END, &one);

	if (ret)
		return aftl_fail(error, ret, "%.80s/%s: %.120s", place->path, file->name,
				 approxftl_reason(place->tags));
	sum->units += one.units;
	sum->approximate_units += one.approximate_units;
	sum->flipped_units += one.flipped_units;
	sum->flipped_bits += one.flipped_bits;
	sum->unmodelled_units += one.unmodelled_units;
	return 0;
}

int count_reported_flips(const struct app *app, const struct app_place *place,
			 struct approxftl_errors *errors, struct aftl_error *error)
{
	const struct app_input *input;
	struct app_file file;
	int ret = 0;

	*errors = (struct approxftl_errors){ 0 };
	for (input = app->inputs; place->tags && !ret && input->name; input++) {
		ret = app_file_open(&file, place, input->name, input->kind, error);
		if (!ret)
			ret = add_errors_reported_for_file(place, &file, errors, error);
		app_file_close(&file);
	}
	return ret;
}
