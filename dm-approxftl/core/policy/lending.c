// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parity lending (after DAC 2019): approximate pages need no ECC, so that their ECC bytes can store
 * parity of precise pages, which are then read with more errors and fewer sensing levels.
 *
 * The first half of a block takes precise data, the second half approximate data; each approximate
 * page stores parity of the page half a block before it. At most two half-filled blocks of a LUN
 * wait for approximate data: the next one continues with precise data, without lenders, before
 * another block is opened. While no block waits, approximate data goes to blocks of its own.
 *
 * Relocation moves precise data first, so that it finds lenders.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"

enum kind { BORROWERS, LENDERS, NEXT, PRECISE, APPROX, KINDS };

static struct aftl_open_blocks *lending_get_open_blocks(struct aftl_policy *policy,
							const struct aftl_lun *lun)
{
	return (struct aftl_open_blocks *)policy->luns + aftl_lun_index(lun);
}

static bool is_page_in_second_half_of_block(const struct aftl_policy *policy, u32 page)
{
	return page >= aftl_count_pages_of_first_block_half(aftl_policy_geometry(policy));
}

static bool lending_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				       struct aftl_block *block)
{
	bool lends = block->kind == LENDERS || block->kind == NEXT;
	bool second = is_page_in_second_half_of_block(policy, block->frontier);

	if (block->bits || (block->kind == BORROWERS && second) || (lends && !second))
		return false;
	return aftl_open_blocks_adopt_block(policy, lun, block);
}

/* Change the kind of the open block if the program just placed fills its first half. */
static void change_kind_of_half_full_block(struct aftl_policy *policy,
					   struct aftl_open_blocks *mine)
{
	struct aftl_block *block = mine->open[BORROWERS];
	enum kind role = !mine->open[LENDERS] ? LENDERS : !mine->open[NEXT] ? NEXT : PRECISE;
	u32 step = aftl_policy_geometry(policy)->program_pages;

	if (!block || !is_page_in_second_half_of_block(policy, block->frontier + step))
		return;
	mine->open[BORROWERS] = NULL;
	mine->open[role] = block;
	aftl_policy_set_block_kind(policy, block, role);
}

static enum kind lending_choose_kind(const struct aftl_open_blocks *mine, u32 class)
{
	if (class == AFTL_APPROX)
		return mine->open[LENDERS] ? LENDERS : mine->open[NEXT] ? NEXT : APPROX;
	return mine->open[PRECISE] ? PRECISE : BORROWERS;
}

static int lending_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement)
{
	struct aftl_open_blocks *mine = lending_get_open_blocks(policy, lun);
	enum kind kind = lending_choose_kind(mine, need->class);

	if (aftl_open_blocks_place_program(policy, lun, need, kind, placement))
		return -ENOSPC;
	if (kind == LENDERS || kind == NEXT)
		placement->mode = AFTL_MODE_LENDING;
	else if (kind == BORROWERS)
		change_kind_of_half_full_block(policy, mine);
	return 0;
}

/* Leave the last program of a block's first half to place(), which then changes the block kind. */
static u32 lending_count_programs_without_policy(struct aftl_policy *policy, struct aftl_lun *lun,
						 const struct aftl_program_request *need,
						 const struct aftl_block *block)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	const struct aftl_open_blocks *mine = lending_get_open_blocks(policy, lun);
	enum kind kind = lending_choose_kind(mine, need->class);

	if (mine->open[kind] != block)
		return 0;
	if (kind != BORROWERS)
		return U32_MAX;
	return (aftl_count_pages_of_first_block_half(geo) - block->frontier) / geo->program_pages -
	       1;
}

static bool lending_choose_relocation(struct aftl_policy *policy,
				      const struct aftl_relocation *move, u32 *class, u32 *stream)
{
	(void)policy;
	(void)class;
	(void)stream;
	return move->pass == (move->class == AFTL_APPROX ? 1 : 0);
}

const struct aftl_policy_type aftl_policy_lending = {
	.name = "lending",
	.about = "approximate pages store additional parity of precise pages of their block",
	.kinds = { "borrowers", "lenders", "next_lenders", "precise", "approximate" },
	.open_blocks = KINDS,
	.reserve = 2,
	.copy_passes = 2,
	.least_steps = 2,
	.lun_size = sizeof(struct aftl_open_blocks),
	.adopt = lending_adopt_loaded_block,
	.closed = aftl_open_blocks_forget_closed,
	.place = lending_place_program,
	.fill_run = lending_count_programs_without_policy,
	.relocate = lending_choose_relocation,
};
