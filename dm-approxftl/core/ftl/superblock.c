// SPDX-License-Identifier: GPL-2.0-only
/*
 * Superblocks and RAIN. A superblock consists of the blocks of the same number in the LUNs of a die
 * group, which are erased together. With RAIN, one of its blocks, whose LUN changes with that
 * number, holds the parity of each stripe: of the pages of the same number in the other blocks.
 * Parity accumulates in the controller and is programmed when the last page of a stripe has been
 * programmed or cannot come any more. Data are therefore protected from the start against the
 * failure of one LUN of a group.
 */
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/sensing.h"
#include "core/ftl/superblock.h"

static u32 count_die_groups(const struct aftl *ftl)
{
	return ftl->geo.luns / ftl->geo.superblock_luns;
}

static int check_superblock_config_conflicts(const struct aftl *ftl,
					     const struct aftl_config *config,
					     struct aftl_error *error)
{
	if (ftl->geo.zones)
		return aftl_fail(error, -EINVAL,
				 "superblock: a zone is already striped over dies and erased as a whole; set superblock 0 or zoned 0");
	if (config->rain && ftl->type->no_parity)
		return aftl_fail(error, -EINVAL,
				 "rain: policy %s has pages that parity cannot follow; set rain off",
				 ftl->type->name);
	return 0;
}

/* Check that @config and the policy allow superblocks and RAIN. */
int aftl_superblock_check_config(const struct aftl *ftl, const struct aftl_config *config,
				 struct aftl_error *error)
{
	u32 luns = ftl->geo.superblock_luns;

	if (!luns && config->rain)
		return aftl_fail(error, -EINVAL,
				 "rain: parity belongs to superblocks; set superblock to 2 dies or more");
	if (!luns)
		return 0;
	if (luns == 1 || ftl->geo.luns % luns)
		return aftl_fail(error, -EINVAL,
				 "superblock: %u dies cannot be shared out in groups of %u; it takes at least 2, and a number that divides them",
				 ftl->geo.luns, luns);
	return check_superblock_config_conflicts(ftl, config, error);
}

bool aftl_superblock_alloc(struct aftl *ftl)
{
	u32 i;

	if (!ftl->geo.superblock_luns)
		return true;
	ftl->superblocks =
		aftl_memory_alloc(ftl, (size_t)count_die_groups(ftl) * ftl->geo.blocks_per_lun,
				  sizeof(*ftl->superblocks));
	ftl->die_groups = aftl_memory_alloc(ftl, count_die_groups(ftl), sizeof(*ftl->die_groups));
	ftl->superblock_candidates = aftl_memory_alloc(ftl, ftl->geo.blocks_per_lun,
						       sizeof(*ftl->superblock_candidates));
	if (!ftl->superblocks || !ftl->die_groups || !ftl->superblock_candidates)
		return false;
	for (i = 0; i < count_die_groups(ftl); i++)
		ftl->die_groups[i].victim = AFTL_NIL;
	for (i = 0; i < ftl->geo.luns; i++)
		ftl->luns[i].reconstructing_for = AFTL_NIL;
	return true;
}

/*
 * aftl_superblock_select_parity_member() - select the member that holds the parity of a superblock
 *
 * Members take turns by superblock number. If the block of that member is in use or bad, or the
 * member would lack a block of its GC reserve, the member with the most free blocks is selected;
 * the current parity block counts as free. GC or a rebuild may have used the last free block of a
 * member for the pages of this superblock.
 *
 * Return: number of the member; the number of LUNs in a group if there is nothing to protect.
 */
