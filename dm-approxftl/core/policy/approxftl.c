// SPDX-License-Identifier: GPL-2.0-only
/*
 * ApproxFTL (TCAD 2018): places precise and approximate pages such that later programs disturb
 * precise pages little, which can therefore be programmed faster.
 *
 * Each LUN has two pools, hot and cold, of up to five open blocks:
 *
 * checkerboard: programmed in sequence; takes only data of the class that its next position wants.
 * precise: programmed in sequence with precise data. phase 1: a block in the order TWO_PASS, during
 * the pass over its approximate positions. phase 2: such a block whose second pass takes precise
 * data. all approximate: such a block whose second pass takes approximate data.
 *
 * After its first pass a phase-1 block becomes phase 2 or all approximate; while both exist,
 * nothing is written to phase 1.
 */
#include "core/policy/policies.h"
#include "core/policy/hotness.h"

#define PARAMS(PARAM)								\
	PARAM(hot_size, BYTES, 0, 1ULL << 30, 8192,				\
	      "requests up to this size are hot (approxftl)")			\
	PARAM(hot_age, TIME, 0, 365 * AFTL_DAY_NS, 0,				\
	      "updates of data up to this age are hot, of any size; 0: by size (approxftl)") \
	PARAM(promote, COUNT, 1, 7, 2,						\
	      "approximate writes of data after which relocation makes it precise (approxftl)") \
	PARAM(wear_period, COUNT, 1, 1 << 20, 1024,				\
	      "opened blocks between two updates of the wear limit (approxftl)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

enum kind { CHECKERBOARD, PRECISE, PHASE1, PHASE2, ALL_APPROX, KINDS };

/* Bits of a block's note: how often its data was written as approximate; its pool: hot or cold. */
#define NOTE_COPIES 0x07
#define NOTE_HOT 0x08

struct pool {
	struct aftl_block *open[KINDS];
};

enum { COLD, HOT, POOLS };

struct approxftl {
	struct aftl_policy policy;
	u32 opened;
	u32 wear_limit;
};

static struct approxftl *to_approxftl(struct aftl_policy *policy)
{
	return container_of(policy, struct approxftl, policy);
}

static const struct own *approxftl_params(const struct aftl_policy *policy)
{
	return policy->params[0];
}

static struct pool *approxftl_pool(struct aftl_policy *policy, u32 lun, u32 pool)
{
	return (struct pool *)policy->luns + (size_t)POOLS * lun + pool;
}

static bool approxftl_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
					 struct aftl_block *block)
{
	struct pool *pool =
		approxftl_pool(policy, aftl_lun_index(lun), block->note & NOTE_HOT ? HOT : COLD);

	if (block->kind >= KINDS || pool->open[block->kind])
		return false;
	pool->open[block->kind] = block;
	return true;
}

static u64 approxftl_save_wear_limit(const struct aftl_policy *policy)
{
	const struct approxftl *state = container_of(policy, struct approxftl, policy);

	return (u64)state->wear_limit << 32 | state->opened;
}

static void approxftl_restore_wear_limit(struct aftl_policy *policy, u64 memory)
{
	struct approxftl *state = to_approxftl(policy);

	state->wear_limit = memory >> 32;
	state->opened = (u32)memory;
}

static u32 approxftl_choose_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	u64 bytes = (u64)write->units * aftl_policy_geometry(policy)->unit_bytes;
	u64 hot_age = approxftl_params(policy)->hot_age;

	if (hot_age)
		return aftl_overwritten_data_age_ns(policy, write) <= hot_age ? HOT : COLD;
	return bytes <= approxftl_params(policy)->hot_size ? HOT : COLD;
}

/* Wear limit of blocks to be opened: twice the smallest wear of all blocks, at least 2 erases. */
static u32 compute_erase_wear_limit(const struct aftl_policy *policy)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	u32 least = U32_MAX / 2;
	u32 i;

	for (i = 0; i < media->geo->blocks && least > AFTL_FULL_WEAR; i++)
		if (media->blocks[i].state != AFTL_BLOCK_BAD)
			least = min(least, media->blocks[i].wear);
	return 2 * max(least, AFTL_FULL_WEAR);
}

static bool approxftl_accept_free_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	return block->wear < to_approxftl(policy)->wear_limit;
}

/*
 * Compute the wear limit anew after each wear_period erases. Blocks are opened as often as they are
 * erased, so opened blocks are counted.
 */
static void approxftl_update_wear_limit(struct approxftl *state)
{
	if (state->opened++ % approxftl_params(&state->policy)->wear_period == 0)
		state->wear_limit = compute_erase_wear_limit(&state->policy);
}

