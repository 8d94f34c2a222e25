// SPDX-License-Identifier: GPL-2.0-only
#include "drive.h"

int sim_report_overload(u64 after_ns, struct aftl_error *error)
{
	return aftl_fail(error, -EBUSY,
			 "the device cannot keep up: %u requests wait after %llu ms; lower the rate or use --arrival closed",
			 REQUEST_POOL_MAX, (unsigned long long)(after_ns / 1000000));
}

static int report_drive_overload(const struct sim_drive *drive, struct aftl_error *error)
{
	return sim_report_overload(aftl_device_time_ns(drive->ftl) - drive->base_ns, error);
}

static int submit_and_count_ftl_request(struct sim_drive *drive, struct aftl_request *request,
					struct aftl_error *error)
{
	if (aftl_submit(drive->ftl, request))
		return aftl_fail(error, -EIO, "the FTL refuses a request for %u units from unit %u",
				 request->units, request->unit);
	drive->submitted += request != drive->beside.request;
	return drive->note ? drive->note(drive, request, error) : 0;
}

/* Begin to record a request. The request log leaves out the background writer's requests. */
static void start_recording_request_times(struct sim_drive *drive, struct aftl_request *request,
					  bool logged)
{
	struct observed_request *observed = to_observed_request(request);

	observed->observed = true;
	observed->logged = logged && drive->log;
	memset(&observed->waits, 0, sizeof(observed->waits));
	if (observed->logged)
		request_log_add_request(drive->log, request);
}

void sim_drive_record_completed_request(struct sim_drive *drive, struct aftl_request *request)
{
	struct observed_request *observed = to_observed_request(request);

	if (!observed->observed)
		return;
	observed->observed = false;
	if (observed->logged)
		request_log_complete_request(drive->log, request);
	if (drive->observe)
		drive->observe(drive, observed);
}

struct aftl_waits *sim_drive_get_recorded_waits(struct aftl_request *request)
{
	struct observed_request *observed = to_observed_request(request);

	return observed->observed ? &observed->waits : NULL;
}

static int submit_request_to_drive(struct sim_drive *drive, const struct sim_request *wanted,
				   struct aftl_error *error)
{
	struct aftl_request *request = request_pool_take_request(&drive->pool);
	u64 free_ns = aftl_device_time_ns(drive->ftl) - drive->base_ns;

	if (!request)
		return report_drive_overload(drive, error);
	request->arrival_ns =
		drive->base_ns + sim_set_arrival_time(&drive->arrivals, wanted, free_ns);
	sim_request_copy_to_core(request, wanted);
	if (unlikely(drive->observes))
		start_recording_request_times(drive, request, true);
	return submit_and_count_ftl_request(drive, request, error);
}

/* Submit the background writer's next request if due. The writer ends with the request stream. */
static int submit_background_write(struct sim_drive *drive, struct aftl_error *error)
{
	struct aftl_request *request;

	if (drive->ended ||
	    background_writer_get_due_ns(&drive->beside) > aftl_device_time_ns(drive->ftl))
		return 0;
	request = request_pool_take_request(&drive->pool);
	if (!request)
		return report_drive_overload(drive, error);
	*request = (struct aftl_request){ .arrival_ns = aftl_device_time_ns(drive->ftl) };
	background_writer_begin_request(&drive->beside, request);
	if (unlikely(drive->observes))
		start_recording_request_times(drive, request, false);
	return submit_and_count_ftl_request(drive, request, error);
}

static int draw_next_request(struct sim_drive *drive, struct sim_request *wanted,
			     struct aftl_error *error)
{
	if (unlikely(drive->tenants.count))
		return sim_tenants_next_request(&drive->tenants, wanted, error);
	return look_ahead_take_next_request(&drive->ahead, wanted, error);
}

