// SPDX-License-Identifier: GPL-2.0-only
/*
 * cubeFTL: the first word line of a layer, the leader, teaches the others how fast
 * they can be programmed. Leaders are written while the write buffer is relaxed,
 * which saves fast followers for bursts. What a leader has shown is kept as long as
 * followers of its layer are to come; if it has been lost, or if a follower came out bad,
 * the next one is programmed and monitored like a leader. Reads begin with the references
 * that were good for the last read of the layer.
 *
 * cubeftl_minus does without the choice: layer by layer, leader then followers.
 */
#include "core/policy/policies.h"
#include "core/policy/by-layer.h"

#define ACTIVE 2

/**
 * struct active - an open block
 * @block: NULL if there is none
 * @leader: next layer whose leader is unwritten
 * @follower_layer: lowest layer with an unwritten follower
 * @follower: that follower, 1 .. word lines - 1
 *
 * Layers from @follower_layer up to @leader are those whose leader's parameters are
 * still needed.
 */
struct active {
	struct aftl_block *block;
	u32 leader;
	u32 follower_layer;
	u32 follower;
};

/**
 * struct cubeftl - an instance
 * @policy: what the core sees
 * @active: by LUN
 * @shown: errors of the leader by LUN, active block and layer; 0: unknown, or nobody will ask
 * @references: see aftl_references_new()
 */
struct cubeftl {
	struct aftl_policy policy;
	struct active (*active)[ACTIVE];
	u16 *shown;
	u16 *references;
};

static const struct cubeftl *const_cubeftl(const struct aftl_policy *policy)
{
	return container_of(policy, struct cubeftl, policy);
}

static struct cubeftl *to_cubeftl(struct aftl_policy *policy)
{
	return container_of(policy, struct cubeftl, policy);
}

static void destroy(struct aftl_policy *policy)
{
	aftl_policy_free(policy->ftl, to_cubeftl(policy)->references);
	aftl_policy_free(policy->ftl, to_cubeftl(policy)->shown);
	aftl_policy_delete(policy);
}

static u64 shown_count(const struct aftl_policy *policy)
{
	return (u64)aftl_policy_luns(policy->ftl) * ACTIVE * aftl_policy_geometry(policy)->layers;
}

static struct aftl_policy *create(struct aftl *ftl)
{
	struct aftl_policy *policy = aftl_policy_new(ftl, sizeof(struct cubeftl),
						     ACTIVE * sizeof(struct active));
	struct cubeftl *state;

	if (!policy)
		return NULL;
	state = to_cubeftl(policy);
	state->active = policy->luns;
	state->shown = aftl_policy_alloc(ftl, shown_count(policy), sizeof(u16));
	state->references = aftl_references_new(ftl, aftl_policy_geometry(policy));
	if (state->shown && state->references)
		return policy;
	destroy(policy);
	return NULL;
}

/* Of an active block, by layer. */
static u16 *shown_by(struct aftl_policy *policy, u32 lun, u32 index)
{
	u32 layers = aftl_policy_geometry(policy)->layers;

	return to_cubeftl(policy)->shown + (size_t)(lun * ACTIVE + index) * layers;
}

static void forget_all(struct aftl_policy *policy, u32 lun, u32 index)
{
	memset(shown_by(policy, lun, index), 0,
	       aftl_policy_geometry(policy)->layers * sizeof(u16));
}

static bool is_written(const struct aftl_media *media, const struct aftl_block *block, u32 layer,
		       u32 word_line)
{
	return aftl_page_programmed(media, block,
				    aftl_word_line_page(media->geo, layer, word_line));
}

/* Leaders and followers are taken in ascending order: the cursors can be found again. */
static void find_cursors(const struct aftl_media *media, struct active *active)
{
	const struct aftl_geometry *geo = media->geo;

	while (active->leader < geo->layers && is_written(media, active->block, active->leader, 0))
		active->leader++;
	while (geo->word_lines > 1 && active->follower_layer < active->leader &&
	       is_written(media, active->block, active->follower_layer, active->follower)) {
		if (++active->follower == geo->word_lines) {
			active->follower = 1;
			active->follower_layer++;
		}
	}
}

