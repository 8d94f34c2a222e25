// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host reads: from the buffer, from what was read before, from nowhere, or from a page.
 */
#include "core/front/front.h"

static void deliver(struct aftl *ftl, struct aftl_request *request,
		    const struct aftl_read *read)
{
	if (ftl->ops->read)
		ftl->ops->read(ftl->host, request, read);
}

static void deliver_zero(struct aftl *ftl, struct aftl_request *request, aftl_unit_t unit)
{
	struct aftl_read read = { .unit = unit, .source = AFTL_SOURCE_ZERO };

	ftl->stats.counters.unmapped_read_units++;
	deliver(ftl, request, &read);
}

static void deliver_lost(struct aftl *ftl, struct aftl_request *request, aftl_unit_t unit)
{
	struct aftl_read read = {
		.unit = unit,
		.source = AFTL_SOURCE_FLASH,
		.slot = AFTL_NO_SLOT,
		.lost = true,
	};

	ftl->stats.counters.read_lost_units++;
	request->status = -EIO;
	deliver(ftl, request, &read);
}

/* The rest of its stripe does not tell either. */
static noinline bool dies_with_lun(const struct aftl *ftl, aftl_slot_t slot)
{
	return !(ftl->config.rain && aftl_stripe_has(ftl, slot));
}

static inline bool is_gone(struct aftl *ftl, aftl_slot_t slot)
{
	return unlikely(aftl_slot_gone(ftl, slot)) && dies_with_lun(ftl, slot);
}

static u32 unit_page(const struct aftl *ftl, aftl_slot_t slot)
{
	return aftl_slot_device_page(&ftl->media, slot);
}

static bool is_live(const struct aftl *ftl, u32 tag)
{
	return tag != AFTL_NIL && !(ftl->commands[tag].flags &
				    (AFTL_COMMAND_DROPPED | AFTL_COMMAND_SUPERSEDED));
}

/* The newest write of @unit that has not been forgotten, if it is still here. */
static bool deliver_pending(struct aftl *ftl, struct aftl_request *request, aftl_unit_t unit)
{
	struct aftl_read read = { .unit = unit, .source = AFTL_SOURCE_BUFFER };

	read.tag = aftl_pending_find(ftl, unit);
	if (!is_live(ftl, read.tag))
		return false;
	ftl->stats.counters.buffer_read_units++;
	if (ftl->type->host_read)
		ftl->type->host_read(ftl->policy, unit, AFTL_MODES);
	deliver(ftl, request, &read);
	return true;
}

/* Is the current version of @unit in @page, and not on its way to flash? */
static bool is_in_page(const struct aftl *ftl, aftl_unit_t unit, u32 page)
{
	aftl_slot_t slot;

	return aftl_map_get(ftl, unit, &slot) && unit_page(ftl, slot) == page &&
	       !is_live(ftl, aftl_pending_find(ftl, unit));
}

/* How many units from @unit on, at most @limit, are in the page of @slot. */
static inline u32 run_length(const struct aftl *ftl, aftl_unit_t unit, aftl_slot_t slot, u32 limit)
{
	u32 page = unit_page(ftl, slot);
	u32 run = 1;

	while (run < limit && run < ftl->geo.page_units &&
	       is_in_page(ftl, to_unit(from_unit(unit) + run), page))
		run++;
	return run;
}

/*
 * aftl_read_run() - units from @unit on, at most @limit, that one read of the array brings
 *
 * Return: 0 if @unit is not there.
 */
u32 aftl_read_run(struct aftl *ftl, aftl_unit_t unit, u32 limit)
{
	aftl_slot_t slot;

	if (is_live(ftl, aftl_pending_find(ftl, unit)) || !aftl_map_get(ftl, unit, &slot) ||
	    is_gone(ftl, slot))
		return 0;
	return run_length(ftl, unit, slot, limit);
}

static void note_read(struct aftl *ftl, struct aftl_request *request, aftl_unit_t unit,
		      aftl_slot_t slot, u32 units)
{
	u16 attr = aftl_slot_attr(&ftl->media, slot);
	u32 i;

	request->met |= aftl_page_class(attr) == AFTL_PRECISE ? AFTL_MET_ECC : AFTL_MET_ARRAY;
	if (!ftl->type->host_read)
		return;
	for (i = 0; i < units; i++)
		ftl->type->host_read(ftl->policy, to_unit(from_unit(unit) + i),
				     aftl_page_mode(attr));
}

