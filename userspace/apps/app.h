/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of the programs (workloads) in this directory.
 *
 * A run has two phases: the first writes data, the second reads them and computes. Both phases are
 * repeated with precise files elsewhere, and the result of this precise run must be right. The
 * difference between the two results is the quality of the approximate data.
 */
#ifndef AFTL_APPS_APP_H
#define AFTL_APPS_APP_H

#include "array.h"
#include "core/base/random.h"

/**
 * struct app_result - the result of a computation
 * @error: error of a precise run's result, in the unit of @tolerance
 * @tolerance: largest acceptable @error
 * @repaired: number of invalid values that were replaced
 * @distance: relative distance of numbers from those of the precise run
 * @pixels: number of pixels read
 * @squared: sum of squared differences of pixels from the original
 * @by_position: sums of squared differences, by position of the frame in its group
 * @coding: sum of squared differences caused by lossy coding alone, without flipped bits
 * @similarity: sum of the structural similarities of windows
 * @windows: number of windows of pixels in @similarity
 * @samples: number of samples read
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
 * struct app_forecast - the quality to expect from flipped bits at random positions
 * @mean: mean square error (pictures) or mean absolute error (series), divided by the bit error
 *	rate of approximate data; the rate is small enough for proportionality
 * @variance: variance of that error, divided by the same rate
 */
struct app_forecast {
	double mean;
	double variance;
};

/* The measure for the quality of a program's result. */
enum app_measure {
	MEASURE_NUMBERS,
	MEASURE_PICTURES,
	MEASURE_SERIES,
};

/**
 * struct app_input - a file that the first (writing) phase creates
 * @name: name; NULL ends the list
 * @kind: class of the data behind each header
 */
struct app_input {
	const char *name;
	enum approxftl_class kind;
};

#define APP_INPUTS 5

/**
 * struct app - a program (workload)
 * @name: name on the command line
 * @summary: description in one phrase
 * @measure: measure of the quality
 * @check: description of the check in the precise run, one phrase
 * @sizes: description of the valid sizes, one sentence
 * @usual: default parameters; 0 for those that the program does not have
 * @forms: valid values of optional parameters; 0 for those that the program does not have
 * @inputs: files of the first phase; the header of the first one holds the parameters
 * @output: name of the second phase's array, for MEASURE_NUMBERS
 * @refuses: return true if a setup is invalid
 * @is_precise: return true if the unit at @offset of an approximate file, a multiple of FILE_UNIT,
 *	is precise; NULL if only the header is
 * @output_shape: get the shape of @output
 * @create: run the first phase
 * @compute: run the second phase
 * @check_result: check the result of a precise run; sets error and tolerance
 * @forecast: compute the expected quality; return false if there is none; or NULL
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

/* Return true if the unit at @offset of an approximate file is precise, as headers are. */
static inline bool is_app_unit_precise(const struct app *app, const struct app_setup *setup,
				       u64 offset)
{
	return offset < HEADER_BYTES || (app->is_precise && app->is_precise(setup, offset));
}

/* Return true if a header belongs to another program or is invalid for this one. */
bool is_setup_unsuitable_for_app(const struct app *app, const struct app_setup *found);

/* All programs of approxftl-app; the list ends with NULL. */
extern const struct app *const apps[];

extern const struct app app_fft;
extern const struct app app_smm;
extern const struct app app_lu;
extern const struct app app_sor;
extern const struct app app_mc;
extern const struct app app_img;
extern const struct app app_vid;
extern const struct app app_log;

/* Purposes of random sequences; different purposes give independent sequences. */
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

static inline u64 app_draw_random_u64(const struct app_setup *setup, enum app_purpose purpose,
				      u64 index)
{
	return aftl_hash64_pair(aftl_hash64_pair(setup->seed, purpose), index);
}

/* Upper bound of the accumulated rounding errors of a computation. */
#define APP_ROUNDING (1 / 1e12)

/* Number of different values of app_draw_uniform(). */
#define APP_DRAWS ((double)(1ULL << 53))

/* Return: a number from the uniform distribution over [0, 1). */
static inline double app_draw_uniform(const struct app_setup *setup, enum app_purpose purpose,
				      u64 index)
{
	return (double)(app_draw_random_u64(setup, purpose, index) >> 11) / APP_DRAWS;
}

/* Create an array; @value computes the value at an index. */
int __must_check app_create_value_array(const struct app_place *place,
					const struct array_shape *shape,
					const struct app_setup *setup,
					double (*value)(const struct app_setup *setup, u64 index),
					struct aftl_error *error);

/* Read word @index of @array. Calls with ascending indices stay in one page for long. */
static inline double array_value(struct array *array, u64 index)
{
	return array_page_values(array, index / ARRAY_PAGE_WORDS, false)[index % ARRAY_PAGE_WORDS];
}

static inline void array_write_word(struct array *array, u64 index, double value)
{
	array_page_values(array, index / ARRAY_PAGE_WORDS, true)[index % ARRAY_PAGE_WORDS] = value;
}

/**
 * app_close_arrays() - close the arrays of a program
 * @ret: an earlier error, whose message is kept; or 0
 *
 * Return: @ret, or the first failure while closing.
 */
int __must_check app_close_arrays(struct array *const *arrays, unsigned int count, int ret,
				  u64 *repaired, struct aftl_error *error);

#endif
