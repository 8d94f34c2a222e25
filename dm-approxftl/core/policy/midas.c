// SPDX-License-Identifier: GPL-2.0-only
/*
 * MiDAS: a chain of groups of blocks, whose number and sizes follow from models of the load.
 *
 * S. Oh, J. Kim, S. Han, J. Kim, S. Lee, S. H. Noh, "MIDAS: Minimizing Write Amplification in
 * Log-Structured Systems through Adaptive Group Number and Size Configuration", FAST 2024, and its
 * supplemental material. Written from the text; time is counted in pages written by the host.
 *
 * Host data enters group 1, or group HOT if the version that it replaces did not live long. A group
 * that is larger than its size gives up its oldest block, whose valid data moves to the next group;
 * HOT's moves to group 1. The last group has the rest of the space, and collects its block with the
 * least valid data.
 *
 * The update interval distribution (UID) is a histogram of the ages at which data is overwritten.
 * The Markov chain model (MCAM) follows from it: data leaves group i at the age at which its size
 * has been written to it, and the share that is still valid then moves on. At the end of an epoch
 * the sizes with the least predicted write amplification are searched, and a group is merged with
 * its successors if its blocks have not the predicted valid data.
 *
 * Simplifications and differences:
 * - each LUN has groups, of the same sizes: blocks are collected within a LUN;
 * - the paper samples the pages for the UID and counts intervals in coarse units; here every page
 *   has a time (4 bytes), and the histogram is logarithmic, with four bins for each octave;
 * - hot is what was overwritten before it left group 1, without counters of past decisions; the
 *   size of HOT is searched with the model, from the UID of hot data, instead of by trial;
 * - the model of the last group is that of the chain, too: its data stays for a while, is rewritten
 *   and stays again. The supplemental material takes Desnoyers' model for two classes of data, and
 *   divides them by their last interval: where all data of the group has one update rate, that
 *   predicts too little (1.9 for 2.8 on a load of 80/20);
 * - the search adds one group at a time and tries all its sizes in steps of 1/64 of the LUN, with
 *   the sizes of the groups before it fixed; at most seven groups and HOT (AFTL_KINDS_MAX);
 * - the search is spread over host writes: each evaluates the model for at most one configuration;
 * - the epoch is one write of all logical pages; each halves the weight of older intervals; and a
 *   configuration changes only if 0.8 % is to be gained;
 * - a merge lasts one epoch, and a group is irregular if it is off by a tenth of its blocks.
 */
#include "core/policy/ftl-policy.h"
#include "core/policy/policies.h"

enum { HOT, FIRST, GROUPS = AFTL_KINDS_MAX };

#define BINS_PER_OCTAVE 4
#define OCTAVES 31

enum { BINS = OCTAVES * BINS_PER_OCTAVE };

#define ONE_Q16 ((u32)BIT(16))

/*
 * Number of sizes that the search tries for each group. A new group or configuration is used only
 * if the write amplification falls by at least 1 / 2^GAIN_SHIFT of its value.
 */
#define SIZES 64
#define GAIN_SHIFT 7

/* The model of the last group sums ROUNDS relocations; STAY_BITS: precision of their interval. */
#define ROUNDS 16
#define STAY_BITS 8
#define WAF_MAX_Q16 ((u64)U32_MAX)

/*
 * If there are several groups, the model leaves out 1 / MARGIN of the last one: when that group is
 * nearly full of valid data, its write amplification grows faster than the precision of the model
 * allows.
 */
#define MARGIN 32

/* A group is irregular if its share of valid data differs by more than this from the model's. */
#define IRREGULAR_Q16 (ONE_Q16 / 10)
#define IRREGULAR_BLOCKS 16

/* Stamp of an lpn: the time of its last host write, 0 if none; and whether the data were hot. */
#define STAMP_TIME 0x7fffffffU
#define STAMP_HOT 0x80000000U

/* In the phase SEARCH_COUNT each host write counts the valid data of this many blocks. */
#define COUNTED_BLOCKS 64

/* Phases of the search for the group sizes; each host write takes one step of the search. */
enum { SEARCH_IDLE, SEARCH_COUNT, SEARCH_CHECK, SEARCH_BASE, SEARCH_SIZE, SEARCH_END };