static_assert(AFTL_COUNTERS_APART(read_precise_flipped_bits, read_level_3_flipped_bits,
				  AFTL_LEVELS - 1), "flipped bits are counted by level");

static inline void count_flips(struct aftl *ftl, const struct aftl_read *read)
{
	struct aftl_counters *counters = &ftl->stats.counters;

	counters->read_flipped_bits += read->flips;
	(&counters->read_precise_flipped_bits)[aftl_map_level(ftl, read->unit)] += read->flips;
}

/* It is as it came out of the array, and has been through ECC. */
static void deliver_recent(struct aftl *ftl, struct aftl_request *request,
			   struct aftl_recent_unit *recent)
{
	struct aftl_read read = {
		.unit = recent->unit,
		.source = AFTL_SOURCE_FLASH,
		.slot = recent->slot,
		.flips = recent->flips,
		.lineage = recent->lineage,
	};

	ftl->stats.counters.read_cache_units++;
	ftl->stats.counters.read_approx_units += aftl_map_level(ftl, read.unit) != AFTL_PRECISE;
	count_flips(ftl, &read);
	recent->flags &= ~AFTL_RECENT_AHEAD;
	aftl_recent_use(ftl, recent);
	deliver(ftl, request, &read);
}

static struct aftl_recent_unit *find_recent(const struct aftl *ftl, aftl_unit_t unit)
{
	struct aftl_recent_unit *recent = aftl_recent_find(ftl, unit);

	return recent && recent->flags & AFTL_RECENT_READY ? recent : NULL;
}

static noinline bool try_recent(struct aftl *ftl, struct aftl_request *request, aftl_unit_t unit)
{
	struct aftl_recent_unit *recent = find_recent(ftl, unit);

	if (!recent)
		return false;
	request->met |= AFTL_MET_RECENT;
	if (ftl->type->host_read)
		ftl->type->host_read(ftl->policy, unit,
				     aftl_page_mode(aftl_slot_attr(&ftl->media, recent->slot)));
	deliver_recent(ftl, request, recent);
	return true;
}

static void describe_read(struct aftl *ftl, struct aftl_request *request, u32 index,
			  aftl_unit_t unit, aftl_slot_t slot, u32 units)
{
	struct aftl_command *command = &ftl->commands[index];

	command->seq = ftl->seq++;
	command->queued_ns = ftl->now_ns;
	command->request = request;
	command->unit = unit;
	command->units = units;
	note_read(ftl, request, unit, slot, units);
}

static void queue_read(struct aftl *ftl, struct aftl_request *request, u32 index,
		       aftl_unit_t unit, aftl_slot_t slot, u32 units)
{
	struct aftl_lun *lun = aftl_block_lun(ftl, aftl_slot_block(&ftl->media, slot));

	describe_read(ftl, request, index, unit, slot, units);
	aftl_queue_add(ftl, &lun->reads, index);
	aftl_wake_for_read(ftl, lun);
}

/* Units of a request count as parts; a page read is as many as it returns. */
static void parts_done(struct aftl *ftl, struct aftl_request *request, u32 parts, u64 service_ns)
{
	while (parts--)
		aftl_request_part_done(ftl, request, service_ns);
}

static void queue_load(struct aftl *ftl, u32 index, aftl_unit_t sheet)
{
	struct aftl_command *command = &ftl->commands[index];
	struct aftl_lun *lun;
	aftl_slot_t slot;

	if (!aftl_map_get(ftl, sheet, &slot))
		return;
	lun = aftl_block_lun(ftl, aftl_slot_block(&ftl->media, slot));
	command->seq = ftl->seq++;
	command->queued_ns = ftl->now_ns;
	command->request = NULL;
	command->unit = sheet;
	command->units = 1;
	aftl_queue_add(ftl, &lun->reads, index);
	aftl_wake_for_read(ftl, lun);
}

/*
 * @request goes on when the sheet of @unit is in memory. Others do not wait for it.
 *
 * Return: false if no command is free to read it.
 */
