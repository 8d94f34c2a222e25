// SPDX-License-Identifier: GPL-2.0-only
/*
 * One after the other. All streams share the rotation: two of their own would meet at the
 * same LUN.
 */
#include "core/policy/lun-rules.h"

static u32 rotate_lun(struct aftl_policy *policy __maybe_unused, const struct aftl_lun_request *binding)
{
	return aftl_lun_request_at(binding, binding->turn);
}

const struct aftl_lun_rule aftl_lun_rotate = { .lun = rotate_lun, .in_turn = true };
