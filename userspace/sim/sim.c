// SPDX-License-Identifier: GPL-2.0-only
/*
 * "approxftl sim": the policies one after the other, then the reports.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "checked-memory.h"
#include "complain.h"
#include "file-claims.h"
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

/* Of a run that is not like its rest, or never came to be like anything. */
static void warn_of_warmup(const struct sim_result *result)
{
	struct settling_verdict verdict = settling_judge(&result->settling);
	u64 all = result->warmup_requests + result->requests;
	u64 longer = result->warmup_requests + verdict.cut;

	if (!verdict.known || verdict.off < SETTLING_MATTERS)
		return;
	if (verdict.settled)
		complain("warning: %s: its begin puts the mean off by %llu.%llu %%: --warmup=%llu",
			 result->policy->name, (unsigned long long)verdict.off / 100,
			 (unsigned long long)verdict.off / 10 % 10,
			 (unsigned long long)longer);
	else
		complain("warning: %s: still drifting: at least %llu requests of warm-up",
			 result->policy->name, (unsigned long long)all);
}

static void warn(const struct sim_report *all)
{
	unsigned int i;

	warn_of_misfits(&all->results[0].notes);
	for (i = 0; i < all->count; i++)
		warn_of_warmup(&all->results[i]);
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
		warn(all);
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

/**
 * struct policies - the runs under way
 * @results: of those that have one
 * @count: how many
 * @failures: of the others
 * @failed: how many
 * @worst: how the command ends
 */
struct policies {
	struct sim_result *results;
	unsigned int count;
	struct sim_failure *failures;
	unsigned int failed;
	enum exit_code worst;
};

static const char *policy_name(const struct sim_options *options, unsigned int i)
{
	return options->policies[i] ? options->policies[i]->name : "from a file";
}

static void note_failure(struct policies *all, const char *policy, const char *why)
{
	struct sim_failure *failure = &all->failures[all->failed++];

	failure->policy = policy;
	scnprintf(failure->why, sizeof(failure->why), "%s", why);
}

static void run_policy(struct policies *all, const struct sim_options *options, unsigned int i,
		       struct timeline *timeline)
{
	struct sim_result *result = &all->results[all->count];
	struct aftl_error error;
	enum exit_code code;

	if (options->raid)
		code = sim_raid_run(options, options->policies[i], result, &error);
	else
		code = sim_run(options, options->policies[i], timeline, result, &error);
	if (code && code != EXIT_INTERRUPTED)
		complain("%s", error.text);
	if (has_result(code))
		all->count++;
	else
		note_failure(all, policy_name(options, i), error.text);
	all->worst = code ? code : all->worst;
}

/* A policy that fails does not take the results of the others along. */
static void run_policies(struct policies *all, const struct sim_options *options,
			 struct timeline *timeline)
{
	unsigned int i;

	for (i = 0; i < max(options->policy_count, 1U); i++) {
		if (interrupted())
			note_failure(all, policy_name(options, i), "interrupted before it began");
		else
			run_policy(all, options, i, timeline);
	}
	if (interrupted() && (all->count || !all->worst))
		all->worst = EXIT_INTERRUPTED;
}

/* What is left out is said, for the picture looks complete. */
static enum exit_code finish_timeline(struct timeline *timeline, enum exit_code code)
{
	u64 omitted = timeline_omitted(timeline);
	struct aftl_error error;

	if (omitted)
		complain("note: --timeline has the first %u operations; %llu more are not in it",
			 TIMELINE_EVENTS, (unsigned long long)omitted);
	if (!timeline_finish(timeline, interrupted(), &error))
		return code;
	complain("%s", error.text);
	return code ? code : EXIT_FAILED;
}

/* All of them, before the first is touched: those of a run begin with it. */
static int claim_files(const struct sim_options *options, struct aftl_error *error)
{
	int ret = options->trace ? claim_input(options->trace, error) : 0;

	if (!ret && options->load)
		ret = claim_input(options->load, error);
	if (!ret && options->record)
		ret = claim_output(options->record, "--record", error);
	return !ret && options->dump ? claim_output(options->dump, "--dump", error) : ret;
}

static int open_outputs(struct outputs *outputs, const struct sim_options *options, int argc,
			char **argv)
{
	struct aftl_error error;
	int ret = claim_files(options, &error);

	if (!ret && options->json)
		ret = output_file_open(&outputs->json, options->json, "--json", true, &error);
	if (!ret && options->timeline)
		ret = timeline_create(&outputs->timeline, options->timeline, argc, argv, &error);
	if (ret)
		complain("%s", error.text);
	return ret;
}

static enum exit_code report_runs(const struct policies *run, struct outputs *outputs,
				  const struct sim_options *options, int argc, char **argv)
{
	const struct sim_report all = {
		.options = options,
		.argc = argc,
		.argv = argv,
		.results = run->results,
		.count = run->count,
		.failures = run->failures,
		.failed = run->failed,
		.interrupted = interrupted() || run->failed,
	};

	return finish_timeline(outputs->timeline, report(&all, &outputs->json, run->worst));
}

static enum exit_code run_and_report(const struct sim_options *options, int argc, char **argv)
{
	struct policies run = {
		.results = memory_zeroed(SIM_POLICIES, sizeof(*run.results)),
		.failures = memory_zeroed(SIM_POLICIES, sizeof(*run.failures)),
	};
	struct outputs outputs = { .timeline = NULL };
	enum exit_code code;
	unsigned int i;

	if (open_outputs(&outputs, options, argc, argv)) {
		code = EXIT_FAILED;
	} else {
		run_policies(&run, options, outputs.timeline);
		code = report_runs(&run, &outputs, options, argc, argv);
	}
	output_file_drop(&outputs.json);
	for (i = 0; i < run.count; i++)
		sim_result_release(&run.results[i]);
	free(run.results);
	free(run.failures);
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
	if (options.dry_run)
		return EXIT_DONE;
	if (options.die_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	interruption_catch();
	return run_and_report(&options, argc, argv);
}