static noinline bool wait_for_sheet(struct aftl *ftl, struct aftl_request *request,
				    aftl_unit_t unit)
{
	struct aftl_sheet *sheet = aftl_sheet_of(ftl, unit);
	u32 index;

	if (!(sheet->flags & AFTL_SHEET_LOADING)) {
		index = aftl_command_get(ftl, false);
		if (index == AFTL_NIL)
			return false;
		queue_load(ftl, index, aftl_sheet_load(ftl, unit));
	}
	ftl->stats.counters.map_misses++;
	aftl_request_append(&sheet->waiting, &sheet->last_waiting, request);
	return true;
}

/* Of @units from @unit on those whose entries have been found at once. */
static u32 looked_up(struct aftl *ftl, aftl_unit_t unit, u32 units)
{
	ftl->stats.counters.map_lookups++;
	return min(units, aftl_sheet_rest(ftl, unit));
}

/*
 * aftl_read_admit() - start or queue the pages of @request as far as commands go
 *
 * Return: whether the whole request is in, or waits for a sheet of the map.
 */
bool aftl_read_admit(struct aftl *ftl, struct aftl_request *request)
{
	while (request->admitted < request->units) {
		aftl_unit_t unit = to_unit(request->unit + request->admitted);
		aftl_slot_t slot;
		u32 units;
		u32 index;

		if (deliver_pending(ftl, request, unit) ||
		    (unlikely(ftl->recent.count) && try_recent(ftl, request, unit))) {
			request->admitted++;
			parts_done(ftl, request, 1, 0);
		} else if (unlikely(ftl->geo.sheets) && !aftl_sheet_ready(ftl, unit)) {
			return wait_for_sheet(ftl, request, unit);
		} else if (!aftl_map_get(ftl, unit, &slot)) {
			request->admitted++;
			deliver_zero(ftl, request, unit);
			parts_done(ftl, request, 1, 0);
		} else if (is_gone(ftl, slot)) {
			request->admitted++;
			deliver_lost(ftl, request, unit);
			parts_done(ftl, request, 1, 0);
		} else {
			index = aftl_command_get(ftl, false);
			if (index == AFTL_NIL)
				return false;
			units = run_length(ftl, unit, slot, request->units - request->admitted);
			if (unlikely(ftl->geo.sheets))
				units = looked_up(ftl, unit, units);
			request->admitted += units;
			queue_read(ftl, request, index, unit, slot, units);
		}
	}
	return true;
}

/* What sensing has shown, whoever wants it. */
static inline void count_errors(struct aftl *ftl, const struct aftl_errors *errors, u32 class)
{
	struct aftl_counters *counters = &ftl->stats.counters;

	counters->read_raw_error_bits += errors->raw;
	counters->read_retry_levels += errors->levels;
	if (class == AFTL_PRECISE && !errors->lost)
		counters->read_corrected_bits += errors->raw;
}

static inline void deliver_flash(struct aftl *ftl, struct aftl_request *request,
				 const struct aftl_read *read, u32 class)
{
	ftl->stats.counters.read_approx_units += class == AFTL_APPROX;
	if (read->lost) {
		ftl->stats.counters.read_lost_units++;
		request->status = -EIO;
	} else {
		count_flips(ftl, read);
	}
	deliver(ftl, request, read);
}

/* What is lost stays where it is. */
static void keep_recent(struct aftl *ftl, const struct aftl_read *read, bool ahead, bool lost)
{
	struct aftl_recent_unit *recent;

	ftl->stats.counters.read_ahead_units += ahead;
	if (lost)
		return;
	recent = aftl_recent_add(ftl, read->unit, read->slot);
	recent->flips = read->flips;
	recent->lineage = read->lineage;
	recent->flags = ahead ? AFTL_RECENT_AHEAD : 0;
}

/* Where ECC or a die fails the rest of the stripe may not; then others have to read it. */
static void mend(struct aftl *ftl, struct aftl_read *read, struct aftl_errors *errors)
{
	if (!aftl_stripe_mends(ftl, read->slot, errors))
		return;
	ftl->stats.counters.read_recovered_units++;
	read->flips = errors->flips;
	aftl_block_lun(ftl, aftl_slot_block(&ftl->media, read->slot))->repair.wanted = true;
}

