// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream is split by shard, in chunks. With open arrivals shards do not interact, and each
 * takes its chunks when a thread is free. Statistics of the device are sums and so do not
 * depend on the order of the threads.
 */
#include <stdlib.h>

#include "arrivals.h"
#include "checked-memory.h"
#include "drive.h"
#include "interruption.h"
#include "media-copy.h"
#include "parallel.h"
#include "pipeline.h"
#include "recording.h"
#include "shard-cut.h"
#include "sharded.h"
#include "sums.h"
#include "core/base/random.h"

/* Number of requests in a chunk of the stream: CHUNK_SHARE for each shard, at most CHUNK_MAX. */
#define CHUNK_SHARE 1024
#define CHUNK_MAX 32768

/**
 * struct seat - a shard and its part of the result
 * @shard: the shard
 * @stopped: number of the chunk at which it failed
 * @code: exit code of the failure
 * @error: error message of the failure
 * @digest: digest of the shard at the end
 */
struct seat {
	struct shard shard;
	u64 stopped;
	enum exit_code code;
	struct aftl_error error;
	u64 digest;
};

/**
 * struct run - a run in progress
 * @options: options of the command line
 * @policy: policy of all shards
 * @layout: layout of the device
 * @geo: geometry of the device, as far as a stream needs it
 * @seats: shards
 * @chunks: lists of all shards, for each chunk in the pipeline
 * @stream: request stream
 * @ahead: look-ahead buffer of @stream, for a closed queue
 * @tenants: tenants with their own streams and queues, which replace @stream
 * @arrivals: arrival process
 * @recording: output of --record
 * @progress: progress line on stderr
 * @now_ns: current time of a closed queue; otherwise the last arrival
 * @submitted: requests so far
 * @limit: maximum number of requests to submit
 * @dies_at: number of the request with which the last die fails
 * @number: reads and writes of this epoch so far
 * @epoch: 0: before the statistics begin, 1: afterwards
 * @ended: the stream is over or was interrupted
 * @broken: the stream failed
 * @error: error message of that failure
 * @stopped: number of the first chunk at which a shard failed, U64_MAX for none
 * @until_ns: device time at the end of the run
 */
struct run {
	const struct sim_options *options;
	const struct aftl_policy_type *policy;
	struct aftl_shards layout;
	struct aftl_geometry geo;
	struct seat *seats;
	struct shard_list *chunks[PIPELINE_AHEAD];
	struct sim_stream *stream;
	struct look_ahead ahead;
	struct sim_tenants tenants;
	struct sim_arrivals arrivals;
	struct recording recording;
	struct progress progress;
	u64 now_ns;
	u64 submitted;
	u64 limit;
	u64 dies_at;
	u64 number;
	u8 epoch;
	bool ended;
	bool broken;
	struct aftl_error error;
	atomic_ullong stopped;
	u64 until_ns;
};

/* Requests of the stream */

static int draw_request_for_shards(struct run *run, struct sim_request *wanted)
{
	if (unlikely(run->tenants.count))
		return sim_tenants_next_request(&run->tenants, wanted, &run->error);
	if (run->ahead.context)
		return look_ahead_take_next_request(&run->ahead, wanted, &run->error);
	return run->stream->next(run->stream, wanted, &run->error);
}

static int add_request_to_shard_lists(struct run *run, struct shard_list *lists,
				      struct sim_request *wanted)
{
	const struct recorded_end end = { .reason = AFTL_WAITS };

	run->now_ns = sim_set_arrival_time(&run->arrivals, wanted, run->now_ns);
	wanted->time_ns = run->now_ns;
	shard_lists_add_request(lists, &run->layout, wanted, run->number, run->epoch);
	run->number += wanted->op <= AFTL_OP_WRITE;
	run->submitted++;
	/* Commands to shards are executed at the arrival time of the request before them. */
	if (run->submitted == run->dies_at)
		shard_list_add_command(&lists[run->layout.count - 1], SHARD_LOSES_DIE, run->now_ns);
	if (run->submitted == run->options->warmup) {
		for (u32 i = 0; i < run->layout.count; i++)
			shard_list_add_command(&lists[i], SHARD_COUNTS, run->now_ns);
		run->number = 0;
		run->epoch = 1;
	}
	run->ended |= sim_update_progress_and_check_stop(&run->progress, run->submitted);
	if (!run->recording.active)
		return 0;
	/* Record the request without its end, because the shards run later, in other threads. */
	recording_end_request(&run->recording,
			      recording_begin_request(&run->recording, wanted, run->now_ns), &end);
	return recording_get_error(&run->recording, &run->error);
}

