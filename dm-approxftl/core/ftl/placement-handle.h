/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement handles (FDP). block->handle numbers the users of open blocks that belong to the core
 * instead of the policy: first translation pages, if they are on flash, then the active zones of a
 * zoned device, or the placement handles.
 */
#ifndef AFTL_PLACEMENT_HANDLE_H
#define AFTL_PLACEMENT_HANDLE_H

#include "core/ftl/controller.h"

struct aftl_lun;

/* Number of a stream's placement handle, from 1; 0 for the streams of the policy. */
static inline u32 aftl_get_handle_of_stream(const struct aftl *ftl, u32 stream)
{
	return unlikely(stream >= ftl->streams) ? stream - ftl->streams + 1 : 0;
}

/* Number of open blocks for translation pages: 0 or 1. */
static inline u32 aftl_count_trans_page_streams(const struct aftl *ftl)
{
	return ftl->geo.trans_pages > 0;
}

static inline bool aftl_block_has_trans_pages(const struct aftl *ftl,
					      const struct aftl_block *block)
{
	return unlikely(block->handle) && block->handle <= aftl_count_trans_page_streams(ftl);
}

static inline bool aftl_is_stream_of_trans_pages(const struct aftl *ftl, u32 stream)
{
	return ftl->geo.trans_pages && stream == ftl->streams;
}

/* Placement handle of @block; 0, the default one, also for translation pages and zones. */
static inline u32 aftl_fdp_handle_of_block(const struct aftl *ftl, const struct aftl_block *block)
{
	if (ftl->geo.zones)
		return 0;
	return block->handle - min_t(u32, block->handle, aftl_count_trans_page_streams(ftl));
}

/*
 * Stream to which valid pages of @block are relocated if they have to stay apart from other data; 0
 * if the policy chooses.
 */
static inline u32 aftl_get_fixed_relocation_stream(const struct aftl *ftl,
						   const struct aftl_block *block)
{
	if (likely(!block->handle) ||
	    !(ftl->config.placement_isolation || aftl_block_has_trans_pages(ftl, block) ||
	      (ftl->geo.zones && block->bits)))
		return 0;
	return ftl->streams + block->handle - 1;
}

struct aftl_reclaim_group *aftl_find_reclaim_group(struct aftl *ftl, const struct aftl_hint *hint);

/* Return the reclaim group that a write with @hint has to go to; NULL: any. */
static inline struct aftl_reclaim_group *aftl_get_reclaim_group(struct aftl *ftl,
								const struct aftl_hint *hint)
{
	return unlikely(ftl->allocation.groups) ? aftl_find_reclaim_group(ftl, hint) : NULL;
}

int __must_check aftl_check_handle_config(const struct aftl *ftl, struct aftl_error *error);
bool aftl_alloc_handle_block_table(struct aftl *ftl);
bool aftl_set_stream_by_placement_id(struct aftl *ftl, struct aftl_request *request);
int aftl_place_program_of_handle(struct aftl *ftl, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement);
void aftl_fdp_block_erased(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_fdp_block_closed(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_count_lpn_moved_from_handle(struct aftl *ftl, const struct aftl_block *block,
				      bool follows);
bool aftl_adopt_open_handle_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_reset_unknown_handles(struct aftl *ftl);

#endif
