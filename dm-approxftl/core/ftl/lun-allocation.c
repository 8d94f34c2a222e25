// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which LUN a write goes to: the rule proposes, room decides.
 */
#include "core/ftl/device.h"

/* NULL: none has any. */
static struct aftl_lun *next_lun_with_room(struct aftl *ftl, u32 units)
{
	u32 tries;

	for (tries = 0; tries < ftl->geo.luns; tries++) {
		u32 lun = aftl_allocation_order_lun(&ftl->geo, ftl->rotation);

		ftl->rotation = ftl->rotation + 1 < ftl->geo.luns ? ftl->rotation + 1 : 0;
		if (aftl_lun_has_room(&ftl->luns[lun], units))
			return &ftl->luns[lun];
	}
	return NULL;
}

/**
 * aftl_allocate_lun() - choose the LUN for the next units of a stream
 * @ftl: device
 * @lpn: the first of them
 * @class: enum aftl_class
 * @stream: as the policy said
 * @units: for so many there must be room
 *
 * Return: the LUN, or NULL if none has room, or not the one that a fixed rule names.
 */
struct aftl_lun *aftl_allocate_lun(struct aftl *ftl, aftl_lpn_t lpn, u32 class, u32 stream, u32 units)
{
	struct aftl_lun_request binding = {
		.policy = ftl->policy,
		.lpn = lpn,
		.class = class,
		.stream = stream,
		.units = units,
		.turn = ftl->rotation,
		.params = ftl->lun_params,
	};
	u32 lun = ftl->lun_rule.lun(ftl->policy, &binding);

	if (unlikely(lun >= ftl->geo.luns)) {
		ftl->stats.counters.policy_bugs++;
		return next_lun_with_room(ftl, units);
	}
	if (ftl->lun_rule.fixed)
		return aftl_lun_has_room(&ftl->luns[lun], units) ? &ftl->luns[lun] : NULL;
	if (!aftl_lun_has_room(&ftl->luns[lun], units))
		return next_lun_with_room(ftl, units);
	ftl->rotation = ftl->rotation + 1 < ftl->geo.luns ? ftl->rotation + 1 : 0;
	return &ftl->luns[lun];
}
