// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that the SLC cache opens and folds, compared with a model, with fake neighbours: no device
 * exists, and the test itself programs and erases blocks.
 */
#include "core/base/random.h"
#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/slc-cache.h"
#include "tap.h"

#define BLOCKS 24U
#define WORD_LINES 8U
#define BITS 3U
#define PPNS (WORD_LINES * BITS)
#define RESERVE 1U
#define GC_BLOCKS 6U

static const struct aftl_policy_type type = { .reserve = RESERVE };
static struct aftl ftl;
static struct aftl_policy policy;
static struct aftl_lun lun;
static struct aftl_block blocks[BLOCKS];
static u32 victims[PPNS + 1];

static void reset_fake_device(struct aftl_random *random)
{
	u32 i;

	ftl = (struct aftl){ .type = &type, .policy = &policy, .luns = &lun };
	ftl.geo.blocks_per_lun = BLOCKS;
	ftl.geo.blocks = BLOCKS;
	ftl.geo.block_ppns = PPNS;
	ftl.geo.pages = PPNS;
	ftl.geo.page_units = 1;
	ftl.geo.word_line_pages = BITS;
	ftl.geo.program_pages = BITS;
	ftl.geo.planes_wide = 1;
	ftl.geo.passes = 1;
	ftl.config.bits = BITS;
	ftl.media.blocks = blocks;
	ftl.media.geo = &ftl.geo;
	ftl.core.geo = &ftl.geo;
	policy.core = &ftl.core;
	ftl.gc_blocks = GC_BLOCKS;
	ftl.slc_static_blocks = (u32)aftl_random_below(random, 4);
	ftl.slc_max_blocks = ftl.slc_static_blocks + 1 + (u32)aftl_random_below(random, 4);
	lun = (struct aftl_lun){
		.victims = victims,
		.min_valid = PPNS + 1,
		.free_head = AFTL_NIL,
		.free_tail = AFTL_NIL,
	};
	for (i = 0; i <= PPNS; i++)
		victims[i] = AFTL_NIL;
	for (i = 0; i < BLOCKS; i++)
		blocks[i] = (struct aftl_block){ .state = AFTL_BLOCK_BAD };
}

/* Fill the fake LUN with free, open, closed and failing blocks, some of them of the SLC cache. */
static void draw_blocks(struct aftl_random *random)
{
	u32 i;

	reset_fake_device(random);
	for (i = 0; i < BLOCKS; i++) {
		struct aftl_block *block = &blocks[i];
		u32 kind = (u32)aftl_random_below(random, 10);
		bool slc = kind > 6;

		*block = (struct aftl_block){
			.opened_ns = (s64)aftl_random_below(random, 6) - 2,
			.state = aftl_random_below(random, 4) ? AFTL_BLOCK_CLOSED : AFTL_BLOCK_OPEN,
			.bits = slc,
		};
		if (aftl_random_below(random, 5))
			block->valid = (u32)aftl_random_below(random, slc ? WORD_LINES : PPNS) + 1;
		if (!kind) {
			block->valid = 0;
			aftl_free_list_add_block(&ftl, &lun, block);
			continue;
		}
		block->failing = !aftl_random_below(random, 6);
		lun.slc_blocks += slc;
		if (block->state == AFTL_BLOCK_CLOSED)
			aftl_victim_list_add(&ftl, &lun, block);
	}
	lun.forced_gc = !aftl_random_below(random, 4);
	lun.out_of_blocks = !aftl_random_below(random, 6);
	lun.slc_block_empty |= !aftl_random_below(random, 6);
}

/* The closed SLC block with the fewest valid pages, among equals the oldest; NULL: none. */
static struct aftl_block *model_choose_fold(void)
{
	struct aftl_block *best = NULL;
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		struct aftl_block *block = &blocks[i];

		if (block->bits != 1 || block->state != AFTL_BLOCK_CLOSED || block->failing)
			continue;
		if (!best || best->valid > block->valid ||
		    (best->valid == block->valid && best->opened_ns > block->opened_ns))
			best = block;
	}
	return best;
}

static bool model_another_victim_costs_less(const struct aftl_block *than)
{
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		if (!blocks[i].bits && blocks[i].state == AFTL_BLOCK_CLOSED &&
		    !blocks[i].failing && blocks[i].valid < than->valid)
			return true;
	return false;
}

static bool model_fold_is_wanted(bool urgent)
{
	bool dynamic = lun.slc_blocks > ftl.slc_static_blocks;

	if (urgent)
		return dynamic;
	return lun.forced_gc || (dynamic && lun.free_blocks < GC_BLOCKS);
}

TAP_TEST(the_cheapest_block_is_folded_when_its_space_is_needed)
{
	struct aftl_random random = { .state = 64 };
	u32 folded = 0;
	u32 empty = 0;
	u32 dearer = 0;
	u32 i;

	for (i = 0; i < 30000 && !tap_failure_count(); i++) {
		bool urgent = aftl_random_below(&random, 2);
		struct aftl_block *expected;
		struct aftl_block *block;
		bool known_empty;
		bool wanted;

		draw_blocks(&random);
		known_empty = lun.slc_block_empty;
		wanted = model_fold_is_wanted(urgent);
		expected = model_choose_fold();
		CHECK(aftl_slc_cache_select_fold(&ftl, &lun) == expected);
		block = aftl_slc_cache_select_urgent_fold(&ftl, &lun, urgent);
		if (!expected || !(wanted || known_empty)) {
			CHECK(!block);
		} else if (!expected->valid) {
			CHECK(block == expected && lun.slc_block_empty);
			empty++;
		} else if (!wanted || lun.out_of_blocks) {
			CHECK(!block && !lun.slc_block_empty);
		} else if (model_another_victim_costs_less(expected)) {
			CHECK(!block);
			dearer++;
		} else {
			CHECK(block == expected);
			folded++;
		}
	}
	CHECK_RANGE(empty, 1000, i);
	CHECK_RANGE(dearer, 1000, i);
	CHECK_RANGE(folded, 500, i);
}

