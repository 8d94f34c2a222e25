// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <time.h>

#include "checked-memory.h"
#include "complain.h"
#include "core-memory.h"
#include "device-file.h"
#include "drive.h"
#include "host-fill.h"
#include "interruption.h"
#include "media-copy.h"
#include "output-file.h"
#include "recording.h"
#include "reload.h"
#include "run.h"

#define LOOK_AROUND_EVERY 4096

/**
 * struct run - a run in progress
 * @options: options of the command line
 * @drive: the device and its requests
 * @record: output of --record
 * @dump: output of --dump
 * @timeline: output of --timeline, or NULL
 * @progress: progress line on stderr
 * @fill_progress: progress line of the fill, before @progress
 * @warmup: number of requests before the statistics begin
 * @dies_at: number of the request with which the last die fails
 * @next: the next one of @warmup and @dies_at
 * @begin_cpu_ns: processor time at the start
 * @class_response: response times of writes since the warm-up, by class
 * @queues: statistics of each host queue; NULL if there is only one
 * @settling: response times since the warm-up, in the order of completion
 * @slowest: slowest requests since the warm-up, with --slowest
 * @ops: host operations for the core
 */
struct run {
	const struct sim_options *options;
	struct sim_drive drive;
	struct recording record;
	struct output_file dump;
	struct timeline *timeline;
	struct progress progress;
	struct progress fill_progress;
	u64 warmup;
	u64 dies_at;
	u64 next;
	u64 begin_cpu_ns;
	struct aftl_histogram class_response[AFTL_CLASSES];
	struct sim_queue *queues;
	struct settling settling;
	struct sim_slowest slowest;
	struct aftl_host_ops ops;
};

static void record_completed_request_of_run(void *host, struct aftl_request *request)
{
	struct run *run = host;
	u64 response_ns = request->complete_ns - request->arrival_ns;

	if (request->op == AFTL_OP_WRITE)
		aftl_histogram_add(&run->class_response[request->class], response_ns);
	if (request->op <= AFTL_OP_WRITE)
		settling_add_response_time(&run->settling, response_ns);
	if (unlikely(run->queues) && request->op <= AFTL_OP_WRITE) {
		struct sim_request ended = sim_request_from_core(request);

		sim_count_io_of_host_queue(run->queues, &ended, run->drive.geo, response_ns);
	}
	sim_drive_complete_request(&run->drive, request);
}

static int stop_run_if_requested(void *host)
{
	struct run *run = host;

	if (unlikely(run->fill_progress.shown))
		progress_report(&run->fill_progress, aftl_get_fill_progress(run->drive.ftl));
	return is_stop_requested_for_this_thread() ? -EINTR : 0;
}

static const struct aftl_host_ops host_ops = {
	.alloc = core_memory_alloc,
	.alloc_later = core_memory_alloc_or_exit,
	.free = core_memory_free,
	.pause = stop_run_if_requested,
	.complete = record_completed_request_of_run,
};

static void reset_run_statistics(struct run *run)
{
	aftl_reset_stats(run->drive.ftl);
	memset(run->class_response, 0, sizeof(run->class_response));
	if (run->queues)
		memset(run->queues, 0, AFTL_QUEUES_MAX * sizeof(*run->queues));
	settling_init(&run->settling);
	run->slowest.count = 0;
}

/* Add an array operation to the timeline, except during the fill and the warm-up. */
static void add_flash_operation_to_timeline(void *host, const struct aftl_array_event *event)
{
	struct run *run = host;

	if (run->drive.stream && run->drive.submitted >= run->warmup)
		timeline_add_event(run->timeline, event);
}

static struct aftl_waits *get_host_waits_to_record(void *host, struct aftl_request *request)
{
	(void)host;
	return sim_drive_get_recorded_waits(request);
}

/* Requests */

/* Record a submitted request. No request is complete when aftl_submit() returns. */
static int record_completed_request(struct run *run, struct aftl_request *request,
				    struct aftl_error *error)
{
	const struct sim_request wanted = sim_request_from_core(request);
	u64 at_ns = request->arrival_ns - run->drive.base_ns;

	to_observed_request(request)->record =
		recording_begin_request(&run->record, &wanted, at_ns);
	return recording_get_error(&run->record, error);
}

