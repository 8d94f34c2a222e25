// SPDX-License-Identifier: GPL-2.0-only
/*
 * Program and erase transactions, in zero time: ask the policy for a placement, check it, change
 * the flash array's state and the L2P table, and count. Queues are not involved.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fill-window.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"
#include "core/ftl/oob-extra.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/program.h"
#include "core/ftl/sensing.h"
#include "core/ftl/slc-cache.h"
#include "core/ftl/superblock.h"
#include "core/ftl/time.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/zone.h"
#include "core/base/random.h"

static_assert(AFTL_COUNTER_DISTANCE_IS(programmed_host_units, programmed_parity_units,
				       AFTL_CAUSE_PARITY),
	      "programmed units are counted by cause");

static inline bool block_is_in_lun(const struct aftl *ftl, const struct aftl_lun *lun,
				   const struct aftl_block *block)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;

	return block && aftl_block_index(&ftl->media, block) - first < ftl->geo.blocks_per_lun;
}

/*
 * A policy may relocate pages within a host program, but not from blocks of placement handles,
 * zones or translation pages, and no precise data into approximate pages.
 */
static bool may_piggyback_page(const struct aftl *ftl, const struct aftl_lun *lun,
			       const struct aftl_program_request *need,
			       const struct aftl_piggyback *carry)
{
	u16 attr;

	if (!block_is_in_lun(ftl, lun, carry->from) || carry->from->handle ||
	    carry->page >= ftl->geo.pages)
		return false;
	attr = aftl_block_page_attr(&ftl->media, carry->from, carry->page);
	return attr & AFTL_PAGE_PROGRAMMED &&
	       (need->class == AFTL_PRECISE || aftl_page_class(attr) == AFTL_APPROX);
}

static bool is_piggyback_page_duplicate(const struct aftl_piggyback *carry, u32 i)
{
	u32 j;

	for (j = 0; j < i; j++)
		if (carry[j].from == carry[i].from && carry[j].page == carry[i].page)
			return true;
	return false;
}

static noinline bool is_piggyback_relocation_allowed(const struct aftl *ftl,
						     const struct aftl_lun *lun,
						     const struct aftl_program_request *need,
						     const struct aftl_placement *placement)
{
	u32 i;

	if (need->cause != AFTL_CAUSE_HOST || placement->piggybacked >= placement->pages ||
	    placement->pages > ftl->geo.program_pages)
		return false;
	for (i = 0; i < placement->piggybacked; i++)
		if (!may_piggyback_page(ftl, lun, need, &placement->piggyback[i]) ||
		    is_piggyback_page_duplicate(placement->piggyback, i))
			return false;
	return true;
}

static struct aftl_program_command make_program_command(const struct aftl_program_request *need,
							const struct aftl_placement *placement)
{
	return (struct aftl_program_command){
		.block = placement->block,
		.page = placement->page,
		.pages = placement->pages,
		.mode = placement->mode,
		.class = need->class,
		.ispp = placement->ispp,
		.monitor = placement->monitor,
	};
}

/*
 * Return true if the program time depends on the mode alone: default ISPP parameters, no
 * monitoring, no reprogram.
 */
static bool does_program_time_depend_on_mode_only(const struct aftl *ftl,
						  const struct aftl_program_request *need,
						  const struct aftl_placement *placement)
{
	if (!ftl->chip.plain || !aftl_ispp_is_default(&placement->ispp) || placement->monitor)
		return false;
	return placement->mode == AFTL_MODE_NORMAL || placement->mode == AFTL_MODE_BETWEEN ||
	       placement->mode == AFTL_MODE_AFTER ||
	       aftl_does_mode_lower_top_voltage(placement->mode, need->class);
}

/*
 * Return true if the chip can refuse this program only because of the block's program order, not
 * because of neighbouring word lines or of what the page holds.
 */
static bool is_program_order_the_only_restriction(const struct aftl_program_request *need,
						  const struct aftl_placement *placement)
{
	const struct aftl_block *block = placement->block;

	if (block->order >= AFTL_ORDER_SUPER_LAYER)
		return false;
	return aftl_does_mode_lower_top_voltage(placement->mode, need->class) ||
	       (placement->mode == AFTL_MODE_NORMAL && !block->between);
}

/* Ask the chip model whether it accepts a program; store the program's result in lun->outcome. */
static bool chip_accepts_program(struct aftl *ftl, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 const struct aftl_placement *placement)
{
	struct aftl_program_command program = make_program_command(need, placement);

	if (placement->block->order == AFTL_ORDER_FOGGY_FINE &&
	    (placement->mode != AFTL_MODE_FOGGY || placement->piggybacked ||
	     !aftl_block_may_await_fine_pass(ftl, lun, placement->block)))
		return false;
	if (!aftl_chip_allows_program(&ftl->chip, &program))
		return false;
	aftl_chip_program(&ftl->chip, &program, &lun->outcome);
	return true;
}