/* Submit a request. Return: 1; 0 at the end of the stream; or a negative error number. */
static int submit_next_request(struct sim_drive *drive, struct aftl_error *error)
{
	struct sim_request wanted;
	int ret;

	if (drive->ended || drive->submitted >= drive->limit)
		return 0;
	ret = draw_next_request(drive, &wanted, error);
	if (ret > 0)
		ret = submit_request_to_drive(drive, &wanted, error);
	else
		return ret;
	return ret ? ret : 1;
}

/* Submit requests until the queue is full; with open arrivals it has no limit. */
int sim_drive_fill_queue(struct sim_drive *drive, struct aftl_error *error)
{
	while (!drive->ended &&
	       aftl_pending_requests(drive->ftl) - !!drive->beside.request < drive->depth) {
		int ret = submit_next_request(drive, error);

		if (ret < 0)
			return ret;
		drive->ended |= !ret;
	}
	return unlikely(drive->beside.interval_ns) ? submit_background_write(drive, error) : 0;
}

int sim_report_stuck_device(u64 pending, struct aftl_error *error)
{
	return aftl_fail(error, -EIO, "the device has stopped with %llu requests under way",
			 (unsigned long long)pending);
}

int sim_drive_process_event(struct sim_drive *drive, u64 last_ns, struct aftl_error *error)
{
	u64 next_ns = aftl_next_event_ns(drive->ftl);

	if (unlikely(drive->beside.interval_ns) && !drive->ended)
		next_ns = min(next_ns, background_writer_get_due_ns(&drive->beside));
	if (is_sim_device_stuck(next_ns, last_ns))
		return sim_report_stuck_device(aftl_pending_requests(drive->ftl), error);
	aftl_process_events_until(drive->ftl, next_ns);
	return 0;
}

/*
 * Advance the device: by one event if there is a background writer, which can submit before the
 * next completion; otherwise to the next completion.
 */
static int advance_to_next_event_or_completion(struct sim_drive *drive, u64 last_ns,
					       struct aftl_error *error)
{
	u64 next_ns = aftl_next_event_ns(drive->ftl);

	if (unlikely(drive->beside.interval_ns) || is_sim_device_stuck(next_ns, last_ns))
		return sim_drive_process_event(drive, last_ns, error);
	aftl_run_to_completion(drive->ftl, last_ns + SIM_STUCK_NS);
	return 0;
}

int sim_drive_serve_all_requests(struct sim_drive *drive, struct aftl_error *error)
{
	u64 last_ns = 0;
	u64 seen = U64_MAX;
	int ret;

	for (;;) {
		u32 pending;

		ret = sim_drive_fill_queue(drive, error);
		pending = aftl_pending_requests(drive->ftl);
		if (ret || !pending)
			return ret;
		/* A device is stuck if no request is submitted or completed for a long time. */
		if (drive->submitted - pending != seen || !drive->ended)
			last_ns = aftl_device_time_ns(drive->ftl);
		seen = drive->submitted - pending;
		ret = advance_to_next_event_or_completion(drive, last_ns, error);
		if (ret)
			return ret;
	}
}

/* Submit open arrivals one by one if a device time ends the run, as each one advances the time. */
static u64 compute_request_limit_of_queue_fill(const struct sim_drive *drive, u64 requests, u64 ns)
{
	return drive->depth == U32_MAX && ns != U64_MAX ? min(requests, drive->submitted + 1) :
							  requests;
}

int sim_drive_serve_until_request_or_time(struct sim_drive *drive, u64 requests, u64 ns,
					  struct aftl_error *error)
{
	u64 last_ns = aftl_device_time_ns(drive->ftl);
	int ret = 0;

	while (!ret && aftl_device_time_ns(drive->ftl) < ns) {
		u64 before = drive->submitted;

		drive->limit = compute_request_limit_of_queue_fill(drive, requests, ns);
		drive->ended = false;
		ret = sim_drive_fill_queue(drive, error);
		if (ret || drive->submitted >= requests || has_sim_stream_ended_early(drive))
			break;
		if (drive->depth == U32_MAX)
			continue;
		last_ns = drive->submitted != before ? aftl_device_time_ns(drive->ftl) : last_ns;
		ret = sim_drive_process_event(drive, last_ns, error);
	}
	return ret;
}

