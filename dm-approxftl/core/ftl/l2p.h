/* SPDX-License-Identifier: GPL-2.0-only */
/* The logical-to-physical mapping table. */
#ifndef AFTL_L2P_H
#define AFTL_L2P_H

#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"

static inline u32 *aftl_l2p_entry(const struct aftl *ftl, u32 unit)
{
	return aftl_chunk_entry(&ftl->l2p, u32, unit);
}

static inline bool aftl_l2p_lookup(const struct aftl *ftl, aftl_lpn_t lpn, aftl_ppn_t *ppn)
{
	u32 entry = *aftl_l2p_entry(ftl, from_lpn(lpn)) & AFTL_PPN_MASK;

	*ppn = to_ppn(entry - 1);
	return entry;
}

static inline u32 aftl_l2p_quality_level(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return *aftl_l2p_entry(ftl, from_lpn(lpn)) >> AFTL_PPN_BITS;
}

/* Invalidate @ppn in @block, whose data have quality level @level. */
static inline void aftl_l2p_invalidate_ppn(struct aftl *ftl, struct aftl_lun *lun,
					   struct aftl_block *block, aftl_ppn_t ppn, u32 level)
{
	ftl->work++;
	if (aftl_ppn_is_lost(ftl, ppn)) {
		aftl_ppn_clear_lost(&ftl->media, ppn);
		ftl->lost_units--;
	}
	aftl_ppn_clear_valid(&ftl->media, ppn);
	block->valid_approx -= level != AFTL_PRECISE;
	lun->valid--;
	aftl_block_decrement_valid_count(ftl, lun, block);
	if (ftl->type->invalidated)
		ftl->type->invalidated(ftl->policy, block,
				       aftl_page_in_block(&ftl->geo,
							  aftl_page_of_ppn(&ftl->media, ppn)));
}

/* Map @lpn to @ppn in @block, which has just been programmed. */
static inline void aftl_l2p_set_entry(struct aftl *ftl, struct aftl_lun *lun,
				      struct aftl_block *block, aftl_lpn_t lpn, aftl_ppn_t ppn,
				      u32 level)
{
	ftl->work++;
	*aftl_l2p_entry(ftl, from_lpn(lpn)) = level << AFTL_PPN_BITS | (from_ppn(ppn) + 1);
	aftl_ppn_set_valid(&ftl->media, ppn);
	block->valid++;
	block->valid_approx += level != AFTL_PRECISE;
	lun->valid++;
}

/* Map @lpn, relocated from its old physical page @former in block @from, to @ppn in @block. */
static inline void aftl_l2p_relocate(struct aftl *ftl, struct aftl_lun *lun,
				     struct aftl_block *from, aftl_ppn_t former,
				     struct aftl_block *block, aftl_lpn_t lpn,
				     aftl_ppn_t ppn, u32 level)
{
	aftl_l2p_invalidate_ppn(ftl, lun, from, former, aftl_l2p_quality_level(ftl, lpn));
	aftl_l2p_set_entry(ftl, lun, block, lpn, ppn, level);
}

/* Prefetch the L2P entries of the logical pages in @page, which will be relocated soon. */
void aftl_prefetch_l2p_entries_of_page(const struct aftl *ftl, u32 page);

/* Map @lpn to @ppn in @block and invalidate its old physical page. */
void aftl_l2p_update(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		     aftl_lpn_t lpn, aftl_ppn_t ppn, u32 level);

/* Unmap @lpn. Return true if it was mapped. */
bool aftl_l2p_unmap_lpn(struct aftl *ftl, aftl_lpn_t lpn);

/* Mark a valid page as lost: reads fail until its logical page is written again. */
void aftl_l2p_mark_ppn_lost(struct aftl *ftl, aftl_ppn_t ppn);

#endif
