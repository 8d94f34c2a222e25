// SPDX-License-Identifier: GPL-2.0-only
/*
 * The supply of blocks of a LUN: free ones in the order of their erases, closed
 * ones in lists of equal valid counts, bad ones nowhere.
 */
#include "core/ftl/device.h"
#include "core/base/random.h"
#include "core/policy/victims.h"

static struct aftl_block *block_at(struct aftl *ftl, u32 index)
{
	return &ftl->media.blocks[index];
}

static void link_after(struct aftl *ftl, struct aftl_block *block, u32 prev, u32 next)
{
	u32 index = aftl_block_index(&ftl->media, block);

	block->prev = prev;
	block->next = next;
	block->listed = 1;
	if (prev != AFTL_NIL)
		block_at(ftl, prev)->next = index;
	if (next != AFTL_NIL)
		block_at(ftl, next)->prev = index;
}

static void unlink_block(struct aftl *ftl, struct aftl_block *block, u32 *head, u32 *tail)
{
	if (block->prev != AFTL_NIL)
		block_at(ftl, block->prev)->next = block->next;
	else
		*head = block->next;
	if (block->next != AFTL_NIL)
		block_at(ftl, block->next)->prev = block->prev;
	else if (tail)
		*tail = block->prev;
	block->listed = 0;
}

void aftl_supply_give(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	block->state = AFTL_BLOCK_FREE;
	lun->stuck = false;
	lun->cramped &= lun->free_blocks < aftl_reserve(ftl);
	link_after(ftl, block, lun->free_tail, AFTL_NIL);
	lun->free_tail = aftl_block_index(&ftl->media, block);
	if (lun->free_head == AFTL_NIL)
		lun->free_head = lun->free_tail;
	lun->free_blocks++;
}

static struct aftl_block *choose_free(struct aftl *ftl, struct aftl_lun *lun, u32 kind)
{
	u32 index;

	if (unlikely(ftl->geo.super_luns))
		return aftl_super_choose(ftl, lun, kind);
	if (ftl->type->accept_free)
		for (index = lun->free_head; index != AFTL_NIL; index = block_at(ftl, index)->next)
			if (ftl->type->accept_free(ftl->policy, block_at(ftl, index)))
				return block_at(ftl, index);
	return lun->free_head == AFTL_NIL ? NULL : block_at(ftl, lun->free_head);
}

void aftl_supply_remove_free(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	unlink_block(ftl, block, &lun->free_head, &lun->free_tail);
	lun->free_blocks--;
}

struct aftl_block *aftl_supply_take(struct aftl *ftl, struct aftl_lun *lun, u32 kind)
{
	struct aftl_block *block = choose_free(ftl, lun, kind);

	if (block)
		aftl_supply_remove_free(ftl, lun, block);
	return block;
}

void aftl_supply_open(struct aftl *ftl, struct aftl_block *block, enum aftl_order order, u32 kind)
{
	block->state = AFTL_BLOCK_OPEN;
	block->order = order;
	block->kind = kind;
	block->approx_only = 1;
	block->opened_ns = ftl->now_ns;
	block->first_hour = min_t(u64, aftl_hours(ftl), U32_MAX);
}

/* No rule collects what is in the cache. */
void aftl_supply_list(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	u32 *head = &lun->victims[block->valid];

	if (aftl_cache_has(ftl, block)) {
		lun->cache_dead |= !block->valid;
		return;
	}
	link_after(ftl, block, AFTL_NIL, *head);
	*head = aftl_block_index(&ftl->media, block);
	lun->fewest = min(lun->fewest, block->valid);
}

void aftl_supply_unlist(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	unlink_block(ftl, block, &lun->victims[block->valid], NULL);
}

void aftl_supply_close(struct aftl *ftl, struct aftl_block *block)
{
	if (unlikely(block->order == AFTL_ORDER_FOGGY_FINE) && aftl_held_close(ftl, block))
		return;
	block->state = AFTL_BLOCK_CLOSED;
	if (unlikely(ftl->handles))
		aftl_handle_closed(ftl, block);
	if (likely(!aftl_cache_has(ftl, block) && !block->handle)) {
		ftl->stats.kind_blocks[block->kind]++;
		ftl->stats.kind_pages[block->kind] += block->programmed;
	}
	aftl_supply_list(ftl, aftl_block_lun(ftl, block), block);
	if (unlikely(ftl->geo.super_luns))
		aftl_parity_look(ftl, block);
}

void aftl_supply_close_early(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	aftl_forget_own(lun, block);
	if (ftl->type->closed)
		ftl->type->closed(ftl->policy, block);
	aftl_supply_close(ftl, block);
}

