// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zones (ZNS): ranges of logical pages that are written sequentially and reset as a whole. A zone
 * is striped over its LUNs by address and has blocks of its own in each of them. While a zone is
 * active, or has writes in flight, it owns a slot: the stream of its writes and, like a placement
 * handle, an open block in each LUN.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/placement-handle.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/slc-cache.h"
#include "core/ftl/zone.h"

/*
 * The write buffer must hold the partial program of each active zone in each of its LUNs, and its
 * random write area.
 */
static u64 compute_min_write_buffer_of_zones(const struct aftl *ftl)
{
	u64 programs = ftl->geo.zone_luns + ftl->config.zrwa;

	return (ftl->config.max_active_zones * programs + 1) * ftl->program_units *
	       ftl->geo.unit_bytes;
}

/* Logical pages of the random write area of a zone; 0: zones have none. */
static u32 count_lpns_of_random_write_area(const struct aftl *ftl)
{
	return (u32)ftl->config.zrwa * ftl->program_units;
}

static int check_random_write_area_config(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_config *config = &ftl->config;

	if (config->zrwa && (u32)config->zrwa % (u32)config->zrwa_granularity)
		return aftl_fail(error, -EINVAL,
				 "zrwa_granularity: %llu programs do not divide a random write area of %llu",
				 (unsigned long long)config->zrwa_granularity,
				 (unsigned long long)config->zrwa);
	if (count_lpns_of_random_write_area(ftl) > ftl->geo.zone_capacity)
		return aftl_fail(error, -EINVAL,
				 "zrwa: %llu programs of %u units are more than a zone of %u units",
				 (unsigned long long)config->zrwa, ftl->program_units,
				 ftl->geo.zone_capacity);
	return 0;
}

static int check_luns_hold_all_zones(const struct aftl *ftl, struct aftl_error *error)
{
	u32 each = ftl->geo.zones / (ftl->geo.luns / ftl->geo.zone_luns) * ftl->geo.zone_blocks;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].good_blocks < each + aftl_count_reserved_blocks_per_lun(ftl))
			return aftl_fail(error, -EINVAL,
					 "zoned: zones take %u blocks of each LUN and the core %u, but LUN %u has %u; raise op or blocks",
					 each, aftl_count_reserved_blocks_per_lun(ftl), i,
					 ftl->luns[i].good_blocks);
	return 0;
}

/* Check that policy and configuration allow the zones; without zones, that none are needed. */
int aftl_zone_check_config(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_config *config = &ftl->config;

	if (!ftl->geo.zones && config->zrwa)
		return aftl_fail(error, -EINVAL,
				 "zrwa: a random write area belongs to a zone, and there are no zones; set zoned, or leave zrwa at 0");
	if (!ftl->geo.zones)
		return 0;
	if (config->max_open_zones > config->max_active_zones)
		return aftl_fail(error, -EINVAL,
				 "max_open_zones: %llu zones cannot be open where %llu may be active",
				 (unsigned long long)config->max_open_zones,
				 (unsigned long long)config->max_active_zones);
	if (config->placement_handles || config->placement_groups > 1)
		return aftl_fail(error, -EINVAL,
				 "zoned: the host's zones already say which data belong together; set placement_handles 0 and placement_groups 1, or zoned 0");
	if (config->passes > 1)
		return aftl_fail(error, -EINVAL,
				 "zoned: each active zone would keep its word lines between two passes in the write buffer; set passes 1 or zoned 0");
	if (config->fill)
		return aftl_fail(error, -EINVAL,
				 "zoned: a zone is written in order from its start, so that no data can be there before; set fill none or zoned 0");
	if (check_random_write_area_config(ftl, error))
		return -EINVAL;
	if (!config->buffer_safe || config->buffer < compute_min_write_buffer_of_zones(ftl))
		return aftl_fail(error, -EINVAL,
				 "zoned: pages that a zone has not filled yet wait in the buffer, where a power cut must not reach them; set buffer_safe on and buffer to at least %llu bytes",
				 (unsigned long long)compute_min_write_buffer_of_zones(ftl));
	return check_luns_hold_all_zones(ftl, error);
}

