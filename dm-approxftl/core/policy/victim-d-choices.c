// SPDX-License-Identifier: GPL-2.0-only
/*
 * d choices: chance draws "victim_choices" blocks, the emptiest of them is collected.
 *
 * B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection Algorithms in
 * Flash-Based Solid State Drives", SIGMETRICS 2013. A draw that may not be collected, an
 * open or a full block, counts as a draw.
 */
#include "core/policy/victims.h"

struct aftl_block *aftl_victim_d_choices(struct aftl_policy *policy,
					 const struct aftl_closed *closed)
{
	struct aftl_block *best = NULL;
	u64 i;

	for (i = 0; i < aftl_policy_config(policy)->victim_choices; i++) {
		struct aftl_block *block = aftl_closed_draw(closed, (u32)i);

		if (block && (!best || block->valid < best->valid))
			best = block;
	}
	return best;
}
