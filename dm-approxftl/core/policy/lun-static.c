// SPDX-License-Identifier: GPL-2.0-only
/*
 * The LUN that the address names; what a dead one had is spread over the others.
 * One that is full is not passed over.
 */
#include "core/policy/luns.h"

static u32 choose(struct aftl_policy *policy, const struct aftl_binding *binding)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 place = from_unit(binding->unit) / aftl_program_units(geo);
	u32 home = place % geo->luns;
	u32 lun = aftl_binding_lun(binding, home);
	u32 tries;

	if (likely(aftl_binding_works(binding, lun)))
		return lun;
	home += 1 + place / geo->luns % max(geo->luns - 1, 1U);
	for (tries = 0; tries < geo->luns; tries++, home++)
		if (aftl_binding_works(binding, aftl_binding_lun(binding, home)))
			break;
	return aftl_binding_lun(binding, home);
}

const struct aftl_lun_rule aftl_lun_static = { .lun = choose, .fixed = true, .in_turn = true };