/* What has been sensed goes into the cache, or is mended; never both. */
static noinline void watch_read(struct aftl *ftl, const struct aftl_request *request,
				struct aftl_read *read, struct aftl_errors *errors)
{
	if (ftl->recent.count)
		keep_recent(ftl, read, !request, errors->lost || aftl_lost_in(ftl, read->slot));
	else
		mend(ftl, read, errors);
}

/*
 * Sense what @slot has of @unit; without a request nobody has asked for it yet.
 *
 * Return: the further sensing levels that it needs.
 */
static u32 sense_unit(struct aftl *ftl, struct aftl_request *request, aftl_unit_t unit,
		      aftl_slot_t slot, u32 class, u64 hour)
{
	struct aftl_read read = { .unit = unit, .source = AFTL_SOURCE_FLASH, .slot = slot };
	struct aftl_errors errors = { 0 };

	if (aftl_has_origins(&ftl->media)) {
		errors = aftl_cell_read(&ftl->cell, slot, hour);
		read.flips = errors.flips;
		read.lineage = *aftl_lineage_at(&ftl->media, slot);
	}
	if (unlikely(ftl->reads_watched))
		watch_read(ftl, request, &read, &errors);
	errors.lost |= aftl_lost_in(ftl, slot);
	read.lost = errors.lost;
	count_errors(ftl, &errors, class);
	if (likely(request))
		deliver_flash(ftl, request, &read, class);
	return min(errors.levels, ftl->cell.levels);
}

/*
 * Deliver the units of @command that are in the page of @slot. The start of the
 * command moves on; what has left the page meanwhile stays for the next sensing.
 */
static u64 sense_page(struct aftl *ftl, struct aftl_command *command, aftl_slot_t slot)
{
	struct aftl_block *block = aftl_slot_block(&ftl->media, slot);
	u32 page = unit_page(ftl, slot);
	u16 attr = *aftl_attr_at(&ftl->media, page);
	u64 hour = aftl_hour(ftl);
	u64 ns = aftl_sense(ftl, block, page % ftl->geo.pages, hour);
	u32 levels = 0;

	do {
		u32 needed = sense_unit(ftl, command->request, command->unit, slot,
					aftl_page_class(attr), hour);

		levels = max(levels, needed);
		command->unit = to_unit(from_unit(command->unit) + 1);
		command->units--;
	} while (command->units && aftl_map_get(ftl, command->unit, &slot) &&
		 unit_page(ftl, slot) == page);
	return ns + levels * ftl->sense.further_ns;
}

static void drop_head(struct aftl *ftl, struct aftl_lun *lun)
{
	aftl_command_put(ftl, aftl_queue_pop(ftl, &lun->reads), false);
}

/*
 * aftl_load_done() - a sheet of the map has arrived in the controller
 *
 * Who has waited for it is admitted again, before all others: these would take the command
 * that is free now, and read sheets for which that one has to go.
 */
void aftl_load_done(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_sheet *sheet = aftl_sheet_loaded(ftl, ftl->commands[lun->reads.head].unit);

	drop_head(ftl, lun);
	sheet->last_waiting->next = ftl->wait_head[0];
	if (!ftl->wait_head[0])
		ftl->wait_tail[0] = sheet->last_waiting;
	ftl->wait_head[0] = sheet->waiting;
	sheet->waiting = NULL;
	ftl->retry = true;
}

/* The first unit of the oldest read is not on flash: it is nowhere, or lost. */
static void finish_unit(struct aftl *ftl, struct aftl_lun *lun, bool lost)
{
	struct aftl_command *command = &ftl->commands[lun->reads.head];
	struct aftl_request *request = command->request;

	if (unlikely(!request)) {
		aftl_load_done(ftl, lun);
		return;
	}
	if (lost)
		deliver_lost(ftl, request, command->unit);
	else
		deliver_zero(ftl, request, command->unit);
	command->unit = to_unit(from_unit(command->unit) + 1);
	if (!--command->units)
		drop_head(ftl, lun);
	aftl_request_part_done(ftl, request, 0);
}

