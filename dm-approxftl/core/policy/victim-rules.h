/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules by which a victim is chosen, where a policy leaves it open.
 */
#ifndef AFTL_VICTIM_RULES_H
#define AFTL_VICTIM_RULES_H

#include "core/policy/policy.h"

/**
 * struct aftl_victim_rule - one of them
 * @victim: as a policy's; NULL for the block with the fewest valid slots
 * @params: what it adds to the parameters, or NULL; @closed has the values
 */
struct aftl_victim_rule {
	struct aftl_block *(*select_victim)(struct aftl_policy *policy,
				     const struct aftl_victim_candidates *closed);
	const struct aftl_param_group *params;
};

#define VICTIM(name) extern const struct aftl_victim_rule aftl_victim_##name;
#include "core/base/victim-list.h"
#undef VICTIM

/* The rule of enum aftl_victim. */
const struct aftl_victim_rule *aftl_victim_rule(u64 victim);

#endif