static bool is_program_placement_legal(struct aftl *ftl, struct aftl_lun *lun,
				       const struct aftl_program_request *need,
				       const struct aftl_placement *placement)
{
	const struct aftl_block *block = placement->block;
	struct aftl_program_command program;

	if (!block_is_in_lun(ftl, lun, block) ||
	    (unlikely(placement->piggybacked) &&
	     !is_piggyback_relocation_allowed(ftl, lun, need, placement)))
		return false;
	if (block->bits && need->cause != AFTL_CAUSE_HOST)
		return false;
	if (block->bits || !does_program_time_depend_on_mode_only(ftl, need, placement))
		return chip_accepts_program(ftl, lun, need, placement);
	lun->outcome.ns = ftl->chip.program_ns[placement->mode];
	lun->outcome.overprogrammed = false;
	if (likely(is_program_order_the_only_restriction(need, placement)))
		return aftl_order_allows_program(&ftl->media, block, placement->page,
						 placement->pages);
	program = make_program_command(need, placement);
	return aftl_chip_allows_program(&ftl->chip, &program);
}

/*
 * Place the data in the fallback block, in the program order with which it was opened. In a
 * checkerboard block the data disturb precise neighbours: more errors are better than no space.
 */
static int place_program_in_fallback_block(struct aftl *ftl, struct aftl_lun *lun,
					   const struct aftl_program_request *need,
					   struct aftl_placement *placement)
{
	struct aftl_program_command program;

	if (!lun->fallback)
		lun->fallback =
			aftl_policy_open_block(ftl->policy, lun, need, AFTL_ORDER_SEQUENTIAL, 0);
	if (!lun->fallback)
		return -ENOSPC;
	*placement = (struct aftl_placement){
		.block = lun->fallback,
		.page = aftl_program_order_next_page(&ftl->media, lun->fallback),
		.pages = ftl->geo.program_pages,
		.mode = aftl_block_program_mode(lun->fallback),
	};
	if (!aftl_order_allows_program(&ftl->media, lun->fallback, placement->page,
				       placement->pages))
		return -ENOSPC;
	program = make_program_command(need, placement);
	aftl_chip_program(&ftl->chip, &program, &lun->outcome);
	return 0;
}

/* Check a policy's placement. Blocks of placement handles are the core's, hence illegal. */
static bool policy_placement_is_legal(struct aftl *ftl, struct aftl_lun *lun,
				      const struct aftl_program_request *need,
				      const struct aftl_placement *placement)
{
	return placement->block && !placement->block->handle &&
	       is_program_placement_legal(ftl, lun, need, placement);
}

/* Translation pages never share a block with data, and wait for free blocks as host writes do. */
static bool program_is_data_relocation(const struct aftl_program_request *need)
{
	return need->cause != AFTL_CAUSE_HOST && need->cause != AFTL_CAUSE_MAP;
}

/*
 * Return true if a program that has found no page may use the fallback block: a relocation of data
 * in a LUN without free blocks.
 */
static bool may_use_fallback_block(struct aftl *ftl, struct aftl_lun *lun,
				   const struct aftl_program_request *need)
{
	return !lun->free_blocks && program_is_data_relocation(need) &&
	       (lun->fallback || aftl_choose_block_as_fallback(ftl, lun));
}

/*
 * Let the policy place a program. The policy violates its contract if it finds no page for a
 * relocation while there are free blocks. Without free blocks the relocation may use the fallback
 * block, or an open block of the policy.
 */
static inline int let_policy_place_program(struct aftl *ftl, struct aftl_lun *lun,
					   const struct aftl_program_request *need,
					   struct aftl_placement *placement)
{
	int ret;

	*placement = (struct aftl_placement){ 0 };
	ret = ftl->type->place(ftl->policy, lun, need, placement);
	if (ret && need->cause == AFTL_CAUSE_HOST && ftl->type->out_of_blocks)
		ftl->type->out_of_blocks(ftl->policy, lun);
	if (ret && may_use_fallback_block(ftl, lun, need))
		return place_program_in_fallback_block(ftl, lun, need, placement);
	if ((ret || likely(policy_placement_is_legal(ftl, lun, need, placement))) &&
	    (!ret || need->cause == AFTL_CAUSE_HOST || !lun->free_blocks))
		return ret;
	ftl->stats.counters.policy_bugs++;
	return place_program_in_fallback_block(ftl, lun, need, placement);
}

/*
 * Place data of a placement handle: sequential, in normal mode, which every chip accepts. Relocated
 * data leave their handle if there is no other page for them: isolation matters less than data.
 */
static int place_program_in_block_of_handle(struct aftl *ftl, struct aftl_lun *lun,
					    const struct aftl_program_request *need,
					    struct aftl_placement *placement)
{
	int ret = aftl_place_program_of_handle(ftl, lun, need, placement);

	if (ret && !ftl->geo.zones && !aftl_is_stream_of_trans_pages(ftl, need->stream) &&
	    may_use_fallback_block(ftl, lun, need))
		return place_program_in_fallback_block(ftl, lun, need, placement);
	if (ret || likely(is_program_placement_legal(ftl, lun, need, placement)))
		return ret;
	return -ENOSPC;
}

/*
 * Data of an active zone leave the SLC cache for the open block of this zone. All other relocations
 * of a zoned device go to the fallback block.
 */
static noinline int place_zone_relocation(struct aftl *ftl, struct aftl_lun *lun,
					  const struct aftl_program_request *need,
					  struct aftl_placement *placement)
{
	bool fold = need->cause == AFTL_CAUSE_FOLD;
	struct aftl_program_request zone = *need;

	if (fold && aftl_zone_find_stream_of_folded_lpn(ftl, need->lpn, &zone.stream))
		return place_program_in_block_of_handle(ftl, lun, &zone, placement);
	aftl_zone_prepare_fallback_block(ftl, lun, need->lpn, fold);
	return place_program_in_fallback_block(ftl, lun, need, placement);
}

