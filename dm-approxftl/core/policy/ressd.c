// SPDX-License-Identifier: GPL-2.0-only
/*
 * ReSSD (TOS 2022): data that is updated soon is programmed into TLC word lines in MLC mode (two
 * bits per cell), which are reprogrammed up to twice after an update has invalidated one of their
 * pages. A word line takes four pages between two erases instead of three.
 *
 * Reprograms disturb neighbours, so that a block is used in super layers of two layers, strictly in
 * order: all word lines of a super layer get two pages, then those with an invalid page are
 * reprogrammed; when none can be reprogrammed the next super layer is begun. A block whose super
 * layer has too much valid data becomes a candidate and waits for updates. When a hotness class has
 * its maximum of candidates, the one with the least valid data is reclaimed: its valid data is
 * relocated to a normal block, together with host writes or while the LUN is idle.
 *
 * On devices without one-shot word lines of three bits the policy works like tlc.
 */
#include "core/policy/policies.h"
#include "core/policy/open-blocks.h"
#include "core/policy/hotness.h"
#include "core/nand/reprogram.h"

#define LEVELS (AFTL_HOTNESS_CLASSES - 1)
#define CANDIDATES_MAX 64

#define virtual_layers_words aftl_switch_words

#define PARAMS(PARAM)								\
	PARAM(candidates, COUNT, 1, CANDIDATES_MAX, 16,				\
	      "most candidate blocks of a hotness class; fewer in small dies (ressd)") \
	PARAM(virtual_layers, CHOICE, 0, 1, AFTL_OFF,				\
	      "virtual super layers: reclaim one layer at a time and pair it with the next (ressd)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, false);

/* Limit of relocated pages in a one-shot program, which takes at least one page of host data. */
#define PIGGYBACK_MAX (AFTL_REPROGRAM_BITS - 1)
/* At most 1 / CANDIDATE_BLOCKS_PART of a LUN's blocks may be candidates for reprograms. */
#define CANDIDATE_BLOCKS_PART 16

enum { KIND_REPROGRAMMABLE = AFTL_HOTNESS_KINDS };

static_assert(KIND_REPROGRAMMABLE < AFTL_KINDS_MAX, "a kind for statistics");

/*
 * Bits of aftl_block.note of a reprogrammable block: its index among the candidates of its hotness
 * class, or that it takes the writes. All other state of the block follows from its pages.
 */
#define NOTE_INDEX 0x003f
#define NOTE_LEVEL 0x00c0
#define NOTE_LEVEL_SHIFT 6
#define NOTE_CANDIDATE 0x0100
/* The block takes writes, but valid data must be relocated before each reprogram of the block. */
#define NOTE_RECLAIM 0x0200
/* A virtual super layer: the upper layer of one super layer and the lower layer of the next. */
#define NOTE_VIRTUAL 0x0400

/**
 * struct level - reprogrammable blocks of a LUN for one hotness class
 * @active: block that takes writes, or NULL
 * @ready: bit mask of candidates: an update has invalidated a page that can be replaced
 * @count: number of candidates
 * @candidates: NULL where there is none
 */
struct level {
	struct aftl_block *active;
	u64 ready;
	u32 count;
	struct aftl_block *candidates[CANDIDATES_MAX];
};

struct lun_state {
	struct aftl_open_blocks normal;
	struct level levels[LEVELS];
};

/**
 * struct ressd - an instance of ReSSD
 * @policy: the instance as the core sees it
 * @limit: largest number of candidates of a level
 * @reprograms: the geometry supports reprograms
 * @piggyback: pages found by the last count_valid_pages_preventing_programs()
 */
struct ressd {
	struct aftl_policy policy;
	u32 limit;
	bool reprograms;
	struct aftl_piggyback piggyback[PIGGYBACK_MAX];
};

/**
 * struct span - a super layer of a block, in word lines of the block
 * @first: first word line
 * @begun: number of programmed word lines of the block: the index of the next one
 * @end: end of the super layer
 * @lower_end: end of the word lines that must be used up before the next layer may be begun
 */
struct span {
	u32 first;
	u32 begun;
	u32 end;
	u32 lower_end;
};

static struct ressd *to_ressd(struct aftl_policy *policy)
{
	return container_of(policy, struct ressd, policy);
}

static const struct own *ressd_params(const struct aftl_policy *policy)
{
	return policy->params[1];
}

static struct lun_state *ressd_lun_at(struct aftl_policy *policy, u32 index)
{
	return (struct lun_state *)policy->luns + index;
}

static struct lun_state *ressd_lun_state(struct aftl_policy *policy, const struct aftl_lun *lun)
{
	return ressd_lun_at(policy, aftl_lun_index(lun));
}

static struct level *ressd_get_block_level(struct aftl_policy *policy,
					   const struct aftl_block *block)
{
	u32 index = aftl_block_index(aftl_policy_media(policy), block);
	u32 lun = index / aftl_policy_geometry(policy)->blocks_per_lun;

	return &ressd_lun_at(policy, lun)->levels[(block->note & NOTE_LEVEL) >> NOTE_LEVEL_SHIFT];
}

static bool block_is_reprogrammable(const struct aftl_block *block)
{
	return block->order == AFTL_ORDER_SUPER_LAYER;
}

static bool ressd_create(struct aftl_policy *policy)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 most = max(geo->blocks_per_lun / CANDIDATE_BLOCKS_PART / LEVELS, 1U);

	to_ressd(policy)->limit = min((u32)ressd_params(policy)->candidates, most);
	to_ressd(policy)->reprograms = geo->program_pages == AFTL_REPROGRAM_BITS &&
				       geo->word_line_pages == AFTL_REPROGRAM_BITS;
	return true;
}

