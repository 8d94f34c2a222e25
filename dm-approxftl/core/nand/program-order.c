// SPDX-License-Identifier: GPL-2.0-only
/* Program orders: the program steps that a block allows. */
#include "core/nand/program-order.h"
#include "core/nand/valid-bits.h"

/* Each function here checks one program order; @page is the first page of a program step. */

static bool sequential_order_allows_page(const struct aftl_media *media,
					 const struct aftl_block *block, u32 page)
{
	return page == block->frontier && !aftl_page_is_programmed(media, block, page);
}

static bool leader_first_order_allows_page(const struct aftl_media *media,
					   const struct aftl_block *block, u32 page)
{
	u32 leader =
		aftl_first_page_of_word_line(media->geo, aftl_layer_of_page(media->geo, page), 0);

	if (aftl_page_is_programmed(media, block, page))
		return false;
	return page == leader ||
	       aftl_page_is_programmed(media, block, page - media->geo->program_pages);
}

static u32 count_pages_per_layer(const struct aftl_geometry *geo)
{
	return geo->word_lines * geo->word_line_pages;
}

u32 aftl_get_reprogram_count_of_word_line(const struct aftl_media *media,
					  const struct aftl_block *block, u32 page)
{
	u32 first = page - page % media->geo->word_line_pages;
	u32 count = 0;
	u32 i;

	for (i = first; i < first + media->geo->word_line_pages; i++)
		count += aftl_get_reprogram_count_of_page(aftl_block_page_attr(media, block, i));
	return count;
}

/* A reprogram replaces one invalid page of a word line in the open super layer. */
static bool may_reprogram_page(const struct aftl_media *media, const struct aftl_block *block,
			       u32 page, u32 pages)
{
	u16 attr = aftl_block_page_attr(media, block, page);

	return pages == 1 && aftl_page_mode(attr) == AFTL_MODE_MLC &&
	       aftl_get_reprogram_count_of_word_line(media, block, page) < AFTL_REPROGRAMS_MAX &&
	       !aftl_page_has_valid_data(media, block, page);
}

/* The first program of a word line starts at its first page and does not cross into another one. */
static bool is_word_line_erased(const struct aftl_media *media, const struct aftl_block *block,
				u32 page, u32 pages)
{
	u32 i;

	if (page % media->geo->word_line_pages || pages > media->geo->word_line_pages)
		return false;
	for (i = page; i < page + media->geo->word_line_pages; i++)
		if (aftl_page_is_programmed(media, block, i))
			return false;
	return true;
}

/*
 * The super layer order's frontier is the first page of the lower open layer. Programming the layer
 * above the open ones closes the lower one for good.
 */
static bool super_layer_order_allows_page(const struct aftl_media *media,
					  const struct aftl_block *block, u32 page, u32 pages)
{
	u32 layer = count_pages_per_layer(media->geo);
	u32 end = block->frontier + media->geo->super_layers * layer;

	if (page < block->frontier || page >= end + layer)
		return false;
	if (aftl_page_is_programmed(media, block, page))
		return page < end && may_reprogram_page(media, block, page, pages);
	return is_word_line_erased(media, block, page, pages);
}

u32 aftl_next_fine_pass_page(const struct aftl_media *media, const struct aftl_block *block)
{
	u32 step = media->geo->program_pages;
	u32 waiting = block->frontier == media->geo->pages ? 0 : AFTL_FOGGY_WORD_LINES - 1;
	u32 page = block->programmed - min(block->programmed, AFTL_FOGGY_WORD_LINES * step);

	for (; page + waiting * step < block->programmed; page += step)
		if (aftl_page_is_foggy(aftl_block_page_attr(media, block, page)))
			return page;
	return media->geo->pages;
}

static bool foggy_fine_order_allows_page(const struct aftl_media *media,
					 const struct aftl_block *block, u32 page)
{
	u32 due = aftl_next_fine_pass_page(media, block);

	return page == due ||
	       (due == media->geo->pages && sequential_order_allows_page(media, block, page));
}

u32 aftl_get_next_in_place_switch_page(const struct aftl_geometry *geo, u32 programmed, u32 *pages)
{
	u32 window = AFTL_SWITCH_LAYERS * count_pages_per_layer(geo);
	u32 first = programmed / window * window;
	u32 lines = min(window, geo->pages - first) / geo->word_line_pages;
	u32 done = programmed - first;

	*pages = geo->planes_wide;
	if (programmed == geo->pages)
		return geo->pages;
	if (done < lines * *pages)
		return first + done / *pages * geo->word_line_pages;
	done -= lines * *pages;
	first += *pages;
	*pages = geo->word_line_pages - *pages;
	return first + done / *pages * geo->word_line_pages;
}

void aftl_mark_word_line_switched(const struct aftl_media *media, const struct aftl_block *block,
				  u32 page)
{
	u32 line = page - page % media->geo->word_line_pages;
	u32 i;

	for (i = 0; i < media->geo->planes_wide; i++) {
		u16 *attr = aftl_page_attr_ptr(media,
					       aftl_page_number_in_device(media, block, line + i));

		*attr = aftl_page_attr(aftl_page_class(*attr), AFTL_MODE_SWITCHED, 0) |
			(*attr & AFTL_PAGE_OVERPROGRAMMED);
	}
}

