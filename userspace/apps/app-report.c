// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "human-units.h"
#include "json-envelope.h"
#include "app-run.h"
#include "text-table.h"

static double compute_psnr_db(double get_mean_square_error)
{
	return 10 * log10(255 * 255 / get_mean_square_error);
}

static double get_mean_square_error(const struct app_result *result)
{
	return result->squared / (double)result->pixels;
}

static double get_mean_window_similarity(const struct app_result *result)
{
	return result->similarity / (double)result->windows;
}

static double get_mean_square_coding_error(const struct app_result *result)
{
	return result->coding / (double)result->pixels;
}

static double mean_absolute_error(const struct app_result *result)
{
	return result->absolute / (double)result->samples;
}

/* Return: the number of frames in the longest group of frames of the video. */
static u64 count_frames_of_longest_gop(const struct app_run *run)
{
	return min(run->setup.group, run->setup.frames);
}

static double square_error_of_position(const struct app_run *run, u64 position)
{
	u64 frames = (run->setup.frames - position - 1) / run->setup.group + 1;

	return run->result.by_position[position] /
	       (double)(frames * run->setup.width * run->setup.height);
}

static void print_picture_quality(struct text_table *table, const struct app_run *run)
{
	if (run->result.squared > 0)
		table_add_titled_value(table, "PSNR", "%.2f dB",
				       compute_psnr_db(get_mean_square_error(&run->result)));
	else
		table_add_titled_value(table, "PSNR", "infinite");
	if (run->expected > 0)
		table_add_titled_value(table, "  to be expected of the flipped bits", "%.2f dB",
				       compute_psnr_db(run->expected));
	table_add_titled_value(table, "SSIM", "%.5f", get_mean_window_similarity(&run->result));
	if (run->result.coding > 0)
		table_add_titled_value(table, "PSNR of the form without errors", "%.2f dB",
				       compute_psnr_db(get_mean_square_coding_error(&run->result)));
	if (run->setup.group)
		table_add_titled_value(table, "mean square of the first and the last of a group",
				       "%.4g, %.4g", square_error_of_position(run, 0),
				       square_error_of_position(run,
								count_frames_of_longest_gop(run) -
									1));
}

static void print_series_quality(struct text_table *table, const struct app_run *run)
{
	table_add_titled_value(table, "samples that could not be", "%llu",
			       (unsigned long long)run->result.repaired);
	table_add_titled_value(table, "mean absolute error", "%.5g",
			       mean_absolute_error(&run->result));
	if (run->expected > 0)
		table_add_titled_value(table, "  to be expected of the flipped bits", "%.5g",
				       run->expected);
}

static void print_relative_error(struct text_table *table, const struct app_run *run)
{
	table_add_titled_value(table, "values that were no values", "%llu",
			       (unsigned long long)run->result.repaired);
	table_add_titled_value(table, "relative error of the result", "%.3g", run->result.distance);
}

static void print_result_quality(struct text_table *table, const struct app_run *run)
{
	static void (*const print[])(struct text_table *table, const struct app_run *run) = {
		[MEASURE_NUMBERS] = print_relative_error,
		[MEASURE_PICTURES] = print_picture_quality,
		[MEASURE_SERIES] = print_series_quality,
	};

	print[run->options->app->measure](table, run);
}

static void print_app_time(struct text_table *table, const char *title, u64 ns)
{
	char text[HUMAN_SIZE];

	human_format_time(text, ns);
	table_add_titled_value(table, title, "%s", text);
}

void app_run_print(const struct app_run *run)
{
	struct text_table table;

	printf("%s: %s\n", run->options->app->name, run->options->app->summary);
	if (!run->active && !run->options->precise)
		puts("no device of dm-approxftl here: all data are precise");
	text_table_begin(&table, 2, 1);
	if (has_app_run_write_phase(run))
		print_app_time(&table, "write", run->write_ns);
	if (has_app_run_compute_phase(run)) {
		char text[HUMAN_SIZE];

		print_app_time(&table, run->options->app->output ? "compute" : "read",
			       run->compute_ns);
		human_format_bytes(text, run->flips.approximate_bytes);
		table_add_titled_value(&table, "approximate data", "%s", text);
		table_add_titled_value(&table, "flipped bits in them", "%llu",
				       (unsigned long long)run->flips.flipped);
		if (run->active)
			table_add_titled_value(&table, "  as the device reports", "%llu",
					       (unsigned long long)run->reported.flipped_bits);
		table_add_titled_value(&table, "flipped bits in headers and indices", "%llu",
				       (unsigned long long)run->flips.damaged);
		print_result_quality(&table, run);
	}
	text_table_print_and_free(&table, stdout);
	if (has_app_run_compute_phase(run))
		printf("precise run: %s: %.3g, at most %.3g\n", run->options->app->check,
		       run->precise.error, run->precise.tolerance);
}

