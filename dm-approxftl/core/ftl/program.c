// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transaction of one program and of one erase: ask the policy, check what it
 * says, change media and map, account for it. Knows nothing of time and queues.
 */
#include "core/ftl/device.h"
#include "core/base/random.h"

static_assert(offsetof(struct aftl_counters, programmed_retire_units) -
	      offsetof(struct aftl_counters, programmed_host_units) ==
	      AFTL_CAUSE_RETIRE * sizeof(u64), "programmed units are counted by cause");

static bool in_lun(const struct aftl *ftl, const struct aftl_lun *lun,
		   const struct aftl_block *block)
{
	return block &&
	       aftl_block_index(&ftl->media, block) / ftl->geo.blocks_per_lun == lun->index;
}

/* Precise data must stay precise. */
static bool may_carry_page(const struct aftl *ftl, const struct aftl_need *need,
			   const struct aftl_block *from, u32 page)
{
	u8 attr;

	if (page >= ftl->geo.pages)
		return false;
	attr = ftl->media.attr[aftl_device_page(&ftl->media, from, page)];
	return attr & AFTL_PAGE_PROGRAMMED &&
	       (need->class == AFTL_PRECISE || aftl_page_class(attr) == AFTL_APPROX);
}

static bool may_carry(const struct aftl *ftl, const struct aftl_lun *lun,
		      const struct aftl_need *need, const struct aftl_placement *placement)
{
	u32 i;

	if (likely(!placement->carried))
		return true;
	if (need->cause != AFTL_CAUSE_HOST || !in_lun(ftl, lun, placement->carry_from) ||
	    placement->carried > AFTL_CARRY_MAX || placement->carried >= placement->pages)
		return false;
	for (i = 0; i < placement->carried; i++)
		if (!may_carry_page(ftl, need, placement->carry_from, placement->carry[i]) ||
		    (i && placement->carry[i] == placement->carry[i - 1]))
			return false;
	return true;
}

static bool acceptable(const struct aftl *ftl, const struct aftl_lun *lun,
		       const struct aftl_need *need, const struct aftl_placement *placement)
{
	return placement->mode < AFTL_MODES && in_lun(ftl, lun, placement->block) &&
	       aftl_order_allows(&ftl->media, placement->block, placement->page,
				 placement->pages) &&
	       may_carry(ftl, lun, need, placement);
}

/* The data go to a block of the core's own, in whatever order it was opened with. */
static int place_in_refuge(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			   struct aftl_placement *placement)
{
	if (!lun->refuge)
		lun->refuge = aftl_policy_open(ftl->policy, lun, need, AFTL_ORDER_SEQUENTIAL, 0);
	if (!lun->refuge)
		return -ENOSPC;
	*placement = (struct aftl_placement){
		.block = lun->refuge,
		.page = aftl_order_next(&ftl->media, lun->refuge),
		.pages = ftl->geo.program_pages,
		.mode = AFTL_MODE_NORMAL,
	};
	return acceptable(ftl, lun, need, placement) ? 0 : -ENOSPC;
}

/* Having no place for a move while there are free blocks is wrong, too. */
static int place_by_policy(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			   struct aftl_placement *placement)
{
	int ret;

	*placement = (struct aftl_placement){ 0 };
	ret = ftl->type->place(ftl->policy, lun, need, placement);
	if ((ret || likely(acceptable(ftl, lun, need, placement))) &&
	    (!ret || need->cause == AFTL_CAUSE_HOST || !lun->free_blocks))
		return ret;
	ftl->stats.counters.policy_bugs++;
	return place_in_refuge(ftl, lun, need, placement);
}

/* The first page of a word line programmed page by page is the fast one. */
static u64 mode_ns(const struct aftl *ftl, const struct aftl_placement *placement)
{
	u64 ns = ftl->mode_program_ns[placement->mode];
	u32 in_word_line = placement->page % ftl->geo.word_line_pages;

	if (likely(!ftl->config.program_fast) || ftl->config.one_shot ||
	    in_word_line >= ftl->geo.planes_wide)
		return ns;
	return div64_u64(ns * ftl->config.program_fast, ftl->config.program);
}

static u64 worn_mode_ns(const struct aftl *ftl, const struct aftl_placement *placement)
{
	u64 ns = mode_ns(ftl, placement);

	return unlikely(ftl->config.wear_times) ?
		       aftl_worn_program_ns(ns, placement->block->erases) : ns;
}