/* Time to read the pages that the policy relocates within the host program. */
static u64 compute_piggyback_read_ns(struct aftl *ftl, const struct aftl_placement *placement)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < placement->piggybacked; i++)
		ns += aftl_sense_valid_data(ftl, placement->piggyback[i].from,
					    placement->piggyback[i].page, aftl_device_hour(ftl));
	return ns;
}

/* Place a program where zones, an SLC cache, handles or a lack of free blocks may decide. */
static int place_program_with_optional_parts(struct aftl *ftl, struct aftl_lun *lun,
					     const struct aftl_program_request *need,
					     struct aftl_placement *placement)
{
	if (ftl->geo.zones && need->cause != AFTL_CAUSE_HOST &&
	    !aftl_is_stream_of_trans_pages(ftl, need->stream))
		return place_zone_relocation(ftl, lun, need, placement);
	if (lun->below_reserve && program_is_data_relocation(need))
		return place_program_in_fallback_block(ftl, lun, need, placement);
	if (ftl->slc_max_blocks &&
	    (ftl->geo.zones || !aftl_get_handle_of_stream(ftl, need->stream)) &&
	    aftl_slc_cache_place_write(ftl, lun, need, placement) &&
	    is_program_placement_legal(ftl, lun, need, placement))
		return 0;
	if (aftl_get_handle_of_stream(ftl, need->stream))
		return place_program_in_block_of_handle(ftl, lun, need, placement);
	return let_policy_place_program(ftl, lun, need, placement);
}

int aftl_program_place(struct aftl *ftl, struct aftl_lun *lun,
		       const struct aftl_program_request *need, struct aftl_placement *placement)
{
	int ret;

	ftl->placing_cause = need->cause;
	if (likely(ftl->plain_copyback && !lun->below_reserve))
		ret = let_policy_place_program(ftl, lun, need, placement);
	else
		ret = place_program_with_optional_parts(ftl, lun, need, placement);
	if (!ret && placement->piggybacked)
		lun->outcome.ns += compute_piggyback_read_ns(ftl, placement);
	return ret;
}

/*
 * Get the OOB metadata for a copy of the data in @ppn; @record is the OOB record of their page. The
 * copy inherits errors unless ECC corrects them.
 */
static inline struct aftl_origin get_inherited_origin(struct aftl *ftl,
						      const struct aftl_block *block,
						      aftl_ppn_t ppn, void *record)
{
	u16 attr = *aftl_oob_record_attr(&ftl->media, record);
	struct aftl_origin origin = { 0 };
	struct aftl_errors errors;

	if (!aftl_has_error_model(&ftl->media))
		return origin;
	origin = aftl_oob_record_origin(&ftl->media, block, ppn, record);
	if (aftl_cell_ecc_never_fails(&ftl->cell, attr) && !aftl_has_rain(ftl))
		return origin;
	errors = aftl_cell_read_errors_of_data(&ftl->cell, block, ppn, attr, origin,
					       aftl_device_hour(ftl));
	if (aftl_has_rain(ftl) && aftl_stripe_reconstruct(ftl, ppn, &errors))
		ftl->stats.counters.moved_recovered_units++;
	if (errors.lost) {
		ftl->stats.counters.moved_lost_units += origin.inherited != AFTL_INHERITED_LOST;
		origin.inherited = AFTL_INHERITED_LOST;
		return origin;
	}
	ftl->stats.counters.baked_bits += errors.flips - origin.inherited;
	origin.inherited = (u16)min(errors.flips, (u32)AFTL_INHERITED_LOST - 1);
	return origin;
}

/* Add the content of a valid page to the payload of a program. */
void aftl_payload_add_relocation(struct aftl *ftl, struct aftl_payload *payload, aftl_ppn_t ppn)
{
	u32 i = payload->count++;

	payload->lpn[i] = aftl_ppn_lpn(&ftl->media, ppn);
	payload->from[i] = ppn;
	payload->origin[i] =
		get_inherited_origin(ftl, aftl_block_of_ppn(&ftl->media, ppn), ppn,
				     aftl_oob_entry(&ftl->media,
						    aftl_page_of_ppn(&ftl->media, ppn)));
	payload->tag[i] = AFTL_NIL;
	payload->stale[i] = false;
}

static void payload_add_piggyback_page(struct aftl *ftl, const struct aftl_piggyback *carry,
				       struct aftl_payload *payload)
{
	u32 slot = from_ppn(aftl_page_ppn(&ftl->media, carry->from, carry->page));
	u32 end = slot + ftl->geo.page_units;

	for (; slot < end; slot++)
		if (aftl_ppn_is_valid(&ftl->media, to_ppn(slot)))
			aftl_payload_add_relocation(ftl, payload, to_ppn(slot));
	ftl->stats.counters.carried_reads++;
}

void aftl_payload_add_piggybacked_pages(struct aftl *ftl, const struct aftl_placement *placement,
					struct aftl_payload *payload)
{
	u32 i;

	payload->count = 0;
	payload->promoted = 0;
	payload->dropped = 0;
	for (i = 0; i < placement->piggybacked; i++)
		payload_add_piggyback_page(ftl, &placement->piggyback[i], payload);
	payload->piggybacked = payload->count;
}

