// SPDX-License-Identifier: GPL-2.0-only
/*
 * LU factorisation of a diagonally dominant matrix, in square blocks of one page each.
 */
#include <math.h>
#include <stdlib.h>

#include "app.h"

#define BLOCK 64
static_assert(BLOCK * BLOCK == ARRAY_PAGE_WORDS, "a block is a page");

static bool is_lu_size_invalid(const struct app_setup *setup)
{
	return setup->size % BLOCK || setup->size > 1 << 15;
}

static double matrix_element(const struct app_setup *setup, u64 row, u64 column)
{
	return row == column ? (double)setup->size :
			       2 * app_draw_uniform(setup, PURPOSE_MATRIX, row << 32 | column) - 1;
}

static double matrix_word(const struct app_setup *setup, u64 index)
{
	u64 side = setup->size / BLOCK, block = index / ARRAY_PAGE_WORDS;
	u64 inside = index % ARRAY_PAGE_WORDS;

	return matrix_element(setup, block / side * BLOCK + inside / BLOCK,
			      block % side * BLOCK + inside % BLOCK);
}

/* Bound of the elements: elimination at most doubles elements of a diagonally dominant matrix. */
static double lu_page_value_bound(const struct array_shape *shape, u64 page)
{
	u64 side = (u64)lround(sqrt((double)shape->words)) / BLOCK;

	return page % side == page / side ? shape->bound : 2;
}

static struct array_shape lu_array_shape(const char *name, const struct app_setup *setup)
{
	return (struct array_shape){
		.name = name,
		.words = setup->size * setup->size,
		.bound = 2 * (double)setup->size,
		.page_bound = lu_page_value_bound,
	};
}

static struct array_shape lu_factors_shape(const struct app_setup *setup)
{
	return lu_array_shape("factors", setup);
}

static int create_lu_input(const struct app_place *place, const struct app_setup *setup,
			   struct aftl_error *error)
{
	struct array_shape shape = lu_array_shape("matrix", setup);

	return app_create_value_array(place, &shape, setup, matrix_word, error);
}

/* Return a pivot; @usual replaces a damaged pivot, whose large error would spoil all results. */
static double get_checked_pivot(const double *block, unsigned int k, double usual)
{
	double value = block[k * BLOCK + k];

	return value >= usual / 2 && value <= usual * 2 ? value : usual;
}

/* Factorise a diagonal block of the matrix into L and U in place. */
static void factor_diagonal_block(double *a, double usual)
{
	for (unsigned int k = 0; k < BLOCK; k++) {
		a[k * BLOCK + k] = get_checked_pivot(a, k, usual);
		for (unsigned int i = k + 1; i < BLOCK; i++) {
			double l = a[i * BLOCK + k] /= a[k * BLOCK + k];

			for (unsigned int j = k + 1; j < BLOCK; j++)
				a[i * BLOCK + j] -= l * a[k * BLOCK + j];
		}
	}
}

/* Multiply a block of the matrix right of the diagonal by L^-1 from the left. */
static void multiply_block_by_inverse_of_l(const double *diagonal, double *a)
{
	for (unsigned int k = 0; k < BLOCK; k++)
		for (unsigned int i = k + 1; i < BLOCK; i++)
			for (unsigned int j = 0; j < BLOCK; j++)
				a[i * BLOCK + j] -= diagonal[i * BLOCK + k] * a[k * BLOCK + j];
}

/* Multiply a block of the matrix below the diagonal by U^-1 from the right. */
static void multiply_block_by_inverse_of_u(const double *diagonal, double *a, double usual)
{
	for (unsigned int i = 0; i < BLOCK; i++) {
		for (unsigned int k = 0; k < BLOCK; k++) {
			double l = a[i * BLOCK + k] /= get_checked_pivot(diagonal, k, usual);

			for (unsigned int j = k + 1; j < BLOCK; j++)
				a[i * BLOCK + j] -= l * diagonal[k * BLOCK + j];
		}
	}
}

static void subtract_block_product(double *a, const double *left, const double *right)
{
	for (unsigned int i = 0; i < BLOCK; i++)
		for (unsigned int k = 0; k < BLOCK; k++)
			for (unsigned int j = 0; j < BLOCK; j++)
				a[i * BLOCK + j] -= left[i * BLOCK + k] * right[k * BLOCK + j];
}

