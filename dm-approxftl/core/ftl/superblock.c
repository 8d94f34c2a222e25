// SPDX-License-Identifier: GPL-2.0-only
/*
 * Superblocks: blocks of one number in the LUNs of a group, which are erased together. With
 * parity one of them, another one from number to number, has for each page the sum of the same
 * page of the others. It grows in the controller and is written when the last of them has been
 * programmed, or will not be. So what is programmed is protected from the first moment on, as
 * long as one LUN of its group dies, and not two.
 */
#include "core/ftl/device.h"

static u32 count_die_groups(const struct aftl *ftl)
{
	return ftl->geo.luns / ftl->geo.superblock_luns;
}

static int check_superblock_features(const struct aftl *ftl, const struct aftl_config *config,
			struct aftl_error *error)
{
	if (ftl->geo.zones || ftl->geo.trans_pages || ftl->slc_max_blocks || ftl->geo.passes > 1 ||
	    config->placement_handles)
		return aftl_fail(error, -EINVAL,
				 "superblock: superblocks do not go together with zoned, map_cache, slc_static, slc_dynamic, passes or placement_handles");
	if (config->victim != AFTL_VICTIM_greedy || ftl->type->select_victim)
		return aftl_fail(error, -EINVAL,
				 "superblock: the one with the least valid data is collected, and this rule chooses single blocks; set victim greedy");
	if (config->rain && ftl->read_cache.count)
		return aftl_fail(error, -EINVAL,
				 "rain: what is put together from stripes is not kept in a cache of reads; set read_cache 0 or rain off");
	if (config->rain && ftl->type->no_parity)
		return aftl_fail(error, -EINVAL,
				 "rain: policy %s has pages that parity cannot follow; set rain off",
				 ftl->type->name);
	return 0;
}

/*
 * aftl_superblock_check() - can this device with @config have the superblocks that it is to have?
 */
int aftl_superblock_check(const struct aftl *ftl, const struct aftl_config *config,
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
	return check_superblock_features(ftl, config, error);
}

/*
 * aftl_superblock_alloc() - memory for superblocks
 */
bool aftl_superblock_alloc(struct aftl *ftl)
{
	u32 i;

	if (!ftl->geo.superblock_luns)
		return true;
	ftl->superblocks = aftl_memory_alloc(ftl, (size_t)count_die_groups(ftl) * ftl->geo.blocks_per_lun,
				       sizeof(*ftl->superblocks));
	ftl->die_groups = aftl_memory_alloc(ftl, count_die_groups(ftl), sizeof(*ftl->die_groups));
	if (!ftl->superblocks || !ftl->die_groups)
		return false;
	for (i = 0; i < count_die_groups(ftl); i++)
		ftl->die_groups[i].victim = AFTL_NIL;
	for (i = 0; i < ftl->geo.luns; i++)
		ftl->luns[i].reconstructing_for = AFTL_NIL;
	return true;
}

/* Which blocks */

/*
 * aftl_superblock_parity_member() - the member that should hold the parity of a superblock
 *
 * They take turns. Where the block of that one is in use, or bad, it is the one with the most free
 * blocks, which has one to spare.
 *
 * Return: the number of LUNs of a group if there is nothing to be protected.
 */
u32 aftl_superblock_parity_member(const struct aftl *ftl, u32 group, u32 number)
{
	u32 luns = ftl->geo.superblock_luns;
	u32 keeper = luns;
	u32 used = 0;
	u32 most = 0;
	u32 i;

	for (i = 0; ftl->config.rain && i < luns; i++) {
		u32 member = (number + i) % luns;
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, member);
		u32 spare = ftl->luns[group * luns + member].free_blocks;

		used += block->state != AFTL_BLOCK_BAD || block->valid;
		if (block->state != AFTL_BLOCK_FREE &&
		    !(block->parity && block->state == AFTL_BLOCK_OPEN && !block->programmed))
			continue;
		if (keeper == luns || (keeper != number % luns && spare > most)) {
			keeper = member;
			most = spare;
		}
	}
	return used > 1 ? keeper : luns;
}

static bool block_is_in_use(const struct aftl_block *block)
{
	return block->state == AFTL_BLOCK_OPEN || block->state == AFTL_BLOCK_CLOSED;
}

