/* SPDX-License-Identifier: GPL-2.0-only */
/* The logical-to-physical mapping table. */
#ifndef AFTL_L2P_H
#define AFTL_L2P_H

#include "core/ftl/controller.h"

struct aftl_lun;

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

/* Prefetch the L2P entries of the logical pages in @page, which will be relocated soon. */
void aftl_prefetch_l2p_entries_of_page(const struct aftl *ftl, u32 page);

/* Map @lpn to @ppn in @block and invalidate its old physical page. */
void aftl_l2p_update(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		     aftl_lpn_t lpn, aftl_ppn_t ppn, u32 level);

/* Map @lpn, relocated from its old physical page @former in block @from, to @ppn in @block. */
void aftl_l2p_relocate(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *from,
		       aftl_ppn_t former, struct aftl_block *block, aftl_lpn_t lpn, aftl_ppn_t ppn,
		       u32 level);

/* Unmap @lpn. Return true if it was mapped. */
bool aftl_l2p_unmap_lpn(struct aftl *ftl, aftl_lpn_t lpn);

/* Mark a valid page as lost: reads fail until its logical page is written again. */
void aftl_l2p_mark_ppn_lost(struct aftl *ftl, aftl_ppn_t ppn);

#endif
