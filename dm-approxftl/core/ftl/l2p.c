// SPDX-License-Identifier: GPL-2.0-only
/*
 * L2P table: physical page and quality level of each logical page. An update invalidates the old
 * physical page and adjusts the valid counts of its block and LUN.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/lun.h"

static bool l2p_invalidate_old_ppn(struct aftl *ftl, aftl_lpn_t lpn)
{
	struct aftl_block *block;
	aftl_ppn_t former;

	if (!aftl_l2p_lookup(ftl, lpn, &former))
		return false;
	block = aftl_block_of_ppn(&ftl->media, former);
	aftl_l2p_invalidate_ppn(ftl, aftl_block_lun(ftl, block), block, former,
				aftl_l2p_quality_level(ftl, lpn));
	return true;
}

void aftl_l2p_update(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block,
		     aftl_lpn_t lpn, aftl_ppn_t ppn, u32 level)
{
	l2p_invalidate_old_ppn(ftl, lpn);
	aftl_l2p_set_entry(ftl, lun, block, lpn, ppn, level);
}

bool aftl_l2p_unmap_lpn(struct aftl *ftl, aftl_lpn_t lpn)
{
	if (!l2p_invalidate_old_ppn(ftl, lpn))
		return false;
	*aftl_l2p_entry(ftl, from_lpn(lpn)) = 0;
	return true;
}

void aftl_l2p_mark_ppn_lost(struct aftl *ftl, aftl_ppn_t ppn)
{
	ftl->lost_units += !aftl_ppn_is_marked_lost(&ftl->media, ppn);
	aftl_ppn_set_lost(&ftl->media, ppn);
}

void aftl_prefetch_l2p_entry(const struct aftl *ftl, u32 unit)
{
	if (unit >= ftl->geo.units)
		return;
	prefetch(aftl_l2p_entry(ftl, unit));
	if (ftl->type->prefetch_state)
		ftl->type->prefetch_state(ftl->policy, to_lpn(unit));
}

void aftl_prefetch_ppn_state(const struct aftl *ftl, u32 unit, bool read)
{
	const struct aftl_media *media = &ftl->media;
	aftl_ppn_t ppn;

	if (unit >= ftl->geo.units || !aftl_l2p_lookup(ftl, to_lpn(unit), &ppn))
		return;
	if (read)
		prefetch(aftl_oob_entry(media, aftl_page_of_ppn(media, ppn)));
	else
		prefetch(&media->valid[from_ppn(ppn) / 64]);
	prefetch(aftl_block_of_ppn(media, ppn));
}

void aftl_prefetch_l2p_entries_of_page(const struct aftl *ftl, u32 page)
{
	u32 slot = page * ftl->geo.page_units;
	u32 end = slot + ftl->geo.page_units;

	for (; slot < end; slot++) {
		u32 unit = from_lpn(aftl_ppn_lpn(&ftl->media, to_ppn(slot)));

		if (unit < ftl->geo.units)
			prefetch(aftl_l2p_entry(ftl, unit));
	}
}
