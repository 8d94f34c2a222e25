/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random variables in integers: the same draws on every compiler and machine.
 */
#ifndef AFTL_DISTRIBUTIONS_H
#define AFTL_DISTRIBUTIONS_H

#include "fixed-math.h"
#include "core/base/random.h"
#include "shares.h"

/* True with a probability of @share / SHARE_WHOLE. */
static inline bool draw_share(struct aftl_random *random, u32 share)
{
	return aftl_random_below(random, SHARE_WHOLE) < share;
}

/* Uniform in [0, n) for any n. */
static inline u64 draw_below(struct aftl_random *random, u64 n)
{
	return fixed_mul_high(aftl_random_next(random), n);
}

/* A sequence for @purpose, so that one kind of draw does not shift the others. */
static inline struct aftl_random draw_sequence(u64 seed, u32 purpose)
{
	return (struct aftl_random){ .state = aftl_hash64_pair(seed ^ 0x73696d, purpose) };
}

#define EXPONENTIAL_TERMS 20

/**
 * struct exponential - draws of mean one
 * @sum_q64: partial sums of ln(2)^i / i!
 */
struct exponential {
	u64 sum_q64[EXPONENTIAL_TERMS];
};

void exponential_init(struct exponential *exponential);

/* A draw in 2^-32, below 2^38. */
u64 exponential_draw_q32(const struct exponential *exponential, struct aftl_random *random);

/**
 * struct zipf - ranks 0 .. n - 1, rank r with a weight of (r + 1)^-skew
 */
struct zipf;

/**
 * zipf_create() - prepare draws
 * @n: ranks, at least 1, below 2^38
 * @skew_q32: exponent in 2^-32, below 2^36
 */
struct zipf *zipf_create(u64 n, u64 skew_q32);
void zipf_destroy(struct zipf *zipf);
u64 zipf_draw(const struct zipf *zipf, struct aftl_random *random);

/**
 * struct tags - which writes are approximate
 * @share: of SHARE_WHOLE
 * @leave: chance of an approximate run to end with the next write, in 2^-32
 * @enter: chance of a precise run to end with the next write, in 2^-32
 * @runs: in runs; otherwise each write for itself
 * @approx: state
 * @random: sequence of draws
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
 * tags_init() - prepare tags
 * @mean_run: approximate writes in a row on average, 0 for independent tags
 *
 * Return: false if precise runs would have to be shorter than one write.
 */
bool tags_init(struct tags *tags, u32 share, u32 mean_run, struct aftl_random random);
bool tags_draw(struct tags *tags);

#endif
