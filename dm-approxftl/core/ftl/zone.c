// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zones: ranges of units that are written one after the other and reset as a whole. A zone is
 * striped over its LUNs by address and has blocks of its own in each; while it is active, or
 * something of it is under way, it has a slot, which is the stream of its writes and, as of a
 * placement handle, an open block in each LUN.
 */
#include "core/ftl/device.h"

/* Partial pages of zones wait until they are full: for each place there must be room. */
static u64 zone_min_buffer(const struct aftl *ftl)
{
	return (ftl->config.max_active_zones * ftl->geo.zone_luns + 1) * ftl->program_units *
	       ftl->geo.unit_bytes;
}

static int zone_check_capacity(const struct aftl *ftl, struct aftl_error *error)
{
	u32 each = ftl->geo.zones / (ftl->geo.luns / ftl->geo.zone_luns) * ftl->geo.zone_blocks;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].good_blocks < each + aftl_reserved_blocks(ftl))
			return aftl_fail(error, -EINVAL,
					 "zoned: zones take %u blocks of each LUN and the core %u, but LUN %u has %u; raise op or blocks",
					 each, aftl_reserved_blocks(ftl), i, ftl->luns[i].good_blocks);
	return 0;
}

/*
 * aftl_zone_check() - can this device have the zones that it is to have?
 */
int aftl_zone_check(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_config *config = &ftl->config;

	if (config->max_open_zones > config->max_active_zones)
		return aftl_fail(error, -EINVAL,
				 "max_open_zones: %llu zones cannot be open where %llu may be active",
				 (unsigned long long)config->max_open_zones,
				 (unsigned long long)config->max_active_zones);
	if (config->placement_handles || ftl->slc_max_blocks || config->passes > 1 || config->fill)
		return aftl_fail(error, -EINVAL,
				 "zoned: zones do not go together with placement_handles, slc_static, slc_dynamic, passes or fill");
	if (!config->buffer_safe || config->buffer < zone_min_buffer(ftl))
		return aftl_fail(error, -EINVAL,
				 "zoned: pages that a zone has not filled yet wait in the buffer, where a power cut must not reach them; set buffer_safe on and buffer to at least %llu bytes",
				 (unsigned long long)zone_min_buffer(ftl));
	if (ftl->handles > AFTL_STREAMS - ftl->streams)
		return aftl_fail(error, -EINVAL,
				 "max_active_zones: policy %s leaves room for %u zones, not for %u",
				 ftl->type->name, AFTL_STREAMS - ftl->streams, ftl->handles);
	return zone_check_capacity(ftl, error);
}

/*
 * aftl_zone_alloc() - memory for the zones
 */
bool aftl_zone_alloc(struct aftl *ftl)
{
	u32 i;

	if (!ftl->geo.zones)
		return true;
	for (i = 0; i < ARRAY_SIZE(ftl->zones.owner); i++)
		ftl->zones.owner[i] = AFTL_NIL;
	ftl->zones.all = aftl_memory_alloc(ftl, ftl->geo.zones, sizeof(*ftl->zones.all));
	return ftl->zones.all;
}

static u32 zone_number(const struct aftl *ftl, const struct aftl_zone *zone)
{
	return (u32)(zone - ftl->zones.all);
}

static u32 zone_groups(const struct aftl *ftl)
{
	return ftl->geo.luns / ftl->geo.zone_luns;
}

/* LUN that is @turn in the order of a zone. Each of a group begins with another one. */
static struct aftl_lun *zone_lun_at(struct aftl *ftl, u32 zone, u32 turn)
{
	u32 groups = zone_groups(ftl);
	u32 place = zone % groups * ftl->geo.zone_luns +
		    (zone / groups + turn) % ftl->geo.zone_luns;

	return &ftl->luns[aftl_allocation_order_lun(&ftl->geo, place)];
}

/*
 * aftl_zone_write_lun() - the LUN that @lpn is written to
 *
 * Return: NULL if it is dead.
 */
struct aftl_lun *aftl_zone_write_lun(struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 at = from_lpn(lpn) % ftl->geo.zone_units;
	struct aftl_lun *lun = zone_lun_at(ftl, from_lpn(lpn) / ftl->geo.zone_units,
				      at / ftl->program_units);

	return aftl_lun_dead(lun) ? NULL : lun;
}

/* States */