static void eliminate_lu_block_column(struct array *a, u64 side, u64 k)
{
	double usual = (double)(side * BLOCK);
	const double *diagonal;

	factor_diagonal_block(array_page_values(a, k * side + k, true), usual);
	for (u64 i = k + 1; i < side; i++) {
		diagonal = array_page_values(a, k * side + k, false);
		multiply_block_by_inverse_of_l(diagonal, array_page_values(a, k * side + i, true));
		multiply_block_by_inverse_of_u(diagonal, array_page_values(a, i * side + k, true),
					       usual);
	}
	for (u64 i = k + 1; i < side; i++) {
		for (u64 j = k + 1; j < side; j++) {
			const double *left = array_page_values(a, i * side + k, false);
			const double *right = array_page_values(a, k * side + j, false);

			subtract_block_product(array_page_values(a, i * side + j, true), left,
					       right);
		}
	}
}

static void copy_matrix_block(struct array *from, struct array *to)
{
	for (u64 page = 0; page < from->pages; page++)
		memcpy(array_page_values(to, page, true), array_page_values(from, page, false),
		       ARRAY_PAGE_WORDS * sizeof(double));
}

static int compute_lu(const struct app_place *place, const struct app_setup *setup,
		      struct app_result *result, struct aftl_error *error)
{
	struct array_shape in = lu_array_shape("matrix", setup), out = lu_factors_shape(setup);
	struct array matrix = { 0 }, factors = { 0 }, *const all[] = { &matrix, &factors };
	u64 k, side = setup->size / BLOCK;
	int ret = array_open(&matrix, place, &in, setup, error);

	if (!ret)
		ret = array_create(&factors, place, &out, setup, error);
	if (!ret)
		copy_matrix_block(&matrix, &factors);
	for (k = 0; !ret && k < side; k++) {
		eliminate_lu_block_column(&factors, side, k);
		ret = array_write_back_all_pages(&factors, error);
	}
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

/* Add to @out the product of the block's upper (U) or lower (L) part and the vector @in. */
static void add_triangle_product(const double *block, s64 below, bool upper, const double *in,
				 double *out)
{
	for (int i = 0; i < BLOCK; i++) {
		for (int j = 0; j < BLOCK; j++) {
			s64 under = below + i - j;

			if (upper ? under <= 0 : under > 0)
				out[i] += block[i * BLOCK + j] * in[j];
		}
	}
}

/* Set @out to U * @in, or to L * @in, where L has ones on its diagonal. */
static void multiply_vector_by_lu_factor(struct array *factors, u64 side, bool upper,
					 const double *in, double *out)
{
	for (u64 i = 0; i < side * BLOCK; i++)
		out[i] = upper ? 0 : in[i];
	for (u64 i = 0; i < side; i++)
		for (u64 j = 0; j < side; j++)
			add_triangle_product(array_page_values(factors, i * side + j, false),
					     ((s64)i - (s64)j) * BLOCK, upper, in + j * BLOCK,
					     out + i * BLOCK);
}

/* The error is |L U x - A x| / |A x| in the maximum norm, for a vector x of ones. */
static double lu_residual(struct array *factors, const struct app_setup *setup)
{
	u64 i, j, n = setup->size;
	double *x = alloc_file_buffer(3 * n * sizeof(*x)), *ux = x + n, *lux = ux + n;
	double difference = 0, whole = 0;

	for (i = 0; i < n; i++)
		x[i] = 1;
	multiply_vector_by_lu_factor(factors, n / BLOCK, true, x, ux);
	multiply_vector_by_lu_factor(factors, n / BLOCK, false, ux, lux);
	for (i = 0; i < n; i++) {
		double sum = 0;

		for (j = 0; j < n; j++)
			sum += matrix_element(setup, i, j);
		difference = fmax(difference, fabs(lux[i] - sum));
		whole = fmax(whole, fabs(sum));
	}
	free(x);
	return difference / whole;
}

static int check_lu_result(const struct app_place *place, const struct app_setup *setup,
			   struct app_result *result, struct aftl_error *error)
{
	struct array_shape shape = lu_factors_shape(setup);
	struct array factors, *const all[] = { &factors };
	int ret = array_open(&factors, place, &shape, setup, error);

	if (!ret)
		result->error = lu_residual(&factors, setup);
	result->tolerance = APP_ROUNDING;
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

const struct app app_lu = {
	.name = "lu",
	.summary = "LU factors of a matrix with a dominant diagonal",
	.check = "residual |LUx - Ax| / |Ax|",
	.sizes = "size, the order, is a multiple of 64, at most 32768",
	.usual = { .size = 512, .seed = 1 },
	.inputs = { { "matrix", APPROXFTL_APPROXIMATE } },
	.output = "factors",
	.refuses = is_lu_size_invalid,
	.output_shape = lu_factors_shape,
	.create = create_lu_input,
	.compute = compute_lu,
	.check_result = check_lu_result,
};
