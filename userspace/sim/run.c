// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives a device: requests in, completions out, time in between.
 *
 * Requests are submitted between two steps of the device's time, never from inside
 * complete(): a closed queue then stamps its requests in a way that a replay of the
 * stamps repeats exactly.
 */
#include <stdlib.h>
#include <time.h>

#include "arrivals.h"
#include "checked-memory.h"
#include "core-memory.h"
#include "device-file.h"
#include "interruption.h"
#include "look-ahead.h"
#include "media-copy.h"
#include "output-file.h"
#include "progress.h"
#include "record-file.h"
#include "request-pool.h"
#include "run.h"
#include "version.h"

#define LOOK_AROUND_EVERY 4096
#define HOUR_NS 3600000000000ULL
/* A device that completes nothing for so long has lost a request. */
#define STUCK_NS (1000 * HOUR_NS)

/**
 * struct run - a run under way
 * @options: of the command line
 * @ftl: device
 * @geo: of the device
 * @stream: of requests
 * @ahead: requests of @stream that have been drawn already
 * @arrivals: their times
 * @pool: requests that are not under way
 * @record: of --record
 * @dump: of --dump
 * @writer: into @record, or NULL
 * @timeline: of --timeline, or NULL
 * @progress: line on stderr
 * @base_ns: device time at which the stream begins
 * @submitted: requests so far
 * @limit: most requests to submit
 * @warmup: requests that come before the statistics
 * @depth: of a closed queue, U32_MAX for other arrivals
 * @ended: the stream is over
 * @begin_cpu_ns: processor time at the begin
 * @class_response: times of writes since the warm-up, by class
 */
struct run {
	const struct sim_options *options;
	struct aftl *ftl;
	const struct aftl_geometry *geo;
	struct sim_stream *stream;
	struct look_ahead ahead;
	struct sim_arrivals arrivals;
	struct request_pool pool;
	struct output_file record;
	struct output_file dump;
	struct record_writer *writer;
	struct timeline *timeline;
	struct progress progress;
	u64 base_ns;
	u64 submitted;
	u64 limit;
	u64 warmup;
	u32 depth;
	bool ended;
	u64 begin_cpu_ns;
	struct aftl_histogram class_response[AFTL_CLASSES];
};

/* What the core asks of its host */

static void host_complete(void *host, struct aftl_request *request)
{
	struct run *run = host;

	if (request->op == AFTL_OP_WRITE)
		aftl_histogram_add(&run->class_response[request->class],
				   request->complete_ns - request->arrival_ns);
	request_pool_give(&run->pool, request);
}

static const struct aftl_host_ops host_ops = {
	.alloc = core_memory_alloc,
	.free = core_memory_free,
	.complete = host_complete,
};

static void reset_stats(struct run *run)
{
	aftl_reset_stats(run->ftl);
	memset(run->class_response, 0, sizeof(run->class_response));
}

/* Filling takes no time, and the warm-up is not what is looked at. */
static void host_array(void *host, const struct aftl_array_event *event)
{
	struct run *run = host;

	if (run->stream && run->submitted >= run->warmup)
		timeline_put(run->timeline, event);
}

static const struct aftl_host_ops watching_host_ops = {
	.alloc = core_memory_alloc,
	.free = core_memory_free,
	.complete = host_complete,
	.array = host_array,
};

static const struct aftl_host_ops *ops_of(const struct run *run)
{
	return run->timeline ? &watching_host_ops : &host_ops;
}

/* Requests */

static int record_request(struct run *run, const struct aftl_request *request,
			  struct aftl_error *error)
{
	u32 sectors = run->geo->unit_bytes / AFTL_RECORD_SECTOR_BYTES;
	struct aftl_record record = {
		.t_ns = request->arrival_ns - run->base_ns,
		.off_sect = (u64)request->unit * sectors,
		.nsect = request->units * sectors,
		.op = request->op,
		.fua = request->flags & AFTL_REQUEST_FUA,
		.life = request->hint.life,
		.class = request->class,
		.stream = request->hint.stream,
	};

	return record_put(run->writer, &record, error);
}

static int blame_overload(const struct run *run, struct aftl_error *error)
{
	return aftl_fail(error, -EBUSY,
			 "the device cannot keep up: %u requests wait after %llu ms; lower the rate or use --arrival closed",
			 REQUEST_POOL_MAX,
			 (unsigned long long)((aftl_now(run->ftl) - run->base_ns) / 1000000));
}

