// SPDX-License-Identifier: GPL-2.0-only
/*
 * The LUN with the least work before it; among equals the one whose turn is next.
 */
#include "core/policy/luns.h"

static u32 choose(struct aftl_policy *policy, const struct aftl_binding *binding)
{
	u32 luns = aftl_policy_geometry(policy)->luns;
	u32 least = U32_MAX;
	u32 best = 0;
	u32 i;

	for (i = 0; i < luns && least; i++) {
		u32 lun = aftl_binding_lun(binding, binding->turn + i);
		u32 work = aftl_binding_work(binding, lun);

		if (aftl_binding_room(binding, lun) && work < least) {
			least = work;
			best = lun;
		}
	}
	return best;
}

const struct aftl_lun_rule aftl_lun_least_busy = { .lun = choose };
