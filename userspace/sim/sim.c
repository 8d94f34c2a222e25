// SPDX-License-Identifier: GPL-2.0-only
/* "approxftl sim": perform the runs, then print the reports. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "checked-memory.h"
#include "complain.h"
#include "device-choice.h"
#include "file-claims.h"
#include "interruption.h"
#include "output-file.h"
#include "parallel.h"
#include "raid.h"
#include "report.h"
#include "sharded.h"
#include "shares.h"
#include "sim.h"
#include "trace-import.h"

#define RUN_NAME 64

/* Share of reads of unwritten data, in 1/1000, that causes a warning. */
#define UNWRITTEN_MATTERS 10

/* Watermark of background GC (parameter gc, in 1/10000) up to which it relocates little. */
#define LATE_GC 300

/* Overwrites before the first request that take a second or longer. */
#define LONG_PREPARATION (2U << 20)

/* Padding per byte that the host writes, in 1/10000, that causes a note. */
#define PADDING_MATTERS 2500

/* Include the seed in a run's name if there are several seeds. */
static void format_run_name(const struct sim_options *options, const char *policy, u64 seed,
			    char name[RUN_NAME])
{
	if (options->seed_count > 1)
		scnprintf(name, RUN_NAME, "%s, seed %llu", policy, (unsigned long long)seed);
	else
		scnprintf(name, RUN_NAME, "%s", policy);
}

static void warn_of_unaligned_requests(const struct sim_notes *notes)
{
	if (notes->wrapped)
		complain_as("sim",
			    "warning: %llu requests were beyond the capacity and were taken modulo it",
			    (unsigned long long)notes->wrapped);
	if (notes->clipped)
		complain_as("sim",
			    "warning: %llu requests were larger than the device and were cut",
			    (unsigned long long)notes->clipped);
	if (notes->widened)
		complain_as("sim", "note: %llu requests were widened to whole mapping units",
			    (unsigned long long)notes->widened);
	if (notes->unknown_class)
		complain_as("sim",
			    "note: %llu writes of an unknown tag class were taken as precise",
			    (unsigned long long)notes->unknown_class);
}

/* Warn if the start of a run biases the mean, or if the run never reached a steady state. */
static void warn_of_unsteady_run(const struct sim_options *options, const struct sim_result *result)
{
	char name[RUN_NAME];
	struct settling_verdict verdict = settling_judge(&result->settling);
	u64 all = result->warmup_requests + result->requests;
	u64 longer = result->warmup_requests + verdict.cut;

	if (!verdict.known || verdict.off < SETTLING_MATTERS)
		return;
	format_run_name(options, result->policy->name, result->config.seed, name);
	if (verdict.settled)
		complain_as("sim",
			    "warning: %s: its begin puts the mean off by %llu.%llu %%: --warmup=%llu",
			    name, (unsigned long long)verdict.off / 100,
			    (unsigned long long)verdict.off / 10 % 10,
			    (unsigned long long)longer);
	else
		complain_as("sim", "warning: %s: still drifting: at least %llu requests of warm-up",
			    name, (unsigned long long)all);
}

/* Return the remedy for reads of unwritten data, or "" if --fill has no effect on the device. */
static const char *get_remedy_for_reads_of_unwritten_data(const struct sim_result *result)
{
	const struct aftl_config *config = &result->config;

	if (!result->profile || config->zoned)
		return "";
	if (config->fill == AFTL_FILL_NONE)
		return "; --fill random writes all data first";
	return config->fill_valid < SHARE_WHOLE ? "; --fill-valid 100% writes all data first" : "";
}

/*
 * Return the share of unwritten units among the units read from devices, in 1/1000. An array also
 * reads old data to compute parity, and serves some reads of the host from its stripe cache.
 */
static u64 compute_share_of_unwritten_reads(const struct sim_result *result)
{
	const struct aftl_counters *counters = &result->stats.counters;
	const struct raid_counters *array = &result->raid.counters;
	u64 reads = counters->host_read_units + array->old_units;

	return scaled_ratio(counters->unmapped_read_units, reads - min(array->cached_units, reads),
			    1000);
}

static bool does_run_read_unwritten_data(const struct sim_result *result)
{
	return compute_share_of_unwritten_reads(result) >= UNWRITTEN_MATTERS;
}

/* Return true if much padding was programmed because the device has no write buffer. */
static bool did_run_program_much_padding(const struct sim_result *result)
{
	u64 padding = sim_get_write_amplification_by_cause(&result->stats.counters, SIM_PADDING,
							   result->geo.unit_bytes);

	return !result->config.buffer && padding >= PADDING_MATTERS;
}

