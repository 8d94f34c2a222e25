/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequential open blocks, one for each LUN and block kind: shared by policies that separate data by
 * kind, such as by class, and program the pages of each block in sequence.
 */
#ifndef AFTL_POLICY_OPEN_BLOCKS_H
#define AFTL_POLICY_OPEN_BLOCKS_H

#include "core/policy/nand-policy.h"

/**
 * struct aftl_open_blocks - open blocks of a LUN; first member of a policy's state for each LUN, if
 *	the policy uses the functions below
 * @open: by block kind, NULL where there is none
 */
struct aftl_open_blocks {
	struct aftl_block *open[AFTL_KINDS_MAX];
};

bool aftl_open_blocks_adopt_block(struct aftl_policy *policy, struct aftl_lun *lun,
				  struct aftl_block *block);
void aftl_open_blocks_forget_closed(struct aftl_policy *policy, const struct aftl_block *block);

/* Methods of a policy that keeps struct aftl_open_blocks; the policy adds at least place(). */
#define AFTL_OPEN_BLOCKS_METHODS				\
	.lun_size = sizeof(struct aftl_open_blocks),		\
	.adopt = aftl_open_blocks_adopt_block,			\
	.closed = aftl_open_blocks_forget_closed

/**
 * aftl_open_blocks_place_program() - place a program in the open block of @kind
 * @policy: the policy itself
 * @lun: LUN of the program
 * @need: the program
 * @kind: index into the policy's kinds
 * @placement: takes the place
 */
int aftl_open_blocks_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				   const struct aftl_program_request *need, u32 kind,
				   struct aftl_placement *placement);

#endif
