// SPDX-License-Identifier: GPL-2.0-only
/*
 * hybrid: a combination of the published policies, as far as they are compatible. It creates
 * instances of other policies and delegates each decision to one of them:
 *
 * ApproxFTL places approximate data, and precise data that no other policy claims. ReSSD places
 * precise data that is updated soon, within its hotness classes. TVR places precise data that is
 * updated later, but within the retention budget. AGCR chooses the program cost of data for which
 * ApproxFTL gains nothing from neighbours. cubeFTL's followers and read references apply to all
 * data except reprogrammed word lines.
 *
 * A retention or voltage margin can be used once: only standard programs use the full follower
 * parameters, other modes just skip verifies. A parameter switches each policy; the defaults are
 * those that keep the flash least busy together. Without any of them hybrid is page mapping in
 * sequential order.
 */
#include "core/nand/physics-tables.h"
#include "core/policy/policies.h"
#include "core/policy/layer-params.h"
#include "core/policy/hotness.h"

#define hybrid_approx_words aftl_switch_words
#define hybrid_cube_words aftl_switch_words
#define hybrid_agcr_words aftl_switch_words
#define hybrid_tvr_words aftl_switch_words
#define hybrid_ressd_words aftl_switch_words

#define PARAMS(PARAM)								\
	PARAM(hybrid_approx, CHOICE, 0, 1, AFTL_ON,				\
	      "place approximate data as approxftl does (hybrid)")		\
	PARAM(hybrid_cube, CHOICE, 0, 1, AFTL_ON,				\
	      "program followers like cubeftl (hybrid)") \
	PARAM(hybrid_agcr, CHOICE, 0, 1, AFTL_OFF,				\
	      "program cost by access history, if reads have three costs (hybrid)") \
	PARAM(hybrid_tvr, CHOICE, 0, 1, AFTL_ON,				\
	      "short-lived precise data without margins (hybrid)")		\
	PARAM(hybrid_ressd, CHOICE, 0, 1, AFTL_OFF,				\
	      "reprogram word lines with data that is updated soon, as ressd does (hybrid)")

AFTL_PARAM_TABLE(own, PARAMS);

static const struct aftl_param_group group = AFTL_PARAM_GROUP(own, false);

/* Block kinds: the five of ApproxFTL, then the kinds of the other policies. */
enum kind { KIND_PRECISE = 1, KIND_DISPLACED = 5, KIND_REPROGRAMMABLE, KIND_SHORT };

/* Streams of precise data: results of stream(), and of relocate() for relocated data. */
enum stream { STREAM_NONE, STREAM_UPDATED, STREAM_SHORT, STREAM_LOW, STREAM_HIGH };

/* Bits of aftl_block.note: ReSSD owns this sequential block; ReSSD's own kind for the block. */
#define NOTE_RESSD 0x8000
#define NOTE_RESSD_KIND 0x0007

/* Relocation passes: approximate data, precise data, data of low and of high write cost (AGCR). */
enum pass { PASS_APPROX, PASS_PRECISE, PASS_LOW, PASS_HIGH, PASSES };

/**
 * struct own_blocks - open blocks of a LUN that no delegate owns
 * @plain: takes the data that ApproxFTL would place, if the delegate ApproxFTL is off
 * @brief: short-lived data, without retention margins
 */
struct own_blocks {
	struct aftl_block *plain;
	struct aftl_block *brief;
};

/**
 * struct hybrid - an instance of hybrid
 * @policy: the instance as the core sees it
 * @approx: ApproxFTL, NULL if it is off
 * @ressd: ReSSD, NULL if it is off
 * @agcr: AGCR, NULL if it is off
 * @tvr: TVR, NULL if it is off
 *
 * The array of the policy is cubeFTL's table of read references, NULL if that is off.
 */
struct hybrid {
	struct aftl_policy policy;
	struct aftl_policy *approx;
	struct aftl_policy *ressd;
	struct aftl_policy *agcr;
	struct aftl_policy *tvr;
};

static struct hybrid *to_hybrid(struct aftl_policy *policy)
{
	return container_of(policy, struct hybrid, policy);
}

static const struct hybrid *to_const_hybrid(const struct aftl_policy *policy)
{
	return container_of(policy, struct hybrid, policy);
}

