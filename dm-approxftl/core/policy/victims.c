// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules there are, and the one that needs no choice.
 */
#include "core/policy/victims.h"

static const aftl_victim_fn rules[] = {
#define VICTIM(name) aftl_victim_##name,
#include "core/base/victim-list.h"
#undef VICTIM
};

aftl_victim_fn aftl_victim_rule(u64 victim)
{
	return rules[victim];
}

/* The block with the fewest valid slots, which the core's lists know. */
struct aftl_block *aftl_victim_greedy(struct aftl_policy *policy __maybe_unused,
				      const struct aftl_closed *closed __maybe_unused)
{
	return NULL;
}
