/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocation of a LUN for a write. */
#ifndef AFTL_LUN_ALLOCATION_H
#define AFTL_LUN_ALLOCATION_H

#include "core/ftl/request.h"
#include "core/ftl/lun-work.h"
#include "core/policy/lun-rules.h"

struct aftl_lun;

/**
 * struct aftl_lane_lun - LUN that the next writes of one stream and class go to
 * @lun: index of the LUN
 * @left: logical pages that still go there before another LUN is chosen
 */
struct aftl_lane_lun {
	u32 lun;
	u32 left;
};

/**
 * struct aftl_reclaim_group - distribution of host writes over the LUNs of a reclaim group
 * @turn: position of the next LUN in the allocation order of the group
 * @lanes: like aftl_allocation.lanes
 */
struct aftl_reclaim_group {
	u32 turn;
	struct aftl_lane_lun lanes[AFTL_HANDLE_WRITE_STREAMS];
};

/**
 * struct aftl_allocation - distribution of host writes over LUNs
 * @turn: position of the next LUN in the allocation order
 * @rule: rule of the policy or of the parameter "allocate"
 * @params: parameters of @rule
 * @units: logical pages that go to a LUN before the next one is chosen
 * @lanes: LUN of the next writes, by write stream and data class
 * @groups: the reclaim groups; NULL if there is only one
 * @group_luns: number of LUNs of each reclaim group
 * @members: LUNs of the first reclaim group in allocation order, then those of the next ones
 */
struct aftl_allocation {
	u32 turn;
	struct aftl_lun_rule rule;
	const void *params;
	u32 units;
	struct aftl_lane_lun lanes[AFTL_WRITE_STREAMS_MAX];
	struct aftl_reclaim_group *groups;
	u32 group_luns;
	u32 *members;
};

/* Every device starts at this position of the allocation order, preconditioned or not. */
static inline u32 aftl_get_first_allocation_position(const struct aftl_geometry *geo)
{
	return 1 % geo->luns;
}

bool aftl_alloc_reclaim_groups(struct aftl *ftl);
bool aftl_reclaim_group_contains_lun(const struct aftl *ftl, const struct aftl_reclaim_group *group,
				     u32 lun);
struct aftl_lun *aftl_allocate_lun(struct aftl *ftl, struct aftl_reclaim_group *group,
				   aftl_lpn_t lpn, u32 class, u32 stream, u32 units);

#endif