static u32 count_hours_since_block_open(struct aftl *ftl, const struct aftl_block *block)
{
	u64 hours = aftl_device_hour(ftl) - block->first_hour;

	return min_t(u64, hours, 0xffff);
}

/* Prefetch the OOB metadata that follow @record: a later program is likely to use them. */
static inline void prefetch_next_oob_metadata(void *record)
{
	enum { CACHE_LINE_BYTES = 64 };

	prefetch((u8 *)record + CACHE_LINE_BYTES);
}

/* Note in @block the first program of @pages pages, from @page on, since the erase. */
static inline void add_programmed_pages_to_block(struct aftl *ftl, struct aftl_block *block,
						 u32 page, u32 pages)
{
	if (!block->programmed)
		block->begun_flip = block->flip;
	block->programmed += pages;
	aftl_program_order_advance_frontier(&ftl->media, block, page);
}

static void mark_pages_programmed(struct aftl *ftl, const struct aftl_lun *lun,
				  const struct aftl_program_request *need,
				  const struct aftl_placement *placement)
{
	struct aftl_block *block = placement->block;
	u32 first = aftl_page_number_in_device(&ftl->media, block, placement->page);
	u16 attr = *aftl_page_attr_ptr(&ftl->media, first);
	bool fine = attr && aftl_page_is_foggy(attr);
	u32 again = attr && !fine ? aftl_get_reprogram_count_of_page(attr) + 1 : 0;
	u32 hours = count_hours_since_block_open(ftl, block);
	u32 page;

	attr = aftl_page_attr(need->class, placement->mode, again);
	if (lun->outcome.overprogrammed) {
		attr |= AFTL_PAGE_OVERPROGRAMMED;
		ftl->stats.counters.overshot_programs++;
	}
	for (page = 0; page < placement->pages; page++) {
		*aftl_page_attr_ptr(&ftl->media, first + page) = attr;
		aftl_oob_set_program_timestamp_of_page(ftl, block, placement->page + page, hours);
	}
	prefetch_next_oob_metadata(aftl_oob_entry(&ftl->media, first + placement->pages - 1));
	if (need->class == AFTL_PRECISE)
		block->approx_only = 0;
	if (placement->mode == AFTL_MODE_BETWEEN)
		block->between = 1;
	if (placement->mode == AFTL_MODE_SWITCHED)
		aftl_mark_word_line_switched(&ftl->media, block, placement->page);
	if (again) {
		ftl->stats.counters.reprogrammed_pages += placement->pages;
		return;
	}
	if (!fine)
		add_programmed_pages_to_block(ftl, block, placement->page, placement->pages);
}

/* mark_pages_programmed() for a single page that no program has reached since the erase. */
static inline void mark_erased_page_programmed(struct aftl *ftl, u32 class,
					       const struct aftl_placement *placement, void *record)
{
	struct aftl_block *block = placement->block;
	u32 hours = count_hours_since_block_open(ftl, block);

	*aftl_oob_record_attr(&ftl->media, record) = aftl_page_attr(class, placement->mode, 0);
	if (unlikely(hours || ftl->media.oob_layout.hours || block->extra_used))
		aftl_oob_set_program_timestamp_of_page(ftl, block, placement->page, hours);
	prefetch_next_oob_metadata(record);
	if (class == AFTL_PRECISE)
		block->approx_only = 0;
	if (placement->mode == AFTL_MODE_BETWEEN)
		block->between = 1;
	add_programmed_pages_to_block(ftl, block, placement->page, 1);
}

/* Quality level to be stored: a relocation keeps the level, unless the whole program is precise. */
static u32 get_quality_level_of_payload_lpn(const struct aftl *ftl, u32 class,
					    const struct aftl_payload *payload, u32 i)
{
	if (likely(class == AFTL_PRECISE))
		return AFTL_PRECISE;
	if (payload->from[i] != AFTL_NO_PPN)
		return aftl_ppn_quality_level(&ftl->media, payload->from[i]);
	return payload->tag[i] == AFTL_NIL ? class : ftl->commands[payload->tag[i]].level;
}

/* Tell the host to which ppn data are programmed. Translation pages have no data of the host. */
static void tell_host_ppn_of_program(struct aftl *ftl, const struct aftl_payload *payload, u32 i,
				     aftl_ppn_t ppn)
{
	if (payload->tag[i] != AFTL_NIL) {
		ftl->commands[payload->tag[i]].flags |= AFTL_COMMAND_STORED;
		if (ftl->ops->program)
			ftl->ops->program(ftl->host, payload->tag[i], payload->lpn[i], ppn);
	} else if (ftl->ops->copy && payload->from[i] != AFTL_NO_PPN &&
		   from_lpn(payload->lpn[i]) < ftl->geo.units) {
		ftl->ops->copy(ftl->host, payload->lpn[i], payload->from[i], ppn);
	}
}

/* Return true if entry @i of the payload is relocated with the one before it, and follows it. */
static bool payload_lpn_follows_relocated_lpn(const struct aftl_payload *payload, u32 i)
{
	return i && payload->from[i - 1] != AFTL_NO_PPN &&
	       from_lpn(payload->lpn[i]) == from_lpn(payload->lpn[i - 1]) + 1;
}