/*
 * Arrays of the policy. STAMPS: stamp of each lpn. TARGETS: by block, the group to which GC is
 * moving the block's data, or 0. STATE: struct midas_state.
 */
enum { STAMPS, TARGETS, STATE };

/**
 * struct layout - sizes of the groups
 * @groups: number of the last group
 * @blocks: blocks in each LUN: for group HOT (hot data), and for the groups before the last one
 */
struct layout {
	u64 groups;
	u64 blocks[GROUPS];
};

/**
 * struct search - search of the configuration, spread over host writes
 * @phase: SEARCH_*
 * @counted: blocks counted so far
 * @usable: number of counted blocks that are not bad
 * @valid: valid ppns in the usable blocks
 * @most: largest number of groups
 * @group: group whose size is searched
 * @blocks: next size of @group to try
 * @base: best configuration without @group
 * @base_q16: write amplification of @base
 * @best: best configuration so far
 * @best_q16: write amplification of @best
 */
struct search {
	u64 phase;
	u64 counted;
	u64 usable;
	u64 valid;
	u64 most;
	u64 group;
	u64 blocks;
	struct layout base;
	u64 base_q16;
	struct layout best;
	u64 best_q16;
};

/**
 * struct midas_state - saved state
 * @now: host writes so far
 * @epoch_ends: time at which the configuration is reconsidered
 * @hot_age: age below which overwritten data makes the new version hot
 * @settled: the last epoch did not change the configuration
 * @layout: the configuration
 * @collected: blocks that each group has given up in this epoch
 * @moved: ppns that were valid in these blocks
 * @search: the search for the next configuration
 * @updates: histograms of update intervals in this epoch, of other and of hot data
 * @history: histograms of earlier epochs, from which the curves follow
 */
struct midas_state {
	u64 now;
	u64 epoch_ends;
	u64 hot_age;
	u64 settled;
	struct layout layout;
	u64 collected[GROUPS];
	u64 moved[GROUPS];
	struct search search;
	u64 updates[2][BINS];
	u64 history[2][BINS];
};

/**
 * struct curve - share of the hot data, or of all other data, that is still valid, by age
 * @share_q16: share of the host writes that write such data
 * @tail_q16: by age bin, share of the data that is still valid at the lower end of the bin
 * @area: by age bin, integral of @tail_q16 up to the lower end of the bin, in host writes
 */
struct curve {
	u32 share_q16;
	u32 tail_q16[BINS + 1];
	u64 area[BINS + 1];
};

/**
 * struct midas - an instance of the policy
 * @policy: must be first
 * @curves: how long data stays valid, from earlier epochs: data that is not hot, then hot data
 * @space: ppns for data of all LUNs, at the last count
 * @valid: valid ppns, at the last count
 * @lun_space: blocks for data in a LUN, at the last count
 */
struct midas {
	struct aftl_policy policy;
	struct curve curves[2];
	u64 space;
	u64 valid;
	u32 lun_space;
};

static struct midas_state *midas_state(const struct aftl_policy *policy)
{
	return aftl_device_state(policy, STATE, struct midas_state);
}

/* Lower ends of the histogram bins of an octave, relative to the octave's start. */
static const u32 fractions_q16[BINS_PER_OCTAVE] = { 65536, 77936, 92682, 110218 };

/* Histogram bin of a rewrite interval, which is at least 1. */
static u32 find_bin_of_rewrite_interval(u64 interval)
{
	u32 octave = fls64(interval) - 1;
	u64 fraction_q16 = octave < 16 ? interval << (16 - octave) : interval >> (octave - 16);
	u32 i = BINS_PER_OCTAVE - 1;

	while (fraction_q16 < fractions_q16[i])
		i--;
	return min_t(u32, octave * BINS_PER_OCTAVE + i, BINS - 1);
}

/* Return the shortest rewrite interval of a histogram bin. */
static u64 min_interval_of_bin(u32 bin)
{
	if (!bin)
		return 0;
	return ((u64)fractions_q16[bin % BINS_PER_OCTAVE] << (bin / BINS_PER_OCTAVE)) >> 16;
}

