// SPDX-License-Identifier: GPL-2.0-only
/*
 * Monte Carlo estimate of pi from stored random points in a square.
 */
#include <math.h>

#include "app.h"

/* Number of random points in a page of the array: a point has two words. */
#define PAGE_POINTS 2048
static_assert(2 * PAGE_POINTS == ARRAY_PAGE_WORDS, "a page is full");

static bool is_monte_carlo_size_invalid(const struct app_setup *setup)
{
	return setup->size % PAGE_POINTS || setup->size > 1ULL << 32;
}

static double mc_sample_word(const struct app_setup *setup, u64 index)
{
	return app_draw_uniform(setup, PURPOSE_SAMPLES, index);
}

static struct array_shape mc_samples_shape(const struct app_setup *setup)
{
	return (struct array_shape){ "samples", 2 * setup->size, 1, 0, NULL };
}

/* Each page of random points gives one estimate of pi. */
static struct array_shape mc_estimates_shape(const struct app_setup *setup)
{
	return (struct array_shape){ "estimates", setup->size / PAGE_POINTS, 4, 0, NULL };
}

static int create_monte_carlo_input(const struct app_place *place, const struct app_setup *setup,
				    struct aftl_error *error)
{
	struct array_shape shape = mc_samples_shape(setup);

	return app_create_value_array(place, &shape, setup, mc_sample_word, error);
}

static double estimate_pi(const double *words)
{
	const double *end = words + ARRAY_PAGE_WORDS;
	unsigned int inside = 0;

	for (; words < end; words += 2)
		inside += words[0] * words[0] + words[1] * words[1] <= 1;
	return 4.0 * inside / PAGE_POINTS;
}

static int compute_monte_carlo_pi(const struct app_place *place, const struct app_setup *setup,
				  struct app_result *result, struct aftl_error *error)
{
	struct array_shape in = mc_samples_shape(setup), out = mc_estimates_shape(setup);
	struct array samples = { 0 }, estimates = { 0 }, *const all[] = { &samples, &estimates };
	int ret = array_open(&samples, place, &in, setup, error);

	if (!ret)
		ret = array_create(&estimates, place, &out, setup, error);
	for (u64 page = 0; !ret && page < out.words; page++)
		array_write_word(&estimates, page,
				 estimate_pi(array_page_values(&samples, page, false)));
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

/* The tolerance of pi is five standard deviations of the mean of the estimates. */
static int check_monte_carlo_result(const struct app_place *place, const struct app_setup *setup,
				    struct app_result *result, struct aftl_error *error)
{
	struct array_shape shape = mc_estimates_shape(setup);
	struct array estimates, *const all[] = { &estimates };
	double sum = 0;
	int ret = array_open(&estimates, place, &shape, setup, error);

	for (u64 page = 0; !ret && page < shape.words; page++)
		sum += array_value(&estimates, page);
	result->error = fabs(sum / (double)shape.words - M_PI);
	result->tolerance = 5 * sqrt(M_PI * (4 - M_PI) / (double)setup->size);
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &result->repaired, error);
}

const struct app app_mc = {
	.name = "mc",
	.summary = "pi by the Monte Carlo method",
	.check = "difference from pi",
	.sizes = "size is a multiple of 2048, at most 2^32",
	.usual = { .size = 1 << 19, .seed = 1 },
	.inputs = { { "samples", APPROXFTL_APPROXIMATE } },
	.output = "estimates",
	.refuses = is_monte_carlo_size_invalid,
	.output_shape = mc_estimates_shape,
	.create = create_monte_carlo_input,
	.compute = compute_monte_carlo_pi,
	.check_result = check_monte_carlo_result,
};