static bool adopt(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block)
{
	struct active *active = to_cubeftl(policy)->active[aftl_lun_index(lun)];

	if (block->order != AFTL_ORDER_LEADER_FIRST || block->note >= ACTIVE ||
	    active[block->note].block)
		return false;
	active[block->note] = (struct active){ .block = block, .follower = 1 };
	find_cursors(aftl_policy_media(policy), &active[block->note]);
	return true;
}

static void closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct cubeftl *state = to_cubeftl(policy);
	u32 lun;
	u32 i;

	for (lun = 0; lun < aftl_policy_luns(policy->ftl); lun++) {
		for (i = 0; i < ACTIVE; i++) {
			if (state->active[lun][i].block != block)
				continue;
			state->active[lun][i].block = NULL;
			forget_all(policy, lun, i);
		}
	}
}

static bool has_leader(const struct aftl_geometry *geo, const struct active *active)
{
	return active->block && active->leader < geo->layers;
}

static bool has_follower(const struct aftl_geometry *geo, const struct active *active)
{
	return active->block && geo->word_lines > 1 && active->follower_layer < active->leader;
}

static bool has(const struct aftl_geometry *geo, const struct active *active, bool leader)
{
	return leader ? has_leader(geo, active) : has_follower(geo, active);
}

/* With default parameters; what it shows is kept if a follower will ask. */
static void monitor(struct aftl_policy *policy, struct aftl_placement *placement, u32 layer,
		    u16 *shown, bool last)
{
	placement->mode = AFTL_MODE_NORMAL;
	*shown = last ? 0 : aftl_layer_errors(policy, placement->block, layer);
}

static void take_leader(struct aftl_policy *policy, struct active *active, u16 *shown,
			struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 layer = active->leader++;

	placement->page = aftl_word_line_page(geo, layer, 0);
	monitor(policy, placement, layer, &shown[layer], geo->word_lines == 1);
}

/* The configured time of followers, if there is one, holds for all of them. */
static void follow(struct aftl_policy *policy, struct aftl_placement *placement, u16 *shown,
		   bool last)
{
	if (!aftl_policy_config(policy)->program_follower)
		placement->program_ns =
			aftl_follower_ns(aftl_policy_program_ns(policy, placement), *shown);
	placement->mode = AFTL_MODE_FOLLOWER;
	if (last)
		*shown = 0;
}

static void take_follower(struct aftl_policy *policy, struct active *active, u16 *shown,
			  struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 layer = active->follower_layer;
	bool last = active->follower + 1 == geo->word_lines;

	placement->page = aftl_word_line_page(geo, layer, active->follower++);
	if (shown[layer])
		follow(policy, placement, &shown[layer], last);
	else
		monitor(policy, placement, layer, &shown[layer], last);
	if (last) {
		active->follower = 1;
		active->follower_layer++;
	}
}

static void take(struct aftl_policy *policy, struct active *active, u16 *shown, bool leader,
		 struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);

	placement->block = active->block;
	placement->pages = geo->program_pages;
	if (leader)
		take_leader(policy, active, shown, placement);
	else
		take_follower(policy, active, shown, placement);
	if (aftl_last_step(geo, active->block))
		active->block = NULL;
}

/* The note tells adopt() which of the active blocks it was. */
static void open_missing(struct aftl_policy *policy, struct aftl_lun *lun,
			 const struct aftl_need *need, u32 index)
{
	struct active *active = &to_cubeftl(policy)->active[aftl_lun_index(lun)][index];

	if (active->block)
		return;
	*active = (struct active){
		.block = aftl_policy_open(policy, lun, need, AFTL_ORDER_LEADER_FIRST, 0),
		.follower = 1,
	};
	if (!active->block)
		return;
	active->block->note = index;
	forget_all(policy, aftl_lun_index(lun), index);
}

static bool take_from_any(struct aftl_policy *policy, u32 lun, u32 count, bool leader,
			  struct aftl_placement *placement)
{
	struct active *active = to_cubeftl(policy)->active[lun];
	u32 i;

	for (i = 0; i < count; i++) {
		if (has(aftl_policy_geometry(policy), &active[i], leader)) {
			take(policy, &active[i], shown_by(policy, lun, i), leader, placement);
			return true;
		}
	}
	return false;
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	bool leader = need->buffer_use <= aftl_policy_config(policy)->burst;
	u32 i;

