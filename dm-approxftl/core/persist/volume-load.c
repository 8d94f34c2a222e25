// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading of a volume. A volume that was closed is loaded from its snapshot. After a crash the
 * FTL's state is recovered from the tables: the spare table says what each page of flash holds, and
 * of all versions of a logical page the one with the largest sequence number counts.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/inspect.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"
#include "core/ftl/oob-extra.h"
#include "core/ftl/pause.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/superblock.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/zone.h"
#include "core/base/encoding.h"
#include "core/persist/plp-buffer.h"
#include "core/persist/remap.h"
#include "core/persist/volume-reader.h"
#include "core/persist/snapshot.h"

/* Distance, in pages, at which recovery prefetches entries of the L2P table. */
#define AHEAD 16

/* Open a reader for the metadata tables of @volume, up to frame @end. */
static int reader_open_tables(struct aftl_volume_reader *reader, const struct aftl_volume *volume,
			      u64 end)
{
	return aftl_volume_reader_open(reader, volume, volume->header.layout.erases, end);
}

static const u8 *read_table_entry(struct aftl_volume_reader *reader, struct aftl_place place,
				  int *ret, struct aftl_error *error)
{
	const u8 *bytes = aftl_volume_reader_get_sector(reader, place.sector, ret, error);

	return bytes ? bytes + place.offset : NULL;
}

/* Loading of the snapshot */

struct snapshot_reader {
	struct aftl_volume_reader reader;
	struct aftl_error error;
	u64 at;
	u64 end;
};

static int read_snapshot_bytes(void *host, void *data, size_t size)
{
	struct snapshot_reader *from = host;
	u64 first = from->reader.volume->header.layout.snapshot;
	u8 *bytes = data;
	int ret;

	if (size > from->end - from->at)
		return -EUCLEAN;
	while (size) {
		u32 offset = from->at % AFTL_FRAME_BYTES;
		size_t part = min(size, (size_t)(AFTL_FRAME_BYTES - offset));
		u64 index = first + from->at / AFTL_FRAME_BYTES;
		const u8 *frame =
			aftl_volume_reader_get_frame(&from->reader, index, &ret, &from->error);

		if (!frame)
			return ret;
		memcpy(bytes, frame + offset, part);
		bytes += part;
		from->at += part;
		size -= part;
	}
	return 0;
}

static int load_volume_snapshot(struct aftl_volume *volume, const struct aftl_policy_type *type,
				const struct aftl_config *config, const struct aftl_host_ops *ops,
				void *host, struct aftl **out, struct aftl_error *error)
{
	struct snapshot_reader from = { .end = volume->state.snapshot_bytes };
	struct aftl_snapshot_source source = { .read = read_snapshot_bytes, .host = &from };
	u64 first = volume->header.layout.snapshot;
	u64 end = first + DIV_ROUND_UP(from.end, AFTL_FRAME_BYTES);
	int ret = aftl_volume_reader_open(&from.reader, volume, first,
					  min(end, volume->header.layout.data));

	if (ret)
		return aftl_fail(error, ret, "not enough memory to read the snapshot");
	ret = aftl_load_with_policy_and_params(out, &source, type, config, ops, host, error);
	aftl_volume_reader_close(&from.reader);
	return ret;
}

/* Recovery from the tables */

/**
 * struct scan_zone - a zone of a device that is recovered
 * @entry: its entry of the zone table
 * @oldest: smallest sequence number of its PLP entries; U64_MAX: there is none
 */
struct scan_zone {
	struct aftl_zone_entry entry;
	u64 oldest;
};

/**
 * struct scan - recovery of a device from the tables of its volume
 * @volume: the volume
 * @ftl: the device that is built
 * @same: the device's policy is the one that used the volume last
 * @spares: reads all tables but the erase table
 * @erases: reads the erase table
 * @zones: zoned device: its zones
 * @seq: by flash page, the sequence number of its program
 * @last_seq: the largest sequence number seen
 * @last_ns: device time of the latest commit or block opening seen
 */
struct scan {
	struct aftl_volume *volume;
	struct aftl *ftl;
	bool same;
	struct aftl_volume_reader spares;
	struct aftl_volume_reader erases;
	struct scan_zone *zones;
	struct aftl_chunks seq;
	u64 last_seq;
	u64 last_ns;
};

static u32 count_pages_to_scan(const struct scan *scan)
{
	return scan->volume->geo.blocks * scan->volume->geo.pages;
}

static u64 *get_scanned_page_seq(const struct scan *scan, u32 page)
{
	return aftl_chunk_entry(&scan->seq, u64, page);
}

static size_t scan_zone_bytes(const struct scan *scan)
{
	return scan->volume->geo.zones * sizeof(*scan->zones);
}

static void close_recovery_scan(struct scan *scan)
{
	const struct aftl_backing *backing = scan->volume->backing;

	aftl_volume_reader_close(&scan->spares);
	aftl_volume_reader_close(&scan->erases);
	if (scan->zones)
		backing->free(backing->host, scan->zones, scan_zone_bytes(scan));
	aftl_chunks_free(&scan->seq, count_pages_to_scan(scan), sizeof(u64), backing->free,
			 backing->host);
}

static int open_recovery_scan(struct scan *scan, struct aftl_volume *volume, struct aftl *ftl,
			      struct aftl_error *error)
{
	const struct aftl_backing *backing = volume->backing;
	int first;
	int second;
	bool took;

	*scan = (struct scan){
		.volume = volume,
		.ftl = ftl,
		.same = !strcmp(ftl->type->name, volume->state.policy),
		.last_seq = volume->state.seq,
		.last_ns = volume->state.now_ns,
	};
	first = reader_open_tables(&scan->spares, volume, volume->header.layout.snapshot);
	second = reader_open_tables(&scan->erases, volume, volume->header.layout.spares);
	took = aftl_chunks_alloc(&scan->seq, count_pages_to_scan(scan), sizeof(u64), backing->alloc,
				 backing->host);
	if (scan_zone_bytes(scan))
		scan->zones = backing->alloc(backing->host, scan_zone_bytes(scan));
	if (!first && !second && took && !scan->zones == !scan_zone_bytes(scan))
		return 0;
	close_recovery_scan(scan);
	return aftl_fail(error, -ENOMEM, "not enough memory to recover the volume");
}

/*
 * During recovery an entry of the L2P table holds the newest version found so far: ppn plus 1, or,
 * for a page in the persisted write buffer, U32_MAX minus its slot; 0: none.
 */
static u32 encode_plp_slot_in_l2p(u32 index)
{
	return U32_MAX - index;
}

/*
 * Return the slot of the persisted write buffer that @found stands for; NULL if the page was found
 * on flash, or was not found.
 */
static struct aftl_plp_slot *decode_plp_slot_in_l2p(const struct scan *scan, u32 found)
{
	return found > scan->volume->geo.ppns ? &scan->volume->plp_slots[U32_MAX - found] : NULL;
}

static u64 get_seq_of_found_lpn_version(const struct scan *scan, u32 found)
{
	const struct aftl_plp_slot *slot = decode_plp_slot_in_l2p(scan, found);

	return slot ? slot->entry.seq :
		      *get_scanned_page_seq(scan, (found - 1) / scan->volume->geo.page_units);
}

