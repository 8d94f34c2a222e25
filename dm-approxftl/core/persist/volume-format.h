/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A volume: an emulated device on a block device, laid out so that it survives.
 *
 * All numbers are little-endian. The volume is divided into frames of 4096 bytes and
 * sectors of 512. A sector is what the medium writes whole or not at all; every sector
 * of metadata but those of the superblock carries its own checksum and says where it
 * belongs:
 *
 *	offset  size  content
 *	     0   504  payload
 *	   504     4  nonce of the volume: the first bytes of its UUID
 *	   508     4  CRC-32C of bytes 0 .. 507, then of the sector's number as 8 bytes
 *
 * Formatting writes all of them, but where there is a table of stretches. The areas, in frames:
 *
 *	     0  superblock
 *	     1  its copy
 *	     2  state after commits of even number
 *	     3  state after commits of odd number
 *	     4  where tables are large, the table of their stretches, 4032 a sector, and its copy
 *	     .  erase table, 31 blocks a sector
 *	     .  spare table, as many pages a sector as fit
 *	     .  discard table, 63 units a sector; of a device with zones, which has no discards,
 *	        the zone table, 31 zones a sector
 *	     .  where the write buffer survives power loss, the table of what is kept, 31
 *	        entries a sector
 *	     .  snapshot, see snapshot.h: the state when the volume was last closed; or, where
 *	        not all bytes are where they belong, the table of displaced slots
 *	     .  what is kept, one unit for each entry
 *	     .  data, from a multiple of 1 MiB on: the media, slot by slot
 *
 * Superblock:
 *
 *	offset  size  content
 *	     0     8  magic 89 41 46 56 0d 0a 1a 0a
 *	     8     2  format version, major: 1, or 2 while there is a table of displaced
 *	              slots; 3 and 4 the same with a table of stretches; readers refuse any
 *	              other
 *	    10     2  format version, minor: 0; readers accept any
 *	    12     4  bytes of a frame: 4096
 *	    16    16  UUID
 *	    32     8  generation: of two valid superblocks the one with the larger counts
 *	    40     8  bytes of the volume
 *	    48    16  policy that the volume was last used with, padded with zeroes
 *	    64    16  profile that it was made from
 *	    80     8  first frame of the erase table
 *	    88     8  first frame of the spare table
 *	    96     8  first frame of the discard table
 *	   104     8  first frame of the snapshot
 *	   112     8  first frame of the data
 *	   120     4  number of parameters
 *	   124     .  for each: u8 length of the key, the key, u64 value in stored units
 *	  4088     4  number of the shard, of a device that has several
 *	  4092     4  CRC-32C of bytes 0 .. 4091
 *
 * A device with shards has a volume for each of them, one after the other, each from a
 * multiple of 1 MiB on. The parameters are those of the whole device, in all of them. Their
 * UUIDs differ in the first four bytes alone, which as a number are larger by the number of the
 * shard than those of the first.
 *
 * State, in the first sector of its frame:
 *
 *	     0     8  magic 89 41 46 53 0d 0a 1a 0a
 *	     8     4  flags: 1 closed in order, the snapshot holds
 *	    12     4  zero
 *	    16     8  number of the commit
 *	    24     8  sequence number: changes with larger ones came later
 *	    32     8  device time in ns
 *	    40     8  time that passed without the device, in ns
 *	    48     8  what the policy remembers
 *	    56     8  bytes of the snapshot
 *	    64     8  sequence number when the policy took over: kinds of blocks and bits of
 *	              the policy in entries up to it are those of others
 *	    72    16  policy, padded with zeroes
 *
 * Entry of the erase table, 16 bytes:
 *
 *	     0     4  erases
 *	     4     4  wear in 1/10000 of a full erase
 *	     8     1  flags: 1 bad, 2 checkerboard colour that comes first, 4 its LUN is dead
 *	     9     7  zero
 *
 * Entry of the spare table, 40 bytes and 8 for each unit of a page:
 *
 *	     0     8  sequence number of the program; 0: never programmed
 *	     8     8  device time of the first program of the block, in ns
 *	    16     4  erases of the block: with another number than the block's the entry
 *	              is that of an erased page
 *	    20     4  wear of the block
 *	    24     4  device age in hours at the first program of the block
 *	    28     2  hours from then to this program
 *	    30     2  bits of the policy for the block
 *	    32     1  attributes of the page, see media.h
 *	    33     1  order of the block, enum aftl_order
 *	    34     1  bits 0 .. 3: kind of the block, as its policy says; bits 4 .. 7: placement
 *	              handle, 0 for the default one
 *	    35     1  flags: 1 checkerboard colour that comes first,
 *	              bits 1, 2: bits in a cell, 0 for all; bits 3 .. 5: upper bits of the mode;
 *	              bit 6: parity of its superblock
 *	    36     2  bit by slot: the unit was mapped here
 *	    38     2  bit by slot: its bytes could not be brought here, it is lost
 *	    40     .  for each slot: u32 unit in bits 0 .. 29, and in bits 30 .. 31 by how much
 *	              the level of approximate data is beyond 1, all ones if there is no unit;
 *	              u16 lineage, u16 baked errors
 *
 * Entry of the discard table, 8 bytes: sequence number of the unit's last discard.
 *
 * Entry of the zone table, 16 bytes:
 *
 *	     0     8  sequence number of the zone's last reset
 *	     8     1  state, enum aftl_zone_state, if its units do not tell: 4 finished,
 *	              5 read-only, 6 offline; else 0
 *	     9     7  zero
 *
 * Entry of the table of what is kept, 16 bytes:
 *
 *	     0     8  sequence number; 0: none
 *	     8     4  unit
 *	    12     1  quality level of its data; 0: precise
 *	    13     1  how long its data will live, enum aftl_lifetime
 *	    14     1  placement id; 0: none
 *	    15     1  zero
 *
 * Entry of the table of displaced slots, 16 bytes, 31 a sector, a frame of them and a copy:
 *
 *	     0     4  slot, and one more; 0: none
 *	     4     4  erases of its block
 *	     8     1  low byte of its page's attributes: with another, or after other erases,
 *	              the entry is that of a program that is no more
 *	     9     7  zero
 *
 * The bytes of the entry of number n are in the n-th place behind these two, of as many
 * frames as a unit takes. What is not closed alone has such slots.
 *
 * Table of stretches: a bit for each 4 frames from the erase table to the snapshot, the lowest of a
 * byte first: they have been begun. Sectors of others are as good as written, with zeroes, and hold
 * anything. What either copy says counts.
 *
 * Where a unit is: in the mapped slot with its largest sequence number, or in the place
 * where it is kept, if that has a larger one, and if it is larger than that of its last
 * discard. Of a device with zones: in the mapped slot, if its sequence number is larger than
 * that of the last reset of its zone; else where it is kept.
 */
