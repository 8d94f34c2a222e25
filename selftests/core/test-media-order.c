// SPDX-License-Identifier: GPL-2.0-only
/*
 * Legal program orders: all program sequences of small blocks, compared with an independent model
 * of the description of each order.
 */
#include "core/nand/program-order.h"
#include "core/nand/valid-bits.h"
#include "tap.h"

#define PAGES_MAX 64
#define MLC_ATTR aftl_page_attr(AFTL_PRECISE, AFTL_MODE_MLC, 0)

/* The single block that the tests program, without an FTL. */
static struct {
	struct aftl_geometry geo;
	struct aftl_block block;
	u32 oob[PAGES_MAX][2];
	u64 valid[1];
	struct aftl_media media;
} one;

static void init_block_with_program_order(enum aftl_order order, u32 layers, u32 word_lines,
					  u32 line_pages, u32 program_pages)
{
	u32 layer_steps = word_lines * line_pages / program_pages;

	memset(&one, 0, sizeof(one));
	one.geo = (struct aftl_geometry){
		.layers = layers,
		.super_layers = 2,
		.word_lines = word_lines,
		.word_line_pages = line_pages,
		.pages = layers * word_lines * line_pages,
		.program_pages = program_pages,
		.layer_steps = layer_steps,
		.program_pages_inverse = aftl_inverse(program_pages),
		.layer_steps_inverse = aftl_inverse(layer_steps),
		.page_units = 1,
		.block_ppns = layers * word_lines * line_pages,
		.planes_wide = 1,
	};
	one.media = (struct aftl_media){
		.geo = &one.geo,
		.blocks = &one.block,
		.oob = { .chunk = { one.oob } },
		.valid = one.valid,
	};
	aftl_oob_layout_init(&one.media);
	one.block.state = AFTL_BLOCK_OPEN;
	one.block.order = order;
}

static bool is_program_allowed(u32 page, u32 pages)
{
	return aftl_order_allows_program(&one.media, &one.block, page, pages);
}

static bool is_page_programmed(u32 page)
{
	return aftl_page_is_programmed(&one.media, &one.block, page);
}

static void program_block_pages(u32 page, u32 pages, u16 attr)
{
	u32 i;

	for (i = page; i < page + pages; i++)
		*aftl_page_attr_ptr(&one.media, i) = attr;
	if (!one.block.programmed)
		one.block.begun_flip = one.block.flip;
	one.block.programmed += pages;
	aftl_program_order_advance_frontier(&one.media, &one.block, page);
}

/* Independent model: return true if the whole program step at @page is legal. */

static bool is_program_legal_in_sequential_order(u32 page)
{
	u32 i;

	for (i = 0; i < one.geo.pages; i++)
		if (i < page ? !is_page_programmed(i) : is_page_programmed(i))
			return false;
	return true;
}

static bool is_program_on_first_colour_of_checkerboard(u32 step)
{
	u32 positions = one.geo.word_lines * one.geo.word_line_pages / one.geo.program_pages;

	return (step / positions + step % positions) % 2 == one.block.flip;
}

static bool is_program_legal_in_two_pass_order(u32 page)
{
	u32 steps = one.geo.pages / one.geo.program_pages;
	u32 step = page / one.geo.program_pages;
	u32 i;

	if (is_page_programmed(page))
		return false;
	for (i = 0; i < steps; i++) {
		bool first = is_program_on_first_colour_of_checkerboard(i);
		bool before = first == is_program_on_first_colour_of_checkerboard(step) ? i < step :
											  first;

		if (is_page_programmed(i * one.geo.program_pages) != before)
			return false;
	}
	return true;
}

static bool is_program_legal_in_leader_first_order(u32 page)
{
	u32 layer_pages = one.geo.word_lines * one.geo.word_line_pages;
	u32 leader = page / layer_pages * layer_pages;

	return !is_page_programmed(page) &&
	       (page == leader || is_page_programmed(page - one.geo.program_pages));
}

/* Model of order super_layer: a program goes to the present super layer or opens the next layer. */
static bool is_program_legal_in_super_layer_order(u32 page)
{
	u32 layer_pages = one.geo.word_lines * one.geo.word_line_pages;
	u32 highest = one.geo.super_layers - 1;
	u32 i;

	for (i = 0; i < one.geo.pages; i++)
		if (is_page_programmed(i))
			highest = max(i / layer_pages, highest);
	return !is_page_programmed(page) && page / layer_pages + one.geo.super_layers > highest &&
	       page / layer_pages <= highest + 1;
}

