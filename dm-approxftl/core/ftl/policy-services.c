// SPDX-License-Identifier: GPL-2.0-only
/* Services of the core for policies, see core/policy/nand-policy.h. */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/l2p.h"
#include "core/ftl/lun.h"
#include "core/ftl/policy-instance.h"
#include "core/ftl/policy-services.h"
#include "core/ftl/superblock.h"
#include "core/base/random.h"

u32 aftl_count_queued_commands(const struct aftl_lun *lun)
{
	u32 queued = lun->reads.count;
	u32 lane;

	for (lane = 0; lane < lun->lanes; lane++)
		queued += lun->writes[lane].count;
	return queued;
}

static bool lun_has_unreserved_block(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return !aftl_gc_is_urgent(ftl, lun);
}

static struct aftl_block *policy_open_block(struct aftl *ftl, struct aftl_lun *lun, u32 cause,
					    enum aftl_order order, u32 kind)
{
	struct aftl_block *block;

	if ((cause == AFTL_CAUSE_HOST || cause == AFTL_CAUSE_MAP) &&
	    !lun_has_unreserved_block(ftl, lun))
		return NULL;
	if (ftl->geo.passes > 1)
		order = AFTL_ORDER_FOGGY_FINE;
	if (cause != ftl->placing_cause || kind >= AFTL_KINDS_MAX || (u32)order >= AFTL_ORDERS ||
	    !aftl_is_stored_program_order_valid(&ftl->geo, 0, order)) {
		ftl->stats.counters.policy_bugs++;
		return NULL;
	}
	block = aftl_free_block_take(ftl, lun,
				     aftl_get_data_kind_key_of_superblock(kind, ftl->placing_handle,
									  false));
	if (!block)
		return NULL;
	aftl_block_open(ftl, block, order, kind);
	block->handle = (u8)ftl->placing_handle;
	return block;
}

static void policy_close_block(struct aftl *ftl, struct aftl_block *block)
{
	const struct aftl_lun *lun = aftl_block_lun(ftl, block);

	if (block->state == AFTL_BLOCK_OPEN && block != lun->fallback && block != lun->slc_open &&
	    !block->handle)
		aftl_block_close(ftl, block);
}

static bool policy_lun_has_room_for_units(const struct aftl *ftl, u32 lun, u32 units)
{
	return aftl_lun_has_room_for_units(&ftl->luns[lun], units);
}

static bool is_lun_alive_by_number(const struct aftl *ftl, u32 lun)
{
	return !aftl_lun_is_dead(&ftl->luns[lun]);
}

static u32 count_operations_pending_on_lun(const struct aftl *ftl, u32 index)
{
	const struct aftl_lun *lun = &ftl->luns[index];

	return lun->reads.count + DIV_ROUND_UP(lun->in_flight, ftl->program_units) +
	       (lun->work.phase != AFTL_PHASE_IDLE) + (lun->suspended.kind != AFTL_WORK_NONE);
}

/*
 * Return a number that changes with each erase in @lun, as the erased block goes to the end of the
 * free list. It is part of the seed of draws for policies.
 */
static u64 hash_lun_erase_history(const struct aftl *ftl, const struct aftl_lun *lun)
{
	u32 last = lun->free_tail;

	return last == AFTL_NIL ? last : (u64)last << 32 | ftl->media.blocks[last].erases;
}

static u64 make_policy_random_seed(const struct aftl *ftl, const struct aftl_lun *lun)
{
	return aftl_hash64_pair(ftl->seq, hash_lun_erase_history(ftl, lun));
}

static const struct aftl_policy_services services = {
	.part = aftl_policy_instance_add_part,
	.spare = lun_has_unreserved_block,
	.open = policy_open_block,
	.close = policy_close_block,
	.find = aftl_l2p_lookup,
	.hours = aftl_device_age_hours,
	.queued = aftl_count_queued_commands,
	.room = policy_lun_has_room_for_units,
	.works = is_lun_alive_by_number,
	.work = count_operations_pending_on_lun,
	.command_seq = make_policy_random_seed,
};

void aftl_policy_services_init(struct aftl *ftl)
{
	ftl->core = (struct aftl_policy_core){
		.config = &ftl->config,
		.geo = &ftl->geo,
		.media = &ftl->media,
		.chip = &ftl->chip,
		.now_ns = &ftl->now_ns,
		.fill_left_ns = &ftl->fill_left_ns,
		.filling = &ftl->filling,
		.services = &services,
	};
}