static int submit(struct run *run, const struct sim_request *wanted, struct aftl_error *error)
{
	struct aftl_request *request = request_pool_take(&run->pool);
	u64 free_ns = aftl_now(run->ftl) - run->base_ns;

	if (!request)
		return blame_overload(run, error);
	request->arrival_ns = run->base_ns + sim_arrival(&run->arrivals, wanted, free_ns);
	request->unit = wanted->unit;
	request->units = wanted->units;
	request->op = wanted->op;
	request->class = wanted->class;
	request->flags = wanted->flags;
	request->hint = wanted->hint;
	if (aftl_submit(run->ftl, request))
		return aftl_fail(error, -EIO, "the device refuses a request for %u units at %u",
				 wanted->units, wanted->unit);
	return run->writer ? record_request(run, request, error) : 0;
}

/* Now and then: progress and Ctrl-C. */
static void look_around(struct run *run)
{
	if (run->submitted % LOOK_AROUND_EVERY)
		return;
	progress_step(&run->progress, run->submitted);
	run->ended |= interrupted();
}

/* What is under way when the warm-up ends counts for the statistics. */
static void count_submission(struct run *run)
{
	run->submitted++;
	if (run->submitted == run->warmup)
		reset_stats(run);
}

/* Returns 1 after a request, 0 at the end of the stream. */
static int submit_next(struct run *run, struct aftl_error *error)
{
	struct sim_request wanted;
	int ret;

	look_around(run);
	if (run->ended || run->submitted >= run->limit)
		return 0;
	ret = look_ahead_next(&run->ahead, &wanted, error);
	if (ret <= 0)
		return ret;
	ret = submit(run, &wanted, error);
	if (ret)
		return ret;
	count_submission(run);
	return 1;
}

/* Fill the queue; for other arrivals it has no end. */
static int submit_some(struct run *run, struct aftl_error *error)
{
	while (!run->ended && aftl_pending(run->ftl) < run->depth) {
		int ret = submit_next(run, error);

		if (ret < 0)
			return ret;
		run->ended = !ret;
	}
	return 0;
}

static int step(struct run *run, u64 last_ns, struct aftl_error *error)
{
	u64 next_ns = aftl_next_event(run->ftl);

	if (next_ns == U64_MAX || next_ns - last_ns > STUCK_NS)
		return aftl_fail(error, -EIO, "the device has stopped with %u requests under way",
				 aftl_pending(run->ftl));
	aftl_advance(run->ftl, next_ns);
	return 0;
}

static int drive(struct run *run, struct aftl_error *error)
{
	u64 last_ns = 0;
	u64 seen = U64_MAX;
	int ret;

	for (;;) {
		u32 pending;

		ret = submit_some(run, error);
		pending = aftl_pending(run->ftl);
		if (ret || !pending)
			return ret;
		/* Something has happened since the last look: submissions or completions. */
		if (run->submitted - pending != seen || !run->ended)
			last_ns = aftl_now(run->ftl);
		seen = run->submitted - pending;
		ret = step(run, last_ns, error);
		if (ret)
			return ret;
	}
}

/* Devices */

static enum exit_code exit_code_of(int ret)
{
	return ret == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static enum exit_code fill_device(struct run *run, struct aftl_error *error)
{
	int ret = aftl_fill(run->ftl);

	if (!ret)
		return EXIT_DONE;
	aftl_fail(error, ret,
		  "the device ran out of free blocks while it was filled; raise op or lower fill_valid");
	return EXIT_FAILED;
}

static enum exit_code make_device(struct run *run, const struct aftl_policy_type *policy,
				  struct aftl_error *error)
{
	int ret;

