/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A volume: an emulated device on a backing device, laid out so that it survives crashes.
 *
 * All numbers are little-endian. The volume is divided into frames of 4096 bytes and
 * sectors of 512. The backing device writes a sector completely or not at all. Every sector
 * of metadata except those of the volume headers has its own checksum, which covers its
 * position, too:
 *
 *	offset  size  content
 *	     0   504  payload
 *	   504     4  nonce of the volume: the first bytes of its UUID
 *	   508     4  CRC-32C of bytes 0 .. 507, then of the sector's number as 8 bytes
 *
 * Formatting writes all of them, unless there is an extent table. The areas, in frames:
 *
 *	     0  volume header
 *	     1  its copy
 *	     2  state after commits of even number
 *	     3  state after commits of odd number
 *	     4  if tables are large: the extent table, 4032 extents a sector, and its copy
 *	     .  erase table, 31 blocks a sector
 *	     .  spare table, as many pages a sector as fit
 *	     .  discard table, 63 logical pages a sector; of a zoned device, which has no
 *	        discards, the zone table, 31 zones a sector
 *	     .  if the write buffer survives power loss: its table, 31 entries a sector
 *	     .  snapshot, see snapshot.h: the state when the volume was last closed; or, while
 *	        some data are remapped, the remap table and these data
 *	     .  data of the persisted write buffer, one logical page for each entry
 *	     .  data, from a multiple of 1 MiB on: the flash, ppn by ppn
 *
 * Volume header:
 *
 *	offset  size  content
 *	     0     8  magic 89 41 46 56 0d 0a 1a 0a
 *	     8     2  format version, major: 1, or 2 while there is a remap table; 3 and 4 are
 *	              the same with an extent table; readers refuse any other
 *	    10     2  format version, minor: 0; readers accept any
 *	    12     4  bytes of a frame: 4096
 *	    16    16  UUID
 *	    32     8  generation: of two valid headers the one with the larger counts
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
 * multiple of 1 MiB on. All of them have the parameters of the whole device. Their UUIDs
 * differ in the first four bytes only: as a number they are those of the first volume plus
 * the number of the shard.
 *
 * State, in the first sector of its frame:
 *
 *	     0     8  magic 89 41 46 53 0d 0a 1a 0a
 *	     8     4  flags: 1 closed, the snapshot is valid
 *	    12     4  zero
 *	    16     8  number of the commit
 *	    24     8  sequence number: changes with larger ones came later
 *	    32     8  device time in ns
 *	    40     8  time that passed without the device, in ns
 *	    48     8  the policy's word, see its method save_state_word()
 *	    56     8  bytes of the snapshot
 *	    64     8  sequence number when the policy took over: kinds and notes of blocks in
 *	              entries up to it are those of another policy
 *	    72    16  policy, padded with zeroes
 *
 * Entry of the erase table, 16 bytes:
 *
 *	     0     4  erases
 *	     4     4  wear in 1/10000 of a full erase
 *	     8     1  flags: 1 bad, 2 checkerboard colour that comes first, 4 its LUN is dead
 *	     9     7  zero
 *
 * Entry of the spare table, 40 bytes and 8 for each logical page of a flash page:
 *
 *	     0     8  sequence number of the program; 0: never programmed
 *	     8     8  device time of the first program of the block, in ns
 *	    16     4  erases of the block: with another number than the block's the entry
 *	              is that of an erased page
 *	    20     4  wear of the block
 *	    24     4  device age in hours at the first program of the block
 *	    28     2  hours from then to this program
 *	    30     2  note of the policy for the block
 *	    32     1  attributes of the page, see page-attr.h
 *	    33     1  order of the block, enum aftl_order
 *	    34     1  bits 0 .. 3: kind of the block, set by its policy; bits 4 .. 7: placement
 *	              handle, 0 for the default one; of a zoned device: number of the open block,
 *	              bits 4 .. 7 its lower bits, bits 0 .. 3 its upper ones
 *	    35     1  flags: 1 checkerboard colour that comes first,
 *	              bits 1, 2: bits in a cell, 0 for all; bits 3 .. 5: upper bits of the mode;
 *	              bit 6: parity of its superblock
 *	    36     2  bit by ppn: the logical page was mapped here
 *	    38     2  bit by ppn: lost, relocation could not read its data
 *	    40     .  for each ppn: u32 lpn in bits 0 .. 29, and in bits 30 .. 31 by how much
 *	              the level of approximate data is beyond 1, all ones if there is no lpn;
 *	              u16 write generation, u16 inherited errors
 *
 * Entry of the discard table, 8 bytes: sequence number of the logical page's last discard.
 *
 * Entry of the zone table, 16 bytes:
 *
 *	     0     8  sequence number of the zone's last reset
 *	     8     1  state, enum aftl_zone_state, if it does not follow from the zone's pages:
 *	              4 finished, 5 read-only, 6 offline; else 0
 *	     9     7  zero
 *
 * Entry of the persisted write buffer, 16 bytes:
 *
 *	     0     8  sequence number; 0: none
 *	     8     4  lpn
 *	    12     1  quality level of its data; 0: precise
 *	    13     1  expected lifetime of its data, enum aftl_lifetime
 *	    14     1  placement id; 0: none
 *	    15     1  zero
 *
 * Entry of the remap table, 16 bytes, 31 a sector, a frame of them and a copy:
 *
 *	     0     4  ppn plus 1; 0: none
 *	     4     4  erases of its block
 *	     8     1  low byte of its page's attributes: with another, or after other erases,
 *	              the entry is that of a former program
 *	     9     7  zero
 *
 * The data of entry n are in the n-th place behind these two frames, each of as many frames as
 * a logical page takes. Only a volume that is not closed has remapped data.
 *
 * Extent table: a bit for each 4 frames from the erase table to the snapshot, the lowest of a
 * byte first: they have been initialised. All entries in other extents are zero, whatever their
 * sectors hold. A bit counts if it is set in either copy.
 *
 * The newest version of a logical page is in the mapped ppn with the largest sequence number,
 * or in the persisted write buffer, if its entry there has a larger one; either counts only if
 * it is larger than that of the page's last discard. On a zoned device it is in the mapped ppn
 * of a live LUN, if its sequence number is larger than that of the last reset of its zone; else
 * in the persisted write buffer, unless a mapped ppn of a dead LUN has a larger one.
 */
