/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of a volume: what volume.c and volume-load.c share.
 */
#ifndef AFTL_VOLUME_PRIVATE_H
#define AFTL_VOLUME_PRIVATE_H

#include "core/persist/volume.h"

/* Changed frames that fit between two commits; a power of two. */
#define AFTL_VOLUME_FRAMES 512

/**
 * struct aftl_frame - a frame in memory
 * @number: in the volume
 * @next: in the chain of its hash
 * @used: holds a frame
 * @dirty: bit by sector: changed since the last commit
 */
struct aftl_frame {
	u64 number;
	u32 next;
	bool used;
	u8 dirty;
};

/**
 * struct aftl_plp_slot - a place for a unit that is not on flash yet
 * @entry: what is there
 * @state: enum aftl_plp_slot_state
 */
struct aftl_plp_slot {
	struct aftl_plp_entry entry;
	u8 state;
};

/* A place is over when its unit is on flash, or wanted no more; then a commit frees it. */
enum aftl_plp_slot_state {
	AFTL_PLP_SLOT_FREE,
	AFTL_PLP_SLOT_USED,
	AFTL_PLP_SLOT_RELEASED,
};

/**
 * struct aftl_volume - an open volume
 * @medium: where it is
 * @super: its superblock
 * @geo: shape of its device
 * @own: parameters of its device, which is one shard of what @super speaks of
 * @state: as of the last commit; times and memory as of the next
 * @nonce: in every sector
 * @ret: first error; the volume takes no notes after it
 * @uncommitted: changes that the reuse of space must wait for
 * @repair_headers: a superblock is to be written again, the other one has what it should say
 * @write_copy_first: it is the copy: while that is written the other one must be whole
 * @repair_state: the same of a state, which the next one will overwrite
 * @ignore_damage: damaged entries of pages and discards count as empty
 * @zones_dirty: the zone table has changed since the last commit
 * @kept: entries of the persisted write buffer, by slot
 * @plp_slot_of: by tag, the slot of its entry plus one; 0: none; AFTL_PLP_WAITING: it waits for one
 * @plp_waiting: tags that wait for a slot
 * @hides: since there were any, an entry has hidden something
 * @plp_hand: slot that is looked at next when one is needed
 * @dropped: bit by slot: that a unit was mapped there must be forgotten; NULL if none
 * @displaced: by place behind their table
 * @remap_count: how many places are taken
 * @remaps_dirty: the table has changed since the last commit
 * @begun: of a volume with a table of stretches, as it is in that, which are begun
 * @settled: which were so at the last commit
 * @initialised_dirty: the table has changed since
 * @repair_extents: damaged sectors of the table, of which the other copy is sound
 * @stretch: for the frames of one
 * @dirty: frames with changes
 * @hand: frame that is looked at next when one is needed
 * @hash: first frame of each chain
 * @frames: frames in memory
 * @bytes: their content
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
	u32 *plp_slot_of;
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

/* Is that what a place that cannot be read leads to, or one that holds something else? */
static inline bool aftl_is_damage(int ret)
{
	return ret == -EUCLEAN || ret == -ENODATA || ret == -EIO;
}

/**
 * aftl_volume_rebuild() - the bytes of a damaged sector of the tables, zeroed, to be filled
 * @sector: in the whole volume
 * @readable: others of its frame are sound; if not, all of them are to be rebuilt
 * @bytes: takes them
 *
 * They are written by the next commit. Return: 0, -EUCLEAN with a sentence if there are too many
 * such sectors, or what the medium returned.
 */
int __must_check aftl_volume_rebuild(struct aftl_volume *volume, u64 sector, bool readable,
				     u8 **bytes, struct aftl_error *error);

/* The bytes of the entry at @place, which are about to change; NULL if they cannot be had. */
u8 *aftl_volume_change(struct aftl_volume *volume, struct aftl_place place);

/* plp-buffer.c: units that are not on flash yet, and what zones must forget */

bool __must_check aftl_plp_alloc(struct aftl_volume *volume);
void aftl_plp_destroy(struct aftl_volume *volume);

/* In plp_slot_of: there was no place. */
#define AFTL_PLP_WAITING U32_MAX

/* Is a version of @lpn kept that has not been let go? */
bool aftl_plp_has_lpn(const struct aftl_volume *volume, aftl_lpn_t lpn);

bool aftl_plp_in_use(const struct aftl_volume *volume);

/* A commit has made durable that what is over is. */
void aftl_plp_committed(struct aftl_volume *volume);

/* The entry of a place as it should be. */
void aftl_plp_slot_encode(const struct aftl_volume *volume, u32 index, u8 *bytes);

/* A place that nothing durable speaks of, but of what is durable elsewhere, too; their number. */
u32 aftl_plp_find_free_slot(struct aftl_volume *volume);

/* Where on the medium its bytes are. */
u64 aftl_plp_slot_offset(const struct aftl_volume *volume, u32 index);

/* @ppn says that a unit was mapped there, which is not to be found again. */
int __must_check aftl_volume_invalidate(struct aftl_volume *volume, aftl_ppn_t ppn);

/* Bit by slot of @page: it has been dropped. */
u16 aftl_volume_invalidated(const struct aftl_volume *volume, u32 page);

/* Entries do not say it any more. */
void aftl_volume_free_invalidated(struct aftl_volume *volume);

/* remap.c: slots whose bytes are not where they belong */

void aftl_remap_init(struct aftl_volume *volume);

/* Where the bytes of @ppn are; 0: where they belong. */
u64 aftl_remap_offset(const struct aftl_volume *volume, aftl_ppn_t ppn);

/* From the medium; @ftl, that has been put together, knows which of them still count. */
int __must_check aftl_remap_load(struct aftl_volume *volume, const struct aftl *ftl,
				 struct aftl_error *error);

/* Durable on return, the superblock apart. */
int __must_check aftl_remap_write(struct aftl_volume *volume);

/* lazy-extents.c: parts of large tables that nothing has been written to yet */

/* Memory for them; they are those of a new volume. */
bool __must_check aftl_extents_alloc(struct aftl_volume *volume);
void aftl_extents_destroy(struct aftl_volume *volume);
int __must_check aftl_extents_load(struct aftl_volume *volume, struct aftl_error *error);

/* To the medium, if @all is not set where they have changed; of which a flush comes later. */
int __must_check aftl_extents_write(struct aftl_volume *volume, bool all);

/* A commit has made durable which are begun. */
void aftl_extents_committed(struct aftl_volume *volume);

/*
 * The bytes of @frame, if it is in a stretch that was not begun at the last commit: they need not
 * be read. Where it is not begun at all, it is.
 *
 * Return: 1, 0 where the frame is to be read, or what the medium returned.
 */
int __must_check aftl_extents_init_frame(struct aftl_volume *volume, u64 frame, u8 *bytes);

/* Sectors of frames from @number on, with what is in there sealed. */
void aftl_seal_frames(const struct aftl_volume *volume, u64 number, u32 frames, u8 *bytes);

/* Number of the first unsound sector of @count frames from @first on; U64_MAX if none. */
u64 aftl_volume_find_bad_sector(const struct aftl_volume *volume, const u8 *bytes, u64 first,
				u32 count);

#endif