u32 aftl_superblock_select_parity_member(const struct aftl *ftl, u32 group, u32 number)
{
	u32 luns = ftl->geo.superblock_luns;
	u32 parity_member = luns;
	u32 used = 0;
	u32 most = 0;
	u32 i;

	for (i = 0; ftl->config.rain && i < luns; i++) {
		u32 member = (number + i) % luns;
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, member);
		const struct aftl_lun *lun = &ftl->luns[group * luns + member];
		u32 spare = lun->free_blocks + block->parity;

		used += block->state != AFTL_BLOCK_BAD || block->valid;
		if (block->state != AFTL_BLOCK_FREE &&
		    !(block->parity && block->state == AFTL_BLOCK_OPEN && !block->programmed))
			continue;
		if (!i && spare > aftl_count_gc_reserve_blocks(ftl))
			spare = U32_MAX;
		if (parity_member == luns || spare > most) {
			parity_member = member;
			most = spare;
		}
	}
	return used > 1 ? parity_member : luns;
}

static bool is_superblock_member_in_use(const struct aftl_block *block)
{
	return block->state == AFTL_BLOCK_OPEN || block->state == AFTL_BLOCK_CLOSED;
}

/* First of the opened data blocks of a superblock, or NULL. */
static const struct aftl_block *first_opened_block(const struct aftl *ftl, u32 group, u32 number)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (is_superblock_member_in_use(block) && !block->parity)
			return block;
	}
	return NULL;
}

static struct aftl_block *superblock_parity_block(const struct aftl *ftl, u32 group, u32 number,
						  u32 *member)
{
	for (*member = 0; *member < ftl->geo.superblock_luns; ++*member) {
		struct aftl_block *block = aftl_superblock_block(ftl, group, number, *member);

		if (block->parity)
			return block;
	}
	return NULL;
}

static bool superblock_parity_is_begun(const struct aftl *ftl, u32 group, u32 number)
{
	u32 member;
	const struct aftl_block *parity = superblock_parity_block(ftl, group, number, &member);

	return parity && parity->state != AFTL_BLOCK_BAD && parity->programmed;
}

/* Return true if no block of the superblock is in use in a live LUN. */
bool aftl_superblock_is_unused(const struct aftl *ftl, u32 group, u32 number)
{
	return !first_opened_block(ftl, group, number) &&
	       !superblock_parity_is_begun(ftl, group, number);
}

/*
 * Largest number of free blocks that a LUN keeps for superblocks which other LUNs have opened: two,
 * or, with a policy that separates more than three streams, their number minus 1; and one more for
 * each placement handle and for translation pages.
 */
static u32 get_max_blocks_of_begun_superblocks(const struct aftl *ftl)
{
	bool streams = ftl->type->host_streams || ftl->type->ftl;

	return (streams ? max(ftl->streams - 1, 2U) : 2) + ftl->handles;
}

static u32 superblock_stream_of_block(const struct aftl *ftl, const struct aftl_block *block)
{
	return aftl_get_data_kind_key_of_superblock(block->kind, block->handle,
						    aftl_is_slc_block(ftl, block));
}

/*
 * Select the next free block of @lun to open: the oldest one whose superblock other LUNs have
 * opened for the same stream. If there is none, select a block of an unused superblock, or, if too
 * many free blocks belong to open superblocks of other streams, the oldest of these blocks.
 */
struct aftl_block *aftl_superblock_select_free(struct aftl *ftl, const struct aftl_lun *lun,
					       u32 stream)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	struct aftl_block *fresh = NULL;
	struct aftl_block *begun = NULL;
	u32 others = 0;
	u32 index;

	for (index = lun->free_head; index != AFTL_NIL; index = ftl->media.blocks[index].next) {
		struct aftl_block *block = &ftl->media.blocks[index];
		const struct aftl_block *first =
			first_opened_block(ftl, group, aftl_superblock_number(ftl, block));

		if (first && superblock_stream_of_block(ftl, first) == stream)
			return block;
		if (!first && !fresh)
			fresh = block;
		if (first && !others++)
			begun = block;
	}
	if (!begun || (fresh && others <= get_max_blocks_of_begun_superblocks(ftl)))
		return fresh;
	return begun;
}

