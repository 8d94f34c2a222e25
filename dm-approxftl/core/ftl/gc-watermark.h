/* SPDX-License-Identifier: GPL-2.0-only */
/* Free blocks that GC keeps in each LUN, and blocks of a LUN that hold no host data. */
#ifndef AFTL_GC_WATERMARK_H
#define AFTL_GC_WATERMARK_H

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"

/* Free blocks that host writes must leave to relocation. */
static inline u32 aftl_count_gc_reserve_blocks(const struct aftl *ftl)
{
	return ftl->type->reserve;
}

/* Free blocks that are set aside for the static SLC cache. */
static inline u32 aftl_count_unused_static_slc_blocks(const struct aftl *ftl,
						      const struct aftl_lun *lun)
{
	return ftl->slc_static_blocks > lun->slc_blocks ? ftl->slc_static_blocks - lun->slc_blocks :
							  0;
}

/*
 * Free blocks that host writes must leave to the retirement of failing blocks, which takes a block
 * and frees none. 0 on a zoned device: its host writes would wait in vain, as GC frees no block.
 */
static inline u32 aftl_count_blocks_for_retirement(const struct aftl *ftl,
						   const struct aftl_lun *lun)
{
	return lun->failing_blocks && !ftl->geo.zones;
}

/* Return true if host writes must wait for GC before they get another block (emergency GC). */
static inline bool aftl_gc_is_urgent(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return lun->free_blocks <= aftl_count_gc_reserve_blocks(ftl) +
					   aftl_count_unused_static_slc_blocks(ftl, lun) +
					   aftl_count_blocks_for_retirement(ftl, lun);
}

/*
 * Return true if the free blocks are below the watermark of background GC: that of parameter "gc",
 * or a lower one that depends on the writes, see gc-margin.c.
 */
static inline bool aftl_lun_is_below_gc_watermark(const struct aftl *ftl,
						  const struct aftl_lun *lun)
{
	u32 blocks = ftl->gc_blocks;

	if (ftl->gc_margin_is_adaptive)
		blocks = min(blocks, ftl->gc_margin_base + lun->margin.blocks);
	return lun->free_blocks < blocks + aftl_count_unused_static_slc_blocks(ftl, lun);
}

/* Return true if @lun can store @units more logical pages beside those it has or is writing. */
static inline bool aftl_lun_has_room_for_units(const struct aftl_lun *lun, u32 units)
{
	return lun->valid + lun->in_flight + units <= lun->max_valid;
}

/* Blocks of each LUN for the SLC cache: the static blocks, or one block if there are none. */
static inline u32 aftl_count_reserved_slc_blocks(const struct aftl *ftl)
{
	return max(ftl->slc_static_blocks, (u32)(ftl->slc_max_blocks != 0));
}

/*
 * Blocks of each LUN of a zoned device that belong to no zone: the GC reserve, a fallback block,
 * a spare block, and the SLC cache. If translation pages are on flash, spread over @luns LUNs, also
 * their open block, a block that GC relocates them to, and enough blocks for one to be a GC victim.
 */
static inline u32 aftl_count_blocks_outside_zones(const struct aftl *ftl, u32 luns)
{
	u32 blocks = ftl->type->reserve + 2 + aftl_count_reserved_slc_blocks(ftl);

	if (ftl->geo.trans_pages)
		blocks += 2 + DIV_ROUND_UP(DIV_ROUND_UP(ftl->geo.trans_pages, max(luns, 1U)),
					   ftl->gc_max_valid + 1);
	return blocks;
}

/* Blocks of each LUN that hold no host data: open blocks, GC reserve, SLC cache. */
static inline u32 aftl_count_reserved_blocks_per_lun(const struct aftl *ftl)
{
	if (ftl->geo.zones)
		return aftl_count_blocks_outside_zones(ftl, ftl->geo.luns);
	return ftl->type->open_blocks + ftl->handles + ftl->type->reserve + 1 +
	       (ftl->geo.superblock_luns ? 2 + ftl->handles : 0) +
	       aftl_count_reserved_slc_blocks(ftl);
}

#endif
