/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules by which a LUN is chosen, where a policy leaves it open.
 */
#ifndef AFTL_LUN_RULES_H
#define AFTL_LUN_RULES_H

#include "core/policy/policy.h"

/**
 * struct aftl_lun_rule - one of them
 * @lun: as a policy's
 * @fixed: as a policy's lun_fixed
 * @in_turn: LUNs follow each other, whatever is in them: from program to program, or where it is
 *	fixed, from each program's units to the next ones
 * @params: what it adds to the parameters, or NULL; @binding has the values
 */
struct aftl_lun_rule {
	u32 (*lun)(struct aftl_policy *policy, const struct aftl_lun_request *binding);
	bool fixed;
	bool in_turn;
	const struct aftl_param_group *params;
};

#define LUN_RULE(name) extern const struct aftl_lun_rule aftl_lun_##name;
#include "core/base/lun-list.h"
#undef LUN_RULE

/* The policy's own rule, or that of enum aftl_allocate. */
struct aftl_lun_rule aftl_lun_rule(const struct aftl_policy_type *type, u64 allocate);

#endif