/*
 * Return true if the parity covers the page. After the coarse pass alone it does not, but the
 * controller still has the data of the page then.
 */
static bool page_is_readable_for_stripe(const struct aftl *ftl, const struct aftl_block *block,
					u32 page)
{
	u16 attr = aftl_block_page_attr(&ftl->media, block, page);

	return attr & AFTL_PAGE_PROGRAMMED && !aftl_page_is_foggy(attr);
}

/* Return true if any page of the stripe has data. */
static bool stripe_has_programmed_page(const struct aftl *ftl, u32 group, u32 number, u32 page)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (page_is_readable_for_stripe(ftl, block, page))
			return true;
	}
	return false;
}

/*
 * Return true if a later stripe of the superblock has data. A stripe without data, as blocks were
 * closed early, then gets parity of padding, because the parity block is programmed in order.
 */
static bool superblock_has_stripe_without_parity(const struct aftl *ftl, u32 group, u32 number,
						 const struct aftl_block *parity)
{
	u32 page;

	for (page = 0; page < ftl->geo.pages; page++)
		if (!aftl_page_is_programmed(&ftl->media, parity, page) &&
		    stripe_has_programmed_page(ftl, group, number, page))
			return true;
	return false;
}

/* Return true if no more pages of the stripe will be programmed. */
static bool stripe_is_complete(const struct aftl *ftl, u32 group, u32 number, u32 page)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (!block->parity && !page_is_readable_for_stripe(ftl, block, page) &&
		    (block->state == AFTL_BLOCK_FREE || block->state == AFTL_BLOCK_OPEN))
			return false;
	}
	return true;
}

/* Return true if all stripes of the parity program that starts at @page are complete. */
static bool stripes_of_program_are_complete(const struct aftl *ftl, u32 group, u32 number, u32 page)
{
	u32 member;
	const struct aftl_block *parity = superblock_parity_block(ftl, group, number, &member);
	u32 end = page + aftl_count_pages_of_program_step(&ftl->geo, parity);

	while (page < end && stripe_is_complete(ftl, group, number, page))
		page++;
	return page == end;
}

/* Open the parity block in the program order of the data blocks, if that order is predictable. */
static void open_parity_block(struct aftl *ftl, struct aftl_block *parity,
			      const struct aftl_block *first)
{
	parity->state = AFTL_BLOCK_OPEN;
	parity->order = AFTL_ORDER_SEQUENTIAL;
	parity->bits = aftl_is_slc_block(ftl, first) ? 1 : 0;
	parity->first_hour = first->first_hour;
	parity->opened_ns = (s64)(ftl->now_ns - ftl->fill_left_ns);
	if (first->order == AFTL_ORDER_FOGGY_FINE)
		parity->order = AFTL_ORDER_FOGGY_FINE;
	if (first->order != AFTL_ORDER_TWO_PASS)
		return;
	parity->order = AFTL_ORDER_TWO_PASS;
	aftl_set_first_checkerboard_colour(parity, aftl_first_checkerboard_colour(first));
}

/* Return true if the next program of the parity block is the fine pass of parity written before. */
static bool parity_awaits_fine_pass(const struct aftl *ftl, const struct aftl_block *parity)
{
	return parity->order == AFTL_ORDER_FOGGY_FINE &&
	       aftl_next_fine_pass_page(&ftl->media, parity) < ftl->geo.pages;
}

/* Return true if the next parity of the superblock can be programmed now. */
static bool parity_is_due(struct aftl *ftl, u32 group, u32 number, struct aftl_block *parity)
{
	const struct aftl_block *first = first_opened_block(ftl, group, number);
	u32 page;

	if (!first || ftl->die_groups[group].victim == number)
		return false;
	if (parity->state == AFTL_BLOCK_FREE)
		open_parity_block(ftl, parity, first);
	if (parity->state != AFTL_BLOCK_OPEN)
		return false;
	if (parity_awaits_fine_pass(ftl, parity))
		return true;
	page = aftl_program_order_next_page(&ftl->media, parity);
	return page < ftl->geo.pages && stripes_of_program_are_complete(ftl, group, number, page) &&
	       (stripe_has_programmed_page(ftl, group, number, page) ||
		superblock_has_stripe_without_parity(ftl, group, number, parity));
}