/* Super layers */

static struct span get_super_layer_span(const struct aftl_geometry *geo,
					const struct aftl_block *block)
{
	u32 begun = block->programmed / AFTL_MLC_PAGES;
	u32 last = begun ? (begun - 1) / geo->word_lines : 0;
	u32 first = last - last % geo->super_layers;
	u32 end = min(first + geo->super_layers, geo->layers);
	u32 lower_end = end;

	if (block->note & NOTE_VIRTUAL) {
		first = last ? last - 1 : 0;
		lower_end = first + 1;
		end = last + 1;
	}
	return (struct span){
		.first = first * geo->word_lines,
		.begun = begun,
		.end = end * geo->word_lines,
		.lower_end = lower_end * geo->word_lines,
	};
}

static struct aftl_word_line get_word_line_status(struct aftl_policy *policy,
						  const struct aftl_block *block, u32 line)
{
	return aftl_word_line_status(aftl_policy_media(policy), block, line * AFTL_REPROGRAM_BITS);
}

static bool word_lines_are_used_up(struct aftl_policy *policy, const struct aftl_block *block,
				   u32 line, u32 end)
{
	for (; line < end; line++)
		if (get_word_line_status(policy, block, line).reprograms < AFTL_REPROGRAMS_MAX)
			return false;
	return true;
}

/* Find a word line of super layer @span that can be reprogrammed; @span->end if none can. */
static u32 find_reusable_word_line(struct aftl_policy *policy, const struct aftl_block *block,
				   const struct span *span, struct aftl_word_line *status)
{
	u32 line;

	for (line = span->first; line < span->begun; line++) {
		*status = get_word_line_status(policy, block, line);
		if (aftl_word_line_is_reusable(status))
			return line;
	}
	return span->end;
}

/*
 * Return the word lines whose valid data must go before @block takes more programs: its super layer
 * or, with virtual layers, only the lowest layer that is not used up.
 */
static struct span find_word_lines_to_relocate(struct aftl_policy *policy,
					       const struct aftl_block *block)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	struct span span = get_super_layer_span(geo, block);

	if (ressd_params(policy)->virtual_layers == AFTL_OFF)
		return span;
	while (span.first + geo->word_lines < span.begun &&
	       word_lines_are_used_up(policy, block, span.first, span.first + geo->word_lines))
		span.first += geo->word_lines;
	span.begun = min(span.begun, span.first + geo->word_lines);
	return span;
}

/* Count the valid pages that prevent further programs of @span; list some in ->piggyback. */
static u32 count_valid_pages_preventing_programs(struct aftl_policy *policy,
						 struct aftl_block *block, const struct span *span)
{
	struct aftl_piggyback *carry = to_ressd(policy)->piggyback;
	u32 count = 0;
	u32 line;
	u32 bit;

