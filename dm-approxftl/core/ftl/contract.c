// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the core does for policies, behind the contract.
 */
#include "core/ftl/device.h"
#include "core/base/random.h"

u32 aftl_lun_queued(const struct aftl_lun *lun)
{
	u32 queued = lun->reads.count;
	u32 lane;

	for (lane = 0; lane < AFTL_LANES; lane++)
		queued += lun->writes[lane].count;
	return queued;
}

static bool has_spare(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return !aftl_urgent(ftl, lun);
}

static struct aftl_block *open_block(struct aftl *ftl, struct aftl_lun *lun, u32 cause,
				     enum aftl_order order, u32 kind)
{
	struct aftl_block *block;

	if ((cause == AFTL_CAUSE_HOST || cause == AFTL_CAUSE_MAP) && !has_spare(ftl, lun))
		return NULL;
	if (ftl->geo.passes > 1)
		order = AFTL_ORDER_FOGGY_FINE;
	if (cause != ftl->placing || kind >= AFTL_KINDS_MAX || (u32)order >= AFTL_ORDERS ||
	    !aftl_passes_possible(&ftl->geo, 0, order)) {
		ftl->stats.counters.policy_bugs++;
		return NULL;
	}
	block = aftl_supply_take(ftl, lun, kind);
	if (block)
		aftl_supply_open(ftl, block, order, kind);
	return block;
}

static void close_block(struct aftl *ftl, struct aftl_block *block)
{
	const struct aftl_lun *lun = aftl_block_lun(ftl, block);

	if (block->state == AFTL_BLOCK_OPEN && block != lun->refuge && block != lun->cache &&
	    !block->handle)
		aftl_supply_close(ftl, block);
}

static bool has_room(const struct aftl *ftl, u32 lun, u32 units)
{
	return aftl_lun_has_room(&ftl->luns[lun], units);
}

static bool works(const struct aftl *ftl, u32 lun)
{
	return !aftl_lun_dead(&ftl->luns[lun]);
}

static u32 count_work(const struct aftl *ftl, u32 index)
{
	const struct aftl_lun *lun = &ftl->luns[index];

	return lun->reads.count + DIV_ROUND_UP(lun->bound, ftl->program_units) +
	       (lun->work.phase != AFTL_PHASE_IDLE) + (lun->parked.kind != AFTL_WORK_NONE);
}

/* Never twice the same: with each erase a block becomes the last, and older. */
static u64 past_erases(const struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 last = lun->free_tail;

	return last == AFTL_NIL ? last : (u64)last << 32 | ftl->media.blocks[last].erases;
}

static u64 past(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return aftl_mix2(ftl->seq, past_erases(ftl, lun));
}

static const struct aftl_services services = {
	.part = aftl_instance_part,
	.spare = has_spare,
	.open = open_block,
	.close = close_block,
	.find = aftl_map_get,
	.hours = aftl_hours,
	.queued = aftl_lun_queued,
	.room = has_room,
	.works = works,
	.work = count_work,
	.past = past,
};

void aftl_contract_init(struct aftl *ftl)
{
	ftl->core = (struct aftl_core){
		.config = &ftl->config,
		.geo = &ftl->geo,
		.media = &ftl->media,
		.chip = &ftl->chip,
		.now_ns = &ftl->now_ns,
		.filling = &ftl->filling,
		.services = &services,
	};
}
