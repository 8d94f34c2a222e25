// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement handles (FDP). Writes with a placement id go to open blocks of that handle, its reclaim
 * units, in the LUNs of the id's reclaim group; relocation stays there. All other writes belong to
 * the default handle, whose blocks the policy chooses. GC mixes the data of all handles, or with
 * isolation keeps them apart.
 */
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/memory.h"
#include "core/ftl/placement-handle.h"

static u32 count_placement_ids(const struct aftl *ftl)
{
	return (u32)(ftl->config.placement_handles * ftl->config.placement_groups);
}

static int check_reclaim_group_config(const struct aftl *ftl, struct aftl_error *error)
{
	u32 groups = (u32)ftl->config.placement_groups;

	if (groups > 1 && !ftl->config.placement_handles)
		return aftl_fail(error, -EINVAL,
				 "placement_groups: a placement id names a group and a handle, and there are no handles; set placement_handles, or leave placement_groups at 1");
	if (ftl->geo.luns % groups)
		return aftl_fail(error, -EINVAL,
				 "placement_groups: %u dies cannot be shared out to %u groups; the number of groups must divide the number of dies",
				 ftl->geo.luns, groups);
	if (ftl->geo.superblock_luns && ftl->geo.luns / groups % ftl->geo.superblock_luns)
		return aftl_fail(error, -EINVAL,
				 "placement_groups: a superblock of %u dies is a reclaim unit, and a group of %u dies cannot hold it; lower placement_groups or superblock",
				 ftl->geo.superblock_luns, ftl->geo.luns / groups);
	return 0;
}

/* Check that policy and configuration allow the placement handles. */
int aftl_check_handle_config(const struct aftl *ftl, struct aftl_error *error)
{
	u32 most = AFTL_HANDLES_MAX - aftl_count_trans_page_streams(ftl);
	u32 handles = (u32)ftl->config.placement_handles;

	if (handles > most)
		return aftl_fail(error, -EINVAL,
				 "placement_handles: the metadata of a block have room for the numbers of %u handles beside that of the cached map, not for %u",
				 most, handles);
	return check_reclaim_group_config(ftl, error);
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

/* A write lifetime hint, numbered as in the kernel, stands for a placement id if there is none. */
static u32 get_placement_id_of_hint(const struct aftl_hint *hint)
{
	return hint->stream ? hint->stream : hint->life;
}

/*
 * Find the reclaim group of a write: ids name the handles of the first group, then those of the
 * next one. Return: the group, or NULL if the write belongs to the default handle.
 */
struct aftl_reclaim_group *aftl_find_reclaim_group(struct aftl *ftl, const struct aftl_hint *hint)
{
	u32 id = get_placement_id_of_hint(hint);

	if (!id || id > count_placement_ids(ftl))
		return NULL;
	return &ftl->allocation.groups[(id - 1) / (u32)ftl->config.placement_handles];
}

/*
 * Set the stream of a write with a placement id. An id without a handle counts as unknown, unless
 * the policy separates ids itself. Return: false if the write belongs to the default handle.
 */
bool aftl_set_stream_by_placement_id(struct aftl *ftl, struct aftl_request *request)
{
	u32 id = get_placement_id_of_hint(&request->hint);
	u32 handle;

	if (id > count_placement_ids(ftl)) {
		ftl->stats.counters.unknown_placement_requests += !ftl->type->host_streams;
		id = 0;
	}
	handle = id ? (id - 1) % (u32)ftl->config.placement_handles + 1 : 0;
	ftl->stats.handles[handle].host_units += request->units;
	if (!handle)
		return false;
	request->stream = (u8)(ftl->streams + aftl_count_trans_page_streams(ftl) + handle - 1);
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

void aftl_fdp_block_erased(struct aftl *ftl, struct aftl_lun *lun __maybe_unused,
			   struct aftl_block *block)
{
	ftl->stats.handles[aftl_fdp_handle_of_block(ftl, block)].erased_units +=
		ftl->geo.block_ppns;
}

void aftl_fdp_block_closed(struct aftl *ftl, struct aftl_lun *lun __maybe_unused,
			   struct aftl_block *block)
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
