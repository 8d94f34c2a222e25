/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer beside the stream: sequential, one request at a time, at a rate of its own. What it is
 * late with it makes up for.
 */
#ifndef SIM_BESIDE_H
#define SIM_BESIDE_H

#include "core/ftl/ftl.h"
#include "sim-options.h"

/**
 * struct sim_beside - a writer
 * @interval_ns: between two requests; 0: there is none
 * @due_ns: when the next is to begin
 * @units: of each
 * @end: units of the device
 * @cursor: first unit of the next
 * @request: under way, or NULL
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

/* When it wants to begin: never while a request of its own is under way. */
static inline u64 beside_due(const struct sim_beside *beside)
{
	return beside->interval_ns && !beside->request ? beside->due_ns : U64_MAX;
}

/* Fill the next request and count it as under way. */
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