/* The data were discarded or moved to another LUN while the read was queued. */
static bool redirect_head(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_command *command = &ftl->commands[lun->reads.head];
	bool mapped;
	struct aftl_lun *other;
	aftl_slot_t slot;

	mapped = aftl_map_get(ftl, command->unit, &slot);
	if (!mapped || is_gone(ftl, slot)) {
		finish_unit(ftl, lun, mapped);
		return true;
	}
	other = aftl_block_lun(ftl, aftl_slot_block(&ftl->media, slot));
	if (other == lun)
		return false;
	ftl->stats.counters.read_restarts++;
	aftl_queue_add(ftl, &other->reads, aftl_queue_pop(ftl, &lun->reads));
	aftl_wake_for_read(ftl, other);
	return true;
}

/* What the oldest read wants came while it was queued, with another read or ahead of it. */
static bool take_recent(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_command *command = &ftl->commands[lun->reads.head];
	struct aftl_request *request = command->request;
	struct aftl_recent_unit *recent = find_recent(ftl, command->unit);

	if (!recent)
		return false;
	deliver_recent(ftl, request, recent);
	command->unit = to_unit(from_unit(command->unit) + 1);
	if (!--command->units)
		drop_head(ftl, lun);
	aftl_request_part_done(ftl, request, 0);
	return true;
}

/* Of the reads ahead, the one that brings @unit. */
static u32 find_ahead(const struct aftl *ftl, const struct aftl_lun *lun, aftl_unit_t unit)
{
	u32 index = lun->ahead.head;

	while (index != AFTL_NIL &&
	       from_unit(unit) - from_unit(ftl->commands[index].unit) >= ftl->commands[index].units)
		index = ftl->commands[index].next;
	return index;
}

/*
 * The oldest read wants what is going to be read ahead: do that first, for it brings more
 * of the page, which others are about to want. Who has come too early waits no longer.
 */
static noinline void overtake(struct aftl *ftl, struct aftl_lun *lun)
{
	aftl_unit_t unit = ftl->commands[lun->reads.head].unit;
	u32 index = find_ahead(ftl, lun, unit);
	struct aftl_command *command;

	if (index == AFTL_NIL || !ftl->commands[lun->reads.head].request)
		return;
	command = &ftl->commands[index];
	command->units -= from_unit(unit) - from_unit(command->unit);
	command->unit = unit;
	aftl_queue_remove(ftl, &lun->ahead, index);
	aftl_queue_push(ftl, &lun->reads, index);
}

/*
 * Reads whose data are here end before they are sensed.
 *
 * Return: whether one waits for others; those behind it have to, too.
 */
static noinline bool watch_head(struct aftl *ftl, struct aftl_lun *lun)
{
	while (ftl->recent.count && lun->reads.head != AFTL_NIL && take_recent(ftl, lun))
		;
	return lun->repair.kind;
}

/* @units that @index has been given wait for the rest of the stripe of @device_page. */
static noinline void recover(struct aftl *ftl, struct aftl_lun *lun, u32 index, u32 units,
			     u32 device_page, u64 service_ns)
{
	lun->repair.wanted = false;
	lun->repair.commands = index;
	lun->repair.units = units;
	lun->repair.service_ns = service_ns;
	aftl_repair_begin(ftl, lun, AFTL_REPAIR_READ, device_page);
}

/*
 * aftl_read_start() - sense the page that the oldest read wants
 *
 * Return: false if no read needs this array.
 */
bool aftl_read_start(struct aftl *ftl, struct aftl_lun *lun)
{
	struct aftl_command *command;
	aftl_slot_t slot;
	u32 units;
	u64 ns;

	do {
		if (unlikely(ftl->reads_watched) && watch_head(ftl, lun))
			return false;
	} while (lun->reads.head != AFTL_NIL && redirect_head(ftl, lun));
	if (lun->reads.head == AFTL_NIL)
		return false;
	if (unlikely(lun->ahead.head != AFTL_NIL))
		overtake(ftl, lun);
	command = &ftl->commands[lun->reads.head];
	if (!aftl_map_get(ftl, command->unit, &slot))
		return false;
	if (unlikely(!command->request) && from_unit(command->unit) >= ftl->geo.units) {
		aftl_array_sense_sheet(ftl, lun, AFTL_WORK_LOAD, slot);
		return true;
	}
	units = command->units;
	ns = sense_page(ftl, command, slot);
	/* Nothing has been sensed there: its time does not count. */
	if (unlikely(aftl_lun_dead(lun))) {
		recover(ftl, lun, lun->reads.head, units - command->units, unit_page(ftl, slot), 0);
		return true;
	}
	lun->work.commands = lun->reads.head;
	aftl_array_sense(ftl, lun, AFTL_WORK_READ, unit_page(ftl, slot), ns,
			 units - command->units);
	return true;
}