static bool zone_state_is_open(enum aftl_zone_state state)
{
	return state == AFTL_ZONE_IMPLICIT || state == AFTL_ZONE_EXPLICIT;
}

/* That it is full by what was written its units tell. */
static bool zone_state_needs_notify(const struct aftl *ftl, const struct aftl_zone *zone)
{
	if (!ftl->ops->zone || (zone->state == AFTL_ZONE_FULL &&
				zone->written == ftl->geo.zone_capacity))
		return false;
	return zone->state == AFTL_ZONE_EMPTY || zone->state >= AFTL_ZONE_FULL;
}

static void zone_set_state(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state)
{
	ftl->zones.open -= zone_state_is_open(zone->state);
	ftl->zones.active -= aftl_zone_active(zone);
	zone->state = (u8)state;
	ftl->zones.open += zone_state_is_open(zone->state);
	ftl->zones.active += aftl_zone_active(zone);
	if (zone_state_needs_notify(ftl, zone))
		ftl->ops->zone(ftl->host, zone_number(ftl, zone), state);
}

/* One that nobody has opened, the next in turn. */
static bool zone_close_implicit(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++) {
		struct aftl_zone *zone = &ftl->zones.all[ftl->zones.turn];

		ftl->zones.turn = ftl->zones.turn + 1 < ftl->geo.zones ? ftl->zones.turn + 1 : 0;
		if (zone->state != AFTL_ZONE_IMPLICIT)
			continue;
		zone_set_state(ftl, zone, AFTL_ZONE_CLOSED);
		ftl->stats.counters.zone_implicit_closes++;
		return true;
	}
	return false;
}

static u32 zone_max_open(const struct aftl *ftl)
{
	u64 most = ftl->config.max_open_zones;

	return (u32)(most ? most : ftl->config.max_active_zones);
}

/*
 * aftl_zone_activate() - open a zone that is empty, closed or open
 * @state: implicitly or explicitly; who has opened it explicitly closes it
 *
 * Return: 0, -EIO, -EOVERFLOW or -EBUSY, see struct aftl_request.
 */
int aftl_zone_activate(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state)
{
	if (zone->state == AFTL_ZONE_EXPLICIT || zone->state == state)
		return 0;
	if (zone->state > AFTL_ZONE_CLOSED)
		return -EIO;
	if (!aftl_zone_active(zone) && ftl->zones.active >= ftl->config.max_active_zones)
		return -EOVERFLOW;
	if (!zone_state_is_open(zone->state)) {
		if (ftl->zones.open >= zone_max_open(ftl) && !zone_close_implicit(ftl))
			return -EBUSY;
		ftl->stats.counters.zone_opens++;
	}
	zone_set_state(ftl, zone, state);
	return 0;
}

/* Slots */

static struct aftl_block **zone_open_block(const struct aftl *ftl, u32 lun, u32 slot)
{
	return &ftl->luns[lun].handle_blocks[slot - 1];
}

/* Its open blocks are closed: what has no data is erased. */
static void zone_close_blocks(struct aftl *ftl, const struct aftl_zone *zone)
{
	u32 i;

	for (i = 0; zone->slot && i < ftl->geo.luns; i++) {
		struct aftl_block *block = *zone_open_block(ftl, i, zone->slot);

		if (block)
			aftl_block_close_partial(ftl, &ftl->luns[i], block);
	}
}

/* A slot is free when its zone is over and nothing of it is under way. */
static void zone_release_slot(struct aftl *ftl, struct aftl_zone *zone)
{
	if (!zone->slot || ftl->zones.pending[zone->slot] || !aftl_zone_no_more_writes(zone))
		return;
	zone_close_blocks(ftl, zone);
	ftl->zones.owner[zone->slot] = AFTL_NIL;
	zone->slot = 0;
	ftl->retry = true;
}

/* The rest of a zone goes, or has been dropped: its LUNs look. */
static void zone_try_release(struct aftl *ftl, struct aftl_zone *zone)
{
	if (!aftl_zone_no_more_writes(zone))
		return;
	zone_release_slot(ftl, zone);
	aftl_wake_all(ftl);
}

/*
 * aftl_zone_end_writes() - a zone gets to a state in which nothing is written to it
 */
void aftl_zone_end_writes(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state)
{
	zone_set_state(ftl, zone, state);
	zone_try_release(ftl, zone);
}

