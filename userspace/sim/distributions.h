/* SPDX-License-Identifier: GPL-2.0-only */
/* Random variables in integer arithmetic: every compiler and machine gives the same draws. */
#ifndef AFTL_DISTRIBUTIONS_H
#define AFTL_DISTRIBUTIONS_H

#include "fixed-math.h"
#include "core/base/random.h"
#include "shares.h"

/* Return true with a probability of @share / SHARE_WHOLE. */
static inline bool draw_with_probability(struct aftl_random *random, u32 share)
{
	return aftl_random_below(random, SHARE_WHOLE) < share;
}

/* Draw uniformly from [0, n) for any n. */
static inline u64 draw_number_below(struct aftl_random *random, u64 n)
{
	return fixed_multiply_take_high_64_bits(aftl_random_next(random), n);
}

/*
 * Return the random sequence of @purpose. With separate sequences, more draws for one purpose do
 * not change those for another one.
 */
static inline struct aftl_random get_random_sequence_of_purpose(u64 seed, u32 purpose)
{
	return (struct aftl_random){ .state = aftl_hash64_pair(seed ^ 0x73696d, purpose) };
}

#define EXPONENTIAL_TERMS 20

/**
 * struct exponential - exponential distribution of mean one
 * @sum_q64: partial sums of ln(2)^i / i!
 */
struct exponential {
	u64 sum_q64[EXPONENTIAL_TERMS];
};

void exponential_init(struct exponential *exponential);

/* Return an exponential draw in units of 2^-32, which is below 2^38. */
u64 exponential_draw_q32(const struct exponential *exponential, struct aftl_random *random);

/**
 * struct zipf - distribution of ranks 0 .. n - 1, rank r with a weight of (r + 1)^-skew
 */
struct zipf;

/**
 * zipf_create() - prepare a distribution
 * @n: number of ranks, at least 1, below 2^38
 * @skew_q32: exponent in 2^-32, below 2^36
 */
struct zipf *zipf_create(u64 n, u64 skew_q32);
void zipf_destroy(struct zipf *zipf);
u64 zipf_draw_rank(const struct zipf *zipf, struct aftl_random *random);

/**
 * struct tags - generator of approximate tags
 * @share: share of approximate writes, of SHARE_WHOLE
 * @leave: probability that an approximate run ends with the next write, in 2^-32
 * @enter: probability that a precise run ends with the next write, in 2^-32
 * @runs: tags come in runs; otherwise each write is tagged independently
 * @approx: the current run is approximate
 * @random: random sequence
 */
struct tags {
	u32 share;
	u64 leave;
	u64 enter;
	bool runs;
	bool approx;
	struct aftl_random random;
};

/**
 * init_approx_tag_generator() - initialise a generator of tags
 * @mean_run: mean length of an approximate run in writes, 0 for independent tags
 *
 * Return: false if precise runs would have to be shorter than one write.
 */
bool init_approx_tag_generator(struct tags *tags, u32 share, u32 mean_run,
			       struct aftl_random random);
bool draw_whether_write_is_approximate(struct tags *tags);

#endif
