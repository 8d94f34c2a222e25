/* SPDX-License-Identifier: GPL-2.0-only */
/* Request streams: a generator or a record file. */
#ifndef AFTL_REQUEST_STREAM_H
#define AFTL_REQUEST_STREAM_H

#include "core/ftl/ftl.h"

struct sim_options;

/**
 * struct sim_request - a request of a stream
 * @time_ns: arrival since the start of the stream; set by record files only
 * @unit: first unit
 * @units: number of units; 0 for a flush
 * @head_skip: sectors of the first unit that precede the request
 * @tail_skip: sectors of the last unit that follow it
 * @op: enum aftl_op
 * @class: enum aftl_class
 * @level: quality level of an approximate write, 0: unspecified
 * @flags: AFTL_REQUEST_FUA, AFTL_REQUEST_APPEND
 * @hint: placement and lifetime hint of a write
 * @queue: host queue
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
	u16 head_skip;
	u16 tail_skip;
};

/* Let @request cover @sectors sectors from @first on; a unit has 2^@shift of them. */
static inline void sim_request_set_sectors(struct sim_request *request, u64 first, u64 sectors,
					   u32 shift)
{
	u64 mask = (1ULL << shift) - 1;
	u64 end = first + sectors;

	request->unit = first >> shift;
	request->units = (u32)(((end + mask) >> shift) - request->unit);
	request->head_skip = (u16)(first & mask);
	request->tail_skip = (u16)(-end & mask);
}

/* Return the number of sectors of a request, whose units have @unit_sectors each. */
static inline u64 sim_request_count_sectors(const struct sim_request *request, u32 unit_sectors)
{
	return (u64)request->units * unit_sectors - request->head_skip - request->tail_skip;
}

/* Copy a request for a single FTL into a request of the core. */
static inline void sim_request_copy_to_core(struct aftl_request *to, const struct sim_request *from)
{
	to->unit = (u32)from->unit;
	to->units = from->units;
	to->op = from->op;
	to->class = from->class;
	to->level = from->level;
	to->flags = from->flags;
	to->hint = from->hint;
	to->queue = from->queue;
	to->head_skip = from->head_skip;
	to->tail_skip = from->tail_skip;
}

/* Convert a request of the core back to the stream's request. */
static inline struct sim_request sim_request_from_core(const struct aftl_request *from)
{
	return (struct sim_request){
		.unit = from->unit,
		.units = from->units,
		.op = from->op,
		.class = from->class,
		.level = from->level,
		.flags = from->flags,
		.hint = from->hint,
		.queue = from->queue,
		.head_skip = from->head_skip,
		.tail_skip = from->tail_skip,
	};
}

static inline u32 sim_sectors_per_unit(const struct aftl_geometry *geo)
{
	return geo->unit_bytes / AFTL_SECTOR_BYTES;
}

/* Return log2 of the sectors in a unit. */
static inline u32 sim_get_unit_shift(const struct aftl_geometry *geo)
{
	return (u32)__builtin_ctz(sim_sectors_per_unit(geo));
}

/**
 * struct sim_notes - adaptations of a stream to the device
 * @widened: requests of a trace that began or ended inside a unit and were widened
 * @wrapped: requests beyond the capacity, taken modulo the capacity
 * @clipped: requests larger than the device
 * @unknown_class: requests of an unknown class, treated as precise
 */
struct sim_notes {
	u64 widened;
	u64 wrapped;
	u64 clipped;
	u64 unknown_class;
};

/**
 * struct sim_stream - base of each kind of stream, which embeds it
 * @next: returns 1 and the next request, 0 at the end, or a negative error number with a message
 * @close: frees the stream
 * @notes: adaptations so far
 * @levels: the stream has writes of other quality levels than the first
 * @expected: total number of requests, 0 if unknown
 */
struct sim_stream {
	int (*next)(struct sim_stream *stream, struct sim_request *request,
		    struct aftl_error *error);
	void (*close)(struct sim_stream *stream);
	struct sim_notes notes;
	bool levels;
	u64 expected;
};

/* Return true if requests are widened to whole units, as for a RAID or a zoned device. */
bool sim_are_requests_whole_units(const struct sim_options *options,
				  const struct aftl_geometry *geo);

/**
 * sim_stream_open() - open the stream that the options describe
 * @config: configuration of the device, for the seed
 * @geo: geometry of the device, or the joint geometry of several
 * @units: capacity that the host sees and that the requests will fit
 *
 * Return: 0 or a negative error number, such as -ENOENT for a file.
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
 * sim_get_mean_request_pages_q16() - mean flash pages of a generated read or write, in 2^-16
 */
u64 sim_get_mean_request_pages_q16(const struct sim_options *options,
				   const struct aftl_geometry *geo);

#endif
