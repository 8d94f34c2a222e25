// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victim selector "d_choices": draws "victim_choices" blocks at random and takes the one with the
 * least valid data.
 *
 * B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection Algorithms in Flash-Based
 * Solid State Drives", SIGMETRICS 2013. A block that may not be collected, because it is open or
 * fully valid, counts as a draw.
 */
#include "core/base/param-group.h"
#include "core/policy/selection.h"
#include "core/policy/victim-rules.h"

#define PARAMS(PARAM)								\
	PARAM(victim_choices, COUNT, 1, 1024, 8,				\
	      "blocks drawn at random (victim d_choices)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

static struct aftl_block *select_victim_by_d_choices(struct aftl_policy *policy __maybe_unused,
						     const struct aftl_victim_candidates *closed)
{
	const struct own *own = closed->params;
	struct aftl_block *best = NULL;
	u64 i;

	for (i = 0; i < own->victim_choices; i++) {
		struct aftl_block *block = aftl_victim_candidates_draw(closed, (u32)i);

		if (block && (!best || block->valid < best->valid))
			best = block;
	}
	return best;
}

const struct aftl_victim_rule aftl_victim_d_choices = {
	.select_victim = select_victim_by_d_choices,
	.params = &group,
};
