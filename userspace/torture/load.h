/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The load generator draws requests from a seed, independently of the device's answers.
 */
#ifndef AFTL_TORTURE_LOAD_H
#define AFTL_TORTURE_LOAD_H

#include "aftl-host.h"
#include "core/base/random.h"

enum load_op {
	LOAD_READ,
	LOAD_WRITE,
	LOAD_FORCED,
	LOAD_DISCARD,
	LOAD_ZEROES,
	LOAD_PUNCH,
	LOAD_FLUSH,
	LOAD_OPS,
};

/* Names of the operations of a load, in the plural. */
extern const char *const load_op_names[LOAD_OPS];

/**
 * struct load_shape - constants of a run
 * @units: size of the device in units
 * @most: maximum units of a read or a write
 * @most_cleared: maximum units of a discard or of a request that zeroes units
 * @depth: maximum number of requests in flight
 * @discards: discards may be generated
 */
struct load_shape {
	u64 units;
	u32 most;
	u32 most_cleared;
	u32 depth;
	bool discards;
};

/**
 * struct load - state of the generator
 * @left: requests left in this phase
 * @depth: queue depth of this phase
 * @weights: weight of each operation
 * @size: maximum units of a request in this phase
 * @first: first unit of the region of this phase
 * @window: number of units in the region
 * @cursor: next unit of a sequential phase
 * @in_order: the phase is sequential
 */
struct load {
	struct load_shape shape;
	struct aftl_random random;
	u32 left;
	u32 depth;
	const u8 *weights;
	u32 size;
	u64 first;
	u64 window;
	u64 cursor;
	bool in_order;
};

/**
 * struct load_request - a generated request
 * @depth: maximum number of requests in flight, including this one
 * @draw: random number for further choices
 */
struct load_request {
	enum load_op op;
	u64 first;
	u32 count;
	u32 depth;
	u64 draw;
};

void load_generator_init(struct load *load, const struct load_shape *shape, u64 seed);
struct load_request load_next(struct load *load);

#endif
