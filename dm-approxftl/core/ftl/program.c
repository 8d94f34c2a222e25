// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transaction of one program and of one erase: ask the policy, check what it
 * says, change media and map, account for it. Knows nothing of time and queues.
 */
#include "core/ftl/device.h"
#include "core/base/random.h"

static_assert(AFTL_COUNTERS_APART(programmed_host_units, programmed_parity_units,
				  AFTL_CAUSE_PARITY), "programmed units are counted by cause");

static bool in_lun(const struct aftl *ftl, const struct aftl_lun *lun,
		   const struct aftl_block *block)
{
	return block &&
	       aftl_block_index(&ftl->media, block) / ftl->geo.blocks_per_lun == lun->index;
}

/* What is in blocks of handles, of zones and of the map stays apart. Precise data stay precise. */
static bool may_carry_page(const struct aftl *ftl, const struct aftl_lun *lun,
			   const struct aftl_need *need, const struct aftl_carry *carry)
{
	u16 attr;

	if (!in_lun(ftl, lun, carry->from) || carry->from->handle || carry->page >= ftl->geo.pages)
		return false;
	attr = aftl_attr(&ftl->media, carry->from, carry->page);
	return attr & AFTL_PAGE_PROGRAMMED &&
	       (need->class == AFTL_PRECISE || aftl_page_class(attr) == AFTL_APPROX);
}

static bool listed_twice(const struct aftl_carry *carry, u32 i)
{
	u32 j;

	for (j = 0; j < i; j++)
		if (carry[j].from == carry[i].from && carry[j].page == carry[i].page)
			return true;
	return false;
}

static bool may_carry(const struct aftl *ftl, const struct aftl_lun *lun,
		      const struct aftl_need *need, const struct aftl_placement *placement)
{
	u32 i;

	if (likely(!placement->carried))
		return true;
	if (need->cause != AFTL_CAUSE_HOST || placement->carried >= placement->pages ||
	    placement->pages > ftl->geo.program_pages)
		return false;
	for (i = 0; i < placement->carried; i++)
		if (!may_carry_page(ftl, lun, need, &placement->carry[i]) ||
		    listed_twice(placement->carry, i))
			return false;
	return true;
}

static struct aftl_program command(const struct aftl_need *need,
				   const struct aftl_placement *placement)
{
	return (struct aftl_program){
		.block = placement->block,
		.page = placement->page,
		.pages = placement->pages,
		.mode = placement->mode,
		.class = need->class,
		.ispp = placement->ispp,
		.monitor = placement->monitor,
	};
}

/* Does it take as long wherever it is? Not with steps of its own, and not again. */
static bool is_usual(const struct aftl *ftl, const struct aftl_need *need,
		     const struct aftl_placement *placement)
{
	if (!ftl->chip.plain || !aftl_ispp_default(&placement->ispp) || placement->monitor)
		return false;
	return placement->mode == AFTL_MODE_NORMAL || placement->mode == AFTL_MODE_BETWEEN ||
	       placement->mode == AFTL_MODE_AFTER || aftl_low_top(placement->mode, need->class);
}

/* Neither its neighbours have a say nor what its page holds already. */
static bool only_order_counts(const struct aftl_need *need, const struct aftl_placement *placement)
{
	const struct aftl_block *block = placement->block;

	if (unlikely(block->order >= AFTL_ORDER_SUPER_LAYER))
		return false;
	return aftl_low_top(placement->mode, need->class) ||
	       (placement->mode == AFTL_MODE_NORMAL && !block->between);
}

/* What the chip says is in the LUN's outcome. */
static bool chip_takes(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		       const struct aftl_placement *placement)
{
	struct aftl_program program = command(need, placement);

	if (placement->block->order == AFTL_ORDER_FOGGY_FINE &&
	    (placement->mode != AFTL_MODE_FOGGY || placement->carried ||
	     !aftl_held_room(ftl, lun, placement->block)))
		return false;
	if (!aftl_chip_allows(&ftl->chip, &program))
		return false;
	aftl_chip_program(&ftl->chip, &program, &lun->outcome);
	return true;
}