static bool is_run_duration_zero(const struct sim_result *result)
{
	return !result->elapsed_ns && result->requests;
}

/*
 * Return the first run for which @matches() is true, or NULL; @name takes its name, and the number
 * of other such runs. All runs have the same requests and starting state, so one warning is enough.
 */
static const struct sim_result *
find_first_matching_run(const struct sim_report *all,
			bool (*matches)(const struct sim_result *result), char name[RUN_NAME])
{
	const struct sim_result *first = NULL;
	unsigned int i, more = 0;
	size_t used;

	for (i = 0; i < all->count; i++) {
		if (!matches(&all->results[i]))
			continue;
		if (first)
			more++;
		else
			first = &all->results[i];
	}
	if (!first)
		return NULL;
	format_run_name(all->options, first->policy->name, first->config.seed, name);
	used = strlen(name);
	if (more)
		scnprintf(name + used, RUN_NAME - used, " and %u more", more);
	return first;
}

/* Warn if many reads hit unwritten data: these take no flash time, so the device looks fast. */
static void warn_of_unwritten_reads(const struct sim_report *all)
{
	char name[RUN_NAME];
	const struct sim_result *result =
		find_first_matching_run(all, does_run_read_unwritten_data, name);
	u64 share;

	if (!result)
		return;
	share = compute_share_of_unwritten_reads(result);
	complain_as("sim",
		    "warning: %s: %llu.%llu %% of reads hit unwritten data and took no flash time%s",
		    name, (unsigned long long)share / 10, (unsigned long long)share % 10,
		    get_remedy_for_reads_of_unwritten_data(result));
}

/* Warn if free blocks made the device look fast: its garbage collection had hardly begun. */
static void warn_of_used_up_free_blocks(const struct sim_report *all)
{
	char name[RUN_NAME], remedy[80];
	const struct sim_result *result =
		find_first_matching_run(all, sim_did_run_use_up_free_blocks, name);
	u64 overwrite, blocks;

	if (!result)
		return;
	overwrite = get_share_to_overwrite_for_steady_state(&result->config, result->units,
							    result->slots);
	blocks = sim_sum_programmed_units(&result->stats.counters) / result->geo.block_ppns;
	if (result->profile && result->config.fill_overwrite < overwrite)
		scnprintf(remedy, sizeof(remedy), "--fill-overwrite %llu%% starts in steady state",
			  (unsigned long long)overwrite / 100);
	else
		scnprintf(remedy, sizeof(remedy), "raise --warmup");
	complain_as("sim",
		    "warning: %s: not in steady state: %llu blocks were written and only %llu erased, so there was little garbage collection; %s",
		    name, (unsigned long long)blocks,
		    (unsigned long long)result->stats.counters.array_erases, remedy);
}

/* Note that writing the starting state takes longer than the run, unless an option asked for it. */
static void print_note_about_long_preparation(const struct sim_report *all)
{
	const struct sim_options *options = all->options;
	const struct sim_result *result = &all->results[0];
	u64 overwritten = result->units * result->config.fill_valid / SHARE_WHOLE *
			  result->config.fill_overwrite / SHARE_WHOLE;

	if (options->load || options->fill_given || options->fill_overwrite_given ||
	    overwritten < LONG_PREPARATION || result->requests > overwritten / 10)
		return;
	complain_as("sim",
		    "note: %llu writes brought the device into steady state, before %llu requests; --fill-overwrite 0%% leaves these writes out, and --dump saves a device for --load",
		    (unsigned long long)overwritten, (unsigned long long)result->requests);
}

static void print_note_about_write_padding(const struct sim_report *all)
{
	char name[RUN_NAME], page[AFTL_VALUE_SIZE], padding[AFTL_VALUE_SIZE], sum[AFTL_VALUE_SIZE];
	const struct sim_result *result =
		find_first_matching_run(all, did_run_program_much_padding, name);
	const struct aftl_counters *counters;
	u32 unit_bytes;

	if (!result)
		return;
	counters = &result->stats.counters;
	unit_bytes = result->geo.unit_bytes;
	format_decimal_number(sim_get_write_amplification_by_cause(counters, SIM_PADDING,
								   unit_bytes) /
				      100,
			      2, padding);
	format_decimal_number(sim_get_write_amplification(counters, unit_bytes) / 100, 2, sum);
	aftl_param_format(aftl_param_at(aftl_param_find("page")), result->config.page, page);
	complain_as("sim",
		    "note: %s: padding is %s of the write amplification of %s: without a write buffer, data that do not fill pages of %s are programmed at once; --buffer 1MiB collects them",
		    name, padding, sum, page);
}

