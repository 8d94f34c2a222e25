/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of one class each or, if they are to be, ApproxFTL's: the common half of policies that
 * have blocks of their own for some data and leave the rest to these.
 *
 * Two passes leave ApproxFTL no choice of places: there it is off.
 */
#ifndef AFTL_POLICY_OVER_APPROX_H
#define AFTL_POLICY_OVER_APPROX_H

#include "core/policy/by-class.h"

/* Block kinds: ApproxFTL's own five, two of which are used without it, and one of the policy's. */
enum { AFTL_OVER_PRECISE = 1, AFTL_OVER_APPROX = 4, AFTL_OVER_OWN };
#define AFTL_OVER_KINDS "checkerboard", "precise", "phase1", "phase2", "all_approx"

/* One pool of ApproxFTL's. */
#define AFTL_OVER_BLOCKS 5

/**
 * struct aftl_over_approx - an instance
 * @policy: what the core sees; what it has for each LUN begins with struct aftl_by_class
 * @approx: ApproxFTL, NULL if it is off
 */
struct aftl_over_approx {
	struct aftl_policy policy;
	struct aftl_policy *approx;
};

static inline struct aftl_policy *aftl_over_approx(struct aftl_policy *policy)
{
	return container_of(policy, struct aftl_over_approx, policy)->approx;
}

/* For create(): is ApproxFTL wanted? */
bool aftl_over_create(struct aftl_policy *policy, bool wanted);

/* Of blocks of the policy's own only what it keeps in struct aftl_by_class is known here. */
bool aftl_over_adopt(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block);
void aftl_over_closed(struct aftl_policy *policy, const struct aftl_block *block);
int aftl_over_place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		    struct aftl_placement *placement);

u64 aftl_over_remember(const struct aftl_policy *policy);
void aftl_over_recall(struct aftl_policy *policy, u64 memory);
bool aftl_over_copy(struct aftl_policy *policy, const struct aftl_move *move, u32 *class,
		    u32 *stream);
u32 aftl_over_victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_block *block);
bool aftl_over_accept_free(struct aftl_policy *policy, const struct aftl_block *block);
bool aftl_over_gentle(struct aftl_policy *policy, const struct aftl_block *block);

#define AFTL_OVER_METHODS			\
	.remember = aftl_over_remember,		\
	.recall = aftl_over_recall,		\
	.copy = aftl_over_copy,			\
	.victim_rank = aftl_over_victim_rank,	\
	.accept_free = aftl_over_accept_free,	\
	.gentle = aftl_over_gentle

#endif