	for (line = span->first; line < span->begun; line++) {
		struct aftl_word_line status = get_word_line_status(policy, block, line);

		for (bit = 0; bit < AFTL_MLC_PAGES; bit++) {
			if (status.reprograms == AFTL_REPROGRAMS_MAX || !(status.valid >> bit & 1))
				continue;
			if (count < PIGGYBACK_MAX)
				carry[count] = (struct aftl_piggyback){
					block, line * AFTL_REPROGRAM_BITS + bit };
			count++;
		}
	}
	return count;
}

static u32 count_pages_to_relocate_from_block(struct aftl_policy *policy, struct aftl_block *block)
{
	struct span span = find_word_lines_to_relocate(policy, block);

	return count_valid_pages_preventing_programs(policy, block, &span);
}

/* Candidates */

static void set_reprogram_role_of_block(struct aftl_block *block, u32 role)
{
	block->note = (block->note & (NOTE_LEVEL | NOTE_VIRTUAL)) | role;
}

static struct aftl_block *remove_reprogram_candidate(struct level *level, u32 index)
{
	struct aftl_block *block = level->candidates[index];

	level->candidates[index] = NULL;
	level->ready &= ~(1ULL << index);
	level->count--;
	return block;
}

static void add_reprogram_candidate(struct level *level, struct aftl_block *block)
{
	u32 index = 0;

	while (level->candidates[index])
		index++;
	level->candidates[index] = block;
	level->count++;
	set_reprogram_role_of_block(block, NOTE_CANDIDATE | index);
}

static void set_active_reprogram_block(struct level *level, struct aftl_block *block, u32 role)
{
	level->active = block;
	set_reprogram_role_of_block(block, role);
}

/* A page of a candidate was invalidated: check whether its word line can be reprogrammed now. */
static void ressd_record_invalid_page(struct aftl_policy *policy, struct aftl_block *block,
				      u32 page)
{
	struct aftl_word_line status;
	struct span span;
	u32 line;

	if (block->state != AFTL_BLOCK_OPEN || !block_is_reprogrammable(block) ||
	    !(block->note & NOTE_CANDIDATE))
		return;
	span = get_super_layer_span(aftl_policy_geometry(policy), block);
	line = page / AFTL_REPROGRAM_BITS;
	if (line < span.first)
		return;
	status = get_word_line_status(policy, block, line);
	if (aftl_word_line_is_reusable(&status))
		ressd_get_block_level(policy, block)->ready |= 1ULL << (block->note & NOTE_INDEX);
}

/* Find the candidate whose super layer has the least valid data; @level must have one. */
static u32 find_emptiest_reprogram_candidate(struct aftl_policy *policy, const struct level *level)
{
	u32 least = U32_MAX;
	u32 best = 0;
	u32 i;

	for (i = 0; i < CANDIDATES_MAX; i++) {
		struct span span;
		u32 count;

		if (!level->candidates[i])
			continue;
		span = get_super_layer_span(aftl_policy_geometry(policy), level->candidates[i]);
		count = count_valid_pages_preventing_programs(policy, level->candidates[i], &span);
		if (count < least) {
			least = count;
			best = i;
		}
	}
	return best;
}

static void activate_reprogram_candidate(struct aftl_policy *policy, struct level *level)
{
	u32 index = find_emptiest_reprogram_candidate(policy, level);

	set_active_reprogram_block(level, remove_reprogram_candidate(level, index), NOTE_RECLAIM);
	if (ressd_params(policy)->virtual_layers == AFTL_ON)
		level->active->note |= NOTE_VIRTUAL;
}

/* Close the candidate with the least valid data, so that it can be collected. */
static void ressd_close_candidate_for_gc(struct aftl_policy *policy, struct aftl_lun *lun)
{
	struct level *levels = ressd_lun_state(policy, lun)->levels;
	u32 least = U32_MAX;
	u32 best = 0;
	u32 i;

	for (i = 0; i < LEVELS * CANDIDATES_MAX; i++) {
		struct level *level = &levels[i / CANDIDATES_MAX];
		struct aftl_block *block = level->candidates[i % CANDIDATES_MAX];

		if (!block || block->valid >= least)
			continue;
		least = block->valid;
		best = i;
	}
	if (least < U32_MAX)
		aftl_policy_close_block(policy,
					remove_reprogram_candidate(&levels[best / CANDIDATES_MAX],
								   best % CANDIDATES_MAX));
}

/* Placement */