static struct own_blocks *hybrid_get_own_open_blocks(struct aftl_policy *policy, u32 lun)
{
	return (struct own_blocks *)policy->luns + lun;
}

/* Return true if AGCR is used: its program costs make sense only if read times depend on them. */
static bool hybrid_uses_agcr(const struct aftl_policy *policy)
{
	const struct aftl_config *config = aftl_policy_config(policy);
	const struct own *own = policy->params[0];

	return own->hybrid_agcr && config->read_coarse && config->read_fine;
}

static bool hybrid_uses_cubeftl(const struct aftl_policy *policy)
{
	const struct own *own = policy->params[0];

	return own->hybrid_cube;
}

static bool create_hybrid_delegate(struct aftl_policy *policy, bool wanted,
				   const struct aftl_policy_type *type, struct aftl_policy **part)
{
	*part = wanted ? aftl_policy_part(policy, type) : NULL;
	return !wanted || *part;
}

static bool hybrid_create(struct aftl_policy *policy)
{
	struct hybrid *state = to_hybrid(policy);
	const struct own *own = policy->params[0];

	return create_hybrid_delegate(policy, own->hybrid_approx, &aftl_policy_approxftl,
				      &state->approx) &&
	       create_hybrid_delegate(policy, own->hybrid_ressd, &aftl_policy_ressd,
				      &state->ressd) &&
	       create_hybrid_delegate(policy, hybrid_uses_agcr(policy), &aftl_policy_agcr,
				      &state->agcr) &&
	       create_hybrid_delegate(policy, own->hybrid_tvr, &aftl_policy_tvr, &state->tvr);
}

static u64 hybrid_save_state_word(const struct aftl_policy *policy)
{
	const struct hybrid *state = to_const_hybrid(policy);

	return state->approx ? aftl_policy_approxftl.save_state_word(state->approx) : 0;
}

static void hybrid_restore_state_word(struct aftl_policy *policy, u64 memory)
{
	if (to_hybrid(policy)->approx)
		aftl_policy_approxftl.restore_state_word(to_hybrid(policy)->approx, memory);
}

/* Which policy owns a write */

static u32 choose_stream_of_precise_data(struct hybrid *state, const struct aftl_host_write *write)
{
	struct aftl_program_request need = { .lpn = write->lpn, .cause = AFTL_CAUSE_HOST };

	if (state->agcr)
		aftl_policy_agcr.stream(state->agcr, write);
	if (aftl_policy_is_preconditioning(&state->policy))
		return STREAM_NONE;
	if (state->ressd && aftl_policy_ressd.stream(state->ressd, write) != AFTL_HOTNESS_COLD)
		return STREAM_UPDATED;
	if (state->tvr && aftl_policy_tvr.stream(state->tvr, write))
		return STREAM_SHORT;
	return state->agcr && aftl_policy_agcr.mode(state->agcr, &need) == AFTL_MODE_COARSE ?
		       STREAM_LOW : STREAM_NONE;
}

/* Approximate and usual precise data share a stream: ApproxFTL's checkerboards mix the two. */
static u32 hybrid_choose_stream(struct aftl_policy *policy, const struct aftl_host_write *write)
{
	return write->class == AFTL_APPROX ?
		       STREAM_NONE :
		       choose_stream_of_precise_data(to_hybrid(policy), write);
}

static void hybrid_prefetch_state(const struct aftl_policy *policy, aftl_lpn_t lpn)
{
	if (to_const_hybrid(policy)->agcr)
		aftl_policy_agcr.prefetch_state(to_const_hybrid(policy)->agcr, lpn);
}

/* AGCR must not rewrite approximate, short-lived or reprogrammed pages: that speeds up no read. */
static void hybrid_record_host_read(struct aftl_policy *policy, aftl_lpn_t lpn, u32 mode)
{
	struct hybrid *state = to_hybrid(policy);

	if (state->agcr && mode != AFTL_MODE_REDUCED && mode != AFTL_MODE_MLC)
		aftl_policy_agcr.host_read(state->agcr, lpn, mode);
}

/* Placement */

