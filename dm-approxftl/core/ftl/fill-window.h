/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of a fill whose lpns determine their LUNs.
 *
 * A shuffled fill with the allocation rule "static" programs the LUNs in no order and stores the
 * L2P entries in random order, which costs several cache misses for each program. So the programs
 * are queued by LUN, and the L2P entries of the last writes, the window, are stored in the order of
 * their lpns.
 */
#ifndef AFTL_FILL_WINDOW_H
#define AFTL_FILL_WINDOW_H

#include "core/base/fill-order.h"

struct aftl;
struct aftl_fill_run;

/**
 * struct aftl_fill_program - a queued program
 * @lpn: first logical page
 * @write: number of the write of this page in the batch of queued programs
 */
struct aftl_fill_program {
	u32 lpn;
	u32 write;
};

/**
 * struct aftl_fill_window - queued programs, and L2P entries that are still to be stored
 * @order: order of the fill, from the first write of the window on
 * @size: writes in the window, at most; a multiple of the logical pages of a program
 * @used: writes in the window
 * @steps: how to find their lpns in ascending order, computed when the last window was stored
 * @entries: by write: L2P entry that is still to be stored; 0: there is none. NULL: there is no
 *	window
 * @luns: by position in the allocation order: index of the LUN
 * @queue_size: programs in the queue of a LUN, at most
 * @queued: by LUN: programs in its queue
 * @programs: queues of all LUNs
 */
struct aftl_fill_window {
	struct aftl_fill_order order;
	u32 size;
	u32 used;
	struct aftl_fill_steps steps;
	u32 *entries;
	u32 *luns;
	u32 queue_size;
	u32 *queued;
	struct aftl_fill_program *programs;
};

/* Begin an empty window at the start of @order; without memory there is none. */
void aftl_fill_window_init(struct aftl *ftl, struct aftl_fill_window *window,
			   const struct aftl_fill_order *order);

/**
 * aftl_fill_window_commit_programs() - commit the next programs of a fill
 * @ftl: device
 * @window: takes the L2P entries
 * @runs: by LUN
 * @order: order of the fill, from the first write of the first program on
 * @units: logical pages that are still to be written
 *
 * Return: number of logical pages; fewer than @units at the end of a run, and if the window or the
 * queue of a LUN is full.
 */
u32 aftl_fill_window_commit_programs(struct aftl *ftl, struct aftl_fill_window *window,
				     struct aftl_fill_run *runs,
				     const struct aftl_fill_order *order, u32 units);

/* Add a write whose L2P entry has been stored. */
static inline void aftl_fill_window_skip_write(struct aftl_fill_window *window)
{
	window->entries[window->used++] = 0;
}

/* Return true if the L2P entries must be stored before the next write. */
static inline bool aftl_fill_window_is_full(const struct aftl_fill_window *window)
{
	return window->entries && window->used == window->size;
}

/* Store the L2P entries of the window, and begin the next one. */
void aftl_fill_window_store_l2p_entries(struct aftl *ftl, struct aftl_fill_window *window);

/* Free the memory of an empty window: there is none any more. */
void aftl_fill_window_free(struct aftl *ftl, struct aftl_fill_window *window);

#endif
