/* SPDX-License-Identifier: GPL-2.0-only */
/* Victim selectors: which block is collected, if the policy does not choose it. */
#ifndef AFTL_VICTIM_RULES_H
#define AFTL_VICTIM_RULES_H

#include "core/policy/selection.h"

/**
 * struct aftl_victim_rule - a victim selector
 * @select_victim: like aftl_policy_type.select_victim; NULL for the block with the least valid data
 * @params: parameters of the selector, or NULL; the argument @closed of select_victim has their
 * values
 */
struct aftl_victim_rule {
	struct aftl_block *(*select_victim)(struct aftl_policy *policy,
					    const struct aftl_victim_candidates *closed);
	const struct aftl_param_group *params;
};

#define VICTIM(name) extern const struct aftl_victim_rule aftl_victim_##name;
#include "core/base/victim-list.h"
#undef VICTIM

/* Return the victim selector with this number in enum aftl_victim. */
const struct aftl_victim_rule *aftl_victim_rule(u64 victim);

#endif