static u32 get_zone_number(const struct aftl *ftl, const struct aftl_zone *zone)
{
	return (u32)(zone - ftl->zones.all);
}

/* Number of groups of zones. Zones whose numbers differ by a multiple of this number share LUNs. */
static u32 count_die_groups_of_zone(const struct aftl *ftl)
{
	return max(ftl->geo.luns / ftl->geo.zone_luns, 1U);
}

bool aftl_zone_alloc_states(struct aftl *ftl)
{
	u32 i;

	if (!ftl->geo.zones)
		return true;
	for (i = 0; i < ARRAY_SIZE(ftl->zones.owner); i++)
		ftl->zones.owner[i] = AFTL_NIL;
	ftl->zones.all = aftl_memory_alloc(ftl, ftl->geo.zones, sizeof(*ftl->zones.all));
	ftl->zones.online =
		aftl_memory_alloc(ftl, count_die_groups_of_zone(ftl), sizeof(*ftl->zones.online));
	if (!ftl->zones.all || !ftl->zones.online)
		return false;
	for (i = 0; i < count_die_groups_of_zone(ftl); i++)
		ftl->zones.online[i] = ftl->geo.zones / count_die_groups_of_zone(ftl);
	return true;
}

/* LUN at position @turn in the stripe of a zone. The zones of a group start in different LUNs. */
static struct aftl_lun *zone_lun_at(struct aftl *ftl, u32 zone, u32 turn)
{
	u32 groups = count_die_groups_of_zone(ftl);
	u32 place = zone % groups * ftl->geo.zone_luns +
		    (zone / groups + turn) % ftl->geo.zone_luns;

	return &ftl->luns[aftl_lun_by_allocation_order(&ftl->geo, place)];
}

/* Return the LUN that @lpn is written to; NULL if that LUN is dead. */
struct aftl_lun *aftl_zone_write_lun(struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 at = from_lpn(lpn) % ftl->geo.zone_units;
	struct aftl_lun *lun =
		zone_lun_at(ftl, from_lpn(lpn) / ftl->geo.zone_units, at / ftl->program_units);

	return aftl_lun_is_dead(lun) ? NULL : lun;
}

static bool zone_state_is_open(enum aftl_zone_state state)
{
	return state == AFTL_ZONE_IMPLICIT || state == AFTL_ZONE_EXPLICIT;
}

/*
 * Return true if the host must be told the zone's state, so that it is known after a crash. A zone
 * that is full because all of it was written needs no notice: the L2P table shows it.
 */
static bool must_host_be_told_zone_state(const struct aftl *ftl, const struct aftl_zone *zone)
{
	if (!ftl->ops->zone || (zone->state == AFTL_ZONE_FULL &&
				zone->written == ftl->geo.zone_capacity))
		return false;
	return zone->state == AFTL_ZONE_EMPTY || zone->state >= AFTL_ZONE_FULL;
}

/* A snapshot may have more open zones than allowed; aftl_zone_finish_load() refuses it later. */
static void zone_add_to_open_zones(struct aftl *ftl, u32 zone)
{
	if (ftl->zones.open < ARRAY_SIZE(ftl->zones.opened))
		ftl->zones.opened[ftl->zones.open] = zone;
	ftl->zones.open++;
}

static void zone_remove_from_open_zones(struct aftl *ftl, u32 zone)
{
	u32 *opened = ftl->zones.opened;
	u32 i = 0;

	while (opened[i] != zone)
		i++;
	opened[i] = opened[--ftl->zones.open];
}

static void add_zone_to_state_counts(struct aftl *ftl, const struct aftl_zone *zone)
{
	u32 number = get_zone_number(ftl, zone);

	if (zone_state_is_open(zone->state))
		zone_add_to_open_zones(ftl, number);
	ftl->zones.active += aftl_zone_is_active(zone);
	ftl->zones.online[number % count_die_groups_of_zone(ftl)] -= zone->state ==
								     AFTL_ZONE_OFFLINE;
}

