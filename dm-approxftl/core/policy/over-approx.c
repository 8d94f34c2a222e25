// SPDX-License-Identifier: GPL-2.0-only
#include "core/policy/over-approx.h"
#include "core/policy/policies.h"

bool aftl_over_create(struct aftl_policy *policy, bool wanted)
{
	struct aftl_over_approx *state = container_of(policy, struct aftl_over_approx, policy);

	if (!wanted || aftl_policy_geometry(policy)->passes > 1)
		return true;
	state->approx = aftl_policy_part(policy, &aftl_policy_approxftl);
	return state->approx;
}

/* Without ApproxFTL what it has left half full, in its orders, is closed. */
bool aftl_over_adopt(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block)
{
	if (block->kind == AFTL_OVER_OWN)
		return aftl_by_class_adopt(policy, lun, block);
	if (aftl_over_approx(policy))
		return aftl_policy_approxftl.adopt(aftl_over_approx(policy), lun, block);
	return (block->kind == AFTL_OVER_PRECISE || block->kind == AFTL_OVER_APPROX) &&
	       block->order != AFTL_ORDER_TWO_PASS && aftl_by_class_adopt(policy, lun, block);
}

void aftl_over_closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	aftl_by_class_closed(policy, block);
	if (aftl_over_approx(policy))
		aftl_policy_approxftl.closed(aftl_over_approx(policy), block);
}

int aftl_over_place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		    struct aftl_placement *placement)
{
	u32 kind = need->class == AFTL_APPROX ? AFTL_OVER_APPROX : AFTL_OVER_PRECISE;

	if (aftl_over_approx(policy))
		return aftl_policy_approxftl.place(aftl_over_approx(policy), lun, need, placement);
	return aftl_by_class_place(policy, lun, need, kind, placement);
}

u64 aftl_over_remember(const struct aftl_policy *policy)
{
	const struct aftl_over_approx *state =
		container_of(policy, struct aftl_over_approx, policy);

	return state->approx ? aftl_policy_approxftl.remember(state->approx) : 0;
}

void aftl_over_recall(struct aftl_policy *policy, u64 memory)
{
	if (aftl_over_approx(policy))
		aftl_policy_approxftl.recall(aftl_over_approx(policy), memory);
}

bool aftl_over_copy(struct aftl_policy *policy, const struct aftl_move *move, u32 *class,
		    u32 *stream)
{
	if (aftl_over_approx(policy))
		return aftl_policy_approxftl.copy(aftl_over_approx(policy), move, class, stream);
	return move->pass == (*class == AFTL_APPROX ? 0 : 1);
}

u32 aftl_over_victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_block *block)
{
	struct aftl_policy *approx = aftl_over_approx(policy);

	return approx ? aftl_policy_approxftl.victim_rank(approx, lun, block) : 0;
}

bool aftl_over_accept_free(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = aftl_over_approx(policy);

	return !approx || aftl_policy_approxftl.accept_free(approx, block);
}

bool aftl_over_gentle(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = aftl_over_approx(policy);

	return approx && aftl_policy_approxftl.gentle(approx, block);
}
