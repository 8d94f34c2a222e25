// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation rule "least_busy": the LUN with the least work queued; of equal ones the next in the
 * allocation order.
 */
#include "core/policy/lun-rules.h"
#include "core/policy/selection.h"

static u32 choose_least_busy_lun(struct aftl_policy *policy, const struct aftl_lun_request *binding)
{
	u32 luns = aftl_policy_geometry(policy)->luns;
	u32 least = U32_MAX;
	u32 best = 0;
	u32 i;

	for (i = 0; i < luns && least; i++) {
		u32 lun = aftl_lun_request_get_lun(binding, binding->turn + i);
		u32 work = aftl_lun_request_count_waiting(binding, lun);

		if (aftl_lun_request_fits(binding, lun) && work < least) {
			least = work;
			best = lun;
		}
	}
	return best;
}

const struct aftl_lun_rule aftl_lun_least_busy = { .lun = choose_least_busy_lun };