static void compute_survival_curve(struct curve *curve, const u64 *updates, u64 all)
{
	u64 total = 0;
	u64 rest;
	u32 i;

	for (i = 0; i < BINS; i++)
		total += updates[i];
	curve->share_q16 = (u32)div64_u64(total << 16, max(all, 1ULL));
	rest = total;
	for (i = 0; i <= BINS; i++) {
		curve->tail_q16[i] = (u32)div64_u64(rest << 16, max(total, 1ULL));
		rest -= i < BINS ? updates[i] : 0;
		curve->area[i] =
			!i ? 0 :
			     curve->area[i - 1] +
					((min_interval_of_bin(i) - min_interval_of_bin(i - 1)) *
						 (curve->tail_q16[i] + curve->tail_q16[i - 1]) >>
					 17);
	}
}

/* Interpolate a curve at @age, with values @low and @high at the ends of @bin. */
static u64 interpolate_curve_at_age(u64 age, u32 bin, u64 low, u64 high)
{
	u64 width = max(min_interval_of_bin(bin + 1) - min_interval_of_bin(bin), 1ULL);
	u64 part = age - min(min_interval_of_bin(bin), age);
	u64 part_q16 = div64_u64(part << 16, width);

	return low <= high ? low + ((high - low) * part_q16 >> 16) :
			     low - ((low - high) * part_q16 >> 16);
}

static u64 get_valid_share_at_age_q16(const struct curve *curve, u64 age)
{
	u32 bin = find_bin_of_rewrite_interval(max(age, 1ULL));

	return age >= min_interval_of_bin(BINS) ?
		       0 :
		       interpolate_curve_at_age(age, bin, curve->tail_q16[bin],
						curve->tail_q16[bin + 1]);
}

static u64 compute_survival_integral_up_to_age(const struct curve *curve, u64 age)
{
	u32 bin = find_bin_of_rewrite_interval(max(age, 1ULL));

	return age >= min_interval_of_bin(BINS) ?
		       curve->area[BINS] :
		       interpolate_curve_at_age(age, bin, curve->area[bin], curve->area[bin + 1]);
}

/* Share of all host writes whose data are still valid after @age in the chain of groups. */
static u64 compute_valid_share_at_group_age_q16(const struct midas *midas, u64 hot_stay, u64 age)
{
	const struct curve *curves = midas->curves;

	return (curves[0].share_q16 * get_valid_share_at_age_q16(&curves[0], age) +
		curves[1].share_q16 * get_valid_share_at_age_q16(&curves[1], age + hot_stay)) >> 16;
}

/* Count valid ppns whose data have been in the chain of groups for less than @age. */
static u64 count_valid_ppns_younger_than_age(const struct midas *midas, u64 hot_stay, u64 age)
{
	const struct curve *curves = midas->curves;

	return (curves[0].share_q16 * compute_survival_integral_up_to_age(&curves[0], age) >> 16) +
	       (curves[1].share_q16 *
			(compute_survival_integral_up_to_age(&curves[1], age + hot_stay) -
			 compute_survival_integral_up_to_age(&curves[1], hot_stay)) >>
		16);
}

/*
 * Count the ppns that the last group takes if data enters it at @age, and GC relocates the data
 * that are still valid after every @stay host writes.
 */
static u64 count_ppns_used_by_last_group(const struct midas *midas, u64 hot_stay, u64 age, u64 stay)
{
	u64 sum_q16 = 0;
	u32 i;

	for (i = 0; i < ROUNDS; i++)
		sum_q16 += compute_valid_share_at_group_age_q16(midas, hot_stay, age + i * stay);
	return (stay * sum_q16 >> 16) +
	       count_valid_ppns_younger_than_age(midas, hot_stay, min_interval_of_bin(BINS)) -
	       count_valid_ppns_younger_than_age(midas, hot_stay, age + ROUNDS * stay);
}

/* Programs in the last group per host write, in 2^-16, for @space ppns of which @held are valid. */
static u64 predict_program_rate_of_last_group_q16(const struct midas *midas, u64 hot_stay, u64 age,
						  u64 space, u64 held)
{
	u64 later = count_valid_ppns_younger_than_age(midas, hot_stay, min_interval_of_bin(BINS)) -
		    count_valid_ppns_younger_than_age(midas, hot_stay, age);
	/* Data that is never overwritten is in no histogram; the space that it takes is fixed. */
	u64 fixed = held - min(later, held);
	u64 step = min_interval_of_bin(BINS - 1);
	u64 stay = 0;

	for (; step > stay >> STAY_BITS; step >>= 1)
		if (count_ppns_used_by_last_group(midas, hot_stay, age, stay + step) + fixed <=
		    space)
			stay += step;
	return stay ? div64_u64(space << 16, stay) : WAF_MAX_Q16;
}