static void observe_completed_request(struct sim_drive *drive, struct observed_request *observed)
{
	struct run *run = container_of(drive, struct run, drive);
	const struct aftl_request *request = &observed->request;
	const struct recorded_end end = {
		.response_ns = request->complete_ns - request->arrival_ns,
		.waiting_ns = get_waiting_ns_of_request(request),
		.reason = request_find_longest_wait_reason(&observed->waits),
	};

	if (run->record.active)
		recording_end_request(&run->record, observed->record, &end);
	if (run->slowest.room)
		slowest_add_request(&run->slowest, observed, drive->geo->unit_bytes,
				    drive->base_ns);
}

bool sim_update_progress_and_check_stop(struct progress *progress, u64 submitted)
{
	if (submitted % LOOK_AROUND_EVERY)
		return false;
	progress_report(progress, submitted);
	return is_stop_requested();
}

u64 sim_get_request_number_of_die_failure(const struct sim_options *options)
{
	if (options->die_dies == SIM_DIES_NEVER)
		return U64_MAX;
	return options->die_dies == SIM_DIES_LATE ? max(options->warmup, 1ULL) : 1;
}

/* Requests in flight when the warm-up ends count in the statistics. */
static int handle_warmup_end_or_die_failure(struct run *run, struct aftl_error *error)
{
	u64 now = run->drive.submitted;

	if (now == run->dies_at && aftl_fail_lun(run->drive.ftl, run->drive.geo->luns - 1))
		return aftl_fail(error, -EIO, "--die-dies: the FTL has no die to fail, a bug");
	if (now == run->warmup)
		reset_run_statistics(run);
	run->next = max(run->warmup, run->dies_at) > now ? max(run->warmup, run->dies_at) : U64_MAX;
	return 0;
}

static int observe_submitted_request(struct sim_drive *drive, struct aftl_request *request,
				     struct aftl_error *error)
{
	struct run *run = container_of(drive, struct run, drive);

	if (drive->submitted == run->next && request != drive->beside.request &&
	    handle_warmup_end_or_die_failure(run, error))
		return -EIO;
	run->drive.ended |=
		sim_update_progress_and_check_stop(&run->progress, run->drive.submitted);
	return run->record.active ? record_completed_request(run, request, error) : 0;
}

/* Devices */

enum exit_code sim_get_exit_code(int ret)
{
	return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

int sim_report_fill_failure(int ret, struct aftl_error *error)
{
	return aftl_fail(error, ret,
			 "the device ran out of free blocks while it was filled; raise op or lower fill_valid");
}

static enum exit_code precondition_run_device(struct run *run, struct aftl_error *error)
{
	const struct aftl_config *config = aftl_config(run->drive.ftl);
	u64 units = run->drive.geo->units * config->fill_valid / SHARE_WHOLE;
	char what[96];
	int ret;

	scnprintf(what, sizeof(what), "%s: writing the starting state%s",
		  aftl_policy_type(run->drive.ftl)->name,
		  config->fill_overwrite ? " (--fill-overwrite 0% is quicker)" : "");
	progress_begin(&run->fill_progress, sim_choose_progress_visibility(run->options), what,
		       units + units * config->fill_overwrite / SHARE_WHOLE);
	ret = aftl_precondition(run->drive.ftl);
	progress_end(&run->fill_progress);
	run->fill_progress.shown = false;
	return ret ? sim_get_exit_code(sim_report_fill_failure(ret, error)) : EXIT_DONE;
}

struct sim_queue *sim_queues_create(const struct sim_options *options,
				    const struct aftl_config *config)
{
	if (!options->tenant_count && !sim_did_user_set_option(options, "queue-by") &&
	    aftl_queue_weight_count(config->queue_weights) < 2)
		return NULL;
	return memory_alloc_zeroed(AFTL_QUEUES_MAX, sizeof(struct sim_queue));
}

static enum exit_code create_run_device(struct run *run, const struct aftl_policy_type *policy,
					struct aftl_error *error)
{
	struct aftl **ftl = &run->drive.ftl;
	int ret;