static void relocate_lpn_of_program(struct aftl *ftl, struct aftl_lun *lun,
				    struct aftl_block *block, const struct aftl_payload *payload,
				    u32 i, aftl_ppn_t ppn, u32 level)
{
	struct aftl_block *from = aftl_block_of_ppn(&ftl->media, payload->from[i]);
	aftl_lpn_t lpn = payload->lpn[i];

	if (ftl->handles) {
		aftl_count_lpn_moved_from_handle(ftl, from,
						 payload_lpn_follows_relocated_lpn(payload, i));
		ftl->stats.counters.map_moved_units += from_lpn(lpn) >= ftl->geo.units;
	}
	aftl_l2p_relocate(ftl, lun, from, payload->from[i], block, lpn, ppn, level);
}

static void store_lpn_of_program(struct aftl *ftl, struct aftl_lun *lun,
				 const struct aftl_program_request *need, struct aftl_block *block,
				 const struct aftl_payload *payload, u32 i, aftl_ppn_t ppn)
{
	aftl_lpn_t lpn = payload->lpn[i];
	bool lost = payload->from[i] != AFTL_NO_PPN && aftl_ppn_is_lost(ftl, payload->from[i]);
	u32 level = get_quality_level_of_payload_lpn(ftl, need->class, payload, i);

	*aftl_oob_lpn_word(&ftl->media, ppn) = aftl_lpn_word(lpn, level);
	aftl_oob_store_generation_and_errors(ftl, block, ppn, payload->origin[i]);
	if (!lost)
		tell_host_ppn_of_program(ftl, payload, i, ppn);
	if (payload->from[i] != AFTL_NO_PPN && likely(need->cause != AFTL_CAUSE_REBUILD))
		relocate_lpn_of_program(ftl, lun, block, payload, i, ppn, level);
	else if (!payload->stale[i])
		aftl_l2p_update(ftl, lun, block, lpn, ppn, level);
	if (ftl->geo.trans_pages && !payload->stale[i])
		aftl_cmt_mark_entry_dirty(ftl, lpn);
	if (lost)
		aftl_l2p_mark_ppn_lost(ftl, ppn);
}

/* Tell the host that the programs of the flash pages from @first to before @end are complete. */
static void tell_host_that_programs_are_complete(struct aftl *ftl, u32 first, u32 end)
{
	if (!ftl->ops->programmed)
		return;
	for (; first < end; first += ftl->geo.page_units)
		ftl->ops->programmed(ftl->host, to_ppn(first));
}

static void store_payload_of_program(struct aftl *ftl, struct aftl_lun *lun,
				     const struct aftl_program_request *need,
				     const struct aftl_placement *placement,
				     const struct aftl_payload *payload)
{
	u32 first = from_ppn(aftl_page_ppn(&ftl->media, placement->block, placement->page));
	u32 end = first + aftl_count_lpns_of_placement(ftl, placement);
	u32 i;

	for (i = 0; i < payload->count; i++)
		store_lpn_of_program(ftl, lun, need, placement->block, payload, i,
				     to_ppn(first + i));
	for (i = first + payload->count; i < end; i++)
		*aftl_oob_lpn_word(&ftl->media, to_ppn(i)) = AFTL_NO_LPN;
	tell_host_that_programs_are_complete(ftl, first, end);
}

static void count_program_time_and_energy(struct aftl *ftl, const struct aftl_lun *lun,
					  const struct aftl_program_request *need,
					  const struct aftl_placement *placement)
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

/* Count the logical pages of host data in @payload: all but translation pages and padding. */
static u32 count_host_lpns_of_payload(const struct aftl *ftl, const struct aftl_payload *payload)
{
	u32 count = payload->count - payload->dropped;
	u32 host = 0;
	u32 i;

	if (likely(!ftl->geo.trans_pages))
		return count;
	for (i = 0; i < payload->count; i++)
		host += from_lpn(payload->lpn[i]) < ftl->geo.units;
	return min(host, count);
}

static void count_program_in_stats(struct aftl *ftl, const struct aftl_program_request *need,
				   const struct aftl_placement *placement,
				   const struct aftl_payload *payload)
{
	struct aftl_counters *counters = &ftl->stats.counters;
	bool moved = need->cause != AFTL_CAUSE_HOST;
	u32 count = payload->count - payload->dropped;
	u32 stream = need->stream;

	(&counters->programmed_host_units)[need->cause] +=
		count - payload->promoted - payload->piggybacked;
	counters->programmed_rewrite_units += payload->piggybacked;
	counters->programmed_promotion_units += payload->promoted;
	counters->padded_units += aftl_count_lpns_of_placement(ftl, placement) - count;
	counters->media_write_bytes +=
		(u64)count_host_lpns_of_payload(ftl, payload) * ftl->geo.unit_bytes;
	if (!moved)
		counters->host_program_pages += placement->pages;
	if (placement->mode == AFTL_MODE_SLC)
		counters->cached_host_units += count - payload->piggybacked;
	if (ftl->handles) {
		ftl->stats.handles[aftl_fdp_handle_of_block(ftl, placement->block)].media_units +=
			aftl_count_lpns_of_placement(ftl, placement);
		stream = min(stream, AFTL_STREAMS - 1U);
	}
	ftl->stats.stream_units[moved][stream] += count - payload->piggybacked;
	ftl->stats.stream_units[true][stream] += payload->piggybacked;
	ftl->stats.class_pages[need->class] += placement->pages;
}