static void queue_parity_if_due(struct aftl *ftl, u32 group, u32 number)
{
	struct aftl_superblock_state *state = aftl_superblock_at(ftl, group, number);
	u32 member;
	struct aftl_block *parity = superblock_parity_block(ftl, group, number, &member);
	struct aftl_lun *lun;

	if (!parity || state->parity_queued || !parity_is_due(ftl, group, number, parity))
		return;
	lun = aftl_lun_of_die_group(ftl, group, member);
	state->parity_queued = true;
	if (lun->parity_due++)
		aftl_superblock_at(ftl, group, lun->parity_tail)->next = number;
	else
		lun->parity_head = number;
	lun->parity_tail = number;
	aftl_wake_idle_lun(ftl, lun);
}

/* Queue parity that a program or a close of @block has completed. */
void aftl_parity_queue_if_due(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (ftl->config.rain && !block->parity)
		queue_parity_if_due(ftl, aftl_die_group_of_lun(ftl, lun),
				    aftl_superblock_number(ftl, block));
}

static void parity_dequeue_first_superblock(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_superblock_state *state =
		aftl_superblock_at(ftl, aftl_die_group_of_lun(ftl, lun), lun->parity_head);

	state->parity_queued = false;
	lun->parity_head = state->next;
	lun->parity_due--;
}

/* Drop the queued parity programs of @lun, because the LUN has died or the device stops. */
void aftl_parity_clear_queue(struct aftl *ftl, struct aftl_lun *lun)
{
	while (lun->parity_due)
		parity_dequeue_first_superblock(ftl, lun);
}

/*
 * aftl_parity_get_next_pages_to_program() - get the next program of parity in @lun
 * @placement: takes the pages to program
 *
 * Return: false if there is none.
 */
bool aftl_parity_get_next_pages_to_program(struct aftl *ftl, struct aftl_lun *lun,
					   struct aftl_placement *placement)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	struct aftl_program_command program;
	struct aftl_block *block = NULL;

	for (; lun->parity_due; parity_dequeue_first_superblock(ftl, lun)) {
		block = aftl_superblock_block(ftl, group, lun->parity_head,
					      aftl_lun_index_in_die_group(ftl, lun));
		if (block->parity && parity_is_due(ftl, group, lun->parity_head, block))
			break;
	}
	if (!lun->parity_due)
		return false;
	*placement = (struct aftl_placement){
		.block = block,
		.page = aftl_program_order_next_page(&ftl->media, block),
		.pages = aftl_count_pages_of_program_step(&ftl->geo, block),
		.mode = aftl_block_program_mode(block),
	};
	if (parity_awaits_fine_pass(ftl, block)) {
		placement->page = aftl_next_fine_pass_page(&ftl->media, block);
		placement->mode = AFTL_MODE_NORMAL;
	}
	program = (struct aftl_program_command){
		.block = block,
		.page = placement->page,
		.pages = placement->pages,
		.mode = placement->mode,
		.class = AFTL_PRECISE,
	};
	aftl_chip_program(&ftl->chip, &program, &lun->outcome);
	return true;
}

/* Remove the committed program of parity from the queue, and queue the next if it is due. */
void aftl_parity_program_done(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 number = lun->parity_head;
	u32 group = aftl_die_group_of_lun(ftl, lun);
	struct aftl_block *block =
		aftl_superblock_block(ftl, group, number, aftl_lun_index_in_die_group(ftl, lun));

	parity_dequeue_first_superblock(ftl, lun);
	if (aftl_block_is_full(&ftl->geo, block) && !parity_awaits_fine_pass(ftl, block))
		block->state = AFTL_BLOCK_CLOSED;
	else
		queue_parity_if_due(ftl, group, number);
}