#ifndef AFTL_VOLUME_FORMAT_H
#define AFTL_VOLUME_FORMAT_H

#include "core/base/shards.h"
#include "core/ftl/ftl.h"

#define AFTL_VOLUME_MAJOR 1
#define AFTL_VOLUME_MAJOR_REMAPPED 2
/* The major version of a volume with an extent table is higher by this number. */
#define AFTL_VOLUME_MAJOR_LAZY 2
#define AFTL_VOLUME_MAJOR_MAX (AFTL_VOLUME_MAJOR_REMAPPED + AFTL_VOLUME_MAJOR_LAZY)
#define AFTL_VOLUME_MINOR 0
#define AFTL_FRAME_BYTES 4096
#define AFTL_FRAME_SECTORS (AFTL_FRAME_BYTES / AFTL_SECTOR_BYTES)
#define AFTL_UUID_BYTES 16
#define AFTL_VOLUME_NAME 16

#define AFTL_FRAME_HEADER 0
#define AFTL_FRAME_STATE 2
/* First frame of the extent table, or without one, of the erase table. */
#define AFTL_FRAME_TABLES 4

#define AFTL_ERASES_PER_SECTOR 31
#define AFTL_DISCARDS_PER_SECTOR 63
#define AFTL_ZONES_PER_SECTOR 31

#define AFTL_EXTENT_FRAMES 4 /* number of frames of an extent; all are initialised together */
#define AFTL_EXTENT_COPIES 2 /* number of copies of the extent table */
#define AFTL_PAYLOAD_BYTES 504

/* Largest sequence number of a volume that is loaded; changes then never reach the end of u64. */
#define AFTL_SEQ_MAX (U64_MAX / 2)

/* Limit of remapped ppns: the entries of one frame. */
#define AFTL_REMAPS_PER_SECTOR 31
#define AFTL_REMAPS_MAX (AFTL_REMAPS_PER_SECTOR * AFTL_FRAME_SECTORS)
#define AFTL_REMAP_COPIES 2

/* Limit of logical pages in a flash page: its spare entry has room for no more. */
#define AFTL_SPARE_UNITS 16

/**
 * struct aftl_layout - the areas of a volume: their first frames
 * @spares_per_sector: entries of the spare table in a sector
 * @extent_table_frames: frames of one copy of the extent table; 0: there is none
 * @erases: erase table
 * @spares: spare table
 * @discards: discard table or zone table
 * @plp_table: table of the persisted write buffer
 * @snapshot: snapshot, or remap table and remapped data
 * @plp_data: data of the persisted write buffer
 * @data: data of the flash
 * @frames: end of the volume
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
 * struct aftl_volume_header - the decoded header of a volume
 * @uuid: UUID of the volume
 * @generation: number of times that the header has been written
 * @policy: policy that the volume was last used with
 * @profile: profile that the volume was made from
 * @config: parameters of the device with all its shards
 * @layout: areas of the volume
 * @remapped: there is a remap table
 * @shard: number of the shard, of a device with several
 * @lazy_tables: there is an extent table, or shall be in a volume to be formatted
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
 * struct aftl_volume_state - the state of a volume at a commit
 * @commit: number of the commit
 * @seq: sequence number of the last change
 * @now_ns: device time
 * @age_ns: time that passed without the device
 * @memory: the policy's state word, see aftl_get_policy_state_word()
 * @snapshot_bytes: size of the snapshot
 * @policy_seq: sequence number of the last change before @policy took over
 * @policy: policy that uses the volume
 * @closed: the snapshot is valid
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

/* Position of a table entry: a sector of the volume, and an offset in the payload of the sector. */
struct aftl_place {
	u64 sector;
	u32 offset;
};

