// SPDX-License-Identifier: GPL-2.0-only
/*
 * cubeFTL: the first word line of a layer, the leader, teaches the others how fast
 * they can be programmed. Leaders are written while the write buffer is relaxed,
 * which saves fast followers for bursts.
 *
 * cubeftl_minus does without that choice: layer by layer, leader then followers.
 */
#include "policies.h"

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

struct cubeftl {
	struct aftl_policy policy;
	struct active (*active)[ACTIVE];
};

static struct cubeftl *to_cubeftl(struct aftl_policy *policy)
{
	return container_of(policy, struct cubeftl, policy);
}

static struct aftl_policy *create(struct aftl *ftl)
{
	struct aftl_policy *policy = aftl_policy_new(ftl, sizeof(struct cubeftl),
						     ACTIVE * sizeof(struct active));

	if (policy)
		to_cubeftl(policy)->active = policy->luns;
	return policy;
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

	for (lun = 0; lun < aftl_policy_luns(policy->ftl); lun++)
		for (i = 0; i < ACTIVE; i++)
			if (state->active[lun][i].block == block)
				state->active[lun][i].block = NULL;
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

static void take_leader(const struct aftl_geometry *geo, struct active *active,
			struct aftl_placement *placement)
{
	placement->page = aftl_word_line_page(geo, active->leader++, 0);
	placement->mode = AFTL_MODE_NORMAL;
}

static void take_follower(const struct aftl_geometry *geo, struct active *active,
			  struct aftl_placement *placement)
{
	placement->page = aftl_word_line_page(geo, active->follower_layer, active->follower);
	placement->mode = AFTL_MODE_FOLLOWER;
	if (++active->follower == geo->word_lines) {
		active->follower = 1;
		active->follower_layer++;
	}
}

static void take(const struct aftl_geometry *geo, struct active *active, bool leader,
		 struct aftl_placement *placement)
{
	placement->block = active->block;
	placement->pages = geo->program_pages;
	if (leader)
		take_leader(geo, active, placement);
	else
		take_follower(geo, active, placement);
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
	if (active->block)
		active->block->note = index;
}

static bool take_from_any(const struct aftl_geometry *geo, struct active *active, u32 count,
			  bool leader, struct aftl_placement *placement)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (has(geo, &active[i], leader)) {
			take(geo, &active[i], leader, placement);
			return true;
		}
	}
	return false;
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	struct active *active = to_cubeftl(policy)->active[aftl_lun_index(lun)];
	bool leader = need->buffer_use <= aftl_policy_config(policy)->burst;
	u32 i;

	for (i = 0; i < ACTIVE; i++)
		open_missing(policy, lun, need, i);
	if (take_from_any(geo, active, ACTIVE, leader, placement) ||
	    take_from_any(geo, active, ACTIVE, !leader, placement))
		return 0;
	return -ENOSPC;
}

/* Followers as soon as there are any: leader, its followers, the next leader. */
static int place_minus(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_need *need, struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	struct active *active = to_cubeftl(policy)->active[aftl_lun_index(lun)];

	open_missing(policy, lun, need, 0);
	if (take_from_any(geo, active, 1, false, placement) ||
	    take_from_any(geo, active, 1, true, placement))
		return 0;
	return -ENOSPC;
}

const struct aftl_policy_type aftl_policy_cubeftl = {
	.name = "cubeftl",
	.about = "leader and follower word lines, chosen by the use of the write buffer",
	.kinds = { "mixed" },
	.open_blocks = ACTIVE,
	.reserve = ACTIVE + 1,
	.word_line_steps = true,
	.ignores_tags = true,
	.create = create,
	.destroy = aftl_policy_delete,
	.adopt = adopt,
	.closed = closed,
	.place = place,
};

const struct aftl_policy_type aftl_policy_cubeftl_minus = {
	.name = "cubeftl_minus",
	.about = "leader and follower word lines, layer by layer",
	.kinds = { "horizontal" },
	.open_blocks = 1,
	.reserve = 1,
	.word_line_steps = true,
	.ignores_tags = true,
	.create = create,
	.destroy = aftl_policy_delete,
	.adopt = adopt,
	.closed = closed,
	.place = place_minus,
};
