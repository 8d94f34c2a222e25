// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation rule "static": the LUN follows from the lpn. The lpns of a dead LUN are distributed
 * over the others. Writes to a full LUN wait.
 */
#include "core/policy/lun-rules.h"
#include "core/policy/selection.h"

static u32 choose_lun_by_lpn(struct aftl_policy *policy, const struct aftl_lun_request *binding)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 place = from_lpn(binding->lpn) / aftl_units_per_program(geo);
	u32 home = place % geo->luns;
	u32 lun = aftl_lun_request_get_lun(binding, home);
	u32 tries;

	if (likely(aftl_lun_request_is_lun_alive(binding, lun)))
		return lun;
	home += 1 + place / geo->luns % max(geo->luns - 1, 1U);
	for (tries = 0; tries < geo->luns; tries++, home++)
		if (aftl_lun_request_is_lun_alive(binding, aftl_lun_request_get_lun(binding, home)))
			break;
	return aftl_lun_request_get_lun(binding, home);
}

const struct aftl_lun_rule aftl_lun_static = { .lun = choose_lun_by_lpn,
					       .fixed = true,
					       .in_turn = true };