/* The first of its blocks that has been opened; NULL: none. */
static const struct aftl_block *first_opened_block(const struct aftl *ftl, u32 group, u32 number)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (block_is_in_use(block) && !block->parity)
			return block;
	}
	return NULL;
}

static struct aftl_block *superblock_parity_block(const struct aftl *ftl, u32 group, u32 number, u32 *member)
{
	for (*member = 0; *member < ftl->geo.superblock_luns; ++*member) {
		struct aftl_block *block = aftl_superblock_block(ftl, group, number, *member);

		if (block->parity)
			return block;
	}
	return NULL;
}

static bool superblock_parity_begun(const struct aftl *ftl, u32 group, u32 number)
{
	u32 member;
	const struct aftl_block *parity = superblock_parity_block(ftl, group, number, &member);

	return parity && parity->state != AFTL_BLOCK_BAD && parity->programmed;
}

/*
 * aftl_superblock_unused() - is nothing of a superblock in use, in LUNs that are alive?
 */
bool aftl_superblock_unused(const struct aftl *ftl, u32 group, u32 number)
{
	return !first_opened_block(ftl, group, number) && !superblock_parity_begun(ftl, group, number);
}

/* How many free blocks of superblocks that others have begun may wait for their kind. */
#define MAX_WAITING_BLOCKS 2

/*
 * aftl_superblock_select_free() - the free block of @lun that is opened next
 *
 * One whose superblock others have begun for the same kind of data, the oldest; if there are too
 * many for others, one of these; else one whose superblock is fresh.
 */
struct aftl_block *aftl_superblock_select_free(struct aftl *ftl, const struct aftl_lun *lun, u32 kind)
{
	u32 group = aftl_die_group_of(ftl, lun);
	struct aftl_block *fresh = NULL;
	struct aftl_block *begun = NULL;
	u32 others = 0;
	u32 index;

	for (index = lun->free_head; index != AFTL_NIL; index = ftl->media.blocks[index].next) {
		struct aftl_block *block = &ftl->media.blocks[index];
		const struct aftl_block *first = first_opened_block(ftl, group,
							     aftl_superblock_number(ftl, block));

		if (first && first->kind == kind)
			return block;
		if (!first && !fresh)
			fresh = block;
		if (first && !others++)
			begun = block;
	}
	if (!begun || (fresh && others <= MAX_WAITING_BLOCKS))
		return fresh;
	return begun;
}

/* Parity */

/* Is any page of a stripe programmed? */
static bool stripe_any_programmed(const struct aftl *ftl, u32 group, u32 number, u32 page)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (aftl_page_programmed(&ftl->media, block, page))
			return true;
	}
	return false;
}

/* A stripe without data, as blocks that were closed early leave them, is written as padding. */
static bool later_stripe_programmed(const struct aftl *ftl, u32 group, u32 number,
			  const struct aftl_block *parity)
{
	u32 page;

	for (page = 0; page < ftl->geo.pages; page++)
		if (!aftl_page_programmed(&ftl->media, parity, page) &&
		    stripe_any_programmed(ftl, group, number, page))
			return true;
	return false;
}

/* Will no page be added to a stripe any more? */
static bool stripe_is_complete(const struct aftl *ftl, u32 group, u32 number, u32 page)
{
	u32 i;

	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, number, i);

		if (!block->parity && !aftl_page_programmed(&ftl->media, block, page) &&
		    (block->state == AFTL_BLOCK_FREE || block->state == AFTL_BLOCK_OPEN))
			return false;
	}
	return true;
}

/* The same of all pages that parity is programmed in at once. */
static bool stripes_are_complete(const struct aftl *ftl, u32 group, u32 number, u32 page)
{
	u32 end = page + ftl->geo.program_pages;

	while (page < end && stripe_is_complete(ftl, group, number, page))
		page++;
	return page == end;
}

