/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is asked of the device: drawn from a seed, whatever the device answers.
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

/* In the plural. */
extern const char *const load_op_names[LOAD_OPS];

/**
 * struct load_shape - what does not change during a run
 * @units: of the device
 * @most: units of a request that has data
 * @most_cleared: units of one that has none
 * @depth: most requests at once
 * @discards: there may be some
 */
struct load_shape {
	u64 units;
	u32 most;
	u32 most_cleared;
	u32 depth;
	bool discards;
};

/**
 * struct load - the state of the draws
 * @left: requests of this phase
 * @depth: of this phase
 * @weights: of each kind of request
 * @size: most units of a request, of this phase
 * @first: where it goes
 * @window: how many units there
 * @cursor: of one that goes on where the last request ended
 * @in_order: is it one?
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
 * struct load_request - one of them
 * @depth: so many may be under way with it
 * @draw: for what else is left to chance
 */
struct load_request {
	enum load_op op;
	u64 first;
	u32 count;
	u32 depth;
	u64 draw;
};

void load_init(struct load *load, const struct load_shape *shape, u64 seed);
struct load_request load_next(struct load *load);

#endif