static bool is_program_legal_in_block_order(u32 page)
{
	switch (one.block.order) {
	case AFTL_ORDER_SEQUENTIAL:
		return is_program_legal_in_sequential_order(page);
	case AFTL_ORDER_TWO_PASS:
		return is_program_legal_in_two_pass_order(page);
	case AFTL_ORDER_LEADER_FIRST:
		return is_program_legal_in_leader_first_order(page);
	default:
		return is_program_legal_in_super_layer_order(page);
	}
}

static u64 histories;

/* Explore all legal continuations of a program sequence; illegal steps must be refused. */
static void explore_block_program_histories(void)
{
	struct aftl_block block = one.block;
	u32 oob[PAGES_MAX][2];
	u32 page;
	u32 legal = 0;

	memcpy(oob, one.oob, sizeof(oob));
	for (page = 0; page < one.geo.pages; page += one.geo.program_pages) {
		bool yes = is_program_legal_in_block_order(page);

		if (!CHECK_MSG(is_program_allowed(page, one.geo.program_pages) == yes,
			       "order %u: page %u with %u programmed: %s", one.block.order, page,
			       one.block.programmed, yes ? "refused" : "allowed"))
			return;
		if (!yes)
			continue;
		legal++;
		program_block_pages(page, one.geo.program_pages, aftl_page_attr(0, 0, 0));
		explore_block_program_histories();
		one.block = block;
		memcpy(one.oob, oob, sizeof(oob));
	}
	histories += !legal;
	if (one.block.order != AFTL_ORDER_SUPER_LAYER)
		CHECK_MSG(legal || one.block.programmed == one.geo.pages, "a dead end");
}

static void explore_programs_of_block_geometry(enum aftl_order order, u32 layers, u32 word_lines,
					       u32 line_pages, u32 program_pages)
{
	u32 flip;

	for (flip = 0; flip < 2; flip++) {
		init_block_with_program_order(order, layers, word_lines, line_pages, program_pages);
		one.block.flip = flip;
		explore_block_program_histories();
	}
}

static void explore_programs_of_all_small_blocks(enum aftl_order order, u32 steps_max)
{
	u32 layers;
	u32 lines;
	u32 bits;

	for (layers = 1; layers <= 5; layers++)
		for (lines = 1; lines <= 4; lines++)
			for (bits = 1; bits <= 3; bits++) {
				if (layers * lines * bits <= steps_max)
					explore_programs_of_block_geometry(order, layers, lines,
									   bits, 1);
				if (layers * lines <= steps_max)
					explore_programs_of_block_geometry(order, layers, lines,
									   bits, bits);
			}
}

TAP_TEST(sequential_blocks_accept_exactly_the_legal_histories)
{
	histories = 0;
	explore_programs_of_all_small_blocks(AFTL_ORDER_SEQUENTIAL, 60);
	CHECK(histories);
}

TAP_TEST(two_pass_blocks_accept_exactly_the_legal_histories)
{
	histories = 0;
	explore_programs_of_all_small_blocks(AFTL_ORDER_TWO_PASS, 60);
	CHECK(histories);
}

/* With n word lines in each of k layers, (kn)! / n!^k program sequences are legal. */
TAP_TEST(leader_first_blocks_accept_exactly_the_legal_histories)
{
	histories = 0;
	explore_programs_of_block_geometry(AFTL_ORDER_LEADER_FIRST, 2, 2, 3, 3);
	CHECK_EQ(histories, 2 * 6);
	histories = 0;
	explore_programs_of_block_geometry(AFTL_ORDER_LEADER_FIRST, 2, 3, 1, 1);
	CHECK_EQ(histories, 2 * 20);
	explore_programs_of_all_small_blocks(AFTL_ORDER_LEADER_FIRST, 8);
}