static int place_program_in_own_block_of_hybrid(struct aftl_policy *policy, struct aftl_lun *lun,
						const struct aftl_program_request *need,
						struct aftl_placement *placement)
{
	struct own_blocks *own = hybrid_get_own_open_blocks(policy, aftl_lun_index(lun));

	return aftl_place_sequential(policy, lun, need, &own->plain, KIND_PRECISE, placement);
}

static int place_program_in_standard_mode(struct hybrid *state, struct aftl_lun *lun,
					  const struct aftl_program_request *need,
					  struct aftl_placement *placement)
{
	struct aftl_program_request cold = *need;
	int ret;

	cold.stream = STREAM_NONE;
	if (state->approx)
		ret = aftl_policy_approxftl.place(state->approx, lun, &cold, placement);
	else
		ret = place_program_in_own_block_of_hybrid(&state->policy, lun, need, placement);
	if (ret || !state->agcr || placement->mode != AFTL_MODE_NORMAL)
		return ret;
	if (need->stream == STREAM_LOW)
		placement->mode = AFTL_MODE_COARSE;
	else if (need->stream == STREAM_HIGH && need->cause != AFTL_CAUSE_HOST)
		placement->mode = AFTL_MODE_FINE;
	return 0;
}

static int place_short_lived_data(struct aftl_policy *policy, struct aftl_lun *lun,
				  const struct aftl_program_request *need,
				  struct aftl_placement *placement)
{
	struct own_blocks *own = hybrid_get_own_open_blocks(policy, aftl_lun_index(lun));
	int ret = aftl_place_sequential(policy, lun, need, &own->brief, KIND_SHORT, placement);

	if (ret)
		return ret;
	placement->mode = AFTL_MODE_REDUCED;
	return 0;
}

/*
 * Replace the kind of a sequential block of ReSSD: hybrid has one kind for all such blocks, and
 * stores ReSSD's kind in aftl_block.note.
 */
static void hybrid_mark_ressd_block(struct hybrid *state, struct aftl_block *block)
{
	if (block->note & NOTE_RESSD)
		return;
	block->note = NOTE_RESSD | block->kind;
	aftl_policy_set_block_kind(&state->policy, block, KIND_DISPLACED);
}

static void hybrid_close_block_for_gc(struct aftl_policy *policy, struct aftl_lun *lun)
{
	if (to_hybrid(policy)->ressd)
		aftl_policy_ressd.out_of_blocks(to_hybrid(policy)->ressd, lun);
}

/* All lpns of a program use the hotness class that the first lpn has now. */
static int place_updated_data_by_ressd(struct hybrid *state, struct aftl_lun *lun,
				       const struct aftl_program_request *need,
				       struct aftl_placement *placement)
{
	struct aftl_host_write write = { .lpn = need->lpn, .units = need->units };
	struct aftl_program_request hot = *need;
	int ret;

	hot.stream = aftl_policy_ressd.stream(state->ressd, &write);
	ret = aftl_policy_ressd.place(state->ressd, lun, &hot, placement);
	if (ret)
		hybrid_close_block_for_gc(&state->policy, lun);
	else if (placement->block->order == AFTL_ORDER_SEQUENTIAL)
		hybrid_mark_ressd_block(state, placement->block);
	return ret;
}

static bool is_reclaim_of_super_layer_block(const struct aftl_program_request *need)
{
	return need->cause == AFTL_CAUSE_REWRITE && need->from->order == AFTL_ORDER_SUPER_LAYER;
}

static int place_program_by_delegate(struct hybrid *state, struct aftl_lun *lun,
				     const struct aftl_program_request *need,
				     struct aftl_placement *placement)
{
	bool host = need->cause == AFTL_CAUSE_HOST;

	if (state->ressd &&
	    (host ? need->stream == STREAM_UPDATED : is_reclaim_of_super_layer_block(need)) &&
	    !place_updated_data_by_ressd(state, lun, need, placement))
		return 0;
	if (host && need->stream == STREAM_SHORT)
		return place_short_lived_data(&state->policy, lun, need, placement);
	return place_program_in_standard_mode(state, lun, need, placement);
}

/* Followers (cubeFTL) */

