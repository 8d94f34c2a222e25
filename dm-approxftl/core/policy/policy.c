// SPDX-License-Identifier: GPL-2.0-only
/* Helpers for policies, on top of the services of the core. */
#include "core/policy/nand-policy.h"
#include "core/base/random.h"

struct aftl_block *aftl_policy_open_block(struct aftl_policy *policy, struct aftl_lun *lun,
					  const struct aftl_program_request *need,
					  enum aftl_order order, u32 kind)
{
	return policy->core->services->open(policy->ftl, lun, need->cause, order, kind);
}

struct aftl_block *aftl_policy_open_sparse_block(struct aftl_policy *policy, struct aftl_lun *lun,
						 const struct aftl_program_request *need, u32 bits,
						 u32 kind)
{
	const struct aftl_config *config = aftl_policy_config(policy);
	struct aftl_block *block;

	if (!bits || bits >= config->bits || need->cause != AFTL_CAUSE_HOST ||
	    (bits == 1 && (config->slc_static || config->slc_dynamic)))
		return NULL;
	block = aftl_policy_open_block(policy, lun, need, AFTL_ORDER_SEQUENTIAL, kind);
	if (!block)
		return NULL;
	block->order = AFTL_ORDER_SEQUENTIAL;
	block->bits = bits;
	return block;
}

/* First victim candidate: the LUN's first block or, if victims are superblocks, the first one. */
static struct aftl_block *get_first_victim_entry(const struct aftl_victim_candidates *closed)
{
	const struct aftl_media *media = aftl_policy_media(closed->policy);

	if (closed->superblocks)
		return closed->superblocks;
	return &media->blocks[(size_t)aftl_lun_index(closed->lun) * media->geo->blocks_per_lun];
}

/* Blocks that are being collected or retired are in no victim list, and are no candidates. */
bool aftl_victim_candidates_contain(const struct aftl_victim_candidates *closed,
				    const struct aftl_block *block)
{
	const struct aftl_block *first = get_first_victim_entry(closed);
	u32 blocks = aftl_policy_geometry(closed->policy)->blocks_per_lun;

	return block >= first && block < first + blocks && block->state == AFTL_BLOCK_CLOSED &&
	       block->listed && !block->failing && block->valid <= closed->most_valid;
}

struct aftl_block *aftl_victim_candidates_next(const struct aftl_victim_candidates *closed,
					       const struct aftl_block *block)
{
	struct aftl_block *first = get_first_victim_entry(closed);
	u32 blocks = aftl_policy_geometry(closed->policy)->blocks_per_lun;
	u32 i = block ? (u32)(block - first) + 1 : 0;

	for (; i < blocks; i++)
		if (aftl_victim_candidates_contain(closed, &first[i]))
			return &first[i];
	return NULL;
}

struct aftl_block *aftl_victim_candidates_draw(const struct aftl_victim_candidates *closed,
					       u32 number)
{
	const struct aftl_policy_core *core = closed->policy->core;
	u32 lun = aftl_lun_index(closed->lun);
	u64 past = core->services->command_seq(closed->policy->ftl, closed->lun);
	u64 draw = aftl_hash64_pair(aftl_hash64_pair(core->config->seed ^ 0x71c71, past),
				    (u64)lun << 32 | number);
	u32 blocks = core->geo->blocks_per_lun;
	struct aftl_block *block =
		&get_first_victim_entry(closed)[aftl_map_random_to_range(draw, blocks)];

	return aftl_victim_candidates_contain(closed, block) ? block : NULL;
}

u64 aftl_victim_age_ns(const struct aftl_victim_candidates *closed, const struct aftl_block *block)
{
	s64 now_ns = aftl_policy_now(closed->policy);

	return (u64)(now_ns - min(block->opened_ns, now_ns));
}

void aftl_policy_set_block_kind(struct aftl_policy *policy, struct aftl_block *block, u32 kind)
{
	(void)policy;
	if (block->state == AFTL_BLOCK_OPEN && kind < AFTL_KINDS_MAX)
		block->kind = kind;
}

const struct aftl_block *aftl_policy_lpn_block(const struct aftl_policy *policy, aftl_lpn_t lpn)
{
	aftl_ppn_t ppn;

	if (!policy->core->services->find(policy->ftl, lpn, &ppn))
		return NULL;
	return aftl_block_of_ppn(aftl_policy_media(policy), ppn);
}

u32 aftl_policy_lpn_mode(const struct aftl_policy *policy, aftl_lpn_t lpn)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	aftl_ppn_t ppn;

	if (!policy->core->services->find(policy->ftl, lpn, &ppn))
		return AFTL_MODES;
	return aftl_page_mode(aftl_ppn_attr(media, ppn));
}

struct aftl_program_result aftl_policy_monitor_page(const struct aftl_policy *policy,
						    const struct aftl_block *block, u32 page)
{
	if (!aftl_page_is_programmed(aftl_policy_media(policy), block, page))
		return (struct aftl_program_result){ .errors = AFTL_CUBE_EP1_MAX_Q12 };
	return aftl_chip_monitor(policy->core->chip, block, page);
}

int aftl_place_sequential(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_program_request *need, struct aftl_block **open,
			  u32 kind, struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);

	if (!*open)
		*open = aftl_policy_open_block(policy, lun, need, AFTL_ORDER_SEQUENTIAL, kind);
	if (!*open)
		return -ENOSPC;
	placement->block = *open;
	placement->page = (*open)->frontier;
	placement->pages = aftl_count_pages_of_program_step(geo, *open);
	placement->mode = aftl_block_program_mode(*open);
	/* The core may erase a full block, so the policy must drop its pointer to the block. */
	if (aftl_is_last_program_step(geo, *open))
		*open = NULL;
	return 0;
}

u32 aftl_fill_to_block_end(struct aftl_policy *policy, struct aftl_lun *lun,
			   const struct aftl_program_request *need, const struct aftl_block *block)
{
	(void)policy;
	(void)lun;
	(void)need;
	(void)block;
	return U32_MAX;
}
