// SPDX-License-Identifier: GPL-2.0-only
/*
 * The write buffer that survives power loss (PLP).
 *
 * A drive saves its buffer with the energy of capacitors. A host that crashed has none, so the
 * volume has a slot for each logical page that the buffer can hold: an entry in the PLP table and
 * room for the page's data. With buffer_safe each write gets a slot when it enters the buffer; on a
 * zoned device, each buffered page gets one before a flush completes.
 *
 * A slot is in one of three states:
 *
 * - FREE: no durable entry names it.
 * - USED: its entry names a page. The host writes the data before the commit that makes it durable.
 * - RELEASED: the page was programmed, overwritten or discarded, and that has been recorded. The
 *   next commit makes the record durable. Only then is the slot FREE: until then a crash needs the
 *   entry.
 *
 * These rules keep the newest version of each page recoverable:
 *
 * 1. Recovery takes a page from its entry if the entry's sequence number is larger than that of the
 *    page's last program and last discard. On a zoned device it does so if the zone has not been
 *    reset since and no flash page of a live LUN maps it.
 * 2. The sequence number is that of the write's arrival, also if its entry is made later.
 * 3. The program of an older version gets a larger sequence number than the entry of a newer one.
 *    Its record therefore does not map the page while a newer version is in the buffer ("hidden").
 * 4. A page that finds no FREE slot waits for the next commit. While pages wait, flash must keep
 *    what a crash would fall back to, see aftl_volume_awaits_plp_slots().
 * 5. An overwrite of a page with an entry does not wait. The entry is about to be released, so a
 *    commit frees slots at once.
 * 6. A page that cannot be programmed, because no block is left, keeps its slot until the next
 *    load.
 *
 * This file also collects the mappings that recovery has rejected: pages beyond the write pointer
 * of their zone. They are removed from the spare table before the device is used.
 */
#include "core/persist/plp-buffer.h"
#include "core/persist/volume-private.h"

static u32 count_plp_slots(const struct aftl_volume *volume)
{
	return volume->geo.plp_entries;
}

bool aftl_plp_alloc_slots(struct aftl_volume *volume)
{
	const struct aftl_backing *backing = volume->backing;
	u32 slots = count_plp_slots(volume);

	if (!slots)
		return true;
	volume->plp_slots = backing->alloc(backing->host, slots * sizeof(*volume->plp_slots));
	volume->plp_slot_of = backing->alloc(backing->host, slots * sizeof(*volume->plp_slot_of));
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

void aftl_volume_free_invalidated_bitmap(struct aftl_volume *volume)
{
	plp_free_memory(volume->backing, volume->invalidated, invalidated_bytes(volume));
	volume->invalidated = NULL;
}

void aftl_plp_destroy(struct aftl_volume *volume)
{
	u32 slots = count_plp_slots(volume);

	plp_free_memory(volume->backing, volume->plp_slots, slots * sizeof(*volume->plp_slots));
	plp_free_memory(volume->backing, volume->plp_slot_of, slots * sizeof(*volume->plp_slot_of));
	aftl_volume_free_invalidated_bitmap(volume);
}

bool aftl_plp_has_lpn(const struct aftl_volume *volume, aftl_lpn_t lpn)
{
	u32 i;

	for (i = 0; i < count_plp_slots(volume); i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_USED &&
		    volume->plp_slots[i].entry.what.lpn == lpn)
			return true;
	return false;
}

bool aftl_plp_count_used_slots(const struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; i < count_plp_slots(volume); i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_USED)
			return true;
	return false;
}

void aftl_plp_free_released_slots(struct aftl_volume *volume)
{
	u32 i;

	for (i = 0; volume->plp_released && i < count_plp_slots(volume); i++)
		if (volume->plp_slots[i].state == AFTL_PLP_SLOT_RELEASED) {
			volume->plp_slots[i].state = AFTL_PLP_SLOT_FREE;
			volume->plp_released--;
		}
}

u64 aftl_plp_slot_offset(const struct aftl_volume *volume, u32 index)
{
	return volume->header.layout.plp_data * AFTL_FRAME_BYTES +
	       (u64)index * volume->geo.unit_bytes;
}

u32 aftl_plp_find_free_slot(struct aftl_volume *volume)
{
	u32 slots = count_plp_slots(volume);
	u32 i;

	for (i = 0; i < slots; i++) {
		u32 index = volume->plp_hand;

		volume->plp_hand = (index + 1) % slots;
		if (volume->plp_slots[index].state == AFTL_PLP_SLOT_FREE)
			return index;
	}
	return slots;
}

void aftl_plp_slot_encode(const struct aftl_volume *volume, u32 index, u8 *bytes)
{
	struct aftl_plp_entry none = { 0 };

	aftl_plp_entry_encode(volume->plp_slots[index].state == AFTL_PLP_SLOT_USED ?
				      &volume->plp_slots[index].entry :
				      &none,
			      bytes);
}

void aftl_volume_release_plp_entry(struct aftl_volume *volume, u32 tag)
{
	u32 index = volume->plp_slot_of[tag];

	volume->plp_slot_of[tag] = 0;
	if (index == AFTL_PLP_WAITING) {
		volume->plp_waiting--;
	} else if (index) {
		volume->plp_slots[index - 1].state = AFTL_PLP_SLOT_RELEASED;
		volume->plp_released++;
	}
}

bool aftl_volume_get_next_persisted_lpn(const struct aftl_volume *volume, u32 *slot,
					struct aftl_buffered_lpn *what, u64 *offset)
{
	*slot = *slot ? volume->plp_slots[*slot - 1].next : volume->plp_first;
	if (!*slot)
		return false;
	*what = volume->plp_slots[*slot - 1].entry.what;
	*offset = aftl_plp_slot_offset(volume, *slot - 1);
	return true;
}

void aftl_volume_set_plp_slot_of_tag(struct aftl_volume *volume, u32 slot, u32 tag)
{
	volume->plp_slot_of[tag] = slot;
}

int aftl_volume_invalidate_ppn(struct aftl_volume *volume, aftl_ppn_t ppn)
{
	const struct aftl_backing *backing = volume->backing;

	if (!volume->invalidated)
		volume->invalidated = backing->alloc(backing->host, invalidated_bytes(volume));
	if (!volume->invalidated)
		return -ENOMEM;
	volume->invalidated[from_ppn(ppn) / 64] |= 1ULL << from_ppn(ppn) % 64;
	return 0;
}

u16 aftl_volume_get_invalid_ppns_of_page(const struct aftl_volume *volume, u32 page)
{
	u32 first = page * volume->geo.page_units;
	u16 bits = 0;
	u32 i;

	for (i = 0; i < volume->geo.page_units; i++)
		bits |= (u16)((volume->invalidated[(first + i) / 64] >> (first + i) % 64 & 1) << i);
	return bits;
}