/* Forget the version of a logical page found so far: a newer one exists, or it was discarded. */
static void drop_found_lpn_version(struct scan *scan, u32 *found)
{
	struct aftl_plp_slot *slot = decode_plp_slot_in_l2p(scan, *found);

	if (slot)
		slot->state = AFTL_PLP_SLOT_FREE;
	*found = 0;
}

static void apply_discard_to_lpn(struct scan *scan, u32 unit, u64 discard)
{
	u32 *found = aftl_l2p_entry(scan->ftl, unit);

	if (discard && *found && get_seq_of_found_lpn_version(scan, *found) <= discard)
		drop_found_lpn_version(scan, found);
	scan->last_seq = max(scan->last_seq, discard);
}

/*
 * Handle error @ret of reading a table that recovery depends on: it ends the load, unless the
 * sector is damaged and damage is ignored.
 */
static int handle_damaged_table_sector(const struct scan *scan, u64 sector, int ret,
				       struct aftl_error *error)
{
	if (!aftl_is_error_of_damaged_sector(ret) || scan->volume->ignore_damage)
		return aftl_is_error_of_damaged_sector(ret) ? 0 : ret;
	return aftl_fail(error, ret,
			 "the volume is damaged: sector %llu, of a table that only a volume that was closed can do without, %s; see approxftl check --repair",
			 (unsigned long long)sector,
			 ret == -EUCLEAN ? "has a wrong checksum" : "cannot be read");
}

static void apply_discard_sector(struct scan *scan, u32 first, const u8 *bytes)
{
	u32 end = min(first + AFTL_DISCARDS_PER_SECTOR, scan->volume->geo.units);
	u32 unit;

	for (unit = first; unit < end; unit++, bytes += 8)
		apply_discard_to_lpn(scan, unit, aftl_get_le(bytes, 8));
}

static int yield_during_load(const struct aftl *ftl, struct aftl_error *error)
{
	return aftl_call_pause_callback(ftl) ?
		       aftl_fail(error, -EINTR, "interrupted while the volume was read") :
		       0;
}

static int scan_discard_table(struct scan *scan, struct aftl_error *error)
{
	int ret = 0;
	u32 unit;

	for (unit = 0; !ret && unit < scan->volume->geo.units; unit += AFTL_DISCARDS_PER_SECTOR) {
		struct aftl_place at = aftl_discard_place(&scan->volume->header.layout, unit);
		const u8 *bytes =
			aftl_volume_reader_get_sector(&scan->spares, at.sector, &ret, error);

		if (bytes)
			apply_discard_sector(scan, unit, bytes);
		else
			ret = handle_damaged_table_sector(scan, at.sector, ret, error);
		if (!ret && at.sector % AFTL_FRAME_SECTORS == 0)
			ret = yield_during_load(scan->ftl, error);
	}
	return ret;
}

/*
 * Return the spare entry of @page. If it cannot be read, return NULL with the error in @ret; @ret
 * is 0 if damage is ignored.
 */
static const u8 *read_encoded_spare_entry(struct scan *scan, u32 page, int *ret,
					  struct aftl_error *error)
{
	const struct aftl_volume *volume = scan->volume;
	struct aftl_place at = aftl_spare_place(&volume->header.layout, &volume->geo, page);
	const u8 *bytes = read_table_entry(&scan->spares, at, ret, error);

	if (!bytes)
		*ret = handle_damaged_table_sector(scan, at.sector, *ret, error);
	return bytes;
}

static int read_spare_entry(struct scan *scan, u32 page, struct aftl_spare *spare,
			    struct aftl_error *error)
{
	int ret;
	const u8 *bytes = read_encoded_spare_entry(scan, page, &ret, error);

	spare->seq = 0;
	if (!bytes)
		return ret;
	if (aftl_spare_entry_decode(spare, &scan->volume->geo, bytes))
		return aftl_fail(error, -EUCLEAN,
				 "the volume is damaged: page %u has an impossible spare entry",
				 page);
	return 0;
}

static int read_erase_entry(struct scan *scan, u32 block, struct aftl_erase_entry *entry,
			    struct aftl_error *error)
{
	struct aftl_error damage;
	int ret;
	const u8 *bytes = read_table_entry(&scan->erases,
					   aftl_erase_place(&scan->volume->header.layout, block),
					   &ret, &damage);

	if (bytes)
		aftl_erase_entry_decode(entry, bytes);
	else if (!aftl_is_error_of_damaged_sector(ret))
		*error = damage;
	return aftl_is_error_of_damaged_sector(ret) ? 0 : ret;
}

/* Decode the spare fields for recovery's first pass; prefetch L2P entries for its second pass. */
static int read_recovery_fields_of_spare_entry(struct scan *scan, u32 page,
					       struct aftl_spare *spare, struct aftl_error *error)
{
	const struct aftl_geometry *geo = &scan->volume->geo;
	int ret;
	const u8 *bytes = read_encoded_spare_entry(scan, page, &ret, error);
	u32 i;

	spare->seq = 0;
	if (bytes)
		aftl_spare_entry_decode_recovery_fields(spare, geo, bytes);
	for (i = 0; spare->seq && i < geo->page_units; i++) {
		u32 unit = from_lpn(aftl_lpn_word_lpn(spare->word[i]));

		if (spare->mapped >> i & 1 && unit < geo->units)
			prefetch(aftl_l2p_entry(scan->ftl, unit));
	}
	return ret;
}

/*
 * Set the block's erase count: the largest that its erase entry or one of its pages has. The entry
 * may be missing, because its sector is damaged or because it was not committed before the programs
 * that followed the erase. If nothing durable shows the last erase, the block's former pages
 * reappear, but without valid data: that was relocated before the erase.
 */
static int recover_erase_count(struct scan *scan, struct aftl_block *block,
			       struct aftl_error *error)
{
	u32 index = aftl_block_index(&scan->ftl->media, block);
	u32 first = index * scan->volume->geo.pages;
	struct aftl_erase_entry entry = { 0 };
	struct aftl_spare spare = { 0 };
	int ret = read_erase_entry(scan, index, &entry, error);
	u32 page;

	if (ret)
		return ret;
	block->erases = entry.erases;
	block->wear = entry.wear;
	aftl_set_first_checkerboard_colour(block, entry.flip);
	block->state = entry.bad ? AFTL_BLOCK_BAD : AFTL_BLOCK_FREE;
	if (entry.dead)
		aftl_block_lun(scan->ftl, block)->work.phase = AFTL_PHASE_DEAD;
	for (page = first; !ret && page < first + scan->volume->geo.pages; page++) {
		ret = read_recovery_fields_of_spare_entry(scan, page, &spare, error);
		if (ret || !spare.seq || spare.erases <= block->erases)
			continue;
		block->erases = spare.erases;
		block->wear = spare.wear;
		aftl_set_first_checkerboard_colour(block, spare.flip);
	}
	return ret;
}

