// SPDX-License-Identifier: GPL-2.0-only
/*
 * The failure of a LUN, one slice of the scheduler's work at a time: its data are lost unless RAIN
 * reconstructs them, and host writes that it had not programmed yet go to other LUNs. No other
 * operation starts before the last slice, so that none meets a LUN of which only some blocks are
 * retired.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/fine-pending.h"
#include "core/ftl/lun.h"
#include "core/ftl/relocation.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/superblock-gc.h"
#include "core/ftl/superblock.h"
#include "core/ftl/translation-page.h"
#include "core/ftl/zone.h"
#include "core/hif/lun-failure.h"
#include "core/sched/die-read.h"
#include "core/sched/die-write.h"
#include "core/sched/stripe-read.h"

/* Take @block out of the free or victim list, and away from the policy that programs it. */
static void lun_failure_remove_block_from_lists(struct aftl *ftl, struct aftl_lun *lun,
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

/* Drop the LUN's background task and suspended operation, and mark it as dead. */
static void lun_failure_abort_work(struct aftl *ftl, struct aftl_lun *lun)
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
static u32 lun_failure_get_commands_of_running_write(const struct aftl_lun *lun)
{
	if (lun->suspended.kind == AFTL_WORK_PROGRAM)
		return lun->suspended.commands;
	if (lun->work.kind == AFTL_WORK_PROGRAM && lun->work.phase == AFTL_PHASE_PROGRAM)
		return lun->work.commands;
	return AFTL_NIL;
}

/* Retire the next block of the LUN. */
static void lun_failure_retire_block(struct aftl *ftl, struct aftl_lun *lun, u32 number)
{
	struct aftl_block *block =
		&ftl->media.blocks[(size_t)lun->index * ftl->geo.blocks_per_lun + number];

	ftl->work++;
	if (block->state == AFTL_BLOCK_BAD)
		return;
	lun_failure_remove_block_from_lists(ftl, lun, block);
	lun->failing_blocks -= block->failing;
	block->failing = 0;
	aftl_block_mark_bad(ftl, lun, block);
}

/* After the last block: tell the host, and cancel the reads of the LUN for other members. */
static void lun_failure_end_retirement(struct aftl *ftl, struct aftl_lun *lun)
{
	aftl_enter_read_only_if_needed(ftl);
	aftl_notify_blocks_retired(ftl, lun->index * ftl->geo.blocks_per_lun,
				   ftl->geo.blocks_per_lun);
	if (ftl->geo.superblock_luns)
		aftl_reconstruct_handle_dead_lun(ftl, lun);
}

/* After the last superblock: end the reads of the LUN, and move its writes to other LUNs. */
static void lun_failure_end(struct aftl *ftl, struct aftl_lun *lun, u32 writes)
{
	if (ftl->geo.superblock_luns)
		aftl_superblock_continue_gc_without_lun(ftl, lun);
	aftl_read_fail_queued_reads(ftl, lun);
	aftl_reconstruct_finish_if_complete(ftl, lun);
	aftl_write_move_writes_of_dead_lun(ftl, lun, writes);
	while ((writes = aftl_fine_pending_take_writes_of_dead_lun(ftl, lun)) != AFTL_NIL)
		aftl_write_move_writes_of_dead_lun(ftl, lun, writes);
}

/**
 * aftl_lun_failure_begin() - let a LUN fail; the scheduler's next slices continue it
 * @ftl: device without another LUN that is failing
 * @lun: LUN that is not dead
 */
void aftl_lun_failure_begin(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 writes = lun_failure_get_commands_of_running_write(lun);

	aftl_write_abort_programs(ftl, writes);
	aftl_read_abort_running_read(ftl, lun);
	lun_failure_abort_work(ftl, lun);
	aftl_zone_handle_dead_lun(ftl, lun);
	if (ftl->config.zrwa)
		aftl_write_commit_random_areas(ftl, false);
	aftl_cmt_move_dead_lun_evictions(ftl, lun);
	ftl->lun_failure = (struct aftl_lun_failure){ .lun = lun, .writes = writes };
	ftl->retry = true;
}

/**
 * aftl_lun_failure_continue() - go on with the failure of a LUN
 * @ftl: device with a LUN that is failing
 * @begin: ftl->work when this slice began
 *
 * Return: true if that was the end.
 */
bool aftl_lun_failure_continue(struct aftl *ftl, u32 begin)
{
	struct aftl_lun_failure *failure = &ftl->lun_failure;
	u32 blocks = ftl->geo.blocks_per_lun;
	u32 superblocks = ftl->geo.superblock_luns ? blocks : 0;
	struct aftl_lun *lun = failure->lun;

	while (failure->next < blocks + superblocks) {
		if (aftl_work_slice_is_over(ftl, begin))
			return false;
		if (failure->next < blocks)
			lun_failure_retire_block(ftl, lun, failure->next);
		else
			aftl_superblock_replace_dead_parity(ftl, lun, failure->next - blocks);
		if (++failure->next == blocks)
			lun_failure_end_retirement(ftl, lun);
	}
	failure->lun = NULL;
	lun_failure_end(ftl, lun, failure->writes);
	return true;
}