static bool takes(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		  const struct aftl_placement *placement)
{
	const struct aftl_block *block = placement->block;
	struct aftl_program program;

	if (!in_lun(ftl, lun, block) || !may_carry(ftl, lun, need, placement))
		return false;
	if (unlikely(block->bits && need->cause != AFTL_CAUSE_HOST))
		return false;
	if (unlikely(block->bits || !is_usual(ftl, need, placement)))
		return chip_takes(ftl, lun, need, placement);
	lun->outcome.ns = ftl->chip.program_ns[placement->mode];
	lun->outcome.overshot = false;
	if (likely(only_order_counts(need, placement)))
		return aftl_order_allows(&ftl->media, block, placement->page, placement->pages);
	program = command(need, placement);
	return aftl_chip_allows(&ftl->chip, &program);
}

/*
 * The data go to a block of the core's own, in whatever order it was opened with. Where it was
 * a checkerboard before that disturbs pages with less guard: errors in place of no room.
 */
static int place_in_refuge(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			   struct aftl_placement *placement)
{
	struct aftl_program program;

	if (!lun->refuge)
		lun->refuge = aftl_policy_open(ftl->policy, lun, need, AFTL_ORDER_SEQUENTIAL, 0);
	if (!lun->refuge)
		return -ENOSPC;
	*placement = (struct aftl_placement){
		.block = lun->refuge,
		.page = aftl_order_next(&ftl->media, lun->refuge),
		.pages = ftl->geo.program_pages,
		.mode = aftl_usual_mode(lun->refuge),
	};
	if (!aftl_order_allows(&ftl->media, lun->refuge, placement->page, placement->pages))
		return -ENOSPC;
	program = command(need, placement);
	aftl_chip_program(&ftl->chip, &program, &lun->outcome);
	return 0;
}

/* A policy has no say in blocks of the core. */
static bool may_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		      const struct aftl_placement *placement)
{
	return placement->block && !placement->block->handle && takes(ftl, lun, need, placement);
}

/* Sheets of the map wait for it, as the host does, and are in no block with units. */
static bool makes_room(const struct aftl_need *need)
{
	return need->cause != AFTL_CAUSE_HOST && need->cause != AFTL_CAUSE_MAP;
}

/*
 * Having no place for a move while there are free blocks is wrong, too. Where there are none it may
 * have one in a block that is still open from when there were too few for the policy.
 */
static int place_by_policy(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			   struct aftl_placement *placement)
{
	int ret;

	*placement = (struct aftl_placement){ 0 };
	ret = ftl->type->place(ftl->policy, lun, need, placement);
	if (unlikely(ret) && need->cause == AFTL_CAUSE_HOST && ftl->type->no_room)
		ftl->type->no_room(ftl->policy, lun);
	if (unlikely(ret) && !lun->free_blocks && lun->refuge && makes_room(need))
		return place_in_refuge(ftl, lun, need, placement);
	if ((ret || likely(may_place(ftl, lun, need, placement))) &&
	    (!ret || need->cause == AFTL_CAUSE_HOST || !lun->free_blocks))
		return ret;
	ftl->stats.counters.policy_bugs++;
	return place_in_refuge(ftl, lun, need, placement);
}

/* Sequential programs in the usual mode are what every chip takes. */
static int place_by_handle(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			   struct aftl_placement *placement)
{
	int ret = aftl_handle_place(ftl, lun, need, placement);

	if (ret || likely(takes(ftl, lun, need, placement)))
		return ret;
	return -ENOSPC;
}

/* Pages that come along are read first. */
static u64 carry_ns(struct aftl *ftl, const struct aftl_placement *placement)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < placement->carried; i++)
		ns += aftl_sense_valid(ftl, placement->carry[i].from, placement->carry[i].page,
				       aftl_hour(ftl));
	return ns;
}

