// SPDX-License-Identifier: GPL-2.0-only
#include "host-fill.h"

/* Device time after the fill, in which the write buffer drains: longer than buffer_hold usually. */
#define REST_NS 10000000000ULL

/* Submit writes of @length units until the queue is full. Return: the first unit not written. */
static u64 fill_queue_with_writes(struct sim_drive *drive, u64 unit, u64 end, u64 length,
				  u32 depth)
{
	while (unit < end && aftl_pending_requests(drive->ftl) < depth) {
		struct aftl_request *request = request_pool_take_request(&drive->pool);

		if (!request)
			break;
		*request = (struct aftl_request){
			.arrival_ns = aftl_device_time_ns(drive->ftl),
			.op = AFTL_OP_WRITE,
			.unit = (u32)unit,
			.units = (u32)min(length, end - unit),
		};
		unit += request->units;
		if (aftl_submit(drive->ftl, request))
			return U64_MAX;
	}
	return unit;
}

int sim_write_host_fill(struct sim_drive *drive, const struct sim_options *options,
			struct aftl_error *error)
{
	u64 end = max((u64)drive->geo->units * options->footprint / 10000, 1ULL);
	u64 length = max(options->host_fill_size / drive->geo->unit_bytes, 1ULL);
	u64 unit = 0;

	do {
		u64 begin_ns = aftl_device_time_ns(drive->ftl);

		unit = fill_queue_with_writes(drive, unit, end, length, (u32)options->host_fill);
		if (unit == U64_MAX)
			return aftl_fail(error, -EIO, "--host-fill: the FTL refuses a write");
		if (is_sim_device_stuck(aftl_next_event_ns(drive->ftl), begin_ns))
			return sim_report_stuck_device(aftl_pending_requests(drive->ftl), error);
		aftl_run_to_completion(drive->ftl, begin_ns + SIM_STUCK_NS);
	} while (unit < end || aftl_pending_requests(drive->ftl));
	aftl_process_events_until(drive->ftl, aftl_device_time_ns(drive->ftl) + REST_NS);
	return 0;
}
