// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast Fourier transform of a signal larger than memory.
 *
 * The signal's points form a matrix of square tiles, one page each. The transform of all columns is
 * multiplied by the twiddle factors; the transform of all rows follows. Point k1 + rows * k2 of
 * the spectrum is in row k1 and column k2.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "app.h"

/* Side of a square tile of the matrix, in points (complex numbers of two words). */
#define TILE 32UL
#define TILE_WORDS (TILE * TILE * 2)

/** struct grid - rows and columns of the matrix of points, counted in tiles */
struct grid {
	u64 rows;
	u64 columns;
};

static struct grid fft_grid_of_setup(const struct app_setup *setup)
{
	u64 rows = 1;

	while (rows * rows < setup->size)
		rows *= 2;
	return (struct grid){ rows / TILE, setup->size / rows / TILE };
}

static bool is_fft_size_invalid(const struct app_setup *setup)
{
	return setup->size < 2 * TILE * TILE || (setup->size & (setup->size - 1)) ||
	       setup->size > 1 << 28;
}

/* Generate word @index of the signal: real and imaginary parts alternate, in tile order. */
static double fft_signal_word(const struct app_setup *setup, u64 index)
{
	return 2 * app_draw_uniform(setup, PURPOSE_SIGNAL, index) - 1;
}

static struct array_shape make_fft_array_shape(const char *name, const struct app_setup *setup,
					       double bound)
{
	return (struct array_shape){ name, 2 * setup->size, bound, 0, NULL };
}

static struct array_shape fft_signal_shape(const struct app_setup *setup)
{
	return make_fft_array_shape("signal", setup, 1);
}

/* Return a bound for the sum of @count random numbers in [-1, 1]: seven standard deviations. */
static double bound_of_random_sum(u64 count)
{
	return 7 * sqrt((double)count / 3);
}

static struct array_shape fft_spectrum_shape(const struct app_setup *setup)
{
	return make_fft_array_shape("spectrum", setup, bound_of_random_sum(setup->size));
}

/* Shape of the intermediate array, between the transform of the columns and of the rows. */
static struct array_shape fft_half_transformed_shape(const struct app_setup *setup)
{
	return make_fft_array_shape("half-way", setup,
				    bound_of_random_sum(fft_grid_of_setup(setup).rows * TILE));
}

static int create_fft_input(const struct app_place *place, const struct app_setup *setup,
			    struct aftl_error *error)
{
	struct array_shape shape = fft_signal_shape(setup);

	return app_create_value_array(place, &shape, setup, fft_signal_word, error);
}

/**
 * struct strip - TILE rows or columns of the matrix
 * @points: points of the first row or column, then of the second one, and so on
 * @grid: shape of the matrix
 * @columns: the strip consists of columns
 * @index: number of the strip, in tiles
 * @length: points in each row or column
 */
struct strip {
	complex double *points;
	struct grid grid;
	bool columns;
	u64 index;
	u64 length;
};

/* Copy a tile of the matrix between its page and the strip of tiles in memory. */
static void copy_matrix_tile(struct strip *strip, u64 along, double *words, bool store)
{
	for (u64 i = 0; i < TILE * TILE; i++) {
		u64 line = strip->columns ? i % TILE : i / TILE;
		u64 place = strip->columns ? i / TILE : i % TILE;
		u64 at = line * strip->length + along * TILE + place;

		if (store) {
			words[2 * i] = creal(strip->points[at]);
			words[2 * i + 1] = cimag(strip->points[at]);
		} else {
			strip->points[at] = words[2 * i] + I * words[2 * i + 1];
		}
	}
}

static void load_or_store_matrix_strip(struct strip *strip, struct array *array, bool store)
{
	for (u64 along = 0; along * TILE < strip->length; along++) {
		u64 word = (strip->columns ? along * strip->grid.columns + strip->index :
					     strip->index * strip->grid.columns + along) *
			   TILE_WORDS;

		copy_matrix_tile(strip, along,
				 array_page_values(array, word / ARRAY_PAGE_WORDS, store) +
				 word % ARRAY_PAGE_WORDS, store);
	}
}

static void permute_points_to_bit_reversed_order(complex double *x, u64 n)
{
	u64 i, bit, j = 0;

	for (i = 0; i + 1 < n; i++) {
		if (i < j) {
			complex double swapped = x[i];

			x[i] = x[j];
			x[j] = swapped;
		}
		for (bit = n / 2; bit & j; bit /= 2)
			j ^= bit;
		j |= bit;
	}
}

/* Transform a row of @n points in place; @roots are exp(-+2 pi i k / @n). */
static void transform_fft_row(complex double *x, u64 n, const complex double *roots)
{
	u64 half, begin, k;

	permute_points_to_bit_reversed_order(x, n);
	for (half = 1; half < n; half *= 2) {
		for (begin = 0; begin < n; begin += 2 * half) {
			for (k = 0; k < half; k++) {
				complex double *low = &x[begin + k], *high = low + half;
				complex double turned = *high * roots[k * (n / (2 * half))];

				*high = *low - turned;
				*low += turned;
			}
		}
	}
}

