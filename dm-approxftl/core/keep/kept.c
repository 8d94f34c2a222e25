// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is left of the write buffer after a crash, and of zones, entries that speak of units
 * beyond a write pointer.
 */
#include "core/ftl/device.h"
#include "core/keep/volume-device.h"

static u32 count_places(const struct aftl_volume *volume)
{
	return volume->geo.kept_units;
}

bool aftl_kept_take(struct aftl_volume *volume)
{
	const struct aftl_medium *medium = volume->medium;
	u32 places = count_places(volume);

	if (!places)
		return true;
	volume->kept = medium->alloc(medium->host, places * sizeof(*volume->kept));
	volume->kept_at = medium->alloc(medium->host, places * sizeof(*volume->kept_at));
	return volume->kept && volume->kept_at;
}

static void give(const struct aftl_medium *medium, void *memory, size_t bytes)
{
	if (memory)
		medium->free(medium->host, memory, bytes);
}

static size_t dropped_bytes(const struct aftl_volume *volume)
{
	return DIV_ROUND_UP(volume->geo.slots, 64) * sizeof(u64);
}

void aftl_kept_forget_drops(struct aftl_volume *volume)
{
	give(volume->medium, volume->dropped, dropped_bytes(volume));
	volume->dropped = NULL;
}

void aftl_kept_give(struct aftl_volume *volume)
{
	u32 places = count_places(volume);

	give(volume->medium, volume->kept, places * sizeof(*volume->kept));
	give(volume->medium, volume->kept_at, places * sizeof(*volume->kept_at));
	aftl_kept_forget_drops(volume);
}

bool aftl_kept_unit(const struct aftl_volume *volume, aftl_unit_t unit)
{
	u32 i;

	for (i = 0; i < count_places(volume); i++)
		if (volume->kept[i].state == AFTL_KEPT_USED &&
		    volume->kept[i].entry.what.unit == unit)
			return true;
	return false;
}

bool aftl_kept_any(const struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; i < count_places(volume); i++)
		if (volume->kept[i].state == AFTL_KEPT_USED)
			return true;
	return false;
}

void aftl_kept_committed(struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; i < count_places(volume); i++)
		if (volume->kept[i].state == AFTL_KEPT_OVER)
			volume->kept[i].state = AFTL_KEPT_FREE;
}

u64 aftl_kept_offset(const struct aftl_volume *volume, u32 index)
{
	return volume->super.layout.kept * AFTL_FRAME_BYTES +
	       (u64)index * volume->geo.unit_bytes;
}

u32 aftl_kept_free(struct aftl_volume *volume)
{
	u32 places = count_places(volume);
	u32 i;

	for (i = 0; i < places; i++) {
		u32 index = volume->kept_hand;

		volume->kept_hand = (index + 1) % places;
		if (volume->kept[index].state == AFTL_KEPT_FREE)
			return index;
	}
	return places;
}

void aftl_kept_encode(const struct aftl_volume *volume, u32 index, u8 *bytes)
{
	struct aftl_kept_entry none = { 0 };

	aftl_kept_entry_encode(volume->kept[index].state == AFTL_KEPT_USED ?
			       &volume->kept[index].entry : &none, bytes);
}

void aftl_volume_release_unit(struct aftl_volume *volume, u32 tag)
{
	u32 index = volume->kept_at[tag];

	volume->kept_at[tag] = 0;
	if (index == AFTL_KEPT_WAITING)
		volume->kept_waiting--;
	else if (index)
		volume->kept[index - 1].state = AFTL_KEPT_OVER;
}

bool aftl_volume_next_kept(const struct aftl_volume *volume, u32 from,
			   struct aftl_buffered *what, u64 *offset)
{
	u32 i;

	what->unit = AFTL_NO_UNIT;

	for (i = 0; i < count_places(volume); i++) {
		const struct aftl_kept *kept = &volume->kept[i];

		if (kept->state != AFTL_KEPT_USED || from_unit(kept->entry.what.unit) < from ||
		    from_unit(kept->entry.what.unit) >= from_unit(what->unit))
			continue;
		*what = kept->entry.what;
		*offset = aftl_kept_offset(volume, i);
	}
	return what->unit != AFTL_NO_UNIT;
}

void aftl_volume_resume(struct aftl_volume *volume, aftl_unit_t unit, u32 tag)
{
	u32 i;

	for (i = 0; i < count_places(volume); i++)
		if (volume->kept[i].state == AFTL_KEPT_USED &&
		    volume->kept[i].entry.what.unit == unit)
			volume->kept_at[tag] = i + 1;
}

/* What must not be found again */

int aftl_volume_drop(struct aftl_volume *volume, aftl_slot_t slot)
{
	const struct aftl_medium *medium = volume->medium;

	if (!volume->dropped)
		volume->dropped = medium->alloc(medium->host, dropped_bytes(volume));
	if (!volume->dropped)
		return -ENOMEM;
	volume->dropped[from_slot(slot) / 64] |= 1ULL << from_slot(slot) % 64;
	return 0;
}

u16 aftl_kept_dropped(const struct aftl_volume *volume, u32 page)
{
	u32 first = page * volume->geo.page_units;
	u16 bits = 0;
	u32 i;

	for (i = 0; i < volume->geo.page_units; i++)
		bits |= (u16)((volume->dropped[(first + i) / 64] >> (first + i) % 64 & 1) << i);
	return bits;
}
