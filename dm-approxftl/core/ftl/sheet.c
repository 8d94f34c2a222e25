// SPDX-License-Identifier: GPL-2.0-only
/*
 * The map on flash. It is cut into sheets, each as large as a mapping unit: the entries of
 * units that follow each other. A sheet has a slot and moves as units do, in blocks of the
 * core's own; where it is, is always in memory. Of the sheets themselves so many are there as
 * the parameter "map_cache" has room for. A read waits for its sheet. A change needs none: it
 * is joined with what is on flash when the sheet is written, which is when it leaves.
 *
 * What is emulated is time, space and wear. The entries are in memory all the same.
 */
#include "core/base/random.h"
#include "core/ftl/device.h"

/* So many may leave before writes of the host wait: a program's worth for each LUN. */
static u32 most_leaving(const struct aftl *ftl)
{
	return ftl->geo.luns * ftl->program_units;
}

static u64 cache_sheets(const struct aftl *ftl)
{
	return div64_u64(ftl->config.map_cache, ftl->geo.unit_bytes);
}

void aftl_sheet_derive(struct aftl *ftl)
{
	if (!ftl->geo.sheets)
		return;
	ftl->sheets.limit = most_leaving(ftl);
	ftl->sheets.kept = (u32)max(cache_sheets(ftl), (u64)ftl->sheets.limit) - ftl->sheets.limit;
}

/*
 * aftl_sheet_check() - can this device have the cached map that it is to have?
 */
int aftl_sheet_check(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_config *config = &ftl->config;
	u64 least = 2ULL * most_leaving(ftl) * ftl->geo.unit_bytes;

	if (!ftl->geo.sheets)
		return 0;
	if (config->zoned || config->placement_handles || config->passes > 1)
		return aftl_fail(error, -EINVAL,
				 "map_cache: a cached map does not go together with zoned, placement_handles or passes; set map_cache 0");
	if (ftl->streams == AFTL_STREAMS)
		return aftl_fail(error, -EINVAL,
				 "map_cache: policy %s leaves no stream for the map; set map_cache 0",
				 ftl->type->name);
	if (config->map_cache < least)
		return aftl_fail(error, -EINVAL,
				 "map_cache: %llu bytes hold too little of the map for what %u dies write at once; set at least %llu, or 0",
				 (unsigned long long)config->map_cache, ftl->geo.luns,
				 (unsigned long long)least);
	return 0;
}

/*
 * aftl_sheet_take() - memory for the sheets, none of which is in memory
 */
bool aftl_sheet_take(struct aftl *ftl)
{
	if (!ftl->geo.sheets)
		return true;
	ftl->sheets.oldest = AFTL_NIL;
	ftl->sheets.youngest = AFTL_NIL;
	ftl->sheets.all = aftl_memory_take(ftl, ftl->geo.sheets, sizeof(*ftl->sheets.all));
	return ftl->sheets.all;
}

/* A sheet and its slot */

static u32 number_of(const struct aftl *ftl, const struct aftl_sheet *sheet)
{
	return (u32)(sheet - ftl->sheets.all);
}

static aftl_unit_t unit_of(const struct aftl *ftl, u32 number)
{
	return to_unit(ftl->geo.units + number);
}

/* NULL: it has not been written yet. */
static struct aftl_lun *lun_of(struct aftl *ftl, const struct aftl_sheet *sheet)
{
	aftl_slot_t slot;

	if (!aftl_map_get(ftl, unit_of(ftl, number_of(ftl, sheet)), &slot))
		return NULL;
	return aftl_block_lun(ftl, aftl_slot_block(&ftl->media, slot));
}

static bool can_be_read(struct aftl *ftl, const struct aftl_sheet *sheet)
{
	const struct aftl_lun *lun = lun_of(ftl, sheet);

	return lun && !aftl_lun_dead(lun);
}

/*
 * Where it is written: always in the same LUN, which they take in turn, until that dies.
 *
 * Return: NULL if none is left.
 */