static u64 count_ppns_of_blocks(const struct midas *midas, u64 blocks)
{
	return div64_u64(midas->space * blocks, midas->lun_space);
}

/* Predict for how many host writes hot data stays in the group HOT before GC moves it. */
static u64 predict_time_in_hot_group(const struct midas *midas, const struct layout *layout)
{
	return div64_u64(count_ppns_of_blocks(midas, layout->blocks[HOT]) << 16,
			 max(midas->curves[1].share_q16, 1U));
}

/**
 * predict_waf_q16() - write amplification of a configuration
 * @midas: the policy, with current curves
 * @layout: configuration
 * @valid_q16: takes the share of valid data in the blocks that each group gives up; may be NULL
 *
 * Return: U64_MAX if the data does not fit.
 */
static u64 predict_waf_q16(const struct midas *midas, const struct layout *layout, u64 *valid_q16)
{
	u64 hot_stay = predict_time_in_hot_group(midas, layout);
	u64 hot_q16 = midas->curves[1].share_q16;
	u64 moves_q16 = hot_q16 * get_valid_share_at_age_q16(&midas->curves[1], hot_stay) >> 16;
	u64 enters_q16 = compute_valid_share_at_group_age_q16(midas, hot_stay, 0);
	u64 waf_q16 = ONE_Q16 + moves_q16;
	/* Per group 1.5 blocks: half of its open block is free, and it may be one too large. */
	u64 unused = count_ppns_of_blocks(midas, 3 * (layout->groups + !!layout->blocks[HOT])) / 2;
	u64 space = midas->space - count_ppns_of_blocks(midas, layout->blocks[HOT]);
	u64 age = 0;
	u64 held;
	u32 i;

	if (valid_q16)
		valid_q16[HOT] = div64_u64(moves_q16 << 16, max(hot_q16, 1ULL));
	for (i = FIRST; i < layout->groups; i++) {
		u64 group = count_ppns_of_blocks(midas, layout->blocks[i]);
		u64 leaves_q16;

		age += div64_u64(group << 16, max(enters_q16, 1ULL));
		leaves_q16 = compute_valid_share_at_group_age_q16(midas, hot_stay, age);
		if (valid_q16)
			valid_q16[i] = div64_u64(leaves_q16 << 16, max(enters_q16, 1ULL));
		waf_q16 += leaves_q16;
		enters_q16 = leaves_q16;
		space -= min(space, group);
	}
	space -= min(space, unused);
	space -= layout->groups > FIRST ? space / MARGIN : 0;
	held = count_valid_ppns_younger_than_age(midas, hot_stay, age) +
	       (hot_q16 * compute_survival_integral_up_to_age(&midas->curves[1], hot_stay) >> 16);
	held = midas->valid - min(held, midas->valid - 1);
	if (held + held / 64 >= space)
		return U64_MAX;
	return waf_q16 - enters_q16 +
	       predict_program_rate_of_last_group_q16(midas, hot_stay, age, space, held);
}

/* Return the first group whose valid data are not as many as predicted; GROUPS - 1 if none. */
static u32 midas_find_irregular_group(const struct midas *midas, const struct midas_state *state)
{
	u32 ppns = aftl_policy_geometry(&midas->policy)->block_ppns;
	u64 predicted_q16[GROUPS] = { 0 };
	u32 i;

	predict_waf_q16(midas, &state->layout, predicted_q16);
	for (i = FIRST; i < state->layout.groups; i++) {
		u64 found_q16 = div64_u64(state->moved[i] << 16,
					  max(state->collected[i] * ppns, 1ULL));
		u64 high = max(found_q16, predicted_q16[i]);

		if (state->collected[i] >= IRREGULAR_BLOCKS &&
		    high - min(found_q16, predicted_q16[i]) > IRREGULAR_Q16)
			return i;
	}
	return GROUPS - 1;
}

