/* SPDX-License-Identifier: GPL-2.0-only */
/* Logarithm in integer arithmetic, for policies. */
#ifndef AFTL_FIXED_POINT_H
#define AFTL_FIXED_POINT_H

#include "aftl-host.h"

#define AFTL_ONE_Q16 ((u32)BIT(16))

/* Binary logarithm of @x >= 1 in 2^-16, rounded down. */
u32 aftl_log2_q16(u64 x);

#endif