TAP_TEST(super_layer_blocks_accept_exactly_the_legal_histories)
{
	explore_programs_of_block_geometry(AFTL_ORDER_SUPER_LAYER, 2, 2, 1, 1);
	explore_programs_of_block_geometry(AFTL_ORDER_SUPER_LAYER, 3, 2, 1, 1);
	explore_programs_of_block_geometry(AFTL_ORDER_SUPER_LAYER, 5, 1, 1, 1);
	explore_programs_of_block_geometry(AFTL_ORDER_SUPER_LAYER, 6, 1, 3, 3);
	init_block_with_program_order(AFTL_ORDER_SUPER_LAYER, 6, 1, 1, 1);
	one.geo.super_layers = 3;
	explore_block_program_histories();
}

TAP_TEST(steps_of_wrong_size_or_alignment_are_refused)
{
	u32 order;

	for (order = 0; order < AFTL_ORDER_SWITCHED; order++) {
		init_block_with_program_order(order, 4, 2, 3, 3);
		CHECK(!is_program_allowed(0, 0));
		CHECK(!is_program_allowed(0, 4));
		CHECK(!is_program_allowed(0, U32_MAX));
		CHECK(!is_program_allowed(one.geo.pages, 1));
		CHECK(!is_program_allowed(U32_MAX, 1));
		CHECK(!is_program_allowed(U32_MAX, 3));
		CHECK(is_program_allowed(0, 3));
		if (order != AFTL_ORDER_SUPER_LAYER)
			CHECK(!is_program_allowed(1, 1));
	}
}

/* A program step may begin anywhere in a word line, but must not overlap programmed pages. */
TAP_TEST(a_step_does_not_overlap_programmed_pages)
{
	init_block_with_program_order(AFTL_ORDER_SUPER_LAYER, 2, 4, 3, 3);
	program_block_pages(3, 3, MLC_ATTR);
	CHECK(is_program_allowed(0, 3));
	CHECK(is_program_allowed(0, 2));
	CHECK_MSG(!is_program_allowed(1, 3), "pages 1 to 3 are allowed, page 3 is programmed");
	CHECK_MSG(!is_program_allowed(2, 2), "pages 2 and 3 are allowed, page 3 is programmed");
}

static void set_page_valid(u32 page)
{
	aftl_ppn_set_valid(&one.media, to_ppn(page));
}

TAP_TEST(only_dead_mlc_data_is_reprogrammed)
{
	init_block_with_program_order(AFTL_ORDER_SUPER_LAYER, 6, 2, 3, 3);
	program_block_pages(0, 2, MLC_ATTR);
	CHECK(is_program_allowed(0, 1));
	CHECK(!is_program_allowed(0, 2));
	set_page_valid(0);
	CHECK_MSG(!is_program_allowed(0, 1), "valid data may be reprogrammed");
	CHECK(is_program_allowed(1, 1));
	*aftl_page_attr_ptr(&one.media, 1) = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0);
	CHECK_MSG(!is_program_allowed(1, 1), "a page with all its bits may be reprogrammed");
}

TAP_TEST(a_page_is_reprogrammed_at_most_twice)
{
	init_block_with_program_order(AFTL_ORDER_SUPER_LAYER, 6, 2, 3, 3);
	program_block_pages(0, 2, MLC_ATTR);
	*aftl_page_attr_ptr(&one.media, 0) = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_MLC, 1);
	CHECK(is_program_allowed(0, 1));
	*aftl_page_attr_ptr(&one.media, 0) = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_MLC, 2);
	CHECK_MSG(!is_program_allowed(0, 1), "a third reprogram is allowed");
}

/* The limit of reprograms applies to the word line, because its pages share cells. */
TAP_TEST(a_word_line_is_reprogrammed_at_most_twice)
{
	init_block_with_program_order(AFTL_ORDER_SUPER_LAYER, 6, 2, 3, 3);
	program_block_pages(0, 2, MLC_ATTR);
	*aftl_page_attr_ptr(&one.media, 0) = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_MLC, 2);
	CHECK_MSG(!is_program_allowed(1, 1),
		  "the word line of page 1 was reprogrammed twice already");
}

/* In MLC mode cells hold two bits, so the third page of a word line cannot be programmed. */
TAP_TEST(the_third_page_of_an_mlc_word_line_stays_empty)
{
	init_block_with_program_order(AFTL_ORDER_SUPER_LAYER, 6, 2, 3, 3);
	program_block_pages(0, 2, MLC_ATTR);
	CHECK_MSG(!is_program_allowed(2, 1), "a third bit fits a word line in MLC mode");
}