u64 aftl_policy_program_ns(const struct aftl_policy *policy,
			   const struct aftl_placement *placement)
{
	return worn_mode_ns(policy->ftl, placement);
}

/* Pages that come along are read first. */
static u64 carry_ns(struct aftl *ftl, const struct aftl_placement *placement)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < placement->carried; i++)
		ns += aftl_sense_valid(ftl, placement->carry_from, placement->carry[i],
				       aftl_hours(ftl));
	return ns;
}

static u64 program_ns(const struct aftl *ftl, const struct aftl_placement *placement)
{
	if (placement->program_ns)
		return placement->program_ns;
	if (placement->mode == AFTL_MODE_MLC &&
	    aftl_page_programmed(&ftl->media, placement->block, placement->page))
		return ftl->config.reprogram;
	return worn_mode_ns(ftl, placement);
}

int aftl_program_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		       struct aftl_placement *placement)
{
	int ret;

	if (unlikely(lun->cramped) && need->cause != AFTL_CAUSE_HOST)
		ret = place_in_refuge(ftl, lun, need, placement);
	else
		ret = place_by_policy(ftl, lun, need, placement);
	if (!ret)
		placement->program_ns = program_ns(ftl, placement) + carry_ns(ftl, placement);
	return ret;
}

static void carry_page(struct aftl *ftl, struct aftl_block *from, u32 page,
		       struct aftl_payload *payload)
{
	u32 slot = from_slot(aftl_page_slot(&ftl->media, from, page));
	u32 end = slot + ftl->geo.page_units;

	for (; slot < end; slot++)
		if (aftl_slot_valid(&ftl->media, to_slot(slot)))
			aftl_job_take(ftl, payload, to_slot(slot));
	ftl->stats.counters.carried_reads++;
}

void aftl_program_carry(struct aftl *ftl, const struct aftl_placement *placement,
			struct aftl_payload *payload)
{
	u32 i;

	payload->count = 0;
	payload->promoted = 0;
	for (i = 0; i < placement->carried; i++)
		carry_page(ftl, placement->carry_from, placement->carry[i], payload);
	payload->carried = payload->count;
}

static u32 hours_since_first(const struct aftl *ftl, const struct aftl_block *block)
{
	u64 hours = aftl_hours(ftl) - block->first_hour;

	return min_t(u64, hours, 0xffff);
}

static void mark_pages(struct aftl *ftl, const struct aftl_need *need,
		       const struct aftl_placement *placement)
{
	struct aftl_block *block = placement->block;
	u32 first = aftl_device_page(&ftl->media, block, placement->page);
	u8 attr = ftl->media.attr[first];
	u32 again = attr & AFTL_PAGE_PROGRAMMED ? aftl_page_again(attr) + 1 : 0;
	u32 hours = hours_since_first(ftl, block);
	u32 page;

	for (page = first; page < first + placement->pages; page++) {
		ftl->media.attr[page] = aftl_page_attr(need->class, placement->mode, again);
		*aftl_hours_at(&ftl->media, page) = hours;
	}
	block->approx_only &= need->class == AFTL_APPROX;
	if (again) {
		ftl->stats.counters.reprogrammed_pages += placement->pages;
		return;
	}
	block->programmed += placement->pages;
	aftl_order_advance(&ftl->media, block, placement->page);
}

/* Tell a host that keeps data beside us. */
static void store_bytes(struct aftl *ftl, const struct aftl_payload *payload, u32 i,
			aftl_slot_t slot)
{
	if (payload->tag[i] != AFTL_NIL) {
		if (ftl->ops->program)
			ftl->ops->program(ftl->host, payload->tag[i], payload->unit[i], slot);
	} else if (ftl->ops->copy && payload->from[i] != AFTL_NO_SLOT) {
		ftl->ops->copy(ftl->host, payload->unit[i], payload->from[i], slot);
	}
}

static void store_unit(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		       struct aftl_block *block, const struct aftl_payload *payload, u32 i,
		       aftl_slot_t slot)
{
	aftl_unit_t unit = payload->unit[i];

	*aftl_unit_at(&ftl->media, slot) = unit;
	if (aftl_has_origins(&ftl->media))
		*aftl_origin_at(&ftl->media, slot) = payload->origin[i];
	store_bytes(ftl, payload, i, slot);
	if (payload->from[i] != AFTL_NO_SLOT)
		aftl_map_move(ftl, lun, aftl_slot_block(&ftl->media, payload->from[i]),
			      payload->from[i], block, unit, slot, need->class);
	else if (!payload->stale[i])
		aftl_map_set(ftl, lun, block, unit, slot, need->class);
}

