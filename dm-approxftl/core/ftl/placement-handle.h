/* SPDX-License-Identifier: GPL-2.0-only */
/* Placement handles (FDP). */
#ifndef AFTL_PLACEMENT_HANDLE_H
#define AFTL_PLACEMENT_HANDLE_H

#include "core/ftl/controller.h"

struct aftl_lun;

/* Placement handle of a stream; 0, the default handle, for the streams of the policy. */
static inline u32 aftl_stream_handle(const struct aftl *ftl, u32 stream)
{
	return unlikely(stream >= ftl->streams) ? stream - ftl->streams + 1 : 0;
}

/*
 * Stream to which valid pages of @block are relocated if they have to stay with their handle; 0 if
 * the policy chooses.
 */
static inline u32 aftl_isolated_stream(const struct aftl *ftl, const struct aftl_block *block)
{
	if (likely(!block->handle) || !(ftl->config.placement_isolation || ftl->geo.trans_pages))
		return 0;
	return ftl->streams + block->handle - 1;
}

int __must_check aftl_handle_check(const struct aftl *ftl, struct aftl_error *error);
bool aftl_handle_alloc(struct aftl *ftl);
bool aftl_handle_assign_stream(struct aftl *ftl, struct aftl_request *request);
int aftl_handle_place(struct aftl *ftl, struct aftl_lun *lun,
		      const struct aftl_program_request *need, struct aftl_placement *placement);
void aftl_handle_closed(struct aftl *ftl, const struct aftl_block *block);
bool aftl_handle_adopt(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block);
void aftl_handle_restored(struct aftl *ftl);

#endif