/* Compute the survival curves of data and the space for data from the saved state. */
static void midas_prepare_model(struct midas *midas)
{
	const struct midas_state *state = midas_state(&midas->policy);
	const struct aftl_geometry *geo = aftl_policy_geometry(&midas->policy);
	u64 all = 0;
	u32 i;

	for (i = 0; i < BINS; i++)
		all += state->history[0][i] + state->history[1][i];
	for (i = 0; i < 2; i++)
		compute_survival_curve(&midas->curves[i], state->history[i], all);
	/* Each LUN keeps two blocks without data: a free block and a block of the reserve. */
	midas->lun_space = max((u32)state->search.usable / geo->luns, 3U) - 2;
	midas->space = (u64)midas->lun_space * geo->luns * geo->block_ppns;
	midas->valid = state->search.valid + 1;
}

/* End an epoch: begin a search, and halve the weight of earlier epochs. */
static void midas_end_histogram_epoch(struct midas *midas)
{
	struct midas_state *state = midas_state(&midas->policy);
	u32 units = aftl_policy_geometry(&midas->policy)->units;
	u64 all = 0;
	u32 i;

	for (i = 0; i < BINS; i++)
		all += state->updates[0][i] + state->updates[1][i] + state->history[0][i] / 2 +
		       state->history[1][i] / 2;
	state->epoch_ends = state->now + units;
	/* Do not search yet if most writes were first writes: they give no rewrite intervals. */
	if (all < units / 2)
		return;
	for (i = 0; i < BINS; i++) {
		state->history[0][i] = state->history[0][i] / 2 + state->updates[0][i];
		state->history[1][i] = state->history[1][i] / 2 + state->updates[1][i];
	}
	memset(state->updates, 0, sizeof(state->updates));
	state->search = (struct search){ .phase = SEARCH_COUNT, .most = GROUPS - 1 };
}

static void midas_count_valid_ppns_and_usable_blocks(struct midas *midas, struct search *search)
{
	const struct aftl_media *media = aftl_policy_media(&midas->policy);
	u64 end = min_t(u64, search->counted + COUNTED_BLOCKS, media->geo->blocks);

	for (; search->counted < end; search->counted++) {
		const struct aftl_block *block = &media->blocks[search->counted];

		search->valid += block->valid;
		search->usable += block->state != AFTL_BLOCK_BAD;
	}
	if (end < media->geo->blocks)
		return;
	midas_prepare_model(midas);
	search->phase = SEARCH_CHECK;
}

/* Next, let the search try sizes of @group, added to the best configuration without @group. */
static void midas_search_begin_trying_group_sizes(const struct midas *midas, struct search *search,
						  u32 group)
{
	search->phase = SEARCH_SIZE;
	search->group = group;
	search->blocks = max(midas->lun_space / SIZES, 1U);
	search->best = search->base;
	search->best_q16 = search->base_q16;
}

/* Try one size of the group; after the last size begin the next group, or end the search. */
static void midas_search_try_group_size(const struct midas *midas, struct search *search)
{
	struct layout trial = search->base;
	bool gain;
	u64 waf_q16;

	if (search->blocks < midas->lun_space) {
		if (search->group != HOT)
			trial.groups = max(trial.groups, search->group + 1);
		trial.blocks[search->group] = search->blocks;
		waf_q16 = predict_waf_q16(midas, &trial, NULL);
		if (waf_q16 < search->best_q16) {
			search->best = trial;
			search->best_q16 = waf_q16;
		}
		search->blocks += max(midas->lun_space / SIZES, 1U);
		return;
	}
	if (search->group == HOT) {
		search->phase = SEARCH_END;
		return;
	}
	gain = search->best_q16 < search->base_q16 - (search->base_q16 >> GAIN_SHIFT);
	if (gain) {
		search->base = search->best;
		search->base_q16 = search->best_q16;
	}
	midas_search_begin_trying_group_sizes(midas, search,
					      gain && search->group + 1 < search->most ?
						      (u32)search->group + 1 :
						      HOT);
}

/* Set the age below which overwritten data counts as hot: the age at which data leaves group 1. */
static void midas_set_age_limit_of_hot_data(const struct midas *midas, struct midas_state *state)
{
	u64 hot_stay = predict_time_in_hot_group(midas, &state->layout);

	if (state->layout.groups > FIRST)
		state->hot_age =
			hot_stay +
			div64_u64(count_ppns_of_blocks(midas, state->layout.blocks[FIRST]) << 16,
				  max(compute_valid_share_at_group_age_q16(midas, hot_stay, 0),
				      1ULL));
}

