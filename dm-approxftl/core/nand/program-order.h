/* SPDX-License-Identifier: GPL-2.0-only */
/* Program orders: the pages of a block that may be programmed next. */
#ifndef AFTL_PROGRAM_ORDER_H
#define AFTL_PROGRAM_ORDER_H

#include "core/nand/block-format.h"

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
 * aftl_get_reprogram_count_of_word_line() - reprograms of the word line of @page
 * @media: flash array
 * @block: block of the page
 * @page: any page of the word line
 */
u32 aftl_get_reprogram_count_of_word_line(const struct aftl_media *media,
					  const struct aftl_block *block, u32 page);

#endif