/* Number of the zone that a block in use has data of. */
static u32 block_zone_number(const struct aftl *ftl, const struct aftl_block *block)
{
	aftl_ppn_t ppn = aftl_page_ppn(&ftl->media, block, 0);

	return from_lpn(aftl_ppn_lpn(&ftl->media, ppn)) / ftl->geo.zone_units;
}

static bool block_belongs_to_zone(const struct aftl *ftl, const struct aftl_block *block, aftl_lpn_t lpn)
{
	return block_zone_number(ftl, block) == from_lpn(lpn) / ftl->geo.zone_units;
}

/*
 * aftl_zone_clear() - a zone has been reset: its units are mapped nowhere
 */
void aftl_zone_clear(struct aftl *ftl, struct aftl_zone *zone)
{
	aftl_lpn_t first = to_lpn(zone_number(ftl, zone) * ftl->geo.zone_units);
	u32 i;

	zone->written = 0;
	zone_close_blocks(ftl, zone);
	for (i = 0; i < ftl->geo.luns; i++)
		if (ftl->luns[i].fallback && block_belongs_to_zone(ftl, ftl->luns[i].fallback, first))
			aftl_block_close_partial(ftl, &ftl->luns[i], ftl->luns[i].fallback);
	aftl_zone_end_writes(ftl, zone, AFTL_ZONE_EMPTY);
}

static bool zone_write_fits(const struct aftl *ftl, const struct aftl_zone *zone,
		 const struct aftl_request *request)
{
	u32 at = request->unit % ftl->geo.zone_units;

	if (at != (request->flags & AFTL_REQUEST_APPEND ? 0 : zone->written))
		return false;
	return zone->written + (u64)request->units <= ftl->geo.zone_capacity;
}

/*
 * aftl_zone_start_write() - a write has its turn: it gets its place, which is where its zone is written
 *		       next, or is refused
 *
 * Return: 0 or the status that it ends with, see struct aftl_request.
 */
int aftl_zone_start_write(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_at(ftl, to_lpn(request->unit));
	int ret = -EIO;

	if (zone->state < AFTL_ZONE_FULL && zone_write_fits(ftl, zone, request))
		ret = aftl_zone_activate(ftl, zone, AFTL_ZONE_IMPLICIT);
	if (ret)
		return ret;
	if (request->flags & AFTL_REQUEST_APPEND) {
		request->unit += zone->written;
		ftl->stats.counters.zone_append_requests++;
	}
	/* Of two classes a zone would leave two pages unfilled, and end with both. */
	request->class = AFTL_PRECISE;
	request->level = 0;
	request->placed = 1;
	zone->written += request->units;
	zone->coming = request->units;
	if (zone->written == ftl->geo.zone_capacity)
		aftl_zone_end_writes(ftl, zone, AFTL_ZONE_FULL);
	return 0;
}

static u32 zone_find_free_slot(const struct aftl *ftl)
{
	u32 slot;

	for (slot = 1; slot <= ftl->handles; slot++)
		if (ftl->zones.owner[slot] == AFTL_NIL)
			return slot;
	return 0;
}

static bool zone_take_slot(struct aftl *ftl, struct aftl_zone *zone)
{
	if (zone->slot)
		return true;
	zone->slot = (u8)zone_find_free_slot(ftl);
	if (zone->slot)
		ftl->zones.owner[zone->slot] = zone_number(ftl, zone);
	return zone->slot;
}

/*
 * aftl_zone_assign_slot() - units of @request are about to be bound
 *
 * Not more zones are active than there are slots, but others that are over may still have one:
 * then the request, and all that come after it, wait until they have drained.
 *
 * Return: whether its zone has a slot.
 */
bool aftl_zone_assign_slot(struct aftl *ftl, struct aftl_request *request)
{
	struct aftl_zone *zone = aftl_zone_at(ftl, to_lpn(request->unit));

	if (!zone_take_slot(ftl, zone))
		return false;
	request->stream = (u8)(ftl->streams + zone->slot - 1);
	return true;
}

/*
 * aftl_zone_admitted() - @units of those that were to come have been bound, or have failed
 */
void aftl_zone_admitted(struct aftl *ftl, struct aftl_zone *zone, u32 units)
{
	zone->coming -= units;
	if (units)
		zone_try_release(ftl, zone);
}

