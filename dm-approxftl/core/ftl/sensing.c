// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read of a page: checks that its cells hold the data, computes the latency with read retries from
 * the policy's read reference on, and counts the read.
 */
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/sensing.h"

/* Ask the policy for a read reference; one out of range is a policy bug and becomes 0. */
static u32 ask_policy_for_first_read_reference(struct aftl *ftl, const struct aftl_block *block,
					       u32 page)
{
	u32 start = ftl->type->reference ? ftl->type->reference(ftl->policy, block, page) : 0;

	if (likely(start <= AFTL_SHIFT_MAX))
		return start;
	ftl->stats.counters.policy_bugs++;
	return 0;
}

/* Read retries count as reads; a closed block at the read-disturb limit will be relocated. */
static void count_block_sensings(struct aftl *ftl, struct aftl_block *block, u32 sensings)
{
	block->reads += min(sensings, U32_MAX - block->reads);
	if (unlikely(block->reads >= ftl->max_block_reads) && block->state == AFTL_BLOCK_CLOSED)
		aftl_block_lun(ftl, block)->disturbed = block;
}

static inline u64 sense_page_with_retries(struct aftl *ftl, struct aftl_block *block, u32 page,
					  u64 hour)
{
	u32 shift = ask_policy_for_first_read_reference(ftl, block, page);
	struct aftl_read_result sensing =
		aftl_read_page_timing(&ftl->sense, block, page, shift, hour);

	ftl->stats.counters.read_retries += sensing.retries;
	count_block_sensings(ftl, block, 1 + sensing.retries);
	if (ftl->type->reference_found)
		ftl->type->reference_found(ftl->policy, block, page, sensing.shift);
	return sensing.ns;
}

/* Sense @page of @block at device age @hour. Return: array time, without extra sensing levels. */
u64 aftl_sense_page(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour)
{
	return sense_page_with_retries(ftl, block, page, hour);
}

/* Read all valid data of @page, with extra sensing levels if the data need them. */
u64 aftl_sense_valid_data(struct aftl *ftl, struct aftl_block *block, u32 page, u64 hour)
{
	u32 levels = aftl_get_extra_sensing_levels_of_page(&ftl->cell, block, page, hour);

	return sense_page_with_retries(ftl, block, page, hour) + levels * ftl->sense.further_ns;
}

/*
 * Return true if the page of @ppn is being programmed, perhaps suspended. The cells hold the data
 * only afterwards. The controller keeps the data until then, in case the program fails: reads are
 * served from there, and must not sense the page.
 */
bool aftl_ppn_is_programming(struct aftl *ftl, aftl_ppn_t ppn)
{
	const struct aftl_block *block = aftl_block_of_ppn(&ftl->media, ppn);
	const struct aftl_lun *lun = aftl_block_lun(ftl, block);
	const struct aftl_work *work = lun->suspended.kind == AFTL_WORK_NONE ||
				       lun->work.phase == AFTL_PHASE_PROGRAM ?
					       &lun->work : &lun->suspended;
	const struct aftl_placement *placement = &work->placement;
	u32 page = aftl_page_in_block(&ftl->geo, aftl_page_of_ppn(&ftl->media, ppn));

	return work->phase == AFTL_PHASE_PROGRAM && placement->block == block &&
	       page - placement->page < placement->pages;
}
