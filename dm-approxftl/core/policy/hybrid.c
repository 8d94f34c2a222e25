// SPDX-License-Identifier: GPL-2.0-only
/*
 * hybrid: the published systems together, as far as they do not contradict each other.
 * It has instances of other policies as its parts and hands each decision to one of them:
 *
 *  - approximate data, and precise data without a claim of another part: ApproxFTL;
 *  - precise data that is updated within its zones, soon: ReSSD;
 *  - precise data that is updated later, but within the retention budget: TVR;
 *  - of what ApproxFTL places without a gain from its neighbours: AGCR's costs;
 *  - over all but what is programmed again: cubeFTL's followers and read references.
 *
 * Who has spent a margin cannot spend it again: only standard programs follow their
 * leader with fewer loops, all others just skip needless verifies. Each part can be
 * switched off; what remains without any is page mapping in sequential order.
 */
#include "core/flash/physics-tables.h"
#include "core/policy/policies.h"
#include "core/policy/by-layer.h"
#include "core/policy/by-zone.h"
#include "core/policy/parts.h"

/* Block kinds: ApproxFTL's own five, then what others fill. */
enum kind { KIND_PRECISE = 1, KIND_DISPLACED = 5, KIND_REPROGRAMMABLE, KIND_SHORT };

/* What heat() says of precise data, and copy() of what it moves. */
enum heat { HEAT_NONE, HEAT_UPDATED, HEAT_SHORT, HEAT_LOW };

#define HEAT_HIGH HEAT_SHORT

/* In a block's note: a sequential block of ReSSD's, and which of its kinds it is there. */
#define NOTE_RESSD 0x8000
#define NOTE_RESSD_KIND 0x0007

/* Approximate data, precise, of low and of high cost. */
enum pass { PASS_APPROX, PASS_PRECISE, PASS_LOW, PASS_HIGH, PASSES };

/**
 * struct own_blocks - open blocks of a LUN that belong to no part
 * @plain: takes everything when ApproxFTL is off
 * @brief: data without margins
 */
struct own_blocks {
	struct aftl_block *plain;
	struct aftl_block *brief;
};

/**
 * struct hybrid - an instance
 * @policy: what the core sees
 * @approx: ApproxFTL, NULL if it is off
 * @ressd: same for ReSSD
 * @agcr: same for AGCR
 * @references: cubeFTL's, NULL if that is off
 */
struct hybrid {
	struct aftl_policy policy;
	struct aftl_policy *approx;
	struct aftl_policy *ressd;
	struct aftl_policy *agcr;
	u16 *references;
};

static struct hybrid *to_hybrid(struct aftl_policy *policy)
{
	return container_of(policy, struct hybrid, policy);
}

static const struct hybrid *const_hybrid(const struct aftl_policy *policy)
{
	return container_of(policy, struct hybrid, policy);
}

static struct own_blocks *own_blocks(struct aftl_policy *policy, u32 lun)
{
	return (struct own_blocks *)policy->luns + lun;
}

static void destroy(struct aftl_policy *policy)
{
	struct hybrid *state = to_hybrid(policy);

	if (state->approx)
		aftl_policy_approxftl.destroy(state->approx);
	if (state->ressd)
		aftl_policy_ressd.destroy(state->ressd);
	if (state->agcr)
		aftl_policy_agcr.destroy(state->agcr);
	aftl_policy_free(policy->ftl, state->references);
	aftl_policy_delete(policy);
}

/* Costs of writes make sense only where reads depend on them. */
static bool has_costs(const struct aftl_config *config)
{
	return config->hybrid_agcr && config->read_coarse && config->read_fine;
}

static bool create_parts(struct aftl *ftl, struct hybrid *state)
{
	const struct aftl_config *config = aftl_policy_config(&state->policy);

	if (config->hybrid_approx)
		state->approx = aftl_policy_approxftl.create(ftl);
	if (config->hybrid_ressd)
		state->ressd = aftl_policy_ressd.create(ftl);
	if (has_costs(config))
		state->agcr = aftl_policy_agcr.create(ftl);
	if (config->hybrid_cube)
		state->references =
			aftl_references_new(ftl, aftl_policy_geometry(&state->policy));
	return (!config->hybrid_approx || state->approx) &&
	       (!config->hybrid_ressd || state->ressd) && (!has_costs(config) || state->agcr) &&
	       (!config->hybrid_cube || state->references);
}