static void record_newest_lpn_versions_of_page(struct scan *scan, u32 page,
					       const struct aftl_spare *spare)
{
	u32 slot = page * scan->volume->geo.page_units;
	u32 i;

	*get_scanned_page_seq(scan, page) = spare->seq;
	for (i = 0; i < scan->volume->geo.page_units; i++) {
		u32 unit = from_lpn(aftl_lpn_word_lpn(spare->word[i]));
		u32 *found;

		/* Skip translation pages: the spare table may be newer than their L2P entries. */
		if (!(spare->mapped >> i & 1) || unit >= scan->volume->geo.units)
			continue;
		found = aftl_l2p_entry(scan->ftl, unit);
		if (!*found || get_seq_of_found_lpn_version(scan, *found) < spare->seq)
			*found = slot + i + 1;
	}
	scan->last_seq = max(scan->last_seq, spare->seq);
	scan->last_ns = max(scan->last_ns, spare->opened_ns);
}

static void restore_block_from_spare_entry(struct aftl_block *block, const struct aftl_spare *spare)
{
	block->opened_ns = (s64)spare->opened_ns;
	block->first_hour = spare->first_hour;
	block->note = spare->note;
	block->order = spare->order;
	block->kind = spare->kind;
	block->handle = spare->handle;
	block->bits = spare->bits;
	block->parity = spare->parity;
	aftl_set_first_checkerboard_colour(block, spare->flip);
}

static void restore_page_from_spare_entry(struct aftl *ftl, struct aftl_block *block, u32 page,
					  const struct aftl_spare *spare)
{
	u32 slot = page * ftl->geo.page_units;
	u32 i;

	*aftl_page_attr_ptr(&ftl->media, page) = spare->attr;
	aftl_oob_set_program_timestamp_of_page(ftl, block, page % ftl->geo.pages, spare->hours);
	if (!block->programmed++)
		block->approx_only = 1;
	block->approx_only &= aftl_page_class(spare->attr) == AFTL_APPROX;
	block->between |= aftl_page_mode(spare->attr) == AFTL_MODE_BETWEEN;
	for (i = 0; i < ftl->geo.page_units; i++) {
		if (spare->lost >> i & 1)
			aftl_ppn_set_lost(&ftl->media, to_ppn(slot + i));
		*aftl_oob_lpn_word(&ftl->media, to_ppn(slot + i)) = spare->word[i];
		aftl_oob_store_generation_and_errors(ftl, block, to_ppn(slot + i),
						     spare->origin[i]);
	}
}

/* Clear kind and note of a block, which mean nothing to a policy that did not open the block. */
static void clear_policy_fields_of_block(struct aftl_block *block)
{
	block->note = 0;
	block->kind = 0;
}

static bool spare_entry_has_erase_count_of_block(const struct aftl_block *block,
						 const struct aftl_spare *spare)
{
	return spare->seq && spare->attr && spare->erases == block->erases;
}

static int invalidate_scanned_page(struct scan *scan, u32 page)
{
	u32 slot = page * scan->volume->geo.page_units;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < scan->volume->geo.page_units; i++)
		ret = aftl_volume_invalidate_ppn(scan->volume, to_ppn(slot + i));
	return ret;
}

/*
 * Set *@whole if all pages of a program to a zone have spare entries (fewer pages with fewer bits
 * per cell). Else the program is dropped, as if power had failed before it, so that its pages can
 * be programmed again; what a flush has covered is still in the persisted write buffer.
 */
static int check_program_of_zone_is_complete(struct scan *scan, const struct aftl_block *block,
					     u32 first, bool *whole, struct aftl_error *error)
{
	const struct aftl_geometry *geo = &scan->volume->geo;
	u32 needed = geo->program_pages;
	struct aftl_spare spare;
	u32 known = 0;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < geo->program_pages; i++) {
		ret = read_spare_entry(scan, first + i, &spare, error);
		if (ret || !spare_entry_has_erase_count_of_block(block, &spare))
			continue;
		known++;
		if (spare.bits)
			needed = min(geo->program_pages, spare.bits * geo->planes_wide);
	}
	*whole = known == needed;
	for (i = 0; !ret && known && !*whole && i < geo->program_pages; i++)
		ret = invalidate_scanned_page(scan, first + i);
	return ret;
}

static int scan_spare_entries(struct scan *scan, struct aftl_block *block, struct aftl_error *error)
{
	u32 first = aftl_page_number_in_device(&scan->ftl->media, block, 0);
	bool own = scan->same;
	bool whole = true;
	struct aftl_spare spare;
	int ret = recover_erase_count(scan, block, error);
	u32 page;

	for (page = first; !ret && page < first + scan->volume->geo.pages; page++) {
		if (scan->zones && (page - first) % scan->volume->geo.program_pages == 0)
			ret = check_program_of_zone_is_complete(scan, block, page, &whole, error);
		if (!ret)
			ret = read_spare_entry(scan, page, &spare, error);
		if (ret || !whole || !spare_entry_has_erase_count_of_block(block, &spare))
			continue;
		restore_block_from_spare_entry(block, &spare);
		own &= spare.seq > scan->volume->state.policy_seq;
		restore_page_from_spare_entry(scan->ftl, block, page, &spare);
		record_newest_lpn_versions_of_page(scan, page, &spare);
	}
	if (!own)
		clear_policy_fields_of_block(block);
	return ret;
}

static int report_impossible_table_entry(const char *what, u32 number, struct aftl_error *error)
{
	return aftl_fail(error, -EUCLEAN, "the volume is damaged: %s %u has an impossible entry",
			 what, number);
}

static int scan_zone_entries(struct scan *scan, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < scan->volume->geo.zones; i++) {
		struct aftl_place at = aftl_zone_place(&scan->volume->header.layout, i);
		const u8 *bytes = read_table_entry(&scan->spares, at, &ret, error);

		if (!bytes)
			ret = handle_damaged_table_sector(scan, at.sector, ret, error);
		else if (aftl_zone_entry_decode(&scan->zones[i].entry, bytes))
			ret = report_impossible_table_entry("zone", i, error);
		scan->last_seq = max(scan->last_seq, scan->zones[i].entry.seq);
	}
	return ret;
}

static u64 get_zone_reset_seq(const struct scan *scan, u32 unit)
{
	return scan->zones[unit / scan->volume->geo.zone_units].entry.seq;
}

/* A program on a LUN that died may have a spare entry; the PLP buffer has its data again. */
static bool found_version_is_in_live_lun(const struct scan *scan, u32 found)
{
	return found && !decode_plp_slot_in_l2p(scan, found) &&
	       !aftl_ppn_is_in_dead_lun(scan->ftl, to_ppn(found - 1));
}

/* Return true if a PLP entry has the newest version of its page; plp-buffer.c has the rule. */
static bool plp_entry_is_newest(const struct scan *scan, const struct aftl_plp_slot *slot,
				u32 found)
{
	if (scan->zones &&
	    (slot->entry.seq <= get_zone_reset_seq(scan, from_lpn(slot->entry.what.lpn)) ||
	     found_version_is_in_live_lun(scan, found)))
		return false;
	return !found || slot->entry.seq > get_seq_of_found_lpn_version(scan, found);
}

static void choose_newest_plp_entry(struct scan *scan, u32 index)
{
	struct aftl_plp_slot *slot = &scan->volume->plp_slots[index];
	u32 *found = aftl_l2p_entry(scan->ftl, from_lpn(slot->entry.what.lpn));

	scan->last_seq = max(scan->last_seq, slot->entry.seq);
	if (!plp_entry_is_newest(scan, slot, *found))
		return;
	drop_found_lpn_version(scan, found);
	*found = encode_plp_slot_in_l2p(index);
	slot->state = AFTL_PLP_SLOT_USED;
}