void aftl_superblock_reset_rebuild_state(struct aftl *ftl, u32 group, u32 number)
{
	aftl_superblock_at(ftl, group, number)->rebuilt = 0;
	ftl->die_groups[group].rebuild_from = min(ftl->die_groups[group].rebuild_from, number);
}

/* Drop reconstructions and GC in progress when the device stops. */
void aftl_superblock_cancel_tasks(struct aftl *ftl)
{
	u32 i;

	if (!ftl->geo.superblock_luns)
		return;
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_reconstruct_cancel(ftl, &ftl->luns[i]);
	for (i = 0; i < count_die_groups(ftl); i++) {
		ftl->die_groups[i].victim = AFTL_NIL;
		ftl->die_groups[i].urgent = false;
		ftl->die_groups[i].erased = 0;
	}
}

/* Queue all parity that is due, in the order of superblock numbers. */
void aftl_superblock_queue_all_parity(struct aftl *ftl)
{
	u32 i;
	u32 number;

	if (!ftl->geo.superblock_luns)
		return;
	for (i = 0; i < ftl->geo.luns; i++)
		aftl_parity_clear_queue(ftl, &ftl->luns[i]);
	for (i = 0; i < count_die_groups(ftl); i++) {
		ftl->die_groups[i].retry_seq = 0;
		ftl->die_groups[i].rebuild_from = 0;
		for (number = 0; number < ftl->geo.blocks_per_lun; number++) {
			aftl_superblock_at(ftl, i, number)->rebuilt = 0;
			queue_parity_if_due(ftl, i, number);
		}
	}
}

/* Return the parity block of the superblock of @block, or NULL. */
struct aftl_block *aftl_parity_block_of(struct aftl *ftl, const struct aftl_block *block)
{
	u32 member;

	return superblock_parity_block(ftl, aftl_die_group_of_lun(ftl, aftl_block_lun(ftl, block)),
				       aftl_superblock_number(ftl, block), &member);
}

/*
 * Return true if ECC corrects the errors of @ppn; it treats inherited errors as correct data.
 */
static bool ecc_can_decode_ppn(const struct aftl *ftl, aftl_ppn_t ppn)
{
	u16 attr = aftl_ppn_attr(&ftl->media, ppn);
	struct aftl_errors errors;

	if (!aftl_has_error_model(&ftl->media) || aftl_cell_ecc_never_fails(&ftl->cell, attr))
		return true;
	errors = aftl_cell_read_errors(&ftl->cell, ppn, aftl_device_age_hours(ftl));
	if (aftl_page_class(attr) == AFTL_APPROX)
		return errors.raw <= ftl->cell.correctable;
	return errors.levels <= ftl->cell.levels;
}

/*
 * Return true if @block can contribute its page to a reconstruction. A page that is not programmed
 * contributes zeroes. Approximate data are used without ECC.
 */
static bool is_stripe_member_readable(const struct aftl *ftl, const struct aftl_block *block,
				      u32 at, bool approx)
{
	u32 page = at / ftl->geo.page_units;
	u32 first = from_ppn(aftl_page_ppn(&ftl->media, block, 0));

	/* A dead LUN's parity that was not programmed is lost. */
	if (block->state == AFTL_BLOCK_BAD)
		return !block->parity && !page_is_readable_for_stripe(ftl, block, page);
	return approx || !page_is_readable_for_stripe(ftl, block, page) ||
	       ecc_can_decode_ppn(ftl, to_ppn(first + at));
}

static bool ppn_has_approximate_data(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return aftl_page_class(aftl_ppn_attr(&ftl->media, ppn)) ==
	       AFTL_APPROX;
}

