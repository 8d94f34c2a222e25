/* SPDX-License-Identifier: GPL-2.0-only */
/* Interpolation in the tables of the flash error model, core/nand/physics-tables.h. */
#ifndef AFTL_TABLE_LOOKUP_H
#define AFTL_TABLE_LOOKUP_H

#include "aftl-host.h"

/**
 * struct aftl_axis_point - position of a value on an axis
 * @index: index of the point below the value
 * @fraction: fraction of the distance to the next point, in 1/65536
 */
struct aftl_axis_point {
	u32 index;
	u32 fraction;
};

/* Position of @value on an axis of ascending points; values beyond the end get the last point. */
static inline struct aftl_axis_point aftl_axis_position(const u32 *axis, u32 points, u64 value)
{
	struct aftl_axis_point point = { points - 2, 65536 };
	u32 i;

	if (value >= axis[points - 1])
		return point;
	for (i = 1; value >= axis[i]; i++)
		;
	point.index = i - 1;
	point.fraction = (u32)div64_u64((value - axis[i - 1]) << 16, axis[i] - axis[i - 1]);
	return point;
}

/* Interpolate between two neighbouring entries; @high must not be smaller than @low. */
static inline u64 aftl_interpolate_entries(u64 low, u64 high, u32 fraction)
{
	return low + (((high - low) * fraction) >> 16);
}

#endif