static int scan_plp_entries(struct scan *scan, struct aftl_error *error)
{
	const struct aftl_volume *volume = scan->volume;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < volume->geo.plp_entries; i++) {
		struct aftl_place at = aftl_plp_entry_place(&volume->header.layout, i);
		const u8 *bytes = read_table_entry(&scan->spares, at, &ret, error);

		if (!bytes)
			ret = handle_damaged_table_sector(scan, at.sector, ret, error);
		else if (aftl_plp_entry_decode(&volume->plp_slots[i].entry, &volume->geo, bytes))
			ret = report_impossible_table_entry("write-buffer place", i, error);
		else if (volume->plp_slots[i].entry.seq)
			choose_newest_plp_entry(scan, i);
	}
	return ret;
}

static void find_oldest_plp_entries_of_zones(struct scan *scan)
{
	const struct aftl_volume *volume = scan->volume;
	u32 i;

	for (i = 0; i < volume->geo.zones; i++)
		scan->zones[i].oldest = U64_MAX;
	for (i = 0; i < volume->geo.plp_entries; i++) {
		const struct aftl_plp_entry *entry = &volume->plp_slots[i].entry;
		struct scan_zone *zone =
			&scan->zones[from_lpn(entry->what.lpn) / volume->geo.zone_units];

		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_USED)
			zone->oldest = min(zone->oldest, entry->seq);
		scan->ftl->work++;
	}
}

static u32 count_zones_with_plp_entry_before_seq(struct scan *scan, u64 seq)
{
	u32 zones = 0;
	u32 i;

	for (i = 0; i < scan->volume->geo.zones; i++)
		zones += scan->zones[i].oldest < seq;
	scan->ftl->work += i;
	return zones;
}

/*
 * If more zones have PLP entries than may be active, drop the newest entries. No complete commit
 * leaves such entries, so they are from an interrupted one, and no flush has covered them.
 */
static void drop_newest_excess_plp_entries(struct scan *scan)
{
	u64 end = 0;
	u64 bit;
	u32 i;

	find_oldest_plp_entries_of_zones(scan);
	for (bit = 1ULL << 63; bit; bit >>= 1)
		if (count_zones_with_plp_entry_before_seq(scan, end | bit) <=
		    scan->ftl->config.max_active_zones)
			end |= bit;
	for (i = 0; i < scan->volume->geo.plp_entries; i++) {
		const struct aftl_plp_slot *slot = &scan->volume->plp_slots[i];

		if (slot->state == AFTL_PLP_SLOT_USED && slot->entry.seq >= end)
			drop_found_lpn_version(scan,
					       aftl_l2p_entry(scan->ftl,
							      from_lpn(slot->entry.what.lpn)));
		scan->ftl->work++;
	}
}

/* Count a zone's pages up to the first missing page, and drop the pages on flash behind it. */
static u32 count_written_lpns_of_zone(struct scan *scan, u32 zone)
{
	u32 first = zone * scan->volume->geo.zone_units;
	u32 written = 0;
	u32 i;

	while (written < scan->volume->geo.zone_capacity &&
	       *aftl_l2p_entry(scan->ftl, first + written))
		written++;
	for (i = written; i < scan->volume->geo.zone_units; i++)
		if (!decode_plp_slot_in_l2p(scan, *aftl_l2p_entry(scan->ftl, first + i)))
			*aftl_l2p_entry(scan->ftl, first + i) = 0;
	return written;
}

static bool lpn_is_beyond_write_pointer(const struct scan *scan, u32 unit)
{
	return unit % scan->volume->geo.zone_units >=
	       aftl_zone_of_lpn(scan->ftl, to_lpn(unit))->written;
}

static void recover_plp_entry(struct scan *scan, const struct aftl_plp_slot *slot)
{
	u32 unit = from_lpn(slot->entry.what.lpn);

	if (slot->state != AFTL_PLP_SLOT_USED)
		return;
	if (lpn_is_beyond_write_pointer(scan, unit))
		drop_found_lpn_version(scan, aftl_l2p_entry(scan->ftl, unit));
	else
		aftl_zone_reserve_write_slot(scan->ftl, slot->entry.what.lpn);
}

static void recover_zone_states(struct scan *scan)
{
	u32 i;

	drop_newest_excess_plp_entries(scan);
	for (i = 0; i < scan->volume->geo.zones; i++)
		aftl_zone_rebuild_state(scan->ftl, i, count_written_lpns_of_zone(scan, i),
					scan->zones[i].entry.state);
	for (i = 0; i < scan->volume->geo.plp_entries; i++)
		recover_plp_entry(scan, &scan->volume->plp_slots[i]);
	aftl_zone_finish_excess_zones(scan->ftl);
}

/* Remove mappings beyond write pointers: they would be valid again after new writes. */
static int invalidate_ppns_beyond_write_pointers(struct scan *scan)
{
	const struct aftl_geometry *geo = &scan->volume->geo;
	struct aftl *ftl = scan->ftl;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < geo->ppns; i++) {
		u32 unit = from_lpn(aftl_ppn_lpn(&ftl->media, to_ppn(i)));

		if (aftl_ppn_attr(&ftl->media, to_ppn(i)) &&
		    unit < geo->units &&
		    *get_scanned_page_seq(scan, i / geo->page_units) >
			    get_zone_reset_seq(scan, unit) &&
		    lpn_is_beyond_write_pointer(scan, unit))
			ret = aftl_volume_invalidate_ppn(scan->volume, to_ppn(i));
	}
	return ret;
}

static int scan_zones(struct scan *scan, struct aftl_error *error)
{
	int ret = scan_zone_entries(scan, error);
	u32 i;

	for (i = 0; !ret && i < scan->volume->geo.units; i++)
		apply_discard_to_lpn(scan, i, get_zone_reset_seq(scan, i));
	if (!ret)
		ret = scan_plp_entries(scan, error);
	if (ret)
		return ret;
	recover_zone_states(scan);
	return invalidate_ppns_beyond_write_pointers(scan) ?
		       aftl_fail(error, -ENOMEM, "not enough memory to recover the volume") :
		       0;
}

/*
 * Drop the last programs of a block if none of their pages is mapped: a zone needs the pages to
 * fill its capacity. Blocks without any mapped page are left out: they will be erased.
 */
static void drop_unmapped_programs_at_block_end(struct aftl *ftl, struct aftl_block *block)
{
	u32 page = ftl->geo.pages;
	u32 i;

	if (!block->valid || block->state == AFTL_BLOCK_BAD)
		return;
	for (page -= ftl->geo.program_pages;
	     !aftl_program_has_valid_pages(ftl,
					   aftl_page_number_in_device(&ftl->media, block, page));
	     page -= ftl->geo.program_pages)
		for (i = 0; i < ftl->geo.program_pages; i++) {
			u32 at = aftl_page_number_in_device(&ftl->media, block, page + i);
			u16 *attr = aftl_page_attr_ptr(&ftl->media, at);

			block->programmed -= *attr != 0;
			*attr = 0;
		}
}