/* Find a page of @page's layer that was programmed in @mode before @page; return @page if none. */
static u32 find_leader_page_of_layer(const struct aftl_media *media, const struct aftl_block *block,
				     u32 page, u32 mode)
{
	const struct aftl_geometry *geo = media->geo;
	u32 leader = aftl_first_page_of_word_line(geo, aftl_layer_of_page(geo, page), 0);

	for (; leader < page; leader += geo->program_pages) {
		u16 attr = aftl_block_page_attr(media, block, leader);

		if (attr && aftl_page_mode(attr) == mode)
			return leader;
	}
	return page;
}

static bool block_may_have_followers(const struct hybrid *state, const struct aftl_block *block)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(&state->policy);

	return hybrid_uses_cubeftl(&state->policy) && geo->program_pages == geo->word_line_pages &&
	       block->order != AFTL_ORDER_SUPER_LAYER;
}

/* Monitored result of the leader word line, in @mode, of @page's layer (cubeFTL); 0 if none. */
static u16 hybrid_get_result_of_leader_program(const struct aftl_policy *policy,
					       const struct aftl_block *block, u32 page, u32 mode)
{
	u32 leader = find_leader_page_of_layer(aftl_policy_media(policy), block, page, mode);
	struct aftl_program_result outcome;

	if (leader == page)
		return 0;
	outcome = aftl_policy_monitor_page(policy, block, leader);
	return aftl_encode_leader_program_result(&outcome);
}

static void hybrid_set_follower_ispp(struct aftl_policy *policy, struct aftl_placement *placement)
{
	u16 shown = hybrid_get_result_of_leader_program(policy, placement->block, placement->page,
							placement->mode);
	struct aftl_ispp ispp;

	if (!shown)
		return;
	ispp = aftl_get_follower_ispp(shown);
	placement->note = shown;
	placement->ispp.skip = ispp.skip;
	if (placement->mode != AFTL_MODE_NORMAL)
		return;
	placement->ispp = ispp;
	placement->mode = AFTL_MODE_FOLLOWER;
}

static int hybrid_place_program(struct aftl_policy *policy, struct aftl_lun *lun,
				const struct aftl_program_request *need,
				struct aftl_placement *placement)
{
	struct hybrid *state = to_hybrid(policy);
	int ret = place_program_by_delegate(state, lun, need, placement);

	if (!ret && block_may_have_followers(state, placement->block))
		hybrid_set_follower_ispp(policy, placement);
	return ret;
}

/*
 * Count the word lines after a follower (cubeFTL) that have the same leader: the rest of its layer.
 * None of them is misprogrammed if the parameter misprograms is 0.
 */
static u32 count_followers_to_program(const struct hybrid *state, const struct aftl_block *block)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(&state->policy);
	const struct aftl_media *media = aftl_policy_media(&state->policy);
	u32 page = block->frontier - geo->program_pages;
	u32 word_line = aftl_word_line_of_page(geo, page) % geo->word_lines;

	if (aftl_policy_config(&state->policy)->misprograms ||
	    aftl_page_mode(aftl_block_page_attr(media, block, page)) != AFTL_MODE_FOLLOWER)
		return 0;
	return geo->word_lines - 1 - word_line;
}

static u32 hybrid_count_programs_without_policy(struct aftl_policy *policy, struct aftl_lun *lun,
						const struct aftl_program_request *need,
						const struct aftl_block *block)
{
	struct hybrid *state = to_hybrid(policy);
	u32 run = block_may_have_followers(state, block) ?
			  count_followers_to_program(state, block) :
			  U32_MAX;

	if (run && state->approx)
		run = min(run, aftl_policy_approxftl.fill_run(state->approx, lun, need, block));
	return run;
}

static bool hybrid_check_programmed_page(struct aftl_policy *policy, struct aftl_lun *lun,
					 const struct aftl_placement *placement,
					 const struct aftl_program_result *outcome)
{
	(void)policy;
	(void)lun;
	return aftl_is_word_line_misprogrammed(placement->note, outcome);
}

static u32 hybrid_get_first_read_reference(struct aftl_policy *policy,
					   const struct aftl_block *block, u32 page)
{
	u16 *references = policy->arrays[0];

	return references ? *aftl_layer_read_ref_ptr(policy, references, block, page) : 0;
}