static struct aftl_block *approxftl_open_block(struct approxftl *state, struct aftl_lun *lun,
					       const struct aftl_program_request *need,
					       enum kind kind)
{
	enum aftl_order order = kind == PHASE1 ? AFTL_ORDER_TWO_PASS : AFTL_ORDER_SEQUENTIAL;
	struct aftl_block *block;

	approxftl_update_wear_limit(state);
	block = aftl_policy_open_block(&state->policy, lun, need, order, kind);
	if (!block)
		return NULL;
	block->note = need->stream == HOT ? NOTE_HOT : 0;
	/* Exchange the block's checkerboard colours: its approximate positions become precise. */
	if (kind != PRECISE)
		block->flip ^= 1;
	return block;
}

static struct aftl_block *approxftl_get_block(struct approxftl *state, struct aftl_lun *lun,
					      const struct aftl_program_request *need,
					      struct pool *pool, enum kind kind)
{
	if (!pool->open[kind])
		pool->open[kind] = approxftl_open_block(state, lun, need, kind);
	return pool->open[kind];
}

static bool does_next_checkerboard_page_fit_class(const struct aftl_geometry *geo,
						  const struct aftl_block *block, u32 class)
{
	bool approximate = !aftl_get_checkerboard_colour_of_page(geo, block->frontier, block->flip);

	return approximate == (class == AFTL_APPROX);
}

/*
 * Algorithm 1 of the paper, plus a case that it omits: while only precise data has a block in its
 * second pass (phase 2), approximate data goes to a block in its first pass (phase 1).
 */
static enum kind approxftl_choose_kind(const struct aftl_geometry *geo, const struct pool *pool,
				       u32 class)
{
	const struct aftl_block *checkerboard = pool->open[CHECKERBOARD];

	if (checkerboard && does_next_checkerboard_page_fit_class(geo, checkerboard, class))
		return CHECKERBOARD;
	if (class == AFTL_PRECISE)
		return pool->open[PHASE2] ? PHASE2 : PRECISE;
	return pool->open[PHASE2] && pool->open[ALL_APPROX] ? ALL_APPROX : PHASE1;
}

static enum aftl_mode approxftl_mode(enum kind kind, u32 class)
{
	if (class == AFTL_APPROX)
		return AFTL_MODE_REDUCED;
	if (kind == CHECKERBOARD)
		return AFTL_MODE_BETWEEN;
	return kind == PHASE2 ? AFTL_MODE_AFTER : AFTL_MODE_NORMAL;
}

/* A block has completed its first pass: choose the class of data for its second pass. */
static void set_block_kind_after_first_pass(struct approxftl *state, struct pool *pool)
{
	enum kind role = !pool->open[PHASE2] ? PHASE2 : ALL_APPROX;

	pool->open[role] = pool->open[PHASE1];
	pool->open[PHASE1] = NULL;
	aftl_policy_set_block_kind(&state->policy, pool->open[role], role);
}

/* Return true if the first pass of @block is complete once the program being placed is done. */
static bool checkerboard_pass_is_done(const struct aftl_geometry *geo,
				      const struct aftl_block *block)
{
	return block->programmed + geo->program_pages >=
	       aftl_count_first_pass_pages(geo, block->flip);
}

/* The core may collect and erase a full block, so the policy must drop its pointer to the block. */
static void approxftl_drop_pointer_to_full_block(struct approxftl *state, struct pool *pool,
						 enum kind kind)
{
	/* A block filled in its second pass (phase 2) with precise data is a full checkerboard. */
	if (kind == PHASE2)
		aftl_policy_set_block_kind(&state->policy, pool->open[kind], CHECKERBOARD);
	pool->open[kind] = NULL;
}

static void approxftl_drop_open_block_pointer(struct pool *pool, const struct aftl_block *block)
{
	u32 kind;

	for (kind = 0; kind < KINDS; kind++)
		if (pool->open[kind] == block)
			pool->open[kind] = NULL;
}

static void approxftl_forget_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	u32 lun;
	u32 pool;

	for (lun = 0; lun < aftl_policy_count_luns(policy); lun++)
		for (pool = 0; pool < POOLS; pool++)
			approxftl_drop_open_block_pointer(approxftl_pool(policy, lun, pool), block);
}