/*
 * aftl_zone_unit_done() - a unit leaves the controller
 */
void aftl_zone_unit_done(struct aftl *ftl, u32 stream)
{
	u32 slot = aftl_stream_handle(ftl, stream);

	ftl->zones.pending[slot]--;
	zone_release_slot(ftl, &ftl->zones.all[ftl->zones.owner[slot]]);
}

/*
 * aftl_zone_fallback_block() - something of @lpn's zone is to be moved: its block holds nothing else
 */
void aftl_zone_fallback_block(struct aftl *ftl, struct aftl_lun *lun, aftl_lpn_t lpn)
{
	if (lun->fallback && !block_belongs_to_zone(ftl, lun->fallback, lpn))
		aftl_block_close_partial(ftl, lun, lun->fallback);
}

/* What breaks */

static bool zone_uses_lun(struct aftl *ftl, u32 zone, const struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; i < ftl->geo.zone_luns; i++)
		if (zone_lun_at(ftl, zone, i) == lun)
			return true;
	return false;
}

/* Blocks of @lun that its zones need, and the last of these that is empty, or AFTL_NIL. */
static u32 zone_blocks_needed(struct aftl *ftl, const struct aftl_lun *lun, u32 *empty)
{
	u32 blocks = aftl_reserved_blocks(ftl);
	u32 i;

	*empty = AFTL_NIL;
	for (i = 0; i < ftl->geo.zones; i++) {
		if (ftl->zones.all[i].state == AFTL_ZONE_OFFLINE || !zone_uses_lun(ftl, i, lun))
			continue;
		blocks += ftl->geo.zone_blocks;
		if (ftl->zones.all[i].state == AFTL_ZONE_EMPTY && !ftl->zones.all[i].slot)
			*empty = i;
	}
	return blocks;
}

/*
 * aftl_zone_block_retired() - @lun has a block less: where it lacks one, an empty zone goes offline
 *
 * Where no zone is empty all of them are read-only.
 */
void aftl_zone_block_retired(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 empty;

	if (likely(!ftl->geo.zones) || aftl_lun_dead(lun))
		return;
	while (!ftl->read_only && zone_blocks_needed(ftl, lun, &empty) > lun->good_blocks) {
		if (empty != AFTL_NIL) {
			zone_set_state(ftl, &ftl->zones.all[empty], AFTL_ZONE_OFFLINE);
			continue;
		}
		ftl->read_only = true;
		ftl->retry = true;
	}
}

/*
 * aftl_zone_lun_died() - its zones are read-only, and those without data offline
 */
void aftl_zone_lun_died(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 i;

	for (i = 0; i < ftl->geo.zones; i++)
		if (zone_uses_lun(ftl, i, lun) && ftl->zones.all[i].state < AFTL_ZONE_READ_ONLY)
			aftl_zone_end_writes(ftl, &ftl->zones.all[i],
					ftl->zones.all[i].state == AFTL_ZONE_EMPTY ?
					AFTL_ZONE_OFFLINE : AFTL_ZONE_READ_ONLY);
}

/* Looking, saving, loading */

enum aftl_zone_state aftl_zone_state(const struct aftl *ftl, u32 zone, u32 *written)
{
	enum aftl_zone_state state = ftl->zones.all[zone].state;

	*written = ftl->zones.all[zone].written;
	return ftl->read_only ? max(state, AFTL_ZONE_READ_ONLY) : state;
}

static void zone_count_state(struct aftl *ftl, struct aftl_zone *zone)
{
	ftl->zones.open += zone_state_is_open(zone->state);
	ftl->zones.active += aftl_zone_active(zone);
}

/* May @slot be that of zone number @zone? */
static bool zone_may_own_slot(const struct aftl *ftl, u32 zone, u32 slot)
{
	u8 has;

	if (zone >= ftl->geo.zones || !aftl_zone_active(&ftl->zones.all[zone]))
		return false;
	has = ftl->zones.all[zone].slot;
	return ftl->zones.owner[slot] == (has ? zone : AFTL_NIL) && (!has || has == slot);
}