static int flush_write_buffer(struct sim_drive *drive, struct aftl_error *error)
{
	struct aftl_request *flush = request_pool_take_request(&drive->pool);

	*flush = (struct aftl_request){
		.arrival_ns = aftl_device_time_ns(drive->ftl),
		.op = AFTL_OP_FLUSH,
	};
	if (aftl_submit(drive->ftl, flush))
		return aftl_fail(error, -EIO, "the FTL refuses a flush, which is a bug");
	drive->ended = true;
	return sim_drive_serve_all_requests(drive, error);
}

/* Retry aftl_save() while the write buffer has data: a buffer with PLP ignores the flush. */
int sim_drive_flush_and_save_snapshot(struct sim_drive *drive,
				      int (*save)(struct aftl *ftl, void *to,
						  struct aftl_error *error),
				      void *to, struct aftl_error *error)
{
	u64 begin_ns = aftl_device_time_ns(drive->ftl);
	int ret = flush_write_buffer(drive, error);

	/* In drain mode the FTL also programs data of a zone that do not fill a flash page. */
	if (drive->geo->zones)
		aftl_set_drain_mode(drive->ftl, true);
	if (!ret)
		ret = save(drive->ftl, to, error);
	while (ret == -EBUSY && aftl_device_time_ns(drive->ftl) - begin_ns < SIM_STUCK_NS) {
		ret = sim_drive_process_event(drive, aftl_device_time_ns(drive->ftl), error);
		if (!ret)
			ret = save(drive->ftl, to, error);
	}
	aftl_set_drain_mode(drive->ftl, false);
	return ret;
}

static void init_drive_from_options(struct sim_drive *drive, const struct sim_options *options)
{
	drive->limit = sim_options_get_request_limit(options);
	drive->depth = options->arrival == SIM_ARRIVAL_CLOSED ? options->depth : U32_MAX;
	if (options->tenant_count)
		drive->depth = sim_tenants_sum_queue_depths(&drive->tenants);
	drive->base_ns = options->arrival == SIM_ARRIVAL_DEVICE ? 0 :
								  aftl_device_time_ns(drive->ftl);
	background_writer_init(&drive->beside, options, drive->geo, drive->base_ns);
	drive->log = options->log;
	if (!drive->log)
		return;
	drive->log->base_ns = drive->base_ns;
	drive->log->unit_bytes = drive->geo->unit_bytes;
}

int sim_drive_open_request_stream(struct sim_drive *drive, const struct sim_options *options,
				  struct aftl_error *error)
{
	const struct aftl_config *config = aftl_config(drive->ftl);
	const struct aftl_geometry *geo = drive->geo;
	int ret = sim_stream_open(&drive->stream, options, config, geo, geo->units, error);

	if (!ret)
		ret = sim_tenants_open(&drive->tenants, options, config, geo, geo->units, error);
	if (ret)
		return ret;
	sim_arrivals_init(&drive->arrivals, options, config, geo);
	init_drive_from_options(drive, options);
	return 0;
}

static void prefetch_mapping_of_request(const void *context, const struct sim_request *request,
					bool near)
{
	const struct sim_drive *drive = context;

	look_ahead_prefetch_mapping(drive->ftl, (u32)request->unit, request, near);
}

void sim_drive_start_look_ahead(struct sim_drive *drive)
{
	look_ahead_init(&drive->ahead, drive->stream, drive->limit);
	drive->ahead.expect = prefetch_mapping_of_request;
	drive->ahead.context = drive;
}

void sim_drive_close_request_stream(struct sim_drive *drive)
{
	if (drive->stream)
		drive->stream->close(drive->stream);
	drive->stream = NULL;
	sim_tenants_close(&drive->tenants);
}