/* Is a read the first that the array of @lun would do? */
static bool is_at_rest(const struct aftl_lun *lun)
{
	return lun->work.phase == AFTL_PHASE_IDLE && lun->parked.kind == AFTL_WORK_NONE &&
	       !lun->write_lanes && !lun->in_row && !lun->asked && !lun->awake;
}

/* Where all of @request is, if that is a page of an array that rests. */
static struct aftl_lun *find_alone(struct aftl *ftl, const struct aftl_request *request,
				   aftl_slot_t *slot)
{
	aftl_unit_t unit = to_unit(request->unit);
	struct aftl_lun *lun;

	if (ftl->free_reads == AFTL_NIL || is_live(ftl, aftl_pending_find(ftl, unit)) ||
	    !aftl_map_get(ftl, unit, slot))
		return NULL;
	lun = aftl_block_lun(ftl, aftl_slot_block(&ftl->media, *slot));
	if (!is_at_rest(lun) || aftl_lun_dead(lun) ||
	    run_length(ftl, unit, *slot, request->units) != request->units)
		return NULL;
	return lun;
}

/*
 * aftl_read_start_alone() - sense what @request wants, and let time pass until it is here
 * @request: a read
 *
 * A command that waits for nothing need not be taken, queued and found again: all else is as it
 * would be at the end of the transfer. If anything happens before that it is queued after all,
 * and its array senses.
 *
 * Return: the LUN, whose array has what is wanted, or senses; NULL: nothing has begun.
 */
struct aftl_lun *aftl_read_start_alone(struct aftl *ftl, struct aftl_request *request)
{
	u32 index = ftl->free_reads;
	u32 units = request->units;
	struct aftl_lun *lun;
	aftl_slot_t slot;
	u64 ns;

	lun = find_alone(ftl, request, &slot);
	if (!lun)
		return NULL;
	aftl_request_arrive(ftl, request);
	request->admitted = units;
	request->parts = units;
	describe_read(ftl, request, index, to_unit(request->unit), slot, units);
	ns = sense_page(ftl, &ftl->commands[index], slot);
	lun->work.commands = index;
	if (!aftl_array_bring(ftl, lun, unit_page(ftl, slot), ns, units))
		aftl_queue_add(ftl, &lun->reads, aftl_command_get(ftl, false));
	return lun;
}

/* Nobody has read it, written it, moved it to another LUN, or discarded it meanwhile. */
static bool is_wanted(struct aftl *ftl, const struct aftl_lun *lun,
		      const struct aftl_command *command)
{
	aftl_slot_t slot;

	return aftl_map_get(ftl, command->unit, &slot) &&
	       aftl_block_lun(ftl, aftl_slot_block(&ftl->media, slot)) == lun &&
	       !is_live(ftl, aftl_pending_find(ftl, command->unit)) &&
	       !aftl_recent_find(ftl, command->unit);
}

/*
 * aftl_read_start_ahead() - sense a page that nobody has asked for yet
 *
 * As long as that takes its command is the first among the reads of the host, of which none
 * waits now.
 *
 * Return: false if there is none.
 */
bool aftl_read_start_ahead(struct aftl *ftl, struct aftl_lun *lun)
{
	while (lun->ahead.head != AFTL_NIL && lun->reads.head == AFTL_NIL) {
		u32 index = aftl_queue_pop(ftl, &lun->ahead);

		if (!ftl->parking && is_wanted(ftl, lun, &ftl->commands[index])) {
			aftl_queue_push(ftl, &lun->reads, index);
			return aftl_read_start(ftl, lun);
		}
		aftl_command_put(ftl, index, false);
	}
	return false;
}

/*
 * Of the units that were read from @lun those that are still wanted are here now.
 *
 * Return: whether nobody had asked for them.
 */
