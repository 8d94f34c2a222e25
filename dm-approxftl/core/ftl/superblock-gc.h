/* SPDX-License-Identifier: GPL-2.0-only */
/* GC and erase of superblocks. */
#ifndef AFTL_SUPERBLOCK_GC_H
#define AFTL_SUPERBLOCK_GC_H

#include "core/ftl/superblock.h"

void aftl_superblock_mark_block_rebuilt(struct aftl *ftl, const struct aftl_block *block);
void aftl_equalise_erase_counts_of_superblocks(struct aftl *ftl);
void aftl_superblock_reassign_parity(struct aftl *ftl);
bool aftl_superblock_gc_start(struct aftl *ftl, struct aftl_lun *lun, u32 cause, u32 limit);
bool aftl_collect_superblock_of_block(struct aftl *ftl, const struct aftl_block *block, u32 cause);
bool aftl_superblock_victim_is_empty(struct aftl *ftl, u32 group);
struct aftl_block *aftl_superblock_gc_member(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_superblock_gc_rebuild_block(struct aftl *ftl, const struct aftl_lun *lun,
						    bool idle);
void aftl_superblock_gc_note_erased_member(struct aftl *ftl, struct aftl_lun *lun);
void aftl_superblock_continue_gc_without_lun(struct aftl *ftl, const struct aftl_lun *lun);
void aftl_superblock_replace_dead_parity(struct aftl *ftl, const struct aftl_lun *lun, u32 number);

/* Return true if the superblock GC of the LUN's die group goes before host writes. */
static inline bool aftl_superblock_gc_is_urgent(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.superblock_luns) &&
	       ftl->die_groups[aftl_die_group_of_lun(ftl, lun)].urgent;
}

/* Return true if @lun gets its next free block only after other LUNs have erased their victims. */
static inline bool aftl_lun_waits_for_superblock_gc(const struct aftl *ftl,
						    const struct aftl_lun *lun)
{
	return unlikely(ftl->geo.superblock_luns) &&
	       (ftl->die_groups[aftl_die_group_of_lun(ftl, lun)].victim != AFTL_NIL ||
		lun->reconstruct.kind);
}

#endif
