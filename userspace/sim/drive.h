/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drives a device: requests in, completions out, time in between.
 *
 * Requests are submitted between two steps of the device's time, never from inside
 * complete(): a closed queue then stamps its requests in a way that a replay of the
 * stamps repeats exactly.
 */
#ifndef AFTL_DRIVE_H
#define AFTL_DRIVE_H

#include "arrivals.h"
#include "beside.h"
#include "look-ahead.h"
#include "request-pool.h"
#include "tenants.h"

/* A device that completes nothing for so long has lost a request. */
#define SIM_STUCK_NS (1000 * AFTL_HOUR_NS)

/* Has it, when its next event is at @next_ns and something was last complete at @last_ns? */
static inline bool sim_is_stuck(u64 next_ns, u64 last_ns)
{
	return next_ns == U64_MAX || next_ns - last_ns > SIM_STUCK_NS;
}

/* Sentences of drivers; what they return is an error number. */
int sim_blame_stop(u64 pending, struct aftl_error *error);
int sim_blame_overload(u64 after_ns, struct aftl_error *error);

/**
 * struct sim_drive - a device and the requests for it
 * @ftl: device, whose host gives completed requests to sim_drive_give()
 * @geo: of the device
 * @stream: of requests
 * @ahead: requests of @stream that have been drawn already
 * @arrivals: their times
 * @beside: a writer of its own
 * @tenants: who has streams and queues instead
 * @pool: requests that are not under way
 * @base_ns: device time at which the stream begins
 * @submitted: requests of the stream so far
 * @limit: most requests to submit
 * @depth: of a closed queue, U32_MAX for other arrivals
 * @ended: the stream is over, or nobody wants more of it
 * @note: is told of each request once it is submitted; a negative error number ends the run
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
	u64 base_ns;
	u64 submitted;
	u64 limit;
	u32 depth;
	bool ended;
	int (*note)(struct sim_drive *drive, const struct aftl_request *request,
		    struct aftl_error *error);
};

/**
 * sim_drive_open() - open the stream of @options for the device of @drive, from now on
 * @drive: has device and pool
 * @options: of the command line
 * @error: the sentence, on failure
 *
 * Return: as sim_stream_open()
 */
int sim_drive_open(struct sim_drive *drive, const struct sim_options *options,
		   struct aftl_error *error);

/**
 * sim_drive_begin() - draw the first requests; before that, @limit may become smaller
 */
void sim_drive_begin(struct sim_drive *drive);

/* Submit what there is room for. Return: 0 or a negative error number with the sentence. */
int sim_drive_submit(struct sim_drive *drive, struct aftl_error *error);

/* The next event of a device that has seen something happen at @last_ns. Return: the same. */
int sim_drive_step(struct sim_drive *drive, u64 last_ns, struct aftl_error *error);

/* Until the stream is over and everything is complete. Return: the same. */
int sim_drive_all(struct sim_drive *drive, struct aftl_error *error);

/**
 * sim_drive_to() - go on until so many requests were submitted, or until a time
 * @drive: which
 * @requests: since the begin
 * @ns: device time; below the present one nothing happens
 * @error: the sentence
 *
 * Stops as soon as one of them is reached. What is under way stays so: any way of calling it
 * leads to the same states.
 *
 * Return: 0 or a negative error number
 */
int sim_drive_to(struct sim_drive *drive, u64 requests, u64 ns, struct aftl_error *error);

/* Has the stream of @drive come to its end, or was it ended, before that? */
static inline bool sim_drive_over(const struct sim_drive *drive)
{
	return drive->ended && drive->submitted < drive->limit;
}

/**
 * sim_drive_save() - let everything complete that a flush covers, and save the device
 * @drive: whose stream has ended, or rests: the flush is no part of it
 * @save: calls aftl_save()
 * @to: second argument of @save
 * @error: the sentence
 *
 * Return: 0 or a negative error number
 */
int sim_drive_save(struct sim_drive *drive,
		   int (*save)(struct aftl *ftl, void *to, struct aftl_error *error), void *to,
		   struct aftl_error *error);

/* A request is complete. */
static inline void sim_drive_give(struct sim_drive *drive, struct aftl_request *request)
{
	if (request == drive->beside.request)
		drive->beside.request = NULL;
	if (unlikely(request->queue < drive->tenants.count))
		drive->tenants.each[request->queue].pending--;
	request_pool_give(&drive->pool, request);
}

/* Closes the stream; device and pool remain. */
void sim_drive_close(struct sim_drive *drive);

#endif
