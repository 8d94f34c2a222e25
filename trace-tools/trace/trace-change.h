/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How requests are changed on their way from one format to another.
 */
#ifndef AFTL_TRACE_CHANGE_H
#define AFTL_TRACE_CHANGE_H

#include "trace-options.h"

/* Requests near each other stay or go together. */
#define TRACE_SAMPLE_BYTES 1048576ULL

/* What --scale-lba keeps together. */
#define TRACE_SCALE_BYTES 4096ULL

/**
 * struct trace_change - how
 * @keep_time: times as in the source
 * @begun: @first_ns is known
 * @first_ns: time of the first request that is kept
 * @scale: factor of offsets, in TRACE_SCALE_ONE; 0: none
 * @fold: addresses come round there, 0: not
 * @device_bytes: beyond is an error, 0: unknown
 * @sample: keep what draws less than this of 2^64; 0: all
 * @sample_seed: of the draws
 * @left_out: requests that were not in the sample
 * @folded: requests that came round
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
 * trace_change_apply() - change a request
 * @rest: out: what came round to the beginning; of 0 bytes if nothing did
 *
 * Return: 1, 0 if it is left out, or -ERANGE with a sentence.
 */
int __must_check trace_change_apply(struct trace_change *change, struct trace_request *request,
				    struct trace_request *rest, struct aftl_error *error);

#endif