static void hybrid_save_read_reference(struct aftl_policy *policy, const struct aftl_block *block,
				       u32 page, u32 shift)
{
	u16 *references = policy->arrays[0];

	if (references)
		*aftl_layer_read_ref_ptr(policy, references, block, page) = (u16)shift;
}

/* Relocation */

/* If a program writes several units, rewriting a single unit would pad the rest of the program. */
static bool program_has_one_logical_page(const struct aftl_policy *policy)
{
	return aftl_units_per_program(aftl_policy_geometry(policy)) == 1;
}

/* Return true if a rewrite was requested by AGCR, and not because of a misprogrammed page. */
static bool is_rewrite_requested_by_agcr(const struct hybrid *state,
					 const struct aftl_relocation *move)
{
	return program_has_one_logical_page(&state->policy) && !move->bad;
}

static u32 choose_relocation_stream(const struct hybrid *state, const struct aftl_relocation *move)
{
	if (!state->agcr)
		return STREAM_NONE;
	if (move->cause == AFTL_CAUSE_REWRITE && is_rewrite_requested_by_agcr(state, move))
		return STREAM_HIGH;
	if (move->mode == AFTL_MODE_COARSE)
		return STREAM_LOW;
	return move->mode == AFTL_MODE_FINE ? STREAM_HIGH : STREAM_NONE;
}

static u32 choose_relocation_pass(u32 class, u32 stream)
{
	if (class == AFTL_APPROX)
		return PASS_APPROX;
	if (stream == STREAM_LOW)
		return PASS_LOW;
	return stream == STREAM_HIGH ? PASS_HIGH : PASS_PRECISE;
}

/* Relocated pages keep their write cost (AGCR); rewrites in idle time have high write cost. */
static bool hybrid_choose_relocation(struct aftl_policy *policy, const struct aftl_relocation *move,
				     u32 *class, u32 *stream)
{
	struct hybrid *state = to_hybrid(policy);

	if (state->ressd && move->cause == AFTL_CAUSE_REWRITE &&
	    move->from->order == AFTL_ORDER_SUPER_LAYER)
		return aftl_policy_ressd.relocate(state->ressd, move, class, stream);
	if (state->approx)
		aftl_policy_approxftl.relocate(state->approx, move, class, stream);
	*stream = *class == AFTL_APPROX ? STREAM_NONE : choose_relocation_stream(state, move);
	return move->pass == choose_relocation_pass(*class, *stream);
}

static void hybrid_record_invalid_page(struct aftl_policy *policy, struct aftl_block *block,
				       u32 page)
{
	if (to_hybrid(policy)->ressd)
		aftl_policy_ressd.invalidated(to_hybrid(policy)->ressd, block, page);
}

static u32 hybrid_get_victim_rank(struct aftl_policy *policy, struct aftl_lun *lun,
				  const struct aftl_block *block)
{
	struct aftl_policy *approx = to_hybrid(policy)->approx;

	return approx ? aftl_policy_approxftl.victim_rank(approx, lun, block) : 0;
}

static bool hybrid_accept_free_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = to_hybrid(policy)->approx;

	return !approx || aftl_policy_approxftl.accept_free(approx, block);
}

static bool hybrid_allows_shallow_erase(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct aftl_policy *approx = to_hybrid(policy)->approx;

	return approx && aftl_policy_approxftl.shallow_erase(approx, block);
}

static u32 hybrid_get_retention_hours(struct aftl_policy *policy, u32 class, u32 mode)
{
	struct aftl_policy *tvr = to_hybrid(policy)->tvr;

	if (class == AFTL_APPROX)
		return (u32)div64_u64(aftl_policy_config(policy)->refresh, AFTL_HOUR_NS);
	return tvr ? aftl_policy_tvr.retention_hours(tvr, class, mode) : 0;
}

static void hybrid_choose_idle_task(struct aftl_policy *policy, struct aftl_lun *lun,
				    struct aftl_idle_task *task)
{
	struct hybrid *state = to_hybrid(policy);

	if (state->ressd)
		aftl_policy_ressd.idle_task(state->ressd, lun, task);
	if (state->agcr && task->kind == AFTL_IDLE_TASK_NONE &&
	    program_has_one_logical_page(policy))
		aftl_policy_agcr.idle_task(state->agcr, lun, task);
}

