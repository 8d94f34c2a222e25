/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports of results, as a table or as JSON. */
#ifndef AFTL_REPORT_H
#define AFTL_REPORT_H

#include <stdio.h>

#include "human-units.h"
#include "json-writer.h"
#include "run.h"

/**
 * struct sim_failure - a run without a result
 * @policy: name of its policy; NULL: the policy that a device file names
 * @seed: seed of its device
 * @why: error message
 */
struct sim_failure {
	const char *policy;
	u64 seed;
	char why[sizeof(((struct aftl_error *)NULL)->text)];
};

/**
 * struct sim_report - contents of a report
 * @options: options of the command line
 * @argc: argument count of the whole command
 * @argv: arguments of the whole command
 * @results: a result for each completed run, grouped by seed
 * @count: number of results
 * @failures: one for each run without a result
 * @failed: number of failures
 * @interrupted: the command was interrupted before all runs were complete
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

void sim_report_print_table(const struct sim_report *report, FILE *out);
/* Write the JSON that --block-table and --page-map request: states of blocks and pages. */
void sim_report_write_media_json(struct json_writer *json, const struct sim_result *result);
void sim_report_write_json(const struct sim_report *report, FILE *out);

/* Wear of a full erase, which is the scale of all wear counters. */
#define SIM_FULL_WEAR 10000

/* Names that the table and the JSON report use, from report-names.c. */

extern const char *const sim_mode_names[];
extern const char *const sim_class_names[];
extern const char *const sim_zone_names[];

/**
 * struct sim_timing - a distribution of times
 * @name: JSON key; the table shows it with spaces instead of underscores
 * @offset: offset of its histogram in struct aftl_stats
 */
struct sim_timing {
	const char *name;
	size_t offset;
};

extern const struct sim_timing sim_timings[];
extern const unsigned int sim_timing_count;

static inline const struct aftl_histogram *sim_get_timing_histogram(const struct sim_result *result,
								    unsigned int index)
{
	return (const void *)((const char *)&result->stats + sim_timings[index].offset);
}

/* Causes of programmed units: those of enum aftl_cause, then padding of partly filled pages. */
#define SIM_PADDING AFTL_CAUSES
#define SIM_CAUSES (SIM_PADDING + 1)

extern const char *const sim_cause_names[];
u64 sim_get_units_programmed_for_cause(const struct aftl_counters *counters, unsigned int cause);
u64 sim_sum_programmed_units(const struct aftl_counters *counters);

/*
 * Return the bytes programmed for one cause, or for all causes, per byte that the host wrote, in
 * 1/10000. @unit_bytes is the size of a unit; 0 if the host wrote whole units only.
 */
u64 sim_get_write_amplification_by_cause(const struct aftl_counters *counters, unsigned int cause,
					 u32 unit_bytes);
u64 sim_get_write_amplification(const struct aftl_counters *counters, u32 unit_bytes);

/*
 * Return true if a run on a filled or loaded device programmed free blocks and erased far fewer, so
 * that it shows little of garbage collection.
 */
bool sim_did_run_use_up_free_blocks(const struct sim_result *result);

#endif
