/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes that the user asks for while requests are copied to another format.
 */
#ifndef AFTL_TRACE_CHANGE_H
#define AFTL_TRACE_CHANGE_H

#include "trace-options.h"

/* Requests in the same block of this many bytes are all kept or all left out by --sample. */
#define TRACE_SAMPLE_BYTES 1048576ULL

/* Unit of --scale-lba: offsets within a unit do not change. */
#define TRACE_SCALE_BYTES 4096ULL

/**
 * struct trace_change - changes to the requests of a trace
 * @keep_time: keep the times of the source
 * @begun: @first_ns is valid
 * @first_ns: time of the first request that is kept
 * @scale: factor of offsets, in units of 1 / TRACE_SCALE_ONE; 0: none
 * @fold: wrap addresses at this byte; 0: do not
 * @device_bytes: size of the device: requests beyond it are errors; 0: unknown
 * @sample: keep a request if its draw is less than this, of 2^64; 0: keep all
 * @sample_seed: seed of the draws
 * @left_out: number of requests outside the sample
 * @folded: number of requests that were wrapped
 */
struct trace_change {
	bool keep_time;
	bool begun;
	u64 first_ns;
	u64 scale;
	u64 fold;
	u64 device_bytes;
	u64 sample;
	u64 sample_seed;
	u64 left_out;
	u64 folded;
};

int __must_check trace_change_init(struct trace_change *change,
				   const struct trace_options *options, struct aftl_error *error);

/**
 * trace_change_apply() - apply the changes to a request
 * @rest: takes the part that --fold wraps to the beginning of the device; size 0 if there is none
 *
 * Return: 1, 0 if the request is left out, or -ERANGE with a message.
 */
int __must_check trace_change_apply(struct trace_change *change, struct trace_request *request,
				    struct trace_request *rest, struct aftl_error *error);

#endif
