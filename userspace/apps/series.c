// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log: a long series of sensor samples, with outliers.
 *
 * Samples are integers. The precise index entry of a block holds its minimum and its span (maximum
 * - minimum). A sample is stored as its 16-bit difference from the minimum, not from its
 * predecessor, so that an error stays local. Outliers, which are the reason to keep a log, do not
 * fit into the span; a precise list holds their positions and values. A sample read back above the
 * span is damaged and is replaced by its predecessor.
 */
#include <math.h>
#include <stdlib.h>

#include "app.h"

#define SAMPLES_NAME "series"

/* Number of samples in a block, which fills one mapping unit, and number of bits of a sample. */
#define BLOCK_SAMPLES (FILE_UNIT / sizeof(u16))
#define SAMPLE_BITS 16

/* Mean number of samples per outlier. */
#define RARITY 500

/* Position that ends the list of outliers; no sample has it. */
#define NOWHERE U64_MAX

/**
 * struct series - open files of a series of samples
 * @setup: parameters
 * @file: samples
 * @index: two words per block: minimum and span
 * @outliers: two words per outlier: position and value; then NOWHERE
 * @stored: a block as it is in the file
 * @next: next word of @outliers to read or write
 */
struct series {
	struct app_setup setup;
	struct app_file file;
	struct array index;
	struct array outliers;
	u16 *stored;
	u64 next;
};

/**
 * struct block - samples of a block before coding
 * @count: number of samples; less than BLOCK_SAMPLES in the last block
 * @values: samples
 * @is_outlier: marks outliers
 * @least: minimum of the samples that are no outliers
 * @span: maximum of these samples, less @least
 */
struct block {
	u32 count;
	s64 values[BLOCK_SAMPLES];
	bool is_outlier[BLOCK_SAMPLES];
	s64 least;
	u64 span;
};

static bool is_series_size_invalid(const struct app_setup *setup)
{
	return setup->size > 1 << 30;
}

static u64 count_series_blocks(const struct app_setup *setup)
{
	return DIV_ROUND_UP(setup->size, BLOCK_SAMPLES);
}

static u64 get_sample_file_bytes(const struct app_setup *setup)
{
	return HEADER_BYTES + count_series_blocks(setup) * FILE_UNIT;
}

static bool is_sample_outlier(const struct app_setup *setup, u64 at)
{
	return app_draw_random_u64(setup, PURPOSE_OUTLIERS, at) % RARITY == 0;
}

static u64 count_words_of_outlier_list(const struct app_setup *setup)
{
	u64 at, words = 1;

	for (at = 0; at < setup->size; at++)
		words += is_sample_outlier(setup, at) ? 2 : 0;
	return words;
}

/* Return a sample in thousandths of a degree: a daily and a slower oscillation, plus noise. */
static s64 usual_sample_value(const struct app_setup *setup, u64 at)
{
	double turn = 2 * M_PI * (double)at;

	return lround(15000 + 6000 * sin(turn / 1440) + 9000 * sin(turn / 525600)) +
	       (s64)(app_draw_random_u64(setup, PURPOSE_NOISE, at) % 400) - 200;
}

/* Generate a sample; outliers are far above or below all other samples. */
static s64 original_sample(const struct app_setup *setup, u64 at)
{
	u64 draw = app_draw_random_u64(setup, PURPOSE_OUTLIERS, at) / RARITY;
	s64 jump = 100000 + (s64)(draw / 2 % 900000);

	if (!is_sample_outlier(setup, at))
		return usual_sample_value(setup, at);
	return usual_sample_value(setup, at) + (draw % 2 ? jump : -jump);
}

static void fill_sample_block(const struct app_setup *setup, u64 number, struct block *block)
{
	u64 first = number * BLOCK_SAMPLES;
	s64 greatest = INT64_MIN;

	block->count = (u32)min(BLOCK_SAMPLES, setup->size - first);
	block->least = INT64_MAX;
	for (u32 i = 0; i < block->count; i++) {
		block->values[i] = original_sample(setup, first + i);
		block->is_outlier[i] = is_sample_outlier(setup, first + i);
		if (block->is_outlier[i])
			continue;
		block->least = min(block->least, block->values[i]);
		greatest = max(greatest, block->values[i]);
	}
	block->span = greatest < block->least ? 0 : (u64)(greatest - block->least);
}

