// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement handles (FDP). Writes with a placement id go to open blocks of that handle, its reclaim
 * units. All other writes belong to the default handle, whose blocks the policy chooses. GC mixes
 * the data of all handles, or with isolation keeps them apart.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/placement-handle.h"

/* Check that policy and configuration allow the placement handles. */
int aftl_check_handle_config(const struct aftl *ftl, struct aftl_error *error)
{
	u32 most = AFTL_STREAMS - ftl->streams - aftl_count_trans_page_streams(ftl);
	u32 handles = (u32)ftl->config.placement_handles;

	if (!handles)
		return 0;
	if (handles > most)
		return aftl_fail(error, -EINVAL,
				 "placement_handles: policy %s leaves room for %u of them, not for %u",
				 ftl->type->name, most, handles);
	return 0;
}

bool aftl_alloc_handle_block_table(struct aftl *ftl)
{
	u32 zone_slc = ftl->geo.zones && ftl->slc_max_blocks ? ftl->handles : 0;
	u32 each = ftl->handles + zone_slc;
	struct aftl_block **placed;
	u32 i;

	if (!ftl->handles)
		return true;
	placed = aftl_memory_alloc(ftl, (size_t)ftl->geo.luns * each, sizeof(struct aftl_block *));
	for (i = 0; placed && i < ftl->geo.luns; i++) {
		ftl->luns[i].handle_blocks = placed + (size_t)i * each;
		if (zone_slc)
			ftl->luns[i].zone_slc_blocks = ftl->luns[i].handle_blocks + ftl->handles;
	}
	return placed;
}

/*
 * Set the stream of a write with a placement id. A write lifetime hint, numbered as in the kernel,
 * stands for a placement id if there is none. An id without a handle counts as unknown, unless the
 * policy separates ids itself. Return: false if the write belongs to the default handle.
 */
bool aftl_set_stream_by_placement_id(struct aftl *ftl, struct aftl_request *request)
{
	u32 id = request->hint.stream ? request->hint.stream : request->hint.life;

	if (id > ftl->config.placement_handles) {
		ftl->stats.counters.unknown_placement_requests += !ftl->type->host_streams;
		id = 0;
	}
	ftl->stats.handles[id].host_units += request->units;
	if (!id)
		return false;
	request->stream = (u8)(ftl->streams + aftl_count_trans_page_streams(ftl) + id - 1);
	return true;
}

/* Place a program in the open block of its placement handle. Return: 0, or -ENOSPC. */
int aftl_place_program_of_handle(struct aftl *ftl, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement)
{
	u32 handle = aftl_get_handle_of_stream(ftl, need->stream);
	int ret;

	*placement = (struct aftl_placement){ 0 };
	ftl->placing_handle = handle;
	ret = aftl_place_sequential(ftl->policy, lun, need, &lun->handle_blocks[handle - 1], 0,
				    placement);
	ftl->placing_handle = 0;
	return ret;
}

void aftl_count_closed_handle_block(struct aftl *ftl, const struct aftl_block *block)
{
	struct aftl_handle_stats *stats = &ftl->stats.handles[aftl_fdp_handle_of_block(ftl, block)];

	stats->changed_blocks++;
	stats->partial_blocks += !aftl_block_is_full(&ftl->geo, block);
}

/*
 * Count a logical page that is relocated out of @block. @follows: it continues a run of logical
 * pages that are relocated together. FDP reports relocated data as an event unless their reclaim
 * unit handle is persistently isolated.
 */
void aftl_count_lpn_moved_from_handle(struct aftl *ftl, const struct aftl_block *block,
				      bool follows)
{
	struct aftl_handle_stats *stats = &ftl->stats.handles[aftl_fdp_handle_of_block(ftl, block)];

	stats->reallocated_units++;
	stats->reallocated_events += !follows && !ftl->config.placement_isolation;
}

/*
 * Keep @block, which was open when the device was saved, as the open block of its placement handle.
 * Return: false if the block has to be closed.
 */
bool aftl_adopt_open_handle_block(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	struct aftl_block **blocks = block->bits ? lun->zone_slc_blocks : lun->handle_blocks;

	if (!block->handle || block->handle > ftl->handles || !blocks ||
	    blocks[block->handle - 1])
		return false;
	blocks[block->handle - 1] = block;
	return true;
}

/* Move blocks of handles that do not exist any more to the default handle. */
void aftl_reset_unknown_handles(struct aftl *ftl)
{
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i++)
		if (ftl->media.blocks[i].handle > ftl->handles)
			ftl->media.blocks[i].handle = 0;
}