static void map_recovered_ppn(struct aftl *ftl, struct aftl_block *block, aftl_ppn_t ppn)
{
	aftl_lpn_t lpn = aftl_ppn_lpn(&ftl->media, ppn);
	u32 *found;

	if (from_lpn(lpn) >= ftl->geo.units)
		return;
	found = aftl_l2p_entry(ftl, from_lpn(lpn));
	if (*found != from_ppn(ppn) + 1)
		return;
	*found = 0;
	aftl_l2p_update(ftl, aftl_block_lun(ftl, block), block, lpn, ppn,
			aftl_ppn_quality_level(&ftl->media, ppn));
	ftl->lost_units += aftl_ppn_is_marked_lost(&ftl->media, ppn);
}

static void map_recovered_block(struct aftl *ftl, struct aftl_block *block)
{
	u32 first = aftl_page_number_in_device(&ftl->media, block, 0);
	u32 units = ftl->geo.page_units;
	u32 page;
	u32 i;

	for (page = first; page < first + ftl->geo.pages; page++) {
		if (page + AHEAD < first + ftl->geo.pages)
			aftl_prefetch_l2p_entries_of_page(ftl, page + AHEAD);
		for (i = 0; *aftl_page_attr_ptr(&ftl->media, page) && i < units; i++)
			map_recovered_ppn(ftl, block, to_ppn(page * units + i));
	}
}

/* Link the pages of the persisted write buffer in ascending order; they are not mapped to flash. */
static int link_plp_slots_in_lpn_order(struct scan *scan, struct aftl_error *error)
{
	u32 *link = &scan->volume->plp_first;
	u32 units = scan->volume->geo.plp_entries ? scan->volume->geo.units : 0;
	int ret = 0;
	u32 unit;

	*link = 0;
	for (unit = 0; !ret && unit < units; unit++) {
		u32 *found = aftl_l2p_entry(scan->ftl, unit);
		struct aftl_plp_slot *slot = decode_plp_slot_in_l2p(scan, *found);

		if (slot) {
			*link = (u32)(slot - scan->volume->plp_slots) + 1;
			link = &slot->next;
			*link = 0;
			*found = 0;
		}
		if (unit % 65536 == 65535)
			ret = yield_during_load(scan->ftl, error);
	}
	return ret;
}

static int map_recovered_pages(struct scan *scan, struct aftl_error *error)
{
	struct aftl *ftl = scan->ftl;
	int ret = link_plp_slots_in_lpn_order(scan, error);
	u32 i;

	for (i = 0; !ret && i < ftl->geo.blocks; i++) {
		map_recovered_block(ftl, &ftl->media.blocks[i]);
		ret = yield_during_load(ftl, error);
	}
	return ret;
}

/* Clear the lost marks of invalid ppns: only the newest version of a page counts as lost. */
static void clear_stale_lost_marks(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < DIV_ROUND_UP(ftl->geo.ppns, 64); i++)
		ftl->media.lost[i] &= ftl->media.valid[i];
}

/* Mark a page as programmed without data: its program is certain, but has no durable entry. */
static void mark_page_programmed_without_data(struct aftl *ftl, struct aftl_block *block, u32 page,
					      u32 mode)
{
	u32 index = aftl_page_number_in_device(&ftl->media, block, page);
	u32 slot = index * ftl->geo.page_units;
	u32 i;

	if (*aftl_page_attr_ptr(&ftl->media, index))
		return;
	*aftl_page_attr_ptr(&ftl->media, index) = aftl_page_attr(AFTL_PRECISE, mode, 0);
	aftl_oob_set_program_timestamp_of_page(ftl, block, page, 0);
	for (i = 0; i < ftl->geo.page_units; i++)
		*aftl_oob_lpn_word(&ftl->media, to_ppn(slot + i)) = AFTL_NO_LPN;
	block->programmed++;
	block->approx_only = 0;
}

static void mark_program_step_done(struct aftl *ftl, struct aftl_block *block, u32 page)
{
	u32 i;

	for (i = 0; i < aftl_count_pages_of_program_step(&ftl->geo, block); i++)
		mark_page_programmed_without_data(ftl, block, page + i,
						  aftl_block_program_mode(block));
}

static bool is_program_step_done(const struct aftl *ftl, const struct aftl_block *block, u32 page)
{
	u32 i;

	for (i = 0; i < aftl_count_pages_of_program_step(&ftl->geo, block); i++)
		if (aftl_page_is_programmed(&ftl->media, block, page + i))
			return true;
	return false;
}

static u32 count_known_program_steps(const struct aftl *ftl, const struct aftl_block *block)
{
	u32 steps = 0;
	u32 page;

	for (page = 0; page < ftl->geo.pages; page += ftl->geo.program_pages)
		steps += is_program_step_done(ftl, block, page);
	return steps;
}

/* Mark all pages before a programmed page in the program order as programmed. */
static void replay_program_order(struct aftl *ftl, struct aftl_block *block)
{
	u32 left = count_known_program_steps(ftl, block);
	struct aftl_block at = *block;
	u32 page;

	at.programmed = 0;
	at.frontier = 0;
	while (left) {
		page = block->order == AFTL_ORDER_TWO_PASS ?
			       aftl_two_pass_next_page(&ftl->media, &at) : at.frontier;
		if (page >= ftl->geo.pages)
			break;
		left -= is_program_step_done(ftl, block, page);
		mark_program_step_done(ftl, block, page);
		at.programmed += aftl_count_pages_of_program_step(&ftl->geo, block);
		aftl_program_order_advance_frontier(&ftl->media, &at, page);
	}
	block->frontier = at.frontier;
}

static void replay_leader_first_order(struct aftl *ftl, struct aftl_block *block)
{
	const struct aftl_geometry *geo = &ftl->geo;
	u32 page, leader;

	for (page = 0; page < geo->pages; page += geo->program_pages) {
		if (!is_program_step_done(ftl, block, page))
			continue;
		leader = aftl_first_page_of_word_line(geo, aftl_layer_of_page(geo, page), 0);
		mark_program_step_done(ftl, block, page);
		mark_program_step_done(ftl, block, leader);
	}
}

/* Continue the program order in the last super layer of @block that has programmed pages. */
static void replay_super_layer_order(struct aftl *ftl, struct aftl_block *block)
{
	u32 layer_pages = ftl->geo.word_lines * ftl->geo.word_line_pages;
	u32 last = ftl->geo.pages - 1;

	while (!aftl_page_is_programmed(&ftl->media, block, last))
		last--;
	last = aftl_layer_of_page(&ftl->geo, last);
	block->frontier = last < ftl->geo.super_layers ?
				  0 : (last + 1 - ftl->geo.super_layers) * layer_pages;
}

/*
 * A switched word line (IPS) has entries of two programs. The entry of a page shows the mode of the
 * first one only; entries of the other pages show that the word line was switched.
 */
