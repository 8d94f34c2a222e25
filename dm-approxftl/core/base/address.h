/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic on addresses: LUNs in allocation order; block, layer, word line and checkerboard
 * colour of a page.
 */
#ifndef AFTL_ADDRESS_H
#define AFTL_ADDRESS_H

#include "core/base/geometry.h"

/* LUN at @position of the allocation order, which repeats after the last LUN. */
static inline u32 aftl_lun_by_allocation_order(const struct aftl_geometry *geo, u32 position)
{
	u32 lun = 0;
	u32 i = 0;

	while (position && i < ARRAY_SIZE(geo->allocation_order)) {
		u32 next = position / geo->allocation_order[i].count;

		lun += (position - next * geo->allocation_order[i].count) *
		       geo->allocation_order[i].stride;
		position = next;
		i++;
	}
	return lun;
}

/* Inverse of @divisor, which is at most 2^30, for aftl_divide(). */
static inline u64 aftl_inverse(u32 divisor)
{
	return div64_u64(1ULL << 62, divisor) + 1;
}

/*
 * Return @dividend divided by the divisor of @inverse, without a division, which takes several
 * times as long as a multiplication. The quotient is exact: before it is rounded down, its error is
 * positive and less than 2^32 / 2^62, and it lacks at least 1 / divisor to the next integer.
 * mul_u64_u32_shr() shifts by at most 32 bits if the architecture has no 128-bit integers.
 */
static inline u32 aftl_divide(u32 dividend, u64 inverse)
{
	return (u32)(mul_u64_u32_shr(inverse, dividend, 32) >> 30);
}

/* Block of @page, which is numbered through the device. */
static inline u32 aftl_block_number_of_page(const struct aftl_geometry *geo, u32 page)
{
	return aftl_divide(page, geo->pages_inverse);
}

/* Number in its block of @page, which is numbered through the device. */
static inline u32 aftl_page_in_block(const struct aftl_geometry *geo, u32 page)
{
	return page - aftl_block_number_of_page(geo, page) * geo->pages;
}

/* Word line of @page, counted through the block. */
static inline u32 aftl_word_line_of_page(const struct aftl_geometry *geo, u32 page)
{
	return page / geo->word_line_pages;
}

static inline u32 aftl_layer_of_page(const struct aftl_geometry *geo, u32 page)
{
	return aftl_word_line_of_page(geo, page) / geo->word_lines;
}

static inline u32 aftl_first_page_of_word_line(const struct aftl_geometry *geo, u32 layer,
					       u32 word_line)
{
	return (layer * geo->word_lines + word_line) * geo->word_line_pages;
}

/*
 * Colour of @page on ApproxFTL's checkerboard, whose rows are the layers of a block. A checkerboard
 * over page numbers alone would give vertical neighbours one colour if a layer has an even number
 * of positions.
 */
static inline bool aftl_get_checkerboard_colour_of_page(const struct aftl_geometry *geo, u32 page,
							bool flip)
{
	u32 step = aftl_divide(page, geo->program_pages_inverse);
	u32 layer = aftl_divide(step, geo->layer_steps_inverse);

	return (layer + step - layer * geo->layer_steps + flip) & 1;
}

#endif