	if (run->options->load) {
		ret = device_file_load(ftl, run->options->load, &run->ops, run, error);
		if (ret)
			return get_exit_code_of_input_error(ret);
		/* Drop the saved statistics of the loaded device. */
		reset_run_statistics(run);
	} else {
		ret = aftl_create(ftl, &run->options->params, policy, &run->ops, run, error);
		if (ret)
			return sim_get_exit_code(ret);
	}
	run->drive.geo = aftl_geometry(*ftl);
	run->queues = sim_queues_create(run->options, aftl_config(*ftl));
	return run->options->load ? EXIT_DONE : precondition_run_device(run, error);
}

/* Statistics and the clock of the stream begin after the fill. */
static enum exit_code write_host_fill_of_run(struct run *run, struct aftl_error *error)
{
	if (!run->options->host_fill)
		return EXIT_DONE;
	if (sim_write_host_fill(&run->drive, run->options, error))
		return EXIT_FAILED;
	reset_run_statistics(run);
	return EXIT_DONE;
}

/* Files */

/* Open the outputs before any long work, so that a wrong name is reported at once. */
static int open_output_files(struct run *run, struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	int ret = 0;

	if (options->record)
		ret = output_file_begin(&run->record.file, options->record, "--record", true,
					error);
	if (!ret && options->dump)
		ret = output_file_begin(&run->dump, options->dump, "--dump", true, error);
	return ret;
}

static int open_record_file_of_run(struct run *run, struct aftl_error *error)
{
	const struct aftl_geometry *geo = run->drive.geo;

	if (!run->options->record)
		return 0;
	return recording_open(&run->record, run->drive.stream, geo, geo->units, error);
}

static enum exit_code open_run_stream(struct run *run, struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	int ret = sim_drive_open_request_stream(&run->drive, options, error);

	if (ret)
		return options->trace ? get_exit_code_of_input_error(ret) : EXIT_USAGE;
	return open_record_file_of_run(run, error) ? EXIT_FAILED : EXIT_DONE;
}

/* Results */

enum progress_when sim_choose_progress_visibility(const struct sim_options *options)
{
	if (options->quiet)
		return PROGRESS_NEVER;
	return options->progress ? PROGRESS_ALWAYS : PROGRESS_ON_TERMINAL;
}

u64 sim_get_processor_ns(void)
{
	return (u64)clock() * (1000000000ULL / CLOCKS_PER_SEC);
}

static void add_value_to_distribution(struct sim_spread *spread, u64 value)
{
	if (!spread->count || value < spread->smallest)
		spread->smallest = value;
	spread->largest = max(spread->largest, value);
	spread->sum += value;
	spread->count++;
}

void sim_add_block_wear_to_result(const struct aftl *ftl, struct sim_result *result)
{
	const struct aftl_block *block = aftl_media(ftl)->blocks;
	const struct aftl_block *end = block + aftl_geometry(ftl)->blocks;

	for (; block < end; block++) {
		if (block->state == AFTL_BLOCK_BAD) {
			result->bad_blocks++;
			continue;
		}
		add_value_to_distribution(&result->erases, block->erases);
		add_value_to_distribution(&result->wear, block->wear);
	}
}

/* Report the configured queues and any other host queue that was used. */
void sim_copy_queue_statistics(const struct sim_queue *queues, u32 tenants,
			       struct sim_result *result)
{
	if (!queues)
		return;
	result->queues = memory_alloc_zeroed(AFTL_QUEUES_MAX, sizeof(*result->queues));
	memcpy(result->queues, queues, AFTL_QUEUES_MAX * sizeof(*result->queues));
	result->queue_count = max(aftl_queue_weight_count(result->config.queue_weights), tenants);
	for (u32 i = result->queue_count; i < AFTL_QUEUES_MAX; i++)
		if (queues[i].bytes)
			result->queue_count = i + 1;
}

void sim_add_zone_states_to_result(const struct aftl *ftl, struct sim_result *result)
{
	u32 written;

	for (u32 i = 0; i < aftl_geometry(ftl)->zones; i++)
		result->zone_states[aftl_zone_state(ftl, i, &written)]++;
}

static void store_result_of_device(struct run *run, struct sim_result *result)
{
	const struct aftl *ftl = run->drive.ftl;

	result->policy = aftl_policy_type(ftl);
	result->profile = run->options->load ? NULL : run->options->profile;
	result->config = *aftl_config(ftl);
	result->geo = *run->drive.geo;
	result->units = result->geo.units;
	result->slots = result->geo.ppns;
	result->stats = *aftl_get_stats(ftl);
	memcpy(result->class_response, run->class_response, sizeof(result->class_response));
	result->settling = run->settling;
	result->notes = run->drive.stream->notes;
	result->interval_q16 = run->drive.arrivals.interval_q16;
	result->warmup_requests = min(run->drive.submitted, run->warmup);
	result->requests = run->drive.submitted - result->warmup_requests;
	result->end_ns = aftl_device_time_ns(ftl);
	result->elapsed_ns = aftl_device_time_ns(ftl) - result->stats.since_ns;
	result->hours = aftl_device_age_hours(ftl);
	result->memory_bytes = aftl_memory_bytes(ftl);
	result->digest = aftl_compute_device_digest(ftl);
	result->read_only = aftl_is_read_only(ftl);
	sim_add_zone_states_to_result(ftl, result);
	result->interrupted = is_stop_requested();
	sim_add_block_wear_to_result(ftl, result);
	result->luns = memory_alloc_zeroed(run->drive.geo->luns, sizeof(*result->luns));
	for (u32 i = 0; i < run->drive.geo->luns; i++)
		aftl_get_lun_info(run->drive.ftl, i, &result->luns[i]);
	sim_copy_queue_statistics(run->queues, run->drive.tenants.count, result);
	result->slowest = run->slowest;
	run->slowest.requests = NULL;
	media_copy_block_and_page_tables(ftl, run->options, result);
}

static enum exit_code verify_device_of_run(const struct run *run, struct sim_result *result,
					   struct aftl_error *error)
{
	struct aftl_error cause;

