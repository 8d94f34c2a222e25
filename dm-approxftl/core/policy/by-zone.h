/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zones of hotness, and sequential open blocks for each: the common half of ReSSD and
 * of the TLC device that it is compared with.
 */
#ifndef AFTL_POLICY_BY_ZONE_H
#define AFTL_POLICY_BY_ZONE_H

#include "core/policy/policy.h"

/* Zone 0 is cold; its block and those of the hot zones are the first kinds. */
#define AFTL_ZONE_COLD 0

enum { AFTL_KIND_COLLECTED = AFTL_HEATS, AFTL_KIND_DISPLACED, AFTL_ZONE_KINDS };

/**
 * struct aftl_zones - open blocks of a LUN
 * @open: by kind; NULL if there is none
 */
struct aftl_zones {
	struct aftl_block *open[AFTL_ZONE_KINDS];
};

/**
 * aftl_zone_of() - zone of a write: how long ago was the block of the old version begun?
 * @policy: the policy itself
 * @write: a host write
 *
 * Only updates are hot, and nothing is while a device is filled: no time passes then.
 */
u32 aftl_zone_of(struct aftl_policy *policy, const struct aftl_write *write);

int aftl_zones_place(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_zones *zones,
		     const struct aftl_need *need, u32 kind, struct aftl_placement *placement);
bool aftl_zones_adopt(struct aftl_zones *zones, struct aftl_block *block);
void aftl_zones_closed(struct aftl_zones *zones, const struct aftl_block *block);

#endif
