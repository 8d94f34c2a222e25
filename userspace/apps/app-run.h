/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a program: its phases, the precise run, and the comparison of the results.
 */
#ifndef AFTL_APPS_APP_RUN_H
#define AFTL_APPS_APP_RUN_H

#include "app-options.h"
#include "exit-codes.h"
#include "flips.h"

/**
 * struct app_run - the outcome of a run
 * @options: options of the user
 * @setup: parameters, from the headers of the files
 * @active: a device with approximate storage is present
 * @write_ns: duration of the first phase
 * @compute_ns: duration of the second phase
 * @result: result of the second phase
 * @precise: result of the precise run; only error and tolerance are used
 * @flips: bits that differ from the written data
 * @reported: flipped bits according to the device
 * @expected: quality predicted from @flips, in the unit of the measure; 0 if there is no
 *	prediction
 * @deviation: standard deviation of @expected
 */
struct app_run {
	const struct app_options *options;
	struct app_setup setup;
	bool active;
	u64 write_ns;
	u64 compute_ns;
	struct app_result result;
	struct app_result precise;
	struct app_flips flips;
	struct approxftl_errors reported;
	double expected;
	double deviation;
};

static inline bool has_app_run_write_phase(const struct app_run *run)
{
	return run->options->phase != PHASE_COMPUTE;
}

static inline bool has_app_run_compute_phase(const struct app_run *run)
{
	return run->options->phase != PHASE_WRITE;
}

/* Return true if the precise run's result is right, and headers and indices are undamaged. */
bool did_app_run_pass_checks(const struct app_run *run);

/* Run the program that @options select. Return: 0, or a negative error number with a message. */
int __must_check run_app(struct app_run *run, const struct app_options *options,
			 struct aftl_error *error);

/* Print the report as text. */
void app_run_print(const struct app_run *run);

/* Print the report of the run as JSON. @argv: the command line. */
void app_run_print_json(const struct app_run *run, FILE *out, int argc, char **argv);

#endif