static void zone_change_state(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state)
{
	if (zone_state_is_open(zone->state))
		zone_remove_from_open_zones(ftl, get_zone_number(ftl, zone));
	ftl->zones.active -= aftl_zone_is_active(zone);
	zone->state = (u8)state;
	add_zone_to_state_counts(ftl, zone);
	if (must_host_be_told_zone_state(ftl, zone))
		ftl->ops->zone(ftl->host, get_zone_number(ftl, zone), state);
}

/* Close the next implicitly opened zone, by number, round robin. Return: false if there is none. */
static bool zone_close_implicitly_opened_zone(struct aftl *ftl)
{
	u32 nearest = U32_MAX;
	u32 zone = 0;
	u32 i;

	for (i = 0; i < ftl->zones.open; i++) {
		u32 number = ftl->zones.opened[i];
		u32 distance = number - ftl->zones.turn +
			       (number < ftl->zones.turn ? ftl->geo.zones : 0);

		if (ftl->zones.all[number].state == AFTL_ZONE_IMPLICIT && distance < nearest) {
			nearest = distance;
			zone = number;
		}
	}
	if (nearest == U32_MAX)
		return false;
	ftl->zones.turn = zone + 1 < ftl->geo.zones ? zone + 1 : 0;
	zone_change_state(ftl, &ftl->zones.all[zone], AFTL_ZONE_CLOSED);
	ftl->stats.counters.zone_implicit_closes++;
	return true;
}

static u32 zone_get_max_open_zones(const struct aftl *ftl)
{
	u64 most = ftl->config.max_open_zones;

	return (u32)(most ? most : ftl->config.max_active_zones);
}

/*
 * aftl_zone_open() - open a zone
 * @state: implicitly or explicitly open; an explicitly opened zone is not closed implicitly
 *
 * Return: 0, -EIO, -EOVERFLOW or -EBUSY, see struct aftl_request.
 */
int aftl_zone_open(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state)
{
	if (zone->state == AFTL_ZONE_EXPLICIT || zone->state == state)
		return 0;
	if (zone->state > AFTL_ZONE_CLOSED)
		return -EIO;
	if (!aftl_zone_is_active(zone) && ftl->zones.active >= ftl->config.max_active_zones)
		return -EOVERFLOW;
	if (!zone_state_is_open(zone->state)) {
		if (ftl->zones.open >= zone_get_max_open_zones(ftl) &&
		    !zone_close_implicitly_opened_zone(ftl))
			return -EBUSY;
		ftl->stats.counters.zone_opens++;
	}
	zone_change_state(ftl, zone, state);
	return 0;
}

static struct aftl_block **zone_open_block_ptr(const struct aftl *ftl, u32 lun, u32 slot)
{
	return &ftl->luns[lun].handle_blocks[aftl_count_trans_page_streams(ftl) + slot - 1];
}

/* Open SLC cache block of the zone that owns @slot; NULL without an SLC cache. */
static struct aftl_block **zone_slc_block(const struct aftl *ftl, u32 lun, u32 slot)
{
	struct aftl_block **blocks = ftl->luns[lun].zone_slc_blocks;

	return blocks ? &blocks[aftl_count_trans_page_streams(ftl) + slot - 1] : NULL;
}

static void zone_close_block(struct aftl *ftl, u32 lun, struct aftl_block **open)
{
	if (open && *open)
		aftl_close_unfilled_block(ftl, &ftl->luns[lun], *open);
}

/* Close the open blocks of a zone; those without valid data will be erased. */
static void zone_close_blocks(struct aftl *ftl, const struct aftl_zone *zone)
{
	u32 i;

	for (i = 0; zone->slot && i < ftl->geo.luns; i++) {
		zone_close_block(ftl, i, zone_open_block_ptr(ftl, i, zone->slot));
		zone_close_block(ftl, i, zone_slc_block(ftl, i, zone->slot));
	}
}