/*
 * Return true if @ppn can be reconstructed from the rest of its stripe. Pages marked as lost stay
 * lost, although an erased stripe looks readable.
 */
bool aftl_stripe_can_reconstruct_ppn(const struct aftl *ftl, aftl_ppn_t ppn)
{
	const struct aftl_block *own = aftl_block_of_ppn(&ftl->media, ppn);
	bool approx = ppn_has_approximate_data(ftl, ppn);
	u32 group;
	u32 member;
	u32 i;

	if (!ftl->config.rain || aftl_ppn_is_lost(ftl, ppn))
		return false;
	group = aftl_block_index(&ftl->media, own) / ftl->geo.blocks_per_lun /
		ftl->geo.superblock_luns;
	if (own->parity ||
	    !superblock_parity_block(ftl, group, aftl_superblock_number(ftl, own), &member))
		return false;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block;

		block = aftl_superblock_block(ftl, group, aftl_superblock_number(ftl, own), i);
		if (block != own &&
		    !is_stripe_member_readable(ftl, block, from_ppn(ppn) % ftl->geo.block_ppns,
					       approx))
			return false;
	}
	return true;
}

/*
 * aftl_stripe_reconstruct() - reconstruct @ppn from its stripe if its read has failed
 * @errors: errors of the read; set to those that the data had when they were programmed
 *
 * Approximate data keep the errors of the read, because the other pages are read without ECC, too.
 *
 * Return: true if the read failed and the page could be reconstructed.
 */
bool aftl_stripe_reconstruct(const struct aftl *ftl, aftl_ppn_t ppn, struct aftl_errors *errors)
{
	const struct aftl_block *block = aftl_block_of_ppn(&ftl->media, ppn);
	u32 inherited = aftl_oob_origin(&ftl->media, block, ppn).inherited;
	bool dead = block->state == AFTL_BLOCK_BAD;

	if (!(errors->lost || dead) || (!dead && inherited == AFTL_INHERITED_LOST) ||
	    !aftl_stripe_can_reconstruct_ppn(ftl, ppn))
		return false;
	if (!ppn_has_approximate_data(ftl, ppn))
		*errors = (struct aftl_errors){
			.flips = min(inherited, ftl->geo.unit_bits),
			.lost = inherited == AFTL_INHERITED_LOST,
		};
	return true;
}

static bool stripe_member_has_data(const struct aftl *ftl, const struct aftl_block *block, u32 page)
{
	return block->state != AFTL_BLOCK_BAD && page_is_readable_for_stripe(ftl, block, page);
}

/*
 * aftl_reconstruct_begin() - request the pages of the stripe of @device_page from the other LUNs
 * @kind: enum aftl_reconstruct_kind
 *
 * Pages whose program is in progress need no read: the controller has their data.
 */
void aftl_reconstruct_begin(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);
	const struct aftl_block *own = &ftl->media.blocks[device_page / ftl->geo.pages];
	struct aftl_reconstruct *reconstruct = &lun->reconstruct;
	u32 i;

	reconstruct->kind = (u8)kind;
	reconstruct->block = aftl_superblock_number(ftl, own);
	reconstruct->page = device_page % ftl->geo.pages;
	reconstruct->left = 0;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block =
			aftl_superblock_block(ftl, group, reconstruct->block, i);

		if (block == own || !stripe_member_has_data(ftl, block, reconstruct->page) ||
		    aftl_ppn_is_programming(ftl,
					    aftl_page_ppn(&ftl->media, block, reconstruct->page)))
			continue;
		reconstruct->left |= 1ULL << i;
		aftl_lun_of_die_group(ftl, group, i)->stripe_requests |=
			1ULL << aftl_lun_index_in_die_group(ftl, lun);
		aftl_mark_lun_runnable(ftl, aftl_lun_of_die_group(ftl, group, i));
	}
}

