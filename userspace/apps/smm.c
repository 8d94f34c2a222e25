// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repeated multiplication of a sparse matrix by a vector.
 *
 * The matrix is stored by rows (CSR): values, which are approximate, and column indices and row
 * starts, which are precise. The values of a row are positive and add up to 1, so the product with
 * a vector of ones is that vector.
 */
#include <math.h>

#include "app.h"

static bool is_sparse_matrix_size_invalid(const struct app_setup *setup)
{
	return setup->size > 1 << 26 || setup->degree > setup->size / 4;
}

static u64 count_nonzeros_of_row(const struct app_setup *setup, u64 row)
{
	return 1 + aftl_map_random_to_range(app_draw_random_u64(setup, PURPOSE_DEGREES, row),
					    (u32)(2 * setup->degree - 1));
}

static u64 matrix_nonzero_count(const struct app_setup *setup)
{
	u64 row, count = 0;

	for (row = 0; row < setup->size; row++)
		count += count_nonzeros_of_row(setup, row);
	return count;
}

/* Return the column of nonzero value @position: columns ascend and spread over the whole row. */
static u64 column_of_nonzero(const struct app_setup *setup, u64 row, u64 position)
{
	u64 room = setup->size / count_nonzeros_of_row(setup, row);

	return position * room +
	       app_draw_random_u64(setup, PURPOSE_COLUMNS, row << 16 | position) % room;
}

static double draw_matrix_value(const struct app_setup *setup, u64 row, u64 position)
{
	return 0.5 + app_draw_uniform(setup, PURPOSE_MATRIX, row << 16 | position);
}

static double smm_vector_word(const struct app_setup *setup, u64 index)
{
	return app_draw_uniform(setup, PURPOSE_VECTOR, index);
}

/* Open or create the arrays of the matrix; each needs only one page in memory. */
struct matrix {
	struct array values;
	struct array columns;
	struct array rows;
};

typedef int (*open_function)(struct array *array, const struct app_place *place,
			     const struct array_shape *shape, const struct app_setup *setup,
			     struct aftl_error *error);

static int open_matrix_arrays(struct matrix *matrix, open_function get,
			      const struct app_place *place, const struct app_setup *setup,
			      struct aftl_error *error)
{
	u64 count = matrix_nonzero_count(setup);
	struct array_shape values = { "values", count, 1, 0, NULL };
	struct array_shape columns = { "columns", count, 0, 0, NULL };
	struct array_shape rows = { "rows", setup->size + 1, 0, 0, NULL };
	int ret;

	*matrix = (struct matrix){ 0 };
	ret = get(&matrix->values, place, &values, setup, error);
	if (!ret)
		ret = get(&matrix->columns, place, &columns, setup, error);
	if (!ret)
		ret = get(&matrix->rows, place, &rows, setup, error);
	return ret;
}

static int close_matrix_arrays(struct matrix *matrix, int ret, u64 *repaired,
			       struct aftl_error *error)
{
	struct array *const all[] = { &matrix->values, &matrix->columns, &matrix->rows };

	return app_close_arrays(all, ARRAY_SIZE(all), ret, repaired, error);
}

static u64 *matrix_index_word_ptr(struct array *array, u64 index, bool write)
{
	return array_get_page_as_u64(array, index / ARRAY_PAGE_WORDS, write) +
	       index % ARRAY_PAGE_WORDS;
}

static void fill_matrix_row(struct matrix *matrix, const struct app_setup *setup, u64 row,
			    u64 begin)
{
	u64 i, degree = count_nonzeros_of_row(setup, row);
	double sum = 0;

	for (i = 0; i < degree; i++)
		sum += draw_matrix_value(setup, row, i);
	for (i = 0; i < degree; i++) {
		array_write_word(&matrix->values, begin + i,
				 draw_matrix_value(setup, row, i) / sum);
		*matrix_index_word_ptr(&matrix->columns, begin + i, true) =
			column_of_nonzero(setup, row, i);
	}
}

static struct array_shape smm_vector_shape(const struct app_setup *setup)
{
	return (struct array_shape){ "vector", setup->size, 1.000001, 0, NULL };
}

static struct array_shape smm_product_shape(const struct app_setup *setup)
{
	struct array_shape shape = smm_vector_shape(setup);

	shape.name = "product";
	return shape;
}

static int create_sparse_matrix_input(const struct app_place *place, const struct app_setup *setup,
				      struct aftl_error *error)
{
	struct array_shape shape = smm_vector_shape(setup);
	struct matrix matrix;
	u64 repaired = 0;
	int ret = open_matrix_arrays(&matrix, array_create, place, setup, error);

