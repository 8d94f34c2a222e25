// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl sim": the policies one after the other, then the reports.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
#include "interruption.h"
#include "output-file.h"
#include "raid.h"
#include "report.h"
#include "sim.h"

static void warn_of_misfits(const struct sim_notes *notes)
{
	if (notes->wrapped)
		complain("warning: %llu requests were beyond the capacity and were taken modulo it",
			 (unsigned long long)notes->wrapped);
	if (notes->clipped)
		complain("warning: %llu requests were larger than the device and were cut",
			 (unsigned long long)notes->clipped);
	if (notes->widened)
		complain("note: %llu requests were widened to whole mapping units",
			 (unsigned long long)notes->widened);
	if (notes->unknown_class)
		complain("note: %llu writes of an unknown tag class were taken as precise",
			 (unsigned long long)notes->unknown_class);
}

/**
 * struct outputs - files that are open from the begin on, so that a wrong name costs nothing
 * @json: of --json
 * @timeline: of --timeline, or NULL
 */
struct outputs {
	struct output_file json;
	struct timeline *timeline;
};

static int write_json(const struct sim_report *report, struct output_file *json)
{
	struct aftl_error error;
	int ret;

	sim_report_json(report, json->stream);
	ret = output_file_close(json, &error);
	if (ret)
		complain("%s", error.text);
	return ret;
}

/* What wants standard output for itself gets it. */
static bool table_wanted(const struct sim_options *options)
{
	return !options->quiet && !(options->json && !strcmp(options->json, "-")) &&
	       !(options->record && !strcmp(options->record, "-"));
}

/* The file first: whoever reads the table may leave. */
static enum exit_code report(const struct sim_report *all, struct output_file *json,
			     enum exit_code code)
{
	if (!all->count)
		return code;
	if (!all->options->quiet)
		warn_of_misfits(&all->results[0].notes);
	if (json->stream && write_json(all, json))
		code = EXIT_FAILED;
	if (table_wanted(all->options))
		sim_report_table(all, stdout);
	return code;
}

static bool has_result(enum exit_code code)
{
	return code == EXIT_DONE || code == EXIT_NOT_VERIFIED || code == EXIT_INTERRUPTED;
}

static enum exit_code run_policies(const struct sim_options *options, struct timeline *timeline,
				   struct sim_result *results, unsigned int *count)
{
	enum exit_code worst = EXIT_DONE;
	unsigned int i;

	for (i = 0; i < max(options->policy_count, 1U); i++) {
		struct aftl_error error;
		enum exit_code code;

		if (options->raid)
			code = sim_raid_run(options, options->policies[i], &results[i], &error);
		else
			code = sim_run(options, options->policies[i], timeline, &results[i],
				       &error);

		if (code && code != EXIT_INTERRUPTED)
			complain("%s", error.text);
		if (!has_result(code))
			return code;
		++*count;
		worst = code ? code : worst;
		if (code == EXIT_INTERRUPTED || interrupted())
			break;
	}
	return worst;
}

/* What is left out is said, for the picture looks complete. */
static enum exit_code finish_timeline(struct timeline *timeline, enum exit_code code)
{
	u64 omitted = timeline_omitted(timeline);
	struct aftl_error error;

	if (omitted)
		complain("note: --timeline has the first %u operations; %llu more are not in it",
			 TIMELINE_EVENTS, (unsigned long long)omitted);
	if (!timeline_finish(timeline, &error))
		return code;
	complain("%s", error.text);
	return code ? code : EXIT_FAILED;
}

static int open_outputs(struct outputs *outputs, const struct sim_options *options, int argc,
			char **argv)
{
	struct aftl_error error;
	int ret = 0;

	if (options->json)
		ret = output_file_open(&outputs->json, options->json, true, &error);
	if (!ret && options->timeline)
		ret = timeline_create(&outputs->timeline, options->timeline, argc, argv, &error);
	if (ret)
		complain("%s", error.text);
	return ret;
}

static enum exit_code run_and_report(const struct sim_options *options, int argc, char **argv)
{
	struct sim_result *results = memory_zeroed(SIM_POLICIES, sizeof(*results));
	struct sim_report all = {
		.options = options,
		.argc = argc,
		.argv = argv,
		.results = results,
	};
	struct outputs outputs = { .timeline = NULL };
	enum exit_code code;
	unsigned int i;

	if (open_outputs(&outputs, options, argc, argv)) {
		output_file_drop(&outputs.json);
		free(results);
		return EXIT_FAILED;
	}
	/* A policy that fails does not take the results of those before it along. */
	code = run_policies(options, outputs.timeline, results, &all.count);
	all.interrupted = code == EXIT_INTERRUPTED || !has_result(code);
	code = finish_timeline(outputs.timeline, report(&all, &outputs.json, code));
	output_file_drop(&outputs.json);
	for (i = 0; i < all.count; i++)
		sim_result_release(&results[i]);
	free(results);
	return code;
}

enum exit_code sim_main(int argc, char **argv)
{
	struct sim_options options;
	struct aftl_error error;

	if (sim_options_parse(&options, argc - 2, argv + 2, &error)) {
		complain("%s", error.text);
		return EXIT_USAGE;
	}
	if (options.help) {
		sim_options_help();
		return EXIT_DONE;
	}
	interruption_catch();
	return run_and_report(&options, argc, argv);
}
