// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read reference shifts, drawn for each layer and page.
 */
#include "core/base/random.h"
#include "core/nand/read-retry.h"
#include "core/base/table-lookup.h"

static_assert(AFTL_CUBE_RETRIES + AFTL_CUBE_RETRY_SPREAD <= AFTL_SHIFT_MAX,
	      "a command can name the best references");

/* Keys of random draws: whether a layer's references shift, and how far they shift for a page. */
enum draw {
	DRAW_LAYER = 0x01d,
	DRAW_PAGE = 0x9a6e,
};

/* Draw a random number for @what, a layer or page of @block; it changes with each erase. */
static u64 draw_random_number_for_read_shift(const struct aftl_cell *cell, u32 purpose,
					     const struct aftl_block *block, u32 what)
{
	return aftl_hash64_pair(cell->seed ^ purpose,
				(u64)block->erases << 32 |
					aftl_page_number_in_device(cell->media, block, what));
}

/* Share of the layers whose references are shifted at the given wear and age, x 65536. */
static u32 get_fraction_of_shifted_layers_q16(u32 erases, u64 hours)
{
	struct aftl_axis_point wear = aftl_axis_position(aftl_rber_pe_axis, AFTL_RBER_PE_POINTS,
							 erases);
	struct aftl_axis_point age = aftl_axis_position(aftl_rber_hour_axis, AFTL_RBER_HOUR_POINTS,
							hours);
	const u32 *low = aftl_cube_retry_q16[wear.index];
	const u32 *high = aftl_cube_retry_q16[wear.index + 1];

	u64 from = aftl_interpolate_entries(low[age.index], low[age.index + 1], age.fraction);
	u64 to = aftl_interpolate_entries(high[age.index], high[age.index + 1], age.fraction);

	return (u32)aftl_interpolate_entries(from, to, wear.fraction);
}

/* The margin of SLC mode is so wide that the default references are always right. */
static bool is_page_in_slc_mode(const struct aftl_cell *cell, const struct aftl_block *block,
				u32 page)
{
	u16 attr = aftl_block_page_attr(cell->media, block, page);

	return aftl_mode_bits_per_cell(aftl_page_mode(attr)) == 1;
}

/*
 * Shift of the read references. All pages of a layer are shifted, or none; the amount varies among
 * its pages. A shifted layer stays shifted.
 */
u32 aftl_compute_read_reference_shift(const struct aftl_cell *cell, const struct aftl_block *block,
				      u32 page, u64 hour)
{
	u64 hours = aftl_page_age_hours(cell->media, block, page, hour);
	u64 rank = draw_random_number_for_read_shift(cell, DRAW_LAYER, block,
						     aftl_layer_of_page(cell->media->geo, page));

	if (!hours || is_page_in_slc_mode(cell, block, page) ||
	    rank >> 48 >= get_fraction_of_shifted_layers_q16(block->erases, hours))
		return 0;
	return AFTL_CUBE_RETRIES - AFTL_CUBE_RETRY_SPREAD +
	       (u32)aftl_map_random_to_range(draw_random_number_for_read_shift(cell, DRAW_PAGE,
									       block, page),
					     2 * AFTL_CUBE_RETRY_SPREAD + 1);
}