static struct aftl_lun *home_of(struct aftl *ftl, const struct aftl_sheet *sheet)
{
	u32 turn = number_of(ftl, sheet) % ftl->geo.luns;
	u32 i;

	for (i = 0; i < ftl->geo.luns; i++) {
		u32 place = (turn + i) % ftl->geo.luns;
		struct aftl_lun *lun = &ftl->luns[aftl_stripe_lun(&ftl->geo, place)];

		if (!aftl_lun_dead(lun))
			return lun;
	}
	return NULL;
}

/* What is in memory, in the order of its use */

static void link_youngest(struct aftl *ftl, struct aftl_sheet *sheet)
{
	struct aftl_sheets *sheets = &ftl->sheets;
	u32 number = number_of(ftl, sheet);

	sheet->older = sheets->youngest;
	sheet->younger = AFTL_NIL;
	if (sheets->youngest != AFTL_NIL)
		sheets->all[sheets->youngest].younger = number;
	else
		sheets->oldest = number;
	sheets->youngest = number;
}

static void unlink_sheet(struct aftl *ftl, const struct aftl_sheet *sheet)
{
	struct aftl_sheets *sheets = &ftl->sheets;

	if (sheet->older != AFTL_NIL)
		sheets->all[sheet->older].younger = sheet->younger;
	else
		sheets->oldest = sheet->younger;
	if (sheet->younger != AFTL_NIL)
		sheets->all[sheet->younger].older = sheet->older;
	else
		sheets->youngest = sheet->older;
}

static void use(struct aftl *ftl, struct aftl_sheet *sheet)
{
	if (unlikely(sheet->flags & AFTL_SHEET_LEAVING)) {
		sheet->flags |= AFTL_SHEET_USED;
		return;
	}
	if (number_of(ftl, sheet) == ftl->sheets.youngest)
		return;
	unlink_sheet(ftl, sheet);
	link_youngest(ftl, sheet);
}

static void forget(struct aftl *ftl, struct aftl_sheet *sheet)
{
	sheet->flags &= AFTL_SHEET_LOADING;
	ftl->sheets.cached--;
}

/* It joins those that are to be written. What died with its LUN is known from spare areas. */
static void leave(struct aftl *ftl, struct aftl_sheet *sheet)
{
	struct aftl_lun *lun = home_of(ftl, sheet);
	u32 number = number_of(ftl, sheet);

	if (!lun) {
		forget(ftl, sheet);
		return;
	}
	if (!can_be_read(ftl, sheet))
		sheet->flags &= ~AFTL_SHEET_PARTIAL;
	sheet->flags |= AFTL_SHEET_LEAVING;
	sheet->younger = AFTL_NIL;
	if (lun->leaving.count++)
		ftl->sheets.all[lun->leaving.tail].younger = number;
	else
		lun->leaving.head = number;
	lun->leaving.tail = number;
	ftl->sheets.leaving++;
	if (lun->leaving.count >= ftl->program_units)
		aftl_wake(ftl, lun);
}

/* Those that were not used for the longest go, what has changed by way of the flash. */
static void shrink(struct aftl *ftl)
{
	struct aftl_sheets *sheets = &ftl->sheets;

	while (sheets->cached - sheets->leaving > sheets->kept) {
		struct aftl_sheet *sheet = &sheets->all[sheets->oldest];

		unlink_sheet(ftl, sheet);
		if (sheet->flags & AFTL_SHEET_DIRTY)
			leave(ftl, sheet);
		else
			forget(ftl, sheet);
	}
}

static void add(struct aftl *ftl, struct aftl_sheet *sheet, u8 flags)
{
	sheet->flags |= AFTL_SHEET_CACHED | flags;
	ftl->sheets.cached++;
	link_youngest(ftl, sheet);
	shrink(ftl);
}

/* Reads of the host */

/* What died with its LUN is put together from spare areas, and is to be written again. */
static void recover(struct aftl *ftl, struct aftl_sheet *sheet)
{
	sheet->flags &= ~AFTL_SHEET_PARTIAL;
	if (!(sheet->flags & AFTL_SHEET_CACHED))
		add(ftl, sheet, AFTL_SHEET_DIRTY);
}