/*
 * Return true if the core has to close the block, because it is full. The policy itself closes the
 * blocks that it may reprogram.
 */
static bool block_must_be_closed(const struct aftl *ftl, const struct aftl_lun *lun,
				 const struct aftl_block *block)
{
	if (block == lun->fallback || block->order == AFTL_ORDER_FOGGY_FINE)
		return aftl_program_order_next_page(&ftl->media, block) == ftl->geo.pages;
	return aftl_block_is_full(&ftl->geo, block) && block->order != AFTL_ORDER_SUPER_LAYER;
}

/* Commit a coarse pass, or parity: the program maps no logical page. */
static noinline void commit_program_without_lpns(struct aftl *ftl, struct aftl_lun *lun,
						 const struct aftl_program_request *need,
						 const struct aftl_placement *placement,
						 const struct aftl_payload *payload)
{
	u32 first = from_ppn(aftl_page_ppn(&ftl->media, placement->block, placement->page));
	u32 end = first + aftl_count_lpns_of_placement(ftl, placement);
	u32 i;

	for (i = first; i < end; i++)
		*aftl_oob_lpn_word(&ftl->media, to_ppn(i)) = AFTL_NO_LPN;
	tell_host_that_programs_are_complete(ftl, first, end);
	if (need->cause == AFTL_CAUSE_PARITY)
		ftl->stats.counters.programmed_parity_units +=
			placement->mode == AFTL_MODE_FOGGY ? 0 : end - first;
	else
		aftl_fine_pending_add_word_line(ftl, lun, need, placement, payload);
}

/* After a program to @block: close the block if it is due, else tell modules of the program. */
static inline void finish_program_of_block(struct aftl *ftl, struct aftl_lun *lun,
					   struct aftl_block *block)
{
	if (!block_must_be_closed(ftl, lun, block)) {
		aftl_block_event_notify(&ftl->block_events, AFTL_ON_PROGRAM, ftl, lun, block);
		return;
	}
	aftl_lun_drop_open_block_pointer(lun, block);
	aftl_block_close(ftl, block);
}

void aftl_program_commit(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_program_request *need,
			 const struct aftl_placement *placement, const struct aftl_payload *payload)
{
	struct aftl_block *block = placement->block;

	count_program_time_and_energy(ftl, lun, need, placement);
	mark_pages_programmed(ftl, lun, need, placement);
	if (placement->mode == AFTL_MODE_FOGGY || need->cause == AFTL_CAUSE_PARITY) {
		commit_program_without_lpns(ftl, lun, need, placement, payload);
		return;
	}
	count_program_in_stats(ftl, need, placement, payload);
	store_payload_of_program(ftl, lun, need, placement, payload);
	finish_program_of_block(ftl, lun, block);
}

/*
 * aftl_program_commit_copyback() - commit a program that relocates one page of the task's block
 * @from: the page, which is valid
 * @source: its OOB record
 *
 * Does what aftl_program_commit() does, apart from what plain_copyback excludes.
 */
void aftl_program_commit_copyback(struct aftl *ftl, struct aftl_lun *lun,
				  const struct aftl_program_request *need,
				  const struct aftl_placement *placement, aftl_ppn_t from,
				  void *source)
{
	u16 attr = *aftl_oob_record_attr(&ftl->media, source);
	bool promoted = need->cause == AFTL_CAUSE_GC && aftl_page_class(attr) != need->class;
	struct aftl_counters *counters = &ftl->stats.counters;
	struct aftl_block *block = placement->block;
	aftl_ppn_t ppn = aftl_page_ppn(&ftl->media, block, placement->page);
	void *record = aftl_oob_entry(&ftl->media, from_ppn(ppn));
	struct aftl_origin origin = get_inherited_origin(ftl, need->from, from, source);
	aftl_lpn_t *word = record;
	u32 level = AFTL_PRECISE;

	count_program_time_and_energy(ftl, lun, need, placement);
	(&counters->programmed_host_units)[need->cause] += !promoted;
	counters->programmed_promotion_units += promoted;
	counters->media_write_bytes += ftl->geo.unit_bytes;
	ftl->stats.stream_units[true][need->stream]++;
	ftl->stats.class_pages[need->class]++;
	if (likely(!*aftl_oob_record_attr(&ftl->media, record) && !lun->outcome.overprogrammed))
		mark_erased_page_programmed(ftl, need->class, placement, record);
	else
		mark_pages_programmed(ftl, lun, need, placement);
	if (need->class != AFTL_PRECISE)
		level = aftl_get_quality_level_of_oob_lpn_word(*(aftl_lpn_t *)source, attr);
	*word = aftl_lpn_word(need->lpn, level);
	aftl_oob_record_store_origin(ftl, block, ppn, record, origin);
	aftl_l2p_relocate(ftl, lun, lun->reloc.from, from, block, need->lpn, ppn, level);
	finish_program_of_block(ftl, lun, block);
}

void aftl_program_parity(struct aftl *ftl, struct aftl_lun *lun,
			 const struct aftl_placement *placement)
{
	static const struct aftl_payload nothing;
	struct aftl_program_request need = { .class = AFTL_PRECISE, .cause = AFTL_CAUSE_PARITY };

	aftl_program_commit(ftl, lun, &need, placement, &nothing);
}

