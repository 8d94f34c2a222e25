/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zones of hotness: the common half of ReSSD and of the TLC device that it is compared with.
 */
#ifndef AFTL_POLICY_HOTNESS_H
#define AFTL_POLICY_HOTNESS_H

#include "core/policy/policy.h"

/* Zone 0 is cold; its block and those of the hot zones are the first kinds. */
#define AFTL_HOTNESS_COLD 0
#define AFTL_HOTNESS_CLASSES 4
#define AFTL_HOTNESS_NAMES "cold", "hot_1", "hot_2", "hot_3"

enum { AFTL_KIND_COLLECTED = AFTL_HOTNESS_CLASSES, AFTL_KIND_DISPLACED, AFTL_HOTNESS_KINDS };

/* Ages that bound the zones: the first parameters of each policy that has zones. */
extern const struct aftl_param_group aftl_hotness_params;

/**
 * aftl_hotness_class() - zone of a write: how long ago was the block of the old version begun?
 * @policy: the policy itself
 * @write: a host write
 *
 * Only updates are hot, and nothing is while a device is filled: no time passes then.
 */
u32 aftl_hotness_class(struct aftl_policy *policy, const struct aftl_host_write *write);

#endif