/* In the order of the data where that is one that can be foretold. */
static void open_parity_block(struct aftl *ftl, struct aftl_block *parity,
			const struct aftl_block *first)
{
	parity->state = AFTL_BLOCK_OPEN;
	parity->order = AFTL_ORDER_SEQUENTIAL;
	parity->first_hour = first->first_hour;
	parity->opened_ns = ftl->now_ns;
	if (first->order != AFTL_ORDER_TWO_PASS)
		return;
	parity->order = AFTL_ORDER_TWO_PASS;
	aftl_block_set_flip(parity, aftl_block_flip(first));
}

/* Is there parity of a superblock that can be written now? It may be that of a block to come. */
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
	page = aftl_order_next(&ftl->media, parity);
	return page < ftl->geo.pages && stripes_are_complete(ftl, group, number, page) &&
	       (stripe_any_programmed(ftl, group, number, page) ||
		later_stripe_programmed(ftl, group, number, parity));
}

static void parity_queue_if_due(struct aftl *ftl, u32 group, u32 number)
{
	struct aftl_superblock_state *super = aftl_superblock_at(ftl, group, number);
	u32 member;
	struct aftl_block *parity = superblock_parity_block(ftl, group, number, &member);
	struct aftl_lun *lun;

	if (!parity || super->parity_queued || !parity_is_due(ftl, group, number, parity))
		return;
	lun = aftl_die_group_lun(ftl, group, member);
	super->parity_queued = true;
	if (lun->parity_due++)
		aftl_superblock_at(ftl, group, lun->parity_tail)->next = number;
	else
		lun->parity_head = number;
	lun->parity_tail = number;
	aftl_wake_lun(ftl, lun);
}

/*
 * aftl_parity_queue_due() - pages of @block have been programmed, or none will be any more
 */
void aftl_parity_queue_due(struct aftl *ftl, const struct aftl_block *block)
{
	if (ftl->config.rain && !block->parity)
		parity_queue_if_due(ftl, aftl_die_group_of(ftl, aftl_block_lun(ftl, block)),
		     aftl_superblock_number(ftl, block));
}

static void parity_dequeue(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_superblock_state *super = aftl_superblock_at(ftl, aftl_die_group_of(ftl, lun), lun->parity_head);

	super->parity_queued = false;
	lun->parity_head = super->next;
	lun->parity_due--;
}

/*
 * aftl_parity_next_program() - the program of parity that is next in @lun
 *
 * Return: false if there is none.
 */