static struct aftl_policy *create(struct aftl *ftl)
{
	struct aftl_policy *policy =
		aftl_policy_new(ftl, sizeof(struct hybrid), sizeof(struct own_blocks));

	if (!policy || create_parts(ftl, to_hybrid(policy)))
		return policy;
	destroy(policy);
	return NULL;
}

static u64 remember(const struct aftl_policy *policy)
{
	const struct hybrid *state = const_hybrid(policy);

	return state->approx ? aftl_policy_approxftl.remember(state->approx) : 0;
}

static void recall(struct aftl_policy *policy, u64 memory)
{
	if (to_hybrid(policy)->approx)
		aftl_policy_approxftl.recall(to_hybrid(policy)->approx, memory);
}

/* Whose is it? */

static u32 heat_of_precise(struct hybrid *state, const struct aftl_write *write)
{
	struct aftl_policy *policy = &state->policy;

	if (state->agcr)
		aftl_policy_agcr.heat(state->agcr, write);
	if (aftl_policy_filling(policy))
		return HEAT_NONE;
	if (state->ressd && aftl_zone_of(policy, write) != AFTL_ZONE_COLD)
		return HEAT_UPDATED;
	if (aftl_policy_config(policy)->hybrid_tvr &&
	    aftl_tvr_was_short_lived(policy, write->unit))
		return HEAT_SHORT;
	return state->agcr && aftl_agcr_low_cost(state->agcr, write->unit) ? HEAT_LOW : HEAT_NONE;
}

/* Precise and approximate data of one pool make checkerboards: all of it is of one heat. */
static u32 heat(struct aftl_policy *policy, const struct aftl_write *write)
{
	return write->class == AFTL_APPROX ? HEAT_NONE :
					     heat_of_precise(to_hybrid(policy), write);
}

static void hint(const struct aftl_policy *policy, aftl_unit_t unit)
{
	if (const_hybrid(policy)->agcr)
		aftl_policy_agcr.hint(const_hybrid(policy)->agcr, unit);
}

/* Approximate pages, those without margins and those programmed again have cheap reads. */
static void host_read(struct aftl_policy *policy, aftl_unit_t unit, u32 mode)
{
	struct hybrid *state = to_hybrid(policy);

	if (state->agcr && mode != AFTL_MODE_REDUCED && mode != AFTL_MODE_MLC)
		aftl_policy_agcr.host_read(state->agcr, unit, mode);
}

/* Placement */

static int place_plain(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_need *need, struct aftl_placement *placement)
{
	struct own_blocks *own = own_blocks(policy, aftl_lun_index(lun));

	return aftl_place_sequential(policy, lun, need, &own->plain, KIND_PRECISE, placement);
}

static int place_standard(struct hybrid *state, struct aftl_lun *lun,
			  const struct aftl_need *need, struct aftl_placement *placement)
{
	struct aftl_need cold = *need;
	int ret;

	cold.heat = HEAT_NONE;
	if (state->approx)
		ret = aftl_policy_approxftl.place(state->approx, lun, &cold, placement);
	else
		ret = place_plain(&state->policy, lun, need, placement);
	if (ret || !state->agcr || placement->mode != AFTL_MODE_NORMAL)
		return ret;
	if (need->heat == HEAT_LOW)
		placement->mode = AFTL_MODE_COARSE;
	else if (need->heat == HEAT_HIGH && need->cause != AFTL_CAUSE_HOST)
		placement->mode = AFTL_MODE_FINE;
	return 0;
}

static int place_short(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_need *need, struct aftl_placement *placement)
{
	struct own_blocks *own = own_blocks(policy, aftl_lun_index(lun));
	int ret = aftl_place_sequential(policy, lun, need, &own->brief, KIND_SHORT, placement);

	if (ret)
		return ret;
	placement->program_ns = aftl_tvr_program_ns(policy, placement);
	placement->mode = AFTL_MODE_REDUCED;
	return 0;
}