/* Return true if the watermark of background GC exceeds the spare space: GC then never rests. */
static bool does_gc_watermark_exceed_spare_space(const struct sim_result *result)
{
	u64 spare = result->slots - min(result->slots, result->units);

	return result->profile && !result->geo.zones &&
	       result->config.gc * result->slots > SHARE_WHOLE * spare;
}

/*
 * Return true if background GC wrote more than half of the data. A step of emergency GC relocates
 * at most the units of one program, so that all other relocations were background GC.
 */
static bool is_gc_watermark_high(const struct sim_result *result)
{
	const struct aftl_counters *counters = &result->stats.counters;
	u64 urgent = (counters->gc_urgent_steps + counters->gc_paced_steps) *
		     aftl_units_per_program(&result->geo);
	u64 relocated = counters->programmed_gc_units;

	return result->config.gc_idle_limit == AFTL_GC_IDLE_FIXED && result->config.gc > LATE_GC &&
	       !does_gc_watermark_exceed_spare_space(result) && relocated > urgent &&
	       2 * (relocated - urgent) > sim_sum_programmed_units(counters);
}

static void warn_of_gc_watermark(const struct sim_report *all)
{
	char name[RUN_NAME], gc[AFTL_VALUE_SIZE], op[AFTL_VALUE_SIZE];
	const struct sim_result *result =
		find_first_matching_run(all, does_gc_watermark_exceed_spare_space, name);

	if (result) {
		format_decimal_number(result->config.gc, 2, gc);
		format_decimal_number(result->config.op, 2, op);
		complain_as("sim",
			    "warning: %s: gc %s %% of free blocks cannot be reached with op %s %%: garbage is collected without an end; lower gc or raise op",
			    name, gc, op);
	}
	if (find_first_matching_run(all, is_gc_watermark_high, name))
		complain_as("sim",
			    "warning: %s: collection in idle time wrote more than half of the data, because it begins early: --gc_idle_limit adaptive leaves more spare space, for fewer writes to flash",
			    name);
}

static void warn_of_zero_duration(const struct sim_report *all)
{
	char name[RUN_NAME];

	if (find_first_matching_run(all, is_run_duration_zero, name))
		complain_as("sim",
			    "warning: %s: the simulated time is 0: no request waited for flash, link or controller; set --link and --controller, or send more --requests",
			    name);
}

/**
 * struct outputs - output files that are opened before the runs, so that a wrong name is reported
 * at once
 * @json: output of --json
 * @timeline: output of --timeline, or NULL
 */
struct outputs {
	struct output_file json;
	struct timeline *timeline;
};

static int write_report_json(const struct sim_report *report, struct output_file *json)
{
	struct aftl_error error;
	int ret;

	sim_report_write_json(report, json->stream);
	ret = output_file_close(json, &error);
	if (ret)
		complain_as("sim", "%s", error.text);
	return ret;
}

/* --json or --record to standard output replaces the table. */
static bool is_result_table_wanted(const struct sim_options *options)
{
	return !options->quiet && !(options->json && !strcmp(options->json, "-")) &&
	       !(options->record && !strcmp(options->record, "-"));
}

/* Write the JSON file before the table: a closed pipe on standard output must not prevent it. */
static enum exit_code print_sim_warnings_and_report(const struct sim_report *all,
						    struct output_file *json, enum exit_code code)
{
	if (!all->count)
		return code;
	if (!all->options->quiet) {
		warn_of_unaligned_requests(&all->results[0].notes);
		for (unsigned int i = 0; i < all->count; i++)
			warn_of_unsteady_run(all->options, &all->results[i]);
		warn_of_used_up_free_blocks(all);
		warn_of_unwritten_reads(all);
		print_note_about_long_preparation(all);
		print_note_about_write_padding(all);
		warn_of_gc_watermark(all);
		warn_of_zero_duration(all);
	}
	if (json->stream && write_report_json(all, json))
		code = EXIT_FAILED;
	if (is_result_table_wanted(all->options))
		sim_report_print_table(all, stdout);
	return code;
}

/**
 * struct runs - outcomes of all runs
 * @results: results of the successful runs
 * @count: number of results
 * @failures: runs without a result
 * @failed: number of failures
 * @worst: exit code of the command
 */
struct runs {
	struct sim_result *results;
	unsigned int count;
	struct sim_failure *failures;
	unsigned int failed;
	enum exit_code worst;
};

