/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program of this family is.
 *
 * Its run has two phases: data are written, and what is read back is computed with. Both are
 * done a second time with precise files elsewhere. There the result has to be right; how far
 * the first run is from the second is the quality of the approximate data.
 */
#ifndef AFTL_APPS_APP_H
#define AFTL_APPS_APP_H

#include "array.h"
#include "core/base/random.h"

/**
 * struct app_result - what a run has found
 * @error: of the result of a precise run, in the unit of @tolerance
 * @tolerance: that is right
 * @repaired: values that were no values
 * @distance: of numbers, from those of the precise run, relative
 * @pixels: seen
 * @squared: sum of squared differences of pixels from the original
 * @by_position: the same of the frames at each place in their groups
 * @coding: sum of squared differences that the form itself makes, disregarding errors
 * @similarity: sum of the structural similarities of windows
 * @windows: of pixels
 * @samples: seen
 * @absolute: sum of absolute differences of samples from the original
 */
struct app_result {
	double error;
	double tolerance;
	u64 repaired;
	double distance;
	u64 pixels;
	double squared;
	double by_position[LONGEST_GROUP];
	double coding;
	double similarity;
	u64 windows;
	u64 samples;
	double absolute;
};

/**
 * struct app_forecast - the quality that flipped bits make, wherever they are
 * @mean: mean square (pictures) or mean absolute error (series), as the chance of a bit of
 *	approximate data to be flipped is so small that it is proportional to it: divided by it
 * @variance: of that mean, divided by the same
 */
struct app_forecast {
	double mean;
	double variance;
};

/* How the quality of a result is measured. */
enum app_measure {
	MEASURE_NUMBERS,
	MEASURE_PICTURES,
	MEASURE_SERIES,
};

/**
 * struct app_input - a file of the first phase
 * @name: NULL ends the list
 * @kind: of what follows each header
 */
struct app_input {
	const char *name;
	enum approxftl_class kind;
};

#define APP_INPUTS 5

/**
 * struct app - a program
 * @name: on the command line
 * @summary: one phrase
 * @measure: of its quality
 * @check: what is checked in the precise run, one phrase
 * @sizes: what size, width and height may be, one sentence
 * @usual: parameters; those that are 0 it does not have
 * @forms: those that it may have besides, as they may be; 0 for others
 * @inputs: files of the first phase; the header of the first has the parameters
 * @output: array of the second phase; for MEASURE_NUMBERS
 * @refuses: whether there can be no such setup
 * @is_precise: whether what begins at @offset of an approximate file, a multiple of FILE_UNIT, is
 *	precise; NULL if that is the header only
 * @output_shape: of @output
 * @create: first phase
 * @compute: second phase
 * @check_result: of a precise run; sets error and tolerance
 * @forecast: whether the quality follows from the number of flipped bits, and how; or NULL
 */
struct app {
	const char *name;
	const char *summary;
	enum app_measure measure;
	const char *check;
	const char *sizes;
	struct app_setup usual;
	struct app_setup forms;
	struct app_input inputs[APP_INPUTS];
	const char *output;
	bool (*refuses)(const struct app_setup *setup);
	bool (*is_precise)(const struct app_setup *setup, u64 offset);
	struct array_shape (*output_shape)(const struct app_setup *setup);
	int (*create)(const struct app_place *place, const struct app_setup *setup,
		      struct aftl_error *error);
	int (*compute)(const struct app_place *place, const struct app_setup *setup,
		       struct app_result *result, struct aftl_error *error);
	int (*check_result)(const struct app_place *place, const struct app_setup *setup,
			    struct app_result *result, struct aftl_error *error);
	bool (*forecast)(const struct app_setup *setup, struct app_forecast *forecast);
};

/* Whether a unit at @offset of an approximate input is precise. */
static inline bool app_is_precise(const struct app *app, const struct app_setup *setup, u64 offset)
{
	return offset < HEADER_BYTES || (app->is_precise && app->is_precise(setup, offset));
}

/* Whether a header is of another program, or one that somebody has written by hand. */
bool app_is_foreign(const struct app *app, const struct app_setup *found);

/* Ends with NULL. */
extern const struct app *const apps[];

extern const struct app app_fft;
extern const struct app app_smm;
extern const struct app app_lu;
extern const struct app app_sor;
extern const struct app app_mc;
extern const struct app app_img;
extern const struct app app_vid;
extern const struct app app_log;

/* What sequences of random data are for, so that they do not depend on each other. */
enum app_purpose {
	PURPOSE_SIGNAL = 1,
	PURPOSE_MATRIX,
	PURPOSE_COLUMNS,
	PURPOSE_DEGREES,
	PURPOSE_VECTOR,
	PURPOSE_SAMPLES,
	PURPOSE_TEXTURE,
	PURPOSE_NOISE,
	PURPOSE_OUTLIERS,
};

static inline u64 app_draw(const struct app_setup *setup, enum app_purpose purpose, u64 index)
{
	return aftl_hash64_pair(aftl_hash64_pair(setup->seed, purpose), index);
}

/* What rounding may add up to. */
#define APP_ROUNDING (1 / 1e12)

/* Different numbers that app_uniform() returns. */
#define APP_DRAWS ((double)(1ULL << 53))

/* Uniform in [0, 1) */
static inline double app_uniform(const struct app_setup *setup, enum app_purpose purpose,
				 u64 index)
{
	return (double)(app_draw(setup, purpose, index) >> 11) / APP_DRAWS;
}

/* An array whose values are a function of their index. */
int __must_check app_fill(const struct app_place *place, const struct array_shape *shape,
			  const struct app_setup *setup,
			  double (*value)(const struct app_setup *setup, u64 index),
			  struct aftl_error *error);

/* For reading, in order: word @index of @array. */
static inline double array_value(struct array *array, u64 index)
{
	return array_values(array, index / ARRAY_PAGE_WORDS, false)[index % ARRAY_PAGE_WORDS];
}

static inline void array_put(struct array *array, u64 index, double value)
{
	array_values(array, index / ARRAY_PAGE_WORDS, true)[index % ARRAY_PAGE_WORDS] = value;
}

/**
 * app_close() - close arrays of a program
 * @ret: what went wrong before, or 0; its sentence is kept
 *
 * Return: @ret, or the first failure of any of them.
 */
int __must_check app_close(struct array *const *arrays, unsigned int count, int ret,
			   u64 *repaired, struct aftl_error *error);

#endif