/* Here all of ReSSD's sequential blocks are of one kind. */
static void mark_ressd(struct hybrid *state, struct aftl_block *block)
{
	if (block->note & NOTE_RESSD)
		return;
	block->note = NOTE_RESSD | block->kind;
	aftl_policy_turn(&state->policy, block, KIND_DISPLACED);
}

/* Several requests may share a program: the zone is that of the first unit, now. */
static int place_updated(struct hybrid *state, struct aftl_lun *lun,
			 const struct aftl_need *need, struct aftl_placement *placement)
{
	struct aftl_write write = { .unit = need->unit, .units = need->units };
	struct aftl_need hot = *need;
	int ret;

	hot.heat = aftl_zone_of(&state->policy, &write);
	ret = aftl_policy_ressd.place(state->ressd, lun, &hot, placement);
	if (!ret && placement->block->order == AFTL_ORDER_SEQUENTIAL)
		mark_ressd(state, placement->block);
	return ret;
}

static bool is_reclaimed(const struct aftl_need *need)
{
	return need->cause == AFTL_CAUSE_REWRITE && need->from->order == AFTL_ORDER_SUPER_LAYER;
}

static int place_by_part(struct hybrid *state, struct aftl_lun *lun,
			 const struct aftl_need *need, struct aftl_placement *placement)
{
	bool host = need->cause == AFTL_CAUSE_HOST;

	if (state->ressd && (host ? need->heat == HEAT_UPDATED : is_reclaimed(need)) &&
	    !place_updated(state, lun, need, placement))
		return 0;
	if (host && need->heat == HEAT_SHORT)
		return place_short(&state->policy, lun, need, placement);
	return place_standard(state, lun, need, placement);
}

/* Followers */

static bool are_alike(u32 mode, u32 other)
{
	return mode == other || (mode == AFTL_MODE_NORMAL && other == AFTL_MODE_FOLLOWER);
}

/* The first word line of a layer that was programmed like this one. */
static bool has_leader(const struct aftl_media *media, const struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = media->geo;
	u32 first = aftl_word_line_page(geo, aftl_layer(geo, placement->page), 0);
	u32 page = placement->page;

	while (page > first) {
		u8 attr;

		page -= geo->program_pages;
		attr = media->attr[aftl_device_page(media, placement->block, page)];
		if (attr && are_alike(placement->mode, aftl_page_mode(attr)))
			return true;
	}
	return false;
}

static bool can_follow(const struct hybrid *state, const struct aftl_placement *placement)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(&state->policy);

	return state->references && geo->program_pages == geo->word_line_pages &&
	       placement->block->order != AFTL_ORDER_SUPER_LAYER &&
	       has_leader(aftl_policy_media(&state->policy), placement);
}

static void follow(struct aftl_policy *policy, struct aftl_placement *placement)
{
	u32 layer = aftl_layer(aftl_policy_geometry(policy), placement->page);
	u32 errors = AFTL_CUBE_EP1_MAX_Q12;
	u64 ns = placement->program_ns ? : aftl_policy_program_ns(policy, placement);

	if (placement->mode == AFTL_MODE_NORMAL) {
		errors = aftl_layer_errors(policy, placement->block, layer);
		placement->mode = AFTL_MODE_FOLLOWER;
	}
	if (placement->mode == AFTL_MODE_FOLLOWER && aftl_policy_config(policy)->program_follower)
		return;
	placement->program_ns = aftl_follower_ns(ns, errors);
}

static int place(struct aftl_policy *policy, struct aftl_lun *lun, const struct aftl_need *need,
		 struct aftl_placement *placement)
{
	struct hybrid *state = to_hybrid(policy);
	int ret = place_by_part(state, lun, need, placement);

	if (!ret && can_follow(state, placement))
		follow(policy, placement);
	if (ret && state->ressd && need->cause == AFTL_CAUSE_HOST)
		aftl_ressd_give_up(state->ressd, lun);
	return ret;
}

static bool programmed(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_placement *placement)
{
	(void)lun;
	return placement->mode == AFTL_MODE_FOLLOWER &&
	       aftl_came_out_bad(policy, placement->block, placement->page);
}