#ifndef AFTL_VOLUME_FORMAT_H
#define AFTL_VOLUME_FORMAT_H

#include "core/base/shards.h"
#include "core/ftl/ftl.h"

#define AFTL_VOLUME_MAJOR 1
#define AFTL_VOLUME_MAJOR_REMAPPED 2
/* More of these where there is a table of stretches */
#define AFTL_VOLUME_MAJOR_LAZY 2
#define AFTL_VOLUME_MAJOR_MAX (AFTL_VOLUME_MAJOR_REMAPPED + AFTL_VOLUME_MAJOR_LAZY)
#define AFTL_VOLUME_MINOR 0
#define AFTL_FRAME_BYTES 4096
#define AFTL_SECTOR_BYTES 512
#define AFTL_FRAME_SECTORS (AFTL_FRAME_BYTES / AFTL_SECTOR_BYTES)
#define AFTL_UUID_BYTES 16
#define AFTL_VOLUME_NAME 16

#define AFTL_FRAME_HEADER 0
#define AFTL_FRAME_STATE 2
/* First of the table of stretches, or without one, of the erase table */
#define AFTL_FRAME_TABLES 4

#define AFTL_ERASES_PER_SECTOR 31
#define AFTL_DISCARDS_PER_SECTOR 63
#define AFTL_ZONES_PER_SECTOR 31

/* Frames of the tables that are begun together, and what tells that they were */
#define AFTL_EXTENT_FRAMES 4
#define AFTL_EXTENT_COPIES 2
#define AFTL_PAYLOAD_BYTES 504

/* Slots whose bytes can be elsewhere: a frame of entries. */
#define AFTL_REMAPS_PER_SECTOR 31
#define AFTL_REMAPS_MAX (AFTL_REMAPS_PER_SECTOR * AFTL_FRAME_SECTORS)
#define AFTL_REMAP_COPIES 2

/* Most units of a page that its spare entry has room for. */
#define AFTL_SPARE_UNITS 16

/**
 * struct aftl_layout - where things are, in frames
 * @spares_per_sector: entries of the spare table in a sector
 * @stretches: frames of one copy of the table of stretches; 0: all sectors have been written
 * @erases: first frame of the erase table
 * @spares: of the spare table
 * @discards: of the discard table
 * @plp_table: of the table of what is kept
 * @snapshot: of the snapshot
 * @kept: of what is kept
 * @data: of the data
 * @frames: of the whole volume
 */
