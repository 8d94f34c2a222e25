/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results for a person and for a program.
 */
#ifndef AFTL_REPORT_H
#define AFTL_REPORT_H

#include <stdio.h>

#include "human-units.h"
#include "json-writer.h"
#include "run.h"

/**
 * struct sim_failure - a run that has no result
 * @policy: its name, or NULL: a device from a file brings its own
 * @seed: of its device
 * @why: a sentence
 */
struct sim_failure {
	const char *policy;
	u64 seed;
	char why[sizeof(((struct aftl_error *)NULL)->text)];
};

/**
 * struct sim_report - everything that a report says
 * @options: of the command line
 * @argc: of the whole command
 * @argv: of the whole command
 * @results: one for each run that was done, those with the same seed side by side
 * @count: how many
 * @failures: one for each run that was to be, and has no result
 * @failed: how many
 * @interrupted: before all were done
 */
struct sim_report {
	const struct sim_options *options;
	int argc;
	char **argv;
	const struct sim_result *results;
	unsigned int count;
	const struct sim_failure *failures;
	unsigned int failed;
	bool interrupted;
};

void sim_report_table(const struct sim_report *report, FILE *out);
/* The parts that --block-table and --page-map ask for. */
void sim_report_media(struct json_writer *json, const struct sim_result *result);
void sim_report_json(const struct sim_report *report, FILE *out);

/* Wear counts in this part of a full erase. */
#define SIM_FULL_WEAR 10000

/* Names that both reports use: report-names.c */

extern const char *const sim_mode_names[];
extern const char *const sim_class_names[];
extern const char *const sim_zone_names[];

/**
 * struct sim_timing - one distribution of times
 * @name: key and, with spaces for underscores, title
 * @offset: of its histogram in struct aftl_stats
 */
struct sim_timing {
	const char *name;
	size_t offset;
};

extern const struct sim_timing sim_timings[];
extern const unsigned int sim_timing_count;

static inline const struct aftl_histogram *sim_timing_of(const struct sim_result *result,
							 unsigned int index)
{
	return (const void *)((const char *)&result->stats + sim_timings[index].offset);
}

/* Units programmed for each cause, in the order of enum aftl_cause, then padding. */
#define SIM_CAUSES (AFTL_CAUSES + 1)

extern const char *const sim_cause_names[];
u64 sim_cause_units(const struct aftl_counters *counters, unsigned int cause);
u64 sim_programmed_units(const struct aftl_counters *counters);

/* Programmed units for each unit written, in 1/10000: for one cause, and for all of them. */
u64 sim_amplification_by(const struct aftl_counters *counters, unsigned int cause);
u64 sim_amplification(const struct aftl_counters *counters);

#endif