static complex double *compute_roots_of_unity(u64 n, double sign)
{
	complex double *roots = alloc_file_buffer(n * sizeof(*roots));
	u64 k;

	for (k = 0; k < n; k++)
		roots[k] = cexp(I * sign * 2 * M_PI * (double)k / (double)n);
	return roots;
}

/* Multiply a strip of columns by the twiddle factors exp(-+2 pi i row column / size). */
static void multiply_columns_by_twiddle_factors(struct strip *strip, double sign)
{
	double size = (double)(strip->grid.rows * strip->grid.columns * TILE * TILE);

	for (u64 line = 0; line < TILE; line++) {
		double turn = sign * 2 * M_PI * (double)(strip->index * TILE + line) / size;

		for (u64 row = 0; row < strip->length; row++)
			strip->points[line * strip->length + row] *=
				cexp(I * turn * (double)row);
	}
}

/* Transform one dimension of the matrix, from @from to @to. @sign 1 is the inverse. */
static void transform_fft_dimension(struct grid grid, bool columns, double sign, struct array *from,
				    struct array *to)
{
	struct strip strip = {
		.grid = grid,
		.columns = columns,
		.length = TILE * (columns ? grid.rows : grid.columns),
	};
	complex double *roots = compute_roots_of_unity(strip.length, sign);
	u64 line;

	strip.points = alloc_file_buffer(TILE * strip.length * sizeof(*strip.points));
	for (; strip.index < (columns ? grid.columns : grid.rows); strip.index++) {
		load_or_store_matrix_strip(&strip, from, false);
		if (columns && sign > 0)
			multiply_columns_by_twiddle_factors(&strip, sign);
		for (line = 0; line < TILE; line++)
			transform_fft_row(strip.points + line * strip.length, strip.length, roots);
		if (columns && sign < 0)
			multiply_columns_by_twiddle_factors(&strip, sign);
		load_or_store_matrix_strip(&strip, to, true);
	}
	free(strip.points);
	free(roots);
}

static int compute_fft(const struct app_place *place, const struct app_setup *setup,
		       struct app_result *result, struct aftl_error *error)
{
	struct array_shape in = fft_signal_shape(setup), half = fft_half_transformed_shape(setup);
	struct array_shape out = fft_spectrum_shape(setup);
	struct array signal = { 0 }, between = { 0 }, spectrum = { 0 };
	struct array *const all[] = { &signal, &between, &spectrum };
	int ret = array_open(&signal, place, &in, setup, error);

	if (!ret)
		ret = array_create(&between, place, &half, setup, error);
	if (!ret)
		ret = array_create(&spectrum, place, &out, setup, error);
	if (!ret) {
		transform_fft_dimension(fft_grid_of_setup(setup), true, -1, &signal, &between);
		ret = array_write_back_all_pages(&between, error);
	}
	if (!ret)
		transform_fft_dimension(fft_grid_of_setup(setup), false, -1, &between, &spectrum);
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

static double largest_signal_difference(const struct app_setup *setup, struct array *again)
{
	double largest = 0;

	for (u64 i = 0; i < 2 * setup->size; i++)
		largest = fmax(largest, fabs(array_value(again, i) / (double)setup->size -
					     fft_signal_word(setup, i)));
	return largest;
}

/* The result is right if the inverse transform reproduces the signal. */
static int check_fft_result(const struct app_place *place, const struct app_setup *setup,
			    struct app_result *result, struct aftl_error *error)
{
	struct array_shape in = fft_spectrum_shape(setup);
	struct array_shape out = make_fft_array_shape("inverse", setup, 2 * (double)setup->size);
	struct array spectrum = { 0 }, inverse = { 0 }, *const all[] = { &spectrum, &inverse };
	int ret = array_open(&spectrum, place, &in, setup, error);

	if (!ret)
		ret = array_create(&inverse, place, &out, setup, error);
	if (!ret) {
		transform_fft_dimension(fft_grid_of_setup(setup), false, 1, &spectrum, &inverse);
		transform_fft_dimension(fft_grid_of_setup(setup), true, 1, &inverse, &inverse);
		result->error = largest_signal_difference(setup, &inverse);
		result->tolerance = APP_ROUNDING;
	}
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

const struct app app_fft = {
	.name = "fft",
	.summary = "Fourier transform of a random signal",
	.check = "largest difference between the signal and its inverse transform",
	.sizes = "size is a power of 2 from 2048 to 2^28",
	.usual = { .size = 1 << 18, .seed = 1 },
	.inputs = { { "signal", APPROXFTL_APPROXIMATE } },
	.output = "spectrum",
	.refuses = is_fft_size_invalid,
	.output_shape = fft_spectrum_shape,
	.create = create_fft_input,
	.compute = compute_fft,
	.check_result = check_fft_result,
};