int aftl_program_place(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		       struct aftl_placement *placement)
{
	int ret;

	ftl->placing = need->cause;
	if (unlikely(ftl->geo.zones) && need->cause != AFTL_CAUSE_HOST) {
		aftl_zone_refuge(ftl, lun, need->unit);
		ret = place_in_refuge(ftl, lun, need, placement);
	} else if (unlikely(lun->cramped) && makes_room(need)) {
		ret = place_in_refuge(ftl, lun, need, placement);
	} else if (unlikely(aftl_handle_of(ftl, need->stream))) {
		ret = place_by_handle(ftl, lun, need, placement);
	} else if (unlikely(ftl->cache_most) && aftl_cache_place(ftl, lun, need, placement) &&
		   takes(ftl, lun, need, placement)) {
		ret = 0;
	} else {
		ret = place_by_policy(ftl, lun, need, placement);
	}
	if (unlikely(!ret && placement->carried))
		lun->outcome.ns += carry_ns(ftl, placement);
	return ret;
}

/* What the copy inherits: errors that it has now stay, unless ECC corrects them. */
static struct aftl_origin inherited(struct aftl *ftl, aftl_slot_t slot)
{
	u16 attr = aftl_slot_attr(&ftl->media, slot);
	struct aftl_origin origin = { 0 };
	struct aftl_errors errors;

	if (!aftl_has_origins(&ftl->media))
		return origin;
	origin = aftl_origin(&ftl->media, aftl_slot_block(&ftl->media, slot), slot);
	if (aftl_cell_harmless(&ftl->cell, attr) && !aftl_has_rain(ftl))
		return origin;
	errors = aftl_cell_read(&ftl->cell, slot, aftl_hour(ftl));
	if (aftl_has_rain(ftl) && aftl_stripe_mends(ftl, slot, &errors))
		ftl->stats.counters.moved_recovered_units++;
	if (errors.lost) {
		ftl->stats.counters.moved_lost_units += origin.baked != AFTL_BAKED_LOST;
		origin.baked = AFTL_BAKED_LOST;
		return origin;
	}
	ftl->stats.counters.baked_bits += errors.flips - origin.baked;
	origin.baked = (u16)min(errors.flips, (u32)AFTL_BAKED_LOST - 1);
	return origin;
}

/*
 * aftl_program_move() - add the content of @slot, which is valid, to a program
 */
void aftl_program_move(struct aftl *ftl, struct aftl_payload *payload, aftl_slot_t slot)
{
	u32 i = payload->count++;

	payload->unit[i] = aftl_unit_at(&ftl->media, slot);
	payload->from[i] = slot;
	payload->origin[i] = inherited(ftl, slot);
	payload->tag[i] = AFTL_NIL;
	payload->stale[i] = false;
}

static void carry_page(struct aftl *ftl, const struct aftl_carry *carry,
		       struct aftl_payload *payload)
{
	u32 slot = from_slot(aftl_page_slot(&ftl->media, carry->from, carry->page));
	u32 end = slot + ftl->geo.page_units;

	for (; slot < end; slot++)
		if (aftl_slot_valid(&ftl->media, to_slot(slot)))
			aftl_program_move(ftl, payload, to_slot(slot));
	ftl->stats.counters.carried_reads++;
}

void aftl_program_carry(struct aftl *ftl, const struct aftl_placement *placement,
			struct aftl_payload *payload)
{
	u32 i;

	payload->count = 0;
	payload->promoted = 0;
	payload->dropped = 0;
	for (i = 0; i < placement->carried; i++)
		carry_page(ftl, &placement->carry[i], payload);
	payload->carried = payload->count;
}

static u32 hours_since_first(struct aftl *ftl, const struct aftl_block *block)
{
	u64 hours = aftl_hour(ftl) - block->first_hour;

	return min_t(u64, hours, 0xffff);
}