/* An open block that was put back as its slot's. */
static void zone_restore_owner(struct aftl *ftl, struct aftl_lun *lun, u32 slot)
{
	struct aftl_block *block = lun->handle_blocks[slot - 1];
	u32 zone;

	if (!block)
		return;
	zone = block_zone_number(ftl, block);
	if (zone_may_own_slot(ftl, zone, slot)) {
		ftl->zones.all[zone].slot = (u8)slot;
		ftl->zones.owner[slot] = zone;
	} else {
		aftl_block_close_partial(ftl, lun, block);
	}
}

/*
 * aftl_zone_restored() - zones and blocks have been loaded: who has which open blocks?
 *
 * Return: false if there are more zones open or active than may be.
 */
bool aftl_zone_restored(struct aftl *ftl)
{
	u32 i;
	u32 j;

	for (i = 0; i < ftl->geo.zones; i++)
		zone_count_state(ftl, &ftl->zones.all[i]);
	for (i = 0; ftl->geo.zones && i < ftl->geo.luns; i++)
		for (j = 1; j <= ftl->handles; j++)
			zone_restore_owner(ftl, &ftl->luns[i], j);
	return ftl->zones.active <= ftl->config.max_active_zones &&
	       ftl->zones.open <= zone_max_open(ftl);
}

/* After a crash */

/*
 * aftl_zone_rebuild() - after a crash, what is known of a zone
 * @written: units that follow each other from its first on
 * @noted: what the host was told of it last
 */
void aftl_zone_rebuild(struct aftl *ftl, u32 zone, u32 written, enum aftl_zone_state noted)
{
	if (noted < AFTL_ZONE_FULL && written)
		noted = written == ftl->geo.zone_capacity ? AFTL_ZONE_FULL : AFTL_ZONE_CLOSED;
	ftl->zones.all[zone].written = written;
	ftl->zones.all[zone].state = (u8)noted;
	zone_count_state(ftl, &ftl->zones.all[zone]);
}

/*
 * aftl_zone_finish_excess() - of more active zones than may be the fullest is finished
 *
 * It had been full, and its end is lost. Return: false if there is none.
 */
bool aftl_zone_finish_excess(struct aftl *ftl)
{
	struct aftl_zone *most = NULL;
	u32 i;

	if (ftl->zones.active <= ftl->config.max_active_zones)
		return false;
	for (i = 0; i < ftl->geo.zones; i++) {
		struct aftl_zone *zone = &ftl->zones.all[i];

		if (aftl_zone_active(zone) && (!most || zone->written > most->written))
			most = zone;
	}
	if (!most)
		return false;
	most->state = AFTL_ZONE_FULL;
	ftl->zones.active--;
	return true;
}

/*
 * aftl_zone_reserve_slot() - @lpn will be in the buffer: its zone has a slot before others take them all
 */
void aftl_zone_reserve_slot(struct aftl *ftl, aftl_lpn_t lpn)
{
	zone_take_slot(ftl, aftl_zone_at(ftl, lpn));
}

static struct aftl_zone *block_zone(const struct aftl *ftl, const struct aftl_block *block)
{
	u32 slot = from_ppn(aftl_page_ppn(&ftl->media, block, 0));

	while (!aftl_ppn_valid(&ftl->media, to_ppn(slot)))
		slot++;
	return aftl_zone_at(ftl, aftl_ppn_lpn(&ftl->media, to_ppn(slot)));
}

static void zone_reopen_block(struct aftl *ftl, struct aftl_block *block)
{
	struct aftl_zone *zone = block_zone(ftl, block);
	u32 lun = aftl_block_lun(ftl, block)->index;
	struct aftl_block **placed;

	if (!zone->slot && !(aftl_zone_active(zone) && zone_take_slot(ftl, zone)))
		return;
	placed = zone_open_block(ftl, lun, zone->slot);
	if (*placed)
		return;
	aftl_victim_list_remove(ftl, &ftl->luns[lun], block);
	block->state = AFTL_BLOCK_OPEN;
	block->handle = zone->slot;
	*placed = block;
}

/*
 * aftl_zone_reopen_blocks() - after a crash, zones go on in the blocks that they were written to
 */
void aftl_zone_reopen_blocks(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i++) {
		struct aftl_block *block = &ftl->media.blocks[i];

		if (block->state == AFTL_BLOCK_CLOSED && block->valid && !block->failing &&
		    !block->bits && block->order == AFTL_ORDER_SEQUENTIAL &&
		    !aftl_block_full(&ftl->geo, block))
			zone_reopen_block(ftl, block);
	}
}