/* Free the slot of a zone that is not active and has no writes in flight. */
static void zone_release_write_slot(struct aftl *ftl, struct aftl_zone *zone)
{
	if (!zone->slot || ftl->zones.pending[zone->slot] || !aftl_zone_awaits_no_writes(zone))
		return;
	zone_close_blocks(ftl, zone);
	ftl->zones.owner[zone->slot] = AFTL_NIL;
	zone->slot = 0;
	ftl->retry = true;
}

/*
 * If the zone gets no more writes, release its slot, so that another zone can be opened, and wake
 * the LUNs to program its partly filled pages.
 */
static void zone_release_slot_if_no_more_writes(struct aftl *ftl, struct aftl_zone *zone)
{
	if (!aftl_zone_awaits_no_writes(zone))
		return;
	zone_release_write_slot(ftl, zone);
	aftl_wake_all_luns(ftl);
}

/* Put a zone into a state without further writes: full, read-only or offline. */
void aftl_zone_make_unwritable(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state)
{
	zone_change_state(ftl, zone, state);
	zone_release_slot_if_no_more_writes(ftl, zone);
}

/* Number of the zone whose data are in @block. */
static u32 block_zone_number(const struct aftl *ftl, const struct aftl_block *block)
{
	aftl_ppn_t ppn = aftl_page_ppn(&ftl->media, block, 0);

	return from_lpn(aftl_ppn_lpn(&ftl->media, ppn)) / ftl->geo.zone_units;
}

static bool block_belongs_to_zone(const struct aftl *ftl, const struct aftl_block *block,
				  aftl_lpn_t lpn)
{
	return block_zone_number(ftl, block) == from_lpn(lpn) / ftl->geo.zone_units;
}

/* Reset a zone whose logical pages have been unmapped. */
void aftl_zone_complete_reset_after_unmap(struct aftl *ftl, struct aftl_zone *zone)
{
	aftl_lpn_t first = to_lpn(get_zone_number(ftl, zone) * ftl->geo.zone_units);
	u32 i;

	zone->written = 0;
	zone->top = 0;
	zone_close_blocks(ftl, zone);
	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].fallback &&
		    block_belongs_to_zone(ftl, ftl->luns[i].fallback, first))
			aftl_close_unfilled_block(ftl, &ftl->luns[i], ftl->luns[i].fallback);
	aftl_zone_make_unwritable(ftl, zone, AFTL_ZONE_EMPTY);
}

/*
 * Return true if a write to [@at, @end) lies in the random write area of the zone, which begins at
 * the write pointer, or so little beyond it that a commit of one area makes room.
 */
static bool zone_random_write_fits(const struct aftl *ftl, const struct aftl_zone *zone, u32 at,
				   u64 end)
{
	return at >= zone->written && end <= ftl->geo.zone_capacity &&
	       end <= zone->written + 2ULL * count_lpns_of_random_write_area(ftl);
}

static bool zone_has_room_for_write(const struct aftl *ftl, const struct aftl_zone *zone,
				    const struct aftl_request *request)
{
	u32 at = request->unit % ftl->geo.zone_units;

	if (ftl->config.zrwa)
		return !(request->flags & AFTL_REQUEST_APPEND) &&
		       zone_random_write_fits(ftl, zone, at, at + (u64)request->units);
	if (at != (request->flags & AFTL_REQUEST_APPEND ? 0 : zone->written))
		return false;
	return zone->written + (u64)request->units <= ftl->geo.zone_capacity;
}

/*
 * Write up to @end in the random write area of a zone. If that is beyond the area, the area moves:
 * the write pointer advances by whole granules, as far as needed.
 */
static void zone_write_random_area(struct aftl *ftl, struct aftl_zone *zone, u32 end)
{
	u32 granule = (u32)ftl->config.zrwa_granularity * ftl->program_units;
	u32 area = count_lpns_of_random_write_area(ftl);

	zone->top = max(zone->top, end);
	if (end <= zone->written + area)
		return;
	zone->written = DIV_ROUND_UP(end - area, granule) * granule;
	ftl->stats.counters.zrwa_implicit_commits++;
}

/*
 * Return true if the host may commit the pages below @end of the zone: these are in its random
 * write area, and whole granules or the rest of the zone.
 */
