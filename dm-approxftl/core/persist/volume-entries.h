/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of the tables of a volume. docs/volume-format.md has the format. */
#ifndef AFTL_VOLUME_ENTRIES_H
#define AFTL_VOLUME_ENTRIES_H

#include "core/ftl/request.h"
#include "core/nand/media.h"

/* Limit of logical pages in a flash page: its spare entry has room for no more. */
#define AFTL_SPARE_UNITS 16

/**
 * struct aftl_erase_entry - the state of a block that survives its erase
 * @erases: completed erases
 * @wear: sum of the wear of these erases
 * @bad: the block is retired
 * @flip: checkerboard colour that comes first
 * @dead: its LUN is dead
 */
struct aftl_erase_entry {
	u32 erases;
	u32 wear;
	bool bad;
	bool flip;
	bool dead;
};

/**
 * struct aftl_zone_entry - the state of a zone that does not follow from its pages
 * @seq: sequence number of the last reset of the zone
 * @state: enum aftl_zone_state; AFTL_ZONE_EMPTY: the state follows from the pages
 */
struct aftl_zone_entry {
	u64 seq;
	u8 state;
};

/**
 * struct aftl_plp_entry - a logical page in the persisted write buffer
 * @seq: sequence number of the write; 0: no entry
 * @what: lpn, level and hint
 */
struct aftl_plp_entry {
	u64 seq;
	struct aftl_buffered_lpn what;
};

/**
 * struct aftl_remap - a ppn whose data are not at their usual place
 * @ppn: physical page; AFTL_NO_PPN: no entry
 * @erases: erase count of the block
 * @attr: low byte of the attributes of the flash page
 */
struct aftl_remap {
	aftl_ppn_t ppn;
	u32 erases;
	u8 attr;
};

/**
 * struct aftl_spare - the spare area (OOB metadata) of a flash page: enough to recover everything
 * @seq: sequence number; 0: never programmed
 * @opened_ns: time of the first program of the block, or of aftl_policy_reset_block_age()
 * @erases: completed erases of the block
 * @wear: wear of these erases, in 1/10000 of a full erase
 * @first_hour: device age in hours at the first program of the block since its erase
 * @hours: from the block's first program to this one
 * @note: state of the policy for the block
 * @attr: attributes of the page: class, program mode, number of reprograms
 * @order: enum aftl_order
 * @kind: kind of the block, a number that the policy chooses
 * @handle: placement handle that owns the block; 0: the default one
 * @bits: bits per cell, if the block uses fewer than its cells can hold; 0: all of them
 * @flip: checkerboard colour that comes first
 * @parity: the block holds parity of its superblock
 * @mapped: bit by ppn: the logical page was mapped here
 * @hidden: bit by ppn, not encoded: valid, but a newer version is in the persisted write buffer
 * @lost: bit by ppn: the data are lost
 * @word: by ppn, lpn and level, see aftl_oob_lpn_word()
 * @origin: by ppn, write generation and inherited errors
 */
struct aftl_spare {
	u64 seq;
	u64 opened_ns;
	u32 erases;
	u32 wear;
	u32 first_hour;
	u16 hours;
	u16 note;
	u16 attr;
	u8 order;
	u8 kind;
	u8 handle;
	u8 bits;
	bool flip;
	bool parity;
	u16 mapped;
	u16 hidden;
	u16 lost;
	aftl_lpn_t word[AFTL_SPARE_UNITS];
	struct aftl_origin origin[AFTL_SPARE_UNITS];
};

void aftl_remap_encode(const struct aftl_remap *remap, u8 *bytes);
void aftl_remap_decode(struct aftl_remap *remap, const u8 *bytes);

void aftl_erase_entry_encode(const struct aftl_erase_entry *entry, u8 *bytes);
void aftl_erase_entry_decode(struct aftl_erase_entry *entry, const u8 *bytes);

void aftl_zone_entry_encode(const struct aftl_zone_entry *entry, u8 *bytes);

/* Decode a zone entry. Return: 0, or -EUCLEAN if its state is not possible. */
int __must_check aftl_zone_entry_decode(struct aftl_zone_entry *entry, const u8 *bytes);
void aftl_plp_entry_encode(const struct aftl_plp_entry *entry, u8 *bytes);

/* Decode a PLP entry. Return: 0, or -EUCLEAN if it is not possible. */
int __must_check aftl_plp_entry_decode(struct aftl_plp_entry *entry,
				       const struct aftl_geometry *geo, const u8 *bytes);

u32 aftl_spare_entry_size(const struct aftl_geometry *geo);
void aftl_spare_entry_encode(const struct aftl_spare *spare, const struct aftl_geometry *geo,
			     u8 *bytes);

/*
 * Decode a spare entry. If the page was never programmed, only @spare->seq is set.
 *
 * Return: 0, or -EUCLEAN if no program of a device of this geometry can have written the entry.
 */
int __must_check aftl_spare_entry_decode(struct aftl_spare *spare, const struct aftl_geometry *geo,
					 const u8 *bytes);

/* Decode a spare entry unchecked, and only @seq, @erases, @wear, @flip, @mapped and @word of it. */
void aftl_spare_entry_decode_recovery_fields(struct aftl_spare *spare,
					     const struct aftl_geometry *geo, const u8 *bytes);

#endif