static void set_reprogram_placement(struct aftl_block *block, u32 line, u32 bit, u32 pages,
				    struct aftl_placement *placement)
{
	placement->block = block;
	placement->page = line * AFTL_REPROGRAM_BITS + bit;
	placement->pages = pages;
	placement->mode = AFTL_MODE_MLC;
}

/* Reprogram the invalid page of a word line; if both pages are invalid, the LSB page. */
static void reprogram_word_line(struct aftl_block *block, u32 line,
				const struct aftl_word_line *status,
				struct aftl_placement *placement)
{
	u32 bit = (status->valid & BIT(AFTL_LSB)) ? AFTL_MSB : AFTL_LSB;

	set_reprogram_placement(block, line, bit, 1, placement);
}

/* Return true if another layer exists, and the super layer is used up enough to begin it. */
static bool may_begin_next_layer(struct aftl_policy *policy, const struct aftl_block *block,
				 const struct span *span)
{
	return span->begun < aftl_count_program_steps_per_block(aftl_policy_geometry(policy)) &&
	       word_lines_are_used_up(policy, block, span->first, span->lower_end);
}

static void begin_next_reprogram_layer(struct aftl_policy *policy, struct aftl_block *block,
				       const struct span *span)
{
	if (word_lines_are_used_up(policy, block, span->first, span->end))
		block->note &= ~NOTE_VIRTUAL;
	aftl_policy_reset_block_age(policy, block);
}

/* Find the next program of @block; false if there is none at present. */
static bool place_program_in_reprogram_block(struct aftl_policy *policy, struct aftl_block *block,
					     struct aftl_placement *placement)
{
	struct span span = get_super_layer_span(aftl_policy_geometry(policy), block);
	struct aftl_word_line status;
	u32 line;

	if (span.begun < span.end) {
		set_reprogram_placement(block, span.begun, 0, AFTL_MLC_PAGES, placement);
		return true;
	}
	line = find_reusable_word_line(policy, block, &span, &status);
	if (line < span.end) {
		reprogram_word_line(block, line, &status, placement);
		return true;
	}
	if (!may_begin_next_layer(policy, block, &span))
		return false;
	begin_next_reprogram_layer(policy, block, &span);
	set_reprogram_placement(block, span.begun, 0, AFTL_MLC_PAGES, placement);
	return true;
}

/* Close the active block if all its word lines are used up, else make it a reprogram candidate. */
static void close_or_demote_active_reprogram_block(struct aftl_policy *policy, struct level *level)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	struct aftl_block *block = level->active;
	struct span span = get_super_layer_span(geo, block);

	level->active = NULL;
	if (span.begun == aftl_count_program_steps_per_block(geo) &&
	    word_lines_are_used_up(policy, block, span.first, span.end))
		aftl_policy_close_block(policy, block);
	else
		add_reprogram_candidate(level, block);
}

static bool open_reprogram_block(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_program_request *need, struct level *level)
{
	struct aftl_block *block = aftl_policy_open_block(policy, lun, need, AFTL_ORDER_SUPER_LAYER,
							  KIND_REPROGRAMMABLE);

	if (!block)
		return false;
	block->note = (need->stream - 1) << NOTE_LEVEL_SHIFT;
	set_active_reprogram_block(level, block, 0);
	return true;
}

/* Set level->active to a candidate with reprogrammable pages, a new block, or one to be emptied. */
static bool choose_active_reprogram_block(struct aftl_policy *policy, struct aftl_lun *lun,
					  const struct aftl_program_request *need,
					  struct level *level)
{
	if (level->ready) {
		u32 index = (fls64(level->ready & -level->ready) - 1) % 64;

		set_active_reprogram_block(level, remove_reprogram_candidate(level, index), 0);
		return true;
	}
	if (level->count < to_ressd(policy)->limit &&
	    open_reprogram_block(policy, lun, need, level))
		return true;
	if (!level->count)
		return false;
	activate_reprogram_candidate(policy, level);
	return true;
}

/*
 * Place a one-shot program in a normal block that takes valid pages of @from along with host data.
 * Return false if @from has no page to relocate.
 */
static bool place_host_write_with_piggyback(struct aftl_policy *policy, struct aftl_lun *lun,
					    const struct aftl_program_request *need,
					    struct aftl_block *from,
					    struct aftl_placement *placement, int *ret)
{
	u32 count = count_pages_to_relocate_from_block(policy, from);