bool aftl_zone_commit_reaches_pages(const struct aftl *ftl, const struct aftl_zone *zone, u32 end)
{
	u32 granule = (u32)ftl->config.zrwa_granularity * ftl->program_units;

	return aftl_zone_is_active(zone) && end > zone->written &&
	       end <= ftl->geo.zone_capacity &&
	       end <= zone->written + count_lpns_of_random_write_area(ftl) &&
	       (end % granule == 0 || end == ftl->geo.zone_capacity);
}

/*
 * Assign a write its place at the write pointer. Return: 0, or the status of the request if it is
 * refused, see struct aftl_request.
 */
int aftl_zone_start_write(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_of_lpn(ftl, to_lpn(request->unit));
	int ret = -EIO;

	if (zone->state < AFTL_ZONE_FULL && zone_has_room_for_write(ftl, zone, request))
		ret = aftl_zone_open(ftl, zone, AFTL_ZONE_IMPLICIT);
	if (ret)
		return ret;
	if (request->flags & AFTL_REQUEST_APPEND) {
		request->unit += zone->written;
		ftl->stats.counters.zone_append_requests++;
	}
	/*
	 * All data of a zone are stored as precise: two classes do not share a flash page, so with
	 * both the zone would have two partly filled programs at a time, even when it is full.
	 */
	request->class = AFTL_PRECISE;
	request->level = 0;
	request->placed = 1;
	if (ftl->config.zrwa)
		zone_write_random_area(ftl, zone,
				       request->unit % ftl->geo.zone_units + request->units);
	else
		zone->written += request->units;
	zone->coming = request->units;
	if (zone->written == ftl->geo.zone_capacity)
		aftl_zone_make_unwritable(ftl, zone, AFTL_ZONE_FULL);
	return 0;
}

static u32 get_zone_write_stream(const struct aftl *ftl, const struct aftl_zone *zone)
{
	return ftl->streams + aftl_count_trans_page_streams(ftl) + zone->slot - 1;
}

static u32 zone_find_free_write_slot(const struct aftl *ftl)
{
	u32 slot;

	for (slot = 1; slot <= ftl->config.max_active_zones; slot++)
		if (ftl->zones.owner[slot] == AFTL_NIL)
			return slot;
	return 0;
}

static bool zone_take_free_write_slot(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->slot)
		return true;
	zone->slot = (u8)zone_find_free_write_slot(ftl);
	if (zone->slot)
		ftl->zones.owner[zone->slot] = get_zone_number(ftl, zone);
	return zone->slot;
}

/*
 * aftl_zone_assign_write_slot() - get a slot for the zone of a write
 *
 * There are as many slots as active zones are allowed. If a zone that is not active any more still
 * has writes in flight, the request and all later ones wait for its slot.
 *
 * Return: true if the zone has a slot.
 */
bool aftl_zone_assign_write_slot(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_of_lpn(ftl, to_lpn(request->unit));

	if (!zone_take_free_write_slot(ftl, zone))
		return false;
	request->stream = (u8)get_zone_write_stream(ftl, zone);
	return true;
}

/* Record that @units more pages of a zone's current write have a LUN, or cannot be written. */
void aftl_zone_count_admitted_lpns(struct aftl *ftl, struct aftl_zone *zone, u32 units)
{
	zone->coming -= units;
	if (units)
		zone_release_slot_if_no_more_writes(ftl, zone);
}

/* Record that a logical page of @stream has left the write buffer. */
void aftl_zone_count_programmed_lpn(struct aftl *ftl, u32 stream)
{
	u32 slot = aftl_zone_slot_of_stream(ftl, stream);

	ftl->zones.pending[slot]--;
	zone_release_write_slot(ftl, &ftl->zones.all[ftl->zones.owner[slot]]);
}

/*
 * aftl_zone_find_stream_of_folded_lpn() - find the stream to which a folded logical page goes
 * @stream: takes the write stream of the zone that contains @lpn
 *
 * Return: false if the zone has no open blocks.
 */