/* Write a finite, non-negative number as JSON; values above 1e19 / 10^@decimals are limited. */
static void write_double_json(struct json_writer *json, const char *key, double value,
			      unsigned int decimals)
{
	double scaled = round(value * pow(10, decimals));

	json_decimal(json, key, scaled < 1e19 ? (u64)scaled : 10000000000000000000ULL, decimals);
}

static void write_decibel_json(struct json_writer *json, const char *key, double square)
{
	if (square > 0)
		write_double_json(json, key, compute_psnr_db(square), 4);
	else
		json_null(json, key);
}

static void write_setup_json(struct json_writer *json, const struct app_run *run)
{
	struct app_setup setup = run->setup;

	json_begin_object(json, "parameters");
	for (unsigned int i = 0; i < APP_PARAMETERS; i++)
		if (*get_setup_parameter(&setup, i))
			json_u64(json, app_parameters[i].name, *get_setup_parameter(&setup, i));
	json_end_object(json);
}

static void write_flips_json(struct json_writer *json, const struct app_run *run)
{
	json_begin_object(json, "inputs");
	json_u64(json, "total_bytes", run->flips.bytes);
	json_u64(json, "approximate_bytes", run->flips.approximate_bytes);
	json_u64(json, "flipped_bits", run->flips.flipped);
	json_u64(json, "damaged_precise_bits", run->flips.damaged);
	json_end_object(json);
	if (!run->active)
		return;
	json_begin_object(json, "reported");
	json_u64(json, "units", run->reported.units);
	json_u64(json, "approximate_units", run->reported.approximate_units);
	json_u64(json, "flipped_units", run->reported.flipped_units);
	json_u64(json, "unmodelled_units", run->reported.unmodelled_units);
	json_u64(json, "flipped_bits", run->reported.flipped_bits);
	json_end_object(json);
}

static void write_numeric_quality_json(struct json_writer *json, const struct app_run *run)
{
	write_double_json(json, "relative_error", run->result.distance, 12);
	json_u64(json, "repaired_values", run->result.repaired);
}

static void write_picture_quality_json(struct json_writer *json, const struct app_run *run)
{
	write_double_json(json, "mean_square_error", get_mean_square_error(&run->result), 6);
	write_decibel_json(json, "psnr_db", get_mean_square_error(&run->result));
	if (run->expected > 0) {
		write_decibel_json(json, "expected_psnr_db", run->expected);
		write_double_json(json, "expected_mean_square_error", run->expected, 6);
		write_double_json(json, "expected_deviation", run->deviation, 6);
	}
	write_double_json(json, "ssim", fmax(0, get_mean_window_similarity(&run->result)), 6);
	if (run->result.coding > 0)
		write_decibel_json(json, "coding_psnr_db",
				   get_mean_square_coding_error(&run->result));
	if (run->setup.group) {
		json_begin_array(json, "mean_square_by_position");
		for (u64 position = 0; position < count_frames_of_longest_gop(run); position++)
			write_double_json(json, NULL, square_error_of_position(run, position), 6);
		json_end_array(json);
	}
}

static void write_series_quality_json(struct json_writer *json, const struct app_run *run)
{
	write_double_json(json, "mean_absolute_error", mean_absolute_error(&run->result), 6);
	if (run->expected > 0) {
		write_double_json(json, "expected_mean_absolute_error", run->expected, 6);
		write_double_json(json, "expected_deviation", run->deviation, 6);
	}
	json_u64(json, "repaired_values", run->result.repaired);
}

static void write_quality_json(struct json_writer *json, const struct app_run *run)
{
	static void (*const write[])(struct json_writer *json, const struct app_run *run) = {
		[MEASURE_NUMBERS] = write_numeric_quality_json,
		[MEASURE_PICTURES] = write_picture_quality_json,
		[MEASURE_SERIES] = write_series_quality_json,
	};

	json_begin_object(json, "quality");
	write[run->options->app->measure](json, run);
	json_end_object(json);
}

void app_run_print_json(const struct app_run *run, FILE *out, int argc, char **argv)
{
	const struct app_options *options = run->options;
	struct json_writer json;

	json_envelope_begin_for_verb(&json, out, "app", argc, argv);
	json_string(&json, "app", options->app->name);
	json_string(&json, "phase", app_phases[options->phase]);
	json_string(&json, "io", app_ios[options->io]);
	json_bool(&json, "declared_approximate", !options->precise);
	json_bool(&json, "device_active", run->active);
	write_setup_json(&json, run);
	if (has_app_run_write_phase(run))
		json_u64(&json, "write_ns", run->write_ns);
	if (has_app_run_compute_phase(run)) {
		json_u64(&json, "compute_ns", run->compute_ns);
		write_flips_json(&json, run);
		write_quality_json(&json, run);
		json_begin_object(&json, "check");
		json_string(&json, "of", run->options->app->check);
		write_double_json(&json, "error", run->precise.error, 15);
		write_double_json(&json, "tolerance", run->precise.tolerance, 15);
		json_bool(&json, "passed", did_app_run_pass_checks(run));
		json_end_object(&json);
	}
	json_envelope_end(&json);
}