/* Return a sample as its block stores it; outliers are stored in a list instead. */
static u16 encode_sample(const struct block *block, u32 i)
{
	return (u16)(block->values[i] - block->least);
}

typedef int (*open_function)(struct array *array, const struct app_place *place,
			     const struct array_shape *shape, const struct app_setup *setup,
			     struct aftl_error *error);

static int open_series_indices(struct series *series, open_function get,
			       const struct app_place *place, struct aftl_error *error)
{
	const struct app_setup *setup = &series->setup;
	struct array_shape index = { "index", 2 * count_series_blocks(setup), 0, 0, NULL };
	struct array_shape outliers = { "outliers", count_words_of_outlier_list(setup), 0, 0,
					NULL };
	int ret = get(&series->index, place, &index, setup, error);

	return ret ? ret : get(&series->outliers, place, &outliers, setup, error);
}

static u64 *series_index_word_ptr(struct array *array, u64 word, bool write)
{
	return array_get_page_as_u64(array, word / ARRAY_PAGE_WORDS, write) +
	       word % ARRAY_PAGE_WORDS;
}

static void alloc_series_buffers(struct series *series, const struct app_setup *setup)
{
	*series = (struct series){ .setup = *setup, .stored = alloc_file_buffer(FILE_UNIT) };
}

static int close_series_arrays(struct series *series, int ret, struct aftl_error *error)
{
	struct array *const all[] = { &series->index, &series->outliers };
	u64 repaired = 0;

	free(series->stored);
	app_file_close(&series->file);
	return app_close_arrays(all, ARRAY_SIZE(all), ret, &repaired, error);
}

static int write_sample_block(struct series *series, u64 number, struct aftl_error *error)
{
	struct block block;

	fill_sample_block(&series->setup, number, &block);
	*series_index_word_ptr(&series->index, 2 * number, true) = (u64)block.least;
	*series_index_word_ptr(&series->index, 2 * number + 1, true) = block.span;
	memset(series->stored, 0, FILE_UNIT);
	for (u32 i = 0; i < block.count; i++) {
		series->stored[i] = encode_sample(&block, i);
		if (block.is_outlier[i]) {
			*series_index_word_ptr(&series->outliers, series->next++, true) =
				number * BLOCK_SAMPLES + i;
			*series_index_word_ptr(&series->outliers, series->next++, true) =
				(u64)block.values[i];
		}
	}
	return app_file_write(&series->file, series->stored, HEADER_BYTES + number * FILE_UNIT,
			      FILE_UNIT, error);
}

static int generate_sample_blocks(struct series *series, const struct app_place *place,
				  struct aftl_error *error)
{
	char *header = alloc_file_buffer(HEADER_BYTES);
	int ret;

	ret = app_file_create(&series->file, place, SAMPLES_NAME,
			      get_sample_file_bytes(&series->setup), APPROXFTL_APPROXIMATE, error);
	app_header_make(header, MAGIC_SERIES, &series->setup, "");
	if (!ret)
		ret = app_file_write_precise_data(&series->file, header, 0, HEADER_BYTES, error);
	free(header);
	return ret;
}

static int create_series(const struct app_place *place, const struct app_setup *setup,
			 struct aftl_error *error)
{
	struct series series;
	int ret;

	alloc_series_buffers(&series, setup);
	ret = generate_sample_blocks(&series, place, error);
	if (!ret)
		ret = open_series_indices(&series, array_create, place, error);
	for (u64 number = 0; !ret && number < count_series_blocks(setup); number++)
		ret = write_sample_block(&series, number, error);
	if (!ret) {
		*series_index_word_ptr(&series.outliers, series.next, true) = NOWHERE;
		ret = app_file_sync(&series.file, error);
	}
	return close_series_arrays(&series, ret, error);
}

/* If the next outlier is at @at, take it from the list; fail if the list has no end mark. */
static bool take_next_outlier_if_at_sample(struct series *series, u64 at, u64 *value)
{
	if (*series_index_word_ptr(&series->outliers, series->next, false) != at)
		return false;
	*value = *series_index_word_ptr(&series->outliers, series->next + 1, false);
	series->next += 2;
	return true;
}

