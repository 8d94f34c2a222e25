// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failures of logical pages, blocks and LUNs. The data of a failing block are relocated before it
 * is retired. A LUN fails at once: its data are lost unless RAIN reconstructs them, and host writes
 * that it had not programmed yet go to other LUNs. Also the ageing of the cells.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/pending-writes.h"
#include "core/ftl/refresh.h"
#include "core/ftl/relocation.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/zone.h"
#include "core/hif/dispatch.h"
#include "core/hif/hif.h"
#include "core/sched/die-read.h"
#include "core/sched/die-write.h"
#include "core/sched/stripe-read.h"

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

/* Take @block out of the free or victim list, and away from the policy that programs it. */
static void fault_remove_block_from_lists(struct aftl *ftl, struct aftl_lun *lun,
					  struct aftl_block *block)
{
	if (block->parity)
		return;
	if (block->state == AFTL_BLOCK_FREE)
		aftl_free_list_remove_block(ftl, lun, block);
	else if (block->state == AFTL_BLOCK_CLOSED && block->listed)
		aftl_victim_list_remove(ftl, lun, block);
	else if (block->state == AFTL_BLOCK_OPEN && ftl->type->closed)
		ftl->type->closed(ftl->policy, block);
}

static void fault_retire_lun_blocks(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 i;

	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = &ftl->media.blocks[i];

		if (block->state == AFTL_BLOCK_BAD)
			continue;
		fault_remove_block_from_lists(ftl, lun, block);
		block->failing = 0;
		aftl_block_retire(ftl, lun, block);
	}
	lun->failing_blocks = 0;
	aftl_notify_blocks_retired(ftl, first, ftl->geo.blocks_per_lun);
}

/* Drop the LUN's background task and suspended operation, and mark it as dead. */
static void fault_abort_lun_work(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	if (lun->reloc.kind != AFTL_RELOC_NONE)
		aftl_reloc_cancel_task(ftl, lun);
	lun->repeat_blocks = 0;
	lun->fallback = NULL;
	lun->slc_open = NULL;
	lun->slc_blocks = 0;
	for (i = 0; lun->handle_blocks && i < ftl->handles; i++)
		lun->handle_blocks[i] = NULL;
	for (i = 0; lun->zone_slc_blocks && i < ftl->handles; i++)
		lun->zone_slc_blocks[i] = NULL;
	lun->suspended.kind = AFTL_WORK_NONE;
	lun->work.phase = AFTL_PHASE_DEAD;
	aftl_parity_clear_queue(ftl, lun);
	lun->out_of_blocks = false;
	lun->below_reserve = false;
	aftl_request_gc_of_blocks(ftl, lun, 0);
	aftl_events_set_time(&ftl->events, lun->index, AFTL_NEVER);
}

/* Commands of the host write that @lun programs, even if suspended; AFTL_NIL if there is none. */
static u32 fault_get_commands_of_running_write(const struct aftl_lun *lun)
{
	if (lun->suspended.kind == AFTL_WORK_PROGRAM)
		return lun->suspended.commands;
	if (lun->work.kind == AFTL_WORK_PROGRAM && lun->work.phase == AFTL_PHASE_PROGRAM)
		return lun->work.commands;
	return AFTL_NIL;
}

int aftl_fail_lun(struct aftl *ftl, u32 index)
{
	struct aftl_lun *lun;
	u32 writes;

	if (index >= ftl->geo.luns)
		return -EINVAL;
	aftl_start_all_possible_operations(ftl);
	lun = &ftl->luns[index];
	if (aftl_lun_is_dead(lun))
		return 0;
	writes = fault_get_commands_of_running_write(lun);
	aftl_write_abort_programs(ftl, writes);
	aftl_read_abort_running_read(ftl, lun);
	fault_abort_lun_work(ftl, lun);
	aftl_zone_handle_dead_lun(ftl, lun);
	if (ftl->config.zrwa)
		aftl_write_commit_random_areas(ftl, false);
	aftl_cmt_move_dead_lun_evictions(ftl, lun);
	fault_retire_lun_blocks(ftl, lun);
	if (ftl->geo.superblock_luns) {
		aftl_reconstruct_handle_dead_lun(ftl, lun);
		aftl_superblock_handle_dead_lun(ftl, lun);
	}
	aftl_read_fail_queued_reads(ftl, lun);
	aftl_reconstruct_finish_if_complete(ftl, lun);
	aftl_write_move_writes_of_dead_lun(ftl, lun, writes);
	while ((writes = aftl_fine_pending_take_writes_of_dead_lun(ftl, lun)) != AFTL_NIL)
		aftl_write_move_writes_of_dead_lun(ftl, lun, writes);
	aftl_start_slice_of_lun_operations(ftl);
	return 0;
}