	if (!run->options->verify)
		return EXIT_DONE;
	result->verified = !aftl_audit(run->drive.ftl, &cause);
	if (result->verified)
		return EXIT_DONE;
	aftl_fail(error, -EUCLEAN, "policy %s: the device is inconsistent: %.180s",
		  result->policy->name, cause.text);
	return EXIT_NOT_VERIFIED;
}

/* Saving */

static int save_device_snapshot(struct aftl *ftl, void *to, struct aftl_error *error)
{
	return device_file_save(ftl, to, error);
}

static int save_device_file(struct run *run, struct sim_result *result, struct aftl_error *error)
{
	int ret = sim_drive_flush_and_save_snapshot(&run->drive, save_device_snapshot, &run->dump,
						    error);

	result->digest = aftl_compute_device_digest(run->drive.ftl);
	return ret ? ret : output_file_commit(&run->dump, error);
}

/* The run itself */

/* Statistics restart after a change that replaces the device. */
static enum exit_code apply_run_change(struct run *run, const struct sim_change *change,
				       struct aftl_error *error)
{
	const struct aftl *before = run->drive.ftl;
	struct aftl_error cause;
	int ret = sim_drive_apply_device_change(&run->drive, change, &run->ops, run, &cause);

	if (ret) {
		aftl_fail(error, ret, "--change: %s=%s: %.180s", change->key, change->value,
			  cause.text);
		return sim_get_exit_code(ret);
	}
	if (run->drive.ftl != before) {
		run->warmup = max(run->warmup, run->drive.submitted);
		reset_run_statistics(run);
	}
	return EXIT_DONE;
}

/* If the stream ends before a change, that change and the later ones are skipped. */
static enum exit_code run_stream_with_changes(struct run *run, struct aftl_error *error)
{
	const struct sim_changes *changes = &run->options->changes;
	enum exit_code code = EXIT_DONE;
	u64 limit = run->drive.limit;

	for (u32 i = 0; i < changes->count && !code && !is_stop_requested(); i++) {
		const struct sim_change *change = &changes->all[i];

		code = sim_drive_serve_until_request_or_time(&run->drive, change->at, U64_MAX,
							     error) ?
			       EXIT_FAILED :
			       EXIT_DONE;
		if (code || run->drive.submitted < change->at)
			break;
		code = apply_run_change(run, change, error);
	}
	run->drive.limit = limit;
	run->drive.ended = is_stop_requested();
	return code;
}

static enum exit_code arm_faults_of_script(struct run *run, struct aftl_error *error)
{
	const struct fault_script *script = &run->options->faults;
	struct aftl_error cause;