	if (!count) {
		set_reprogram_role_of_block(from, 0);
		return false;
	}
	*ret = aftl_open_blocks_place_program(policy, lun, need, AFTL_KIND_DISPLACED, placement);
	placement->piggyback = to_ressd(policy)->piggyback;
	placement->piggybacked = min_t(u32, count, PIGGYBACK_MAX);
	return true;
}

static int place_hot_data(struct aftl_policy *policy, struct aftl_lun *lun,
			  const struct aftl_program_request *need, struct aftl_placement *placement)
{
	struct level *level = &ressd_lun_state(policy, lun)->levels[need->stream - 1];
	int ret;

	for (;;) {
		if (!level->active && !choose_active_reprogram_block(policy, lun, need, level))
			return aftl_open_blocks_place_program(policy, lun, need, AFTL_HOTNESS_COLD,
							      placement);
		if (level->active->note & NOTE_RECLAIM &&
		    place_host_write_with_piggyback(policy, lun, need, level->active, placement,
						    &ret))
			return ret;
		if (place_program_in_reprogram_block(policy, level->active, placement))
			return 0;
		close_or_demote_active_reprogram_block(policy, level);
	}
}

static int ressd_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
			       const struct aftl_program_request *need,
			       struct aftl_placement *placement)
{
	u32 kind = need->cause == AFTL_CAUSE_REWRITE ? AFTL_KIND_DISPLACED : AFTL_KIND_COLLECTED;

	if (need->cause != AFTL_CAUSE_HOST)
		return aftl_open_blocks_place_program(policy, lun, need, kind, placement);
	if (need->stream && to_ressd(policy)->reprograms)
		return place_hot_data(policy, lun, need, placement);
	return aftl_open_blocks_place_program(policy, lun, need, need->stream, placement);
}

/* Relocated data become precise and cold. A rewrite skips word lines that used all reprograms. */
static bool ressd_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				    u32 *class, u32 *stream)
{
	u32 line = move->page / AFTL_REPROGRAM_BITS;

	*class = AFTL_PRECISE;
	*stream = AFTL_HOTNESS_COLD;
	return move->cause != AFTL_CAUSE_REWRITE || !block_is_reprogrammable(move->from) ||
	       get_word_line_status(policy, move->from, line).reprograms < AFTL_REPROGRAMS_MAX;
}

/* Idle time */

/* Relocation in idle time must not use one of the last free blocks. */
static bool lun_has_room_for_displaced_data(struct aftl_policy *policy, struct aftl_lun *lun)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	const struct aftl_block *open =
		ressd_lun_state(policy, lun)->normal.open[AFTL_KIND_DISPLACED];
	u32 pages = geo->super_layers * geo->word_lines * AFTL_MLC_PAGES;

	return aftl_policy_has_spare_blocks(policy, lun) ||
	       (open && open->frontier + pages + geo->program_pages < geo->pages);
}

static bool should_hotness_level_reclaim_candidate(struct aftl_policy *policy, struct level *level)
{
	return !level->active && !level->ready && level->count &&
	       level->count >= to_ressd(policy)->limit;
}

static bool set_reclaim_idle_task(struct aftl_policy *policy, struct aftl_block *block,
				  struct aftl_idle_task *task)
{
	struct span span = find_word_lines_to_relocate(policy, block);

	if (!count_pages_to_relocate_from_block(policy, block))
		return false;
	task->kind = AFTL_IDLE_TASK_RELOCATE;
	task->block = block;
	task->page = span.first * AFTL_REPROGRAM_BITS;
	task->pages = (span.begun - span.first) * AFTL_REPROGRAM_BITS;
	return true;
}

static void ressd_choose_idle_task(struct aftl_policy *policy, struct aftl_lun *lun,
				   struct aftl_idle_task *task)
{
	struct lun_state *state = ressd_lun_state(policy, lun);
	u32 i;

	if (!lun_has_room_for_displaced_data(policy, lun))
		return;
	for (i = 0; i < LEVELS; i++) {
		struct level *level = &state->levels[i];

		if (should_hotness_level_reclaim_candidate(policy, level))
			activate_reprogram_candidate(policy, level);
		if (level->active && level->active->note & NOTE_RECLAIM &&
		    set_reclaim_idle_task(policy, level->active, task))
			return;
	}
}

/* Restart */

