// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data that could not be written where they belong: they are where a volume that is closed has
 * its snapshot, until the FTL has moved them.
 */
#include "core/ftl/device.h"
#include "core/keep/volume-device.h"

void aftl_displaced_init(struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; i < AFTL_DISPLACED_MAX; i++)
		volume->displaced[i].slot = AFTL_NO_SLOT;
	volume->displaced_slots = 0;
}

static u32 frames_of_unit(const struct aftl_volume *volume)
{
	return DIV_ROUND_UP(volume->geo.unit_bytes, (u32)AFTL_FRAME_BYTES);
}

static u32 count_places(const struct aftl_volume *volume)
{
	const struct aftl_layout *layout = &volume->super.layout;

	return min((u32)(layout->kept - layout->snapshot - AFTL_DISPLACED_COPIES) /
		   frames_of_unit(volume), (u32)AFTL_DISPLACED_MAX);
}

/* The place of @slot, or one that is free for AFTL_NO_SLOT; AFTL_DISPLACED_MAX if none. */
static u32 find_place(const struct aftl_volume *volume, aftl_slot_t slot)
{
	u32 places = count_places(volume);
	u32 i;

	for (i = 0; i < places; i++)
		if (volume->displaced[i].slot == slot)
			return i;
	return AFTL_DISPLACED_MAX;
}

u64 aftl_displaced_offset(const struct aftl_volume *volume, aftl_slot_t slot)
{
	u32 place = find_place(volume, slot);

	return place == AFTL_DISPLACED_MAX ? 0 :
	       (volume->super.layout.snapshot + AFTL_DISPLACED_COPIES +
		(u64)place * frames_of_unit(volume)) * AFTL_FRAME_BYTES;
}

bool aftl_volume_displace(struct aftl_volume *volume, aftl_slot_t slot,
			  const struct aftl_spare *spare)
{
	u32 place = find_place(volume, slot);

	if (place == AFTL_DISPLACED_MAX) {
		place = find_place(volume, AFTL_NO_SLOT);
		if (place == AFTL_DISPLACED_MAX)
			return false;
		volume->displaced_slots++;
	}
	volume->displaced[place] = (struct aftl_displaced){
		.slot = slot,
		.erases = spare->erases,
		.attr = spare->attr,
	};
	volume->displaced_dirty = true;
	return true;
}

static u32 block_of(const struct aftl_volume *volume, const struct aftl_displaced *displaced)
{
	return displaced->slot == AFTL_NO_SLOT ? U32_MAX :
	       from_slot(displaced->slot) / volume->geo.block_slots;
}

u32 aftl_volume_displaced(const struct aftl_volume *volume, u32 block)
{
	u32 first = U32_MAX;
	u32 i;

	for (i = 0; volume->displaced_slots && i < AFTL_DISPLACED_MAX; i++)
		if (block_of(volume, &volume->displaced[i]) >= block)
			first = min(first, block_of(volume, &volume->displaced[i]));
	return first;
}

static void vacate_place(struct aftl_volume *volume, u32 place)
{
	volume->displaced[place].slot = AFTL_NO_SLOT;
	volume->displaced_slots--;
}

void aftl_volume_vacate(struct aftl_volume *volume, aftl_slot_t first, u32 slots)
{
	u32 i;

	for (i = 0; volume->displaced_slots && i < AFTL_DISPLACED_MAX; i++)
		if (volume->displaced[i].slot != AFTL_NO_SLOT &&
		    from_slot(volume->displaced[i].slot) - from_slot(first) < slots)
			vacate_place(volume, i);
}

static int write_copy(struct aftl_volume *volume, u64 number)
{
	const struct aftl_medium *medium = volume->medium;
	u32 i;

	for (i = 0; i < AFTL_FRAME_SECTORS; i++)
		aftl_sector_seal(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES, volume->nonce,
				 number * AFTL_FRAME_SECTORS + i);
	return medium->write(medium->host, number * AFTL_FRAME_BYTES, volume->scratch,
			     AFTL_FRAME_BYTES);
}

int aftl_displaced_write(struct aftl_volume *volume)
{
	const struct aftl_medium *medium = volume->medium;
	int ret = 0;
	u32 i;

	volume->displaced_dirty = false;
	memset(volume->scratch, 0, AFTL_FRAME_BYTES);
	for (i = 0; i < AFTL_DISPLACED_MAX; i++) {
		struct aftl_place at = aftl_displaced_place(i);

		aftl_displaced_encode(&volume->displaced[i], volume->scratch + at.offset +
				      at.sector * AFTL_SECTOR_BYTES);
	}
	for (i = 0; !ret && i < AFTL_DISPLACED_COPIES; i++)
		ret = write_copy(volume, volume->super.layout.snapshot + i);
	return ret ? ret : medium->flush(medium->host);
}

/*
 * Is that the program that @displaced speaks of, and not read from anywhere else? Of attributes the
 * table has the low byte, which counts programs. The mode of a page may have changed where it is.
 */
static bool still_counts(const struct aftl *ftl, const struct aftl_displaced *displaced)
{
	const struct aftl_media *media = &ftl->media;
	u8 same = (u8)~AFTL_PAGE_MODE_MASK;

	return from_slot(displaced->slot) < ftl->geo.slots &&
	       aftl_slot_valid(media, displaced->slot) &&
	       aftl_slot_block(media, displaced->slot)->erases == displaced->erases &&
	       ((aftl_slot_attr(media, displaced->slot) ^ displaced->attr) &
		same) == 0;
}

static void take_table(struct aftl_volume *volume, const struct aftl *ftl)
{
	u32 places = count_places(volume);
	u32 i;

	for (i = 0; i < places; i++) {
		struct aftl_displaced *displaced = &volume->displaced[i];
		struct aftl_place at = aftl_displaced_place(i);

		aftl_displaced_decode(displaced, volume->scratch + at.offset +
				      at.sector * AFTL_SECTOR_BYTES);
		if (!still_counts(ftl, displaced))
			displaced->slot = AFTL_NO_SLOT;
		volume->displaced_slots += displaced->slot != AFTL_NO_SLOT;
	}
}

static int read_copy(struct aftl_volume *volume, u64 number)
{
	const struct aftl_medium *medium = volume->medium;
	int ret = medium->read(medium->host, number * AFTL_FRAME_BYTES, volume->scratch,
			       AFTL_FRAME_BYTES);
	u32 i;

	for (i = 0; !ret && i < AFTL_FRAME_SECTORS; i++)
		if (!aftl_sector_sound(volume->scratch + (size_t)i * AFTL_SECTOR_BYTES,
				       volume->nonce, number * AFTL_FRAME_SECTORS + i))
			ret = -EUCLEAN;
	return ret;
}

int aftl_displaced_load(struct aftl_volume *volume, const struct aftl *ftl,
			struct aftl_error *error)
{
	int ret = -EUCLEAN;
	u32 i;

	aftl_displaced_init(volume);
	if (!volume->super.displaced)
		return 0;
	for (i = 0; ret && i < AFTL_DISPLACED_COPIES; i++)
		ret = read_copy(volume, volume->super.layout.snapshot + i);
	if (ret)
		return aftl_fail(error, ret,
				 "the volume is damaged: the table of what could not be written where it belongs cannot be read");
	take_table(volume, ftl);
	return 0;
}
