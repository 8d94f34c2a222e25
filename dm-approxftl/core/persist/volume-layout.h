/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The areas of a volume, its sectors, and the places of table entries.
 * docs/volume-format.md has the format.
 */
#ifndef AFTL_VOLUME_LAYOUT_H
#define AFTL_VOLUME_LAYOUT_H

#include "core/base/geometry.h"

#define AFTL_FRAME_BYTES 4096
#define AFTL_FRAME_SECTORS (AFTL_FRAME_BYTES / AFTL_SECTOR_BYTES)

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

/* Position of entry @index, counted from the beginning of the remap table. */
struct aftl_place aftl_remap_place(u32 index);

#endif
