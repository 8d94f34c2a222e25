// SPDX-License-Identifier: GPL-2.0-only
/*
 * Density classes (after SOS, HotOS 2023): precise data that the host writes go into sparse
 * blocks, whose cells hold fewer bits than they can. Dense cells are for what may lose bits and
 * for what is cold: what a move has found still valid, and what was there at the start.
 *
 * A share of a LUN's blocks may be sparse. When it is used up, or no block is free for one, the
 * steps of a whole block are dense before the policy looks again: density gives way to room.
 *
 * Dense blocks have data of one class, unless ApproxFTL places what goes there.
 */
#include "core/policy/policies.h"
#include "core/policy/over-approx.h"

#define density_approx_words aftl_switch_words

#define PARAMS(PARAM)								\
	PARAM(density_bits, COUNT, 0, AFTL_BITS_MAX - 1, 0,			\
	      "bits in a cell of a sparse block; 0: one fewer than it can hold (density)") \
	PARAM(density_share, PERCENT, 0, 10000, 1000,				\
	      "blocks of a LUN that are sparse at most (density)")		\
	PARAM(density_approx, CHOICE, 0, 1, AFTL_OFF,				\
	      "place what is dense as approxftl does (density)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, false);

/*
 * Its array has the dense steps of precise data of the host that are left before a LUN may open
 * a sparse block again.
 */
enum { SPARSE = AFTL_OVER_OWN };

static const struct own *own(const struct aftl_policy *policy)
{
	return policy->params[0];
}

static bool create(struct aftl_policy *policy)
{
	return aftl_over_create(policy, own(policy)->density_approx);
}

static bool adopt(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block)
{
	return (block->kind == SPARSE) == !!block->bits && aftl_over_adopt(policy, lun, block);
}

static u32 *steps_to_go(struct aftl_policy *policy, const struct aftl_lun *lun)
{
	return (u32 *)policy->arrays[0] + aftl_lun_index(lun);
}

static void restored(struct aftl_policy *policy)
{
	u32 *steps = policy->arrays[0];
	u32 lun;

	for (lun = 0; lun < aftl_policy_luns(policy); lun++)
		steps[lun] = min(steps[lun], aftl_steps(aftl_policy_geometry(policy)));
}

/* Placement */

static u32 sparse_blocks(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	u32 first = aftl_lun_index(lun) * media->geo->blocks_per_lun;
	u32 count = 0;
	u32 i;

	for (i = first; i < first + media->geo->blocks_per_lun; i++)
		count += !!media->blocks[i].bits;
	return count;
}

static bool may_be_sparser(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	u64 blocks = aftl_policy_geometry(policy)->blocks_per_lun;

	return (sparse_blocks(policy, lun) + 1) * 10000ULL <= blocks * own(policy)->density_share;
}

static u32 sparse_bits(const struct aftl_policy *policy)
{
	return own(policy)->density_bits ? (u32)own(policy)->density_bits :
					   (u32)aftl_policy_config(policy)->bits - 1;
}

static struct aftl_block *sparse_block(struct aftl_policy *policy, struct aftl_lun *lun,
				       const struct aftl_need *need)
{
	struct aftl_by_class *mine = (struct aftl_by_class *)policy->luns + aftl_lun_index(lun);
	u32 *steps = steps_to_go(policy, lun);

	if (mine->open[SPARSE] || *steps)
		return mine->open[SPARSE];
	if (may_be_sparser(policy, lun))
		mine->open[SPARSE] = aftl_policy_open_less(policy, lun, need, sparse_bits(policy),
							   SPARSE);
	if (!mine->open[SPARSE])
		*steps = aftl_steps(aftl_policy_geometry(policy));
	return mine->open[SPARSE];
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	bool fresh = need->cause == AFTL_CAUSE_HOST && need->class == AFTL_PRECISE &&
		     !aftl_policy_filling(policy);
	int ret;

	if (fresh && sparse_block(policy, lun, need))
		return aftl_by_class_place(policy, lun, need, SPARSE, placement);
	ret = aftl_over_place(policy, lun, need, placement);
	if (!ret && fresh)
		--*steps_to_go(policy, lun);
	return ret;
}

const struct aftl_policy_type aftl_policy_density = {
	.name = "density",
	.about = "hot precise data in cells of fewer bits, approximate and cold data in dense ones",
	.kinds = { AFTL_OVER_KINDS, "sparse" },
	.open_blocks = AFTL_OVER_BLOCKS + 1,
	.reserve = AFTL_OVER_BLOCKS,
	.copy_passes = 2,
	.least_steps = 2,
	.no_parity = true,
	.two_passes = true,
	.size = sizeof(struct aftl_over_approx),
	.lun_size = sizeof(struct aftl_by_class),
	.arrays = { { .count = 1, .width = sizeof(u32), .each = AFTL_EACH_LUN } },
	.params = { &group },
	.create = create,
	.adopt = adopt,
	.restored = restored,
	.closed = aftl_over_closed,
	.place = place,
	AFTL_OVER_METHODS,
};
