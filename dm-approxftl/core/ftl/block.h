/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of erase blocks and of placements (the places of programs that a policy chose). */
#ifndef AFTL_BLOCK_H
#define AFTL_BLOCK_H

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"

static inline struct aftl_lun *aftl_block_lun(struct aftl *ftl, const struct aftl_block *block)
{
	return &ftl->luns[aftl_divide(aftl_block_index(&ftl->media, block),
				      ftl->geo.blocks_per_lun_inverse)];
}

/* Return true if @block belongs to the SLC cache. Without a cache, a policy may open SLC blocks. */
static inline bool aftl_is_slc_block(const struct aftl *ftl, const struct aftl_block *block)
{
	return block->bits == 1 && ftl->slc_max_blocks;
}

/* Logical pages that fit into @placement. */
static inline u32 aftl_count_lpns_of_placement(const struct aftl *ftl,
					       const struct aftl_placement *placement)
{
	return placement->pages * ftl->geo.page_units;
}

#endif
