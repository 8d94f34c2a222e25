// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failures of logical pages and blocks, the calls that let a LUN fail, and the ageing of the cells.
 * The data of a failing block are relocated before it is retired.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/pending-writes.h"
#include "core/ftl/refresh.h"
#include "core/ftl/run-queue.h"
#include "core/hif/dispatch.h"
#include "core/hif/hif.h"
#include "core/hif/lun-failure.h"

void aftl_advance_age(struct aftl *ftl, u64 ns)
{
	u64 day = div64_u64(ftl->age_ns + ftl->now_ns, AFTL_DAY_NS);

	aftl_start_all_possible_operations(ftl);
	ftl->age_ns = min(ftl->age_ns + min(ns, AFTL_TIME_MAX / 2), AFTL_TIME_MAX / 2);
	if (div64_u64(ftl->age_ns + ftl->now_ns, AFTL_DAY_NS) != day)
		aftl_refresh_restart_scan(ftl);
	aftl_refresh_set_daily_event(ftl);
}

int aftl_fail_block(struct aftl *ftl, u32 index)
{
	struct aftl_block *block;
	struct aftl_lun *lun;

	if (index >= ftl->geo.blocks)
		return -EINVAL;
	aftl_start_all_possible_operations(ftl);
	block = &ftl->media.blocks[index];
	lun = aftl_block_lun(ftl, block);
	if (block->failing || block->state == AFTL_BLOCK_BAD)
		return 0;
	if (block->state == AFTL_BLOCK_FREE && !block->parity) {
		aftl_free_list_remove_block(ftl, lun, block);
		aftl_block_retire(ftl, lun, block);
		aftl_block_event_notify(&ftl->block_events, AFTL_ON_RETIRE, ftl, lun, block);
		aftl_notify_blocks_retired(ftl, index, 1);
		return 0;
	}
	if (block->state == AFTL_BLOCK_OPEN && !block->parity)
		aftl_close_unfilled_block(ftl, lun, block);
	block->failing = 1;
	lun->failing_blocks++;
	aftl_wake_idle_lun(ftl, lun);
	aftl_start_slice_of_lun_operations(ftl);
	return 0;
}

u32 aftl_wear_out_blocks(struct aftl *ftl, u32 cycles, u32 first)
{
	u32 end = min(ftl->geo.blocks, first + AFTL_WEAR_BLOCKS);
	u32 i;

	aftl_start_all_possible_operations(ftl);
	for (i = first; i < end; i++)
		ftl->media.blocks[i].wear = max(ftl->media.blocks[i].wear,
						cycles * AFTL_FULL_WEAR);
	ftl->work += AFTL_SLICE_WORK;
	return end;
}

static struct aftl_block *find_block_to_fail(struct aftl *ftl)
{
	struct aftl_block *found = NULL;
	u32 most = 0;
	u32 i, j;

	for (i = 0; i < ftl->geo.luns; i++) {
		const struct aftl_lun *lun = &ftl->luns[i];
		struct aftl_block *blocks = &ftl->media.blocks[(size_t)i * ftl->geo.blocks_per_lun];

		if (lun->good_blocks <= most + lun->failing_blocks)
			continue;
		for (j = 0; j < ftl->geo.blocks_per_lun; j++)
			if (blocks[j].state != AFTL_BLOCK_BAD && !blocks[j].failing &&
			    !blocks[j].parity)
				break;
		if (j == ftl->geo.blocks_per_lun)
			continue;
		found = &blocks[j];
		most = lun->good_blocks - lun->failing_blocks;
	}
	return found;
}

bool aftl_fail_next_block(struct aftl *ftl)
{
	struct aftl_block *block;

	if (ftl->read_only || !aftl_host_data_fit_in_nonfailing_blocks(ftl))
		return false;
	block = find_block_to_fail(ftl);
	return block && !aftl_fail_block(ftl, (u32)(block - ftl->media.blocks));
}

bool aftl_mark_unit_lost(struct aftl *ftl, aftl_ppn_t ppn)
{
	if (from_ppn(ppn) >= ftl->geo.ppns || !aftl_ppn_is_valid(&ftl->media, ppn) ||
	    aftl_ppn_is_marked_lost(&ftl->media, ppn) ||
	    from_lpn(aftl_ppn_lpn(&ftl->media, ppn)) >= ftl->geo.units)
		return false;
	aftl_l2p_mark_ppn_lost(ftl, ppn);
	ftl->stats.counters.moved_lost_units++;
	return true;
}

int aftl_fail_unit(struct aftl *ftl, aftl_lpn_t lpn)
{
	aftl_ppn_t ppn;

	if (from_lpn(lpn) >= ftl->geo.units)
		return -EINVAL;
	aftl_start_all_possible_operations(ftl);
	if (aftl_lpn_is_buffered(ftl, lpn) || !aftl_l2p_lookup(ftl, lpn, &ppn))
		return -ENODATA;
	aftl_l2p_mark_ppn_lost(ftl, ppn);
	if (ftl->ops->programmed)
		ftl->ops->programmed(ftl->host, to_ppn(aftl_page_of_ppn(&ftl->media, ppn) *
						       ftl->geo.page_units));
	return 0;
}

void aftl_count_read_of_lost_unit(struct aftl *ftl)
{
	ftl->stats.counters.read_lost_units++;
}

void aftl_mark_buffer_lost(struct aftl *ftl)
{
	ftl->buffer_lost = true;
}

int aftl_fail_lun(struct aftl *ftl, u32 index)
{
	if (index >= ftl->geo.luns)
		return -EINVAL;
	aftl_start_all_possible_operations(ftl);
	if (!aftl_lun_is_dead(&ftl->luns[index]))
		aftl_lun_failure_begin(ftl, &ftl->luns[index]);
	aftl_start_slice_of_lun_operations(ftl);
	return 0;
}
