// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "distributions.h"

/*
 * Exponential draws: the number of whole multiples of ln 2 is geometric with probability one
 * half, which is a count of leading zeroes. The rest is exponential below ln 2: Ahrens and
 * Dieter's algorithm SA takes the smallest of k uniform draws for it, with k from the series of
 * e^(ln 2).
 */

void exponential_init(struct exponential *exponential)
{
	u64 term = FIXED_LN2_Q64;
	u64 sum = term;

	for (u32 i = 0; i < EXPONENTIAL_TERMS - 1; i++) {
		exponential->sum_q64[i] = sum;
		term = fixed_multiply_take_high_64_bits(term, FIXED_LN2_Q64) / (i + 2);
		sum += term;
	}
	/* Further terms ln(2)^i / i! round to 0: set the last partial sum to their limit, 1. */
	exponential->sum_q64[EXPONENTIAL_TERMS - 1] = U64_MAX;
}

static u64 draw_smallest_of_uniform_draws(const struct exponential *exponential, u64 level,
					  struct aftl_random *random)
{
	u64 smallest = aftl_random_next(random);
	u32 i = 0;

	do {
		u64 draw = aftl_random_next(random);

		smallest = min(smallest, draw);
	} while (level > exponential->sum_q64[++i]);
	return smallest;
}

u64 exponential_draw_q32(const struct exponential *exponential, struct aftl_random *random)
{
	u64 halvings = 64 - fls64(aftl_random_next(random));
	u64 whole_q32 = halvings * (FIXED_LN2_Q64 >> 32);
	u64 level = aftl_random_next(random);

	if (level <= exponential->sum_q64[0])
		return whole_q32 + (level >> 32);
	level = draw_smallest_of_uniform_draws(exponential, level, random);
	return whole_q32 + (fixed_multiply_take_high_64_bits(level, FIXED_LN2_Q64) >> 32);
}

/*
 * Zipf draws: ranks are grouped into bins, at first of one rank each, later 2^7 bins for each
 * power of two. A bin is drawn by its size times the weight of its first rank; a rank in it is
 * then accepted by its own weight, which is at most 1 % smaller. So every rank has exactly its
 * weight.
 */

#define BIN_BITS 7
#define GUIDE_BITS 12

struct zipf_bin {
	u64 end; /* upper end of the range of random draws that select this Zipf bin */
	u64 weight; /* weight of the first rank of the Zipf bin, in 2^-62 */
	u64 sure; /* lower bound of the weights of the bin's ranks, relative to @weight, in 2^-62 */
	u64 first; /* first rank of the Zipf bin, counted from 1 */
	u32 ranks;
};

struct zipf {
	u64 skew_q32;
	struct fixed_roots roots;
	u64 total;
	u32 bins;
	u32 guide_shift;
	u32 guide[(1 << GUIDE_BITS) + 1];
	struct zipf_bin bin[];
};

static u64 compute_zipf_weight_of_rank(const struct zipf *zipf, u64 rank)
{
	__uint128_t y = (__uint128_t)fixed_log2_q32(rank) * zipf->skew_q32 >> 32;

	return fixed_exp2_q62(&zipf->roots, y >> 38 ? 1ULL << 38 : (u64)y);
}

/* Return the number of ranks of the Zipf bin that begins with rank @first. */
static u32 get_zipf_bin_width(u64 first)
{
	u32 bits = fls64(first);

	return bits > BIN_BITS + 1 ? 1U << (bits - BIN_BITS - 1) : 1;
}

static u32 count_zipf_bins(u64 n)
{
	u32 bins = 0;

	for (u64 first = 1; first <= n; first += get_zipf_bin_width(first))
		bins++;
	return bins;
}

static u64 compute_ratio_q62(u64 part, u64 whole)
{
	return whole ? (u64)(((__uint128_t)part << 62) / whole) : 0;
}

static void fill_zipf_bin(const struct zipf *zipf, struct zipf_bin *bin, u64 first, u64 n)
{
	bin->first = first;
	bin->ranks = (u32)min((u64)get_zipf_bin_width(first), n - first + 1);
	bin->weight = compute_zipf_weight_of_rank(zipf, first);
	bin->sure =
		compute_ratio_q62(compute_zipf_weight_of_rank(zipf, first + bin->ranks - 1),
				  bin->weight);
}

static __uint128_t compute_zipf_bin_mass(const struct zipf_bin *bin)
{
	return (__uint128_t)bin->weight * bin->ranks;
}