static void mark_pages(struct aftl *ftl, const struct aftl_lun *lun, const struct aftl_need *need,
		       const struct aftl_placement *placement)
{
	struct aftl_block *block = placement->block;
	u32 first = aftl_device_page(&ftl->media, block, placement->page);
	u16 attr = *aftl_attr_at(&ftl->media, first);
	bool fine = unlikely(attr) && aftl_page_foggy(attr);
	u32 again = unlikely(attr) && !fine ? aftl_page_again(attr) + 1 : 0;
	u32 hours = hours_since_first(ftl, block);
	u32 page;

	attr = aftl_page_attr(need->class, placement->mode, again);
	if (unlikely(lun->outcome.overshot)) {
		attr |= AFTL_PAGE_OVERSHOT;
		ftl->stats.counters.overshot_programs++;
	}
	for (page = 0; page < placement->pages; page++) {
		*aftl_attr_at(&ftl->media, first + page) = attr;
		aftl_page_set_hours(ftl, block, placement->page + page, hours);
	}
	if (need->class == AFTL_PRECISE)
		block->approx_only = 0;
	if (placement->mode == AFTL_MODE_BETWEEN)
		block->between = 1;
	if (unlikely(placement->mode == AFTL_MODE_SWITCHED))
		aftl_switch_line(&ftl->media, block, placement->page);
	if (again) {
		ftl->stats.counters.reprogrammed_pages += placement->pages;
		return;
	}
	if (unlikely(fine))
		return;
	if (unlikely(!block->programmed))
		block->begun_flip = block->flip;
	block->programmed += placement->pages;
	aftl_order_advance(&ftl->media, block, placement->page);
}

/* What it has had stays with it, unless all of the program is precise. */
static u32 level_of(const struct aftl *ftl, u32 class, const struct aftl_payload *payload, u32 i)
{
	if (likely(class == AFTL_PRECISE))
		return AFTL_PRECISE;
	if (payload->from[i] != AFTL_NO_SLOT)
		return aftl_level_at(&ftl->media, payload->from[i]);
	return payload->tag[i] == AFTL_NIL ? class : ftl->commands[payload->tag[i]].level;
}

/* Tell a host that keeps data beside us. Sheets of the map have no bytes. */
static void store_bytes(struct aftl *ftl, const struct aftl_payload *payload, u32 i,
			aftl_slot_t slot)
{
	if (payload->tag[i] != AFTL_NIL) {
		ftl->commands[payload->tag[i]].flags |= AFTL_COMMAND_STORED;
		if (ftl->ops->program)
			ftl->ops->program(ftl->host, payload->tag[i], payload->unit[i], slot);
	} else if (ftl->ops->copy && payload->from[i] != AFTL_NO_SLOT &&
		   from_unit(payload->unit[i]) < ftl->geo.units) {
		ftl->ops->copy(ftl->host, payload->unit[i], payload->from[i], slot);
	}
}

static void move_unit(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		      aftl_unit_t unit, aftl_slot_t former, aftl_slot_t slot, u32 level)
{
	struct aftl_block *from = aftl_slot_block(&ftl->media, former);

	if (unlikely(ftl->handles)) {
		ftl->stats.handles[from->handle].reallocated_units++;
		ftl->stats.counters.map_moved_units += from_unit(unit) >= ftl->geo.units;
	}
	aftl_map_move(ftl, lun, from, former, block, unit, slot, level);
}

static void store_unit(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
		       struct aftl_block *block, const struct aftl_payload *payload, u32 i,
		       aftl_slot_t slot)
{
	aftl_unit_t unit = payload->unit[i];
	bool lost = payload->from[i] != AFTL_NO_SLOT && aftl_lost_in(ftl, payload->from[i]);
	u32 level = level_of(ftl, need->class, payload, i);

	*aftl_unit_word(&ftl->media, slot) = aftl_word(unit, level);
	aftl_origin_store(ftl, block, slot, payload->origin[i]);
	if (!lost)
		store_bytes(ftl, payload, i, slot);
	if (payload->from[i] != AFTL_NO_SLOT && likely(need->cause != AFTL_CAUSE_REBUILD))
		move_unit(ftl, lun, block, unit, payload->from[i], slot, level);
	else if (!payload->stale[i])
		aftl_map_set(ftl, lun, block, unit, slot, level);
	if (unlikely(ftl->geo.sheets) && !payload->stale[i])
		aftl_sheet_change(ftl, unit);
	if (lost)
		aftl_map_lose(ftl, slot);
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
		*aftl_unit_word(&ftl->media, to_slot(i)) = AFTL_NO_UNIT;
	announce_pages(ftl, first, end);
}

static void account_array(struct aftl *ftl, const struct aftl_lun *lun,
			  const struct aftl_need *need, const struct aftl_placement *placement)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	u64 ns = lun->outcome.ns;

	counters->array_programs++;
	counters->array_program_ns += ns;
	counters->program_energy_pj += div64_u64(ns * ftl->config.energy, 1000);
	if (need->cause == AFTL_CAUSE_HOST)
		counters->host_program_ns += ns;
	ftl->stats.mode_pages[placement->mode] += placement->pages;
}

