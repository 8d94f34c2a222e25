/* SPDX-License-Identifier: GPL-2.0-only */
/* SLC write cache. */
#ifndef AFTL_SLC_CACHE_H
#define AFTL_SLC_CACHE_H

#include "core/base/types.h"

struct aftl;
struct aftl_block;
struct aftl_error;
struct aftl_geometry;
struct aftl_lun;
struct aftl_placement;
struct aftl_program_request;

void aftl_slc_cache_size_from_config(struct aftl *ftl);
int __must_check aftl_slc_cache_check_config(const struct aftl *ftl, struct aftl_error *error);
void aftl_slc_block_erased(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
u32 aftl_slc_pages_per_zone_block(const struct aftl_geometry *geo);
bool aftl_slc_cache_place_write(struct aftl *ftl, struct aftl_lun *lun,
				const struct aftl_program_request *need,
				struct aftl_placement *placement);
struct aftl_block *aftl_slc_cache_select_fold(struct aftl *ftl, const struct aftl_lun *lun);
struct aftl_block *aftl_slc_cache_select_urgent_fold(struct aftl *ftl, struct aftl_lun *lun,
						     bool urgent);
bool aftl_slc_cache_adopt_open_block(struct aftl *ftl, struct aftl_lun *lun,
				     struct aftl_block *block);
void aftl_slc_cache_recount_blocks(struct aftl *ftl);

#endif