	for (u32 i = 0; i < script->count; i++) {
		int ret = aftl_arm_fault(run->drive.ftl, &script->all[i], &cause);

		if (ret) {
			aftl_fail(error, ret, "--fault-script: fault %u: %.190s", i + 1,
				  cause.text);
			return sim_get_exit_code(ret);
		}
	}
	return EXIT_DONE;
}

/* Print a note about each fault of --fault-script that did not happen, or found no data. */
static void print_notes_about_ineffective_faults(const struct run *run)
{
	const struct aftl_fault *fault;
	u32 count = aftl_get_faults(run->drive.ftl, &fault);

	for (u32 i = 0; i < count; i++, fault++)
		if (fault->state != AFTL_FAULT_HAPPENED)
			complain_as("sim", "note: fault %u of the script, after %s %llu, is %s",
				    i + 1, aftl_fault_triggers[fault->trigger],
				    (unsigned long long)fault->after,
				    aftl_fault_states[fault->state]);
}

static enum exit_code run_whole_stream_with_progress(struct run *run, struct aftl_error *error)
{
	u64 total = run->drive.limit == U64_MAX ? run->drive.stream->expected : run->drive.limit;
	enum exit_code code;

	progress_begin(&run->progress, sim_choose_progress_visibility(run->options),
		       aftl_policy_type(run->drive.ftl)->name, total);
	code = run_stream_with_changes(run, error);
	if (!code)
		code = sim_drive_serve_all_requests(&run->drive, error) ? EXIT_FAILED : EXIT_DONE;
	progress_end(&run->progress);
	return code;
}

static enum exit_code run_device_stream(struct run *run, struct sim_result *result,
					struct aftl_error *error)
{
	u64 begin_ns = sim_get_processor_ns();
	enum exit_code code;

	result->fill_cpu_ns = begin_ns - run->begin_cpu_ns;
	run->drive.ended = is_stop_requested();
	sim_drive_start_look_ahead(&run->drive);
	timeline_begin_device(run->timeline, run->drive.ftl);
	code = arm_faults_of_script(run, error);
	if (!code)
		code = run_whole_stream_with_progress(run, error);
	if (code)
		return code;
	print_notes_about_ineffective_faults(run);
	if (!is_stop_requested())
		aftl_process_events_until(run->drive.ftl, run->options->until);
	timeline_end_device(run->timeline);
	result->cpu_ns = sim_get_processor_ns() - begin_ns;
	store_result_of_device(run, result);
	if (run->options->dump && save_device_file(run, result, error))
		return EXIT_FAILED;
	code = verify_device_of_run(run, result, error);
	return code || !result->interrupted ? code : EXIT_INTERRUPTED;
}

enum exit_code sim_run(const struct sim_options *options, const struct aftl_policy_type *policy,
		       struct timeline *timeline, struct sim_result *result,
		       struct aftl_error *error)
{
	struct run run = {
		.options = options,
		.drive = {
			.note = observe_submitted_request,
			.observe = options->record || options->slowest ?
					   observe_completed_request : NULL,
			.observes = options->log || options->record || options->slowest,
		},
		.warmup = options->warmup,
		.dies_at = sim_get_request_number_of_die_failure(options),
		.next = min(options->warmup ? : U64_MAX,
			    sim_get_request_number_of_die_failure(options)),
		.timeline = timeline,
		.begin_cpu_ns = sim_get_processor_ns(),
	};
	enum exit_code code;

	*result = (struct sim_result){ .requests = 0 };
	request_pool_init(&run.drive.pool, run.drive.observes ? sizeof(struct observed_request) :
								sizeof(struct aftl_request));
	if (options->slowest) {
		run.slowest.requests =
			memory_alloc_zeroed(options->slowest, sizeof(*run.slowest.requests));
		run.slowest.room = (u32)options->slowest;
	}
	run.ops = host_ops;
	if (run.timeline)
		run.ops.array = add_flash_operation_to_timeline;
	if (run.drive.observes)
		run.ops.waits = get_host_waits_to_record;
	settling_init(&run.settling);
	code = open_output_files(&run, error) ? EXIT_FAILED :
						create_run_device(&run, policy, error);
	if (!code && media_check_page_map_blocks_exist(run.drive.geo, options, error))
		code = EXIT_USAGE;
	if (!code)
		code = write_host_fill_of_run(&run, error);
	if (!code)
		code = open_run_stream(&run, error);
	if (!code)
		code = run_device_stream(&run, result, error);
	code = recording_finish(&run.record, code, error);
	output_file_abandon(&run.dump);
	sim_drive_close_request_stream(&run.drive);
	aftl_destroy(run.drive.ftl);
	free(run.queues);
	free(run.slowest.requests);
	request_pool_release(&run.drive.pool);
	return code;
}

void sim_result_release(struct sim_result *result)
{
	free(result->luns);
	free(result->queues);
	free(result->slowest.requests);
	media_free_copied_tables(result);
}