static void account(struct aftl *ftl, const struct aftl_need *need,
		    const struct aftl_placement *placement, const struct aftl_payload *payload)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	bool moved = need->cause != AFTL_CAUSE_HOST;
	u32 count = payload->count - payload->dropped;

	(&counters->programmed_host_units)[need->cause] +=
		count - payload->promoted - payload->carried;
	counters->programmed_rewrite_units += payload->carried;
	counters->programmed_promotion_units += payload->promoted;
	counters->padded_units += aftl_placement_units(ftl, placement) - count;
	if (!moved)
		counters->host_program_pages += placement->pages;
	if (unlikely(placement->mode == AFTL_MODE_SLC))
		counters->cached_host_units += count - payload->carried;
	if (unlikely(ftl->handles))
		ftl->stats.handles[placement->block->handle].media_units +=
			aftl_placement_units(ftl, placement);
	ftl->stats.stream_units[moved][need->stream] += count - payload->carried;
	ftl->stats.stream_units[true][need->stream] += payload->carried;
	ftl->stats.class_pages[need->class] += placement->pages;
}

/* What may be programmed again is closed by its policy. */
static bool is_over(const struct aftl *ftl, const struct aftl_lun *lun,
		    const struct aftl_block *block)
{
	if (unlikely(block == lun->refuge || block->order == AFTL_ORDER_FOGGY_FINE))
		return aftl_order_next(&ftl->media, block) == ftl->geo.pages;
	return aftl_block_full(&ftl->geo, block) && block->order != AFTL_ORDER_SUPER_LAYER;
}

/* The first of two passes, or parity: here are no units. */
static noinline void hold_payload(struct aftl *ftl, struct aftl_lun *lun,
				  const struct aftl_need *need,
				  const struct aftl_placement *placement,
				  const struct aftl_payload *payload)
{
	u32 first = from_slot(aftl_page_slot(&ftl->media, placement->block, placement->page));
	u32 end = first + aftl_placement_units(ftl, placement);
	u32 i;

	for (i = first; i < end; i++)
		*aftl_unit_word(&ftl->media, to_slot(i)) = AFTL_NO_UNIT;
	announce_pages(ftl, first, end);
	if (need->cause == AFTL_CAUSE_PARITY)
		ftl->stats.counters.programmed_parity_units += end - first;
	else
		aftl_held_begin(ftl, lun, need, placement, payload);
}

void aftl_program_commit(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_need *need,
			 const struct aftl_placement *placement,
			 const struct aftl_payload *payload)
{
	struct aftl_block *block = placement->block;

	account_array(ftl, lun, need, placement);
	mark_pages(ftl, lun, need, placement);
	if (unlikely(placement->mode == AFTL_MODE_FOGGY || need->cause == AFTL_CAUSE_PARITY)) {
		hold_payload(ftl, lun, need, placement, payload);
		return;
	}
	account(ftl, need, placement, payload);
	store_payload(ftl, lun, need, placement, payload);
	if (!is_over(ftl, lun, block)) {
		if (unlikely(ftl->geo.super_luns))
			aftl_parity_look(ftl, block);
		return;
	}
	aftl_forget_own(lun, block);
	aftl_supply_close(ftl, block);
}

/*
 * aftl_program_parity() - a program of parity begins
 */
void aftl_program_parity(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement)
{
	static const struct aftl_payload nothing;
	struct aftl_need need = { .class = AFTL_PRECISE, .cause = AFTL_CAUSE_PARITY };

	aftl_program_commit(ftl, lun, &need, placement, &nothing);
}

/* The next @steps of @block, from page @first of the device on. */
static void go_on_pages(struct aftl *ftl, struct aftl_block *block, u32 first, u32 steps, u16 value)
{
	u32 pages = steps * ftl->geo.program_pages;
	u32 hours = hours_since_first(ftl, block);
	u32 i;

	for (i = 0; i < pages; i++) {
		*aftl_attr_at(&ftl->media, first + i) = value;
		aftl_page_set_hours(ftl, block, block->frontier + i, hours);
	}
	if (aftl_page_class(value) == AFTL_PRECISE)
		block->approx_only = 0;
	block->programmed += pages;
	aftl_order_advance(&ftl->media, block,
			   block->frontier + (steps - 1) * ftl->geo.program_pages);
}

