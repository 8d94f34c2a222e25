/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An open volume. Private to the files of volumes: volume.c, volume-load.c, volume-reader.c,
 * plp-buffer.c, remap.c and lazy-extents.c.
 */
#ifndef AFTL_VOLUME_PRIVATE_H
#define AFTL_VOLUME_PRIVATE_H

#include "core/persist/volume.h"

struct aftl_plp_slot;

/* Table frames in memory, a power of two; at most this many can change between two commits. */
#define AFTL_VOLUME_FRAMES 512

/**
 * struct aftl_frame - a frame of the tables in memory
 * @number: number of the frame in the volume
 * @next: next frame in the hash chain
 * @used: the entry holds a frame
 * @dirty: bit by sector: changed since the last commit
 */
struct aftl_frame {
	u64 number;
	u32 next;
	bool used;
	u8 dirty;
};

/**
 * struct aftl_volume - an open volume
 * @backing: backing device
 * @header: header of the volume
 * @geo: shape of its device
 * @own: parameters of its device, which is one shard of the device of @header
 * @state: state at the last commit, except that times and the policy's state word are newer
 * @nonce: nonce in every sector
 * @ret: first error; no change is accepted after it
 * @uncommitted: there are changes that must be durable before space is reused
 * @repair_headers: a copy of the header is damaged or older than the other
 * @write_copy_first: write the second header copy first: the first must stay intact
 * @repair_state: one state is damaged; the next commit overwrites it
 * @ignore_damage: count damaged entries of pages and discards as empty
 * @remaps_dirty: the remap table has changed since the last commit
 * @zones_dirty: the zone table has changed since the last commit
 * @plp_slots: the persisted write buffer
 * @plp_first: after a load, the slot plus 1 of the lowest recovered page; 0: none
 * @plp_slot_of: by tag, its slot plus 1; 0: none; AFTL_PLP_WAITING: it waits for a slot
 * @plp_released: number of slots that the next commit frees
 * @plp_waiting: number of tags that wait for a slot
 * @plp_hides: a version was recorded as hidden while tags waited
 * @plp_hand: slot where the search for a free one begins
 * @invalidated: bit by ppn: remove this mapping from the spare table; NULL: none
 * @remap_count: number of remapped ppns
 * @remaps: the remap table
 * @initialised: extent table: bit by extent; NULL: there is no extent table
 * @initialised_committed: the extent table at the last commit
 * @initialised_dirty: the extent table has changed since the last commit
 * @repair_extents: damaged sectors of the extent table whose copy is sound
 * @extent_buffer: for the frames of one extent
 * @dirty: number of frames with changes
 * @hand: frame where the search for one to be replaced begins
 * @hash: first frame of each hash chain
 * @frames: frames in memory
 * @bytes: data of @frames
 * @scratch: one frame
 */
struct aftl_volume {
	const struct aftl_backing *backing;
	struct aftl_volume_header header;
	struct aftl_geometry geo;
	struct aftl_config own;
	struct aftl_volume_state state;
	u32 nonce;
	int ret;
	bool uncommitted;
	bool repair_headers;
	bool write_copy_first;
	bool repair_state;
	bool ignore_damage;
	bool remaps_dirty;
	bool zones_dirty;
	struct aftl_plp_slot *plp_slots;
	u32 plp_first;
	u32 *plp_slot_of;
	u32 plp_released;
	u32 plp_waiting;
	bool plp_hides;
	u32 plp_hand;
	u64 *invalidated;
	u32 remap_count;
	struct aftl_remap remaps[AFTL_REMAPS_MAX];
	u8 *initialised;
	u8 *initialised_committed;
	bool initialised_dirty;
	u32 repair_extents;
	u8 *extent_buffer;
	u32 dirty;
	u32 hand;
	u32 hash[AFTL_VOLUME_FRAMES];
	struct aftl_frame frames[AFTL_VOLUME_FRAMES];
	u8 *bytes;
	u8 *scratch;
};

/* Return true if @ret is the error of a damaged sector: unreadable, or with a wrong checksum. */
static inline bool aftl_is_error_of_damaged_sector(int ret)
{
	return ret == -EUCLEAN || ret == -ENODATA || ret == -EIO;
}

/**
 * aftl_volume_rebuild_sector() - start to rebuild a damaged sector of the tables
 * @volume: loaded volume
 * @sector: number in the volume
 * @readable: the frame's other sectors can be read; if not, the caller rebuilds all of them
 * @bytes: takes the address of the sector, zeroed, to be filled
 * @error: takes the message on failure
 *
 * The next commit writes the sector. Return: 0, -EUCLEAN if there are too many damaged frames, or
 * an error of the backing device.
 */
int __must_check aftl_volume_rebuild_sector(struct aftl_volume *volume, u64 sector, bool readable,
					    u8 **bytes, struct aftl_error *error);

/*
 * Return the bytes of a table entry, which the next commit writes after the caller has changed
 * them; NULL after an error (@ret of the volume).
 */
u8 *aftl_volume_modify_table_entry(struct aftl_volume *volume, struct aftl_place place);

/* Add nonce and checksum to all sectors of @frames frames from frame @number on. */
void aftl_frames_add_checksums(const struct aftl_volume *volume, u64 number, u32 frames, u8 *bytes);

/* Return the first damaged sector in @count frames from @first on; U64_MAX if there is none. */
u64 aftl_volume_find_bad_sector(const struct aftl_volume *volume, const u8 *bytes, u64 first,
				u32 count);

#endif
