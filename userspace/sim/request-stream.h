/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where requests come from: a generator or a record file.
 */
#ifndef AFTL_REQUEST_STREAM_H
#define AFTL_REQUEST_STREAM_H

#include "core/ftl/ftl.h"

struct sim_options;

/**
 * struct sim_request - what a stream hands out
 * @time_ns: since the begin of the stream; only record files know it
 * @unit: first unit
 * @units: how many; 0 for a flush
 * @op: enum aftl_op
 * @class: enum aftl_class
 * @level: of an approximate write, 0: none is named
 * @flags: AFTL_REQUEST_FUA
 * @hint: of a write
 * @queue: of the host
 */
struct sim_request {
	u64 time_ns;
	u64 unit;
	u32 units;
	u8 op;
	u8 class;
	u8 level;
	u8 flags;
	struct aftl_hint hint;
	u8 queue;
};

/* Fills in all of @to that @from says, which is for one FTL. */
static inline void sim_request_give(struct aftl_request *to, const struct sim_request *from)
{
	to->unit = (u32)from->unit;
	to->units = from->units;
	to->op = from->op;
	to->class = from->class;
	to->level = from->level;
	to->flags = from->flags;
	to->hint = from->hint;
	to->queue = from->queue;
}

/**
 * struct sim_notes - how a stream was made to fit the device
 * @widened: requests that began or ended inside a unit
 * @wrapped: requests beyond the capacity, taken modulo the capacity
 * @clipped: requests larger than the device
 * @unknown_class: requests of a class without a meaning, taken as precise
 */
struct sim_notes {
	u64 widened;
	u64 wrapped;
	u64 clipped;
	u64 unknown_class;
};

/**
 * struct sim_stream - embedded in a source of its own kind
 * @next: the next request; 1, 0 at the end, or a negative error number with a sentence
 * @close: frees the stream
 * @notes: so far
 * @levels: it hands out writes of other quality levels than the first
 * @expected: requests that it will hand out, 0 if nobody knows
 */
struct sim_stream {
	int (*next)(struct sim_stream *stream, struct sim_request *request,
		    struct aftl_error *error);
	void (*close)(struct sim_stream *stream);
	struct sim_notes notes;
	bool levels;
	u64 expected;
};

/**
 * sim_stream_open() - what the options ask for
 * @config: of the device, for the seed
 * @geo: of the device, or of each of those that are one
 * @units: that the host sees, which the requests will fit
 *
 * Return: 0 or a negative error number, -ENOENT and the like for a file.
 */
int sim_stream_open(struct sim_stream **out, const struct sim_options *options,
		    const struct aftl_config *config, const struct aftl_geometry *geo,
		    u64 units, struct aftl_error *error);

int sim_generator_open(struct sim_stream **out, const struct sim_options *options,
		       const struct aftl_config *config, const struct aftl_geometry *geo,
		       u64 units, struct aftl_error *error);

int sim_trace_open(struct sim_stream **out, const struct sim_options *options,
		   const struct aftl_config *config, const struct aftl_geometry *geo,
		   u64 units, struct aftl_error *error);

/**
 * sim_mean_pages() - flash pages of an average read or write of the generator, in 2^-16
 */
u64 sim_mean_pages_q16(const struct sim_options *options, const struct aftl_geometry *geo);

#endif
