// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data between the two passes of foggy-fine programming. After the coarse pass a word line cannot
 * be read. Until the fine pass begins, host writes stay in the write buffer and relocated data in
 * their source block.
 */
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/lun.h"
#include "core/ftl/program.h"

/* Find the entry of @lun for @block, or an unused entry if @block is NULL. */
static struct aftl_foggy_block *find_foggy_block(const struct aftl *ftl, const struct aftl_lun *lun,
						 const struct aftl_block *block)
{
	u32 i;

	for (i = 0; i < ftl->foggy_blocks; i++)
		if (lun->foggy[i].block == block)
			return &lun->foggy[i];
	return NULL;
}

/*
 * Return true if @block has a word line between its coarse and fine pass, or if @lun has an unused
 * entry for a block with one. One entry is always kept for the fallback block.
 */
bool aftl_block_may_await_fine_pass(const struct aftl *ftl, const struct aftl_lun *lun,
				    const struct aftl_block *block)
{
	bool kept = !lun->fallback || !find_foggy_block(ftl, lun, lun->fallback);
	u32 room = 0;
	u32 i;

	if (find_foggy_block(ftl, lun, block))
		return true;
	for (i = 0; i < ftl->foggy_blocks; i++)
		room += !lun->foggy[i].block;
	return room > kept;
}

/* Count the logical pages that wait for a fine pass of @block. */
u32 aftl_fine_pending_count_block_units(const struct aftl *ftl, const struct aftl_lun *lun,
					const struct aftl_block *block)
{
	const struct aftl_foggy_block *foggy = find_foggy_block(ftl, lun, block);
	u32 units = 0;
	u32 i;

	for (i = 0; foggy && i < AFTL_FOGGY_WORD_LINES; i++)
		units += foggy->held[i].payload.count;
	return units;
}

struct aftl_fine_pending *aftl_fine_pending_of_page(const struct aftl *ftl,
						    struct aftl_foggy_block *foggy, u32 page)
{
	return &foggy->held[aftl_word_line_of_page(&ftl->geo, page) % AFTL_FOGGY_WORD_LINES];
}

static void add_payload_to_fine_pending_counts(struct aftl *ftl, struct aftl_lun *lun,
					       const struct aftl_fine_pending *pending, int sign)
{
	u32 units = pending->payload.count;

	if (pending->need.cause == AFTL_CAUSE_MAP)
		return;
	if (pending->need.cause != AFTL_CAUSE_HOST) {
		lun->fine_pending_moves += units ? sign : 0;
		return;
	}
	lun->fine_pending_writes += units ? sign : 0;
	lun->in_flight += sign * units;
	ftl->fine_pending_units += sign * units;
}

static void init_foggy_block(struct aftl_foggy_block *foggy, struct aftl_block *block)
{
	u32 i;

	/* Not by a compound literal: a compiler may build one on the stack, and it has 2 KiB. */
	memset(foggy, 0, sizeof(*foggy));
	foggy->block = block;
	for (i = 0; i < AFTL_FOGGY_WORD_LINES; i++)
		foggy->held[i].commands = AFTL_NIL;
}

/*
 * aftl_fine_pending_add_word_line() - remember the data of a coarse pass
 * @payload: NULL for a coarse pass without data
 */
void aftl_fine_pending_add_word_line(struct aftl *ftl, struct aftl_lun *lun,
				     const struct aftl_program_request *need,
				     const struct aftl_placement *placement,
				     const struct aftl_payload *payload)
{
	struct aftl_foggy_block *foggy = find_foggy_block(ftl, lun, placement->block);
	struct aftl_fine_pending *pending;

	if (!foggy) {
		foggy = find_foggy_block(ftl, lun, NULL);
		init_foggy_block(foggy, placement->block);
	}
	if (!payload)
		return;
	pending = aftl_fine_pending_of_page(ftl, foggy, placement->page);
	pending->need = *need;
	pending->payload = *payload;
	if (payload->tag[0] != AFTL_NIL) {
		pending->commands = lun->work.commands;
		lun->work.commands = AFTL_NIL;
	}
	add_payload_to_fine_pending_counts(ftl, lun, pending, 1);
}

/* Forget the buffered data of a word line that waits for its fine pass. */
void aftl_fine_pending_drop_word_line(struct aftl *ftl, struct aftl_lun *lun,
				      struct aftl_fine_pending *pending)
{
	add_payload_to_fine_pending_counts(ftl, lun, pending, -1);
	pending->need = (struct aftl_program_request){ 0 };
	pending->payload.count = 0;
	pending->payload.dropped = 0;
	pending->commands = AFTL_NIL;
}

/*
 * Program no more coarse passes in @block. Return: true if fine passes must follow before it can be
 * closed.
 */
bool aftl_fine_pending_close_block(struct aftl *ftl, struct aftl_block *block)
{
	struct aftl_foggy_block *foggy = find_foggy_block(ftl, aftl_block_lun(ftl, block), block);

	if (!foggy)
		return false;
	block->frontier = ftl->geo.pages;
	if (aftl_next_fine_pass_page(&ftl->media, block) < ftl->geo.pages)
		return true;
	foggy->block = NULL;
	return false;
}

/* Drop pending relocations of a cancelled task: their data are still valid in the source block. */
void aftl_fine_pending_drop_relocs(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; lun->fine_pending_moves; i++) {
		struct aftl_fine_pending *pending = &lun->foggy[i / AFTL_FOGGY_WORD_LINES]
						  .held[i % AFTL_FOGGY_WORD_LINES];

		if (aftl_is_pending_fine_pass_of_relocation(pending))
			aftl_fine_pending_drop_word_line(ftl, lun, pending);
	}
}

/*
 * aftl_fine_pending_find_map() - find the @nth word line of @lun with pending translation pages
 *
 * Return: NULL if there are not that many.
 */
struct aftl_fine_pending *aftl_fine_pending_find_map(const struct aftl *ftl,
						     const struct aftl_lun *lun, u32 nth)
{
	u32 i;

	for (i = 0; i < ftl->foggy_blocks * AFTL_FOGGY_WORD_LINES; i++) {
		struct aftl_foggy_block *foggy = &lun->foggy[i / AFTL_FOGGY_WORD_LINES];
		struct aftl_fine_pending *pending = &foggy->held[i % AFTL_FOGGY_WORD_LINES];

		if (foggy->block && pending->payload.count &&
		    pending->need.cause == AFTL_CAUSE_MAP && !nth--)
			return pending;
	}
	return NULL;
}

/*
 * aftl_fine_pending_take_writes_of_dead_lun() - get writes that lack their fine pass
 *
 * Return: the commands of one word line, linked; AFTL_NIL if none are left. Call it repeatedly
 * until it returns AFTL_NIL.
 */
u32 aftl_fine_pending_take_writes_of_dead_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 commands = AFTL_NIL;
	u32 i;

	for (i = 0; commands == AFTL_NIL && i < ftl->foggy_blocks * AFTL_FOGGY_WORD_LINES; i++) {
		struct aftl_foggy_block *foggy = &lun->foggy[i / AFTL_FOGGY_WORD_LINES];
		struct aftl_fine_pending *pending = &foggy->held[i % AFTL_FOGGY_WORD_LINES];

		commands = foggy->block ? pending->commands : AFTL_NIL;
		if (commands != AFTL_NIL)
			aftl_fine_pending_drop_word_line(ftl, lun, pending);
	}
	if (commands == AFTL_NIL)
		for (i = 0; i < ftl->foggy_blocks; i++)
			lun->foggy[i].block = NULL;
	return commands;
}
