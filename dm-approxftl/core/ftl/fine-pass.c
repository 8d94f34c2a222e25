// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fine passes of two-pass (foggy-fine) programming: find the fine pass that is due and program it.
 * If no data come for the coarse passes that would make it due, program coarse passes with padding.
 * Policies are not involved.
 */
#include "core/ftl/controller.h"
#include "core/ftl/fine-pass.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/lun.h"
#include "core/ftl/program.h"

/* Replace logical pages by padding if they were overwritten or discarded after the coarse pass. */
static void replace_overwritten_lpns_by_padding(const struct aftl *ftl,
						struct aftl_payload *payload)
{
	u32 i;

	for (i = 0; i < payload->count; i++) {
		if (payload->from[i] == AFTL_NO_PPN ||
		    aftl_ppn_is_valid(&ftl->media, payload->from[i]))
			continue;
		payload->from[i] = AFTL_NO_PPN;
		payload->stale[i] = true;
		payload->dropped++;
	}
}

static void compute_program_result_of_fine_pass(struct aftl *ftl, struct aftl_lun *lun,
						const struct aftl_program_request *need,
						const struct aftl_placement *placement)
{
	struct aftl_program_command program = {
		.block = placement->block,
		.page = placement->page,
		.pages = placement->pages,
		.mode = placement->mode,
		.class = need->class,
	};

	aftl_chip_program(&ftl->chip, &program, &lun->outcome);
}

/*
 * aftl_fine_pass_get_due() - get the data of the fine pass that is due in @lun
 * @placement: takes the pages to program
 *
 * A due fine pass must be committed before any other program of the LUN. The fallback block may
 * have been closed after a crash lost its pending data: its fine passes carry no data.
 *
 * Return: the pending data, or NULL if no fine pass is due.
 */
struct aftl_fine_pending *aftl_fine_pass_get_due(struct aftl *ftl, struct aftl_lun *lun,
						 struct aftl_placement *placement)
{
	struct aftl_fine_pending *pending;
	u32 page = ftl->geo.pages;
	u32 i;

	*placement = (struct aftl_placement){ .block = lun->fallback };
	if (lun->fallback)
		aftl_fine_pending_add_word_line(ftl, lun, NULL, placement, NULL);
	for (i = 0; i < ftl->foggy_blocks && page == ftl->geo.pages; i++)
		if (lun->foggy[i].block)
			page = aftl_next_fine_pass_page(&ftl->media, lun->foggy[i].block);
	if (page == ftl->geo.pages)
		return NULL;
	*placement = (struct aftl_placement){
		.block = lun->foggy[i - 1].block,
		.page = page,
		.pages = ftl->geo.program_pages,
		.mode = AFTL_MODE_NORMAL,
	};
	pending = aftl_fine_pending_of_page(ftl, &lun->foggy[i - 1], page);
	replace_overwritten_lpns_by_padding(ftl, &pending->payload);
	compute_program_result_of_fine_pass(ftl, lun, &pending->need, placement);
	return pending;
}

/* Commit the program that aftl_fine_pass_get_due() returned. */
void aftl_fine_pass_commit(struct aftl *ftl, struct aftl_lun *lun,
			   struct aftl_fine_pending *pending,
			   const struct aftl_placement *placement)
{
	struct aftl_program_request need = pending->need;

	aftl_program_commit(ftl, lun, &need, placement, &pending->payload);
	aftl_fine_pending_drop_word_line(ftl, lun, pending);
}

static bool does_block_await_fine_pass(const struct aftl_foggy_block *foggy, bool moves)
{
	u32 i;

	for (i = 0; foggy->block && i < AFTL_FOGGY_WORD_LINES; i++) {
		const struct aftl_fine_pending *pending = &foggy->held[i];

		if (pending->payload.count && pending->need.cause != AFTL_CAUSE_MAP &&
		    aftl_is_pending_fine_pass_of_relocation(pending) == moves)
			return true;
	}
	return false;
}

/*
 * aftl_commit_coarse_pass_of_padding() - commit a coarse pass without data to make a fine pass due
 * @moves: true: make a fine pass of relocated data due; false: one of host writes
 * @placement: takes the pages to program
 *
 * Call it only while no fine pass is due. Return: false if no data of that kind await one.
 */
bool aftl_commit_coarse_pass_of_padding(struct aftl *ftl, struct aftl_lun *lun, bool moves,
					struct aftl_placement *placement)
{
	struct aftl_program_request need = { .cause = moves ? lun->reloc.cause : AFTL_CAUSE_HOST };
	struct aftl_block *block;
	u32 i = 0;

	while (i < ftl->foggy_blocks && !does_block_await_fine_pass(&lun->foggy[i], moves))
		i++;
	if (i == ftl->foggy_blocks)
		return false;
	block = lun->foggy[i].block;
	*placement = (struct aftl_placement){
		.block = block,
		.page = block->frontier,
		.pages = ftl->geo.program_pages,
		.mode = AFTL_MODE_FOGGY,
	};
	compute_program_result_of_fine_pass(ftl, lun, &need, placement);
	aftl_program_commit(ftl, lun, &need, placement, NULL);
	/* The policy did not place this pass of padding: tell the policy that the block is full. */
	if (block->frontier == ftl->geo.pages && block != lun->fallback && ftl->type->closed)
		ftl->type->closed(ftl->policy, block);
	return true;
}

/* Commit all due fine passes of @lun while device time stands still, as in preconditioning. */
void aftl_commit_due_fine_passes_untimed(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	struct aftl_fine_pending *pending;

	while ((pending = aftl_fine_pass_get_due(ftl, lun, &placement)))
		aftl_fine_pass_commit(ftl, lun, pending, &placement);
}
