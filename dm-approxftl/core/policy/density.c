// SPDX-License-Identifier: GPL-2.0-only
/*
 * Density classes (after SOS, HotOS 2023): precise data that the host writes goes to sparse blocks,
 * whose cells hold fewer bits than they can. Dense blocks take approximate data and cold data:
 * relocated data, and the data that preconditioning wrote.
 *
 * A share of the blocks of a LUN may be sparse. If it is used up, or if there is no free block for
 * a sparse one, the policy writes one block's worth of program steps to dense blocks before it
 * tries again: capacity comes before density.
 *
 * Dense blocks have data of one class, unless ApproxFTL places it.
 */
#include "core/policy/policies.h"
#include "core/policy/delegate.h"

#define density_approx_words aftl_switch_words

#define PARAMS(PARAM)								\
	PARAM(density_bits, COUNT, 0, AFTL_BITS_MAX - 1, 0,			\
	      "bits in a cell of a sparse block; 0: one fewer than it can hold (density)") \
	PARAM(density_share, PERCENT, 0, 10000, 1000,				\
	      "largest share of sparse blocks in a LUN (density)")		\
	PARAM(density_approx, CHOICE, 0, 1, AFTL_OFF,				\
	      "place data of dense blocks as approxftl does (density)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, false);

/*
 * The array of the policy counts, by LUN, the program steps of precise host data that go to dense
 * blocks before the LUN may open another sparse block.
 */
enum { SPARSE = AFTL_DELEGATE_OWN };

static const struct own *density_params(const struct aftl_policy *policy)
{
	return policy->params[0];
}

static bool density_create(struct aftl_policy *policy)
{
	return aftl_delegate_create(policy, density_params(policy)->density_approx);
}

static bool density_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				       struct aftl_block *block)
{
	return (block->kind == SPARSE) == !!block->bits &&
	       aftl_delegate_adopt_loaded_block(policy, lun, block);
}

static u32 *density_get_programs_to_next_sparse_block(struct aftl_policy *policy,
						      const struct aftl_lun *lun)
{
	return (u32 *)policy->arrays[0] + aftl_lun_index(lun);
}

static void density_sanitize_arrays(struct aftl_policy *policy)
{
	u32 *steps = policy->arrays[0];
	u32 lun;

	for (lun = 0; lun < aftl_policy_count_luns(policy); lun++)
		steps[lun] = min(steps[lun],
				 aftl_count_program_steps_per_block(aftl_policy_geometry(policy)));
}

/* Placement */

static u32 count_sparse_blocks(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	u32 first = aftl_lun_index(lun) * media->geo->blocks_per_lun;
	u32 count = 0;
	u32 i;

	for (i = first; i < first + media->geo->blocks_per_lun; i++)
		count += !!media->blocks[i].bits;
	return count;
}

static bool may_open_sparse_block(const struct aftl_policy *policy, const struct aftl_lun *lun)
{
	u64 blocks = aftl_policy_geometry(policy)->blocks_per_lun;

	return (count_sparse_blocks(policy, lun) + 1) * 10000ULL <=
	       blocks * density_params(policy)->density_share;
}

static u32 get_sparse_bits_per_cell(const struct aftl_policy *policy)
{
	return density_params(policy)->density_bits ? (u32)density_params(policy)->density_bits :
					   (u32)aftl_policy_config(policy)->bits - 1;
}

static struct aftl_block *density_open_sparse_block(struct aftl_policy *policy,
						    struct aftl_lun *lun,
						    const struct aftl_program_request *need)
{
	struct aftl_open_blocks *mine = (struct aftl_open_blocks *)policy->luns +
					aftl_lun_index(lun);
	u32 *steps = density_get_programs_to_next_sparse_block(policy, lun);

	if (mine->open[SPARSE] || *steps)
		return mine->open[SPARSE];
	if (may_open_sparse_block(policy, lun))
		mine->open[SPARSE] = aftl_policy_open_sparse_block(policy, lun, need,
								   get_sparse_bits_per_cell(policy),
								   SPARSE);
	if (!mine->open[SPARSE])
		*steps = aftl_count_program_steps_per_block(aftl_policy_geometry(policy));
	return mine->open[SPARSE];
}

static int density_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement)
{
	bool fresh = need->cause == AFTL_CAUSE_HOST && need->class == AFTL_PRECISE &&
		     !aftl_policy_is_preconditioning(policy);
	int ret;

	if (fresh && density_open_sparse_block(policy, lun, need))
		return aftl_open_blocks_place_program(policy, lun, need, SPARSE, placement);
	ret = aftl_delegate_place_program(policy, lun, need, placement);
	if (!ret && fresh)
		--*density_get_programs_to_next_sparse_block(policy, lun);
	return ret;
}

const struct aftl_policy_type aftl_policy_density = {
	.name = "density",
	.about = "hot precise data in cells of fewer bits, approximate and cold data in dense ones",
	.kinds = { AFTL_DELEGATE_KINDS, "sparse" },
	.open_blocks = AFTL_DELEGATE_BLOCKS + 1,
	.reserve = AFTL_DELEGATE_BLOCKS,
	.copy_passes = 2,
	.least_steps = 2,
	.no_parity = true,
	.two_passes = true,
	.size = sizeof(struct aftl_delegating),
	.lun_size = sizeof(struct aftl_open_blocks),
	.arrays = { { .count = 1, .width = sizeof(u32), .each = AFTL_PER_LUN } },
	.params = { &group },
	.create = density_create,
	.adopt = density_adopt_loaded_block,
	.sanitize_arrays = density_sanitize_arrays,
	.closed = aftl_delegate_forget_closed_block,
	.place = density_place_program,
	AFTL_DELEGATE_METHODS,
};