/* Append the next request of the stream, if any, to the lists of its shards. */
static void add_next_request_to_lists(struct run *run, struct shard_list *lists)
{
	struct sim_request wanted;
	int ret = run->submitted < run->limit ? draw_request_for_shards(run, &wanted) : 0;

	run->ended = ret <= 0;
	if (ret > 0)
		ret = add_request_to_shard_lists(run, lists, &wanted);
	if (ret >= 0)
		return;
	run->broken = true;
	run->ended = true;
}

static void clear_shard_lists(const struct run *run, struct shard_list *lists)
{
	for (u32 i = 0; i < run->layout.count; i++)
		lists[i].count = 0;
}

/* Open arrivals */

static bool has_no_shard_failed(const struct run *run)
{
	return !run->broken && atomic_load(&run->stopped) == U64_MAX;
}

static bool make_request_chunk(void *context, u64 number)
{
	struct run *run = context;
	struct shard_list *lists = run->chunks[number % PIPELINE_AHEAD];
	u64 most = run->submitted + min(CHUNK_SHARE * run->layout.count, (u32)CHUNK_MAX);
	bool any = !run->ended;

	clear_shard_lists(run, lists);
	while (!run->ended && run->submitted < most)
		add_next_request_to_lists(run, lists);
	return any && atomic_load(&run->stopped) == U64_MAX;
}

/*
 * Shards continue up to the first chunk that failed, so that the first failure is found
 * reproducibly.
 */
static void stop_shards_after_failed_chunk(struct run *run, struct seat *seat, u64 number)
{
	unsigned long long before = atomic_load(&run->stopped);

	seat->stopped = number;
	seat->code = EXIT_FAILED;
	while (number < before && !atomic_compare_exchange_weak(&run->stopped, &before, number))
		;
}

static void execute_request_chunk_on_shard(void *context, u64 number, u32 index)
{
	struct run *run = context;
	struct seat *seat = &run->seats[index];
	const struct shard_list *list = &run->chunks[number % PIPELINE_AHEAD][index];

	if (number <= atomic_load(&run->stopped) && !seat->code &&
	    shard_execute_work_list(&seat->shard, list->work, list->count, &seat->error))
		stop_shards_after_failed_chunk(run, seat, number);
}

static void drain_shard_in_thread(void *context, u64 number, u32 index)
{
	struct run *run = context;
	struct seat *seat = &run->seats[index];

	if (shard_drain_requests(&seat->shard, &seat->error))
		stop_shards_after_failed_chunk(run, seat, number);
}

static void simulate_shards_with_open_arrivals(struct run *run)
{
	const struct pipeline pipeline = {
		.context = run,
		.make = make_request_chunk,
		.take = execute_request_chunk_on_shard,
		.lanes = run->layout.count,
		.threads = sim_choose_thread_count(run->options),
	};

	pipeline_run_all_chunks(&pipeline);
	if (has_no_shard_failed(run))
		pipeline_call_each_consumer(run, drain_shard_in_thread, run->layout.count,
					    pipeline.threads);
}

/* A closed queue */

static u64 count_requests_in_flight(const struct run *run)
{
	u64 pending = run->submitted;

	for (u32 i = 0; i < run->layout.count; i++)
		pending -= run->seats[i].shard.ended;
	return pending;
}

static u64 get_next_event_ns_of_shards(const struct run *run)
{
	u64 next_ns = U64_MAX;

	for (u32 i = 0; i < run->layout.count; i++) {
		u64 own_ns = aftl_next_event_ns(run->seats[i].shard.ftl);

		next_ns = min(next_ns, own_ns);
	}
	return next_ns;
}