/*
 * Take the best configuration if it gains enough. If the data does not fit the configuration in
 * use, take the best one even if the data does not fit that either.
 */
static void midas_search_take_best_group_sizes(const struct midas *midas, struct midas_state *state)
{
	const struct search *search = &state->search;
	u64 now_q16 = predict_waf_q16(midas, &state->layout, NULL);

	state->settled = true;
	if (search->best_q16 < now_q16 - (now_q16 >> GAIN_SHIFT) || now_q16 == U64_MAX ||
	    search->most < state->layout.groups) {
		state->layout = search->best;
		state->settled = false;
	}
	midas_set_age_limit_of_hot_data(midas, state);
	memset(state->collected, 0, sizeof(state->collected));
	memset(state->moved, 0, sizeof(state->moved));
	state->search.phase = SEARCH_IDLE;
}

/* One step of the search: it evaluates the model for at most one configuration. */
static void midas_execute_group_size_search_step(struct midas *midas)
{
	struct midas_state *state = midas_state(&midas->policy);
	struct search *search = &state->search;

	switch (search->phase) {
	case SEARCH_COUNT:
		midas_count_valid_ppns_and_usable_blocks(midas, search);
		break;
	case SEARCH_CHECK:
		if (state->settled)
			search->most = midas_find_irregular_group(midas, state);
		search->phase = SEARCH_BASE;
		break;
	case SEARCH_BASE:
		search->base = (struct layout){ .groups = FIRST };
		search->base_q16 = predict_waf_q16(midas, &search->base, NULL);
		midas_search_begin_trying_group_sizes(midas, search,
						      search->most > FIRST ? FIRST : HOT);
		break;
	case SEARCH_SIZE:
		midas_search_try_group_size(midas, search);
		break;
	case SEARCH_END:
		midas_search_take_best_group_sizes(midas, state);
		break;
	default:
		if (state->now >= state->epoch_ends)
			midas_end_histogram_epoch(midas);
	}
}

static u32 midas_choose_group_of_host_write(struct aftl_policy *policy, aftl_lpn_t lpn)
{
	struct midas_state *state = midas_state(policy);
	u32 *stamp = aftl_lpn_state(policy, STAMPS, u32, lpn);
	u64 interval = (++state->now - *stamp) & STAMP_TIME;
	bool hot = *stamp && interval < state->hot_age;

	if (*stamp)
		state->updates[*stamp >= STAMP_HOT]
			      [find_bin_of_rewrite_interval(max(interval, 1ULL))]++;
	*stamp = max((u32)state->now & STAMP_TIME, 1U) | (hot ? STAMP_HOT : 0);
	midas_execute_group_size_search_step(container_of(policy, struct midas, policy));
	return hot && state->layout.blocks[HOT] ? HOT : FIRST;
}

/* All data of a block moves to the same group, even if the configuration changes meanwhile. */
static u32 midas_choose_stream(struct aftl_policy *policy, const struct aftl_page_write *page)
{
	u32 last = max_t(u32, midas_state(policy)->layout.groups, FIRST);
	u8 *target;

	if (!page->from)
		return midas_choose_group_of_host_write(policy, page->lpn);
	target = aftl_block_state(policy, TARGETS, u8, page->from);
	if (!*target)
		*target = min_t(u8, page->from->kind + 1, last);
	return *target;
}

static void midas_record_opened_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	*aftl_block_state(policy, TARGETS, u8, block) = 0;
}

static void count_closed_blocks_by_group(const struct aftl_victim_candidates *closed,
					 u32 count[GROUPS])
{
	const struct aftl_media *media = aftl_policy_media(closed->policy);
	size_t blocks = media->geo->blocks_per_lun;
	const struct aftl_block *block = &media->blocks[aftl_lun_index(closed->lun) * blocks];
	const struct aftl_block *end = block + blocks;

	for (; block < end; block++)
		count[block->kind] += block->state == AFTL_BLOCK_CLOSED;
}