/* Add @steps programs, whose pages have been marked as programmed, to the block of @run. */
static void count_fill_programs_in_block(struct aftl *ftl, struct aftl_fill_run *run, u32 steps)
{
	struct aftl_block *block = run->block;
	u32 pages = steps * ftl->geo.program_pages;
	u32 hours = count_hours_since_block_open(ftl, block);
	u32 i;

	for (i = 0; (hours || ftl->media.oob_layout.hours || block->extra_used) && i < pages; i++)
		aftl_oob_set_program_timestamp_of_page(ftl, block, run->page + i, hours);
	if (run->class == AFTL_PRECISE)
		block->approx_only = 0;
	block->programmed += pages;
	run->page += pages;
	run->left -= steps;
	aftl_program_order_advance_frontier(&ftl->media, block, run->page - ftl->geo.program_pages);
}

/*
 * aftl_commit_next_fill_program() - commit the next program of a preconditioning run in @lun
 * @payload: a full program of host writes
 *
 * Cheaper than aftl_program_commit(): the policy is not asked, and statistics do not count. Not for
 * the first or the last program of a block.
 */
void aftl_commit_next_fill_program(struct aftl *ftl, struct aftl_lun *lun,
				   struct aftl_fill_run *run, const struct aftl_payload *payload)
{
	struct aftl_block *block = run->block;
	u32 page = aftl_page_number_in_device(&ftl->media, block, run->page);
	u32 first = page * ftl->geo.page_units;
	u32 i;

	for (i = 0; i < ftl->geo.program_pages; i++)
		*aftl_page_attr_ptr(&ftl->media, page + i) =
			aftl_page_attr(run->class, run->mode, 0);
	count_fill_programs_in_block(ftl, run, 1);
	for (i = 0; i < payload->count; i++) {
		*aftl_oob_lpn_word(&ftl->media, to_ppn(first + i)) = payload->lpn[i];
		aftl_oob_store_generation_and_errors(ftl, block, to_ppn(first + i),
						     payload->origin[i]);
		aftl_l2p_update(ftl, lun, block, payload->lpn[i], to_ppn(first + i), run->class);
	}
	tell_host_that_programs_are_complete(ftl, first, first + payload->count);
}

/**
 * struct first_writes - first writes of logical pages, on their way into one block
 * @order: order of the logical pages; the write generation is derived from the sequence number
 * @program_pages: pages of a program
 * @skip: distance from the first logical page of one program to that of the next
 * @skip_seq: distance from the sequence number of one program to that of the next
 * @page: page of the device that takes the first program
 * @end: page after the last
 * @attr: attributes of the pages
 */
struct first_writes {
	struct aftl_fill_order order;
	u32 program_pages;
	u32 skip;
	u32 skip_seq;
	u32 page;
	u32 end;
	u16 attr;
};

/*
 * Store the OOB metadata of one program of first writes: @units logical pages in each of @pages
 * flash pages. @media is a copy, so that the compiler can keep it in registers.
 */
static __always_inline void store_first_writes_of_program(struct aftl_media media,
							  const struct first_writes *new, u32 units,
							  u32 pages)
{
	u32 lpn = new->order.at;
	u64 seq = new->order.seq;
	u32 page;

	for (page = new->page; page < new->page + pages; page++) {
		aftl_lpn_t *lpns = aftl_oob_entry(&media, page);
		u16 *numbers = (u16 *)lpns + media.oob_layout.attr;
		u32 i;

		*numbers = new->attr;
		for (i = 0; i < units; i++) {
			lpns[i] = to_lpn(lpn);
			if (media.models_errors)
				*++numbers = (u16)aftl_hash64(seq++);
			lpn = aftl_fill_order_next_lpn(&new->order, lpn, new->order.step);
		}
	}
}

/* Store the OOB metadata of all programs of first writes. */
static __always_inline void store_first_writes(struct aftl_media media, struct first_writes new,
					       u32 units, u32 pages)
{
	for (; new.page < new.end; new.page += pages) {
		store_first_writes_of_program(media, &new, units, pages);
		new.order.at = aftl_fill_order_next_lpn(&new.order, new.order.at, new.skip);
		new.order.seq += new.skip_seq;
	}
}

/* Map the logical pages of first writes; each program holds @units of these. */
static __always_inline void map_first_write_lpns(struct aftl_chunks l2p, struct first_writes new,
						 u32 entry, u32 units)
{
	for (; new.page < new.end; new.page += new.program_pages) {
		u32 end = entry + units;
		u32 lpn = new.order.at;

		for (; entry < end; entry++) {
			*aftl_chunk_entry(&l2p, u32, lpn) = entry;
			lpn = aftl_fill_order_next_lpn(&new.order, lpn, new.order.step);
		}
		new.order.at = aftl_fill_order_next_lpn(&new.order, new.order.at, new.skip);
	}
}

/* Count @programs first writes of a run, which have been stored from ppn @slot on. */
void aftl_count_first_fill_writes_of_lun(struct aftl *ftl, struct aftl_lun *lun,
					 struct aftl_fill_run *run, u32 slot, u32 programs)
{
	u32 units = programs * ftl->program_units;

	count_fill_programs_in_block(ftl, run, programs);
	aftl_set_valid_bits_of_ppns(&ftl->media, to_ppn(slot), units);
	run->block->valid += units;
	run->block->valid_approx += run->class == AFTL_PRECISE ? 0 : units;
	lun->valid += units;
}