void aftl_supply_shrink(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (block->state != AFTL_BLOCK_CLOSED || !block->listed) {
		block->valid--;
		lun->cache_dead |= block->bits && !block->valid;
		return;
	}
	aftl_supply_unlist(ftl, lun, block);
	block->valid--;
	aftl_supply_list(ftl, lun, block);
}

static struct aftl_block *best_of_list(struct aftl *ftl, struct aftl_lun *lun, u32 head)
{
	struct aftl_block *best = block_at(ftl, head);
	u32 best_rank = U32_MAX;
	u32 index;

	if (!best->valid || !ftl->type->victim_rank)
		return best;
	for (index = head; index != AFTL_NIL; index = block_at(ftl, index)->next) {
		u32 rank = ftl->type->victim_rank(ftl->policy, lun, block_at(ftl, index));

		if (rank < best_rank) {
			best_rank = rank;
			best = block_at(ftl, index);
		}
	}
	return best;
}

struct aftl_block *aftl_supply_fewest(struct aftl *ftl, struct aftl_lun *lun)
{
	while (lun->fewest <= ftl->geo.block_slots && lun->victims[lun->fewest] == AFTL_NIL)
		lun->fewest++;
	if (lun->fewest > ftl->geo.block_slots)
		return NULL;
	return best_of_list(ftl, lun, lun->victims[lun->fewest]);
}

/* Take what the policy or the rule says instead, if it says something. */
static void ask_for_victim(struct aftl *ftl, struct aftl_closed *closed,
			   struct aftl_block **victim)
{
	const struct aftl_victim_rule *rule = aftl_victim_rule(ftl->config.victim);
	struct aftl_block *block = NULL;

	closed->params = aftl_params_of(&ftl->config, rule->params);
	if (ftl->type->victim)
		block = ftl->type->victim(ftl->policy, closed);
	else if (rule->victim)
		block = rule->victim(ftl->policy, closed);
	if (!block)
		return;
	if (aftl_closed_has(closed, block))
		*victim = block;
	else
		ftl->stats.counters.policy_bugs++;
}

struct aftl_block *aftl_supply_victim(struct aftl *ftl, struct aftl_lun *lun, u32 most_valid)
{
	struct aftl_closed closed = {
		.policy = ftl->policy,
		.lun = lun,
		.most_valid = most_valid,
	};
	struct aftl_block *victim = aftl_supply_fewest(ftl, lun);

	if (!victim || victim->valid > most_valid)
		return NULL;
	if (likely(!lun->cramped))
		ask_for_victim(ftl, &closed, &victim);
	return victim;
}

/*
 * Blocks that the policy may keep half full and those that moves need must not be
 * filled by the host's data. Of the others at least one then has few enough valid
 * slots to be worth collecting.
 */
static void update_room(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 kept = aftl_kept_blocks(ftl);

	lun->room = lun->good_blocks > kept ?
			    (lun->good_blocks - kept) * (ftl->gc_most_valid + 1) : 0;
	/* Its share of the map may be written after the host's data have come. */
	lun->room -= min(lun->room, DIV_ROUND_UP(ftl->geo.sheets, ftl->geo.luns));
}

static void check_read_only(struct aftl *ftl)
{
	u64 room = 0;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		room += ftl->luns[i].room;
	if (room >= ftl->geo.units || ftl->geo.zones)
		return;
	ftl->read_only = true;
	ftl->retry = true;
}

void aftl_supply_retire(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	block->state = AFTL_BLOCK_BAD;
	ftl->stats.counters.retired_blocks++;
	lun->good_blocks -= !block->parity;
	update_room(ftl, lun);
	check_read_only(ftl);
}

/* @block holds data, or does not any more. Nothing is in it. */
static void make_keeper(struct aftl *ftl, struct aftl_block *block, bool parity)
{
	struct aftl_lun *lun = aftl_block_lun(ftl, block);

	if (block->parity == parity)
		return;
	block->parity = parity;
	if (block->state == AFTL_BLOCK_BAD)
		return;
	if (parity)
		aftl_supply_remove_free(ftl, lun, block);
	else
		aftl_supply_give(ftl, lun, block);
	lun->good_blocks += parity ? -1 : 1;
	update_room(ftl, lun);
}

/*
 * aftl_supply_find_keeper() - as aftl_supply_designate(), while a device is put together
 */
void aftl_supply_find_keeper(struct aftl *ftl, u32 group, u32 number)
{
	u32 keeper = aftl_super_keeper(ftl, group, number);
	u32 i;

	for (i = 0; i < ftl->geo.super_luns; i++)
		make_keeper(ftl, aftl_super_block(ftl, group, number, i), i == keeper);
}

