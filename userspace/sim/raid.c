// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "arrivals.h"
#include "interruption.h"
#include "progress.h"
#include "raid-array.h"
#include "raid.h"
#include "sums.h"
#include "core/base/random.h"

/**
 * struct run - a run in progress
 * @options: options of the command line
 * @array: array of devices
 * @geo: geometry of the array, as far as a stream needs it
 * @stream: request stream
 * @arrivals: arrival process
 * @progress: progress line on stderr
 * @submitted: requests so far
 * @limit: maximum number of requests to submit
 * @depth: depth of a closed queue, U32_MAX for other arrivals
 * @since_ns: start of the statistics
 * @ended: the stream is over
 */
struct run {
	const struct sim_options *options;
	struct raid_array array;
	struct aftl_geometry geo;
	struct sim_stream *stream;
	struct sim_arrivals arrivals;
	struct progress progress;
	u64 submitted;
	u64 limit;
	u32 depth;
	u64 since_ns;
	bool ended;
};

/* The array supports reads and writes only; other requests of the stream are skipped. */
static void submit_request_to_raid_array(struct run *run, const struct sim_request *wanted)
{
	u64 at_ns = sim_set_arrival_time(&run->arrivals, wanted, run->array.now_ns);

	if (wanted->op == AFTL_OP_READ || wanted->op == AFTL_OP_WRITE)
		raid_array_submit(&run->array, at_ns, wanted->op, (u32)wanted->unit, wanted->units,
				  wanted->class, wanted->hint);
	if (++run->submitted != run->options->warmup)
		return;
	raid_array_reset_stats(&run->array);
	run->since_ns = run->array.now_ns;
}

static int submit_array_requests(struct run *run, struct aftl_error *error)
{
	struct sim_request wanted;

	while (!run->ended && run->array.pending < run->depth) {
		int ret;

		run->ended |= sim_update_progress_and_check_stop(&run->progress, run->submitted);
		if (run->ended || run->submitted >= run->limit)
			break;
		ret = run->stream->next(run->stream, &wanted, error);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		submit_request_to_raid_array(run, &wanted);
	}
	run->ended |= run->array.pending < run->depth;
	return 0;
}

static int serve_all_raid_requests(struct run *run, struct aftl_error *error)
{
	for (;;) {
		u64 next_ns;
		int ret = submit_array_requests(run, error);

		if (ret || !run->array.pending)
			return ret;
		next_ns = raid_array_get_next_event_ns(&run->array);
		if (next_ns == U64_MAX)
			return aftl_fail(error, -EIO,
					 "the array has stopped with %u requests under way",
					 run->array.pending);
		raid_array_advance_to_time(&run->array, next_ns);
	}
}

/* Preparation */

/* Describe the array to streams and arrivals as one large device. */
static int describe_raid_array(struct run *run, struct aftl_error *error)
{
	const struct aftl_geometry *member = aftl_geometry(run->array.members[0]);
	u32 members = run->array.layout.members;

	if (!run->array.units || (u64)member->ppns * members > U32_MAX ||
	    !sim_compute_total_geometry(&run->geo, member, members))
		return aftl_fail(error, -EINVAL,
				 "an array of %u members of %u units with chunks of %u is too small or too large",
				 members, member->units, run->array.layout.chunk);
	return 0;
}

static enum exit_code prepare_array_run(struct run *run, const struct aftl_policy_type *policy,
					struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	const struct stripe_layout layout = {
		.members = (u32)options->members,
		.chunk = (u32)options->chunk,
	};
	int ret = raid_array_create(&run->array, &layout, &options->params, policy,
				    (u32)options->stripes, options->stripe_hold, error);

	if (!ret)
		ret = describe_raid_array(run, error);
	if (ret)
		return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	ret = sim_stream_open(&run->stream, options, &options->params, &run->geo,
			      run->array.units, error);
	if (ret)
		return options->trace ? get_exit_code_of_input_error(ret) : EXIT_USAGE;
	sim_arrivals_init(&run->arrivals, options, &options->params, &run->geo);
	run->limit = sim_options_get_request_limit(options);
	run->depth = options->arrival == SIM_ARRIVAL_CLOSED ? options->depth : U32_MAX;
	return EXIT_DONE;
}

/* Results */