	if (run->options->load) {
		ret = device_file_load(&run->ftl, run->options->load, ops_of(run), run, error);
		if (ret)
			return EXIT_NO_INPUT;
		/* Statistics are those of this run, wherever the device comes from. */
		reset_stats(run);
	} else {
		ret = aftl_create(&run->ftl, &run->options->config, policy, ops_of(run), run,
				  error);
		if (ret)
			return exit_code_of(ret);
	}
	run->geo = aftl_geometry(run->ftl);
	return run->options->load ? EXIT_DONE : fill_device(run, error);
}

/* Files */

/* Before anything that takes long, so that a wrong name costs nothing. */
static int begin_files(struct run *run, struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	int ret = 0;

	if (options->record)
		ret = output_file_begin(&run->record, options->record, "--record", true, error);
	if (!ret && options->dump)
		ret = output_file_begin(&run->dump, options->dump, "--dump", true, error);
	return ret;
}

static int open_record(struct run *run, struct aftl_error *error)
{
	struct aftl_record_header header;

	if (!run->options->record)
		return 0;
	aftl_record_header_init(&header);
	header.device_bytes = (u64)run->geo->units * run->geo->unit_bytes;
	scnprintf(header.source_format, sizeof(header.source_format), "approxftl sim");
	scnprintf(header.tool_version, sizeof(header.tool_version), "approxftl %s",
		  approxftl_version());
	return record_create(&run->writer, run->record.temporary, run->options->record, &header,
			     error);
}

static enum exit_code open_stream(struct run *run, struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	int ret = sim_stream_open(&run->stream, options, aftl_config(run->ftl), run->geo, error);

	if (ret)
		return options->trace ? EXIT_NO_INPUT : EXIT_USAGE;
	sim_arrivals_init(&run->arrivals, options, aftl_config(run->ftl), run->geo);
	return open_record(run, error) ? EXIT_FAILED : EXIT_DONE;
}

static void set_limits(struct run *run)
{
	const struct sim_options *options = run->options;
	bool endless = options->trace && !sim_option_given(options, "requests");

	run->warmup = options->warmup;
	run->limit = endless || options->requests > U64_MAX - options->warmup ?
			     U64_MAX : options->warmup + options->requests;
	run->depth = options->arrival == SIM_ARRIVAL_CLOSED ? options->depth : U32_MAX;
	run->base_ns = options->arrival == SIM_ARRIVAL_DEVICE ? 0 : aftl_now(run->ftl);
}

/* Results */

u64 sim_processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (u64)now.tv_sec * 1000000000ULL + (u64)now.tv_nsec;
}

static void add_to_spread(struct sim_spread *spread, u64 value)
{
	if (!spread->count || value < spread->smallest)
		spread->smallest = value;
	spread->largest = max(spread->largest, value);
	spread->sum += value;
	spread->count++;
}

void sim_survey_blocks(const struct aftl *ftl, struct sim_result *result)
{
	const struct aftl_block *block = aftl_media(ftl)->blocks;
	const struct aftl_block *end = block + aftl_geometry(ftl)->blocks;

	for (; block < end; block++) {
		if (block->state == AFTL_BLOCK_BAD) {
			result->bad_blocks++;
			continue;
		}
		add_to_spread(&result->erases, block->erases);
		add_to_spread(&result->wear, block->wear);
	}
}

static void survey_luns(const struct run *run, struct sim_result *result)
{
	u32 i;

	result->luns = memory_zeroed(run->geo->luns, sizeof(*result->luns));
	for (i = 0; i < run->geo->luns; i++)
		aftl_lun_info(run->ftl, i, &result->luns[i]);
}

static void survey(const struct run *run, struct sim_result *result)
{
	const struct aftl *ftl = run->ftl;

	result->policy = aftl_policy_type(ftl);
	result->profile = run->options->load ? NULL : run->options->profile;
	result->config = *aftl_config(ftl);
	result->geo = *run->geo;
	result->stats = *aftl_stats(ftl);
	memcpy(result->class_response, run->class_response, sizeof(result->class_response));
	result->notes = run->stream->notes;
	result->interval_q16 = run->arrivals.interval_q16;
	result->warmup_requests = min(run->submitted, run->warmup);
	result->requests = run->submitted - result->warmup_requests;
	result->end_ns = aftl_now(ftl);
	result->elapsed_ns = aftl_now(ftl) - result->stats.since_ns;
	result->hours = aftl_hours(ftl);
	result->memory_bytes = aftl_memory_bytes(ftl);
	result->digest = aftl_digest(ftl);
	result->read_only = aftl_read_only(ftl);
	result->interrupted = interrupted();
	sim_survey_blocks(ftl, result);
	survey_luns(run, result);
	media_copy(ftl, run->options, result);
}

static enum exit_code verify(const struct run *run, struct sim_result *result,
			     struct aftl_error *error)
{
	struct aftl_error cause;

	if (!run->options->verify)
		return EXIT_DONE;
	result->verified = !aftl_audit(run->ftl, &cause);
	if (result->verified)
		return EXIT_DONE;
	aftl_fail(error, -EUCLEAN, "policy %s: the device is inconsistent: %.180s",
		  result->policy->name, cause.text);
	return EXIT_NOT_VERIFIED;
}

/* Saving */