bool aftl_parity_next_program(struct aftl *ftl, struct aftl_lun *lun, struct aftl_placement *placement)
{
	u32 group = aftl_die_group_of(ftl, lun);
	struct aftl_program_command program;
	struct aftl_block *block = NULL;

	for (; lun->parity_due; parity_dequeue(ftl, lun)) {
		block = aftl_superblock_block(ftl, group, lun->parity_head, aftl_die_group_member(ftl, lun));
		if (block->parity && parity_is_due(ftl, group, lun->parity_head, block))
			break;
	}
	if (!lun->parity_due)
		return false;
	*placement = (struct aftl_placement){
		.block = block,
		.page = aftl_order_next(&ftl->media, block),
		.pages = ftl->geo.program_pages,
		.mode = AFTL_MODE_NORMAL,
	};
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

/*
 * aftl_parity_programmed() - that has been committed: others have their turn
 */
void aftl_parity_programmed(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 number = lun->parity_head;
	u32 group = aftl_die_group_of(ftl, lun);
	struct aftl_block *block = aftl_superblock_block(ftl, group, number, aftl_die_group_member(ftl, lun));

	parity_dequeue(ftl, lun);
	if (block->programmed == ftl->geo.pages)
		block->state = AFTL_BLOCK_CLOSED;
	else
		parity_queue_if_due(ftl, group, number);
}

/*
 * aftl_superblock_erased() - a superblock has been erased
 */
void aftl_superblock_erased(struct aftl *ftl, u32 group, u32 number)
{
	aftl_superblock_at(ftl, group, number)->rebuild_done = false;
}

/*
 * aftl_superblock_suspend() - the device is at rest: what is going on begins anew when it goes on
 */
void aftl_superblock_suspend(struct aftl *ftl)
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

/*
 * aftl_superblock_resume() - it goes on: parity that is due is found again, in the order of numbers
 */
void aftl_superblock_resume(struct aftl *ftl)
{
	u32 i;
	u32 number;

	if (!ftl->geo.superblock_luns)
		return;
	for (i = 0; i < ftl->geo.luns; i++)
		while (ftl->luns[i].parity_due)
			parity_dequeue(ftl, &ftl->luns[i]);
	for (i = 0; i < count_die_groups(ftl); i++) {
		ftl->die_groups[i].retry_seq = 0;
		for (number = 0; number < ftl->geo.blocks_per_lun; number++) {
			aftl_superblock_at(ftl, i, number)->rebuild_done = false;
			parity_queue_if_due(ftl, i, number);
		}
	}
}

/*
 * aftl_parity_block_of() - the block with the parity of the superblock of @block; NULL: none
 */
struct aftl_block *aftl_parity_block_of(struct aftl *ftl, const struct aftl_block *block)
{
	u32 member;

	return superblock_parity_block(ftl, aftl_die_group_of(ftl, aftl_block_lun(ftl, block)),
			 aftl_superblock_number(ftl, block), &member);
}

/* What the rest of a stripe knows */

/* Would ECC read what is in @ppn? What it corrects is the errors of the page, not older ones. */
static bool ecc_can_decode(const struct aftl *ftl, aftl_ppn_t ppn)
{
	u16 attr = aftl_ppn_attr(&ftl->media, ppn);
	struct aftl_errors errors;

	if (!aftl_models_errors(&ftl->media) || aftl_cell_never_fails(&ftl->cell, attr))
		return true;
	errors = aftl_cell_read(&ftl->cell, ppn, aftl_hours(ftl));
	if (aftl_page_class(attr) == AFTL_APPROX)
		return errors.raw <= ftl->cell.correctable;
	return errors.levels <= ftl->cell.levels;
}

/*
 * Is what @block adds to the slot @at there? What has not been programmed adds nothing. For what
 * is approximate nobody asks ECC.
 */
static bool stripe_member_readable(const struct aftl *ftl, const struct aftl_block *block, u32 at, bool approx)
{
	u32 page = at / ftl->geo.page_units;
	u32 first = from_ppn(aftl_page_ppn(&ftl->media, block, 0));

	/* Parity that is still in the controller goes with the LUN that it belongs to. */
	if (block->state == AFTL_BLOCK_BAD)
		return !block->parity && !aftl_page_programmed(&ftl->media, block, page);
	return approx || !aftl_page_programmed(&ftl->media, block, page) ||
	       ecc_can_decode(ftl, to_ppn(first + at));
}

static bool slot_is_approx(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return aftl_page_class(aftl_ppn_attr(&ftl->media, ppn)) ==
	       AFTL_APPROX;
}

/*
 * aftl_stripe_can_reconstruct() - can the rest of its stripe give the content of @ppn?
 *
 * Units that are lost already stay lost: once the rest of the stripe is erased, it looks complete.
 */
bool aftl_stripe_can_reconstruct(const struct aftl *ftl, aftl_ppn_t ppn)
{
	const struct aftl_block *own = aftl_ppn_block(&ftl->media, ppn);
	bool approx = slot_is_approx(ftl, ppn);
	u32 group;
	u32 member;
	u32 i;

	if (!ftl->config.rain || aftl_ppn_is_lost(ftl, ppn))
		return false;
	group = aftl_block_index(&ftl->media, own) / ftl->geo.blocks_per_lun / ftl->geo.superblock_luns;
	if (own->parity || !superblock_parity_block(ftl, group, aftl_superblock_number(ftl, own), &member))
		return false;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block;

		block = aftl_superblock_block(ftl, group, aftl_superblock_number(ftl, own), i);
		if (block != own && !stripe_member_readable(ftl, block, from_ppn(ppn) % ftl->geo.block_ppns,
					  approx))
			return false;
	}
	return true;
}

/*
 * aftl_stripe_reconstruct() - does a read of @ppn with @errors need the rest of the stripe, and get it?
 *
 * Then they become those that the content had when it was programmed there. What is approximate
 * has as many as it would have itself, for the others were read without ECC, too.
 */