/*
 * Record that @member has read its page, or cannot read it. Return: true if that was the last page
 * of the stripe.
 */
bool aftl_reconstruct_page_done(struct aftl *ftl, struct aftl_lun *lun, u32 member)
{
	u32 group = aftl_die_group_of_lun(ftl, lun);

	aftl_lun_of_die_group(ftl, group, member)->stripe_requests &=
		~(1ULL << aftl_lun_index_in_die_group(ftl, lun));
	lun->reconstruct.left &= ~(1ULL << member);
	return lun->reconstruct.kind && !lun->reconstruct.left;
}

void aftl_reconstruct_cancel(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 own = aftl_lun_index_in_die_group(ftl, lun);
	u32 i;

	lun->reconstruct.kind = AFTL_RECONSTRUCT_NONE;
	lun->reconstruct.left = 0;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *other =
			aftl_lun_of_die_group(ftl, aftl_die_group_of_lun(ftl, lun), i);

		other->stripe_requests &= ~(1ULL << own);
		if (other->reconstructing_for == own)
			other->reconstructing_for = AFTL_NIL;
	}
}

/* Return true if a data block may still program a page whose parity has been programmed. */
static bool data_may_be_programmed_after_parity(const struct aftl *ftl, u32 group, u32 number)
{
	u32 member;
	const struct aftl_block *parity = superblock_parity_block(ftl, group, number, &member);
	u32 page;

	for (page = 0; parity && parity->state != AFTL_BLOCK_BAD && page < ftl->geo.pages; page++)
		if (aftl_page_is_programmed(&ftl->media, parity, page) &&
		    !stripe_is_complete(ftl, group, number, page))
			return true;
	return false;
}

/*
 * Return true if the block of a superblock may be reopened after it was closed before it was full:
 * GC does not collect the superblock, and no parity has been programmed for the free pages.
 */
bool aftl_superblock_allows_reopening(struct aftl *ftl, const struct aftl_block *block)
{
	u32 group = aftl_die_group_of_lun(ftl, aftl_block_lun(ftl, block));
	u32 number = aftl_superblock_number(ftl, block);

	return ftl->die_groups[group].victim != number &&
	       !data_may_be_programmed_after_parity(ftl, group, number);
}

static int audit_superblock(const struct aftl *ftl, u32 group, u32 number, struct aftl_error *error)
{
	const struct aftl_block *good = NULL;
	const struct aftl_block *parity = NULL;
	u32 parities = 0;
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		parities += block->parity;
		parity = block->parity ? block : parity;
		if (block->state != AFTL_BLOCK_BAD && good && good->erases != block->erases)
			return aftl_fail(error, -EUCLEAN,
					 "superblock %u has not been erased as a whole", number);
		good = block->state != AFTL_BLOCK_BAD ? block : good;
		if (block->parity && block->valid)
			return aftl_fail(error, -EUCLEAN,
					 "superblock %u has data of the host in its parity",
					 number);
	}
	if (parity && good && parity->erases != good->erases)
		return aftl_fail(error, -EUCLEAN,
				 "superblock %u has parity of before its last erase", number);
	if (data_may_be_programmed_after_parity(ftl, group, number))
		return aftl_fail(error, -EUCLEAN,
				 "superblock %u has data after their parity",
				 number);
	if (parities > ftl->config.rain)
		return aftl_fail(error, -EUCLEAN, "superblock %u has %u parity blocks, not 1",
				 number, parities);
	return 0;
}

/* Check the erase counts and the parity of all superblocks. */
int aftl_superblock_audit(const struct aftl *ftl, struct aftl_error *error)
{
	u32 number;
	int ret = 0;
	u32 i;

	for (i = 0; ftl->geo.superblock_luns && i < count_die_groups(ftl); i++)
		for (number = 0; !ret && number < ftl->geo.blocks_per_lun; number++)
			ret = audit_superblock(ftl, i, number, error);
	return ret;
}