/* Runs are numbered by seed, then by policy. */
static unsigned int get_policy_of_run(const struct sim_options *options, unsigned int index)
{
	return index % max(options->policy_count, 1U);
}

static u64 get_seed_of_run(const struct sim_options *options, unsigned int index)
{
	return options->seed_count ? options->seeds[index / max(options->policy_count, 1U)] :
				     options->params.seed;
}

static const char *get_policy_name_of_run(const struct sim_options *options, unsigned int index)
{
	const struct aftl_policy_type *type = options->policies[get_policy_of_run(options, index)];

	return type ? type->name : "from a file";
}

static void run_single_simulation(const struct sim_options *options, unsigned int index,
				  struct timeline *timeline, struct sim_outcome *outcome)
{
	const struct aftl_policy_type *policy =
		options->policies[get_policy_of_run(options, index)];
	struct sim_options own = *options;

	own.params.seed = get_seed_of_run(options, index);
	if (own.raid)
		outcome->code = sim_raid_run(&own, policy, &outcome->result, &outcome->error);
	else if (own.params.shards > 1)
		outcome->code = sim_sharded_run(&own, policy, &outcome->result, &outcome->error);
	else
		outcome->code = sim_run(&own, policy, timeline, &outcome->result,
					&outcome->error);
}

static void run_simulation_in_child(const struct sim_options *options, unsigned int index,
				    struct sim_outcome *outcome)
{
	run_single_simulation(options, index, NULL, outcome);
}

/* Describe the failure of a child process that ended without reporting an error. */
static void report_child_failure(const struct sim_options *options, unsigned int index,
				 struct sim_outcome *outcome)
{
	char name[RUN_NAME];

	format_run_name(options, get_policy_name_of_run(options, index),
			get_seed_of_run(options, index), name);
	outcome->code = EXIT_FAILED;
	if (outcome->killed)
		aftl_fail(&outcome->error, -EINTR, "%s: its process was ended by signal %d, %s",
			  name, outcome->killed, strsignal(outcome->killed));
	else
		aftl_fail(&outcome->error, -EIO, "%s: its process ended without a result", name);
}

/* A failed run does not discard the results of the other runs. */
static void receive_run_outcome(struct runs *all, const struct sim_options *options,
				unsigned int index, struct sim_outcome *outcome)
{
	if (outcome->killed || (outcome->lost && outcome->code))
		report_child_failure(options, index, outcome);
	if (outcome->code && outcome->code != EXIT_INTERRUPTED)
		complain_as("sim", "%s", outcome->error.text);
	if (did_run_produce_result(outcome)) {
		all->results[all->count++] = outcome->result;
	} else {
		struct sim_failure *failure = &all->failures[all->failed++];

		failure->policy = get_policy_name_of_run(options, index);
		failure->seed = get_seed_of_run(options, index);
		scnprintf(failure->why, sizeof(failure->why), "%s", outcome->error.text);
	}
	all->worst = outcome->code ? outcome->code : all->worst;
}

static void run_all_simulations_in_turn(struct runs *all, const struct sim_options *options,
					struct timeline *timeline)
{
	struct sim_outcome *outcome = memory_alloc_zeroed(1, sizeof(*outcome));

	for (unsigned int i = 0; i < sim_options_count_runs(options); i++) {
		*outcome = (struct sim_outcome){ .lost = is_stop_requested() };
		if (outcome->lost)
			aftl_fail(&outcome->error, -EINTR, "interrupted before the run began");
		else
			run_single_simulation(options, i, timeline, outcome);
		receive_run_outcome(all, options, i, outcome);
	}
	free(outcome);
}

static void run_all_simulations(struct runs *all, const struct sim_options *options,
				struct timeline *timeline)
{
	struct sim_options own = *options;
	const struct sim_work work = {
		.options = &own,
		.run = run_simulation_in_child,
		.count = sim_options_count_runs(options),
	};
	unsigned int jobs = sim_count_concurrent_runs(&work);

	/* Divide the threads of --jobs among the concurrent runs. */
	own.jobs = max(sim_choose_thread_count(options) / jobs, 1U);
	if (jobs > 1) {
		struct sim_outcome *outcomes = memory_alloc_zeroed(work.count, sizeof(*outcomes));

		sim_run_in_parallel(&work, jobs, outcomes);
		for (unsigned int i = 0; i < work.count; i++)
			receive_run_outcome(all, work.options, i, &outcomes[i]);
		free(outcomes);
	} else {
		run_all_simulations_in_turn(all, &own, timeline);
	}
	if (is_stop_requested() && (all->count || !all->worst))
		all->worst = EXIT_INTERRUPTED;
}