/**
 * aftl_layout_init() - compute the layout of a volume without an extent table
 * @layout: takes the layout
 * @geo: shape of the device
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL if flash pages have too many logical pages for their spare entries.
 */
int __must_check aftl_layout_init(struct aftl_layout *layout, const struct aftl_geometry *geo,
				  struct aftl_error *error);

/* Offset on the backing device of the volume of @shard. */
u64 aftl_get_volume_offset_of_shard(const struct aftl_layout *layout, u32 shard);

/**
 * aftl_layout_add_extents() - add an extent table, so that formatting need not write the tables
 * @layout: layout from aftl_layout_init()
 */
void aftl_layout_add_extents(struct aftl_layout *layout);

/* Number of the extent of a frame of the tables. */
static inline u64 aftl_extent_of_frame(const struct aftl_layout *layout, u64 frame)
{
	return (frame - layout->erases) / AFTL_EXTENT_FRAMES;
}

/* Position of the byte with the bit of @extent in the extent table: its bit @extent % 8. */
struct aftl_place aftl_extent_place(const struct aftl_layout *layout, u64 extent, u32 copy);

struct aftl_place aftl_erase_place(const struct aftl_layout *layout, u32 block);
struct aftl_place aftl_spare_place(const struct aftl_layout *layout,
				   const struct aftl_geometry *geo, u32 page);
struct aftl_place aftl_discard_place(const struct aftl_layout *layout, u32 unit);
struct aftl_place aftl_zone_place(const struct aftl_layout *layout, u32 zone);
struct aftl_place aftl_plp_entry_place(const struct aftl_layout *layout, u32 index);

/**
 * aftl_sector_add_crc() - add nonce and checksum to a sector
 * @sector: AFTL_SECTOR_BYTES, the payload in place
 * @nonce: of the volume
 * @number: of the sector in the volume
 */
void aftl_sector_add_crc(u8 *sector, u32 nonce, u64 number);

/**
 * aftl_sector_is_sound() - verify nonce and checksum of a sector
 * @sector: AFTL_SECTOR_BYTES
 * @nonce: of the volume
 * @number: of the sector in the volume
 */
bool aftl_sector_is_sound(const u8 *sector, u32 nonce, u64 number);

u32 aftl_volume_header_nonce(const struct aftl_volume_header *header);

/**
 * aftl_volume_header_set_layout() - compute layout and shape of the volume that a header describes
 * @header: with the parameters; its layout is set
 * @geo: takes the shape of one shard
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL if no device has these parameters.
 */
int __must_check aftl_volume_header_set_layout(struct aftl_volume_header *header,
					       struct aftl_geometry *geo, struct aftl_error *error);

/* Change the header of shard 0 into that of shard @index of the same device. */
void aftl_volume_header_set_shard(struct aftl_volume_header *header, u32 index);

/* Return true if @own can be the header of shard @index, where @first is the header of shard 0. */
bool aftl_volume_header_is_of_shard(const struct aftl_volume_header *own,
				    const struct aftl_volume_header *first, u32 index);

/**
 * aftl_volume_header_encode() - encode a header
 * @header: the header
 * @bytes: takes AFTL_FRAME_BYTES
 */
void aftl_volume_header_encode(const struct aftl_volume_header *header, u8 *bytes);

/**
 * aftl_volume_header_decode() - decode and check a header
 * @header: takes the header
 * @bytes: AFTL_FRAME_BYTES of them
 * @error: takes the message on failure
 *
 * Return: 0; -ENODATA if it is zero; -EMEDIUMTYPE for anything else than a volume; -EINVAL for
 * another version of the format; -EUCLEAN if it is damaged.
 */
int __must_check aftl_volume_header_decode(struct aftl_volume_header *header, const u8 *bytes,
					   struct aftl_error *error);

void aftl_volume_state_encode(const struct aftl_volume_state *state, u8 *payload);

/* Decode a record of the volume's state. Return: 0, or -EUCLEAN if @payload is not valid. */
int __must_check aftl_volume_state_decode(struct aftl_volume_state *state, const u8 *payload);

/* Position of entry @index, counted from the beginning of the remap table. */
struct aftl_place aftl_remap_place(u32 index);
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