/*
 * aftl_sheet_ready() - is the entry of @unit in memory?
 *
 * If its sheet has never been written there is none, and no need to read it.
 */
bool aftl_sheet_ready(struct aftl *ftl, aftl_unit_t unit)
{
	struct aftl_sheet *sheet = aftl_sheet_of(ftl, unit);

	if (likely((sheet->flags & (AFTL_SHEET_CACHED | AFTL_SHEET_PARTIAL)) ==
		   AFTL_SHEET_CACHED)) {
		use(ftl, sheet);
		return true;
	}
	if (can_be_read(ftl, sheet))
		return false;
	if (lun_of(ftl, sheet))
		recover(ftl, sheet);
	return true;
}

/*
 * aftl_sheet_load() - a read of the sheet of @unit begins
 *
 * Return: the sheet as a unit, which has a slot.
 */
aftl_unit_t aftl_sheet_load(struct aftl *ftl, aftl_unit_t unit)
{
	struct aftl_sheet *sheet = aftl_sheet_of(ftl, unit);

	sheet->flags |= AFTL_SHEET_LOADING;
	ftl->stats.counters.map_loads++;
	return unit_of(ftl, number_of(ftl, sheet));
}

/*
 * aftl_sheet_loaded() - it is over
 * @unit: as aftl_sheet_load() said
 */
struct aftl_sheet *aftl_sheet_loaded(struct aftl *ftl, aftl_unit_t unit)
{
	struct aftl_sheet *sheet = &ftl->sheets.all[from_unit(unit) - ftl->geo.units];

	sheet->flags &= ~(AFTL_SHEET_LOADING | AFTL_SHEET_PARTIAL);
	if (sheet->flags & AFTL_SHEET_CACHED)
		use(ftl, sheet);
	else
		add(ftl, sheet, 0);
	return sheet;
}

/* Changes */

/*
 * aftl_sheet_change() - the map has another entry for @unit, or none any more
 */
void aftl_sheet_change(struct aftl *ftl, aftl_unit_t unit)
{
	struct aftl_sheet *sheet;

	if (from_unit(unit) >= ftl->geo.units)
		return;
	sheet = aftl_sheet_of(ftl, unit);
	ftl->stats.counters.map_changes++;
	if (likely(sheet->flags & AFTL_SHEET_CACHED)) {
		sheet->flags |= AFTL_SHEET_DIRTY;
		use(ftl, sheet);
		return;
	}
	ftl->stats.counters.map_change_misses++;
	add(ftl, sheet, AFTL_SHEET_DIRTY | (can_be_read(ftl, sheet) ? AFTL_SHEET_PARTIAL : 0));
}

/*
 * aftl_sheet_next() - what the array of @lun should do for sheets that leave
 * @slot: takes the place of one that has to be read before it can be written
 *
 * One program is filled with them. Who waits for a read of one of them has its turn before.
 */
enum aftl_step aftl_sheet_next(struct aftl *ftl, struct aftl_lun *lun, aftl_slot_t *slot)
{
	u32 number = lun->leaving.head;
	u32 i;

	if (lun->leaving.count < ftl->program_units)
		return AFTL_STEP_NONE;
	for (i = 0; i < ftl->program_units; i++, number = ftl->sheets.all[number].younger) {
		if (ftl->sheets.all[number].flags & AFTL_SHEET_LOADING)
			return AFTL_STEP_NONE;
		if (!(ftl->sheets.all[number].flags & AFTL_SHEET_PARTIAL))
			continue;
		lun->leaving.merging = number;
		return aftl_map_get(ftl, unit_of(ftl, number), slot) ? AFTL_STEP_READ :
								       AFTL_STEP_NONE;
	}
	return AFTL_STEP_PROGRAM;
}

/*
 * aftl_sheet_merged() - what aftl_sheet_next() wanted has been read
 */
void aftl_sheet_merged(struct aftl *ftl, struct aftl_lun *lun)
{
	ftl->sheets.all[lun->leaving.merging].flags &= ~AFTL_SHEET_PARTIAL;
	ftl->stats.counters.map_merges++;
}