static void replay_in_place_switch_order(struct aftl *ftl, struct aftl_block *block)
{
	u32 left = block->programmed;
	u32 done = 0;
	u32 pages;

	while (left) {
		u32 page = aftl_get_next_in_place_switch_page(&ftl->geo, done, &pages);
		u32 end = page + pages;
		bool first = aftl_is_page_programmed_in_slc_pass(&ftl->geo, page);

		for (; page < end; page++, done++) {
			left -= aftl_page_is_programmed(&ftl->media, block, page);
			mark_page_programmed_without_data(ftl, block, page, first ?
							  AFTL_MODE_SLC : AFTL_MODE_SWITCHED);
		}
		if (!first)
			aftl_mark_word_line_switched(&ftl->media, block, end - 1);
	}
	block->frontier = aftl_get_next_in_place_switch_page(&ftl->geo, done, &pages);
}

/* Mark the programmed pages that the program order implies, and find where it continues. */
static void replay_block_program_order(struct aftl *ftl, struct aftl_block *block)
{
	if (block->order == AFTL_ORDER_SUPER_LAYER)
		replay_super_layer_order(ftl, block);
	else if (block->order == AFTL_ORDER_LEADER_FIRST)
		replay_leader_first_order(ftl, block);
	else if (block->order == AFTL_ORDER_SWITCHED)
		replay_in_place_switch_order(ftl, block);
	else
		replay_program_order(ftl, block);
}

/* Mark all pages of a stripe with written parity as programmed: no more data may follow. */
static void mark_parity_stripes_programmed(struct aftl *ftl, struct aftl_block *block)
{
	const struct aftl_block *parity = aftl_parity_block_of(ftl, block);
	u32 page;

	if (!parity || parity == block || parity->state == AFTL_BLOCK_BAD)
		return;
	/* A block without data has no entry with its program order: copy that of the parity. */
	if (!block->programmed && parity->programmed) {
		block->order = parity->order;
		block->bits = parity->bits;
		if (parity->order == AFTL_ORDER_TWO_PASS)
			aftl_set_first_checkerboard_colour(block,
							   aftl_first_checkerboard_colour(parity));
	}
	for (page = 0; page < ftl->geo.pages; page++) {
		u16 *attr =
			aftl_page_attr_ptr(&ftl->media,
					   aftl_page_number_in_device(&ftl->media, block, page));

		if (!aftl_page_is_programmed(&ftl->media, parity, page))
			continue;
		mark_page_programmed_without_data(ftl, block, page, aftl_block_program_mode(block));
		if (aftl_page_is_foggy(*attr))
			*attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0);
	}
}

/* Leave a parity block open that is not full: its next program continues it. */
static void recover_parity_block(const struct aftl *ftl, struct aftl_block *block)
{
	bool fine = block->order != AFTL_ORDER_FOGGY_FINE ||
		    aftl_next_fine_pass_page(&ftl->media, block) == ftl->geo.pages;

	block->state = fine && block->programmed == ftl->geo.pages ? AFTL_BLOCK_CLOSED :
								     AFTL_BLOCK_OPEN;
}

/* Set the state of a recovered block: free, open (parity), closed, or bad but not yet emptied. */
static void recover_state_of_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	bool bad = block->state == AFTL_BLOCK_BAD;

	if (ftl->geo.superblock_luns && !bad)
		mark_parity_stripes_programmed(ftl, block);
	if (block->programmed)
		replay_block_program_order(ftl, block);
	else if (bad)
		return;
	lun->good_blocks += !block->parity;
	lun->failing_blocks += bad;
	block->failing = bad;
	if (block->parity)
		recover_parity_block(ftl, block);
	else if (block->programmed)
		aftl_block_close(ftl, block);
	else
		aftl_free_list_add_block(ftl, lun, block);
}

/* A dead LUN is one with any block whose entry says so: a crash may have lost other entries. */
static void mark_dead_lun_blocks(struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 i;

	for (i = first; aftl_lun_is_dead(lun) && i < first + ftl->geo.blocks_per_lun; i++)
		ftl->media.blocks[i].state = AFTL_BLOCK_BAD;
}

static bool are_all_lun_blocks_bad(const struct aftl *ftl, u32 first)
{
	u32 i;

	for (i = first; i < first + ftl->geo.blocks_per_lun; i++)
		if (ftl->media.blocks[i].state != AFTL_BLOCK_BAD)
			return false;
	return true;
}

/* Recover the blocks of a LUN. The data of a dead LUN stay mapped to it. */
static void recover_blocks_of_lun(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 i;

	if (are_all_lun_blocks_bad(ftl, first))
		return;
	for (i = first; i < first + ftl->geo.blocks_per_lun; i++)
		recover_state_of_block(ftl, lun, &ftl->media.blocks[i]);
}

static void restore_device_time(struct scan *scan)
{
	struct aftl *ftl = scan->ftl;
	u32 hours;
	u32 i;

	ftl->now_ns = scan->last_ns;
	ftl->age_ns = scan->volume->state.age_ns;
	ftl->seq = scan->last_seq;
	hours = (u32)min_t(u64, aftl_device_age_hours(ftl), U32_MAX);
	for (i = 0; i < ftl->geo.blocks; i++)
		ftl->media.blocks[i].first_hour = min(ftl->media.blocks[i].first_hour, hours);
}

static int scan_all_blocks(struct scan *scan, struct aftl_error *error)
{
	struct aftl *ftl = scan->ftl;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < ftl->geo.blocks; i++) {
		ret = scan_spare_entries(scan, &ftl->media.blocks[i], error);
		if (!ret)
			ret = yield_during_load(ftl, error);
	}
	return ret;
}

static int scan_volume_tables(struct scan *scan, struct aftl_error *error)
{
	struct aftl *ftl = scan->ftl;
	int ret;
	u32 i;

	aftl_block_manager_clear(ftl);
	ret = scan_all_blocks(scan, error);
	if (!ret && scan->zones)
		ret = scan_zones(scan, error);
	else if (!ret)
		ret = scan_plp_entries(scan, error) ?: scan_discard_table(scan, error);
	if (!ret)
		ret = map_recovered_pages(scan, error);
	if (ret)
		return ret;
	clear_stale_lost_marks(ftl);
	for (i = 0; i < ftl->geo.luns; i++)
		mark_dead_lun_blocks(ftl, &ftl->luns[i]);
	aftl_equalise_erase_counts_of_superblocks(ftl);
	for (i = 0; scan->zones && i < ftl->geo.blocks; i++)
		drop_unmapped_programs_at_block_end(ftl, &ftl->media.blocks[i]);
	for (i = 0; i < ftl->geo.luns; i++)
		recover_blocks_of_lun(ftl, &ftl->luns[i]);
	aftl_superblock_reassign_parity(ftl);
	aftl_block_manager_ensure_fallback_blocks(ftl);
	aftl_cmt_cache_all_pages_as_dirty(ftl);
	if (scan->zones)
		aftl_zone_reopen_blocks(ftl);
	restore_device_time(scan);
	return 0;
}

static int check_recovered_times(const struct aftl *ftl, struct aftl_error *error)
{
	if (ftl->now_ns > AFTL_TIME_MAX || ftl->age_ns > AFTL_TIME_MAX / 2)
		return aftl_fail(error, -EUCLEAN,
				 "the volume is damaged: its times are impossible");
	return 0;
}

static int recover_device_from_tables(struct aftl_volume *volume, struct aftl *ftl,
				      struct aftl_error *error)
{
	struct scan scan;
	int ret = open_recovery_scan(&scan, volume, ftl, error);