/* The flush is not part of the stream: it is not recorded. */
static int flush_device(struct run *run, struct aftl_error *error)
{
	struct aftl_request *flush = request_pool_take(&run->pool);

	*flush = (struct aftl_request){
		.arrival_ns = aftl_now(run->ftl),
		.op = AFTL_OP_FLUSH,
	};
	if (aftl_submit(run->ftl, flush))
		return aftl_fail(error, -EIO, "the device refuses a flush");
	run->ended = true;
	return drive(run, error);
}

/* A safe buffer does not heed a flush: its writes go when they have waited long enough. */
static int save_device(struct run *run, struct sim_result *result, struct aftl_error *error)
{
	u64 begin_ns = aftl_now(run->ftl);
	int ret = flush_device(run, error);

	if (!ret)
		ret = device_file_save(run->ftl, &run->dump, error);
	while (ret == -EBUSY && aftl_now(run->ftl) - begin_ns < STUCK_NS) {
		ret = step(run, aftl_now(run->ftl), error);
		if (!ret)
			ret = device_file_save(run->ftl, &run->dump, error);
	}
	result->digest = aftl_digest(run->ftl);
	return ret ? ret : output_file_commit(&run->dump, error);
}

/* The run itself */

static int drive_with_progress(struct run *run, struct aftl_error *error)
{
	const struct sim_options *options = run->options;
	u64 total = run->limit == U64_MAX ? run->stream->expected : run->limit;
	enum progress_when when = options->quiet ? PROGRESS_NEVER :
				  options->progress ? PROGRESS_ALWAYS : PROGRESS_ON_TERMINAL;
	int ret;

	progress_begin(&run->progress, when, aftl_policy_type(run->ftl)->name, total);
	ret = drive(run, error);
	progress_end(&run->progress);
	return ret;
}

/* A record file that turns out to be damaged is an input that cannot be read. */
static enum exit_code drive_code(const struct run *run, int ret)
{
	if (!ret)
		return EXIT_DONE;
	return ret == -EINVAL && run->options->trace ? EXIT_NO_INPUT : EXIT_FAILED;
}

static enum exit_code run_stream(struct run *run, struct sim_result *result,
				 struct aftl_error *error)
{
	u64 begin_ns = sim_processor_ns();
	enum exit_code code;

	result->fill_cpu_ns = begin_ns - run->begin_cpu_ns;
	set_limits(run);
	look_ahead_init(&run->ahead, run->stream, run->ftl, run->limit);
	timeline_device(run->timeline, run->ftl);
	code = drive_code(run, drive_with_progress(run, error));
	if (code)
		return code;
	if (!interrupted())
		aftl_advance(run->ftl, run->options->until);
	timeline_device_end(run->timeline);
	result->cpu_ns = sim_processor_ns() - begin_ns;
	survey(run, result);
	if (run->options->dump && save_device(run, result, error))
		return EXIT_FAILED;
	code = verify(run, result, error);
	return code || !result->interrupted ? code : EXIT_INTERRUPTED;
}

static enum exit_code finish_files(struct run *run, enum exit_code code,
				   struct aftl_error *error)
{
	struct aftl_error own;
	int ret;

	if (run->writer && interrupted())
		record_was_interrupted(run->writer);
	ret = record_finish(run->writer, &own);

	if (!ret && run->writer && (!code || code >= EXIT_NOT_VERIFIED))
		ret = output_file_commit(&run->record, &own);
	output_file_drop(&run->record);
	output_file_drop(&run->dump);
	if (!ret || code)
		return code;
	*error = own;
	return EXIT_FAILED;
}

enum exit_code sim_run(const struct sim_options *options, const struct aftl_policy_type *policy,
		       struct timeline *timeline, struct sim_result *result,
		       struct aftl_error *error)
{
	struct run run = {
		.options = options,
		.timeline = timeline,
		.begin_cpu_ns = sim_processor_ns(),
	};
	enum exit_code code;

	*result = (struct sim_result){ .requests = 0 };
	request_pool_init(&run.pool);
	code = begin_files(&run, error) ? EXIT_FAILED : make_device(&run, policy, error);
	if (!code && media_check_blocks(run.geo, options, error))
		code = EXIT_USAGE;
	if (!code)
		code = open_stream(&run, error);
	if (!code)
		code = run_stream(&run, result, error);
	code = finish_files(&run, code, error);
	if (run.stream)
		run.stream->close(run.stream);
	aftl_destroy(run.ftl);
	request_pool_release(&run.pool);
	return code;
}

void sim_result_release(struct sim_result *result)
{
	free(result->luns);
	media_copy_release(result);
}