/* A block may be opened if the reserve, or for a dynamic block the GC watermark, stays free. */
static bool model_may_open(void)
{
	if (lun.slc_blocks < ftl.slc_static_blocks)
		return lun.free_blocks + lun.slc_blocks >= RESERVE + ftl.slc_static_blocks;
	return lun.slc_blocks < ftl.slc_max_blocks && lun.free_blocks > GC_BLOCKS;
}

/* Record a program at @placement, as program.c does. */
static void program_slc_page(const struct aftl_placement *placement)
{
	struct aftl_block *block = placement->block;

	CHECK_EQ(placement->page, block->frontier);
	CHECK_EQ(placement->pages, 1);
	CHECK_EQ(placement->mode, AFTL_MODE_SLC);
	block->frontier += BITS;
	block->programmed++;
	CHECK(block->programmed <= WORD_LINES);
	CHECK_EQ(lun.slc_open == block, block->programmed < WORD_LINES);
	if (block->programmed == WORD_LINES)
		block->state = AFTL_BLOCK_CLOSED;
}

static void erase_a_block(struct aftl_random *random)
{
	struct aftl_block *block = &blocks[aftl_random_below(random, BLOCKS)];

	if (block->state != AFTL_BLOCK_CLOSED)
		return;
	aftl_slc_block_erased(&ftl, &lun, block);
	*block = (struct aftl_block){ 0 };
	aftl_free_list_add_block(&ftl, &lun, block);
}

/* Let the policy take a free block for other data, or give one back. */
static void move_free_blocks(struct aftl_random *random)
{
	struct aftl_block *block;

	if (lun.free_blocks > RESERVE && aftl_random_below(random, 2)) {
		block = aftl_free_block_take(&ftl, &lun, 0);
		block->state = AFTL_BLOCK_CLOSED;
	} else {
		erase_a_block(random);
	}
}

/* Return true if a program of host data got a place. */
static bool place_host_write(void)
{
	struct aftl_program_request need = { .cause = AFTL_CAUSE_HOST, .units = 1 };
	u32 first_free = lun.free_head;
	bool opens = !lun.slc_open && model_may_open();
	bool expected = lun.slc_open || opens;
	u32 slc_blocks = lun.slc_blocks + opens;
	u32 free_blocks = lun.free_blocks - opens;
	struct aftl_placement placement;
	bool placed = aftl_slc_cache_place_write(&ftl, &lun, &need, &placement);

	CHECK_EQ(placed, expected);
	CHECK_EQ(lun.slc_blocks, slc_blocks);
	CHECK_EQ(lun.free_blocks, free_blocks);
	CHECK(!opens || (placed && placement.block == &blocks[first_free] &&
			 placement.block->bits == 1));
	if (placed)
		program_slc_page(&placement);
	return placed;
}

static u32 count_blocks_of_cache(void)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		count += blocks[i].bits == 1;
	return count;
}

TAP_TEST(the_cache_leaves_the_reserve_and_the_gc_watermark)
{
	struct aftl_random random = { .state = 65 };
	u32 refused = 0;
	u32 placed = 0;
	u32 most = 0;
	u32 i;
	u32 j;

	for (i = 0; i < 200 && !tap_failure_count(); i++) {
		reset_fake_device(&random);
		for (j = 0; j < BLOCKS; j++)
			aftl_free_list_add_block(&ftl, &lun, &blocks[j]);
		for (j = 0; j < 1000 && !tap_failure_count(); j++) {
			bool done = place_host_write();

			placed += done;
			refused += !done;
			if (!aftl_random_below(&random, 4))
				move_free_blocks(&random);
			CHECK_EQ(lun.slc_blocks, count_blocks_of_cache());
			CHECK(lun.slc_blocks <= ftl.slc_max_blocks);
			CHECK(lun.free_blocks >= RESERVE);
			most += lun.slc_blocks == ftl.slc_max_blocks;
		}
	}
	CHECK_RANGE(placed, 10000, i * 1000);
	CHECK_RANGE(refused, 10000, i * 1000);
	CHECK_RANGE(most, 1000, i * 1000);
}

TAP_TEST(the_cache_takes_only_host_data_without_a_stream_of_the_host)
{
	static const struct aftl_policy_type with_streams = {
		.reserve = RESERVE, .host_streams = 8,
	};
	struct aftl_program_request need = { .cause = AFTL_CAUSE_HOST, .units = 1, .stream = 2 };
	struct aftl_random random = { .state = 66 };
	struct aftl_placement placement;
	u32 i;

	reset_fake_device(&random);
	ftl.streams = AFTL_STREAMS;
	for (i = 0; i < BLOCKS; i++)
		aftl_free_list_add_block(&ftl, &lun, &blocks[i]);
	CHECK(aftl_slc_cache_place_write(&ftl, &lun, &need, &placement));
	ftl.type = &with_streams;
	CHECK(!aftl_slc_cache_place_write(&ftl, &lun, &need, &placement));
	need.stream = 0;
	CHECK(aftl_slc_cache_place_write(&ftl, &lun, &need, &placement));
	ftl.filling = true;
	CHECK(!aftl_slc_cache_place_write(&ftl, &lun, &need, &placement));
	ftl.filling = false;
	need.cause = AFTL_CAUSE_GC;
	CHECK(!aftl_slc_cache_place_write(&ftl, &lun, &need, &placement));
}
