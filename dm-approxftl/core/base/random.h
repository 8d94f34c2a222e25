/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pseudo-random numbers that depend on their arguments only, so that every run on every host draws
 * the same numbers.
 */
#ifndef AFTL_RANDOM_H
#define AFTL_RANDOM_H

#include "aftl-host.h"

/* Bijective hash of 64-bit numbers in which each input bit flips about half of the output bits. */
static inline u64 aftl_hash64(u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static inline u64 aftl_hash64_pair(u64 a, u64 b)
{
	return aftl_hash64(aftl_hash64(a) ^ b);
}

/* Map @draw to [0, n), for n up to 2^32; the bias is below n / 2^64. */
static inline u64 aftl_map_random_to_range(u64 draw, u32 n)
{
	return mul_u64_u32_shr(draw, n, 32) >> 32;
}

/**
 * struct aftl_random - a pseudo-random sequence
 */
struct aftl_random {
	u64 state;
};

static inline u64 aftl_random_next(struct aftl_random *random)
{
	return aftl_hash64(random->state++);
}

static inline void aftl_random_skip_draws(struct aftl_random *random, u32 draws)
{
	random->state += draws;
}

static inline u64 aftl_random_below(struct aftl_random *random, u32 n)
{
	return aftl_map_random_to_range(aftl_random_next(random), n);
}

/*
 * Draw from the exponential distribution of mean @mean: -@mean * ln(u) for a uniform u. Between two
 * powers of two, a parabola approximates the logarithm to base 2 (error below 0.008).
 */
static inline u64 aftl_random_exponential(struct aftl_random *random, u32 mean)
{
	u64 draw = aftl_random_next(random) | 1;
	u32 zeros = 64 - fls64(draw);
	u64 part = zeros == 63 ? 0 : draw << (zeros + 1) >> 48;
	u64 log2 = part + (((part * (65536 - part)) >> 16) * 22704 >> 16);
	u64 minus_log2 = ((u64)(zeros + 1) << 16) - log2;

	/* 45426 / 65536 is ln 2, which converts the binary logarithm into the natural one. */
	return (minus_log2 * 45426 >> 16) * mean >> 16;
}

#endif
