/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocation rules: which LUN a write goes to, if the policy does not choose it. */
#ifndef AFTL_LUN_RULES_H
#define AFTL_LUN_RULES_H

#include "core/policy/selection.h"

/**
 * struct aftl_lun_rule - an allocation rule
 * @lun: like aftl_policy_type.lun
 * @fixed: like aftl_policy_type.lun_fixed
 * @in_turn: the LUNs follow each other whatever their state: the next one is due after each program
 *	or, with @fixed, after each run of lpns that fills one program, so that the number of the
 *	run is the position of its LUN in the allocation order; dead LUNs are an exception
 * @params: parameters of the rule, or NULL; @binding has their values
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

/* Return the policy's own allocation rule or, without one, rule @allocate (enum aftl_allocate). */
struct aftl_lun_rule aftl_lun_rule(const struct aftl_policy_type *type, u64 allocate);

#endif
