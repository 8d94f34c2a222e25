/* SPDX-License-Identifier: GPL-2.0-only */
/* Physical pages whose data are lost. */
#ifndef AFTL_LOST_DATA_H
#define AFTL_LOST_DATA_H

#include "core/ftl/controller.h"
#include "core/ftl/lun.h"

/* Return true if the host has lost the data of @ppn. */
static inline bool aftl_ppn_is_lost(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return unlikely(ftl->lost_units) && aftl_ppn_is_marked_lost(&ftl->media, ppn);
}

/* Return true if @ppn is in a dead LUN. */
static inline bool aftl_ppn_is_in_dead_lun(const struct aftl *ftl, aftl_ppn_t ppn)
{
	u32 block = aftl_block_index(&ftl->media, aftl_block_of_ppn(&ftl->media, ppn));

	return aftl_lun_is_dead(&ftl->luns[block / ftl->geo.blocks_per_lun]);
}

#endif
