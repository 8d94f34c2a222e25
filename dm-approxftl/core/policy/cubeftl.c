// SPDX-License-Identifier: GPL-2.0-only
/*
 * cubeFTL (MICRO 2019): the first word line of a layer, the leader, is monitored while it is
 * programmed; the other word lines of the layer, the followers, use ISPP parameters derived from it
 * and are faster. While the write buffer is mostly empty leaders are programmed, which saves the
 * fast followers for bursts. The results of a leader are kept until its last follower is
 * programmed. If they were lost, or if a follower was misprogrammed, the next word line is
 * programmed and monitored like a leader. A read starts with the references that worked for the
 * last read of the layer.
 *
 * cubeftl_minus has no choice: layer by layer, the leader first, then its followers.
 */
#include "core/policy/policies.h"
#include "core/policy/layer-params.h"

#define ACTIVE 2

#define PARAMS(PARAM)								\
	PARAM(burst, PERCENT, 0, 10000, 9000,					\
	      "buffer use above which followers are written (cubeftl)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, true);

/*
 * Arrays of the policy. LEADERS: the monitored result of each leader word line by LUN, active block
 * and layer; 0 if it is unknown or no longer needed. REFERENCES: read references by layer.
 */
enum { LEADERS, REFERENCES };

/**
 * struct active - an open block, whose layers have a leader word line and followers each
 * @block: NULL if there is none
 * @leader: next layer with a leader that is not programmed yet
 * @follower_layer: lowest layer with a follower that is not programmed yet
 * @follower: next follower of that layer, 1 .. word lines - 1
 *
 * The results of the leaders of the layers from @follower_layer up to @leader are still needed.
 */
struct active {
	struct aftl_block *block;
	u32 leader;
	u32 follower_layer;
	u32 follower;
};

static struct active *cubeftl_active_blocks(struct aftl_policy *policy, u32 lun)
{
	return (struct active *)policy->luns + (size_t)ACTIVE * lun;
}

/* Monitored results of the leader word lines of active block @index of LUN @lun, by layer. */
static u16 *cubeftl_leader_results(struct aftl_policy *policy, u32 lun, u32 index)
{
	u32 layers = aftl_policy_geometry(policy)->layers;

	return (u16 *)policy->arrays[LEADERS] + (size_t)(lun * ACTIVE + index) * layers;
}

static void cubeftl_forget_leader_results(struct aftl_policy *policy, u32 lun, u32 index)
{
	memset(cubeftl_leader_results(policy, lun, index), 0,
	       aftl_policy_geometry(policy)->layers * sizeof(u16));
}

static bool is_word_line_programmed(const struct aftl_media *media, const struct aftl_block *block,
				    u32 layer, u32 word_line)
{
	return aftl_page_is_programmed(media, block,
				       aftl_first_page_of_word_line(media->geo, layer, word_line));
}

/*
 * Find the next leader and follower of an active block, which are programmed in ascending order:
 * after a reload, and after followers that preconditioning programmed without asking the policy.
 */
static void cubeftl_find_next_word_lines(const struct aftl_media *media, struct active *active)
{
	const struct aftl_geometry *geo = media->geo;

	while (active->leader < geo->layers &&
	       is_word_line_programmed(media, active->block, active->leader, 0))
		active->leader++;
	while (geo->word_lines > 1 && active->follower_layer < active->leader &&
	       is_word_line_programmed(media, active->block, active->follower_layer,
				       active->follower)) {
		if (++active->follower == geo->word_lines) {
			active->follower = 1;
			active->follower_layer++;
		}
	}
}

static bool cubeftl_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				       struct aftl_block *block)
{
	struct active *active = cubeftl_active_blocks(policy, aftl_lun_index(lun));

	if (block->order != AFTL_ORDER_LEADER_FIRST || block->note >= ACTIVE ||
	    active[block->note].block)
		return false;
	active[block->note] = (struct active){ .block = block, .follower = 1 };
	cubeftl_find_next_word_lines(aftl_policy_media(policy), &active[block->note]);
	return true;
}

static void cubeftl_forget_closed_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	u32 lun;
	u32 i;

	for (lun = 0; lun < aftl_policy_count_luns(policy); lun++) {
		for (i = 0; i < ACTIVE; i++) {
			if (cubeftl_active_blocks(policy, lun)[i].block != block)
				continue;
			cubeftl_active_blocks(policy, lun)[i].block = NULL;
			cubeftl_forget_leader_results(policy, lun, i);
		}
	}
}