/* Tell a host that must find everything again. */
static void announce_pages(struct aftl *ftl, u32 first, u32 end)
{
	if (!ftl->ops->programmed)
		return;
	for (; first < end; first += ftl->geo.page_units)
		ftl->ops->programmed(ftl->host, to_slot(first));
}

static void store_payload(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			  const struct aftl_placement *placement,
			  const struct aftl_payload *payload)
{
	u32 first = from_slot(aftl_page_slot(&ftl->media, placement->block, placement->page));
	u32 end = first + aftl_placement_units(ftl, placement);
	u32 i;

	for (i = 0; i < payload->count; i++)
		store_unit(ftl, lun, need, placement->block, payload, i, to_slot(first + i));
	for (i = first + payload->count; i < end; i++)
		*aftl_unit_at(&ftl->media, to_slot(i)) = AFTL_NO_UNIT;
	announce_pages(ftl, first, end);
}

static void account(struct aftl *ftl, const struct aftl_need *need,
		    const struct aftl_placement *placement, const struct aftl_payload *payload)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	u64 ns = placement->program_ns;

	(&counters->programmed_host_units)[need->cause] +=
		payload->count - payload->promoted - payload->carried;
	counters->programmed_rewrite_units += payload->carried;
	counters->programmed_promotion_units += payload->promoted;
	counters->padded_units += aftl_placement_units(ftl, placement) - payload->count;
	counters->array_programs++;
	counters->array_program_ns += ns;
	counters->program_energy_pj += div64_u64(ns * ftl->config.energy, 1000);
	if (need->cause == AFTL_CAUSE_HOST) {
		counters->host_program_ns += ns;
		counters->host_program_pages += placement->pages;
	}
	ftl->stats.mode_pages[placement->mode] += placement->pages;
	ftl->stats.class_pages[need->class] += placement->pages;
}

/* What may be programmed again is closed by its policy. */
static bool is_over(const struct aftl *ftl, const struct aftl_lun *lun,
		    const struct aftl_block *block)
{
	if (unlikely(block == lun->refuge))
		return aftl_order_next(&ftl->media, block) == ftl->geo.pages;
	return aftl_block_full(&ftl->geo, block) && block->order != AFTL_ORDER_SUPER_LAYER;
}

void aftl_program_commit(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			 const struct aftl_placement *placement,
			 const struct aftl_payload *payload)
{
	struct aftl_block *block = placement->block;

	account(ftl, need, placement, payload);
	mark_pages(ftl, need, placement);
	store_payload(ftl, lun, need, placement, payload);
	if (!is_over(ftl, lun, block))
		return;
	if (block == lun->refuge)
		lun->refuge = NULL;
	aftl_supply_close(ftl, block);
}

void aftl_erase_begin(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_block *block)
{
	bool gentle = ftl->type->gentle && ftl->type->gentle(ftl->policy, block);

	lun->erased = aftl_chip_erase(&ftl->chip, block, gentle);
}

static bool worn_out(const struct aftl *ftl, const struct aftl_block *block)
{
	return ftl->config.endurance && block->wear >= ftl->config.endurance * AFTL_FULL_WEAR;
}

static void account_erase(struct aftl *ftl, const struct aftl_erased *erased)
{
	struct aftl_counters *counters = &ftl->stats.counters;

	counters->array_erases++;
	counters->array_low_erases += erased->gentle;
	counters->erase_residues += erased->residue;
	counters->wear_sum += erased->wear;
	counters->array_erase_ns += erased->ns;
	counters->erase_energy_pj += div64_u64(erased->ns * ftl->config.energy, 1000);
}

void aftl_erase_commit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	account_erase(ftl, &lun->erased);
	block->wear = (u32)min((u64)block->wear + lun->erased.wear, (u64)U32_MAX);
	aftl_block_wipe(&ftl->media, block);
	if (ftl->ops->erase)
		ftl->ops->erase(ftl->host, aftl_page_slot(&ftl->media, block, 0),
				ftl->geo.block_slots);
	lun->wear_due++;
	if (!block->failing && !worn_out(ftl, block)) {
		aftl_supply_give(ftl, lun, block);
		return;
	}
	aftl_supply_retire(ftl, lun, block);
	aftl_tell_retired(ftl, aftl_block_index(&ftl->media, block), 1);
}