/*
 * aftl_supply_designate() - nothing is in a superblock: which of its blocks is for parity?
 */
void aftl_supply_designate(struct aftl *ftl, u32 group, u32 number)
{
	aftl_supply_find_keeper(ftl, group, number);
	check_read_only(ftl);
}

static bool factory_bad(const struct aftl *ftl, u32 index)
{
	u64 draw = aftl_mix2(ftl->config.seed ^ 0xbadb10c, index);

	return ftl->config.bad && aftl_below(draw, 1000000000) * 1000 < ftl->config.bad;
}

static void clear_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	lun->victims = ftl->victims + (size_t)lun->index * (ftl->geo.block_slots + 1);
	for (i = 0; i <= ftl->geo.block_slots; i++)
		lun->victims[i] = AFTL_NIL;
	lun->fewest = ftl->geo.block_slots + 1;
	lun->free_head = AFTL_NIL;
	lun->free_tail = AFTL_NIL;
	lun->free_blocks = 0;
	lun->good_blocks = 0;
}

static void init_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 i;

	clear_lun(ftl, lun);
	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		if (factory_bad(ftl, i)) {
			block_at(ftl, i)->state = AFTL_BLOCK_BAD;
			continue;
		}
		block_at(ftl, i)->erases = (u32)ftl->config.cycles;
		block_at(ftl, i)->wear = (u32)ftl->config.cycles * 10000;
		aftl_supply_give(ftl, lun, block_at(ftl, i));
		lun->good_blocks++;
	}
	update_room(ftl, lun);
}

void aftl_supply_init(struct aftl *ftl)
{
	u32 i;
	u32 j;

	for (i = 0; i < ftl->geo.luns; i++)
		init_lun(ftl, &ftl->luns[i]);
	for (i = 0; ftl->config.rain && i < ftl->geo.luns / ftl->geo.super_luns; i++)
		for (j = 0; j < ftl->geo.blocks_per_lun; j++)
			aftl_supply_designate(ftl, i, j);
}

void aftl_supply_clear(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		clear_lun(ftl, &ftl->luns[i]);
	for (i = 0; i < ftl->geo.blocks; i++) {
		ftl->media.blocks[i].listed = 0;
		ftl->media.blocks[i].parity = 0;
	}
}

void aftl_supply_restored(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		update_room(ftl, &ftl->luns[i]);
		if (!ftl->luns[i].good_blocks)
			ftl->luns[i].work.phase = AFTL_PHASE_DEAD;
	}
	check_read_only(ftl);
}

/*
 * aftl_step_valid() - is anything valid in the program whose first page, of the device, is @first?
 */
bool aftl_step_valid(const struct aftl *ftl, u32 first)
{
	u32 slot = first * ftl->geo.page_units;
	u32 end = slot + ftl->program_units;

	for (; slot < end; slot++)
		if (aftl_slot_valid(&ftl->media, to_slot(slot)))
			return true;
	return false;
}

/* What was held for a fine pass that is due is gone, but a part of it was noted in time. */
static bool has_part(const struct aftl *ftl, const struct aftl_block *block)
{
	u32 due = aftl_fine_due(&ftl->media, block);

	return due < ftl->geo.pages &&
	       aftl_step_valid(ftl, aftl_device_page(&ftl->media, block, due));
}

/* Could a closed block take another program? */
static bool can_go_on(const struct aftl *ftl, struct aftl_block *block)
{
	bool can;

	block->state = AFTL_BLOCK_OPEN;
	can = aftl_order_next(&ftl->media, block) < ftl->geo.pages;
	block->state = AFTL_BLOCK_CLOSED;
	return can && !(ftl->foggy_blocks && has_part(ftl, block));
}

static struct aftl_block *emptiest(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	struct aftl_block *best = NULL;
	u32 i;

	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = block_at(ftl, i);

		if (block->state == AFTL_BLOCK_CLOSED && !block->failing && !block->bits &&
		    (!best || block->programmed < best->programmed) && can_go_on(ftl, block))
			best = block;
	}
	return best;
}

static void resettle_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	if (lun->free_blocks > aftl_reserve(ftl))
		return;
	lun->cramped = true;
	if (lun->refuge)
		return;
	lun->refuge = emptiest(ftl, lun);
	if (!lun->refuge)
		return;
	aftl_supply_unlist(ftl, lun, lun->refuge);
	lun->refuge->state = AFTL_BLOCK_OPEN;
	lun->refuge->handle = 0;
}

void aftl_supply_resettle(struct aftl *ftl)
{
	u32 i;

	for (i = 0; !ftl->geo.zones && i < ftl->geo.luns; i++)
		resettle_lun(ftl, &ftl->luns[i]);
}
