// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remapped data: pages that the backing device could not write at their usual place. They are
 * written to the area of the snapshot, which is free while the volume is in use. A table, in two
 * copies at the start of that area, maps each such page to its place. The caller fails the block,
 * so that the FTL relocates its data; then the place is free again.
 */
#include "core/ftl/controller.h"
#include "core/persist/remap.h"
#include "core/persist/volume-private.h"

void aftl_remap_init(struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; i < AFTL_REMAPS_MAX; i++)
		volume->remaps[i].ppn = AFTL_NO_PPN;
	volume->remap_count = 0;
}

static u32 count_volume_frames_of_logical_page(const struct aftl_volume *volume)
{
	return DIV_ROUND_UP(volume->geo.unit_bytes, (u32)AFTL_FRAME_BYTES);
}

static u32 count_remap_slots(const struct aftl_volume *volume)
{
	const struct aftl_layout *layout = &volume->header.layout;

	return min((u32)(layout->plp_data - layout->snapshot - AFTL_REMAP_COPIES) /
			   count_volume_frames_of_logical_page(volume),
		   (u32)AFTL_REMAPS_MAX);
}

/* Return the remap slot of @ppn, for AFTL_NO_PPN a free slot; AFTL_REMAPS_MAX if none exists. */
static u32 find_remap_slot(const struct aftl_volume *volume, aftl_ppn_t ppn)
{
	u32 places = count_remap_slots(volume);
	u32 i;

	for (i = 0; i < places; i++)
		if (volume->remaps[i].ppn == ppn)
			return i;
	return AFTL_REMAPS_MAX;
}

u64 aftl_remap_data_offset(const struct aftl_volume *volume, aftl_ppn_t ppn)
{
	u32 place = find_remap_slot(volume, ppn);

	return place == AFTL_REMAPS_MAX ?
		       0 :
		       (volume->header.layout.snapshot + AFTL_REMAP_COPIES +
			(u64)place * count_volume_frames_of_logical_page(volume)) *
			       AFTL_FRAME_BYTES;
}

bool aftl_volume_remap_ppn(struct aftl_volume *volume, aftl_ppn_t ppn,
			   const struct aftl_spare *spare)
{
	u32 place = find_remap_slot(volume, ppn);

	if (place == AFTL_REMAPS_MAX) {
		place = find_remap_slot(volume, AFTL_NO_PPN);
		if (place == AFTL_REMAPS_MAX)
			return false;
		volume->remap_count++;
	}
	volume->remaps[place] = (struct aftl_remap){
		.ppn = ppn,
		.erases = spare->erases,
		.attr = spare->attr,
	};
	volume->remaps_dirty = true;
	return true;
}

static u32 block_of_remap_entry(const struct aftl_volume *volume, const struct aftl_remap *remap)
{
	return remap->ppn == AFTL_NO_PPN ? U32_MAX : from_ppn(remap->ppn) / volume->geo.block_ppns;
}

u32 aftl_volume_find_next_remapped_block(const struct aftl_volume *volume, u32 block)
{
	u32 first = U32_MAX;
	u32 i;

	for (i = 0; volume->remap_count && i < AFTL_REMAPS_MAX; i++)
		if (block_of_remap_entry(volume, &volume->remaps[i]) >= block)
			first = min(first, block_of_remap_entry(volume, &volume->remaps[i]));
	return first;
}

static void release_remap_slot(struct aftl_volume *volume, u32 place)
{
	volume->remaps[place].ppn = AFTL_NO_PPN;
	volume->remap_count--;
}

void aftl_volume_free_remap_slots_of_ppns(struct aftl_volume *volume, aftl_ppn_t first, u32 slots)
{
	u32 i;

	for (i = 0; volume->remap_count && i < AFTL_REMAPS_MAX; i++)
		if (volume->remaps[i].ppn != AFTL_NO_PPN &&
		    from_ppn(volume->remaps[i].ppn) - from_ppn(first) < slots)
			release_remap_slot(volume, i);
}

