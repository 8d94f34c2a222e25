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

#endif