/* Host statistics are those of the array; flash statistics are the sums of the members. */
static void store_raid_array_statistics(const struct run *run, struct sim_result *result)
{
	struct aftl_counters *counters = &result->stats.counters;
	const struct raid_counters *own = &run->array.counters;

	result->raid.counters = *own;
	result->raid.members = run->array.layout.members;
	counters->host_read_requests = own->read_requests;
	counters->host_write_requests = own->write_requests;
	counters->host_read_units = own->read_units;
	counters->host_write_units = own->write_units;
	counters->host_read_bytes = own->read_units * run->geo.unit_bytes;
	counters->host_write_bytes = own->write_units * run->geo.unit_bytes;
	counters->host_partial_write_units = 0;
	counters->host_failed_requests = own->failed_requests;
	result->stats.read_response = run->array.read_response;
	result->stats.write_response = run->array.write_response;
	result->settling = run->array.settling;
	result->stats.since_ns = run->since_ns;
}

static void store_raid_result(const struct run *run, const struct aftl_policy_type *policy,
			      struct sim_result *result)
{
	const struct sim_options *options = run->options;

	result->policy = policy;
	result->profile = options->profile;
	result->config = options->params;
	result->geo = run->geo;
	result->units = run->array.units;
	result->notes = run->stream->notes;
	result->interval_q16 = run->arrivals.interval_q16;
	result->warmup_requests = min(run->submitted, options->warmup);
	result->requests = run->submitted - result->warmup_requests;
	result->end_ns = run->array.now_ns;
	result->elapsed_ns = run->array.now_ns - run->since_ns;
	result->hours = aftl_device_age_hours(run->array.members[0]);
	result->interrupted = is_stop_requested();
	for (u32 i = 0; i < run->array.layout.members; i++) {
		const struct aftl *ftl = run->array.members[i];

		result->raid.member_units[i] = aftl_get_stats(ftl)->counters.host_write_units;
		result->raid.member_erases[i] = aftl_get_stats(ftl)->counters.array_erases;
		result->digest = aftl_hash64_pair(result->digest, aftl_compute_device_digest(ftl));
		sim_add_device_statistics(result, ftl, i);
	}
	store_raid_array_statistics(run, result);
}

static enum exit_code verify_raid_array(const struct run *run, struct sim_result *result,
					struct aftl_error *error)
{
	struct aftl_error cause;

	if (!run->options->verify)
		return EXIT_DONE;
	for (u32 i = 0; i < run->array.layout.members; i++) {
		if (!aftl_audit(run->array.members[i], &cause))
			continue;
		aftl_fail(error, -EUCLEAN, "policy %s: member %u is inconsistent: %.160s",
			  result->policy->name, i, cause.text);
		return EXIT_NOT_VERIFIED;
	}
	result->verified = true;
	return EXIT_DONE;
}

static enum exit_code run_array_stream(struct run *run, const struct aftl_policy_type *policy,
				       struct sim_result *result, struct aftl_error *error)
{
	u64 begin_ns = sim_get_processor_ns();
	enum exit_code code;
	int ret;

	progress_begin(&run->progress, sim_choose_progress_visibility(run->options), policy->name,
		       run->limit == U64_MAX ? run->stream->expected : run->limit);
	ret = serve_all_raid_requests(run, error);
	progress_end(&run->progress);
	if (ret)
		return EXIT_FAILED;
	result->cpu_ns = sim_get_processor_ns() - begin_ns;
	store_raid_result(run, policy, result);
	code = verify_raid_array(run, result, error);
	return code || !result->interrupted ? code : EXIT_INTERRUPTED;
}

enum exit_code sim_raid_run(const struct sim_options *options,
			    const struct aftl_policy_type *policy, struct sim_result *result,
			    struct aftl_error *error)
{
	struct run run = { .options = options };
	u64 begin_ns = sim_get_processor_ns();
	enum exit_code code;

	*result = (struct sim_result){ .requests = 0 };
	code = prepare_array_run(&run, policy, error);
	result->fill_cpu_ns = sim_get_processor_ns() - begin_ns;
	if (!code)
		code = run_array_stream(&run, policy, result, error);
	if (run.stream)
		run.stream->close(run.stream);
	raid_array_release(&run.array);
	return code;
}
