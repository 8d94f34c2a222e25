// SPDX-License-Identifier: GPL-2.0-only
/*
 * What breaks. A block goes bad in time for its data to be moved; a LUN dies at once,
 * and what only it held is lost.
 */
#include "core/front/front.h"

int aftl_fail_block(struct aftl *ftl, u32 index)
{
	struct aftl_block *block;
	struct aftl_lun *lun;

	if (index >= ftl->geo.blocks)
		return -EINVAL;
	block = &ftl->media.blocks[index];
	lun = aftl_block_lun(ftl, block);
	if (block->failing || block->state == AFTL_BLOCK_BAD)
		return 0;
	if (block->state == AFTL_BLOCK_FREE && !block->parity) {
		aftl_supply_remove_free(ftl, lun, block);
		aftl_supply_retire(ftl, lun, block);
		aftl_zone_retired(ftl, lun);
		aftl_tell_retired(ftl, index, 1);
		return 0;
	}
	if (block->state == AFTL_BLOCK_OPEN && !block->parity)
		aftl_supply_close_early(ftl, lun, block);
	block->failing = 1;
	lun->failing_blocks++;
	aftl_wake(ftl, lun);
	aftl_settle(ftl);
	return 0;
}

bool aftl_lose(struct aftl *ftl, aftl_slot_t slot)
{
	if (from_slot(slot) >= ftl->geo.slots || !aftl_slot_valid(&ftl->media, slot) ||
	    aftl_slot_lost(&ftl->media, slot) ||
	    from_unit(aftl_unit_at(&ftl->media, slot)) >= ftl->geo.units)
		return false;
	aftl_map_lose(ftl, slot);
	ftl->stats.counters.moved_lost_units++;
	return true;
}

void aftl_count_unreadable(struct aftl *ftl)
{
	ftl->stats.counters.read_lost_units++;
}

void aftl_lose_buffer(struct aftl *ftl)
{
	ftl->buffer_lost = true;
}

/* Out of its list and out of the policy's hands. */
static void take_out(struct aftl *ftl, struct aftl_lun *lun, struct aftl_block *block)
{
	if (unlikely(block->parity))
		return;
	if (block->state == AFTL_BLOCK_FREE)
		aftl_supply_remove_free(ftl, lun, block);
	else if (block->state == AFTL_BLOCK_CLOSED && block->listed)
		aftl_supply_unlist(ftl, lun, block);
	else if (block->state == AFTL_BLOCK_OPEN && ftl->type->closed)
		ftl->type->closed(ftl->policy, block);
}

static void retire_all(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 first = lun->index * ftl->geo.blocks_per_lun;
	u32 i;

	for (i = first; i < first + ftl->geo.blocks_per_lun; i++) {
		struct aftl_block *block = &ftl->media.blocks[i];

		if (block->state == AFTL_BLOCK_BAD)
			continue;
		take_out(ftl, lun, block);
		block->failing = 0;
		aftl_supply_retire(ftl, lun, block);
	}
	lun->failing_blocks = 0;
	aftl_tell_retired(ftl, first, ftl->geo.blocks_per_lun);
}

/* No work, and none to come. */
static void lay_down(struct aftl *ftl, struct aftl_lun *lun)
{
	u32 i;

	if (lun->job.kind != AFTL_JOB_NONE)
		aftl_job_drop(ftl, lun);
	lun->redo_blocks = 0;
	lun->refuge = NULL;
	lun->cache = NULL;
	lun->cached = 0;
	for (i = 0; lun->placed && i < ftl->handles; i++)
		lun->placed[i] = NULL;
	lun->parked.kind = AFTL_WORK_NONE;
	lun->work.phase = AFTL_PHASE_DEAD;
	lun->parity_due = 0;
	lun->stuck = false;
	lun->cramped = false;
	lun->collect = 0;
	aftl_events_set(&ftl->events, lun->index, AFTL_NEVER);
}

/* Host writes whose program is under way, suspended or not. */
static u32 programs_under_way(const struct aftl_lun *lun)
{
	if (lun->parked.kind == AFTL_WORK_PROGRAM)
		return lun->parked.commands;
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
	lun = &ftl->luns[index];
	if (aftl_lun_dead(lun))
		return 0;
	writes = programs_under_way(lun);
	aftl_write_unstore(ftl, writes);
	aftl_read_interrupt(ftl, lun);
	lay_down(ftl, lun);
	aftl_zone_lun_died(ftl, lun);
	aftl_sheet_lun_died(ftl, lun);
	retire_all(ftl, lun);
	if (unlikely(ftl->geo.super_luns)) {
		aftl_stripe_lun_died(ftl, lun);
		aftl_group_lun_died(ftl, lun);
	}
	aftl_read_fail(ftl, lun);
	aftl_stripe_none_left(ftl, lun);
	aftl_write_rebind(ftl, lun, writes);
	while ((writes = aftl_held_give_up(ftl, lun)) != AFTL_NIL)
		aftl_write_rebind(ftl, lun, writes);
	aftl_settle(ftl);
	return 0;
}
