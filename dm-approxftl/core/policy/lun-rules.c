// SPDX-License-Identifier: GPL-2.0-only
/* Registry of the LUN allocation rules. */
#include "core/policy/lun-rules.h"
#include "core/policy/nand-policy.h"

static const struct {
	const struct aftl_lun_rule *rule;
} list[] = {
#define LUN_RULE(name) { &aftl_lun_##name },
#include "core/base/lun-list.h"
#undef LUN_RULE
};

struct aftl_lun_rule aftl_lun_rule(const struct aftl_policy_type *type, u64 allocate)
{
	if (type->lun)
		return (struct aftl_lun_rule){ .lun = type->lun, .fixed = type->lun_fixed };
	return *list[allocate].rule;
}