static bool in_place_switch_order_allows_page(const struct aftl_media *media,
					      const struct aftl_block *block, u32 page, u32 pages)
{
	u32 next;

	return aftl_supports_in_place_switch(media->geo) &&
	       page == aftl_get_next_in_place_switch_page(media->geo, block->programmed, &next) &&
	       pages == next && !aftl_page_is_programmed(media, block, page);
}

static bool order_allows_program_step(const struct aftl_media *media,
				      const struct aftl_block *block, u32 page, u32 pages)
{
	switch (block->order) {
	case AFTL_ORDER_SEQUENTIAL:
		return sequential_order_allows_page(media, block, page);
	case AFTL_ORDER_TWO_PASS:
		return page == aftl_two_pass_next_page(media, block) &&
		       !aftl_page_is_programmed(media, block, page);
	case AFTL_ORDER_LEADER_FIRST:
		return leader_first_order_allows_page(media, block, page);
	case AFTL_ORDER_SUPER_LAYER:
		return super_layer_order_allows_page(media, block, page, pages);
	case AFTL_ORDER_FOGGY_FINE:
		return foggy_fine_order_allows_page(media, block, page);
	case AFTL_ORDER_SWITCHED:
		return in_place_switch_order_allows_page(media, block, page, pages);
	}
	return false;
}

bool aftl_order_allows_program_slow_path(const struct aftl_media *media,
					 const struct aftl_block *block, u32 page, u32 pages)
{
	if (block->state != AFTL_BLOCK_OPEN || !pages || pages > media->geo->program_pages)
		return false;
	if (page >= media->geo->pages || pages > media->geo->pages - page)
		return false;
	if (block->order != AFTL_ORDER_SUPER_LAYER && block->order != AFTL_ORDER_SWITCHED &&
	    (pages != aftl_count_pages_of_program_step(media->geo, block) ||
	     (!block->bits && page % pages)))
		return false;
	return order_allows_program_step(media, block, page, pages);
}

/* First page from @page on with @colour on the checkerboard; the number of pages if none has. */
static u32 find_next_page_of_checkerboard_colour(const struct aftl_geometry *geo, u32 page,
						 bool colour, bool flip)
{
	while (page < geo->pages && aftl_get_checkerboard_colour_of_page(geo, page, flip) != colour)
		page += geo->program_pages;
	return page;
}

/* Number of pages of the first pass, which programs the checkerboard positions of colour 0. */
u32 aftl_count_first_pass_pages(const struct aftl_geometry *geo, bool flip)
{
	u32 even_layers = (geo->layers + !flip) / 2;
	u32 odd_layers = geo->layers - even_layers;

	return (even_layers * DIV_ROUND_UP(geo->layer_steps, 2) +
		odd_layers * (geo->layer_steps / 2)) * geo->program_pages;
}

u32 aftl_two_pass_next_page(const struct aftl_media *media, const struct aftl_block *block)
{
	const struct aftl_geometry *geo = media->geo;
	bool flip = aftl_first_checkerboard_colour(block);
	bool second = block->programmed >= aftl_count_first_pass_pages(geo, flip);

	return find_next_page_of_checkerboard_colour(geo, block->frontier, second, flip);
}

u32 aftl_program_order_next_page(const struct aftl_media *media, const struct aftl_block *block)
{
	const struct aftl_geometry *geo = media->geo;
	u32 page = 0;

	if (block->bits || block->order == AFTL_ORDER_FOGGY_FINE)
		return block->frontier;
	while (page < geo->pages &&
	       !aftl_order_allows_program(media, block, page, geo->program_pages))
		page += geo->program_pages;
	return page;
}

/* In blocks with fewer bits per cell, skip the unused pages of each word line. */
static void advance_frontier_of_sequential_block(const struct aftl_media *media,
						 struct aftl_block *block, u32 page)
{
	const struct aftl_geometry *geo = media->geo;

	page += aftl_count_pages_of_program_step(geo, block);
	if (unlikely(block->bits) &&
	    page % geo->word_line_pages >= aftl_pages_used_per_word_line(geo, block))
		page += geo->word_line_pages - aftl_pages_used_per_word_line(geo, block);
	block->frontier = page;
}

static void advance_frontier_of_two_pass_block(const struct aftl_media *media,
					       struct aftl_block *block, u32 page)
{
	block->frontier = page + media->geo->program_pages;
	if (block->programmed ==
	    aftl_count_first_pass_pages(media->geo, aftl_first_checkerboard_colour(block)))
		block->frontier = 0;
}

static void advance_frontier_of_super_layer_block(const struct aftl_media *media,
						  struct aftl_block *block, u32 page)
{
	u32 layer = count_pages_per_layer(media->geo);

	if (page >= block->frontier + media->geo->super_layers * layer)
		block->frontier += layer;
}

void aftl_program_order_advance_frontier(const struct aftl_media *media, struct aftl_block *block,
					 u32 page)
{
	u32 pages;

	switch (block->order) {
	case AFTL_ORDER_SEQUENTIAL:
	case AFTL_ORDER_FOGGY_FINE:
		advance_frontier_of_sequential_block(media, block, page);
		break;
	case AFTL_ORDER_TWO_PASS:
		advance_frontier_of_two_pass_block(media, block, page);
		break;
	case AFTL_ORDER_LEADER_FIRST:
		break;
	case AFTL_ORDER_SUPER_LAYER:
		advance_frontier_of_super_layer_block(media, block, page);
		break;
	case AFTL_ORDER_SWITCHED:
		block->frontier =
			aftl_get_next_in_place_switch_page(media->geo, block->programmed, &pages);
		break;
	}
}
