/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequential open blocks, one per LUN and kind: the common half of the policies that tell
 * kinds of data apart, such as classes, but know no patterns.
 */
#ifndef AFTL_POLICY_OPEN_BLOCKS_H
#define AFTL_POLICY_OPEN_BLOCKS_H

#include "core/policy/policy.h"

/**
 * struct aftl_open_blocks - what such a policy keeps for each LUN, before anything else
 * @open: by kind, NULL where there is none
 */
struct aftl_open_blocks {
	struct aftl_block *open[AFTL_KINDS_MAX];
};

bool aftl_open_blocks_adopt(struct aftl_policy *policy, struct aftl_lun *lun,
			 struct aftl_block *block);
void aftl_open_blocks_closed(struct aftl_policy *policy, const struct aftl_block *block);

/* It adds place(), at least. */
#define AFTL_OPEN_BLOCKS_METHODS				\
	.lun_size = sizeof(struct aftl_open_blocks),	\
	.adopt = aftl_open_blocks_adopt,			\
	.closed = aftl_open_blocks_closed

/**
 * aftl_open_blocks_place() - next step of the open block number @kind of @lun
 * @policy: the policy itself
 * @lun: LUN that needs a block
 * @need: the program it is for
 * @kind: index into the policy's kinds
 * @placement: takes the answer
 */
int aftl_open_blocks_place(struct aftl_policy *policy, struct aftl_lun *lun,
			const struct aftl_program_request *need, u32 kind, struct aftl_placement *placement);

#endif
