// SPDX-License-Identifier: GPL-2.0-only
#include "fixed-math.h"

/* Square the mantissa for each bit of the logarithm: the bit is 1 if the square is at least 2. */
u64 fixed_log2_q32(u64 x)
{
	unsigned int whole = fls64(x | 1) - 1;
	u64 mantissa = x << (63 - whole);
	u64 log = whole;

	for (unsigned int bit = 0; bit < 32; bit++) {
		__uint128_t square = (__uint128_t)mantissa * mantissa;
		bool two = square >> 127;

		mantissa = square >> (two ? 64 : 63);
		log = log << 1 | two;
	}
	return log;
}

/* Return the square root of @square / 2^62 in 2^-62. */
static u64 compute_square_root_q62(u64 square)
{
	__uint128_t wide = (__uint128_t)square << 62;
	u64 root = 0;

	for (u64 bit = 1ULL << 62; bit; bit >>= 1) {
		u64 candidate = root | bit;

		if ((__uint128_t)candidate * candidate <= wide)
			root = candidate;
	}
	return root;
}

void init_repeated_square_roots_of_half(struct fixed_roots *roots)
{
	u64 value = 1ULL << 61;

	for (unsigned int i = 0; i < ARRAY_SIZE(roots->root_q62); i++) {
		value = compute_square_root_q62(value);
		roots->root_q62[i] = value;
	}
}

u64 fixed_exp2_q62(const struct fixed_roots *roots, u64 y_q32)
{
	u64 value = 1ULL << 62;

	if (y_q32 >> 32 > 62)
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(roots->root_q62); i++)
		if (y_q32 >> (31 - i) & 1)
			value = (u64)((__uint128_t)value * roots->root_q62[i] >> 62);
	return value >> (y_q32 >> 32);
}