TAP_TEST(only_the_open_super_layer_is_reprogrammed)
{
	init_block_with_program_order(AFTL_ORDER_SUPER_LAYER, 6, 2, 3, 3);
	program_block_pages(0, 2, MLC_ATTR);
	program_block_pages(6, 2, MLC_ATTR);
	CHECK(is_program_allowed(0, 1));
	CHECK(is_program_allowed(6, 1));
	CHECK_MSG(!is_program_allowed(18, 2), "a layer is left out");
	program_block_pages(12, 2, MLC_ATTR);
	CHECK_MSG(!is_program_allowed(0, 1), "a closed layer may be reprogrammed");
	CHECK_MSG(!is_program_allowed(3, 2), "a closed layer may be programmed");
	CHECK_MSG(is_program_allowed(6, 1), "the lower of two open layers may not be reprogrammed");
	CHECK(is_program_allowed(9, 2));
	CHECK(is_program_allowed(12, 1));
	CHECK(!is_program_allowed(36, 2));
}

/* Model of in-place switching, by page: two layers get one bit per cell, then the other bits. */
static bool is_in_place_slc_switch_program_legal(u32 page, u32 pages)
{
	u32 layers = 2 * one.geo.word_lines * 3;
	u32 first = page / layers * layers;
	u32 i;

	if (page % 3 > 1 || pages != (page % 3 ? 2 : 1))
		return false;
	for (i = 0; i < one.geo.pages; i++) {
		bool lower = i < first || (page % 3 && i % 3 == 0 && i < first + layers);
		bool earlier = i < page && (i % 3 != 0) == (page % 3 != 0);

		if (is_page_programmed(i) != (lower || earlier))
			return false;
	}
	return true;
}

static void explore_programs_of_in_place_slc_switch(u32 layers, u32 word_lines)
{
	u32 page;
	u32 pages;
	u32 legal = 1;

	init_block_with_program_order(AFTL_ORDER_SWITCHED, layers, word_lines, 3, 3);
	one.geo.passes = 1;
	while (legal) {
		legal = 0;
		for (page = 0; page < one.geo.pages; page++)
			for (pages = 0; pages < 5; pages++) {
				bool yes = is_in_place_slc_switch_program_legal(page, pages);

				CHECK_MSG(is_program_allowed(page, pages) == yes,
					  "page %u of %u: %u", page, one.block.programmed, pages);
				if (yes)
					legal = page * 8 + pages;
			}
		if (legal)
			program_block_pages(legal / 8, legal % 8, aftl_page_attr(0, 0, 0));
	}
	CHECK_EQ(one.block.programmed, one.geo.pages);
	CHECK_EQ(one.block.frontier, one.geo.pages);
}

TAP_TEST(switched_blocks_accept_exactly_the_legal_history)
{
	u32 layers;
	u32 lines;

	for (layers = 1; layers <= 5; layers++)
		for (lines = 1; lines <= 4; lines++)
			explore_programs_of_in_place_slc_switch(layers, lines);
	init_block_with_program_order(AFTL_ORDER_SWITCHED, 4, 2, 3, 1);
	one.geo.passes = 1;
	CHECK_MSG(!is_program_allowed(0, 1),
		  "a word line that is not programmed at once is switched");
	init_block_with_program_order(AFTL_ORDER_SWITCHED, 4, 2, 4, 4);
	one.geo.passes = 1;
	CHECK_MSG(!is_program_allowed(0, 1), "a word line of four bits is switched");
}

TAP_TEST(an_erased_block_is_empty_and_keeps_its_flip_bit)
{
	init_block_with_program_order(AFTL_ORDER_TWO_PASS, 3, 5, 2, 1);
	one.block.flip = 1;
	one.block.note = 7;
	one.block.kind = 3;
	program_block_pages(aftl_two_pass_next_page(&one.media, &one.block), 1,
			    aftl_page_attr(1, 1, 0));
	aftl_block_clear_oob(&one.media, &one.block);
	CHECK_EQ(one.block.erases, 1);
	CHECK_EQ(one.block.flip, 1);
	CHECK_EQ(one.block.note, 0);
	CHECK_EQ(one.block.kind, 0);
	CHECK_EQ(one.block.programmed, 0);
	CHECK_EQ(one.block.frontier, 0);
	CHECK(!is_page_programmed(0) && !is_page_programmed(1));
}