bool aftl_zone_find_stream_of_folded_lpn(const struct aftl *ftl, aftl_lpn_t lpn, u32 *stream)
{
	const struct aftl_zone *zone = aftl_zone_of_lpn(ftl, lpn);

	*stream = get_zone_write_stream(ftl, zone);
	return zone->slot;
}

/* Find the zone that the valid data in @block belong to. */
static struct aftl_zone *zone_of_block(const struct aftl *ftl, const struct aftl_block *block)
{
	u32 slot = from_ppn(aftl_page_ppn(&ftl->media, block, 0));

	while (!aftl_ppn_is_valid(&ftl->media, to_ppn(slot)))
		slot++;
	return aftl_zone_of_lpn(ftl, aftl_ppn_lpn(&ftl->media, to_ppn(slot)));
}

/* Return true if a closed block holds data of a zone and has free pages. */
static bool zone_block_has_room(const struct aftl *ftl, const struct aftl_block *block)
{
	if (block->state != AFTL_BLOCK_CLOSED || !block->valid || block->failing ||
	    aftl_block_has_trans_pages(ftl, block) || block->order != AFTL_ORDER_SEQUENTIAL)
		return false;
	if (block->bits)
		return block->programmed < aftl_slc_pages_per_zone_block(&ftl->geo);
	return !aftl_block_is_full(&ftl->geo, block);
}

/*
 * Use a block of the zone that was closed before it was full as the fallback block, so that the
 * zone takes no more blocks than its capacity needs.
 */
static void zone_reuse_block_as_fallback(struct aftl *ftl, struct aftl_lun *lun,
					 const struct aftl_zone *zone)
{
	struct aftl_block *block = &ftl->media.blocks[lun->index * (size_t)ftl->geo.blocks_per_lun];
	const struct aftl_block *end = block + ftl->geo.blocks_per_lun;

	while (block < end && (block->bits || block == lun->reloc.from ||
			       !zone_block_has_room(ftl, block) ||
			       zone_of_block(ftl, block) != zone))
		block++;
	if (block == end)
		return;
	aftl_victim_list_remove(ftl, lun, block);
	block->state = AFTL_BLOCK_OPEN;
	block->handle = 0;
	lun->fallback = block;
}

/*
 * aftl_zone_prepare_fallback_block() - prepare the fallback block for data of the zone of @lpn
 * @fold: for folded data: use a partly filled block of that zone, if there is one
 *
 * A fallback block with data of another zone is closed.
 */
void aftl_zone_prepare_fallback_block(struct aftl *ftl, struct aftl_lun *lun, aftl_lpn_t lpn,
				      bool fold)
{
	if (lun->fallback && !block_belongs_to_zone(ftl, lun->fallback, lpn))
		aftl_close_unfilled_block(ftl, lun, lun->fallback);
	if (fold && !lun->fallback)
		zone_reuse_block_as_fallback(ftl, lun, aftl_zone_of_lpn(ftl, lpn));
}

/* Number of the group of zones that have blocks in @lun. */
static u32 find_group_of_zones_on_lun(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 place = 0;

	while (aftl_lun_by_allocation_order(&ftl->geo, place) != lun->index)
		place++;
	return place / ftl->geo.zone_luns;
}

static u32 count_live_luns(const struct aftl *ftl)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		count += !aftl_lun_is_dead(&ftl->luns[i]);
	return count;
}

/* Return the last empty zone of @group that has no slot, or AFTL_NIL. */
static u32 find_last_empty_zone(const struct aftl *ftl, u32 group)
{
	u32 groups = count_die_groups_of_zone(ftl);
	u32 left = ftl->geo.zones / groups;

	while (left--) {
		const struct aftl_zone *zone = &ftl->zones.all[left * groups + group];

		if (zone->state == AFTL_ZONE_EMPTY && !zone->slot)
			return left * groups + group;
	}
	return AFTL_NIL;
}

