// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation rule "rotate": LUNs in allocation order, one for each program. All streams share the
 * position in this order: with a position each, several streams could write to one LUN at a time.
 *
 * With paced GC a LUN that collects takes fewer programs. If it got as many as the others, they
 * would fill its queue, and all requests would wait there. So the rule passes over LUNs that have
 * more work queued than another.
 */
#include "core/policy/lun-rules.h"
#include "core/policy/selection.h"

static u32 choose_next_lun_in_rotation(struct aftl_policy *policy,
				       const struct aftl_lun_request *binding)
{
	if (unlikely(aftl_policy_config(policy)->gc_mode == AFTL_GC_PACED) &&
	    !aftl_policy_is_preconditioning(policy))
		return aftl_lun_least_busy.lun(policy, binding);
	return aftl_lun_request_get_lun(binding, binding->turn);
}

const struct aftl_lun_rule aftl_lun_rotate = { .lun = choose_next_lun_in_rotation,
					       .in_turn = true };
