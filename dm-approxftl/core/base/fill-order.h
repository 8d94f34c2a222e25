/* SPDX-License-Identifier: GPL-2.0-only */
/* Order of the first writes of preconditioning. */
#ifndef AFTL_FILL_ORDER_H
#define AFTL_FILL_ORDER_H

#include "core/base/types.h"

/**
 * struct aftl_fill_order - order in which preconditioning first writes the logical pages
 * @at: next logical page
 * @step: distance to the one after it; coprime to @units
 * @units: number of logical pages, at most 2^30; the order wraps around there
 * @seq: sequence number of the next write
 */
struct aftl_fill_order {
	u32 at;
	u32 step;
	u32 units;
	u64 seq;
};

/* Logical page that preconditioning fills @step writes later than page @at; the order wraps. */
static inline u32 aftl_fill_order_next_lpn(const struct aftl_fill_order *order, u32 at, u32 step)
{
	at += step;
	return at < order->units ? at : at - order->units;
}

static inline void aftl_fill_order_advance_by_writes(struct aftl_fill_order *order, u32 writes)
{
	order->at = (order->at + (u64)writes * order->step) % order->units;
	order->seq += writes;
}

/* Compute, from the order of lpns in a fill, the order of write numbers by ascending lpn. */
struct aftl_fill_order aftl_fill_order_inverse(const struct aftl_fill_order *order);

/**
 * struct aftl_fill_steps - how to visit values (at + i * step) % units, with i below @count, in
 * ascending order
 * @count: number of values
 * @up: distance to the i of the next higher value, if that i is higher
 * @up_value: distance of the values
 * @down: distance to the i of the next higher value, if that i is lower
 * @down_value: distance of the values
 *
 * By the three-distance theorem one step up, one step down, or one step up and one down lead from
 * each value to the next higher one; after the highest value follows the lowest.
 */
struct aftl_fill_steps {
	u32 count;
	u32 up;
	u32 up_value;
	u32 down;
	u32 down_value;
};

struct aftl_fill_steps aftl_fill_find_steps(u32 step, u32 units, u32 count);

/* Go from the i of a value (modulo @units) to that of the next higher value. */
static inline void aftl_fill_take_step(const struct aftl_fill_steps *steps, u32 units, u32 *i,
				       u32 *value)
{
	bool up = *i + steps->up < steps->count;
	bool down = *i >= steps->down;

	*i += (up || !down ? steps->up : 0) - (up ? 0 : steps->down);
	*value += (up || !down ? steps->up_value : 0) + (up ? 0 : steps->down_value);
	*value -= *value < units ? 0 : units;
}

/*
 * Count the i below @count for which (@at + i * @step) % @units is below @limit, which is at most
 * @units; @at and @step are less.
 */
u32 aftl_fill_count_values_below(u32 step, u32 units, u32 count, u32 at, u32 limit);

#endif