/* Compare a block that was read with the original samples, even if its index entry is damaged. */
static void compare_block_with_original(struct series *series, u64 number,
					struct app_result *result)
{
	u64 least = *series_index_word_ptr(&series->index, 2 * number, false), value;
	u64 span = *series_index_word_ptr(&series->index, 2 * number + 1, false);
	u64 first = number * BLOCK_SAMPLES, before = 0;
	u32 i;

	for (i = 0; i < BLOCK_SAMPLES && first + i < series->setup.size; i++) {
		if (!take_next_outlier_if_at_sample(series, first + i, &value)) {
			result->repaired += series->stored[i] > span;
			if (series->stored[i] <= span)
				before = series->stored[i];
			value = least + before;
		}
		result->absolute += fabs((double)(s64)value -
					 (double)original_sample(&series->setup, first + i));
	}
	result->samples += i;
}

static int compute_series(const struct app_place *place, const struct app_setup *setup,
			  struct app_result *result, struct aftl_error *error)
{
	struct series series;
	int ret;

	alloc_series_buffers(&series, setup);
	ret = app_file_open(&series.file, place, SAMPLES_NAME, APPROXFTL_APPROXIMATE, error);
	if (!ret)
		ret = app_file_has_length(&series.file, get_sample_file_bytes(setup), error);
	if (!ret)
		ret = open_series_indices(&series, array_open, place, error);
	for (u64 number = 0; !ret && number < count_series_blocks(setup); number++) {
		ret = app_file_read(&series.file, series.stored, HEADER_BYTES + number * FILE_UNIT,
				    FILE_UNIT, error);
		if (!ret)
			compare_block_with_original(&series, number, result);
	}
	return close_series_arrays(&series, ret, error);
}

static int check_series_result(const struct app_place *place, const struct app_setup *setup,
			       struct app_result *result, struct aftl_error *error)
{
	struct app_result again = { 0 };
	int ret = compute_series(place, setup, &again, error);

	result->error = again.absolute;
	result->repaired = again.repaired;
	return ret;
}

/*
 * Add the error of each bit flip that is possible in a sample: the weight of the bit or, if the
 * flipped sample is invalid, the distance to the previous sample, which replaces it.
 */
static void forecast_sample_error(u16 sample, u16 before, u64 span, struct app_forecast *forecast)
{
	for (unsigned int bit = 0; bit < SAMPLE_BITS; bit++) {
		u16 flipped = sample ^ (u16)(1 << bit);
		double off = abs((flipped > span ? before : flipped) - sample);

		forecast->mean += off;
		forecast->variance += off * off;
	}
}

static void forecast_block_error(const struct block *block, struct app_forecast *forecast)
{
	u16 before = 0;

	for (u32 i = 0; i < block->count; i++) {
		if (block->is_outlier[i])
			continue;
		forecast_sample_error(encode_sample(block, i), before, block->span, forecast);
		before = encode_sample(block, i);
	}
}

static bool forecast_series_error(const struct app_setup *setup, struct app_forecast *forecast)
{
	double samples = (double)setup->size;
	struct block block;

	*forecast = (struct app_forecast){ 0 };
	for (u64 number = 0; number < count_series_blocks(setup); number++) {
		fill_sample_block(setup, number, &block);
		forecast_block_error(&block, forecast);
	}
	forecast->mean /= samples;
	forecast->variance /= samples * samples;
	return true;
}

const struct app app_log = {
	.name = "log",
	.summary = "a series of samples with outliers",
	.measure = MEASURE_SERIES,
	.check = "sum of absolute differences from the original",
	.sizes = "size is at most 2^30",
	.usual = { .size = 1 << 20, .seed = 1 },
	.inputs = { { SAMPLES_NAME, APPROXFTL_APPROXIMATE }, { "index", APPROXFTL_PRECISE },
		    { "outliers", APPROXFTL_PRECISE } },
	.refuses = is_series_size_invalid,
	.create = create_series,
	.compute = compute_series,
	.check_result = check_series_result,
	.forecast = forecast_series_error,
};
