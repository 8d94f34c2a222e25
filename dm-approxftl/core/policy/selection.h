/* SPDX-License-Identifier: GPL-2.0-only */
/* The candidates among which a policy selects a victim block, a LUN or an idle-time task. */
#ifndef AFTL_SELECTION_H
#define AFTL_SELECTION_H

#include "core/base/address.h"
#include "core/policy/policy.h"

/**
 * struct aftl_victim_candidates - closed blocks of a LUN that may be collected now
 * @policy: the policy, for services of the core
 * @lun: the LUN
 * @most_valid: blocks with more valid ppns are left out, because they would free too little
 * @params: values of the selector's own parameters
 * @superblocks: NULL, or one entry for each superblock of the die group, which stands for
 *	a block: @valid is the mean of its blocks, @opened_ns and @kind are those of the block
 *	that was opened first, @erases is the same for all; the other fields mean nothing
 */
struct aftl_victim_candidates {
	struct aftl_policy *policy;
	struct aftl_lun *lun;
	u32 most_valid;
	const void *params;
	struct aftl_block *superblocks;
};

/**
 * struct aftl_lun_request - a request for a LUN: lpns of a stream are about to be allocated to one
 * @policy: the policy, for services of the core
 * @lpn: first of the lpns
 * @class: enum aftl_class
 * @stream: stream of the policy, from stream()
 * @units: number of lpns for which a LUN must have room
 * @turn: position of the LUN whose turn it is, see aftl_lun_request_get_lun()
 * @params: values of the rule's own parameters
 * @members: LUNs of the reclaim group that the lpns go to, in allocation order; NULL: any LUN
 * @member_count: number of @members
 */
struct aftl_lun_request {
	struct aftl_policy *policy;
	aftl_lpn_t lpn;
	u32 class;
	u32 stream;
	u32 units;
	u32 turn;
	const void *params;
	const u32 *members;
	u32 member_count;
};

enum aftl_idle_task_kind {
	AFTL_IDLE_TASK_NONE,
	AFTL_IDLE_TASK_REWRITE,
	AFTL_IDLE_TASK_EMPTY,
	AFTL_IDLE_TASK_RELOCATE,
};

/**
 * struct aftl_idle_task - background work for an idle LUN
 * @kind: nothing; rewrite @lpn; relocate everything valid in @block; or relocate what is valid in
 *	some of its pages
 * @lpn: for REWRITE
 * @block: for EMPTY and RELOCATE; after EMPTY it is erased if it is closed
 * @page: for RELOCATE: first page
 * @pages: for RELOCATE: number of pages
 */
struct aftl_idle_task {
	enum aftl_idle_task_kind kind;
	aftl_lpn_t lpn;
	struct aftl_block *block;
	u32 page;
	u32 pages;
};

/* Return true if @block is one of the candidates. */
bool aftl_victim_candidates_contain(const struct aftl_victim_candidates *closed,
				    const struct aftl_block *block);

/**
 * aftl_victim_candidates_next() - iterate over the candidates by address
 * @closed: argument of select_victim()
 * @block: the previous candidate; NULL to begin
 *
 * Return: the next candidate, NULL after the last.
 */
struct aftl_block *aftl_victim_candidates_next(const struct aftl_victim_candidates *closed,
					       const struct aftl_block *block);

/**
 * aftl_victim_candidates_draw() - a block of the LUN drawn at random
 * @closed: argument of select_victim()
 * @number: number of the draw; repeats return the same block until the next command or erase
 *
 * Return: the block, or NULL if it is not a candidate.
 */
struct aftl_block *aftl_victim_candidates_draw(const struct aftl_victim_candidates *closed,
					       u32 number);

/* Nanoseconds since @block was opened. */
u64 aftl_victim_age_ns(const struct aftl_victim_candidates *closed, const struct aftl_block *block);

/**
 * aftl_lun_request_get_lun() - LUN at a position of the allocation order
 * @binding: argument of lun()
 * @position: any number; the order repeats after the last LUN
 *
 * If the lpns go to a reclaim group, only its LUNs have positions.
 */
static inline u32 aftl_lun_request_get_lun(const struct aftl_lun_request *binding, u32 position)
{
	if (unlikely(binding->members))
		return binding->members[position % binding->member_count];
	return aftl_lun_by_allocation_order(binding->policy->core->geo, position);
}

/* Return true if @lun has room for the request; a dead LUN has none. */
static inline bool aftl_lun_request_fits(const struct aftl_lun_request *binding, u32 lun)
{
	const struct aftl_policy *policy = binding->policy;

	return policy->core->services->room(policy->ftl, lun, binding->units);
}

static inline bool aftl_lun_request_is_lun_alive(const struct aftl_lun_request *binding, u32 lun)
{
	return binding->policy->core->services->works(binding->policy->ftl, lun);
}

/* Number of host reads and programs that wait for @lun, including the one in progress. */
static inline u32 aftl_lun_request_count_waiting(const struct aftl_lun_request *binding, u32 lun)
{
	return binding->policy->core->services->work(binding->policy->ftl, lun);
}

#endif
