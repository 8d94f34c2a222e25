// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl sim": the policies one after the other, then the reports.
 */
#include <stdlib.h>

#include "checked-memory.h"
#include "complain.h"
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

static int write_json(const struct sim_report *report)
{
	const char *path = report->options->json;
	FILE *out = strcmp(path, "-") ? fopen(path, "w") : stdout;
	bool failed;

	if (!out) {
		complain("%s: cannot create: %s", path, strerror(errno));
		return -EIO;
	}
	sim_report_json(report, out);
	failed = fflush(out) || ferror(out);
	if (out != stdout)
		failed |= fclose(out) != 0;
	if (failed)
		complain("%s: cannot write", path);
	return failed ? -EIO : 0;
}

/* What wants standard output for itself gets it. */
static bool table_wanted(const struct sim_options *options)
{
	return !options->quiet && !(options->json && !strcmp(options->json, "-")) &&
	       !(options->record && !strcmp(options->record, "-"));
}

static enum exit_code report(const struct sim_report *all, enum exit_code code)
{
	if (!all->count)
		return code;
	if (!all->options->quiet)
		warn_of_misfits(&all->results[0].notes);
	if (table_wanted(all->options))
		sim_report_table(all, stdout);
	if (all->options->json && write_json(all))
		return EXIT_FAILED;
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
		if (code == EXIT_INTERRUPTED || sim_interrupted())
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

static enum exit_code run_and_report(const struct sim_options *options, int argc, char **argv)
{
	struct sim_result *results = memory_zeroed(SIM_POLICIES, sizeof(*results));
	struct sim_report all = {
		.options = options,
		.argc = argc,
		.argv = argv,
		.results = results,
	};
	struct timeline *timeline = NULL;
	struct aftl_error error;
	enum exit_code code;
	unsigned int i;

	if (options->timeline &&
	    timeline_create(&timeline, options->timeline, argc, argv, &error)) {
		complain("%s", error.text);
		free(results);
		return EXIT_FAILED;
	}
	/* A policy that fails does not take the results of those before it along. */
	code = run_policies(options, timeline, results, &all.count);
	all.interrupted = code == EXIT_INTERRUPTED || !has_result(code);
	code = finish_timeline(timeline, report(&all, code));
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
	sim_catch_interrupt();
	return run_and_report(&options, argc, argv);
}
