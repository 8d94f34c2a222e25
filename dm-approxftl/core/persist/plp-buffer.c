// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is left of the write buffer after a crash, and of zones, entries that speak of units
 * beyond a write pointer.
 */
#include "core/ftl/device.h"
#include "core/persist/volume-private.h"

static u32 plp_capacity(const struct aftl_volume *volume)
{
	return volume->geo.plp_entries;
}

bool aftl_plp_alloc(struct aftl_volume *volume)
{
	const struct aftl_backing *backing = volume->backing;
	u32 places = plp_capacity(volume);

	if (!places)
		return true;
	volume->plp_slots = backing->alloc(backing->host, places * sizeof(*volume->plp_slots));
	volume->plp_slot_of = backing->alloc(backing->host, places * sizeof(*volume->plp_slot_of));
	return volume->plp_slots && volume->plp_slot_of;
}

static void plp_free_memory(const struct aftl_backing *backing, void *memory, size_t bytes)
{
	if (memory)
		backing->free(backing->host, memory, bytes);
}

static size_t invalidated_bytes(const struct aftl_volume *volume)
{
	return DIV_ROUND_UP(volume->geo.ppns, 64) * sizeof(u64);
}

void aftl_volume_free_invalidated(struct aftl_volume *volume)
{
	plp_free_memory(volume->backing, volume->invalidated, invalidated_bytes(volume));
	volume->invalidated = NULL;
}

void aftl_plp_destroy(struct aftl_volume *volume)
{
	u32 places = plp_capacity(volume);

	plp_free_memory(volume->backing, volume->plp_slots, places * sizeof(*volume->plp_slots));
	plp_free_memory(volume->backing, volume->plp_slot_of,
			places * sizeof(*volume->plp_slot_of));
	aftl_volume_free_invalidated(volume);
}

bool aftl_plp_has_lpn(const struct aftl_volume *volume, aftl_lpn_t lpn)
{
	u32 i;

	for (i = 0; i < plp_capacity(volume); i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_USED &&
		    volume->plp_slots[i].entry.what.lpn == lpn)
			return true;
	return false;
}

bool aftl_plp_in_use(const struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; i < plp_capacity(volume); i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_USED)
			return true;
	return false;
}

void aftl_plp_committed(struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; i < plp_capacity(volume); i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_RELEASED)
			volume->plp_slots[i].state = AFTL_PLP_SLOT_FREE;
}

u64 aftl_plp_slot_offset(const struct aftl_volume *volume, u32 index)
{
	return volume->header.layout.plp_data * AFTL_FRAME_BYTES +
	       (u64)index * volume->geo.unit_bytes;
}

u32 aftl_plp_find_free_slot(struct aftl_volume *volume)
{
	u32 places = plp_capacity(volume);
	u32 i;

	for (i = 0; i < places; i++) {
		u32 index = volume->plp_hand;

		volume->plp_hand = (index + 1) % places;
		if (volume->plp_slots[index].state == AFTL_PLP_SLOT_FREE)
			return index;
	}
	return places;
}

void aftl_plp_slot_encode(const struct aftl_volume *volume, u32 index, u8 *bytes)
{
	struct aftl_plp_entry none = { 0 };

	aftl_plp_entry_encode(volume->plp_slots[index].state == AFTL_PLP_SLOT_USED ?
				      &volume->plp_slots[index].entry :
				      &none,
			      bytes);
}

void aftl_volume_release_unit(struct aftl_volume *volume, u32 tag)
{
	u32 index = volume->plp_slot_of[tag];

	volume->plp_slot_of[tag] = 0;
	if (index == AFTL_PLP_WAITING)
		volume->plp_waiting--;
	else if (index)
		volume->plp_slots[index - 1].state = AFTL_PLP_SLOT_RELEASED;
}

bool aftl_volume_next_persisted(const struct aftl_volume *volume, u32 from,
				struct aftl_buffered_lpn *what, u64 *offset)
{
	u32 i;

	what->lpn = AFTL_NO_LPN;

	for (i = 0; i < plp_capacity(volume); i++) {
		const struct aftl_plp_slot *kept = &volume->plp_slots[i];

		if (kept->state != AFTL_PLP_SLOT_USED || from_lpn(kept->entry.what.lpn) < from ||
		    from_lpn(kept->entry.what.lpn) >= from_lpn(what->lpn))
			continue;
		*what = kept->entry.what;
		*offset = aftl_plp_slot_offset(volume, i);
	}
	return what->lpn != AFTL_NO_LPN;
}

void aftl_volume_attach_persisted(struct aftl_volume *volume, aftl_lpn_t lpn, u32 tag)
{
	u32 i;

	for (i = 0; i < plp_capacity(volume); i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_USED &&
		    volume->plp_slots[i].entry.what.lpn == lpn)
			volume->plp_slot_of[tag] = i + 1;
}

/* What must not be found again */

int aftl_volume_invalidate(struct aftl_volume *volume, aftl_ppn_t ppn)
{
	const struct aftl_backing *backing = volume->backing;

	if (!volume->invalidated)
		volume->invalidated = backing->alloc(backing->host, invalidated_bytes(volume));
	if (!volume->invalidated)
		return -ENOMEM;
	volume->invalidated[from_ppn(ppn) / 64] |= 1ULL << from_ppn(ppn) % 64;
	return 0;
}

u16 aftl_volume_invalidated(const struct aftl_volume *volume, u32 page)
{
	u32 first = page * volume->geo.page_units;
	u16 bits = 0;
	u32 i;

	for (i = 0; i < volume->geo.page_units; i++)
		bits |= (u16)((volume->invalidated[(first + i) / 64] >> (first + i) % 64 & 1) << i);
	return bits;
}
