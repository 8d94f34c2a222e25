/* SPDX-License-Identifier: GPL-2.0-only */
/* The persisted write buffer of a volume (PLP). */
#ifndef AFTL_PLP_BUFFER_H
#define AFTL_PLP_BUFFER_H

#include "core/persist/volume-private.h"

/**
 * struct aftl_plp_slot - room for a logical page in the persisted write buffer
 * @entry: table entry of the page
 * @next: after a load, the slot plus 1 of the recovered page with the next higher lpn; 0: none
 * @state: enum aftl_plp_slot_state
 */
struct aftl_plp_slot {
	struct aftl_plp_entry entry;
	u32 next;
	u8 state;
};

/* See plp-buffer.c. */
enum aftl_plp_slot_state {
	AFTL_PLP_SLOT_FREE,
	AFTL_PLP_SLOT_USED,
	AFTL_PLP_SLOT_RELEASED,
};

bool __must_check aftl_plp_alloc_slots(struct aftl_volume *volume);
void aftl_plp_destroy(struct aftl_volume *volume);

/* Value of plp_slot_of[tag] for a write that waits for a slot of the persisted write buffer. */
#define AFTL_PLP_WAITING U32_MAX

/* Return true if a version of @lpn has a PLP entry that has not been released. */
bool aftl_plp_has_lpn(const struct aftl_volume *volume, aftl_lpn_t lpn);

bool aftl_plp_count_used_slots(const struct aftl_volume *volume);

/* Free the PLP slots that were released before the last commit. */
void aftl_plp_free_released_slots(struct aftl_volume *volume);

/* Encode the table entry of slot @index of the persisted write buffer. */
void aftl_plp_slot_encode(const struct aftl_volume *volume, u32 index, u8 *bytes);

/* Return a free slot of the persisted write buffer, or the number of slots if there is none. */
u32 aftl_plp_find_free_slot(struct aftl_volume *volume);

/* Offset on the backing device of the data of a PLP slot. */
u64 aftl_plp_slot_offset(const struct aftl_volume *volume, u32 index);

/* Remember to remove the mapping of @ppn from the spare table. */
int __must_check aftl_volume_invalidate_ppn(struct aftl_volume *volume, aftl_ppn_t ppn);

/* Return a bit for each ppn of @page that aftl_volume_invalidate_ppn() recorded. */
u16 aftl_volume_get_invalid_ppns_of_page(const struct aftl_volume *volume, u32 page);

/* Forget the ppns that aftl_volume_invalidate_ppn() recorded: the spare table has been changed. */
void aftl_volume_free_invalidated_bitmap(struct aftl_volume *volume);

#endif