	for (i = 0; i < ACTIVE; i++)
		open_missing(policy, lun, need, i);
	if (take_from_any(policy, aftl_lun_index(lun), ACTIVE, leader, placement) ||
	    take_from_any(policy, aftl_lun_index(lun), ACTIVE, !leader, placement))
		return 0;
	return -ENOSPC;
}

/* Followers as soon as there are any: leader, its followers, the next leader. */
static int place_minus(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_need *need, struct aftl_placement *placement)
{
	open_missing(policy, lun, need, 0);
	if (take_from_any(policy, aftl_lun_index(lun), 1, false, placement) ||
	    take_from_any(policy, aftl_lun_index(lun), 1, true, placement))
		return 0;
	return -ENOSPC;
}

/* The next follower of the layer shows how it is now. */
static void forget_layer(struct aftl_policy *policy, const struct aftl_lun *lun,
			 const struct aftl_placement *placement)
{
	u32 index = aftl_lun_index(lun);
	u32 layer = aftl_layer(aftl_policy_geometry(policy), placement->page);
	u32 i;

	for (i = 0; i < ACTIVE; i++)
		if (to_cubeftl(policy)->active[index][i].block == placement->block)
			shown_by(policy, index, i)[layer] = 0;
}

static bool programmed(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_placement *placement)
{
	if (placement->mode != AFTL_MODE_FOLLOWER ||
	    !aftl_came_out_bad(policy, placement->block, placement->page))
		return false;
	forget_layer(policy, lun, placement);
	return true;
}

static u32 reference(struct aftl_policy *policy, const struct aftl_block *block, u32 page)
{
	return *aftl_reference_of(policy, to_cubeftl(policy)->references, block, page);
}

static void found(struct aftl_policy *policy, const struct aftl_block *block, u32 page, u32 shift)
{
	*aftl_reference_of(policy, to_cubeftl(policy)->references, block, page) = (u16)shift;
}

/* Words of a snapshot: what leaders have shown, then the reference table. */

static u64 reference_count(const struct aftl_policy *policy)
{
	return aftl_reference_count(aftl_policy_geometry(policy));
}

static bool save(const struct aftl_policy *policy, u64 index, u64 *word)
{
	const struct cubeftl *state = const_cubeftl(policy);
	u64 shown = shown_count(policy);

	if (index < aftl_u16_words(shown)) {
		*word = aftl_pack_u16(state->shown, shown, index);
		return true;
	}
	index -= aftl_u16_words(shown);
	*word = aftl_pack_u16(state->references, reference_count(policy), index);
	return index < aftl_u16_words(reference_count(policy));
}

static void restore(struct aftl_policy *policy, u64 index, u64 word)
{
	struct cubeftl *state = to_cubeftl(policy);
	u64 shown = shown_count(policy);

	if (index < aftl_u16_words(shown))
		aftl_unpack_u16(state->shown, shown, index, word);
	else
		aftl_unpack_u16(state->references, reference_count(policy),
				index - aftl_u16_words(shown), word);
}

/* The two differ in the order in which they take word lines. */
#define LEADER_METHODS			\
	.word_line_steps = true,	\
	.ignores_tags = true,		\
	.create = create,		\
	.destroy = destroy,		\
	.adopt = adopt,			\
	.save = save,			\
	.restore = restore,		\
	.closed = closed,		\
	.programmed = programmed,	\
	.reference = reference,		\
	.found = found

const struct aftl_policy_type aftl_policy_cubeftl = {
	.name = "cubeftl",
	.about = "leader and follower word lines, chosen by the use of the write buffer",
	.kinds = { "mixed" },
	.open_blocks = ACTIVE,
	.reserve = ACTIVE + 1,
	LEADER_METHODS,
	.place = place,
};

const struct aftl_policy_type aftl_policy_cubeftl_minus = {
	.name = "cubeftl_minus",
	.about = "leader and follower word lines, layer by layer",
	.kinds = { "horizontal" },
	.open_blocks = 1,
	.reserve = 1,
	LEADER_METHODS,
	.place = place_minus,
};
