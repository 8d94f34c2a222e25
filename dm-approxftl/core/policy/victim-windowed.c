// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windowed: the emptiest of the "victim_window" oldest blocks; a window of one is fifo.
 *
 * X.-Y. Hu, E. Eleftheriou, R. Haas, I. Iliadis, R. Pletka, "Write Amplification Analysis
 * in Flash-Based Solid State Drives", SYSTOR 2009.
 */
#include "core/policy/victims.h"

#define WINDOW_MAX 64

struct window {
	u32 most;
	u32 count;
	struct aftl_block *oldest[WINDOW_MAX];
};

static void offer(struct window *window, struct aftl_block *block)
{
	u32 i = window->count;

	if (i < window->most)
		window->count++;
	else if (!i || window->oldest[--i]->opened_ns <= block->opened_ns)
		return;
	for (; i && window->oldest[i - 1]->opened_ns > block->opened_ns; i--)
		window->oldest[i] = window->oldest[i - 1];
	window->oldest[i] = block;
}

struct aftl_block *aftl_victim_windowed(struct aftl_policy *policy,
					const struct aftl_closed *closed)
{
	struct window window = { .most = (u32)aftl_policy_config(policy)->victim_window };
	struct aftl_block *block = NULL;
	struct aftl_block *best = NULL;
	u32 i;

	while ((block = aftl_closed_next(closed, block)))
		offer(&window, block);
	for (i = 0; i < window.count; i++)
		if (!best || window.oldest[i]->valid < best->valid)
			best = window.oldest[i];
	return best;
}