	if (ret)
		return ret;
	ret = scan_volume_tables(&scan, error);
	if (!ret)
		ret = check_recovered_times(ftl, error);
	volume->state.seq = max(volume->state.seq, scan.last_seq);
	close_recovery_scan(&scan);
	return ret;
}

static int load_device_from_tables(struct aftl_volume *volume, const struct aftl_policy_type *type,
				   const struct aftl_config *config,
				   const struct aftl_host_ops *ops, void *host, struct aftl **out,
				   struct aftl_error *error)
{
	struct aftl *ftl;
	int ret = aftl_create(&ftl, config, type, ops, host, error);

	if (ret)
		return ret;
	*out = ftl;
	ret = recover_device_from_tables(volume, ftl, error);
	if (!ret)
		ret = aftl_remap_load(volume, ftl, error);
	if (!ret && type->restore_state_word && !strcmp(type->name, volume->state.policy))
		type->restore_state_word(ftl->policy, volume->state.memory);
	/* Audit counts and lists only: recovery derived the valid ppns from the L2P table. */
	if (!ret)
		ret = aftl_audit_counters_and_block_lists(ftl, error);
	if (!ret)
		aftl_start_loaded_device(ftl);
	if (ret) {
		*out = NULL;
		aftl_destroy(ftl);
	}
	return ret;
}

static void rebuild_erase_sector(const struct aftl_volume *volume, const struct aftl *ftl,
				 u64 index, u8 *bytes)
{
	u64 block = index * AFTL_ERASES_PER_SECTOR;
	u64 end = min_t(u64, block + AFTL_ERASES_PER_SECTOR, volume->geo.blocks);

	for (; block < end; block++) {
		struct aftl_place place = aftl_erase_place(&volume->header.layout, (u32)block);
		struct aftl_erase_entry entry;

		aftl_erase_entry_describe_block(&entry, ftl, (u32)block);
		aftl_erase_entry_encode(&entry, bytes + place.offset);
	}
}

/*
 * Rebuild the sector's spare entries, with a new largest sequence number: no other entry of the
 * volume maps their ppns.
 */
static void rebuild_spare_sector(const struct aftl_volume *volume, const struct aftl *ftl,
				 u64 index, u8 *bytes)
{
	u64 page = index * volume->header.layout.spares_per_sector;
	u64 end = min_t(u64, page + volume->header.layout.spares_per_sector,
			(u64)volume->geo.blocks * volume->geo.pages);

	for (; page < end; page++) {
		struct aftl_spare spare;

		if (!*aftl_page_attr_ptr(&ftl->media, page))
			continue;
		aftl_init_spare_entry(&spare, ftl, to_ppn((u32)page * volume->geo.page_units));
		spare.seq = volume->state.seq;
		aftl_spare_entry_encode(&spare, &volume->geo,
					bytes + aftl_spare_place(&volume->header.layout,
								 &volume->geo, (u32)page)
							.offset);
	}
}

/* Rebuild a zone's entry as that of a zone without a reset. */
static void rebuild_zone_entry(const struct aftl *ftl, u32 zone, u8 *bytes)
{
	const struct aftl_zone *of = &ftl->zones.all[zone];
	struct aftl_zone_entry entry = {
		.state = of->state < AFTL_ZONE_FULL ? 0 : of->state,
	};

	aftl_zone_entry_encode(&entry, bytes);
}

/**
 * struct rebuilt - what has been rebuilt of the tables
 * @recovery: counts the sectors
 * @first_zone: first zone with a rebuilt entry
 * @end_zone: zone after the last one with a rebuilt entry; 0: there is none
 */
struct rebuilt {
	struct aftl_recovery *recovery;
	u32 first_zone;
	u32 end_zone;
};

static void rebuild_zone_sector(const struct aftl_volume *volume, const struct aftl *ftl, u64 index,
				u8 *bytes, struct rebuilt *rebuilt)
{
	u32 first = (u32)index * AFTL_ZONES_PER_SECTOR;
	u32 end = min(first + AFTL_ZONES_PER_SECTOR, volume->geo.zones);
	u32 zone;

	for (zone = first; zone < end; zone++)
		rebuild_zone_entry(ftl, zone,
				   bytes + aftl_zone_place(&volume->header.layout, zone).offset);
	if (!rebuilt->end_zone)
		rebuilt->first_zone = first;
	rebuilt->end_zone = end;
}

/*
 * Remove mappings of data from before a zone reset: rebuilt zone entries record no reset, so these
 * data would count as valid again.
 */
static int invalidate_data_older_than_reset(struct aftl_volume *volume, struct aftl *ftl,
					    const struct rebuilt *rebuilt, struct aftl_error *error)
{
	u32 ppns = rebuilt->end_zone ? volume->geo.ppns : 0;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < ppns; i++) {
		u32 zone = from_lpn(aftl_ppn_lpn(&ftl->media, to_ppn(i))) / volume->geo.zone_units;

		if (aftl_ppn_attr(&ftl->media, to_ppn(i)) &&
		    zone >= rebuilt->first_zone && zone < rebuilt->end_zone &&
		    !aftl_ppn_is_valid(&ftl->media, to_ppn(i)) &&
		    aftl_volume_invalidate_ppn(volume, to_ppn(i)))
			ret = aftl_fail(error, -ENOMEM, "not enough memory to rebuild a volume");
		ftl->work++;
		if (!ret && i % 65536 == 65535)
			ret = yield_during_load(ftl, error);
	}
	return ret;
}

static void rebuild_plp_sector(const struct aftl_volume *volume, u64 index, u8 *bytes)
{
	u64 place = index * AFTL_ZONES_PER_SECTOR;
	u64 end = min_t(u64, place + AFTL_ZONES_PER_SECTOR, volume->geo.plp_entries);

	for (; place < end; place++) {
		u32 offset = aftl_plp_entry_place(&volume->header.layout, (u32)place).offset;

		aftl_plp_slot_encode(volume, (u32)place, bytes + offset);
	}
}

static void rebuild_discard_sector(const struct aftl_volume *volume, const struct aftl *ftl,
				   u64 index, u8 *bytes)
{
	const struct aftl_layout *layout = &volume->header.layout;
	u64 first = index * AFTL_DISCARDS_PER_SECTOR;
	u64 end = min_t(u64, first + AFTL_DISCARDS_PER_SECTOR, volume->geo.units);
	struct aftl_buffered_lpn what;
	u32 slot = 0;
	u64 offset;
	u64 lpn;

	for (lpn = first; lpn < end; lpn++)
		if (!*aftl_l2p_entry(ftl, (u32)lpn))
			aftl_put_le(bytes + aftl_discard_place(layout, (u32)lpn).offset,
				    volume->state.seq - 1, 8);
	/* Logical pages in the persisted write buffer have no ppn, but are not discarded. */
	while (aftl_volume_get_next_persisted_lpn(volume, &slot, &what, &offset))
		if (from_lpn(what.lpn) >= first && from_lpn(what.lpn) < end)
			aftl_put_le(bytes + aftl_discard_place(layout, from_lpn(what.lpn)).offset,
				    0, 8);
}

