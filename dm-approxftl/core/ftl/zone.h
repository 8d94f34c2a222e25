/* SPDX-License-Identifier: GPL-2.0-only */
/* Zones (ZNS). */
#ifndef AFTL_ZONE_H
#define AFTL_ZONE_H

#include "core/ftl/controller.h"
#include "core/ftl/placement-handle.h"

struct aftl_lun;

static inline struct aftl_zone *aftl_zone_of_lpn(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->zones.all[from_lpn(lpn) / ftl->geo.zone_units];
}

/* Slot (table entry of an active zone) whose zone writes with @stream; see struct aftl_zone. */
static inline u32 aftl_zone_slot_of_stream(const struct aftl *ftl, u32 stream)
{
	return aftl_get_handle_of_stream(ftl, stream) - aftl_count_trans_page_streams(ftl);
}

int __must_check aftl_zone_check_config(const struct aftl *ftl, struct aftl_error *error);
bool aftl_zone_alloc_states(struct aftl *ftl);
int aftl_zone_open(struct aftl *ftl, struct aftl_zone *zone, enum aftl_zone_state state);
bool aftl_zone_commit_reaches_pages(const struct aftl *ftl, const struct aftl_zone *zone, u32 end);
int aftl_zone_start_write(struct aftl *ftl, struct aftl_request *request);
void aftl_zone_make_unwritable(struct aftl *ftl, struct aftl_zone *zone,
			       enum aftl_zone_state state);
void aftl_zone_complete_reset_after_unmap(struct aftl *ftl, struct aftl_zone *zone);
struct aftl_lun *aftl_zone_write_lun(struct aftl *ftl, aftl_lpn_t lpn);
bool aftl_zone_assign_write_slot(struct aftl *ftl, struct aftl_request *request);
void aftl_zone_count_admitted_lpns(struct aftl *ftl, struct aftl_zone *zone, u32 units);
void aftl_zone_count_programmed_lpn(struct aftl *ftl, u32 stream);
bool aftl_zone_find_stream_of_folded_lpn(const struct aftl *ftl, aftl_lpn_t lpn, u32 *stream);
void aftl_zone_prepare_fallback_block(struct aftl *ftl, struct aftl_lun *lun, aftl_lpn_t lpn,
				      bool fold);
void aftl_zone_block_retired(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_zone_handle_dead_lun(struct aftl *ftl, const struct aftl_lun *lun);
bool aftl_zone_finish_load(struct aftl *ftl);
void aftl_zone_rebuild_state(struct aftl *ftl, u32 zone, u32 written, enum aftl_zone_state noted);
void aftl_zone_finish_excess_zones(struct aftl *ftl);
void aftl_zone_reserve_write_slot(struct aftl *ftl, aftl_lpn_t lpn);
void aftl_zone_reopen_blocks(struct aftl *ftl);

#endif