struct aftl_layout {
	u32 spares_per_sector;
	u32 extent_table_frames;
	u64 erases;
	u64 spares;
	u64 discards;
	u64 plp_table;
	u64 snapshot;
	u64 plp_data;
	u64 data;
	u64 frames;
};

/**
 * struct aftl_volume_header - what a volume says of itself
 * @uuid: names the volume
 * @generation: how often it was written
 * @policy: that it was last used with
 * @profile: that it was made from
 * @config: with these parameters, of the device with all its shards
 * @layout: where its areas are
 * @displaced: there is a table of displaced slots
 * @shard: of several, which it is of
 * @stretches: there is a table of stretches; of a volume to be made, there shall be
 */
struct aftl_volume_header {
	u8 uuid[AFTL_UUID_BYTES];
	u64 generation;
	char policy[AFTL_VOLUME_NAME + 1];
	char profile[AFTL_VOLUME_NAME + 1];
	struct aftl_config config;
	struct aftl_layout layout;
	bool remapped;
	u32 shard;
	bool lazy_tables;
};

/**
 * struct aftl_volume_state - the volume as of a commit
 * @commit: its number
 * @seq: of the last change
 * @now_ns: device time
 * @age_ns: time that passed without the device
 * @memory: what the policy remembers
 * @snapshot_bytes: of the snapshot
 * @policy_seq: of the last change before the policy took over
 * @policy: by which the volume was used
 * @closed: the snapshot holds
 */
struct aftl_volume_state {
	u64 commit;
	u64 seq;
	u64 now_ns;
	u64 age_ns;
	u64 memory;
	u64 snapshot_bytes;
	u64 policy_seq;
	char policy[AFTL_VOLUME_NAME + 1];
	bool closed;
};

/**
 * struct aftl_erase_entry - what outlives the erase of a block
 * @erases: completed erases
 * @wear: sum of their wear
 * @bad: never to be used again
 * @flip: checkerboard colour that comes first
 * @dead: and with it all of its LUN
 */
struct aftl_erase_entry {
	u32 erases;
	u32 wear;
	bool bad;
	bool flip;
	bool dead;
};

/**
 * struct aftl_zone_entry - what the units of a zone do not tell
 * @seq: of its last reset
 * @state: enum aftl_zone_state, AFTL_ZONE_EMPTY for what they tell
 */
struct aftl_zone_entry {
	u64 seq;
	u8 state;
};

/**
 * struct aftl_plp_entry - a unit that is not on flash yet
 * @seq: when it was kept; 0: none
 * @what: which
 */
struct aftl_plp_entry {
	u64 seq;
	struct aftl_buffered_lpn what;
};

/**
 * struct aftl_remap - a slot whose bytes are not where they belong
 * @ppn: which, AFTL_NO_PPN for none
 * @erases: of its block
 * @attr: of its page
 */
struct aftl_remap {
	aftl_ppn_t ppn;
	u32 erases;
	u8 attr;
};

/**
 * struct aftl_spare - the spare area of a page: enough to find everything again
 * @seq: position among all changes; 0: never programmed
 * @opened_ns: of its block, as the fields from @erases to @first_hour, and from @note on
 * @erases: see struct aftl_block
 * @wear: see struct aftl_block
 * @first_hour: see struct aftl_block
 * @hours: between the block's first program and its own
 * @note: bits of the policy
 * @attr: see aftl_page_attr()
 * @order: enum aftl_order
 * @kind: what its policy uses the block for
 * @handle: see struct aftl_block
 * @bits: see struct aftl_block
 * @flip: checkerboard colour that comes first
 * @parity: its block has the parity of its superblock
 * @mapped: bit by slot
 * @hidden: bit by slot, not encoded: mapped but for a newer version in a buffer that survives
 * @lost: bit by slot
 * @word: by slot, its unit and level, see aftl_oob_lpn_word()
 * @origin: by slot
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

/* Where an entry is: its sector in the whole volume, and its bytes in there. */
struct aftl_place {
	u64 sector;
	u32 offset;
};

/**
 * aftl_layout_init() - lay out a volume for a device of shape @geo
 *
 * Return: 0, or -EINVAL if pages have too many units for their spare entries.
 */
int __must_check aftl_layout_init(struct aftl_layout *layout, const struct aftl_geometry *geo,
				  struct aftl_error *error);

/* Byte where the volume of @shard begins: one follows the other. */
u64 aftl_shard_offset(const struct aftl_layout *layout, u32 shard);

/**
 * aftl_layout_add_extents() - the same with a table of stretches, so that little has to be written
 * @layout: without one
 */
void aftl_layout_add_extents(struct aftl_layout *layout);

/* The number of the stretch that a frame of the tables belongs to. */
static inline u64 aftl_extent_of(const struct aftl_layout *layout, u64 frame)
{
	return (frame - layout->erases) / AFTL_EXTENT_FRAMES;
}