static void record_copy_count_in_block_note(struct aftl_block *block,
					    const struct aftl_program_request *need)
{
	u32 copies = need->from ? (need->from->note & NOTE_COPIES) + 1 : 1;

	copies = max_t(u32, copies, block->note & NOTE_COPIES);
	copies = min_t(u32, copies, NOTE_COPIES);
	block->note = (block->note & ~NOTE_COPIES) | copies;
}

static int approxftl_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				   const struct aftl_program_request *need,
				   struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	struct approxftl *state = to_approxftl(policy);
	struct pool *pool =
		approxftl_pool(policy, aftl_lun_index(lun), need->stream == HOT ? HOT : COLD);
	struct aftl_block *block;
	enum kind kind;

	approxftl_get_block(state, lun, need, pool, CHECKERBOARD);
	kind = approxftl_choose_kind(geo, pool, need->class);
	block = approxftl_get_block(state, lun, need, pool, kind);
	if (!block)
		return -ENOSPC;
	placement->block = block;
	placement->pages = geo->program_pages;
	placement->page = block->order == AFTL_ORDER_TWO_PASS ?
				  aftl_two_pass_next_page(aftl_policy_media(policy), block) :
				  block->frontier;
	placement->mode = approxftl_mode(kind, need->class);
	if (need->class == AFTL_APPROX)
		record_copy_count_in_block_note(block, need);
	if (aftl_is_last_program_step(geo, block))
		approxftl_drop_pointer_to_full_block(state, pool, kind);
	else if (kind == PHASE1 && checkerboard_pass_is_done(geo, block))
		set_block_kind_after_first_pass(state, pool);
	return 0;
}

/* Return U32_MAX while all precise data go to the pool's open precise block; 0: ask the policy. */
static u32 approxftl_count_programs_without_policy(struct aftl_policy *policy, struct aftl_lun *lun,
						   const struct aftl_program_request *need,
						   const struct aftl_block *block)
{
	const struct pool *pool =
		approxftl_pool(policy, aftl_lun_index(lun), need->stream == HOT ? HOT : COLD);

	if (block != pool->open[PRECISE] || !pool->open[CHECKERBOARD] ||
	    approxftl_choose_kind(aftl_policy_geometry(policy), pool, need->class) != PRECISE)
		return 0;
	return U32_MAX;
}

/*
 * Prefer blocks with few precise pages. Full precise blocks come last while no block is in its
 * second pass (phase 2), in which precise data are programmed fast.
 */
static u32 approxftl_victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_block *block)
{
	const struct pool *pool = approxftl_pool(policy, aftl_lun_index(lun), COLD);
	u32 demoted = block->kind == PRECISE && !pool->open[PHASE2];

	return demoted << 31 | (block->valid - block->valid_approx);
}

/*
 * Relocate approximate pages first: the precise pages can then use the second pass of the block.
 * Data that was approximate often enough becomes precise. Data that survives a collection is cold.
 */
static bool approxftl_choose_relocation(struct aftl_policy *policy,
					const struct aftl_relocation *move, u32 *class, u32 *stream)
{
	u32 copies = move->from->note & NOTE_COPIES;

	if (*class == AFTL_APPROX && copies >= approxftl_params(policy)->promote)
		*class = AFTL_PRECISE;
	*stream = COLD;
	return move->pass == (*class == AFTL_APPROX ? 0 : 1);
}

static bool approxftl_allows_shallow_erase(struct aftl_policy *policy,
					   const struct aftl_block *block)
{
	(void)policy;
	return block->kind == ALL_APPROX && block->approx_only;
}

const struct aftl_policy_type aftl_policy_approxftl = {
	.name = "approxftl",
	.about = "checkerboard and two-phase placement of precise and approximate data",
	.kinds = { "checkerboard", "precise", "phase1", "phase2", "all_approx" },
	.streams = { "cold", "hot" },
	.open_blocks = KINDS * POOLS,
	.reserve = KINDS,
	.copy_passes = 2,
	.least_steps = 2,
	.size = sizeof(struct approxftl),
	.lun_size = POOLS * sizeof(struct pool),
	.params = { &group },
	.adopt = approxftl_adopt_loaded_block,
	.save_state_word = approxftl_save_wear_limit,
	.restore_state_word = approxftl_restore_wear_limit,
	.closed = approxftl_forget_block,
	.stream = approxftl_choose_stream,
	.place = approxftl_place_program,
	.fill_run = approxftl_count_programs_without_policy,
	.victim_rank = approxftl_victim_rank,
	.relocate = approxftl_choose_relocation,
	.shallow_erase = approxftl_allows_shallow_erase,
	.accept_free = approxftl_accept_free_block,
};
