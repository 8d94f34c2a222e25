/* SPDX-License-Identifier: GPL-2.0-only */
/* Program orders: the pages of a block that may be programmed next, and their bits per cell. */
#ifndef AFTL_PROGRAM_ORDER_H
#define AFTL_PROGRAM_ORDER_H

#include "core/nand/media.h"

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

/* aftl_order_allows_program() for program orders that its inline part does not handle. */
bool aftl_order_allows_program_slow_path(const struct aftl_media *media,
					 const struct aftl_block *block, u32 page, u32 pages);

/**
 * aftl_order_allows_program() - return true if @pages pages from @page may be programmed now
 * @media: flash array
 * @block: block of the pages
 * @page: page of the block
 * @pages: pages of the program
 *
 * All program constraints are checked here: the order of the block, the limit of reprograms, and
 * that a page is programmed once.
 */
static inline bool aftl_order_allows_program(const struct aftl_media *media,
					     const struct aftl_block *block, u32 page, u32 pages)
{
	if (likely(aftl_block_is_sequential(block)))
		return block->state == AFTL_BLOCK_OPEN && pages == media->geo->program_pages &&
		       page == block->frontier && page < media->geo->pages &&
		       !aftl_page_is_programmed(media, block, page);
	return aftl_order_allows_program_slow_path(media, block, page, pages);
}

/**
 * aftl_program_order_next_page() - first page of the next program step that @block allows
 * @media: flash array
 * @block: an open block
 *
 * Return: the page, or the number of pages if the block is full.
 */
u32 aftl_program_order_next_page(const struct aftl_media *media, const struct aftl_block *block);

/**
 * aftl_program_order_advance_frontier() - move the frontier past the program step at @page
 * @media: flash array
 * @block: block of the page
 * @page: page of the block
 *
 * Call it after the step has been added to block->programmed.
 */
void aftl_program_order_advance_frontier(const struct aftl_media *media, struct aftl_block *block,
					 u32 page);

/**
 * aftl_get_next_in_place_switch_page() - next program step of a block in the order SWITCHED
 * @geo: geometry
 * @programmed: programmed pages of the block
 * @pages: takes the pages of the step
 *
 * Return: the first page of the step, or the number of pages if the block is full.
 */
u32 aftl_get_next_in_place_switch_page(const struct aftl_geometry *geo, u32 programmed, u32 *pages);

/* Return true if an in-place switch block (IPS) programs @page in its first pass (SLC mode). */
static inline bool aftl_is_page_programmed_in_slc_pass(const struct aftl_geometry *geo, u32 page)
{
	return page % geo->word_line_pages < geo->planes_wide;
}

/**
 * aftl_mark_word_line_switched() - give pages of the first pass the mode SWITCHED
 * @media: flash array
 * @block: block of the page
 * @page: any page of the word line
 */
void aftl_mark_word_line_switched(const struct aftl_media *media, const struct aftl_block *block,
				  u32 page);

/* Limit of word lines of a block that wait for their fine pass at a time. */
#define AFTL_FOGGY_WORD_LINES 2

/**
 * aftl_next_fine_pass_page() - word line whose fine pass is due
 * @media: flash array
 * @block: an open block in the order FOGGY_FINE
 *
 * The fine pass precedes any other program of the block. In a block whose frontier has reached its
 * end the remaining word lines are due in ascending order.
 *
 * Return: the first page of the word line, or the number of pages if no fine pass is due.
 */
u32 aftl_next_fine_pass_page(const struct aftl_media *media, const struct aftl_block *block);

/* Pages in the first half of a block (parity lending); rounded up to whole program steps. */
static inline u32 aftl_count_pages_of_first_block_half(const struct aftl_geometry *geo)
{
	return DIV_ROUND_UP(aftl_count_program_steps_per_block(geo), 2) * geo->program_pages;
}

/**
 * aftl_two_pass_next_page() - next page in the order TWO_PASS; if the block is full, the number of
 * pages
 * @media: flash array
 * @block: block, open
 *
 * The first pass programs the positions of colour 0 relative to the block's flip bit.
 */
u32 aftl_two_pass_next_page(const struct aftl_media *media, const struct aftl_block *block);

/**
 * aftl_count_first_pass_pages() - pages of the first pass of a block in the order TWO_PASS
 * @geo: geometry
 * @flip: colour that is programmed first
 */
u32 aftl_count_first_pass_pages(const struct aftl_geometry *geo, bool flip);

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

/**
 * aftl_get_reprogram_count_of_word_line() - reprograms of the word line of @page
 * @media: flash array
 * @block: block of the page
 * @page: any page of the word line
 */
u32 aftl_get_reprogram_count_of_word_line(const struct aftl_media *media,
					  const struct aftl_block *block, u32 page);

#endif