static bool has_unprogrammed_leader(const struct aftl_geometry *geo, const struct active *active)
{
	return active->block && active->leader < geo->layers;
}

static bool has_unprogrammed_follower(const struct aftl_geometry *geo, const struct active *active)
{
	return active->block && geo->word_lines > 1 && active->follower_layer < active->leader;
}

static bool cubeftl_has_unprogrammed_word_line(const struct aftl_geometry *geo,
					       const struct active *active, bool leader)
{
	return leader ? has_unprogrammed_leader(geo, active) :
			has_unprogrammed_follower(geo, active);
}

static void place_program_at_next_leader(struct aftl_policy *policy, struct active *active,
					 struct aftl_placement *placement)
{
	placement->page =
		aftl_first_page_of_word_line(aftl_policy_geometry(policy), active->leader++, 0);
	placement->mode = AFTL_MODE_NORMAL;
	placement->monitor = true;
}

static void place_program_at_next_follower(struct aftl_policy *policy, struct active *active,
					   const u16 *shown, struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 layer = active->follower_layer;

	placement->page = aftl_first_page_of_word_line(geo, layer, active->follower++);
	placement->mode = shown[layer] ? AFTL_MODE_FOLLOWER : AFTL_MODE_NORMAL;
	placement->monitor = true;
	if (shown[layer])
		placement->ispp = aftl_get_follower_ispp(shown[layer]);
	if (active->follower == geo->word_lines) {
		active->follower = 1;
		active->follower_layer++;
	}
}

static void place_program_at_word_line(struct aftl_policy *policy, struct active *active,
				       const u16 *shown, bool leader,
				       struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);

	placement->block = active->block;
	placement->pages = geo->program_pages;
	if (leader)
		place_program_at_next_leader(policy, active, placement);
	else
		place_program_at_next_follower(policy, active, shown, placement);
	if (aftl_is_last_program_step(geo, active->block))
		active->block = NULL;
}

/* Open missing active blocks. The note of a block stores its index among them, for adopt(). */
static void cubeftl_open_missing_active_block(struct aftl_policy *policy, struct aftl_lun *lun,
					      const struct aftl_program_request *need, u32 index)
{
	struct active *active = cubeftl_active_blocks(policy, aftl_lun_index(lun)) + index;

	if (active->block) {
		cubeftl_find_next_word_lines(aftl_policy_media(policy), active);
		return;
	}
	*active = (struct active){
		.block = aftl_policy_open_block(policy, lun, need, AFTL_ORDER_LEADER_FIRST, 0),
		.follower = 1,
	};
	if (!active->block)
		return;
	active->block->note = index;
	cubeftl_forget_leader_results(policy, aftl_lun_index(lun), index);
}

static bool place_program_in_any_active_block(struct aftl_policy *policy, u32 lun, u32 count,
					      bool leader, struct aftl_placement *placement)
{
	struct active *active = cubeftl_active_blocks(policy, lun);
	u32 i;

	for (i = 0; i < count; i++) {
		if (cubeftl_has_unprogrammed_word_line(aftl_policy_geometry(policy), &active[i],
						       leader)) {
			place_program_at_word_line(policy, &active[i],
						   cubeftl_leader_results(policy, lun, i), leader,
						   placement);
			return true;
		}
	}
	return false;
}

static int cubeftl_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				 const struct aftl_program_request *need,
				 struct aftl_placement *placement)
{
	const struct own *own = policy->params[0];
	bool leader = need->buffer_use <= own->burst;
	u32 i;

	for (i = 0; i < ACTIVE; i++)
		cubeftl_open_missing_active_block(policy, lun, need, i);
	if (place_program_in_any_active_block(policy, aftl_lun_index(lun), ACTIVE, leader,
					      placement) ||
	    place_program_in_any_active_block(policy, aftl_lun_index(lun), ACTIVE, !leader,
					      placement))
		return 0;
	return -ENOSPC;
}

/* cubeftl_minus programs the follower word lines of a layer as soon as its leader is programmed. */
static int cubeftl_minus_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				       const struct aftl_program_request *need,
				       struct aftl_placement *placement)
{
	cubeftl_open_missing_active_block(policy, lun, need, 0);
	if (place_program_in_any_active_block(policy, aftl_lun_index(lun), 1, false, placement) ||
	    place_program_in_any_active_block(policy, aftl_lun_index(lun), 1, true, placement))
		return 0;
	return -ENOSPC;
}