/*
 * aftl_sheet_need() - what is to be placed for those that leave @lun
 */
struct aftl_need aftl_sheet_need(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return (struct aftl_need){
		.unit = unit_of(ftl, lun->leaving.head),
		.units = min(lun->leaving.count, ftl->program_units),
		.class = AFTL_PRECISE,
		.stream = ftl->streams,
		.cause = AFTL_CAUSE_MAP,
		.buffer_use = aftl_buffer_use(ftl),
	};
}

/* The oldest of those that leave is being written: it goes, or stays if it was used. */
static aftl_unit_t pop(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 number = lun->leaving.head;
	struct aftl_sheet *sheet = &ftl->sheets.all[number];
	bool stays = sheet->flags & AFTL_SHEET_USED;

	lun->leaving.head = sheet->younger;
	lun->leaving.count--;
	ftl->sheets.leaving--;
	if (stays) {
		sheet->flags = AFTL_SHEET_CACHED;
		link_youngest(ftl, sheet);
	} else {
		forget(ftl, sheet);
	}
	return unit_of(ftl, number);
}

/*
 * aftl_sheet_payload() - sheets that leave @lun, as many as there is room for, are programmed
 */
void aftl_sheet_payload(struct aftl *ftl, struct aftl_lun *lun,
			const struct aftl_placement *placement, struct aftl_payload *payload)
{
	u32 units = min(lun->leaving.count, aftl_placement_units(ftl, placement));
	bool full = aftl_sheets_full(ftl);
	u32 i;

	payload->count = units;
	payload->promoted = 0;
	payload->carried = 0;
	payload->dropped = 0;
	for (i = 0; i < units; i++) {
		payload->unit[i] = pop(ftl, lun);
		payload->from[i] = AFTL_NO_SLOT;
		payload->origin[i] = (struct aftl_origin){ .lineage = (u16)aftl_mix(ftl->seq++) };
		payload->tag[i] = AFTL_NIL;
		payload->stale[i] = false;
	}
	shrink(ftl);
	if (full && !aftl_sheets_full(ftl))
		aftl_wake_all(ftl);
}

/*
 * aftl_sheet_write_all() - all that have changed are to be written, and stay
 */
void aftl_sheet_write_all(struct aftl *ftl)
{
	u32 number = ftl->sheets.oldest;

	while (number != AFTL_NIL) {
		struct aftl_sheet *sheet = &ftl->sheets.all[number];

		number = sheet->younger;
		if (!(sheet->flags & AFTL_SHEET_DIRTY))
			continue;
		unlink_sheet(ftl, sheet);
		leave(ftl, sheet);
		sheet->flags |= AFTL_SHEET_USED;
	}
}

/*
 * aftl_sheet_lun_died() - what was to be written there goes elsewhere
 */
void aftl_sheet_lun_died(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 number = lun->leaving.head;
	u32 count = lun->leaving.count;

	lun->leaving = (struct aftl_leaving){ .head = AFTL_NIL };
	ftl->sheets.leaving -= count;
	while (count--) {
		struct aftl_sheet *sheet = &ftl->sheets.all[number];

		number = sheet->younger;
		leave(ftl, sheet);
	}
}

/* Loading, looking */

/* Flags that a sheet at rest can have. */
static bool possible(struct aftl *ftl, const struct aftl_sheet *sheet, u8 flags)
{
	if (!(flags & AFTL_SHEET_CACHED) || flags & AFTL_SHEET_LOADING)
		return false;
	if (flags & (AFTL_SHEET_PARTIAL | AFTL_SHEET_LEAVING) && !(flags & AFTL_SHEET_DIRTY))
		return false;
	if (flags & AFTL_SHEET_USED && !(flags & AFTL_SHEET_LEAVING))
		return false;
	return !(flags & AFTL_SHEET_PARTIAL) || lun_of(ftl, sheet);
}

