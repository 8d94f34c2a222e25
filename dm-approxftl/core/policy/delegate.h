/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by policies that have blocks of their own for some data and delegate the rest: to one open
 * block for each class or, by a parameter, to an instance of ApproxFTL.
 *
 * ApproxFTL is off on devices with two program passes, because these fix the order of pages.
 */
#ifndef AFTL_POLICY_DELEGATE_H
#define AFTL_POLICY_DELEGATE_H

#include "core/policy/open-blocks.h"

/* Block kinds: ApproxFTL's five, two of them also in use if it is off, then the policy's own. */
enum { AFTL_DELEGATE_PRECISE = 1, AFTL_DELEGATE_APPROX = 4, AFTL_DELEGATE_OWN };
#define AFTL_DELEGATE_KINDS "checkerboard", "precise", "phase1", "phase2", "all_approx"

/*
 * Most blocks that ApproxFTL, as a delegate, keeps open in a LUN: one of each of its five kinds. A
 * delegate gets only cold data, so it has no second set of open blocks for hot data.
 */
#define AFTL_DELEGATE_BLOCKS 5

/**
 * struct aftl_delegating - a policy that delegates
 * @policy: the instance; its state for each LUN starts with struct aftl_open_blocks
 * @approx: ApproxFTL, NULL if it is off
 */
struct aftl_delegating {
	struct aftl_policy policy;
	struct aftl_policy *approx;
};

static inline struct aftl_policy *aftl_delegate_approxftl(struct aftl_policy *policy)
{
	return container_of(policy, struct aftl_delegating, policy)->approx;
}

/* Create the delegate, ApproxFTL, if @wanted; create() of the delegating policy calls this. */
bool aftl_delegate_create(struct aftl_policy *policy, bool wanted);

/*
 * Methods of a policy that delegates. Of the policy's own blocks, kind AFTL_DELEGATE_OWN, they know
 * only the pointers in struct aftl_open_blocks.
 */
bool aftl_delegate_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				      struct aftl_block *block);
void aftl_delegate_forget_closed_block(struct aftl_policy *policy, const struct aftl_block *block);
int aftl_delegate_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				const struct aftl_program_request *need,
				struct aftl_placement *placement);

u32 aftl_delegate_count_programs_without_policy(struct aftl_policy *policy, struct aftl_lun *lun,
						const struct aftl_program_request *need,
						const struct aftl_block *block);
u64 aftl_delegate_save_state_word(const struct aftl_policy *policy);
void aftl_delegate_restore_state_word(struct aftl_policy *policy, u64 memory);
bool aftl_delegate_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				     u32 *class, u32 *stream);
u32 aftl_delegate_victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
			      const struct aftl_block *block);
bool aftl_delegate_accept_free_block(struct aftl_policy *policy, const struct aftl_block *block);
bool aftl_delegate_allows_shallow_erase(struct aftl_policy *policy, const struct aftl_block *block);

#define AFTL_DELEGATE_METHODS			\
	.fill_run = aftl_delegate_count_programs_without_policy,		\
	.save_state_word = aftl_delegate_save_state_word,		\
	.restore_state_word = aftl_delegate_restore_state_word,		\
	.relocate = aftl_delegate_choose_relocation,			\
	.victim_rank = aftl_delegate_victim_rank,	\
	.accept_free = aftl_delegate_accept_free_block,	\
	.shallow_erase = aftl_delegate_allows_shallow_erase

#endif
