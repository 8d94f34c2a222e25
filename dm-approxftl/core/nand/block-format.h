/* SPDX-License-Identifier: GPL-2.0-only */
/* How a block is used: bits per cell, pages of a program step, lent parity. */
#ifndef AFTL_BLOCK_FORMAT_H
#define AFTL_BLOCK_FORMAT_H

#include "core/base/program-kinds.h"
#include "core/nand/oob.h"

/* Return true if a block of this order can use @bits per cell (0: all); checks stored data. */
static inline bool aftl_may_block_have_bits_per_cell(const struct aftl_geometry *geo, u32 bits,
						     u32 order)
{
	return !bits || (bits * geo->planes_wide < geo->word_line_pages &&
			 order == AFTL_ORDER_SEQUENTIAL);
}

/* In-place switching needs word lines of three bits, programmed at once. */
#define AFTL_SWITCH_BITS 3

/* Return true if word lines can hold one bit per cell first and get the other bits later (IPS). */
static inline bool aftl_supports_in_place_switch(const struct aftl_geometry *geo)
{
	return geo->word_line_pages == AFTL_SWITCH_BITS * geo->planes_wide &&
	       geo->program_pages == geo->word_line_pages && geo->passes == 1;
}

/*
 * Return true if a block can have @order and @bits, which were stored. On a device with two passes,
 * blocks with all bits use FOGGY_FINE; in-place switching depends on the geometry.
 */
static inline bool aftl_is_stored_program_order_valid(const struct aftl_geometry *geo, u32 bits,
						      u32 order)
{
	return (geo->passes > 1 && !bits) == (order == AFTL_ORDER_FOGGY_FINE) &&
	       (order != AFTL_ORDER_SWITCHED || aftl_supports_in_place_switch(geo));
}

/* Mode in which a policy programs @block; the fine pass of FOGGY_FINE is issued by the core. */
static inline u32 aftl_block_program_mode(const struct aftl_block *block)
{
	static const u8 less[] = { AFTL_MODE_NORMAL, AFTL_MODE_SLC, AFTL_MODE_MLC, AFTL_MODE_TLC };

	return unlikely(block->order == AFTL_ORDER_FOGGY_FINE) ? AFTL_MODE_FOGGY :
								   less[block->bits];
}

/*
 * Colour that is programmed first in @block. A policy may change block->flip while the block has
 * data; the new value applies after the next erase.
 */
static inline bool aftl_first_checkerboard_colour(const struct aftl_block *block)
{
	return block->programmed ? block->begun_flip : block->flip;
}

static inline void aftl_set_first_checkerboard_colour(struct aftl_block *block, bool flip)
{
	block->flip = flip;
	block->begun_flip = flip;
}

/* Number of pages that @block uses in each word line. */
static inline u32 aftl_pages_used_per_word_line(const struct aftl_geometry *geo,
						const struct aftl_block *block)
{
	return likely(!block->bits) ? geo->word_line_pages : block->bits * geo->planes_wide;
}

/* Number of pages that @block can hold with its bits per cell. */
static inline u32 aftl_block_usable_pages(const struct aftl_geometry *geo,
					  const struct aftl_block *block)
{
	return likely(!block->bits) ? geo->pages :
		geo->pages / geo->word_line_pages * aftl_pages_used_per_word_line(geo, block);
}

/* Number of pages that one program step of @block writes. */
static inline u32 aftl_count_pages_of_program_step(const struct aftl_geometry *geo,
						   const struct aftl_block *block)
{
	return likely(!block->bits) ? geo->program_pages :
		min(geo->program_pages, aftl_pages_used_per_word_line(geo, block));
}

/*
 * Return true if the block is programmed from its first to its last page, with all bits per cell.
 */
static inline bool aftl_block_is_sequential(const struct aftl_block *block)
{
	return block->order == AFTL_ORDER_SEQUENTIAL && !block->bits;
}

/* Pages in the first half of a block (parity lending); rounded up to whole program steps. */
static inline u32 aftl_count_pages_of_first_block_half(const struct aftl_geometry *geo)
{
	return DIV_ROUND_UP(aftl_count_program_steps_per_block(geo), 2) * geo->program_pages;
}

/**
 * aftl_get_precise_page_of_lent_parity() - page whose parity an approximate page at @page can store
 * @geo: geometry
 * @page: page of a block
 *
 * The borrower is half a block before the lender: a block filled with precise data, then with as
 * much approximate data, has a lender for each precise page.
 *
 * Return: the page, or the number of pages if @page is in the first half.
 */
static inline u32 aftl_get_precise_page_of_lent_parity(const struct aftl_geometry *geo, u32 page)
{
	u32 half = aftl_count_pages_of_first_block_half(geo);

	return page < half ? geo->pages : page - half;
}

#endif
