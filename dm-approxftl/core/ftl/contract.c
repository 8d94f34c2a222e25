// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the core does for policies.
 */
#include "core/ftl/device.h"
#include "core/base/random.h"

const struct aftl_config *aftl_policy_config(const struct aftl_policy *policy)
{
	return &policy->ftl->config;
}

const struct aftl_geometry *aftl_policy_geometry(const struct aftl_policy *policy)
{
	return &policy->ftl->geo;
}

const struct aftl_media *aftl_policy_media(const struct aftl_policy *policy)
{
	return &policy->ftl->media;
}

struct aftl_policy *aftl_policy_new(struct aftl *ftl, size_t size, size_t lun_size)
{
	struct aftl_policy *policy = aftl_policy_alloc(ftl, 1, size);

	if (!policy)
		return NULL;
	policy->type = ftl->type;
	policy->ftl = ftl;
	policy->luns = aftl_policy_alloc(ftl, ftl->geo.luns, lun_size);
	if (policy->luns)
		return policy;
	aftl_policy_free(ftl, policy);
	return NULL;
}

void aftl_policy_delete(struct aftl_policy *policy)
{
	struct aftl *ftl = policy->ftl;

	aftl_policy_free(ftl, policy->luns);
	aftl_policy_free(ftl, policy);
}

u32 aftl_policy_luns(const struct aftl *ftl)
{
	return ftl->geo.luns;
}

u32 aftl_lun_index(const struct aftl_lun *lun)
{
	return lun->index;
}

u64 aftl_policy_now(const struct aftl_policy *policy)
{
	return policy->ftl->now_ns;
}

u64 aftl_policy_hours(const struct aftl_policy *policy)
{
	return aftl_hours(policy->ftl);
}

bool aftl_policy_filling(const struct aftl_policy *policy)
{
	return policy->ftl->filling;
}

u32 aftl_lun_queued(const struct aftl_lun *lun)
{
	u32 queued = lun->reads.count;
	u32 stream;

	for (stream = 0; stream < AFTL_STREAMS; stream++)
		queued += lun->writes[stream].count;
	return queued;
}

struct aftl_block *aftl_policy_open(struct aftl_policy *policy, struct aftl_lun *lun,
				    const struct aftl_need *need, enum aftl_order order, u32 kind)
{
	struct aftl *ftl = policy->ftl;
	struct aftl_block *block;

	if (need->cause == AFTL_CAUSE_HOST && lun->free_blocks <= aftl_reserve(ftl))
		return NULL;
	block = aftl_supply_take(ftl, lun);
	if (block)
		aftl_supply_open(ftl, block, order, kind);
	return block;
}

struct aftl_block *aftl_closed_next(const struct aftl_closed *closed,
				    const struct aftl_block *block)
{
	struct aftl *ftl = closed->policy->ftl;
	u32 first = closed->lun->index * ftl->geo.blocks_per_lun;
	u32 i = block ? aftl_block_index(&ftl->media, block) + 1 : first;

	for (; i < first + ftl->geo.blocks_per_lun; i++)
		if (aftl_closed_has(closed, &ftl->media.blocks[i]))
			return &ftl->media.blocks[i];
	return NULL;
}

struct aftl_block *aftl_closed_draw(const struct aftl_closed *closed, u32 number)
{
	struct aftl *ftl = closed->policy->ftl;
	u32 blocks = ftl->geo.blocks_per_lun;
	u64 draw = aftl_mix2(aftl_mix2(ftl->config.seed ^ 0x71c71, ftl->seq),
			     (u64)closed->lun->index << 32 | number);
	u32 index = closed->lun->index * blocks + (u32)aftl_below(draw, blocks);
	struct aftl_block *block = &ftl->media.blocks[index];

	return aftl_closed_has(closed, block) ? block : NULL;
}

u64 aftl_closed_age(const struct aftl_closed *closed, const struct aftl_block *block)
{
	u64 now_ns = closed->policy->ftl->now_ns;

	return now_ns - min(block->opened_ns, now_ns);
}

void aftl_policy_close(struct aftl_policy *policy, struct aftl_block *block)
{
	if (block->state == AFTL_BLOCK_OPEN)
		aftl_supply_close(policy->ftl, block);
}

void aftl_policy_restamp(struct aftl_policy *policy, struct aftl_block *block)
{
	block->opened_ns = policy->ftl->now_ns;
}

void aftl_policy_turn(struct aftl_policy *policy, struct aftl_block *block, u32 kind)
{
	(void)policy;
	if (block->state == AFTL_BLOCK_OPEN && kind < AFTL_KINDS_MAX)
		block->kind = kind;
}

const struct aftl_block *aftl_policy_old_block(const struct aftl_policy *policy, aftl_unit_t unit)
{
	aftl_slot_t slot;

	if (!aftl_map_get(policy->ftl, unit, &slot))
		return NULL;
	return aftl_slot_block(&policy->ftl->media, slot);
}

u32 aftl_policy_mode(const struct aftl_policy *policy, aftl_unit_t unit)
{
	const struct aftl_media *media = &policy->ftl->media;
	aftl_slot_t slot;

	if (!aftl_map_get(policy->ftl, unit, &slot))
		return AFTL_MODES;
	return aftl_page_mode(media->attr[aftl_slot_device_page(media, slot)]);
}

int aftl_place_sequential(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_need *need, struct aftl_block **open, u32 kind,
			  struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = &policy->ftl->geo;

	if (!*open)
		*open = aftl_policy_open(policy, lun, need, AFTL_ORDER_SEQUENTIAL, kind);
	if (!*open)
		return -ENOSPC;
	placement->block = *open;
	placement->page = (*open)->frontier;
	placement->pages = geo->program_pages;
	placement->mode = AFTL_MODE_NORMAL;
	/* Once full it is no longer ours: it may be collected and erased. */
	if (placement->page + placement->pages == geo->pages)
		*open = NULL;
	return 0;
}