/* Compute the offline optimum of each seed: runs with one seed have the same requests. */
static enum exit_code find_offline_optimum_of_runs(const struct sim_options *options,
						   struct runs *all)
{
	struct aftl_error error;

	for (unsigned int i = 0; i < all->count && options->yardstick; i++) {
		struct sim_result *result = &all->results[i];
		const struct sim_result *last = i ? result - 1 : result;

		if (result->interrupted)
			continue;
		if (last->yardstick.known && last->config.seed == result->config.seed &&
		    last->requests == result->requests) {
			result->yardstick = last->yardstick;
			continue;
		}
		switch (sim_find_offline_optimum(options, result, &error)) {
		case 0:
			continue;
		case -EINTR:
			return EXIT_INTERRUPTED;
		default:
			return report_command_failure("sim", &error, EXIT_FAILED);
		}
	}
	return EXIT_DONE;
}

/* Report operations that the timeline omits, because its picture would look complete. */
static enum exit_code finish_timeline(struct timeline *timeline, enum exit_code code)
{
	u64 omitted = timeline_count_omitted_operations(timeline);
	struct aftl_error error;

	if (omitted)
		complain_as("sim",
			    "note: --timeline has the first %u operations; %llu more are not in it",
			    TIMELINE_EVENTS, (unsigned long long)omitted);
	if (!timeline_finish(timeline, is_stop_requested(), &error))
		return code;
	return report_command_failure("sim", &error, code ? code : EXIT_FAILED);
}

/* Register all files of all runs now, to detect conflicts before the first run opens its files. */
static int register_input_and_output_files(const struct sim_options *options,
					   struct aftl_error *error)
{
	int ret = options->trace ? claim_input_file(options->trace, error) : 0;

	if (!ret && options->load)
		ret = claim_input_file(options->load, error);
	if (!ret && options->record)
		ret = claim_output_file(options->record, "--record", error);
	return !ret && options->dump ? claim_output_file(options->dump, "--dump", error) : ret;
}

/* Report all errors of file names before any long work. */
static enum exit_code open_sim_files(struct outputs *outputs, struct sim_options *options, int argc,
				     char **argv)
{
	enum exit_code code = EXIT_DONE;
	struct aftl_error error;
	int ret = register_input_and_output_files(options, &error);

	if (!ret && options->json && !outputs->json.stream)
		ret = output_file_open(&outputs->json, options->json, "--json", true, &error);
	if (!ret)
		code = trace_import(options);
	if (!ret && !code && options->timeline)
		ret = timeline_create(&outputs->timeline, options->timeline, argc, argv, &error);
	if (ret)
		complain_as("sim", "%s", error.text);
	return ret ? EXIT_FAILED : code;
}

static enum exit_code report_all_runs(const struct runs *run, struct outputs *outputs,
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
		.interrupted = is_stop_requested() || run->failed,
	};

	return finish_timeline(outputs->timeline,
			       print_sim_warnings_and_report(&all, &outputs->json, run->worst));
}

enum exit_code sim_perform(struct sim_options *options, int argc, char **argv, FILE *json)
{
	unsigned int count = sim_options_count_runs(options), i;
	struct runs run = {
		.results = memory_alloc_zeroed(count, sizeof(*run.results)),
		.failures = memory_alloc_zeroed(count, sizeof(*run.failures)),
	};
	struct outputs outputs = { .json = { .path = "-", .stream = json } };
	enum exit_code code = open_sim_files(&outputs, options, argc, argv);

	if (!code) {
		run_all_simulations(&run, options, outputs.timeline);
		code = find_offline_optimum_of_runs(options, &run);
		run.worst = run.worst ? run.worst : code;
		code = report_all_runs(&run, &outputs, options, argc, argv);
	}
	output_file_abandon(&outputs.json);
	for (i = 0; i < run.count; i++)
		sim_result_release(&run.results[i]);
	free(run.results);
	free(run.failures);
	trace_import_release(options);
	return code;
}

enum exit_code sim_main(int argc, char **argv)
{
	struct sim_options options;
	struct aftl_error error;

	if (sim_options_parse(&options, argc - 2, argv + 2, &error))
		return report_command_failure("sim", &error, EXIT_USAGE);
	if (options.help) {
		(options.help_json ? sim_options_print_json : sim_options_print_help)();
		return EXIT_DONE;
	}
	if (options.dry_run)
		return EXIT_DONE;
	if (options.die_with_parent)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	interruption_catch_stop_signals();
	return sim_perform(&options, argc, argv, NULL);
}
