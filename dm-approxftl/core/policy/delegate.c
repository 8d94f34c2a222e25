// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement in one open block for each class, or by an instance of ApproxFTL.
 */
#include "core/policy/delegate.h"
#include "core/policy/policies.h"

bool aftl_delegate_create(struct aftl_policy *policy, bool wanted)
{
	struct aftl_delegating *state = container_of(policy, struct aftl_delegating, policy);

	if (!wanted || aftl_policy_geometry(policy)->passes > 1)
		return true;
	state->approx = aftl_policy_part(policy, &aftl_policy_approxftl);
	return state->approx;
}

/* If ApproxFTL is off, blocks that it left open in its own orders are closed. */
bool aftl_delegate_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				      struct aftl_block *block)
{
	if (block->kind == AFTL_DELEGATE_OWN)
		return aftl_open_blocks_adopt_block(policy, lun, block);
	if (aftl_delegate_approxftl(policy))
		return aftl_policy_approxftl.adopt(aftl_delegate_approxftl(policy), lun, block);
	return (block->kind == AFTL_DELEGATE_PRECISE || block->kind == AFTL_DELEGATE_APPROX) &&
	       block->order != AFTL_ORDER_TWO_PASS &&
	       aftl_open_blocks_adopt_block(policy, lun, block);
}

void aftl_delegate_forget_closed_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	aftl_open_blocks_forget_closed(policy, block);
	if (aftl_delegate_approxftl(policy))
		aftl_policy_approxftl.closed(aftl_delegate_approxftl(policy), block);
}

int aftl_delegate_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				const struct aftl_program_request *need,
				struct aftl_placement *placement)
{
	u32 kind = need->class == AFTL_APPROX ? AFTL_DELEGATE_APPROX : AFTL_DELEGATE_PRECISE;

	if (aftl_delegate_approxftl(policy))
		return aftl_policy_approxftl.place(aftl_delegate_approxftl(policy), lun, need,
						   placement);
	return aftl_open_blocks_place_program(policy, lun, need, kind, placement);
}

u32 aftl_delegate_count_programs_without_policy(struct aftl_policy *policy, struct aftl_lun *lun,
						const struct aftl_program_request *need,
						const struct aftl_block *block)
{
	struct aftl_policy *approx = aftl_delegate_approxftl(policy);

	return approx ? aftl_policy_approxftl.fill_run(approx, lun, need, block) : U32_MAX;
}

u64 aftl_delegate_save_state_word(const struct aftl_policy *policy)
{
	const struct aftl_delegating *state =
		container_of(policy, struct aftl_delegating, policy);

	return state->approx ? aftl_policy_approxftl.save_state_word(state->approx) : 0;
}

void aftl_delegate_restore_state_word(struct aftl_policy *policy, u64 memory)
{
	if (aftl_delegate_approxftl(policy))
		aftl_policy_approxftl.restore_state_word(aftl_delegate_approxftl(policy), memory);
}

bool aftl_delegate_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				     u32 *class, u32 *stream)
{
	if (aftl_delegate_approxftl(policy))
		return aftl_policy_approxftl.relocate(aftl_delegate_approxftl(policy), move, class,
						      stream);
	return move->pass == (*class == AFTL_APPROX ? 0 : 1);
}

u32 aftl_delegate_victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
			      const struct aftl_block *block)
{
	struct aftl_policy *approx = aftl_delegate_approxftl(policy);

	return approx ? aftl_policy_approxftl.victim_rank(approx, lun, block) : 0;
}

bool aftl_delegate_accept_free_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = aftl_delegate_approxftl(policy);

	return !approx || aftl_policy_approxftl.accept_free(approx, block);
}

bool aftl_delegate_allows_shallow_erase(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = aftl_delegate_approxftl(policy);

	return approx && aftl_policy_approxftl.shallow_erase(approx, block);
}