static int write_remap_table_copy(struct aftl_volume *volume, u64 number)
{
	const struct aftl_backing *backing = volume->backing;
	u32 i;

	for (i = 0; i < AFTL_FRAME_SECTORS; i++)
		aftl_sector_add_crc(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES, volume->nonce,
				    number * AFTL_FRAME_SECTORS + i);
	return backing->write(backing->host, number * AFTL_FRAME_BYTES, volume->scratch,
			      AFTL_FRAME_BYTES);
}

int aftl_remap_write(struct aftl_volume *volume)
{
	const struct aftl_backing *backing = volume->backing;
	int ret = 0;
	u32 i;

	volume->remaps_dirty = false;
	memset(volume->scratch, 0, AFTL_FRAME_BYTES);
	for (i = 0; i < AFTL_REMAPS_MAX; i++) {
		struct aftl_place at = aftl_remap_place(i);

		aftl_remap_encode(&volume->remaps[i],
				  volume->scratch + at.offset + at.sector * AFTL_SECTOR_BYTES);
	}
	for (i = 0; !ret && i < AFTL_REMAP_COPIES; i++)
		ret = write_remap_table_copy(volume, volume->header.layout.snapshot + i);
	return ret ? ret : backing->flush(backing->host);
}

/*
 * Return true if the remap entry is that of the page's current program. The block's erase count and
 * the low byte of the page's attributes, which counts reprograms, differ after a later program; the
 * mode in that byte may change in place, so it is left out.
 */
static bool remap_entry_is_current(const struct aftl *ftl, const struct aftl_remap *remap)
{
	const struct aftl_media *media = &ftl->media;
	u8 same = (u8)~AFTL_PAGE_MODE_MASK;

	return from_ppn(remap->ppn) < ftl->geo.ppns && aftl_ppn_is_valid(media, remap->ppn) &&
	       aftl_block_of_ppn(media, remap->ppn)->erases == remap->erases &&
	       ((aftl_ppn_attr(media, remap->ppn) ^ remap->attr) & same) == 0;
}

static void remap_decode_table(struct aftl_volume *volume, const struct aftl *ftl)
{
	u32 places = count_remap_slots(volume);
	u32 i;

	for (i = 0; i < places; i++) {
		struct aftl_remap *remap = &volume->remaps[i];
		struct aftl_place at = aftl_remap_place(i);

		aftl_remap_decode(remap,
				  volume->scratch + at.offset + at.sector * AFTL_SECTOR_BYTES);
		if (!remap_entry_is_current(ftl, remap))
			remap->ppn = AFTL_NO_PPN;
		volume->remap_count += remap->ppn != AFTL_NO_PPN;
	}
}

static int read_remap_table_copy(struct aftl_volume *volume, u64 number)
{
	const struct aftl_backing *backing = volume->backing;
	int ret = backing->read(backing->host, number * AFTL_FRAME_BYTES, volume->scratch,
				AFTL_FRAME_BYTES);
	u32 i;

	for (i = 0; !ret && i < AFTL_FRAME_SECTORS; i++)
		if (!aftl_sector_is_sound(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES,
					  volume->nonce, number * AFTL_FRAME_SECTORS + i))
			ret = -EUCLEAN;
	return ret;
}

int aftl_remap_load(struct aftl_volume *volume, const struct aftl *ftl, struct aftl_error *error)
{
	int ret = -EUCLEAN;
	u32 i;

	aftl_remap_init(volume);
	if (!volume->header.remapped)
		return 0;
	for (i = 0; ret && i < AFTL_REMAP_COPIES; i++)
		ret = read_remap_table_copy(volume, volume->header.layout.snapshot + i);
	if (ret)
		return aftl_fail(error, ret,
				 "the volume is damaged: the table of remapped sectors cannot be read");
	remap_decode_table(volume, ftl);
	return 0;
}