/*
 * aftl_program_go_on() - the next step of a block that its policy fills from the first page to the
 *			  last, neither the first nor the last of its steps
 * @payload: fills it, and comes from the host
 *
 * The policy is not asked and nothing is counted: see fill.c.
 */
void aftl_program_go_on(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			u32 class, const struct aftl_payload *payload)
{
	u32 page = aftl_device_page(&ftl->media, block, block->frontier);
	u32 first = page * ftl->geo.page_units;
	u32 i;

	go_on_pages(ftl, block, page, 1, aftl_page_attr(class, AFTL_MODE_NORMAL, 0));
	for (i = 0; i < payload->count; i++) {
		*aftl_unit_word(&ftl->media, to_slot(first + i)) = payload->unit[i];
		aftl_origin_store(ftl, block, to_slot(first + i), payload->origin[i]);
		aftl_map_set(ftl, lun, block, payload->unit[i], to_slot(first + i), class);
	}
	announce_pages(ftl, first, first + payload->count);
}

/**
 * struct newcomers - units that have no place yet, on their way into one block
 * @course: the next of them; their errors begin with their write numbers
 * @units: of a program
 * @skip: from one program to the next
 */
struct newcomers {
	struct aftl_course course;
	u32 units;
	u32 skip;
};

/* @media and @map are nobody else's: what is stored cannot change where. */
static void store_new(struct aftl_media media, struct aftl_chunks map, struct newcomers new,
		      u32 slot, u32 end)
{
	u32 i;

	for (; slot < end; aftl_course_skip(&new.course, new.skip)) {
		for (i = 0; i < new.units; i++, slot++) {
			u32 unit = aftl_course_unit(&new.course, i);

			*aftl_unit_word(&media, to_slot(slot)) = to_unit(unit);
			*aftl_entry(&map, u32, unit) = slot + 1;
			if (media.origins)
				*aftl_lineage_at(&media, to_slot(slot)) =
					(u16)aftl_mix(new.course.seq + i);
		}
	}
}

/*
 * aftl_program_rounds() - the next steps of such a block, precise data that have no place yet
 * @course: the units of the first of them, and where those of the next one begin
 * @rounds: how many steps, at least one; the last one of the block is not among them
 */
void aftl_program_rounds(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
			 struct aftl_course course, u32 rounds)
{
	u32 page = aftl_device_page(&ftl->media, block, block->frontier);
	u32 slot = page * ftl->geo.page_units;
	u32 units = rounds * ftl->program_units;

	go_on_pages(ftl, block, page, rounds, aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0));
	aftl_slots_set_valid(&ftl->media, to_slot(slot), units);
	store_new(ftl->media, ftl->map,
		  (struct newcomers){ course, ftl->program_units,
				      ftl->geo.luns * ftl->program_units },
		  slot, slot + units);
	block->valid += units;
	lun->valid += units;
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
	if (unlikely(ftl->handles))
		ftl->stats.handles[block->handle].erased_units += ftl->geo.block_slots;
	lun->cached -= aftl_cache_has(ftl, block);
	if (unlikely(block->listed))
		aftl_supply_unlist(ftl, lun, block);
	block->wear = (u32)min((u64)block->wear + lun->erased.wear, (u64)U32_MAX);
	aftl_wipe(ftl, block);
	if (ftl->ops->erase)
		ftl->ops->erase(ftl->host, aftl_page_slot(&ftl->media, block, 0),
				ftl->geo.block_slots);
	lun->wear_due++;
	if (!block->failing && !worn_out(ftl, block)) {
		if (unlikely(block->parity))
			block->state = AFTL_BLOCK_FREE;
		else
			aftl_supply_give(ftl, lun, block);
		return;
	}
	aftl_supply_retire(ftl, lun, block);
	aftl_zone_retired(ftl, lun);
	aftl_tell_retired(ftl, aftl_block_index(&ftl->media, block), 1);
}