/* Take empty zones of @group offline until @lun has @reserved blocks that no zone needs. */
static void take_zones_offline(struct aftl *ftl, const struct aftl_lun *lun, u32 group,
			       u32 reserved)
{
	const u32 *online = &ftl->zones.online[group];

	if (aftl_lun_is_dead(lun))
		return;
	while (!ftl->read_only &&
	       lun->good_blocks < reserved + *online * ftl->geo.zone_blocks) {
		u32 empty = find_last_empty_zone(ftl, group);

		if (empty != AFTL_NIL) {
			zone_change_state(ftl, &ftl->zones.all[empty], AFTL_ZONE_OFFLINE);
			continue;
		}
		ftl->read_only = true;
		ftl->retry = true;
	}
}

/*
 * Adapt the zones to the capacity of @lun after a block was retired: empty zones go offline. If
 * there are none, the device becomes read-only.
 */
void aftl_zone_block_retired(struct aftl *ftl, struct aftl_lun *lun,
			     struct aftl_block *block __maybe_unused)
{
	take_zones_offline(ftl, lun, find_group_of_zones_on_lun(ftl, lun),
			   aftl_count_blocks_outside_zones(ftl, count_live_luns(ftl)));
}

/* Make zones with data in a dead LUN read-only, and empty ones offline. */
void aftl_zone_handle_dead_lun(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 reserved;
	u32 i;

	if (!ftl->geo.zones)
		return;
	for (i = find_group_of_zones_on_lun(ftl, lun); i < ftl->geo.zones;
	     i += count_die_groups_of_zone(ftl))
		if (ftl->zones.all[i].state < AFTL_ZONE_READ_ONLY)
			aftl_zone_make_unwritable(ftl, &ftl->zones.all[i],
						  ftl->zones.all[i].state == AFTL_ZONE_EMPTY ?
							  AFTL_ZONE_OFFLINE :
							  AFTL_ZONE_READ_ONLY);
	/*
	 * Live LUNs need blocks without zones for the translation pages that a dead LUN had.
	 */
	reserved = aftl_count_blocks_outside_zones(ftl, count_live_luns(ftl));
	for (i = 0; ftl->geo.trans_pages && i < ftl->geo.luns; i++)
		take_zones_offline(ftl, &ftl->luns[aftl_lun_by_allocation_order(&ftl->geo, i)],
				   i / ftl->geo.zone_luns, reserved);
}

enum aftl_zone_state aftl_zone_state(const struct aftl *ftl, u32 zone, u32 *written)
{
	enum aftl_zone_state state = ftl->zones.all[zone].state;

	*written = ftl->zones.all[zone].written;
	return ftl->read_only ? max(state, AFTL_ZONE_READ_ONLY) : state;
}

/* True if the loaded @zone may own slot @slot: it is active, and no other zone owns the slot. */
static bool zone_may_own_write_slot(const struct aftl *ftl, u32 zone, u32 slot)
{
	u8 has;

	if (zone >= ftl->geo.zones || !aftl_zone_is_active(&ftl->zones.all[zone]))
		return false;
	has = ftl->zones.all[zone].slot;
	return ftl->zones.owner[slot] == (has ? zone : AFTL_NIL) && (!has || has == slot);
}

/* Give an open block that was loaded to the zone that owns its slot, or close it. */
static void zone_restore_block_owner(struct aftl *ftl, struct aftl_lun *lun, u32 slot,
				     struct aftl_block *block)
{
	u32 zone;

	if (!block)
		return;
	zone = block_zone_number(ftl, block);
	if (zone_may_own_write_slot(ftl, zone, slot)) {
		ftl->zones.all[zone].slot = (u8)slot;
		ftl->zones.owner[slot] = zone;
	} else {
		aftl_close_unfilled_block(ftl, lun, block);
	}
}

/*
 * Count the loaded zones, and find the owners of slots. Return: false if more zones are open or
 * active than allowed.
 */
