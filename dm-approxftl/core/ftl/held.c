// SPDX-License-Identifier: GPL-2.0-only
/*
 * Word lines between their two passes. Of what a coarse pass has left nothing can be read: the
 * data stay where they were, host writes in the write buffer and moves in the block that they
 * come from, until the fine pass begins.
 */
#include "core/ftl/device.h"

/* NULL finds one that has no block. */
static struct aftl_foggy *find(const struct aftl *ftl, const struct aftl_lun *lun,
			       const struct aftl_block *block)
{
	u32 i;

	for (i = 0; i < ftl->foggy_blocks; i++)
		if (lun->foggy[i].block == block)
			return &lun->foggy[i];
	return NULL;
}

/*
 * aftl_held_room() - may @block have a word line between its passes?
 *
 * For the core's own block there always is room.
 */
bool aftl_held_room(const struct aftl *ftl, const struct aftl_lun *lun,
		    const struct aftl_block *block)
{
	bool kept = !lun->refuge || !find(ftl, lun, lun->refuge);
	u32 room = 0;
	u32 i;

	if (find(ftl, lun, block))
		return true;
	for (i = 0; i < ftl->foggy_blocks; i++)
		room += !lun->foggy[i].block;
	return room > kept;
}

struct aftl_held *aftl_held_at(const struct aftl *ftl, struct aftl_foggy *foggy, u32 page)
{
	return &foggy->held[aftl_word_line(&ftl->geo, page) % AFTL_FOGGY_WORD_LINES];
}

static void count(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_held *held, int sign)
{
	u32 units = held->payload.count;

	if (held->need.cause != AFTL_CAUSE_HOST) {
		lun->held_moves += units ? sign : 0;
		return;
	}
	lun->held_writes += units ? sign : 0;
	lun->bound += sign * units;
	ftl->held_units += sign * units;
}

static void begin_block(struct aftl_foggy *foggy, struct aftl_block *block)
{
	*foggy = (struct aftl_foggy){
		.block = block,
		.held = { { .commands = AFTL_NIL }, { .commands = AFTL_NIL } },
	};
}

/*
 * aftl_held_begin() - the coarse pass at @placement begins; NULL: with nothing in it
 */
void aftl_held_begin(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		     const struct aftl_placement *placement, const struct aftl_payload *payload)
{
	struct aftl_foggy *foggy = find(ftl, lun, placement->block);
	struct aftl_held *held;

	if (!foggy) {
		foggy = find(ftl, lun, NULL);
		begin_block(foggy, placement->block);
	}
	if (!payload)
		return;
	held = aftl_held_at(ftl, foggy, placement->page);
	held->need = *need;
	held->payload = *payload;
	if (payload->tag[0] != AFTL_NIL) {
		held->commands = lun->work.commands;
		lun->work.commands = AFTL_NIL;
	}
	count(ftl, lun, held, 1);
}

/*
 * aftl_held_end() - nothing is held in @held any more
 */
void aftl_held_end(struct aftl *ftl, struct aftl_lun *lun, struct aftl_held *held)
{
	count(ftl, lun, held, -1);
	held->need = (struct aftl_need){ 0 };
	held->payload.count = 0;
	held->payload.dropped = 0;
	held->commands = AFTL_NIL;
}

/*
 * aftl_held_close() - no more coarse passes in @block
 *
 * Return: whether fine ones have to follow before it is closed.
 */
bool aftl_held_close(struct aftl *ftl, struct aftl_block *block)
{
	struct aftl_foggy *foggy = find(ftl, aftl_block_lun(ftl, block), block);

	if (!foggy)
		return false;
	block->frontier = ftl->geo.pages;
	if (aftl_fine_due(&ftl->media, block) < ftl->geo.pages)
		return true;
	foggy->block = NULL;
	return false;
}

/*
 * aftl_held_drop_moves() - the job is given up: what it has read is still where it was
 */
void aftl_held_drop_moves(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; lun->held_moves; i++) {
		struct aftl_held *held = &lun->foggy[i / AFTL_FOGGY_WORD_LINES]
						  .held[i % AFTL_FOGGY_WORD_LINES];

		if (held->need.cause != AFTL_CAUSE_HOST)
			aftl_held_end(ftl, lun, held);
	}
}

/*
 * aftl_held_give_up() - @lun is dead: host writes that were held, as a list, until there are none
 */
u32 aftl_held_give_up(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 commands = AFTL_NIL;
	u32 i;

	for (i = 0; commands == AFTL_NIL && i < ftl->foggy_blocks * AFTL_FOGGY_WORD_LINES; i++) {
		struct aftl_foggy *foggy = &lun->foggy[i / AFTL_FOGGY_WORD_LINES];
		struct aftl_held *held = &foggy->held[i % AFTL_FOGGY_WORD_LINES];

		commands = foggy->block ? held->commands : AFTL_NIL;
		if (commands != AFTL_NIL)
			aftl_held_end(ftl, lun, held);
	}
	if (commands == AFTL_NIL)
		for (i = 0; i < ftl->foggy_blocks; i++)
			lun->foggy[i].block = NULL;
	return commands;
}
