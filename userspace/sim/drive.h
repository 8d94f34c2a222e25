/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulation loop: submits requests, advances the device's time, reaps completions.
 *
 * Requests are submitted between two steps of the device's time, never from inside complete().
 * A closed queue then stamps its requests such that a replay of the stamps repeats the run
 * exactly.
 */
#ifndef AFTL_DRIVE_H
#define AFTL_DRIVE_H

#include "arrivals.h"
#include "beside.h"
#include "look-ahead.h"
#include "request-log.h"
#include "request-pool.h"
#include "tenants.h"

/* Time without a completion after which a request counts as lost. */
#define SIM_STUCK_NS (1000 * AFTL_HOUR_NS)

/* Return true if a request was lost. @next_ns is the next event, @last_ns the last completion. */
static inline bool is_sim_device_stuck(u64 next_ns, u64 last_ns)
{
	return next_ns == U64_MAX || next_ns - last_ns > SIM_STUCK_NS;
}

/* Set the message for lost requests, or too high an arrival rate. Return: the error number. */
int sim_report_stuck_device(u64 pending, struct aftl_error *error);
int sim_report_overload(u64 after_ns, struct aftl_error *error);

/**
 * struct sim_drive - a device and its request stream
 * @ftl: device, whose host passes completed requests to sim_drive_complete_request()
 * @geo: geometry of the device
 * @stream: request stream
 * @ahead: look-ahead buffer of @stream
 * @arrivals: arrival process
 * @beside: background writer
 * @tenants: tenants with their own streams and queues, which replace @stream
 * @pool: free requests
 * @log: receives the requests of the stream, or NULL
 * @observes: the pool has struct observed_request, and the core accounts what requests wait for
 * @observe: called for each request of the stream that is complete, if @observes; or NULL
 * @base_ns: device time at which the stream begins
 * @submitted: requests of the stream so far
 * @limit: maximum number of requests to submit
 * @depth: depth of a closed queue, U32_MAX for other arrivals
 * @ended: the stream is over or was interrupted
 * @note: called after each submission; a negative error number ends the run
 */
struct sim_drive {
	struct aftl *ftl;
	const struct aftl_geometry *geo;
	struct sim_stream *stream;
	struct look_ahead ahead;
	struct sim_arrivals arrivals;
	struct sim_beside beside;
	struct sim_tenants tenants;
	struct request_pool pool;
	struct request_log *log;
	bool observes;
	void (*observe)(struct sim_drive *drive, struct observed_request *observed);
	u64 base_ns;
	u64 submitted;
	u64 limit;
	u32 depth;
	bool ended;
	int (*note)(struct sim_drive *drive, struct aftl_request *request,
		    struct aftl_error *error);
};

/**
 * sim_drive_open_request_stream() - open the stream of @options at the device's current time
 * @drive: with device and pool set
 * @options: options of the command line
 * @error: receives the error message on failure
 *
 * Return: 0, or the negative error number of sim_stream_open()
 */
int sim_drive_open_request_stream(struct sim_drive *drive, const struct sim_options *options,
				  struct aftl_error *error);

/**
 * sim_drive_start_look_ahead() - draw requests ahead, up to @drive->limit requests
 */
void sim_drive_start_look_ahead(struct sim_drive *drive);

/* Submit requests up to the queue depth. Return: 0 or a negative error number with a message. */
int sim_drive_fill_queue(struct sim_drive *drive, struct aftl_error *error);

/* Process the next event. Return: 0, or an error if the last progress, at @last_ns, is long ago. */
int sim_drive_process_event(struct sim_drive *drive, u64 last_ns, struct aftl_error *error);

/* Run until the stream is over and all requests are complete. Return: as sim_drive_fill_queue(). */
int sim_drive_serve_all_requests(struct sim_drive *drive, struct aftl_error *error);

/**
 * sim_drive_serve_until_request_or_time() - run until some requests were submitted, or until a time
 * @drive: the device and its stream
 * @requests: total number of requests since the start
 * @ns: device time; if it has passed, nothing happens
 * @error: receives the error message
 *
 * Stops when either limit is reached. Requests in flight stay in flight, so that any sequence
 * of calls leads to the same states.
 *
 * Return: 0 or a negative error number
 */
int sim_drive_serve_until_request_or_time(struct sim_drive *drive, u64 requests, u64 ns,
					  struct aftl_error *error);

/* Return true if the stream ended or was interrupted before its limit of requests. */
static inline bool has_sim_stream_ended_early(const struct sim_drive *drive)
{
	return drive->ended && drive->submitted < drive->limit;
}

/**
 * sim_drive_flush_and_save_snapshot() - flush the device and save it
 * @drive: its stream has ended or is paused; the flush does not count as a request
 * @save: calls aftl_save()
 * @to: second argument of @save
 * @error: receives the error message
 *
 * Return: 0 or a negative error number
 */
int sim_drive_flush_and_save_snapshot(struct sim_drive *drive,
				      int (*save)(struct aftl *ftl, void *to,
						  struct aftl_error *error),
				      void *to, struct aftl_error *error);

/* Hand a completed request to the log and to @observe. */
void sim_drive_record_completed_request(struct sim_drive *drive, struct aftl_request *request);

/* The callback waits() of struct aftl_host_ops, for a drive that records why requests wait. */
struct aftl_waits *sim_drive_get_recorded_waits(struct aftl_request *request);

/* Account for a completed request and return it to the pool. */
static inline void sim_drive_complete_request(struct sim_drive *drive, struct aftl_request *request)
{
	if (unlikely(drive->observes))
		sim_drive_record_completed_request(drive, request);
	if (request == drive->beside.request)
		drive->beside.request = NULL;
	if (unlikely(request->queue < drive->tenants.count))
		drive->tenants.each[request->queue].pending--;
	request_pool_return_request(&drive->pool, request);
}

/* Close the stream, but keep the device and the pool. */
void sim_drive_close_request_stream(struct sim_drive *drive);

#endif