/*
 * aftl_commit_first_fill_writes_of_lun() - commit first writes of a preconditioning run in @lun
 * @order: order of the logical pages, from the first page of the first program on
 * @rounds: number of programs, at least one; the last program of the block is not among them
 * @map: store the L2P entries
 */
void aftl_commit_first_fill_writes_of_lun(struct aftl *ftl, struct aftl_lun *lun,
					  struct aftl_fill_run *run, struct aftl_fill_order order,
					  u32 rounds, bool map)
{
	u32 page = aftl_page_number_in_device(&ftl->media, run->block, run->page);
	u32 slot = page * ftl->geo.page_units;
	u32 skip = ftl->geo.luns * ftl->program_units;
	struct first_writes new = {
		.order = order,
		.program_pages = ftl->geo.program_pages,
		.skip = (u32)((u64)skip * order.step % order.units),
		.skip_seq = skip,
		.page = page,
		.end = page + rounds * ftl->geo.program_pages,
		.attr = aftl_page_attr(run->class, run->mode, 0),
	};

	/* Most devices program one logical page at a time: inline a loop for this case. */
	if (ftl->program_units == 1)
		store_first_writes(ftl->media, new, 1, 1);
	else
		store_first_writes(ftl->media, new, ftl->geo.page_units, new.program_pages);
	if (map)
		map_first_write_lpns(ftl->l2p, new, run->class << AFTL_PPN_BITS | (slot + 1),
				     ftl->program_units);
	aftl_count_first_fill_writes_of_lun(ftl, lun, run, slot, rounds);
}

/* Store the OOB metadata of queued programs; the other arguments as above. */
static __always_inline void store_queued_programs(struct aftl_media media, struct first_writes new,
						  const struct aftl_fill_program *queue, u32 units,
						  u32 pages)
{
	u64 seq = new.order.seq;

	for (; new.page < new.end; new.page += pages, queue++) {
		new.order.at = queue->lpn;
		new.order.seq = seq + queue->write;
		store_first_writes_of_program(media, &new, units, pages);
	}
}

/*
 * aftl_commit_queued_fill_programs_of_lun() - commit queued programs of a run in @lun
 * @order: order of the fill at the first write of the batch; @order.at is not used
 * @queue: the programs
 * @programs: number of programs, at least one; the last program of the block is not among them
 */
void aftl_commit_queued_fill_programs_of_lun(struct aftl *ftl, struct aftl_lun *lun,
					     struct aftl_fill_run *run,
					     struct aftl_fill_order order,
					     const struct aftl_fill_program *queue, u32 programs)
{
	u32 page = aftl_page_number_in_device(&ftl->media, run->block, run->page);
	struct first_writes new = {
		.order = order,
		.page = page,
		.end = page + programs * ftl->geo.program_pages,
		.attr = aftl_page_attr(run->class, run->mode, 0),
	};

	if (ftl->program_units == 1)
		store_queued_programs(ftl->media, new, queue, 1, 1);
	else
		store_queued_programs(ftl->media, new, queue, ftl->geo.page_units,
				      ftl->geo.program_pages);
	aftl_count_first_fill_writes_of_lun(ftl, lun, run, page * ftl->geo.page_units, programs);
}

void aftl_begin_block_erase(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_block *block)
{
	bool gentle = ftl->type->shallow_erase && ftl->type->shallow_erase(ftl->policy, block);

	lun->erased = aftl_chip_erase(&ftl->chip, block, gentle);
}

static bool block_is_worn_out(const struct aftl *ftl, const struct aftl_block *block)
{
	return ftl->config.endurance && block->wear >= ftl->config.endurance * AFTL_FULL_WEAR;
}

static void count_erase_in_stats(struct aftl *ftl, const struct aftl_erase_result *erased)
{
	struct aftl_counters *counters = &ftl->stats.counters;

	counters->array_erases++;
	counters->media_erased_bytes += (u64)ftl->geo.block_ppns * ftl->geo.unit_bytes;
	ftl->housekeeping_wanted = true;
	counters->array_low_erases += erased->shallow;
	counters->erase_residues += erased->residue;
	counters->wear_sum += erased->wear;
	counters->array_erase_ns += erased->ns;
	counters->erase_energy_pj += div64_u64(erased->ns * ftl->config.energy, 1000);
}

void aftl_commit_block_erase(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	count_erase_in_stats(ftl, &lun->erased);
	aftl_block_event_notify(&ftl->block_events, AFTL_ON_ERASE, ftl, lun, block);
	if (block->listed)
		aftl_victim_list_remove(ftl, lun, block);
	block->wear = (u32)min((u64)block->wear + lun->erased.wear, (u64)U32_MAX);
	aftl_oob_reset_erased_block(ftl, block);
	if (ftl->ops->erase)
		ftl->ops->erase(ftl->host, aftl_page_ppn(&ftl->media, block, 0),
				ftl->geo.block_ppns);
	if (!block->failing && !block_is_worn_out(ftl, block)) {
		if (block->parity)
			block->state = AFTL_BLOCK_FREE;
		else
			aftl_free_list_add_block(ftl, lun, block);
		return;
	}
	aftl_block_retire(ftl, lun, block);
	aftl_block_event_notify(&ftl->block_events, AFTL_ON_RETIRE, ftl, lun, block);
	aftl_notify_blocks_retired(ftl, aftl_block_index(&ftl->media, block), 1);
}