static bool keep_arrived(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_command *command = &ftl->commands[lun->work.commands];
	struct aftl_recent_unit *recent;
	struct aftl_block *block;
	u32 i;

	for (i = 1; i <= lun->work.units; i++) {
		recent = aftl_recent_find(ftl, to_unit(from_unit(command->unit) - i));
		block = recent ? aftl_slot_block(&ftl->media, recent->slot) : NULL;
		if (recent && aftl_block_lun(ftl, block) == lun)
			recent->flags |= AFTL_RECENT_READY;
	}
	if (command->request)
		return false;
	drop_head(ftl, lun);
	return true;
}

/* Does it wait for others, or did nobody ask for it? */
static noinline bool watch_end(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_work *work = &lun->work;

	if (ftl->recent.count)
		return keep_arrived(ftl, lun);
	if (!lun->repair.wanted)
		return false;
	recover(ftl, lun, work->commands, work->units, work->device_page, work->service_ns);
	return true;
}

/* Of @index, the oldest read, @units have an end, though not that of the array. */
static noinline void end_read(struct aftl *ftl, struct aftl_lun *lun, u32 index, u32 units,
			      u64 service_ns)
{
	struct aftl_request *request = ftl->commands[index].request;

	if (!ftl->commands[index].units)
		drop_head(ftl, lun);
	parts_done(ftl, request, units, service_ns);
}

/*
 * aftl_read_done() - the array has done what it could for a read
 *
 * Return: false if nobody has got it: that waits for the rest of its stripe, or was read ahead.
 */
bool aftl_read_done(struct aftl *ftl, struct aftl_lun *lun, u64 service_ns)
{
	const struct aftl_command *command = &ftl->commands[lun->work.commands];
	struct aftl_request *request = command->request;

	if (unlikely(ftl->reads_watched) && watch_end(ftl, lun))
		return false;
	if (!command->units)
		drop_head(ftl, lun);
	parts_done(ftl, request, lun->work.units, service_ns);
	return true;
}

/*
 * aftl_read_recovered() - what a read of the host waited for has come from others
 */
void aftl_read_recovered(struct aftl *ftl, struct aftl_lun *lun, const struct aftl_repair *repair)
{
	end_read(ftl, lun, repair->commands, repair->units, repair->service_ns);
}

/*
 * aftl_read_spoilt() - what @lun waits for, and the host was told it would get, does not come
 */
void aftl_read_spoilt(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_command *command = &ftl->commands[lun->repair.commands];
	u32 i;

	for (i = 1; i <= lun->repair.units; i++)
		deliver_lost(ftl, command->request, to_unit(from_unit(command->unit) - i));
}

/*
 * aftl_read_interrupt() - the read that the array is at will not end
 */
void aftl_read_interrupt(struct aftl *ftl, struct aftl_lun *lun)
{
	const struct aftl_command *command = &ftl->commands[lun->work.commands];
	u32 i;

	/* A load is still in its queue, and fails with it. */
	if (lun->work.kind != AFTL_WORK_READ ||
	    (lun->work.phase != AFTL_PHASE_SENSE && lun->work.phase != AFTL_PHASE_RETURN))
		return;
	if (unlikely(aftl_has_rain(ftl))) {
		recover(ftl, lun, lun->work.commands, lun->work.units, lun->work.device_page, 0);
		return;
	}
	if (!command->request) {
		drop_head(ftl, lun);
		return;
	}
	for (i = 1; i <= lun->work.units; i++)
		deliver_lost(ftl, command->request, to_unit(from_unit(command->unit) - i));
	end_read(ftl, lun, lun->work.commands, lun->work.units, 0);
}

/*
 * aftl_read_fail() - @lun is dead: end what waits for it
 */
void aftl_read_fail(struct aftl *ftl, struct aftl_lun *lun)
{
	if (aftl_has_rain(ftl)) {
		aftl_be_awake(ftl, lun);
		return;
	}
	while (lun->reads.head != AFTL_NIL)
		finish_unit(ftl, lun, true);
	while (lun->ahead.head != AFTL_NIL)
		aftl_command_put(ftl, aftl_queue_pop(ftl, &lun->ahead), false);
}