	if (!ret) {
		u64 row, begin = 0;

		for (row = 0; row < setup->size; row++) {
			*matrix_index_word_ptr(&matrix.rows, row, true) = begin;
			fill_matrix_row(&matrix, setup, row, begin);
			begin += count_nonzeros_of_row(setup, row);
		}
		*matrix_index_word_ptr(&matrix.rows, row, true) = begin;
	}
	ret = close_matrix_arrays(&matrix, ret, &repaired, error);
	return ret ? ret : app_create_value_array(place, &shape, setup, smm_vector_word, error);
}

/* Multiply a matrix row by @in, or by a vector of ones. Out-of-bounds indices are not used. */
static double multiply_row_by_vector(struct matrix *matrix, u64 row, struct array *in)
{
	u64 end = min(*matrix_index_word_ptr(&matrix->rows, row + 1, false),
		      matrix->values.shape.words);
	double sum = 0;

	for (u64 i = *matrix_index_word_ptr(&matrix->rows, row, false); i < end; i++) {
		double value = array_value(&matrix->values, i);

		sum += in ? value * array_value(in, *matrix_index_word_ptr(&matrix->columns, i,
									   false)) :
			    value;
	}
	return sum;
}

/* The two vectors swap after each product; the last product must be in the output array. */
static int multiply_matrix_by_vector_repeatedly(struct matrix *matrix, struct array *vectors,
						const struct app_setup *setup,
						struct aftl_error *error)
{
	unsigned int from = setup->rounds % 2 ? 0 : 1;
	int ret = 0;

	for (u64 round = 0; !ret && round < setup->rounds; round++, from = !from) {
		for (u64 row = 0; row < setup->size; row++)
			array_write_word(&vectors[!from], row,
					 multiply_row_by_vector(matrix, row, &vectors[from]));
		ret = array_write_back_all_pages(&vectors[!from], error);
	}
	return ret;
}

/* Create the initial vector in the array that the first product reads. */
static int create_initial_vector(struct array *vectors, const struct app_place *place,
				 const struct app_setup *setup, u64 *repaired,
				 struct aftl_error *error)
{
	struct array_shape in = smm_vector_shape(setup), out = smm_product_shape(setup),
			   other = out;
	struct array vector, *const all[] = { &vector };
	unsigned int first = setup->rounds % 2 ? 0 : 1;
	int ret;

	other.name = "before";
	ret = array_open(&vector, place, &in, setup, error);
	if (!ret)
		ret = array_create(&vectors[0], place, &other, setup, error);
	if (!ret)
		ret = array_create(&vectors[1], place, &out, setup, error);
	for (u64 i = 0; !ret && i < setup->size; i++)
		array_write_word(&vectors[first], i, array_value(&vector, i));
	return app_close_arrays(all, ARRAY_SIZE(all), ret, repaired, error);
}

static int compute_sparse_products(const struct app_place *place, const struct app_setup *setup,
				   struct app_result *result, struct aftl_error *error)
{
	struct array vectors[2] = { { .shape = { 0 } } };
	struct array *const all[] = { &vectors[0], &vectors[1] };
	struct matrix matrix;
	int ret = open_matrix_arrays(&matrix, array_open, place, setup, error);

	if (!ret)
		ret = create_initial_vector(vectors, place, setup, &result->repaired, error);
	if (!ret)
		ret = multiply_matrix_by_vector_repeatedly(&matrix, vectors, setup, error);
	ret = close_matrix_arrays(&matrix, ret, &result->repaired, error);
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

static int check_sparse_product_result(const struct app_place *place, const struct app_setup *setup,
				       struct app_result *result, struct aftl_error *error)
{
	struct matrix matrix;
	int ret = open_matrix_arrays(&matrix, array_open, place, setup, error);

	for (u64 row = 0; !ret && row < setup->size; row++)
		result->error =
			fmax(result->error, fabs(multiply_row_by_vector(&matrix, row, NULL) - 1));
	result->tolerance = APP_ROUNDING;
	return close_matrix_arrays(&matrix, ret, &result->repaired, error);
}

const struct app app_smm = {
	.name = "smm",
	.summary = "sparse matrix times vector, again and again",
	.check = "largest difference between the matrix times ones, and ones",
	.sizes = "size is at least 4 times degree, at most 2^26",
	.usual = { .size = 1 << 14, .degree = 16, .rounds = 4, .seed = 1 },
	.inputs = {
		{ "values", APPROXFTL_APPROXIMATE },
		{ "vector", APPROXFTL_APPROXIMATE },
		{ "columns", APPROXFTL_PRECISE },
		{ "rows", APPROXFTL_PRECISE },
	},
	.output = "product",
	.refuses = is_sparse_matrix_size_invalid,
	.output_shape = smm_product_shape,
	.create = create_sparse_matrix_input,
	.compute = compute_sparse_products,
	.check_result = check_sparse_product_result,
};