/* Advance all shards to @now_ns, so that the closed queue is refilled after all completions. */
static void advance_all_shards_to_time(struct run *run, u64 now_ns)
{
	for (u32 i = 0; i < run->layout.count; i++)
		if (aftl_next_event_ns(run->seats[i].shard.ftl) <= now_ns)
			aftl_process_events_until(run->seats[i].shard.ftl, now_ns);
	run->now_ns = now_ns;
}

static void submit_next_request_to_shards(struct run *run)
{
	struct shard_list *lists = run->chunks[0];

	clear_shard_lists(run, lists);
	add_next_request_to_lists(run, lists);
	for (u32 i = 0; i < run->layout.count; i++) {
		struct seat *seat = &run->seats[i];

		if (lists[i].count && shard_execute_work_list(&seat->shard, lists[i].work,
							      lists[i].count, &seat->error))
			stop_shards_after_failed_chunk(run, seat, 0);
	}
}

static void prefetch_mapping_of_shard_request(const void *context,
					      const struct sim_request *request, bool near)
{
	const struct run *run = context;
	u32 index = aftl_shard_of_lpn(&run->layout, request->unit);

	look_ahead_prefetch_mapping(run->seats[index].shard.ftl,
				    aftl_lpn_within_shard(&run->layout, request->unit), request,
				    near);
}

static void simulate_shards_with_closed_queue(struct run *run)
{
	u32 depth = run->tenants.count ? sim_tenants_sum_queue_depths(&run->tenants) :
					 (u32)run->options->depth;
	u64 last_ns = 0, seen = U64_MAX, pending;

	look_ahead_init(&run->ahead, run->stream, run->limit);
	run->ahead.expect = prefetch_mapping_of_shard_request;
	run->ahead.context = run;
	for (;;) {
		u64 next_ns;

		while (has_no_shard_failed(run) && !run->ended &&
		       count_requests_in_flight(run) < depth)
			submit_next_request_to_shards(run);
		pending = count_requests_in_flight(run);
		if (!has_no_shard_failed(run) || !pending)
			return;
		/* A device is stuck if no request is submitted or completed for a long time. */
		if (run->submitted - pending != seen || !run->ended)
			last_ns = run->now_ns;
		seen = run->submitted - pending;
		next_ns = get_next_event_ns_of_shards(run);
		if (is_sim_device_stuck(next_ns, last_ns)) {
			run->broken = sim_report_stuck_device(pending, &run->error);
			return;
		}
		advance_all_shards_to_time(run, next_ns);
	}
}

/* Preparation */

static enum exit_code find_first_shard_failure(const struct run *run, struct aftl_error *error)
{
	const struct seat *first = NULL;

	for (u32 i = 0; i < run->layout.count; i++) {
		const struct seat *seat = &run->seats[i];

		if (seat->code && (!first || seat->stopped < first->stopped))
			first = seat;
	}
	if (!first)
		return EXIT_DONE;
	*error = first->error;
	return first->code;
}

static void create_shard_in_thread(void *context, u64 number, u32 index)
{
	struct run *run = context;
	struct seat *seat = &run->seats[index];
	int ret = shard_create(&seat->shard, run->options, index, run->policy, &seat->error);

	(void)number;
	seat->code = ret ? sim_get_exit_code(ret) : EXIT_DONE;
}

static enum exit_code describe_sharded_device(struct run *run, struct aftl_error *error)
{
	const struct aftl_shards *layout = &run->layout;

	if (sim_compute_total_geometry(&run->geo, &layout->geo, layout->count))
		return EXIT_DONE;
	aftl_fail(error, -EINVAL,
		  "shards: %u of %u blocks each are more than are counted; lower blocks",
		  layout->count, layout->geo.blocks);
	return EXIT_USAGE;
}

static enum exit_code create_all_shards(struct run *run, struct aftl_error *error)
{
	u32 count, i;

	if (aftl_shards_init(&run->layout, &run->options->params, error))
		return EXIT_USAGE;
	if (describe_sharded_device(run, error))
		return EXIT_USAGE;
	count = run->layout.count;
	run->seats = memory_alloc_zeroed(count, sizeof(*run->seats));
	for (i = 0; i < PIPELINE_AHEAD; i++)
		run->chunks[i] = memory_alloc_zeroed(count, sizeof(*run->chunks[i]));
	pipeline_call_each_consumer(run, create_shard_in_thread, count,
				    sim_choose_thread_count(run->options));
	return find_first_shard_failure(run, error);
}

