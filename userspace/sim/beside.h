/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A background writer beside the request stream: sequential writes, one at a time, at a fixed rate.
 * After a late request the writer submits the next ones early until it has its rate again.
 */
#ifndef SIM_BESIDE_H
#define SIM_BESIDE_H

#include "core/ftl/ftl.h"
#include "request-stream.h"
#include "sim-options.h"

/**
 * struct sim_beside - a background writer
 * @interval_ns: time between the starts of two requests; 0: there is no writer
 * @due_ns: start of the next request
 * @sectors: length of a request
 * @end: number of sectors of the device
 * @cursor: first sector of the next request
 * @shift: log2 of the sectors in a unit
 * @request: the request in flight, or NULL
 */
struct sim_beside {
	u64 interval_ns;
	u64 due_ns;
	u64 sectors;
	u64 end;
	u64 cursor;
	u32 shift;
	const struct aftl_request *request;
};

static inline void background_writer_init(struct sim_beside *beside,
					  const struct sim_options *options,
					  const struct aftl_geometry *geo, u64 now_ns)
{
	u64 sectors = DIV_ROUND_UP(options->beside_size, AFTL_SECTOR_BYTES);
	u32 unit_sectors = sim_sectors_per_unit(geo);
	u64 end = (u64)geo->units * unit_sectors;

	if (sim_are_requests_whole_units(options, geo))
		sectors = DIV_ROUND_UP(sectors, unit_sectors) * unit_sectors;
	*beside = (struct sim_beside){
		.interval_ns = options->beside_rate ? 1000000000ULL / options->beside_rate : 0,
		.due_ns = now_ns,
		.sectors = min(sectors, end),
		.end = end,
		.shift = sim_get_unit_shift(geo),
	};
}

/* Return the time of the background writer's next request; U64_MAX while one is in flight. */
static inline u64 background_writer_get_due_ns(const struct sim_beside *beside)
{
	return beside->interval_ns && !beside->request ? beside->due_ns : U64_MAX;
}

/* Fill in the background writer's next request, and mark the request as in flight. */
static inline void background_writer_begin_request(struct sim_beside *beside,
						   struct aftl_request *request)
{
	struct sim_request wanted = { .op = AFTL_OP_WRITE };

	if (beside->end - beside->cursor < beside->sectors)
		beside->cursor = 0;
	sim_request_set_sectors(&wanted, beside->cursor, beside->sectors, beside->shift);
	sim_request_copy_to_core(request, &wanted);
	beside->cursor += beside->sectors;
	beside->due_ns += beside->interval_ns;
	beside->request = request;
}

#endif
