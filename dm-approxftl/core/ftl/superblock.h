/* SPDX-License-Identifier: GPL-2.0-only */
/* Superblocks, RAIN parity, reconstruction. */
#ifndef AFTL_SUPERBLOCK_H
#define AFTL_SUPERBLOCK_H

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"

/**
 * struct aftl_superblock_state - state of a superblock beyond that of its blocks
 * @next: next superblock in the parity queue of the same LUN
 * @parity_queued: the superblock is in that queue
 * @rebuilt: members whose pages have been rebuilt as far as possible, one bit each
 */
struct aftl_superblock_state {
	u32 next;
	bool parity_queued;
	u64 rebuilt;
};

/**
 * struct aftl_die_group - LUNs whose blocks of the same number form a superblock
 * @victim: number of the superblock that GC empties; AFTL_NIL if there is none
 * @cause: enum aftl_cause of that GC
 * @urgent: a LUN cannot write before that GC has finished
 * @erased: bit mask of the members that have erased their block
 * @retry_seq: write sequence number before which GC does not look for a victim again
 * @rebuild_from: no superblock before this number has pages to rebuild
 * @collected: number of superblocks erased
 */
struct aftl_die_group {
	u32 victim;
	u8 cause;
	bool urgent;
	u64 erased;
	u64 retry_seq;
	u32 rebuild_from;
	u32 collected;
};

static inline u32 aftl_die_group_of_lun(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index / ftl->geo.superblock_luns;
}

/* Number of @lun in its die group. */
static inline u32 aftl_lun_index_in_die_group(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->index % ftl->geo.superblock_luns;
}

static inline struct aftl_lun *aftl_lun_of_die_group(struct aftl *ftl, u32 group, u32 member)
{
	return &ftl->luns[group * ftl->geo.superblock_luns + member];
}

/* Block of superblock @number in member @member of die group @group. */
static inline struct aftl_block *aftl_superblock_block(const struct aftl *ftl, u32 group,
						       u32 number, u32 member)
{
	u32 lun = group * ftl->geo.superblock_luns + member;

	return &ftl->media.blocks[lun * ftl->geo.blocks_per_lun + number];
}

/*
 * Key of the data that a superblock may hold: a block kind of the policy, a placement handle, or
 * the SLC cache. Superblocks with equal keys take the same data.
 */
static inline u32 aftl_get_data_kind_key_of_superblock(u32 kind, u32 handle, bool slc)
{
	return kind | handle << 8 | (u32)slc << 16;
}

static inline struct aftl_superblock_state *aftl_superblock_at(const struct aftl *ftl, u32 group,
							       u32 number)
{
	return &ftl->superblocks[group * ftl->geo.blocks_per_lun + number];
}

static inline u32 aftl_superblock_number(const struct aftl *ftl, const struct aftl_block *block)
{
	return aftl_block_index(&ftl->media, block) % ftl->geo.blocks_per_lun;
}

/* Return true if unreadable pages are reconstructed from their stripe. */
static inline bool aftl_has_rain(const struct aftl *ftl)
{
	return unlikely(ftl->config.rain);
}

int __must_check aftl_superblock_check_config(const struct aftl *ftl,
					      const struct aftl_config *config,
					      struct aftl_error *error);
bool aftl_superblock_alloc(struct aftl *ftl);
struct aftl_block *aftl_superblock_select_free(struct aftl *ftl, const struct aftl_lun *lun,
					       u32 stream);
u32 aftl_superblock_select_parity_member(const struct aftl *ftl, u32 group, u32 number);
bool aftl_superblock_is_unused(const struct aftl *ftl, u32 group, u32 number);
void aftl_parity_clear_queue(struct aftl *ftl, struct aftl_lun *lun);
void aftl_parity_queue_if_due(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
bool aftl_parity_get_next_pages_to_program(struct aftl *ftl, struct aftl_lun *lun,
					   struct aftl_placement *placement);
void aftl_parity_program_done(struct aftl *ftl, struct aftl_lun *lun);
void aftl_superblock_reset_rebuild_state(struct aftl *ftl, u32 group, u32 number);
void aftl_superblock_cancel_tasks(struct aftl *ftl);
void aftl_superblock_queue_all_parity(struct aftl *ftl);
struct aftl_block *aftl_parity_block_of(struct aftl *ftl, const struct aftl_block *block);
bool aftl_stripe_can_reconstruct_ppn(const struct aftl *ftl, aftl_ppn_t ppn);
bool aftl_stripe_reconstruct(const struct aftl *ftl, aftl_ppn_t ppn, struct aftl_errors *errors);
void aftl_reconstruct_begin(struct aftl *ftl, struct aftl_lun *lun, u32 kind, u32 device_page);
bool aftl_reconstruct_page_done(struct aftl *ftl, struct aftl_lun *lun, u32 member);
void aftl_reconstruct_cancel(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_superblock_allows_reopening(struct aftl *ftl, const struct aftl_block *block);
int aftl_superblock_audit(const struct aftl *ftl, struct aftl_error *error);

#endif
