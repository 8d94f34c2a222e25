// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block that static wear levelling empties, compared with a model, with fake neighbours: no
 * device exists.
 */
#include "core/base/random.h"
#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/wear-level.h"
#include "tap.h"

#define BLOCKS 24U
#define PPNS 8U
#define RESERVE 1U

static const struct aftl_policy_type type = { .reserve = RESERVE };
static struct aftl ftl;
static struct aftl_lun lun;
static struct aftl_block blocks[BLOCKS];
static u32 victims[PPNS + 1];

static void reset_fake_device(u32 gap)
{
	u32 i;

	ftl = (struct aftl){ .type = &type };
	ftl.geo.blocks_per_lun = BLOCKS;
	ftl.geo.block_ppns = PPNS;
	ftl.geo.passes = 1;
	ftl.media.blocks = blocks;
	ftl.media.geo = &ftl.geo;
	ftl.luns = &lun;
	ftl.config.wear_gap = gap;
	lun = (struct aftl_lun){
		.victims = victims,
		.min_valid = PPNS + 1,
		.free_head = AFTL_NIL,
		.free_tail = AFTL_NIL,
		.wear.due = 2,
	};
	for (i = 0; i <= PPNS; i++)
		victims[i] = AFTL_NIL;
}

/* Fill the fake LUN with free, open, closed and bad blocks of random erase counts and ages. */
static void draw_blocks(struct aftl_random *random, u32 gap)
{
	u32 worn = gap / 2 + (u32)aftl_random_below(random, gap);
	u32 i;

	reset_fake_device(gap);
	for (i = 0; i < BLOCKS; i++) {
		struct aftl_block *block = &blocks[i];
		u32 kind = (u32)aftl_random_below(random, 20);

		*block = (struct aftl_block){
			.erases = 100 + (u32)aftl_random_below(random, 1 + worn),
			.opened_ns = (s64)aftl_random_below(random, 1000) - 200,
			.valid = (u32)aftl_random_below(random, PPNS + 1),
			.state = AFTL_BLOCK_CLOSED,
		};
		if (kind < 3) {
			block->valid = 0;
			aftl_free_list_add_block(&ftl, &lun, block);
		} else if (kind == 3) {
			block->state = AFTL_BLOCK_OPEN;
		} else if (kind == 4) {
			block->state = AFTL_BLOCK_BAD;
			block->erases = 0;
		} else {
			aftl_victim_list_add(&ftl, &lun, block);
		}
	}
	aftl_lun_update_min_max_erase_counts(&ftl, &lun);
}

/* The erase count of the most worn free block must be at most half the gap below the largest. */
static bool model_rest_is_worn(u32 gap)
{
	u32 most = 0;
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		if (blocks[i].state == AFTL_BLOCK_FREE)
			most = max(most, blocks[i].erases);
	return lun.free_blocks && lun.wear.most - most <= gap / 2;
}

/* Return the block that has to be emptied, or NULL. */
static const struct aftl_block *model_choose_block(u32 gap)
{
	const struct aftl_block *victim = aftl_victim_fewest_valid(&ftl, &lun);
	const struct aftl_block *oldest = NULL;
	const struct aftl_block *least = NULL;
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		const struct aftl_block *block = &blocks[i];
		bool lags = lun.wear.most - block->erases > gap - min(gap / 4, 8U);

		if (block->state != AFTL_BLOCK_CLOSED && block->state != AFTL_BLOCK_OPEN)
			continue;
		if (!least || block->erases < least->erases)
			least = block;
		if (lags && victim && block->opened_ns < victim->opened_ns &&
		    (!oldest || block->opened_ns < oldest->opened_ns))
			oldest = block;
	}
	if (!lun.free_blocks)
		return NULL;
	if (least && lun.wear.most - least->erases >= gap)
		return least;
	return model_rest_is_worn(gap) ? oldest : NULL;
}

TAP_TEST(static_data_of_little_worn_blocks_move_when_a_worn_block_is_free)
{
	struct aftl_random random = { .state = 50 };
	u32 waited = 0;
	u32 forced = 0;
	u32 moved = 0;
	u32 i;

	for (i = 0; i < 20000 && !tap_failure_count(); i++) {
		u32 gap = 4 + (u32)aftl_random_below(&random, 60);
		const struct aftl_block *expected;
		const struct aftl_block *block;

		draw_blocks(&random, gap);
		expected = model_choose_block(gap);
		block = aftl_wear_select_cold(&ftl, &lun);
		CHECK(block == expected);
		CHECK(!block || block->state == AFTL_BLOCK_CLOSED);
		CHECK(block || lun.wear.due);
		forced += block && lun.wear.most - block->erases >= gap;
		moved += !!block;
		waited += !block && lun.free_blocks && lun.wear.most - lun.wear.least > gap - 1;
	}
	CHECK_RANGE(moved - forced, 1000, i);
	CHECK_RANGE(forced, 1000, i);
	CHECK_RANGE(waited, 1, i);
}

TAP_TEST(wear_levelling_lets_gc_have_every_second_erase)
{
	struct aftl_random random = { .state = 51 };

	do
		draw_blocks(&random, 4);
	while (!model_choose_block(4));
	lun.wear.due = 0;
	aftl_wear_block_erased(&ftl, &lun, &blocks[0]);
	CHECK(!aftl_wear_select_cold(&ftl, &lun));
	aftl_wear_block_erased(&ftl, &lun, &blocks[0]);
	CHECK(aftl_wear_select_cold(&ftl, &lun));
}

TAP_TEST(an_erase_raises_the_largest_erase_count)
{
	reset_fake_device(4);
	blocks[0].erases = 7;
	aftl_wear_block_erased(&ftl, &lun, &blocks[0]);
	CHECK_EQ(lun.wear.most, 8);
	blocks[0].erases = 3;
	aftl_wear_block_erased(&ftl, &lun, &blocks[0]);
	CHECK_EQ(lun.wear.most, 8);
}