static enum exit_code open_sharded_stream(struct run *run, struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	const struct aftl_config *config = &options->params;
	u64 units = run->layout.units;
	int ret = sim_stream_open(&run->stream, options, config, &run->geo, units, error);

	if (!ret)
		ret = sim_tenants_open(&run->tenants, options, config, &run->geo, units, error);
	if (ret)
		return options->trace ? get_exit_code_of_input_error(ret) : EXIT_USAGE;
	for (u32 i = 0; run->tenants.count && i < run->layout.count; i++)
		run->seats[i].shard.tenants = &run->tenants;
	sim_arrivals_init(&run->arrivals, options, config, &run->geo);
	if (options->record &&
	    recording_open(&run->recording, run->stream, &run->geo, units, error))
		return EXIT_FAILED;
	return EXIT_DONE;
}

static enum exit_code prepare_all_shards(struct run *run, struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	enum exit_code code;

	if (options->record && output_file_begin(&run->recording.file, options->record,
						 "--record", true, error))
		return EXIT_FAILED;
	code = create_all_shards(run, error);
	return code ? code : open_sharded_stream(run, error);
}

/* Results */

static void run_shard_to_end(void *context, u64 number, u32 index)
{
	const struct run *run = context;

	(void)number;
	aftl_process_events_until(run->seats[index].shard.ftl, run->until_ns);
}

static void audit_shard_in_thread(void *context, u64 number, u32 index)
{
	struct run *run = context;
	struct seat *seat = &run->seats[index];
	struct aftl_error cause;

	(void)number;
	seat->digest = aftl_compute_device_digest(seat->shard.ftl);
	if (!run->options->verify || !aftl_audit(seat->shard.ftl, &cause))
		return;
	aftl_fail(&seat->error, -EUCLEAN, "policy %s: shard %u is inconsistent: %.160s",
		  run->policy->name, index, cause.text);
	seat->code = EXIT_NOT_VERIFIED;
}

static void sum_host_queue_statistics(struct sim_queue *sums, const struct sim_queue *queues)
{
	for (u32 i = 0; queues && i < AFTL_QUEUES_MAX; i++) {
		sums[i].bytes += queues[i].bytes;
		aftl_histogram_merge(&sums[i].read_response, &queues[i].read_response);
		aftl_histogram_merge(&sums[i].write_response, &queues[i].write_response);
	}
}

/* Add the statistics of a shard's requests to the result. */
static void sum_shard_statistics(const struct shard_sums *sums, struct sim_result *result)
{
	struct aftl_stats *stats = &result->stats;

	aftl_histogram_merge(&stats->read_response, &sums->read_response);
	aftl_histogram_merge(&stats->read_service, &sums->read_service);
	aftl_histogram_merge(&stats->write_service, &sums->write_service);
	aftl_histogram_merge(&stats->flush_response, &sums->flush_response);
	for (u32 i = 0; i < AFTL_CLASSES; i++) {
		aftl_histogram_merge(&stats->write_response, &sums->class_response[i]);
		aftl_histogram_merge(&result->class_response[i], &sums->class_response[i]);
	}
	settling_add_all_response_times(&result->settling, &sums->settling);
	for (u32 i = 0; i < AFTL_COUNTERS; i++)
		((u64 *)&stats->counters)[i] -= aftl_counter_get(&sums->surplus, i);
}

static void store_shard_results(const struct run *run, struct sim_result *result)
{
	struct sim_queue *queues = sim_queues_create(run->options, &run->options->params);

	for (u32 i = 0; i < run->layout.count; i++) {
		const struct seat *seat = &run->seats[i];
		const struct shard_sums *sums = &seat->shard.sums[seat->shard.epoch];

		sim_add_device_statistics(result, seat->shard.ftl, i);
		result->digest = aftl_hash64_pair(result->digest, seat->digest);
		sum_shard_statistics(sums, result);
		sum_host_queue_statistics(queues, sums->queues);
		if (run->options->block_table)
			media_copy_block_table(seat->shard.ftl, i, result);
	}
	settling_finish_indexed_response_times(&result->settling, run->number);
	sim_copy_queue_statistics(queues, run->tenants.count, result);
	free(queues);
}

