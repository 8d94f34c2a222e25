// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cache of blocks that hold one bit in a cell: host writes are short while there is room in
 * it. What is collected from it, by need or when a die is idle, is folded into full blocks.
 */
#include "core/policy/policies.h"
#include "core/policy/by-class.h"

#define PARAMS(PARAM)							\
	PARAM(slc_share, PERCENT, 0, 9000, 1000,			\
	      "most blocks that are used with one bit in a cell (slc)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

enum { FULL, CACHE };

static struct aftl_block *first_of(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	size_t blocks = aftl_policy_geometry(policy)->blocks_per_lun;

	return aftl_policy_media(policy)->blocks + aftl_lun_index(lun) * blocks;
}

static bool in_cache(const struct aftl_block *block)
{
	return block->bits == 1 &&
	       (block->state == AFTL_BLOCK_OPEN || block->state == AFTL_BLOCK_CLOSED);
}

static bool has_room(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	u32 blocks = aftl_policy_geometry(policy)->blocks_per_lun;
	const struct aftl_block *block = first_of(policy, lun);
	const struct own *own = policy->params[0];
	u32 cached = 0;
	u32 i;

	for (i = 0; i < blocks; i++)
		cached += in_cache(block + i);
	return cached < div64_u64(own->slc_share * blocks, 10000);
}

static struct aftl_block **open_of(struct aftl_policy *policy, const struct aftl_lun *lun)
{
	return &((struct aftl_by_class *)policy->luns)[aftl_lun_index(lun)].open[CACHE];
}

/* What is there before the first request has been folded long ago. */
static bool goes_to_cache(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_need *need)
{
	struct aftl_block **open = open_of(policy, lun);

	if (need->cause != AFTL_CAUSE_HOST || aftl_policy_filling(policy))
		return false;
	if (!*open && has_room(policy, lun))
		*open = aftl_policy_open_less(policy, lun, need, 1, CACHE);
	return *open;
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	u32 kind = goes_to_cache(policy, lun, need) ? CACHE : FULL;

	return aftl_by_class_place(policy, lun, need, kind, placement);
}

/* The block that has been in the cache for longest. */
static void chore(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_chore *chore)
{
	u32 blocks = aftl_policy_geometry(policy)->blocks_per_lun;
	struct aftl_block *block = first_of(policy, lun);

	for (; blocks; blocks--, block++) {
		if (!in_cache(block) || block->state != AFTL_BLOCK_CLOSED)
			continue;
		if (chore->kind == AFTL_CHORE_NONE || block->opened_ns < chore->block->opened_ns)
			chore->block = block;
		chore->kind = AFTL_CHORE_EMPTY;
	}
}

const struct aftl_policy_type aftl_policy_slc = {
	.name = "slc",
	.about = "a cache of one bit in a cell, folded into full blocks when there is time",
	.kinds = { "full", "cache" },
	.open_blocks = 2,
	.reserve = 1,
	.two_passes = true,
	.ignores_tags = true,
	.params = { &group },
	AFTL_BY_CLASS_METHODS,
	.place = place,
	.chore = chore,
};