static u32 reference(struct aftl_policy *policy, const struct aftl_block *block, u32 page)
{
	u16 *references = to_hybrid(policy)->references;

	return references ? *aftl_reference_of(policy, references, block, page) : 0;
}

static void found(struct aftl_policy *policy, const struct aftl_block *block, u32 page, u32 shift)
{
	u16 *references = to_hybrid(policy)->references;

	if (references)
		*aftl_reference_of(policy, references, block, page) = (u16)shift;
}

/* Moves */

/* To write one unit again would leave the rest of a larger program empty. */
static bool programs_are_units(const struct aftl_policy *policy)
{
	return aftl_program_units(aftl_policy_geometry(policy)) == 1;
}

/* What a re-write is for: AGCR wants it, or it came out bad. */
static bool wants_high_cost(const struct hybrid *state, const struct aftl_move *move)
{
	return programs_are_units(&state->policy) &&
	       !(move->mode == AFTL_MODE_FOLLOWER &&
		 aftl_came_out_bad(&state->policy, move->from, move->page));
}

static u32 heat_of_moved(const struct hybrid *state, const struct aftl_move *move)
{
	if (!state->agcr)
		return HEAT_NONE;
	if (move->cause == AFTL_CAUSE_REWRITE && wants_high_cost(state, move))
		return HEAT_HIGH;
	if (move->mode == AFTL_MODE_COARSE)
		return HEAT_LOW;
	return move->mode == AFTL_MODE_FINE ? HEAT_HIGH : HEAT_NONE;
}

static u32 pass_of(u32 class, u32 heat)
{
	if (class == AFTL_APPROX)
		return PASS_APPROX;
	if (heat == HEAT_LOW)
		return PASS_LOW;
	return heat == HEAT_HIGH ? PASS_HIGH : PASS_PRECISE;
}

/* Copies keep their cost; what idle dies write again is of high cost. */
static bool copy(struct aftl_policy *policy, const struct aftl_move *move, u32 *class, u32 *heat)
{
	struct hybrid *state = to_hybrid(policy);

	if (state->ressd && move->cause == AFTL_CAUSE_REWRITE &&
	    move->from->order == AFTL_ORDER_SUPER_LAYER)
		return aftl_policy_ressd.copy(state->ressd, move, class, heat);
	if (state->approx)
		aftl_policy_approxftl.copy(state->approx, move, class, heat);
	*heat = *class == AFTL_APPROX ? HEAT_NONE : heat_of_moved(state, move);
	return move->pass == pass_of(*class, *heat);
}

static void invalidated(struct aftl_policy *policy, struct aftl_block *block, u32 page)
{
	if (to_hybrid(policy)->ressd)
		aftl_policy_ressd.invalidated(to_hybrid(policy)->ressd, block, page);
}

static u32 victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
		       const struct aftl_block *block)
{
	struct aftl_policy *approx = to_hybrid(policy)->approx;

	return approx ? aftl_policy_approxftl.victim_rank(approx, lun, block) : 0;
}

static bool accept_free(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = to_hybrid(policy)->approx;

	return !approx || aftl_policy_approxftl.accept_free(approx, block);
}

static bool gentle(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = to_hybrid(policy)->approx;

	return approx && aftl_policy_approxftl.gentle(approx, block);
}

static u32 retention_hours(struct aftl_policy *policy, u32 class, u32 mode)
{
	if (class == AFTL_APPROX)
		return (u32)div64_u64(aftl_policy_config(policy)->refresh, AFTL_HOUR_NS);
	return mode == AFTL_MODE_REDUCED ? aftl_tvr_hours(policy) : 0;
}

static void chore(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_chore *chore)
{
	struct hybrid *state = to_hybrid(policy);

	if (state->ressd)
		aftl_policy_ressd.chore(state->ressd, lun, chore);
	if (state->agcr && chore->kind == AFTL_CHORE_NONE && programs_are_units(policy))
		aftl_policy_agcr.chore(state->agcr, lun, chore);
}

/* Restart */