/* Return true if the block's programmed word lines are its first ones, each with two pages. */
static bool is_loaded_reprogram_block_valid(struct aftl_policy *policy,
					    const struct aftl_block *block)
{
	const struct aftl_media *media = aftl_policy_media(policy);
	u32 begun = block->programmed / AFTL_MLC_PAGES;
	u32 layer_pages = media->geo->word_lines * AFTL_REPROGRAM_BITS;
	u32 last = begun ? (begun - 1) / media->geo->word_lines : 0;
	u32 page;

	if (block->frontier != (last ? last - 1 : 0) * layer_pages)
		return false;
	for (page = 0; page < media->geo->pages; page++) {
		u16 attr = aftl_block_page_attr(media, block, page);
		bool used = page / AFTL_REPROGRAM_BITS < begun &&
			    page % AFTL_REPROGRAM_BITS < AFTL_MLC_PAGES;

		if (used ? aftl_page_mode(attr) != AFTL_MODE_MLC : attr != 0)
			return false;
	}
	return true;
}

static bool adopt_reprogram_candidate(struct aftl_policy *policy, struct level *level,
				      struct aftl_block *block)
{
	struct span span = get_super_layer_span(aftl_policy_geometry(policy), block);
	u32 index = block->note & NOTE_INDEX;
	struct aftl_word_line status;

	if (index >= to_ressd(policy)->limit || level->candidates[index])
		return false;
	level->candidates[index] = block;
	level->count++;
	if (find_reusable_word_line(policy, block, &span, &status) < span.end)
		level->ready |= 1ULL << index;
	return true;
}

static bool adopt_reprogrammable_block(struct aftl_policy *policy, struct aftl_block *block)
{
	struct level *level;

	if (!to_ressd(policy)->reprograms || block->kind != KIND_REPROGRAMMABLE ||
	    (block->note & NOTE_LEVEL) >> NOTE_LEVEL_SHIFT >= LEVELS ||
	    !is_loaded_reprogram_block_valid(policy, block))
		return false;
	level = ressd_get_block_level(policy, block);
	if (block->note & NOTE_CANDIDATE)
		return adopt_reprogram_candidate(policy, level, block);
	if (level->active)
		return false;
	level->active = block;
	return true;
}

static bool ressd_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				     struct aftl_block *block)
{
	if (block_is_reprogrammable(block))
		return adopt_reprogrammable_block(policy, block);
	/* On a device with reprograms no sequential block is open for hot data. */
	if (to_ressd(policy)->reprograms && block->kind && block->kind < AFTL_HOTNESS_CLASSES)
		return false;
	return block->order == AFTL_ORDER_SEQUENTIAL && block->kind < KIND_REPROGRAMMABLE &&
	       aftl_open_blocks_adopt_block(policy, lun, block);
}

static void ressd_forget_closed_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct level *level;

	aftl_open_blocks_forget_closed(policy, block);
	if (!block_is_reprogrammable(block))
		return;
	level = ressd_get_block_level(policy, block);
	if (level->active == block)
		level->active = NULL;
	else if (level->candidates[block->note & NOTE_INDEX] == block)
		remove_reprogram_candidate(level, block->note & NOTE_INDEX);
}

const struct aftl_policy_type aftl_policy_ressd = {
	.name = "ressd",
	.about = "updated data in word lines that are reprogrammed, by super layers",
	.streams = { AFTL_HOTNESS_NAMES },
	.kinds = { AFTL_HOTNESS_NAMES, "collected", "displaced", "reprogrammable" },
	/* one block each for cold, relocated and (by reprograms) displaced data and hot classes */
	.open_blocks = 3 + LEVELS,
	.no_parity = true,
	.reserve = 2,
	.copy_passes = 1,
	.ignores_tags = true,
	.size = sizeof(struct ressd),
	.lun_size = sizeof(struct lun_state),
	.params = { &aftl_hotness_params, &group },
	.create = ressd_create,
	.adopt = ressd_adopt_loaded_block,
	.closed = ressd_forget_closed_block,
	.stream = aftl_hotness_class,
	.place = ressd_place_program,
	.fill_run = aftl_fill_to_block_end,
	.out_of_blocks = ressd_close_candidate_for_gc,
	.invalidated = ressd_record_invalid_page,
	.relocate = ressd_choose_relocation,
	.idle_task = ressd_choose_idle_task,
};
