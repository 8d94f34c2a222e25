/* SPDX-License-Identifier: GPL-2.0-only */
/* Logarithm and power in integer arithmetic: every compiler and machine gives the same bits. */
#ifndef AFTL_FIXED_MATH_H
#define AFTL_FIXED_MATH_H

#include "aftl-host.h"

/* The natural logarithm of 2, in units of 2^-64. */
#define FIXED_LN2_Q64 0xb17217f7d1cf79abULL

/* Return the upper half of the 128-bit product: a * b / 2^64. */
static inline u64 fixed_multiply_take_high_64_bits(u64 a, u64 b)
{
	return (u64)((__uint128_t)a * b >> 64);
}

/* Return the binary logarithm of @x >= 1 in 2^-32, rounded down. */
u64 fixed_log2_q32(u64 x);

/**
 * struct fixed_roots - factors of fixed_exp2_q62(): 2^-(1/2), 2^-(1/4), 2^-(1/8) ..., in 2^-62
 */
struct fixed_roots {
	u64 root_q62[32];
};

void init_repeated_square_roots_of_half(struct fixed_roots *roots);

/* Return 2^-(@y_q32 / 2^32) in units of 2^-62. */
u64 fixed_exp2_q62(const struct fixed_roots *roots, u64 y_q32);

#endif
