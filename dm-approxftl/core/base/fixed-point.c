// SPDX-License-Identifier: GPL-2.0-only
#include "core/base/fixed-point.h"

/* Each squaring of the mantissa yields one bit of the logarithm. */
u32 aftl_log2_q16(u64 x)
{
	u32 whole = fls64(x | 1) - 1;
	u64 mantissa_q31 = whole > 31 ? x >> (whole - 31) : x << (31 - whole);
	u32 log = whole;
	u32 bit;

	for (bit = 0; bit < 16; bit++) {
		mantissa_q31 = mantissa_q31 * mantissa_q31 >> 31;
		log = log << 1 | (u32)(mantissa_q31 >> 32);
		mantissa_q31 >>= mantissa_q31 >> 32;
	}
	return log;
}
