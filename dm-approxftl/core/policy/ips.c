// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-place switch (after IPS, 2024): the next word lines of a few open blocks are the SLC cache of
 * a LUN. Host writes are programmed into them in SLC mode. When the word lines of two layers are
 * used, the remaining bits are programmed into the same word lines (they are switched): no data is
 * moved, and the next two layers become the cache.
 *
 * The remaining bits take relocated data first. In idle time data is relocated for this purpose,
 * from blocks with little valid data. If there is none when no word line is left for SLC mode, host
 * writes are used.
 *
 * Other data goes to one open block for each class, or to ApproxFTL, which then takes approximate
 * data directly, because it programs it fast.
 *
 * The policy has no cache without one-shot word lines of three bits, or if the device's own SLC
 * cache is configured.
 */
#include "core/nand/valid-bits.h"
#include "core/policy/policies.h"
#include "core/policy/delegate.h"

#define BLOCKS_MAX 4

#define ips_approx_words aftl_switch_words

#define PARAMS(PARAM)								\
	PARAM(ips_blocks, COUNT, 0, BLOCKS_MAX, BLOCKS_MAX,			\
	      "open blocks of a LUN whose next word lines are its SLC cache (ips)")	\
	PARAM(ips_idle, PERCENT, 0, 10000, 5000,				\
	      "most valid data of a block that is relocated into the cache in idle time (ips)") \
	PARAM(ips_approx, CHOICE, 0, 1, AFTL_OFF,				\
	      "place data outside the cache as approxftl does, and all approximate data (ips)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, false);

/**
 * struct lun_state - state of a LUN
 * @others: open blocks that do not belong to the cache
 * @cache: cache blocks, NULL where there is none
 */
struct lun_state {
	struct aftl_open_blocks others;
	struct aftl_block *cache[BLOCKS_MAX];
};

static const struct own *ips_params(const struct aftl_policy *policy)
{
	return policy->params[0];
}

static struct aftl_block **ips_get_cache_blocks(struct aftl_policy *policy, u32 lun)
{
	return ((struct lun_state *)policy->luns + lun)->cache;
}

static bool ips_create(struct aftl_policy *policy)
{
	return aftl_delegate_create(policy, ips_params(policy)->ips_approx);
}

/* The in-place switch cache is not used beside the SLC cache of the device. */
static u32 ips_get_max_cache_blocks_per_lun(const struct aftl_policy *policy)
{
	const struct aftl_config *config = aftl_policy_config(policy);

	if (config->slc_static || config->slc_dynamic ||
	    !aftl_supports_in_place_switch(aftl_policy_geometry(policy)))
		return 0;
	return (u32)ips_params(policy)->ips_blocks;
}

/* Return an unused entry of the LUN's list of cache blocks, or NULL. */
static struct aftl_block **ips_find_free_entry(struct aftl_policy *policy,
					       const struct aftl_lun *lun)
{
	struct aftl_block **cache = ips_get_cache_blocks(policy, aftl_lun_index(lun));
	u32 i;

	for (i = 0; i < ips_get_max_cache_blocks_per_lun(policy); i++)
		if (!cache[i])
			return &cache[i];
	return NULL;
}

static bool ips_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				   struct aftl_block *block)
{
	bool switched = block->order == AFTL_ORDER_SWITCHED;
	bool mine = block->kind == AFTL_DELEGATE_OWN;
	struct aftl_block **room = ips_find_free_entry(policy, lun);

	if (switched != mine)
		return false;
	if (!switched)
		return aftl_delegate_adopt_loaded_block(policy, lun, block);
	if (room)
		*room = block;
	return room;
}

static void ips_forget_closed_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	u32 lun;
	u32 i;

	for (lun = 0; lun < aftl_policy_count_luns(policy); lun++)
		for (i = 0; i < BLOCKS_MAX; i++)
			if (ips_get_cache_blocks(policy, lun)[i] == block)
				ips_get_cache_blocks(policy, lun)[i] = NULL;
	aftl_delegate_forget_closed_block(policy, block);
}

/* Placement */

static u32 ips_get_next_program_page(const struct aftl_policy *policy,
				     const struct aftl_block *block, u32 *pages)
{
	return aftl_get_next_in_place_switch_page(aftl_policy_geometry(policy), block->programmed,
						  pages);
}

static bool does_next_program_switch_word_line(const struct aftl_policy *policy,
					       const struct aftl_block *block)
{
	u32 pages;

	return !aftl_is_page_programmed_in_slc_pass(aftl_policy_geometry(policy),
						    ips_get_next_program_page(policy, block,
									      &pages));
}

/*
 * Find a cache block whose next program fills the remaining bits of a word line or, without
 * @switches, a block whose next program uses SLC mode. The lowest address is chosen, because the
 * order in @cache is lost at a reload.
 */