static bool adopt_own(struct aftl_block **open, struct aftl_block *block)
{
	if (*open)
		return false;
	*open = block;
	return true;
}

static bool adopt_ressd(struct hybrid *state, struct aftl_lun *lun, struct aftl_block *block)
{
	bool adopted;

	if (!state->ressd)
		return false;
	if (block->order == AFTL_ORDER_SUPER_LAYER)
		return aftl_policy_ressd.adopt(state->ressd, lun, block);
	aftl_policy_turn(&state->policy, block, block->note & NOTE_RESSD_KIND);
	adopted = aftl_policy_ressd.adopt(state->ressd, lun, block);
	aftl_policy_turn(&state->policy, block, KIND_DISPLACED);
	return adopted;
}

static bool adopt(struct aftl_policy *policy, struct aftl_lun *lun, struct aftl_block *block)
{
	struct own_blocks *own = own_blocks(policy, aftl_lun_index(lun));
	struct hybrid *state = to_hybrid(policy);

	if (block->order == AFTL_ORDER_SUPER_LAYER || block->note & NOTE_RESSD)
		return adopt_ressd(state, lun, block);
	if (block->kind == KIND_SHORT)
		return adopt_own(&own->brief, block);
	if (state->approx)
		return aftl_policy_approxftl.adopt(state->approx, lun, block);
	return block->kind == KIND_PRECISE && adopt_own(&own->plain, block);
}

static void closed(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct hybrid *state = to_hybrid(policy);
	u32 lun;

	if (state->approx)
		aftl_policy_approxftl.closed(state->approx, block);
	if (state->ressd)
		aftl_policy_ressd.closed(state->ressd, block);
	for (lun = 0; lun < aftl_policy_luns(policy->ftl); lun++) {
		struct own_blocks *own = own_blocks(policy, lun);

		if (own->plain == block)
			own->plain = NULL;
		if (own->brief == block)
			own->brief = NULL;
	}
}

/* Words of a snapshot: the references, then AGCR's. */

static u64 reference_count(const struct aftl_policy *policy)
{
	return const_hybrid(policy)->references ?
		       aftl_reference_count(aftl_policy_geometry(policy)) : 0;
}

static bool save(const struct aftl_policy *policy, u64 index, u64 *word)
{
	const struct hybrid *state = const_hybrid(policy);
	u64 count = reference_count(policy);

	if (index >= aftl_u16_words(count))
		return state->agcr && aftl_policy_agcr.save(state->agcr,
							    index - aftl_u16_words(count), word);
	*word = aftl_pack_u16(state->references, count, index);
	return true;
}

static void restore(struct aftl_policy *policy, u64 index, u64 word)
{
	struct hybrid *state = to_hybrid(policy);
	u64 count = reference_count(policy);

	if (index < aftl_u16_words(count))
		aftl_unpack_u16(state->references, count, index, word);
	else if (state->agcr)
		aftl_policy_agcr.restore(state->agcr, index - aftl_u16_words(count), word);
}

const struct aftl_policy_type aftl_policy_hybrid = {
	.name = "hybrid",
	.about = "approxftl, cubeftl, agcr, tvr and ressd together, each for the data it suits",
	.kinds = { "checkerboard", "precise", "phase1", "phase2", "all_approx", "displaced",
		   "reprogrammable", "short_lived" },
	/* One pool of ApproxFTL's, ReSSD's levels and what they displace, one without margins. */
	.open_blocks = 5 + (AFTL_HEATS - 1) + 1 + 1,
	/* For what is collected, and what idle time displaces. */
	.reserve = 5 + 1,
	.copy_passes = PASSES,
	.least_steps = 2,
	.create = create,
	.destroy = destroy,
	.adopt = adopt,
	.remember = remember,
	.recall = recall,
	.save = save,
	.restore = restore,
	.closed = closed,
	.heat = heat,
	.hint = hint,
	.host_read = host_read,
	.place = place,
	.programmed = programmed,
	.invalidated = invalidated,
	.reference = reference,
	.found = found,
	.victim_rank = victim_rank,
	.copy = copy,
	.gentle = gentle,
	.accept_free = accept_free,
	.retention_hours = retention_hours,
	.chore = chore,
};
