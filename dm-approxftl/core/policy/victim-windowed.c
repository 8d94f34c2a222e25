// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victim selector "windowed": of the "victim_window" oldest blocks the one with the least valid
 * data; a window of one is fifo.
 *
 * X.-Y. Hu, E. Eleftheriou, R. Haas, I. Iliadis, R. Pletka, "Write Amplification Analysis in
 * Flash-Based Solid State Drives", SYSTOR 2009.
 */
#include "core/base/param-group.h"
#include "core/policy/selection.h"
#include "core/policy/victim-rules.h"

#define WINDOW_MAX 64

#define PARAMS(PARAM)								\
	PARAM(victim_window, COUNT, 1, WINDOW_MAX, 32,				\
	      "window of the oldest blocks (victim windowed)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

struct window {
	u32 most;
	u32 count;
	struct aftl_block *oldest[WINDOW_MAX];
};

static void victim_window_add_block_if_old(struct window *window, struct aftl_block *block)
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

static struct aftl_block *select_victim_in_window(struct aftl_policy *policy __maybe_unused,
						  const struct aftl_victim_candidates *closed)
{
	const struct own *own = closed->params;
	struct window window = { .most = (u32)own->victim_window };
	struct aftl_block *block = NULL;
	struct aftl_block *best = NULL;
	u32 i;

	while ((block = aftl_victim_candidates_next(closed, block)))
		victim_window_add_block_if_old(&window, block);
	for (i = 0; i < window.count; i++)
		if (!best || window.oldest[i]->valid < best->valid)
			best = window.oldest[i];
	return best;
}

const struct aftl_victim_rule aftl_victim_windowed = {
	.select_victim = select_victim_in_window,
	.params = &group,
};
