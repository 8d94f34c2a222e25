// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules there are, and the one that needs no choice.
 */
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

/* The block with the fewest valid slots, which the core's lists know. */
const struct aftl_victim_rule aftl_victim_greedy = { .select_victim = NULL };
