// SPDX-License-Identifier: GPL-2.0-only
/*
 * Successive over-relaxation of Laplace's equation on a square grid.
 *
 * The border has the values of x^2 - y^2, which solves the equation and also its difference scheme
 * exactly. One pass over the grid does several relaxation sweeps: a row can be relaxed again as
 * soon as the row below has completed the previous sweep.
 */
#include <math.h>

#include "app.h"

/* Sweeps in one pass. */
#define SWEEPS 16

static bool is_over_relaxation_size_invalid(const struct app_setup *setup)
{
	return setup->size < 8 || setup->size > ARRAY_PAGE_WORDS ||
	       (setup->size & (setup->size - 1));
}

static double exact_grid_solution(const struct app_setup *setup, u64 row, u64 column)
{
	double last = (double)(setup->size - 1);
	double x = (double)column / last, y = (double)row / last;

	return x * x - y * y;
}

static bool is_on_grid_border(const struct app_setup *setup, u64 row, u64 column)
{
	u64 last = setup->size - 1;

	return row == 0 || column == 0 || row == last || column == last;
}

static double sor_grid_word(const struct app_setup *setup, u64 index)
{
	u64 row = index / setup->size, column = index % setup->size;

	return is_on_grid_border(setup, row, column) ? exact_grid_solution(setup, row, column) : 0;
}

static struct array_shape sor_grid_shape(const struct app_setup *setup)
{
	return (struct array_shape){ "grid", setup->size * setup->size, 1, 0, NULL };
}

/* Bound of the grid's values: intermediate values may exceed the solution. */
static struct array_shape sor_relaxed_shape(const struct app_setup *setup)
{
	/* The member @held counts the pages of the rows that a pass relaxes together. */
	return (struct array_shape){ "relaxed", setup->size * setup->size, 4,
				     (u32)(SWEEPS * setup->size / ARRAY_PAGE_WORDS + 4), NULL };
}

static int create_over_relaxation_input(const struct app_place *place,
					const struct app_setup *setup, struct aftl_error *error)
{
	struct array_shape shape = sor_grid_shape(setup);

	return app_create_value_array(place, &shape, setup, sor_grid_word, error);
}

static double *sor_grid_row(struct array *grid, u64 size, u64 row, bool write)
{
	u64 word = row * size;

	return array_page_values(grid, word / ARRAY_PAGE_WORDS, write) + word % ARRAY_PAGE_WORDS;
}

static void relax_grid_row(struct array *grid, u64 size, u64 row, double omega)
{
	const double *above = sor_grid_row(grid, size, row - 1, false);
	const double *below = sor_grid_row(grid, size, row + 1, false);
	double *at = sor_grid_row(grid, size, row, true);

	for (u64 i = 1; i < size - 1; i++)
		at[i] += omega * ((above[i] + below[i] + at[i - 1] + at[i + 1]) / 4 - at[i]);
}

/* Run @sweeps relaxation sweeps in one pass; each sweep is one row behind the sweep before it. */
static void sweep_grid(struct array *grid, u64 size, u64 sweeps, double omega)
{
	for (u64 front = 1; front < size - 2 + sweeps; front++)
		for (u64 sweep = 0; sweep < min(sweeps, front); sweep++)
			if (front - sweep < size - 1)
				relax_grid_row(grid, size, front - sweep, omega);
}

static int relax_grid(struct array *grid, const struct app_setup *setup, struct aftl_error *error)
{
	double omega = 2 / (1 + sin(M_PI / (double)(setup->size - 1)));
	int ret = 0;

	for (u64 left = setup->rounds; !ret && left; left -= min(left, (u64)SWEEPS)) {
		sweep_grid(grid, setup->size, min(left, (u64)SWEEPS), omega);
		ret = array_write_back_all_pages(grid, error);
	}
	return ret;
}

static int compute_over_relaxation(const struct app_place *place, const struct app_setup *setup,
				   struct app_result *result, struct aftl_error *error)
{
	struct array_shape in = sor_grid_shape(setup), out = sor_relaxed_shape(setup);
	struct array grid = { 0 }, relaxed = { 0 }, *const all[] = { &grid, &relaxed };
	int ret = array_open(&grid, place, &in, setup, error);

	if (!ret)
		ret = array_create(&relaxed, place, &out, setup, error);
	for (u64 i = 0; !ret && i < in.words; i++)
		array_write_word(&relaxed, i, array_value(&grid, i));
	if (!ret)
		ret = relax_grid(&relaxed, setup, error);
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

/*
 * With the optimal relaxation factor each sweep finally divides the error by exp(2 pi / size),
 * after an initial growth by a factor of the order of the number of sweeps.
 */
static double compute_sor_error_bound(const struct app_setup *setup)
{
	double rounds = (double)setup->rounds;

	return APP_ROUNDING + 8 * rounds * exp(-2 * M_PI * rounds / (double)setup->size);
}

static int check_over_relaxation_result(const struct app_place *place,
					const struct app_setup *setup, struct app_result *result,
					struct aftl_error *error)
{
	struct array_shape shape = sor_relaxed_shape(setup);
	struct array relaxed, *const all[] = { &relaxed };
	int ret = array_open(&relaxed, place, &shape, setup, error);

	for (u64 i = 0; !ret && i < shape.words; i++)
		result->error = fmax(result->error, fabs(array_value(&relaxed, i) -
			exact_grid_solution(setup, i / setup->size, i % setup->size)));
	result->tolerance = compute_sor_error_bound(setup);
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

const struct app app_sor = {
	.name = "sor",
	.summary = "over-relaxation of Laplace's equation on a square grid",
	.check = "largest difference from the known solution",
	.sizes = "size, the side of the grid, is a power of 2 from 8 to 4096",
	.usual = { .size = 256, .rounds = 1024, .seed = 1 },
	.inputs = { { "grid", APPROXFTL_APPROXIMATE } },
	.output = "relaxed",
	.refuses = is_over_relaxation_size_invalid,
	.output_shape = sor_relaxed_shape,
	.create = create_over_relaxation_input,
	.compute = compute_over_relaxation,
	.check_result = check_over_relaxation_result,
};