/*
 * Count the followers (cubeFTL) after this one that need no call of the policy: the rest of the
 * layer but the last, which drops the leader's result. 0 if one may be misprogrammed.
 */
static u32 cubeftl_count_programs_without_policy(struct aftl_policy *policy, struct aftl_lun *lun,
						 const struct aftl_program_request *need,
						 const struct aftl_block *block)
{
	const struct active *active = cubeftl_active_blocks(policy, aftl_lun_index(lun)) +
				      block->note % ACTIVE;
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	u32 page;

	(void)need;
	if (active->block != block || active->follower == 1 ||
	    aftl_policy_config(policy)->misprograms)
		return 0;
	page = aftl_first_page_of_word_line(geo, active->follower_layer, active->follower - 1);
	if (aftl_page_mode(aftl_block_page_attr(aftl_policy_media(policy), block, page)) !=
		    AFTL_MODE_FOLLOWER)
		return 0;
	return geo->word_lines - 1 - active->follower;
}

static bool is_last_word_line_of_layer(const struct aftl_geometry *geo, u32 page)
{
	return aftl_word_line_of_page(geo, page) % geo->word_lines == geo->word_lines - 1;
}

/*
 * Keep a leader's monitored result if a follower needs it. After a misprogrammed follower, monitor
 * the next word line of its layer instead. block->note tells which active block this is.
 */
static bool cubeftl_check_programmed_page(struct aftl_policy *policy, struct aftl_lun *lun,
					  const struct aftl_placement *placement,
					  const struct aftl_program_result *outcome)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	const struct aftl_block *block = placement->block;
	bool bad = false;
	u16 *shown;

	if (block->order != AFTL_ORDER_LEADER_FIRST || block->note >= ACTIVE)
		return false;
	shown = cubeftl_leader_results(policy, aftl_lun_index(lun), block->note) +
		aftl_layer_of_page(geo, placement->page);
	if (placement->mode == AFTL_MODE_FOLLOWER)
		bad = aftl_is_word_line_misprogrammed(*shown, outcome);
	else
		*shown = aftl_encode_leader_program_result(outcome);
	if (bad || is_last_word_line_of_layer(geo, placement->page))
		*shown = 0;
	return bad;
}

static u32 cubeftl_first_read_reference(struct aftl_policy *policy, const struct aftl_block *block,
					u32 page)
{
	return *aftl_layer_read_ref_ptr(policy, policy->arrays[REFERENCES], block, page);
}

static void cubeftl_save_read_reference(struct aftl_policy *policy, const struct aftl_block *block,
					u32 page, u32 shift)
{
	*aftl_layer_read_ref_ptr(policy, policy->arrays[REFERENCES], block, page) = (u16)shift;
}

/* Methods of cubeftl and cubeftl_minus, whose only difference is the order of word lines. */
#define LEADER_METHODS						\
	.word_line_steps = true,				\
	.ignores_tags = true,					\
	.lun_size = ACTIVE * sizeof(struct active),		\
	.arrays = {						\
		[LEADERS] = {					\
			.count = ACTIVE,			\
			.width = sizeof(u16),			\
			.each = AFTL_PER_LUN_LAYER,		\
		},						\
		[REFERENCES] = { AFTL_REFERENCE_TABLE },		\
	},							\
	.adopt = cubeftl_adopt_loaded_block,						\
	.closed = cubeftl_forget_closed_block,					\
	.fill_run = cubeftl_count_programs_without_policy,					\
	.programmed = cubeftl_check_programmed_page,				\
	.reference = cubeftl_first_read_reference,			\
	.reference_found = cubeftl_save_read_reference

const struct aftl_policy_type aftl_policy_cubeftl = {
	.name = "cubeftl",
	.about = "leader and follower word lines, chosen by the use of the write buffer",
	.kinds = { "mixed" },
	.open_blocks = ACTIVE,
	.reserve = ACTIVE + 1,
	.params = { &group },
	LEADER_METHODS,
	.place = cubeftl_place_program,
};

const struct aftl_policy_type aftl_policy_cubeftl_minus = {
	.name = "cubeftl_minus",
	.about = "leader and follower word lines, layer by layer",
	.kinds = { "horizontal" },
	.open_blocks = 1,
	.reserve = 1,
	LEADER_METHODS,
	.place = cubeftl_minus_place_program,
};
