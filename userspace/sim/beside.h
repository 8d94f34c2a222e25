/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A background writer beside the stream: sequential writes, one at a time, at a fixed rate.
 * Late requests are made up for.
 */
#ifndef SIM_BESIDE_H
#define SIM_BESIDE_H

#include "core/ftl/ftl.h"
#include "sim-options.h"

/**
 * struct sim_beside - a background writer
 * @interval_ns: time between the starts of two requests; 0: there is no writer
 * @due_ns: start of the next request
 * @units: length of a request
 * @end: number of units of the device
 * @cursor: first unit of the next request
 * @request: the request in flight, or NULL
 */
struct sim_beside {
	u64 interval_ns;
	u64 due_ns;
	u32 units;
	u32 end;
	u32 cursor;
	const struct aftl_request *request;
};

static inline void beside_init(struct sim_beside *beside, const struct sim_options *options,
			       const struct aftl_geometry *geo, u64 now_ns)
{
	u64 units = DIV_ROUND_UP(options->beside_size, geo->unit_bytes);

	*beside = (struct sim_beside){
		.interval_ns = options->beside_rate ? 1000000000ULL / options->beside_rate : 0,
		.due_ns = now_ns,
		.units = min(units, (u64)geo->units),
		.end = geo->units,
	};
}

/* Return the start of the next request; U64_MAX while a request is in flight. */
static inline u64 beside_due(const struct sim_beside *beside)
{
	return beside->interval_ns && !beside->request ? beside->due_ns : U64_MAX;
}

/* Fill in the next request and mark it as in flight. */
static inline void beside_begin(struct sim_beside *beside, struct aftl_request *request)
{
	if (beside->end - beside->cursor < beside->units)
		beside->cursor = 0;
	request->unit = beside->cursor;
	request->units = beside->units;
	request->op = AFTL_OP_WRITE;
	beside->cursor += beside->units;
	beside->due_ns += beside->interval_ns;
	beside->request = request;
}

#endif
