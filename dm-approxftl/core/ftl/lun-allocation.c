// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation of a LUN for host writes. The configured rule proposes a LUN; one without room is
 * passed over. If the rule is strict (such as "static"), the write first waits for writes in flight
 * to the LUN, which may invalidate pages there. Parity may leave the LUN too small for its share.
 * Data with a placement id go to the LUNs of the id's reclaim group (FDP).
 */
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun-allocation.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"

/* Set up the reclaim groups: group n has the LUNs from n * group_luns on. */
bool aftl_alloc_reclaim_groups(struct aftl *ftl)
{
	struct aftl_allocation *allocation = &ftl->allocation;
	u32 groups = (u32)ftl->config.placement_groups;
	u32 count[AFTL_RECLAIM_GROUPS_MAX] = { 0 };
	u32 i;

	if (groups == 1 || !ftl->config.placement_handles || ftl->geo.luns % groups)
		return true;
	allocation->group_luns = ftl->geo.luns / groups;
	allocation->members = aftl_memory_alloc(ftl, ftl->geo.luns, sizeof(u32));
	allocation->groups = aftl_memory_alloc(ftl, groups, sizeof(*allocation->groups));
	for (i = 0; allocation->members && i < ftl->geo.luns; i++) {
		u32 lun = aftl_lun_by_allocation_order(&ftl->geo, i);
		u32 group = lun / allocation->group_luns;

		allocation->members[group * allocation->group_luns + count[group]++] = lun;
	}
	return allocation->members && allocation->groups;
}

/* Return true if @lun may take the data of @group; NULL: data of any group. */
bool aftl_reclaim_group_contains_lun(const struct aftl *ftl, const struct aftl_reclaim_group *group,
				     u32 lun)
{
	return !group ||
	       lun / ftl->allocation.group_luns == (u32)(group - ftl->allocation.groups);
}

static u32 count_luns_of_group(const struct aftl *ftl, const struct aftl_reclaim_group *group)
{
	return group ? ftl->allocation.group_luns : ftl->geo.luns;
}

static u32 *allocation_position_of_group(struct aftl *ftl, struct aftl_reclaim_group *group)
{
	return group ? &group->turn : &ftl->allocation.turn;
}

static void advance_allocation_position(struct aftl *ftl, struct aftl_reclaim_group *group)
{
	u32 *turn = allocation_position_of_group(ftl, group);
	u32 next = *turn + 1;

	*turn = next < count_luns_of_group(ftl, group) ? next : 0;
}

/* Return the LUNs of @group in allocation order; NULL for all LUNs. */
static const u32 *list_members_of_group(const struct aftl *ftl,
					const struct aftl_reclaim_group *group)
{
	if (likely(!group))
		return NULL;
	return &ftl->allocation.members[(group - ftl->allocation.groups) *
					ftl->allocation.group_luns];
}

/* Find the next LUN of the allocation order that has room for @units; NULL if no LUN has. */
static struct aftl_lun *next_lun_of_group_with_room(struct aftl *ftl,
						    struct aftl_reclaim_group *group, u32 units)
{
	const u32 *members = list_members_of_group(ftl, group);
	u32 tries;

	for (tries = 0; tries < count_luns_of_group(ftl, group); tries++) {
		u32 turn = *allocation_position_of_group(ftl, group);
		u32 lun = members ? members[turn] : aftl_lun_by_allocation_order(&ftl->geo, turn);

		advance_allocation_position(ftl, group);
		if (aftl_lun_has_room_for_units(&ftl->luns[lun], units))
			return &ftl->luns[lun];
	}
	return NULL;
}

/* Data of a reclaim group without room go to the others. */
static struct aftl_lun *next_lun_with_room(struct aftl *ftl, struct aftl_reclaim_group *group,
					   u32 units)
{
	struct aftl_lun *lun = next_lun_of_group_with_room(ftl, group, units);

	return lun || !group ? lun : next_lun_of_group_with_room(ftl, NULL, units);
}

/**
 * aftl_allocate_lun() - choose the LUN for the next logical pages of a stream
 * @ftl: device
 * @group: reclaim group of the data; NULL: any
 * @lpn: first logical page
 * @class: enum aftl_class
 * @stream: write stream that the policy chose
 * @units: number of logical pages that need room
 *
 * Return: the LUN; NULL if no LUN has room, or if the write has to wait for the rule's LUN.
 */
struct aftl_lun *aftl_allocate_lun(struct aftl *ftl, struct aftl_reclaim_group *group,
				   aftl_lpn_t lpn, u32 class, u32 stream, u32 units)
{
	struct aftl_lun_request binding = {
		.policy = ftl->policy,
		.lpn = lpn,
		.class = class,
		.stream = stream,
		.units = units,
		.turn = *allocation_position_of_group(ftl, group),
		.params = ftl->allocation.params,
		.members = list_members_of_group(ftl, group),
		.member_count = ftl->allocation.group_luns,
	};
	u32 lun = ftl->allocation.rule.lun(ftl->policy, &binding);

	if (unlikely(lun >= ftl->geo.luns)) {
		ftl->stats.counters.policy_bugs++;
		return next_lun_with_room(ftl, group, units);
	}
	if (!aftl_reclaim_group_contains_lun(ftl, group, lun))
		return next_lun_with_room(ftl, group, units);
	if (!aftl_lun_has_room_for_units(&ftl->luns[lun], units))
		return ftl->allocation.rule.fixed && ftl->luns[lun].in_flight ?
			       NULL :
			       next_lun_with_room(ftl, group, units);
	if (ftl->allocation.rule.fixed)
		return &ftl->luns[lun];
	advance_allocation_position(ftl, group);
	return &ftl->luns[lun];
}