static struct aftl_block **ips_find_cache_block(struct aftl_policy *policy,
						const struct aftl_lun *lun, bool switches)
{
	struct aftl_block **cache = ips_get_cache_blocks(policy, aftl_lun_index(lun));
	struct aftl_block **best = NULL;
	u32 i;

	for (i = 0; i < BLOCKS_MAX; i++)
		if (cache[i] && does_next_program_switch_word_line(policy, cache[i]) == switches &&
		    (!best || cache[i] < *best))
			best = &cache[i];
	return best;
}

static struct aftl_block **ips_open_block(struct aftl_policy *policy, struct aftl_lun *lun,
					  const struct aftl_program_request *need)
{
	struct aftl_block **room = ips_find_free_entry(policy, lun);

	if (!room)
		return NULL;
	*room = aftl_policy_open_block(policy, lun, need, AFTL_ORDER_SWITCHED, AFTL_DELEGATE_OWN);
	return *room ? room : NULL;
}

static struct aftl_block **ips_choose_block(struct aftl_policy *policy, struct aftl_lun *lun,
					    const struct aftl_program_request *need)
{
	struct aftl_block **block = NULL;

	if (need->class == AFTL_APPROX && aftl_delegate_approxftl(policy))
		return NULL;
	if (need->cause == AFTL_CAUSE_HOST && !aftl_policy_is_preconditioning(policy)) {
		block = ips_find_cache_block(policy, lun, false);
		if (!block)
			block = ips_open_block(policy, lun, need);
	}
	return block ? block : ips_find_cache_block(policy, lun, true);
}

static int ips_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
			     const struct aftl_program_request *need,
			     struct aftl_placement *placement)
{
	struct aftl_block **block = ips_choose_block(policy, lun, need);

	if (!block)
		return aftl_delegate_place_program(policy, lun, need, placement);
	placement->block = *block;
	placement->page = ips_get_next_program_page(policy, *block, &placement->pages);
	placement->mode = does_next_program_switch_word_line(policy, *block) ? AFTL_MODE_SWITCHED :
									       AFTL_MODE_SLC;
	/* The core may erase a full block, so the policy must drop its pointer to the block. */
	if ((*block)->programmed + placement->pages == aftl_policy_geometry(policy)->pages)
		*block = NULL;
	return 0;
}

/* Idle time */

/* Count the pages that fit into the remaining bits of layers that were filled in SLC mode. */
static u32 ips_count_pages_for_slc_layers(struct aftl_policy *policy, const struct aftl_lun *lun)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 window = AFTL_SWITCH_LAYERS * geo->word_lines * geo->word_line_pages;
	u32 room = 0;
	u32 i;

	for (i = 0; i < BLOCKS_MAX; i++) {
		const struct aftl_block *block =
			ips_get_cache_blocks(policy, aftl_lun_index(lun))[i];
		u32 first;

		if (!block || !does_next_program_switch_word_line(policy, block))
			continue;
		first = block->programmed / window * window;
		room += min(first + window, geo->pages) - block->programmed;
	}
	return room;
}

/* Find the closed block with the least valid data, if the amount is below the limit ips_idle. */
static struct aftl_block *ips_find_sparse_victim(const struct aftl_policy *policy,
						 const struct aftl_lun *lun)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	u64 most = (u64)media->geo->block_ppns * ips_params(policy)->ips_idle / 10000;
	struct aftl_block *block = &media->blocks[(size_t)aftl_lun_index(lun) *
						  media->geo->blocks_per_lun];
	struct aftl_block *end = block + media->geo->blocks_per_lun;
	struct aftl_block *best = NULL;

	for (; block < end; block++)
		if (block->state == AFTL_BLOCK_CLOSED && block->listed && !block->handle &&
		    block->valid && block->valid <= most && (!best || block->valid < best->valid))
			best = block;
	return best;
}

static void ips_choose_idle_task(struct aftl_policy *policy, struct aftl_lun *lun,
				 struct aftl_idle_task *task)
{
	u32 room = ips_count_pages_for_slc_layers(policy, lun);
	u32 page = 0;

	task->block = room ? ips_find_sparse_victim(policy, lun) : NULL;
	if (!task->block)
		return;
	for (; room && page < aftl_policy_geometry(policy)->pages; page++)
		room -= aftl_page_has_valid_data(aftl_policy_media(policy), task->block, page);
	task->kind = AFTL_IDLE_TASK_RELOCATE;
	task->pages = page;
}

const struct aftl_policy_type aftl_policy_ips = {
	.name = "ips",
	.about = "word lines programmed in SLC mode first, with their other bits later in place",
	.kinds = { AFTL_DELEGATE_KINDS, "switched" },
	.open_blocks = AFTL_DELEGATE_BLOCKS + BLOCKS_MAX,
	.reserve = AFTL_DELEGATE_BLOCKS,
	.copy_passes = 2,
	.least_steps = 2,
	.two_passes = true,
	.size = sizeof(struct aftl_delegating),
	.lun_size = sizeof(struct lun_state),
	.params = { &group },
	.create = ips_create,
	.adopt = ips_adopt_loaded_block,
	.closed = ips_forget_closed_block,
	.place = ips_place_program,
	.idle_task = ips_choose_idle_task,
	AFTL_DELEGATE_METHODS,
};
