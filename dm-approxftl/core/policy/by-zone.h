/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zones of hotness: the common half of ReSSD and of the TLC device that it is compared with.
 */
#ifndef AFTL_POLICY_BY_ZONE_H
#define AFTL_POLICY_BY_ZONE_H

#include "core/policy/policy.h"

/* Zone 0 is cold; its block and those of the hot zones are the first kinds. */
#define AFTL_ZONE_COLD 0
#define AFTL_ZONES 4
#define AFTL_ZONE_NAMES "cold", "hot_1", "hot_2", "hot_3"

enum { AFTL_KIND_COLLECTED = AFTL_ZONES, AFTL_KIND_DISPLACED, AFTL_ZONE_KINDS };

/* Ages that bound the zones: the first parameters of each policy that has zones. */
extern const struct aftl_param_group aftl_zone_params;

/**
 * aftl_zone_of() - zone of a write: how long ago was the block of the old version begun?
 * @policy: the policy itself
 * @write: a host write
 *
 * Only updates are hot, and nothing is while a device is filled: no time passes then.
 */
u32 aftl_zone_of(struct aftl_policy *policy, const struct aftl_write *write);

#endif
