/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of a volume in use: programs, erases, discards, zones, persisted writes, commits. */
#ifndef AFTL_VOLUME_RECORD_H
#define AFTL_VOLUME_RECORD_H

#include "core/ftl/host-ops.h"
#include "core/persist/volume-entries.h"

struct aftl;
struct aftl_volume;

/* Make table entries for a commit from the state of the FTL, whose lock the caller holds. */

void aftl_init_spare_entry(struct aftl_spare *spare, const struct aftl *ftl, aftl_ppn_t first);
void aftl_erase_entry_describe_block(struct aftl_erase_entry *entry, const struct aftl *ftl,
				     u32 block);
u64 aftl_get_policy_state_word(const struct aftl *ftl);
u64 aftl_get_device_age_ns(const struct aftl *ftl);

/* Record a program or discard for the next commit. Return: 0, or the first error of the volume. */

int __must_check aftl_volume_record_program(struct aftl_volume *volume, u32 page,
					    const struct aftl_spare *spare);
int __must_check aftl_volume_record_discard(struct aftl_volume *volume, aftl_lpn_t first,
					    u32 units);

/* Record the reset or the finish of a zone. Zoned devices have no discards. */
int __must_check aftl_volume_record_zone(struct aftl_volume *volume, u32 zone,
					 enum aftl_zone_state state);
int __must_check aftl_volume_record_erase(struct aftl_volume *volume, u32 block,
					  const struct aftl_erase_entry *entry);
int __must_check aftl_volume_record_retirement(struct aftl_volume *volume, u32 block,
					       const struct aftl_erase_entry *entry);

/**
 * aftl_volume_persist_unit() - give a buffered page an entry in the persisted write buffer (PLP)
 * @volume: in use
 * @tag: tag of the write
 * @entry: the page, see aftl_get_buffered_write(), and its sequence number, which is set if it is 0
 * @offset: takes the offset on the backing device where the caller writes the page's data before
 *	the next commit
 *
 * Called for each write that enters the buffer; on a zoned device, for each tag whose data a flush
 * must not wait for. Called again when unstored() is called for the tag. plp-buffer.c has the
 * rules.
 *
 * Return: 0; -EAGAIN if no slot is free: the page waits, and the caller calls again with the same
 * @entry after a commit, unless @tag is released before, and not later than
 * aftl_volume_awaits_plp_slots() says; or an error.
 */
int __must_check aftl_volume_persist_unit(struct aftl_volume *volume, u32 tag,
					  struct aftl_plp_entry *entry, u64 *offset);

/*
 * Return true if the volume cannot record an erase or a reprogram yet or, with @bad, the retirement
 * of a block, because buffered pages wait for a PLP slot. aftl_volume_record_...() of such a change
 * returns -EAGAIN then.
 */
bool aftl_volume_awaits_plp_slots(const struct aftl_volume *volume, bool bad);

/*
 * Release the PLP entry of the buffered write @tag: its page was programmed, overwritten or
 * discarded, and that has been recorded. A page that cannot be programmed keeps its entry for the
 * next load.
 */
void aftl_volume_release_plp_entry(struct aftl_volume *volume, u32 tag);

/**
 * aftl_volume_get_next_persisted_lpn() - iterate over the recovered buffered pages (PLP)
 * @volume: just loaded
 * @slot: 0 for the first page, then unchanged
 * @what: takes the page with the next higher lpn
 * @offset: takes the offset on the backing device of its data
 *
 * Before it uses the device, the host passes the pages to aftl_restore_buffered_write() in this
 * order, and the tags of these to aftl_volume_set_plp_slot_of_tag().
 *
 * Return: false if there is none.
 */
bool aftl_volume_get_next_persisted_lpn(const struct aftl_volume *volume, u32 *slot,
					struct aftl_buffered_lpn *what, u64 *offset);
void aftl_volume_set_plp_slot_of_tag(struct aftl_volume *volume, u32 slot, u32 tag);

int __must_check aftl_volume_commit(struct aftl_volume *volume);

/*
 * Commit recorded programs and discards, if any, before flash pages with replaced data are used
 * again. Return: -EAGAIN if buffered pages wait for a PLP slot, and must get one first.
 */
int __must_check aftl_volume_commit_if_changed(struct aftl_volume *volume);

/* Offset on the backing device of the data of @ppn. */
u64 aftl_volume_data_offset(const struct aftl_volume *volume, aftl_ppn_t ppn);

/**
 * aftl_volume_remap_ppn() - choose another place for data that could not be written
 * @volume: in use
 * @ppn: flash page of the data
 * @spare: spare entry of the program that stores them; it may be recorded before or after this call
 *
 * From now on aftl_volume_data_offset() returns the new place. The caller writes the data there
 * before the next flush ends, and calls aftl_fail_block() for the block, now and after each load
 * (see aftl_volume_find_next_remapped_block()). This may overlap another call of the volume, if
 * aftl_volume_data_offset() does not.
 *
 * Return: false if no place is left; then nothing has changed.
 */
bool __must_check aftl_volume_remap_ppn(struct aftl_volume *volume, aftl_ppn_t ppn,
					const struct aftl_spare *spare);

/*
 * Free the places of remapped data in @slots ppns from @first on. The data must have newer durable
 * versions elsewhere and no readers. The caller does this before it records that the block was
 * erased or retired, and before it programs a page again, after aftl_volume_commit_if_changed(),
 * which covers the last remaps. The caller prevents a concurrent aftl_volume_remap_ppn().
 */
void aftl_volume_free_remap_slots_of_ppns(struct aftl_volume *volume, aftl_ppn_t first, u32 slots);

/* Return the first block from @block on with remapped data; U32_MAX if there is none. */
u32 aftl_volume_find_next_remapped_block(const struct aftl_volume *volume, u32 block);

#endif
