// SPDX-License-Identifier: GPL-2.0-only
/*
 * One after the other. All streams share the rotation: two of their own would meet at the
 * same LUN.
 */
#include "core/policy/luns.h"

static u32 choose(struct aftl_policy *policy __maybe_unused, const struct aftl_binding *binding)
{
	return aftl_binding_lun(binding, binding->turn);
}

const struct aftl_lun_rule aftl_lun_rotate = { .lun = choose, .in_turn = true };