static int rebuild_table_sector(struct aftl_volume *volume, const struct aftl *ftl, u64 sector,
				bool readable, struct rebuilt *rebuilt, struct aftl_error *error)
{
	const struct aftl_layout *layout = &volume->header.layout;
	u64 spares = layout->spares * AFTL_FRAME_SECTORS;
	u64 discards = layout->discards * AFTL_FRAME_SECTORS;
	u64 slot = layout->plp_table * AFTL_FRAME_SECTORS;
	u8 *bytes;
	int ret = aftl_volume_rebuild_sector(volume, sector, readable, &bytes, error);

	if (ret)
		return ret;
	/* Rebuilt discards get the first new sequence number, rebuilt programs the second. */
	if (!rebuilt->recovery->tables++)
		volume->state.seq += 2;
	if (sector < spares)
		rebuild_erase_sector(volume, ftl, sector - layout->erases * AFTL_FRAME_SECTORS,
				     bytes);
	else if (sector < discards)
		rebuild_spare_sector(volume, ftl, sector - spares, bytes);
	else if (sector >= slot)
		rebuild_plp_sector(volume, sector - slot, bytes);
	else if (volume->geo.zones)
		rebuild_zone_sector(volume, ftl, sector - discards, bytes, rebuilt);
	else
		rebuild_discard_sector(volume, ftl, sector - discards, bytes);
	return 0;
}

/*
 * After a read error all sectors of the frame are rebuilt, without trying to read it again: a read
 * that succeeds now would not tell which sectors have been rebuilt.
 */
static int rebuild_damaged_frame(struct aftl_volume *volume, const struct aftl *ftl, u64 *sector,
				 bool readable, struct rebuilt *rebuilt, struct aftl_error *error)
{
	u32 more = readable ? 0 : AFTL_FRAME_SECTORS - 1;
	int ret = rebuild_table_sector(volume, ftl, *sector, readable, rebuilt, error);

	for (; !ret && more; more--)
		ret = rebuild_table_sector(volume, ftl, ++*sector, readable, rebuilt, error);
	return ret;
}

/* Check all sectors of the tables before frame @end, and rebuild the damaged ones. */
static int rebuild_damaged_tables(struct aftl_volume *volume, struct aftl *ftl, u64 end,
				  struct aftl_recovery *recovery, struct aftl_error *error)
{
	u64 sector = volume->header.layout.erases * AFTL_FRAME_SECTORS;
	struct rebuilt rebuilt = { .recovery = recovery };
	struct aftl_error damage;
	struct aftl_volume_reader reader;
	int ret = reader_open_tables(&reader, volume, end);

	if (ret)
		return aftl_fail(error, ret, "not enough memory to check a volume");
	for (; !ret && sector < end * AFTL_FRAME_SECTORS; sector++) {
		if (!aftl_volume_reader_get_sector(&reader, sector, &ret, &damage)) {
			*error = damage;
			if (aftl_is_error_of_damaged_sector(ret))
				ret = rebuild_damaged_frame(volume, ftl, &sector, ret == -EUCLEAN,
							    &rebuilt, error);
		}
		if (!ret && sector % AFTL_FRAME_SECTORS == 0)
			ret = yield_during_load(ftl, error);
	}
	aftl_volume_reader_close(&reader);
	return ret ? ret : invalidate_data_older_than_reset(volume, ftl, &rebuilt, error);
}

/* Sequence numbers ascend by one, so that only a forged volume can come near to their end. */
static int check_recovered_seq(const struct aftl_volume *volume, struct aftl_error *error)
{
	if (volume->state.seq > AFTL_SEQ_MAX)
		return aftl_fail(error, -EUCLEAN,
				 "the volume is damaged: its sequence numbers are impossible");
	return 0;
}

static void count_recovered_lpns(const struct aftl *ftl, struct aftl_recovery *recovery)
{
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i++) {
		recovery->programmed_pages += ftl->media.blocks[i].programmed;
		recovery->bad_blocks += ftl->media.blocks[i].state == AFTL_BLOCK_BAD;
	}
	for (i = 0; i < ftl->geo.luns; i++)
		recovery->mapped_units += ftl->luns[i].valid;
	for (i = ftl->geo.units; i < aftl_count_mappable_pages(&ftl->geo); i++)
		recovery->mapped_units -= *aftl_l2p_entry(ftl, i) != 0;
	recovery->lost_units = ftl->lost_units;
}

/* Free slot @index of the persisted write buffer; the next commit clears its entry. */
static void clear_plp_slot(struct aftl_volume *volume, u32 index)
{
	struct aftl_place at = aftl_plp_entry_place(&volume->header.layout, index);
	u8 *bytes = aftl_volume_modify_table_entry(volume, at);

	volume->plp_slots[index].state = AFTL_PLP_SLOT_FREE;
	if (bytes)
		aftl_plp_slot_encode(volume, index, bytes);
}

/* Record what recovery has decided: dropped entries of the write buffer, finished zones. */
static int record_dropped_plp_and_finished_zones(struct aftl_volume *volume, const struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < volume->geo.plp_entries; i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_FREE &&
		    volume->plp_slots[i].entry.seq)
			clear_plp_slot(volume, i);
	for (i = 0; !volume->ret && i < volume->geo.zones; i++)
		if (ftl->zones.all[i].state == AFTL_ZONE_FULL &&
		    ftl->zones.all[i].written < volume->geo.zone_capacity)
			volume->ret = aftl_volume_record_zone(volume, i, AFTL_ZONE_FULL);
	return volume->ret;
}

int aftl_volume_load(struct aftl_volume *volume, const struct aftl_policy_type *type,
		     const struct aftl_config *config, const struct aftl_host_ops *ops,
		     void *host, bool scan, struct aftl **out, struct aftl_recovery *recovery,
		     struct aftl_error *error)
{
	int ret = aftl_volume_config_check(&volume->header.config, config, error);

	memset(recovery, 0, sizeof(*recovery));
	if (!ret && strcmp(type->name, volume->header.policy) != 0)
		ret = aftl_snapshot_check_policy_change(config, error);
	if (ret)
		return ret;
	aftl_derive_shard_config(&volume->own, config, volume->header.shard);
	if (volume->state.closed && !scan)
		recovery->closed = !load_volume_snapshot(volume, type, &volume->own, ops, host, out,
							 &recovery->snapshot);
	if (!recovery->closed)
		ret = load_device_from_tables(volume, type, &volume->own, ops, host, out, error);
	if (ret)
		return ret;
	count_recovered_lpns(*out, recovery);
	recovery->displaced_units = volume->remap_count;
	recovery->header = volume->repair_headers;
	recovery->state = volume->repair_state;
	ret = check_recovered_seq(volume, error);
	if (!ret)
		ret = rebuild_damaged_tables(volume, *out,
					     recovery->closed || volume->ignore_damage ?
					     volume->header.layout.snapshot :
					     volume->header.layout.spares,
					     recovery, error);
	recovery->tables += volume->repair_extents;
	if (!ret && !recovery->closed && record_dropped_plp_and_finished_zones(volume, *out))
		ret = aftl_fail(error, volume->ret,
				"the volume is damaged: entries of zones or of the write buffer cannot be written");
	if (ret) {
		aftl_destroy(*out);
		*out = NULL;
	}
	return ret;
}