/* Add up the weights of the Zipf bins, scaled such that the sum fits 63 bits. */
static void accumulate_zipf_bins(struct zipf *zipf)
{
	__uint128_t sum = 0;
	unsigned int shift = 0;
	u32 i;

	for (i = 0; i < zipf->bins; i++)
		sum += compute_zipf_bin_mass(&zipf->bin[i]);
	while (sum >> shift >> 63)
		shift++;
	for (i = 0, sum = 0; i < zipf->bins; i++) {
		sum += compute_zipf_bin_mass(&zipf->bin[i]);
		zipf->bin[i].end = sum >> shift;
	}
	zipf->total = sum >> shift;
}

/* Fill the table of the first Zipf bin to search, by the first bits of a random draw. */
static void fill_zipf_guide_table(struct zipf *zipf)
{
	unsigned int bits = fls64(zipf->total);
	u32 bin = 0;

	zipf->guide_shift = bits > GUIDE_BITS ? bits - GUIDE_BITS : 0;
	for (u64 i = 0; i < ARRAY_SIZE(zipf->guide); i++) {
		while (bin + 1 < zipf->bins && zipf->bin[bin].end <= i << zipf->guide_shift)
			bin++;
		zipf->guide[i] = bin;
	}
}

struct zipf *zipf_create(u64 n, u64 skew_q32)
{
	u32 bins = count_zipf_bins(n);
	struct zipf *zipf = memory_alloc_zeroed(1, sizeof(*zipf) + bins * sizeof(zipf->bin[0]));
	u64 first = 1;

	zipf->bins = bins;
	zipf->skew_q32 = skew_q32;
	init_repeated_square_roots_of_half(&zipf->roots);
	for (u32 i = 0; i < bins; i++, first += get_zipf_bin_width(first))
		fill_zipf_bin(zipf, &zipf->bin[i], first, n);
	accumulate_zipf_bins(zipf);
	fill_zipf_guide_table(zipf);
	return zipf;
}

void zipf_destroy(struct zipf *zipf)
{
	free(zipf);
}

static const struct zipf_bin *draw_zipf_bin(const struct zipf *zipf, struct aftl_random *random)
{
	u64 draw = draw_number_below(random, zipf->total);
	const struct zipf_bin *bin = &zipf->bin[zipf->guide[draw >> zipf->guide_shift]];

	while (bin->end <= draw)
		bin++;
	return bin;
}

static bool draw_whether_zipf_rank_is_accepted(const struct zipf *zipf, const struct zipf_bin *bin,
					       u64 rank, struct aftl_random *random)
{
	u64 draw = aftl_random_next(random) >> 2;

	return draw < bin->sure ||
	       draw < compute_ratio_q62(compute_zipf_weight_of_rank(zipf, rank), bin->weight);
}

u64 zipf_draw_rank(const struct zipf *zipf, struct aftl_random *random)
{
	for (;;) {
		const struct zipf_bin *bin = draw_zipf_bin(zipf, random);
		u64 rank = bin->first;

		if (bin->ranks == 1)
			return rank - 1;
		rank += aftl_random_below(random, bin->ranks);
		if (draw_whether_zipf_rank_is_accepted(zipf, bin, rank, random))
			return rank - 1;
	}
}

/*
 * Tagged and untagged writes come in runs, by a two-state Markov chain. The mean run length and the
 * share of tagged writes determine both transition probabilities.
 */

bool init_approx_tag_generator(struct tags *tags, u32 share, u32 mean_run,
			       struct aftl_random random)
{
	*tags = (struct tags){ .share = share, .random = random };
	if (!mean_run || !share || share == SHARE_WHOLE)
		return true;
	tags->runs = true;
	tags->leave = (1ULL << 32) / mean_run;
	tags->enter = tags->leave * share / (SHARE_WHOLE - share);
	tags->approx = draw_with_probability(&tags->random, share);
	return tags->enter <= 1ULL << 32;
}

static bool draw_whether_next_tag_differs(struct tags *tags)
{
	u64 chance = tags->approx ? tags->leave : tags->enter;

	return aftl_random_next(&tags->random) >> 32 < chance;
}

bool draw_whether_write_is_approximate(struct tags *tags)
{
	bool now = tags->approx;

	if (!tags->runs)
		return draw_with_probability(&tags->random, tags->share);
	if (draw_whether_next_tag_differs(tags))
		tags->approx = !tags->approx;
	return now;
}
