// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation rule "rotate": LUNs in allocation order, one for each program. All streams share the
 * position, because separate positions would meet at the same LUN.
 */
#include "core/policy/lun-rules.h"

static u32 rotate_lun(struct aftl_policy *policy __maybe_unused,
		      const struct aftl_lun_request *binding)
{
	return aftl_lun_request_at(binding, binding->turn);
}

const struct aftl_lun_rule aftl_lun_rotate = { .lun = rotate_lun, .in_turn = true };
