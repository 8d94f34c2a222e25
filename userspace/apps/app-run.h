/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole run of a program: its phases, the precise run, and what comes out.
 */
#ifndef AFTL_APPS_APP_RUN_H
#define AFTL_APPS_APP_RUN_H

#include "app-options.h"
#include "exit-codes.h"
#include "flips.h"

/**
 * struct app_run - what a run was
 * @options: what was asked for
 * @setup: parameters, as the files say
 * @active: whether there is a device that listens
 * @write_ns: time of the first phase
 * @compute_ns: time of the second phase
 * @result: of the second phase
 * @precise: of the precise run; error and tolerance only
 * @flips: bits that differ from what was written
 * @reported: what the device says of them
 * @expected: quality that they predict, in the unit of the measure; 0 where they do not
 * @deviation: standard deviation of that
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

static inline bool run_wrote(const struct app_run *run)
{
	return run->options->phase != PHASE_COMPUTE;
}

static inline bool run_computed(const struct app_run *run)
{
	return run->options->phase != PHASE_WRITE;
}

/* Whether the precise run has given the right result, and headers and indices are whole. */
bool run_verified(const struct app_run *run);

/* Return: 0 or a negative error code with a sentence. */
int __must_check run_app(struct app_run *run, const struct app_options *options,
			 struct aftl_error *error);

/* For a person. */
void run_print(const struct app_run *run);

/* For a program. @argv: what the command was called with. */
void run_print_json(const struct app_run *run, FILE *out, int argc, char **argv);

#endif