/* Select the oldest block of @group; in the last group the one with the least valid data. */
static struct aftl_block *select_victim_of_group(const struct aftl_victim_candidates *closed,
						 u32 group, bool last)
{
	struct aftl_block *block = NULL;
	struct aftl_block *best = NULL;

	while ((block = aftl_victim_candidates_next(closed, block))) {
		if (last ? block->kind < group : block->kind != group)
			continue;
		if (!best || (last ? block->valid < best->valid :
				     block->opened_ns < best->opened_ns))
			best = block;
	}
	return best;
}

static struct aftl_block *midas_select_victim(struct aftl_policy *policy,
					      const struct aftl_victim_candidates *closed)
{
	struct midas_state *state = midas_state(policy);
	const struct layout *layout = &state->layout;
	struct aftl_block *victim = NULL;
	u32 count[GROUPS] = { 0 };
	u32 i;

	count_closed_blocks_by_group(closed, count);
	for (i = HOT; i < layout->groups && !victim; i++) {
		if (count[i] <= layout->blocks[i])
			continue;
		victim = select_victim_of_group(closed, i, false);
		if (victim) {
			state->collected[i]++;
			state->moved[i] += victim->valid;
		}
	}
	return victim ? victim : select_victim_of_group(closed, (u32)layout->groups, true);
}

static void sanitize_loaded_group_layout(struct layout *layout)
{
	u32 i;

	layout->groups = min_t(u64, layout->groups, GROUPS - 1);
	for (i = 0; i < GROUPS; i++)
		layout->blocks[i] = min_t(u64, layout->blocks[i], U32_MAX / GROUPS);
}

static void midas_sanitize_loaded_state(struct aftl_policy *policy)
{
	const struct aftl_geometry *geo = aftl_policy_geometry(policy);
	struct midas_state *state = midas_state(policy);
	struct search *search = &state->search;
	u32 i;

	for (i = 0; i < geo->blocks; i++)
		aftl_block_state(policy, TARGETS, u8, aftl_policy_media(policy)->blocks)[i] %=
			GROUPS;
	state->epoch_ends = min(state->epoch_ends, state->now + U32_MAX);
	for (i = 0; i < 2 * BINS; i++) {
		u64 *updates = &state->updates[i % 2][i / 2];
		u64 *history = &state->history[i % 2][i / 2];

		*updates = min_t(u64, *updates, U32_MAX);
		*history = min_t(u64, *history, U32_MAX);
	}
	for (i = 0; i < GROUPS; i++) {
		state->collected[i] = min_t(u64, state->collected[i], U32_MAX / GROUPS);
		state->moved[i] = min_t(u64, state->moved[i], U32_MAX);
	}
	sanitize_loaded_group_layout(&state->layout);
	sanitize_loaded_group_layout(&search->base);
	sanitize_loaded_group_layout(&search->best);
	search->counted = min_t(u64, search->counted, geo->blocks);
	search->usable = min_t(u64, search->usable, geo->blocks);
	search->valid = min_t(u64, search->valid, U32_MAX);
	search->most = min_t(u64, search->most, GROUPS - 1);
	search->group = min_t(u64, search->group, GROUPS - 2);
	search->blocks = min_t(u64, search->blocks, geo->blocks);
	midas_prepare_model(container_of(policy, struct midas, policy));
}

static const struct aftl_ftl_policy methods = {
	.clock = STATE,
	.stream = midas_choose_stream,
	.select_victim = midas_select_victim,
	.block_opened = midas_record_opened_block,
	.restored = midas_sanitize_loaded_state,
};

const struct aftl_policy_type aftl_policy_midas = {
	.name = "midas",
	.about = "page mapping, a chain of groups whose number and sizes follow the load",
	.size = sizeof(struct midas),
	.arrays = {
		[STAMPS] = AFTL_STATE(AFTL_PER_LPN, u32, u32),
		[TARGETS] = AFTL_STATE(AFTL_PER_BLOCK, u8, u8),
		[STATE] = AFTL_STATE(AFTL_PER_DEVICE, struct midas_state, u64),
	},
	AFTL_FTL_POLICY(&methods, GROUPS, 1),
	.fill_run = aftl_fill_to_block_end,
	AFTL_FTL_STREAMS("hot", "group_1", "group_2", "group_3", "group_4", "group_5", "group_6",
			 "group_7"),
};