bool aftl_stripe_reconstruct(const struct aftl *ftl, aftl_ppn_t ppn, struct aftl_errors *errors)
{
	const struct aftl_block *block = aftl_ppn_block(&ftl->media, ppn);
	u32 baked = aftl_origin(&ftl->media, block, ppn).inherited;
	bool dead = block->state == AFTL_BLOCK_BAD;

	if (!(errors->lost || dead) || (!dead && baked == AFTL_INHERITED_LOST) ||
	    !aftl_stripe_can_reconstruct(ftl, ppn))
		return false;
	if (!slot_is_approx(ftl, ppn))
		*errors = (struct aftl_errors){
			.flips = min(baked, ftl->geo.unit_bits),
			.lost = baked == AFTL_INHERITED_LOST,
		};
	return true;
}

/* Reading it */

static bool block_has_page(const struct aftl *ftl, const struct aftl_block *block, u32 page)
{
	return block->state != AFTL_BLOCK_BAD && aftl_page_programmed(&ftl->media, block, page);
}

/*
 * aftl_reconstruct_begin() - others of the group of @lun read their page of the stripe of @device_page
 */
void aftl_reconstruct_begin(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page)
{
	u32 group = aftl_die_group_of(ftl, lun);
	const struct aftl_block *own = &ftl->media.blocks[device_page / ftl->geo.pages];
	struct aftl_reconstruct *repair = &lun->reconstruct;
	u32 i;

	repair->kind = (u8)kind;
	repair->block = aftl_superblock_number(ftl, own);
	repair->page = device_page % ftl->geo.pages;
	repair->left = 0;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		const struct aftl_block *block = aftl_superblock_block(ftl, group, repair->block, i);

		if (block == own || !block_has_page(ftl, block, repair->page))
			continue;
		repair->left |= 1ULL << i;
		aftl_die_group_lun(ftl, group, i)->stripe_requests |= 1ULL << aftl_die_group_member(ftl, lun);
		aftl_mark_runnable(ftl, aftl_die_group_lun(ftl, group, i));
	}
}

/*
 * aftl_reconstruct_page_done() - @member has done its share, or cannot
 *
 * Return: whether that was the last one.
 */
bool aftl_reconstruct_page_done(struct aftl *ftl, struct aftl_lun *lun, u32 member)
{
	u32 group = aftl_die_group_of(ftl, lun);

	aftl_die_group_lun(ftl, group, member)->stripe_requests &= ~(1ULL << aftl_die_group_member(ftl, lun));
	lun->reconstruct.left &= ~(1ULL << member);
	return lun->reconstruct.kind && !lun->reconstruct.left;
}

/*
 * aftl_reconstruct_cancel() - nobody needs it any more
 */
void aftl_reconstruct_cancel(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 own = aftl_die_group_member(ftl, lun);
	u32 i;

	lun->reconstruct.kind = AFTL_RECONSTRUCT_NONE;
	lun->reconstruct.left = 0;
	for (i = 0; i < ftl->geo.superblock_luns; i++) {
		struct aftl_lun *other = aftl_die_group_lun(ftl, aftl_die_group_of(ftl, lun), i);

		other->stripe_requests &= ~(1ULL << own);
		if (other->reconstructing_for == own)
			other->reconstructing_for = AFTL_NIL;
	}
}

/* Looking */

/* Does a block go on in a stripe whose parity has been written? */
static bool written_after_parity(const struct aftl *ftl, u32 group, u32 number)
{
	u32 member;
	const struct aftl_block *parity = superblock_parity_block(ftl, group, number, &member);
	u32 page;

	for (page = 0; parity && parity->state != AFTL_BLOCK_BAD && page < ftl->geo.pages; page++)
		if (aftl_page_programmed(&ftl->media, parity, page) &&
		    !stripe_is_complete(ftl, group, number, page))
			return true;
	return false;
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
				 "superblock %u has the parity of what was there before", number);
	if (written_after_parity(ftl, group, number))
		return aftl_fail(error, -EUCLEAN,
				 "superblock %u goes on where its parity has been written",
				 number);
	if (parities > ftl->config.rain)
		return aftl_fail(error, -EUCLEAN, "superblock %u has %u blocks of parity", number,
				 parities);
	return 0;
}

/*
 * aftl_superblock_audit() - has each superblock as much parity as it should, and nothing else there?
 */
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