static void store_sharded_result(const struct run *run, struct sim_result *result)
{
	const struct sim_options *options = run->options;
	const struct aftl *first = run->seats[0].shard.ftl;

	result->policy = run->policy;
	result->profile = options->profile;
	result->config = options->params;
	result->geo = run->geo;
	result->units = run->layout.units;
	result->notes = run->stream->notes;
	result->interval_q16 = run->arrivals.interval_q16;
	result->warmup_requests = min(run->submitted, options->warmup);
	result->requests = run->submitted - result->warmup_requests;
	result->end_ns = aftl_device_time_ns(first);
	result->stats.since_ns = aftl_get_stats(first)->since_ns;
	result->elapsed_ns = result->end_ns - result->stats.since_ns;
	result->hours = aftl_device_age_hours(first);
	result->interrupted = is_stop_requested();
	settling_init(&result->settling);
	store_shard_results(run, result);
}

/* The run itself */

static enum exit_code run_all_shards(struct run *run, struct aftl_error *error)
{
	enum exit_code code;

	run->ended = is_stop_requested();
	progress_begin(&run->progress, sim_choose_progress_visibility(run->options),
		       run->policy->name,
		       run->limit == U64_MAX ? run->stream->expected : run->limit);
	if (run->options->arrival == SIM_ARRIVAL_CLOSED)
		simulate_shards_with_closed_queue(run);
	else
		simulate_shards_with_open_arrivals(run);
	progress_end(&run->progress);
	code = find_first_shard_failure(run, error);
	if (code || !run->broken)
		return code;
	*error = run->error;
	return EXIT_FAILED;
}

static enum exit_code run_sharded_stream(struct run *run, struct sim_result *result,
					 struct aftl_error *error)
{
	u64 begin_ns = sim_get_processor_ns();
	enum exit_code code = run_all_shards(run, error);

	if (code)
		return code;
	/* Advance all shards to the time of the latest one. */
	run->until_ns = is_stop_requested() ? 0 : run->options->until;
	for (u32 i = 0; i < run->layout.count; i++) {
		u64 own_ns = aftl_device_time_ns(run->seats[i].shard.ftl);

		run->until_ns = max(run->until_ns, own_ns);
	}
	pipeline_call_each_consumer(run, run_shard_to_end, run->layout.count,
				    sim_choose_thread_count(run->options));
	result->cpu_ns = sim_get_processor_ns() - begin_ns;
	pipeline_call_each_consumer(run, audit_shard_in_thread, run->layout.count,
				    sim_choose_thread_count(run->options));
	store_sharded_result(run, result);
	code = find_first_shard_failure(run, error);
	result->verified = run->options->verify && !code;
	return code || !result->interrupted ? code : EXIT_INTERRUPTED;
}

enum exit_code sim_sharded_run(const struct sim_options *options,
			       const struct aftl_policy_type *policy, struct sim_result *result,
			       struct aftl_error *error)
{
	u64 begin_ns = sim_get_processor_ns();
	struct run run = {
		.options = options,
		.policy = policy,
		.limit = sim_options_get_request_limit(options),
		.dies_at = sim_get_request_number_of_die_failure(options),
		.stopped = U64_MAX,
	};
	enum exit_code code;

	*result = (struct sim_result){ .requests = 0 };
	code = prepare_all_shards(&run, error);
	result->fill_cpu_ns = sim_get_processor_ns() - begin_ns;
	if (!code)
		code = run_sharded_stream(&run, result, error);
	code = recording_finish(&run.recording, code, error);
	if (run.stream)
		run.stream->close(run.stream);
	sim_tenants_close(&run.tenants);
	for (u32 i = 0; i < PIPELINE_AHEAD; i++) {
		for (u32 k = 0; run.chunks[i] && k < run.layout.count; k++)
			free(run.chunks[i][k].work);
		free(run.chunks[i]);
	}
	for (u32 i = 0; run.seats && i < run.layout.count; i++)
		shard_release(&run.seats[i].shard);
	free(run.seats);
	return code;
}