/* Where a stretch has its bit: in that byte, by its number modulo 8. */
struct aftl_place aftl_extent_place(const struct aftl_layout *layout, u64 stretch, u32 copy);

struct aftl_place aftl_erase_place(const struct aftl_layout *layout, u32 block);
struct aftl_place aftl_spare_place(const struct aftl_layout *layout,
				   const struct aftl_geometry *geo, u32 page);
struct aftl_place aftl_discard_place(const struct aftl_layout *layout, u32 unit);
struct aftl_place aftl_zone_place(const struct aftl_layout *layout, u32 zone);
struct aftl_place aftl_plp_entry_place(const struct aftl_layout *layout, u32 index);

/**
 * aftl_sector_seal() - add nonce and checksum to a sector
 * @sector: AFTL_SECTOR_BYTES, the payload in place
 * @nonce: of the volume
 * @number: of the sector in the volume
 */
void aftl_sector_seal(u8 *sector, u32 nonce, u64 number);

/**
 * aftl_sector_sound() - is this that sector?
 */
bool aftl_sector_sound(const u8 *sector, u32 nonce, u64 number);

u32 aftl_volume_header_nonce(const struct aftl_volume_header *header);

/**
 * aftl_volume_header_lay_out() - set the layout of a volume, and tell the shape of what is on it
 * @super: with its parameters
 * @geo: takes the shape, which is that of one shard
 * @error: takes the sentence on failure
 *
 * Return: 0, or -EINVAL for parameters of no such device.
 */
int __must_check aftl_volume_header_lay_out(struct aftl_volume_header *header,
					    struct aftl_geometry *geo, struct aftl_error *error);

/* Of the volume of shard 0, @super becomes that of shard @index of the same device. */
void aftl_volume_header_to_shard(struct aftl_volume_header *header, u32 index);

/* Is @own that of shard @index of the device whose first one has @first? */
bool aftl_volume_header_matches(const struct aftl_volume_header *own,
				const struct aftl_volume_header *first, u32 index);

/**
 * aftl_volume_header_encode() - superblock to AFTL_FRAME_BYTES
 */
void aftl_volume_header_encode(const struct aftl_volume_header *header, u8 *bytes);

/**
 * aftl_volume_header_decode() - AFTL_FRAME_BYTES to superblock
 *
 * Return: 0; -ENODATA for zeroes; -EMEDIUMTYPE for something else altogether; -EINVAL
 * for another version of the format; -EUCLEAN for a damaged one; with a sentence.
 */
int __must_check aftl_volume_header_decode(struct aftl_volume_header *header, const u8 *bytes,
					   struct aftl_error *error);

void aftl_state_encode(const struct aftl_volume_state *state, u8 *payload);

/* Return: 0, or -EUCLEAN for what is no state. */
int __must_check aftl_state_decode(struct aftl_volume_state *state, const u8 *payload);

/* Where the entry of number @index is, from the beginning of its frame on. */
struct aftl_place aftl_remap_place(u32 index);
void aftl_remap_encode(const struct aftl_remap *displaced, u8 *bytes);
void aftl_remap_decode(struct aftl_remap *displaced, const u8 *bytes);

void aftl_erase_entry_encode(const struct aftl_erase_entry *entry, u8 *bytes);
void aftl_erase_entry_decode(struct aftl_erase_entry *entry, const u8 *bytes);

void aftl_zone_entry_encode(const struct aftl_zone_entry *entry, u8 *bytes);

/* Return: 0, or -EUCLEAN if there is no such state. */
int __must_check aftl_zone_entry_decode(struct aftl_zone_entry *entry, const u8 *bytes);
void aftl_plp_entry_encode(const struct aftl_plp_entry *entry, u8 *bytes);

/* Return: 0, or -EUCLEAN if no such write can be. */
int __must_check aftl_plp_entry_decode(struct aftl_plp_entry *entry,
				       const struct aftl_geometry *geo, const u8 *bytes);

u32 aftl_spare_bytes(const struct aftl_geometry *geo);
void aftl_spare_encode(const struct aftl_spare *spare, const struct aftl_geometry *geo, u8 *bytes);

/*
 * Of a page that was never programmed, sets @spare->seq alone.
 *
 * Return: 0, or -EUCLEAN if no program of such a device leaves such an entry.
 */
int __must_check aftl_spare_decode(struct aftl_spare *spare, const struct aftl_geometry *geo,
				   const u8 *bytes);

/* Of a page that was programmed, how often its block was erased, @wear, @flip, units and mapped. */
void aftl_spare_decode_brief(struct aftl_spare *spare, const struct aftl_geometry *geo,
			     const u8 *bytes);

#endif
