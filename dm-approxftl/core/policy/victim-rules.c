// SPDX-License-Identifier: GPL-2.0-only
/* Registry of the victim selectors, and the greedy one. */
#include "core/policy/victim-rules.h"

static const struct {
	const struct aftl_victim_rule *rule;
} list[] = {
#define VICTIM(name) { &aftl_victim_##name },
#include "core/base/victim-list.h"
#undef VICTIM
};

const struct aftl_victim_rule *aftl_victim_rule(u64 victim)
{
	return list[victim].rule;
}

/* Greedy needs no function: the victim lists of the core find the block with least valid data. */
const struct aftl_victim_rule aftl_victim_greedy = { .select_victim = NULL };
