// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second of two passes, which is no policy's business: when its turn has come, what it
 * programs, and what makes it come where nothing else is to be written.
 */
#include "core/ftl/device.h"

/* Where the host has written or discarded meanwhile the old content is programmed, for nothing. */
static void drop_overwritten(const struct aftl *ftl, struct aftl_payload *payload)
{
	u32 i;

	for (i = 0; i < payload->count; i++) {
		if (payload->from[i] == AFTL_NO_SLOT ||
		    aftl_slot_valid(&ftl->media, payload->from[i]))
			continue;
		payload->from[i] = AFTL_NO_SLOT;
		payload->stale[i] = true;
		payload->dropped++;
	}
}

static void ask_chip(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		     const struct aftl_placement *placement)
{
	struct aftl_program program = {
		.block = placement->block,
		.page = placement->page,
		.pages = placement->pages,
		.mode = placement->mode,
		.class = need->class,
	};

	aftl_chip_program(&ftl->chip, &program, &lun->outcome);
}

/*
 * aftl_pass_due() - what is held for the fine pass whose turn it is in @lun; NULL: for none
 * @placement: takes its place
 *
 * It has to be committed before anything else is programmed. The core's own block may be one that
 * was closed when what it held was lost: it comes with nothing in it.
 */
struct aftl_held *aftl_pass_due(struct aftl *ftl, struct aftl_lun *lun,
				struct aftl_placement *placement)
{
	struct aftl_held *held;
	u32 page = ftl->geo.pages;
	u32 i;

	*placement = (struct aftl_placement){ .block = lun->refuge };
	if (lun->refuge)
		aftl_held_begin(ftl, lun, NULL, placement, NULL);
	for (i = 0; i < ftl->foggy_blocks && page == ftl->geo.pages; i++)
		if (lun->foggy[i].block)
			page = aftl_fine_due(&ftl->media, lun->foggy[i].block);
	if (page == ftl->geo.pages)
		return NULL;
	*placement = (struct aftl_placement){
		.block = lun->foggy[i - 1].block,
		.page = page,
		.pages = ftl->geo.program_pages,
		.mode = AFTL_MODE_NORMAL,
	};
	held = aftl_held_at(ftl, &lun->foggy[i - 1], page);
	drop_overwritten(ftl, &held->payload);
	ask_chip(ftl, lun, &held->need, placement);
	return held;
}

/*
 * aftl_pass_commit() - it begins
 */
void aftl_pass_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_held *held,
		      const struct aftl_placement *placement)
{
	struct aftl_need need = held->need;

	aftl_program_commit(ftl, lun, &need, placement, &held->payload);
	aftl_held_end(ftl, lun, held);
}

static bool holds(const struct aftl_foggy *foggy, bool moves)
{
	u32 i;

	for (i = 0; foggy->block && i < AFTL_FOGGY_WORD_LINES; i++) {
		bool moved = foggy->held[i].need.cause != AFTL_CAUSE_HOST;

		if (foggy->held[i].payload.count && moved == moves)
			return true;
	}
	return false;
}

/*
 * aftl_pass_pad() - a coarse pass with nothing in it, so that a fine one may follow
 * @moves: it is for what a job moves, not for the host's writes
 * @placement: takes its place
 *
 * Return: whether any of them is held. No fine pass must be due.
 */
bool aftl_pass_pad(struct aftl *ftl, struct aftl_lun *lun, bool moves,
		   struct aftl_placement *placement)
{
	struct aftl_need need = { .cause = moves ? lun->job.cause : AFTL_CAUSE_HOST };
	struct aftl_block *block;
	u32 i = 0;

	while (i < ftl->foggy_blocks && !holds(&lun->foggy[i], moves))
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
	ask_chip(ftl, lun, &need, placement);
	aftl_program_commit(ftl, lun, &need, placement, NULL);
	/* Its policy does not know that it is full. */
	if (block->frontier == ftl->geo.pages && block != lun->refuge && ftl->type->closed)
		ftl->type->closed(ftl->policy, block);
	return true;
}

/*
 * aftl_pass_rush() - all that is due, now, without time
 */
void aftl_pass_rush(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_placement placement;
	struct aftl_held *held;

	while ((held = aftl_pass_due(ftl, lun, &placement)))
		aftl_pass_commit(ftl, lun, held, &placement);
}
