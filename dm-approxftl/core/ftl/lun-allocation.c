// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation of a LUN for host writes. The configured rule proposes a LUN; one without room is
 * passed over. If the rule is strict (such as "static"), the write first waits for writes in flight
 * to the LUN, which may invalidate pages there. Parity may leave the LUN too small for its share.
 */
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/lun.h"

static void advance_allocation_position(struct aftl *ftl)
{
	u32 next = ftl->allocation.turn + 1;

	ftl->allocation.turn = next < ftl->geo.luns ? next : 0;
}

/* Find the next LUN of the allocation order that has room for @units; NULL if no LUN has. */
static struct aftl_lun *next_lun_with_room(struct aftl *ftl, u32 units)
{
	u32 tries;

	for (tries = 0; tries < ftl->geo.luns; tries++) {
		u32 lun = aftl_lun_by_allocation_order(&ftl->geo, ftl->allocation.turn);

		advance_allocation_position(ftl);
		if (aftl_lun_has_room_for_units(&ftl->luns[lun], units))
			return &ftl->luns[lun];
	}
	return NULL;
}

/**
 * aftl_allocate_lun() - choose the LUN for the next logical pages of a stream
 * @ftl: device
 * @lpn: first logical page
 * @class: enum aftl_class
 * @stream: write stream that the policy chose
 * @units: number of logical pages that need room
 *
 * Return: the LUN; NULL if no LUN has room, or if the write has to wait for the rule's LUN.
 */
struct aftl_lun *aftl_allocate_lun(struct aftl *ftl, aftl_lpn_t lpn, u32 class, u32 stream,
				   u32 units)
{
	struct aftl_lun_request binding = {
		.policy = ftl->policy,
		.lpn = lpn,
		.class = class,
		.stream = stream,
		.units = units,
		.turn = ftl->allocation.turn,
		.params = ftl->allocation.params,
	};
	u32 lun = ftl->allocation.rule.lun(ftl->policy, &binding);

	if (unlikely(lun >= ftl->geo.luns)) {
		ftl->stats.counters.policy_bugs++;
		return next_lun_with_room(ftl, units);
	}
	if (!aftl_lun_has_room_for_units(&ftl->luns[lun], units))
		return ftl->allocation.rule.fixed && ftl->luns[lun].in_flight ?
			       NULL :
			       next_lun_with_room(ftl, units);
	if (ftl->allocation.rule.fixed)
		return &ftl->luns[lun];
	advance_allocation_position(ftl);
	return &ftl->luns[lun];
}