bool aftl_zone_finish_load(struct aftl *ftl)
{
	u32 i;
	u32 j;

	for (i = 0; i < ftl->geo.zones; i++)
		add_zone_to_state_counts(ftl, &ftl->zones.all[i]);
	for (i = 0; ftl->geo.zones && i < ftl->geo.luns; i++)
		for (j = 1; j <= ftl->config.max_active_zones; j++) {
			struct aftl_block **slc = zone_slc_block(ftl, i, j);

			zone_restore_block_owner(ftl, &ftl->luns[i], j,
						 *zone_open_block_ptr(ftl, i, j));
			zone_restore_block_owner(ftl, &ftl->luns[i], j, slc ? *slc : NULL);
		}
	return ftl->zones.active <= ftl->config.max_active_zones &&
	       ftl->zones.open <= zone_get_max_open_zones(ftl);
}

/*
 * aftl_zone_rebuild_state() - set the state of a zone after a crash
 * @written: logical pages without a gap from the start of the zone
 * @noted: last state that the host was told
 */
void aftl_zone_rebuild_state(struct aftl *ftl, u32 zone, u32 written, enum aftl_zone_state noted)
{
	if (noted < AFTL_ZONE_FULL && written)
		noted = written == ftl->geo.zone_capacity ? AFTL_ZONE_FULL : AFTL_ZONE_CLOSED;
	ftl->zones.all[zone].written = written;
	ftl->zones.all[zone].state = (u8)noted;
	add_zone_to_state_counts(ftl, &ftl->zones.all[zone]);
}

static u32 count_active_zones_with_min_lpns_written(struct aftl *ftl, u32 least)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++)
		count += aftl_zone_is_active(&ftl->zones.all[i]) &&
			 ftl->zones.all[i].written >= least;
	ftl->work += i;
	return count;
}

static void finish_excess_zones_with_min_lpns_written(struct aftl *ftl, u32 least)
{
	u32 i;

	for (i = 0; ftl->zones.active > ftl->config.max_active_zones && i < ftl->geo.zones; i++) {
		struct aftl_zone *zone = &ftl->zones.all[i];

		if (!aftl_zone_is_active(zone) || zone->written < least)
			continue;
		zone->state = AFTL_ZONE_FULL;
		ftl->zones.active--;
	}
}

/*
 * If more zones are active than allowed, finish the fullest ones: they had been full before the
 * crash, and their last data were lost.
 */
void aftl_zone_finish_excess_zones(struct aftl *ftl)
{
	u32 least = 0;
	u32 bit;

	if (ftl->zones.active <= ftl->config.max_active_zones)
		return;
	for (bit = BIT(31); bit; bit >>= 1)
		if (count_active_zones_with_min_lpns_written(ftl, least | bit) +
			    ftl->config.max_active_zones >=
		    ftl->zones.active)
			least |= bit;
	finish_excess_zones_with_min_lpns_written(ftl, least + 1);
	finish_excess_zones_with_min_lpns_written(ftl, least);
}

/* Reserve the slot of the zone of @lpn, which recovery puts into the write buffer. */
void aftl_zone_reserve_write_slot(struct aftl *ftl, aftl_lpn_t lpn)
{
	zone_take_free_write_slot(ftl, aftl_zone_of_lpn(ftl, lpn));
}

static void zone_reopen_block(struct aftl *ftl, struct aftl_block *block)
{
	struct aftl_zone *zone = zone_of_block(ftl, block);
	u32 lun = aftl_block_lun(ftl, block)->index;
	struct aftl_block **placed;

	if (!zone->slot && !(aftl_zone_is_active(zone) && zone_take_free_write_slot(ftl, zone)))
		return;
	placed = block->bits ? zone_slc_block(ftl, lun, zone->slot) :
			       zone_open_block_ptr(ftl, lun, zone->slot);
	if (*placed)
		return;
	if (block->listed)
		aftl_victim_list_remove(ftl, &ftl->luns[lun], block);
	block->state = AFTL_BLOCK_OPEN;
	block->handle = (u8)(aftl_count_trans_page_streams(ftl) + zone->slot);
	*placed = block;
}

/* After a crash, continue zones in the blocks they were written to. */
void aftl_zone_reopen_blocks(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i++) {
		struct aftl_block *block = &ftl->media.blocks[i];

		if (zone_block_has_room(ftl, block))
			zone_reopen_block(ftl, block);
	}
}