/*
 * aftl_sheet_restore() - a sheet that was in memory when the device was saved
 *
 * The oldest comes first, and those that leave at last.
 *
 * Return: false if that cannot be.
 */
bool aftl_sheet_restore(struct aftl *ftl, u32 number, u8 flags)
{
	struct aftl_sheet *sheet;

	if (number >= ftl->geo.sheets)
		return false;
	sheet = &ftl->sheets.all[number];
	if (sheet->flags || !possible(ftl, sheet, flags))
		return false;
	sheet->flags = flags;
	ftl->sheets.cached++;
	if (flags & AFTL_SHEET_LEAVING)
		leave(ftl, sheet);
	else
		link_youngest(ftl, sheet);
	return true;
}

static bool has_entries(const struct aftl *ftl, u32 number)
{
	u32 unit = number << ftl->geo.sheet_shift;
	u32 end = min(unit + (u32)BIT(ftl->geo.sheet_shift), ftl->geo.units);
	aftl_slot_t slot;

	for (; unit < end; unit++)
		if (aftl_map_get(ftl, to_unit(unit), &slot))
			return true;
	return false;
}

/*
 * aftl_sheet_found() - the map was put together from spare areas, for what is on flash is older
 *
 * All of it is in memory, and is to be written.
 */
void aftl_sheet_found(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.sheets; i++)
		if (has_entries(ftl, i))
			add(ftl, &ftl->sheets.all[i], AFTL_SHEET_DIRTY);
}

/* What is not in memory, or not all of it, is on flash. */
static int audit_sheet(const struct aftl *ftl, u32 number, struct aftl_error *error)
{
	u8 flags = ftl->sheets.all[number].flags;
	aftl_slot_t slot;

	if (aftl_map_get(ftl, unit_of(ftl, number), &slot))
		return 0;
	if (flags & AFTL_SHEET_PARTIAL ||
	    (!(flags & AFTL_SHEET_CACHED) && has_entries(ftl, number)))
		return aftl_fail(error, -EUCLEAN, "sheet %u of the map is nowhere", number);
	return 0;
}

static u32 count_flag(const struct aftl *ftl, u8 flag)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < ftl->geo.sheets; i++)
		count += (ftl->sheets.all[i].flags & flag) != 0;
	return count;
}

/* A list that leads to @count sheets which leave, or which stay; U32_MAX if it is damaged. */
static u32 count_list(const struct aftl *ftl, u32 number, u8 leaving, u32 count)
{
	const u8 flags = AFTL_SHEET_CACHED | AFTL_SHEET_LEAVING;
	u32 found = 0;

	for (; number != AFTL_NIL; number = ftl->sheets.all[number].younger, found++)
		if (found == count ||
		    (ftl->sheets.all[number].flags & flags) != (AFTL_SHEET_CACHED | leaving))
			return U32_MAX;
	return found;
}

/*
 * aftl_sheet_audit() - is each sheet somewhere, and in the lists that it says?
 */
int aftl_sheet_audit(const struct aftl *ftl, struct aftl_error *error)
{
	const struct aftl_sheets *sheets = &ftl->sheets;
	u32 leaving = 0;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < ftl->geo.sheets; i++)
		ret = audit_sheet(ftl, i, error);
	for (i = 0; ftl->geo.sheets && i < ftl->geo.luns; i++)
		leaving += count_list(ftl, ftl->luns[i].leaving.count ?
				      ftl->luns[i].leaving.head : AFTL_NIL, AFTL_SHEET_LEAVING,
				      ftl->luns[i].leaving.count);
	if (ret || !ftl->geo.sheets)
		return ret;
	if (leaving != sheets->leaving || leaving != count_flag(ftl, AFTL_SHEET_LEAVING) ||
	    count_flag(ftl, AFTL_SHEET_CACHED) != sheets->cached ||
	    count_list(ftl, sheets->oldest, 0, sheets->cached - leaving) !=
		    sheets->cached - leaving)
		return aftl_fail(error, -EUCLEAN,
				 "the lists of sheets in memory do not have the %u that there are",
				 sheets->cached);
	return 0;
}