/* Restart */

static bool adopt_open_block_of_hybrid(struct aftl_block **open, struct aftl_block *block)
{
	if (*open)
		return false;
	*open = block;
	return true;
}

static bool adopt_ressd_block(struct hybrid *state, struct aftl_lun *lun, struct aftl_block *block)
{
	bool adopted;

	if (!state->ressd)
		return false;
	if (block->order == AFTL_ORDER_SUPER_LAYER)
		return aftl_policy_ressd.adopt(state->ressd, lun, block);
	aftl_policy_set_block_kind(&state->policy, block, block->note & NOTE_RESSD_KIND);
	adopted = aftl_policy_ressd.adopt(state->ressd, lun, block);
	aftl_policy_set_block_kind(&state->policy, block, KIND_DISPLACED);
	return adopted;
}

static bool hybrid_adopt_loaded_block(struct aftl_policy *policy, struct aftl_lun *lun,
				      struct aftl_block *block)
{
	struct own_blocks *own = hybrid_get_own_open_blocks(policy, aftl_lun_index(lun));
	struct hybrid *state = to_hybrid(policy);

	if (block->order == AFTL_ORDER_SUPER_LAYER || block->note & NOTE_RESSD)
		return adopt_ressd_block(state, lun, block);
	if (block->kind == KIND_SHORT)
		return adopt_open_block_of_hybrid(&own->brief, block);
	if (state->approx)
		return aftl_policy_approxftl.adopt(state->approx, lun, block);
	return block->kind == KIND_PRECISE && adopt_open_block_of_hybrid(&own->plain, block);
}

static void hybrid_forget_closed_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	struct hybrid *state = to_hybrid(policy);
	u32 lun;

	if (state->approx)
		aftl_policy_approxftl.closed(state->approx, block);
	if (state->ressd)
		aftl_policy_ressd.closed(state->ressd, block);
	for (lun = 0; lun < aftl_policy_count_luns(policy); lun++) {
		struct own_blocks *own = hybrid_get_own_open_blocks(policy, lun);

		if (own->plain == block)
			own->plain = NULL;
		if (own->brief == block)
			own->brief = NULL;
	}
}

const struct aftl_policy_type aftl_policy_hybrid = {
	.name = "hybrid",
	.about = "combination of approxftl, cubeftl, agcr, tvr and ressd",
	.kinds = { "checkerboard", "precise", "phase1", "phase2", "all_approx", "displaced",
		   "reprogrammable", "short_lived" },
	.streams = { "usual", "updated", "short_lived", "low_cost", "high_cost" },
	/* ApproxFTL: 5; ReSSD: 1 per hot class, 1 for data displaced by reprograms; TVR: 1 */
	.open_blocks = 5 + (AFTL_HOTNESS_CLASSES - 1) + 1 + 1,
	.no_parity = true,
	.reserve = 5 + 1,
	.copy_passes = PASSES,
	.least_steps = 2,
	.size = sizeof(struct hybrid),
	.lun_size = sizeof(struct own_blocks),
	.arrays = { { AFTL_REFERENCE_TABLE, .wanted = hybrid_uses_cubeftl } },
	.params = { &group },
	.create = hybrid_create,
	.adopt = hybrid_adopt_loaded_block,
	.save_state_word = hybrid_save_state_word,
	.restore_state_word = hybrid_restore_state_word,
	.closed = hybrid_forget_closed_block,
	.stream = hybrid_choose_stream,
	.prefetch_state = hybrid_prefetch_state,
	.host_read = hybrid_record_host_read,
	.place = hybrid_place_program,
	.fill_run = hybrid_count_programs_without_policy,
	.out_of_blocks = hybrid_close_block_for_gc,
	.programmed = hybrid_check_programmed_page,
	.invalidated = hybrid_record_invalid_page,
	.reference = hybrid_get_first_read_reference,
	.reference_found = hybrid_save_read_reference,
	.victim_rank = hybrid_get_victim_rank,
	.relocate = hybrid_choose_relocation,
	.shallow_erase = hybrid_allows_shallow_erase,
	.accept_free = hybrid_accept_free_block,
	.retention_hours = hybrid_get_retention_hours,
	.idle_task = hybrid_choose_idle_task,
};
