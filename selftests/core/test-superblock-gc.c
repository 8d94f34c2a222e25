// SPDX-License-Identifier: GPL-2.0-only
/*
 * The superblock that GC chooses, compared with a model, and the common erase of its blocks, with
 * fake neighbours: no device exists, and the test itself relocates pages and erases blocks.
 */
#include "core/base/random.h"
#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/superblock-gc.h"
#include "tap.h"

#define MEMBERS 3U
#define LUNS (2 * MEMBERS)
#define NUMBERS 8U
#define PAGES 8U
#define RESERVE 1U
#define GC_MAX_VALID 5U

static const struct aftl_policy_type type = { .reserve = RESERVE };
static const struct aftl_host_ops ops;
static struct aftl ftl;
static struct aftl_lun luns[LUNS];
static struct aftl_block blocks[LUNS * NUMBERS];
static struct aftl_die_group groups[LUNS / MEMBERS];
static struct aftl_superblock_state superblocks[LUNS / MEMBERS * NUMBERS];
static u32 victims[LUNS][PAGES + 1];
static u64 oob[LUNS * NUMBERS * PAGES];
static u64 valid_bits[LUNS * NUMBERS * PAGES / 64 + 1];

static void reset_fake_device(void)
{
	u32 i, j;

	ftl = (struct aftl){ .type = &type, .luns = luns, .die_groups = groups };
	ftl.superblocks = superblocks;
	ftl.geo.luns = LUNS;
	ftl.geo.superblock_luns = MEMBERS;
	ftl.geo.blocks_per_lun = NUMBERS;
	ftl.geo.blocks_per_lun_inverse = aftl_inverse(NUMBERS);
	ftl.geo.blocks = LUNS * NUMBERS;
	ftl.geo.block_ppns = PAGES;
	ftl.geo.pages = PAGES;
	ftl.geo.page_units = 1;
	ftl.geo.passes = 1;
	ftl.program_units = 1;
	ftl.gc_max_valid = GC_MAX_VALID;
	ftl.media.geo = &ftl.geo;
	ftl.media.blocks = blocks;
	ftl.media.valid = valid_bits;
	ftl.media.oob.chunk[0] = oob;
	ftl.media.oob_layout.near = LUNS * NUMBERS * PAGES;
	ftl.media.oob_layout.bytes = sizeof(*oob);
	ftl.media.oob_layout.attr = 2;
	ftl.ops = &ops;
	memset(superblocks, 0, sizeof(superblocks));
	for (i = 0; i < LUNS / MEMBERS; i++)
		groups[i] = (struct aftl_die_group){ .victim = AFTL_NIL };
	for (i = 0; i < LUNS; i++) {
		luns[i] = (struct aftl_lun){
			.index = i,
			.victims = victims[i],
			.min_valid = PAGES + 1,
			.free_head = AFTL_NIL,
			.free_tail = AFTL_NIL,
		};
		for (j = 0; j <= PAGES; j++)
			victims[i][j] = AFTL_NIL;
	}
}

static void draw_block(struct aftl_random *random, struct aftl_lun *lun, struct aftl_block *block,
		       u32 used)
{
	bool in_use = aftl_random_below(random, 10) < used;

	*block = (struct aftl_block){ 0 };
	if (!aftl_random_below(random, 20)) {
		block->state = AFTL_BLOCK_BAD;
		return;
	}
	if (!in_use) {
		aftl_free_list_add_block(&ftl, lun, block);
		return;
	}
	block->failing = !aftl_random_below(random, 40);
	lun->failing_blocks += block->failing;
	block->state = aftl_random_below(random, 5) ? AFTL_BLOCK_CLOSED : AFTL_BLOCK_OPEN;
	block->programmed = block->state == AFTL_BLOCK_OPEN ?
				    (u32)aftl_random_below(random, PAGES) : PAGES;
	block->valid = (u32)aftl_random_below(random, block->programmed + 1);
	if (block->state == AFTL_BLOCK_CLOSED)
		aftl_victim_list_add(&ftl, lun, block);
}

/* Fill both groups with superblocks: unused, partly or all in use. */
static void draw_superblocks(struct aftl_random *random)
{
	u32 group, number, i;

	reset_fake_device();
	for (group = 0; group < LUNS / MEMBERS; group++)
		for (number = 0; number < NUMBERS; number++) {
			u32 used = aftl_random_below(random, 4) ? 10 :
								  (u32)aftl_random_below(random, 8);

			for (i = 0; i < MEMBERS; i++)
				draw_block(random, &luns[group * MEMBERS + i],
					   aftl_superblock_block(&ftl, group, number, i), used);
		}
	for (i = 0; i < LUNS; i++)
		luns[i].out_of_blocks = !aftl_random_below(random, 12);
	ftl.read_only = !aftl_random_below(random, 12);
}

/* Host writes leave the reserve to GC, and one more block to retire failing blocks with. */
static bool model_is_urgent(const struct aftl_lun *lun)
{
	return lun->free_blocks <= RESERVE + (lun->failing_blocks ? 1 : 0);
}

/* How far GC goes: full superblocks, partly filled ones too, or even blocks full of valid pages. */
enum reach { FULL, PART, SWAP };

/* A LUN can take more valid pages than GC gains by a block only if it has free blocks to spare. */
static bool model_can_empty(const struct aftl_lun *lun, const struct aftl_block *block,
			    enum reach reach)
{
	bool spare = lun->free_blocks > RESERVE + 1;
	bool small = block->valid <= GC_MAX_VALID || spare;

	if (block->state == AFTL_BLOCK_BAD)
		return true;
	if (block->state == AFTL_BLOCK_FREE)
		return reach != FULL && lun->free_blocks > 1;
	if (block->state == AFTL_BLOCK_OPEN)
		return reach != FULL && small && !lun->out_of_blocks;
	if (!block->valid)
		return true;
	return !lun->out_of_blocks &&
	       (small || (reach == SWAP && lun->free_blocks >= RESERVE));
}

static bool model_gains(const struct aftl_block *block)
{
	if (block->failing)
		return false;
	if (block->state == AFTL_BLOCK_OPEN)
		return block->valid < block->programmed;
	return block->state == AFTL_BLOCK_CLOSED && block->valid <= GC_MAX_VALID;
}

/**
 * struct choice - the superblock that the model chooses
 * @number: AFTL_NIL: none
 * @cost: valid pages of all its blocks
 * @blocks: number of its blocks that are not bad
 */
struct choice {
	u32 number;
	u32 cost;
	u32 blocks;
};

/* Choose the superblock of the group of @lun with the fewest valid pages. */
static struct choice model_cheapest(const struct aftl_lun *lun, enum reach reach)
{
	u32 group = lun->index / MEMBERS;
	struct choice best = { .number = AFTL_NIL };
	u32 number, i;

	for (number = 0; number < NUMBERS; number++) {
		const struct aftl_block *own =
			aftl_superblock_block(&ftl, group, number, lun->index % MEMBERS);
		bool must_gain = reach != FULL || ftl.read_only || model_is_urgent(lun);
		struct choice now = { .number = number };
		bool possible = true;
		bool used = false;

		for (i = 0; i < MEMBERS; i++) {
			const struct aftl_block *block =
				aftl_superblock_block(&ftl, group, number, i);

			used |= block->state == AFTL_BLOCK_OPEN ||
				block->state == AFTL_BLOCK_CLOSED;
			possible &= model_can_empty(&luns[group * MEMBERS + i], block, reach);
			now.blocks += block->state != AFTL_BLOCK_BAD;
			now.cost += block->state == AFTL_BLOCK_BAD ? 0 : block->valid;
		}
		if (used && possible && (!must_gain || model_gains(own)) &&
		    (best.number == AFTL_NIL || now.cost < best.cost))
			best = now;
	}
	return best;
}

static struct choice model_choose(const struct aftl_lun *lun, u32 limit)
{
	struct choice choice = model_cheapest(lun, FULL);

	if (choice.number != AFTL_NIL && choice.cost <= limit * choice.blocks)
		return choice;
	choice.number = AFTL_NIL;
	if (!model_is_urgent(lun))
		return choice;
	choice = model_cheapest(lun, PART);
	if (choice.number != AFTL_NIL && choice.cost <= limit * choice.blocks)
		return choice;
	return model_cheapest(lun, SWAP);
}

/* Blocks that were open or free are closed, and all LUNs of the group may start to relocate. */
static void check_begun_gc(const struct aftl_lun *lun, const struct choice *choice)
{
	u32 number = lun->index / MEMBERS;
	const struct aftl_die_group *group = &groups[number];
	u32 i;

	CHECK_EQ(group->victim, choice->number);
	CHECK_EQ(group->cause, AFTL_CAUSE_GC);
	CHECK_EQ(ftl.stats.counters.gc_valid_units, choice->cost);
	CHECK_EQ(ftl.stats.counters.gc_empty_blocks, choice->cost ? 0 : MEMBERS);
	for (i = 0; i < MEMBERS; i++) {
		const struct aftl_block *block =
			aftl_superblock_block(&ftl, number, choice->number, i);

		CHECK(block->state == AFTL_BLOCK_CLOSED || block->state == AFTL_BLOCK_BAD);
		CHECK(luns[number * MEMBERS + i].runnable);
	}
}

TAP_TEST(gc_takes_the_superblock_with_the_fewest_valid_pages)
{
	struct aftl_random random = { .state = 67 };
	u32 by_reach[2] = { 0 };
	u32 none = 0;
	u32 i;

	for (i = 0; i < 20000 && !tap_failure_count(); i++) {
		u32 limit = 1 + (u32)aftl_random_below(&random, PAGES);
		struct aftl_lun *lun;
		struct choice expected;
		bool urgent;

		draw_superblocks(&random);
		lun = &luns[aftl_random_below(&random, LUNS)];
		urgent = model_is_urgent(lun);
		expected = model_choose(lun, limit);
		CHECK_EQ(aftl_superblock_gc_start(&ftl, lun, AFTL_CAUSE_GC, limit),
			 expected.number != AFTL_NIL);
		if (expected.number == AFTL_NIL) {
			none++;
			CHECK_EQ(groups[lun->index / MEMBERS].victim, AFTL_NIL);
			continue;
		}
		check_begun_gc(lun, &expected);
		CHECK_EQ(aftl_superblock_gc_is_urgent(&ftl, lun), urgent);
		by_reach[urgent]++;
	}
	CHECK_RANGE(none, 500, i);
	CHECK_RANGE(by_reach[false], 500, i);
	CHECK_RANGE(by_reach[true], 500, i);
}

/* Relocate a valid page of @block to nowhere, as if the host had overwritten it. */
static void drop_a_valid_page(struct aftl_lun *lun, struct aftl_block *block)
{
	if (block->listed)
		aftl_move_victim_to_list_of_fewer_valid(&ftl, lun, block);
	else
		block->valid--;
}

/* Let @lun relocate a page or erase its block, unless it waits. Return: true if it has erased. */
static bool do_part_of_gc(struct aftl_lun *lun)
{
	struct aftl_block *block = aftl_superblock_gc_member(&ftl, lun);
	u32 group = lun->index / MEMBERS;
	u32 i;

	if (!block)
		return false;
	if (block->valid) {
		drop_a_valid_page(lun, block);
		return false;
	}
	/* The erase of one block needs the data of the others to be elsewhere. */
	for (i = 0; i < MEMBERS; i++) {
		const struct aftl_block *other =
			aftl_superblock_block(&ftl, group, groups[group].victim, i);

		CHECK(other->state == AFTL_BLOCK_BAD || !other->valid);
	}
	aftl_superblock_gc_note_erased_member(&ftl, lun);
	return true;
}

static u32 count_free_blocks_of_superblock(u32 group, u32 number)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < MEMBERS; i++)
		count += aftl_superblock_block(&ftl, group, number, i)->state == AFTL_BLOCK_FREE;
	return count;
}

/* Empty and erase the victim of @group in random turns. Blocks become free all at once. */
static void run_gc_of_group(struct aftl_random *random, u32 group)
{
	u32 number = groups[group].victim;
	u32 erased = 0;
	u32 turns;
	u32 good = 0;

	for (turns = 0; turns < MEMBERS; turns++)
		good += aftl_superblock_block(&ftl, group, number, turns)->state !=
			AFTL_BLOCK_BAD;
	for (turns = 0; turns < 1000 && groups[group].victim != AFTL_NIL; turns++) {
		CHECK_EQ(count_free_blocks_of_superblock(group, number), 0);
		erased += do_part_of_gc(&luns[group * MEMBERS +
					      aftl_random_below(random, MEMBERS)]);
	}
	CHECK_EQ(erased, good);
	CHECK_EQ(groups[group].victim, AFTL_NIL);
	CHECK_EQ(groups[group].collected, 1);
	CHECK(!groups[group].urgent);
}

TAP_TEST(the_blocks_of_a_superblock_become_free_together)
{
	struct aftl_random random = { .state = 68 };
	u32 collected = 0;
	u32 i, j;

	for (i = 0; i < 3000 && !tap_failure_count(); i++) {
		struct aftl_lun *lun;
		u32 number;
		u32 group;

		draw_superblocks(&random);
		lun = &luns[aftl_random_below(&random, LUNS)];
		group = lun->index / MEMBERS;
		if (!aftl_superblock_gc_start(&ftl, lun, AFTL_CAUSE_GC, PAGES))
			continue;
		number = groups[group].victim;
		run_gc_of_group(&random, group);
		for (j = 0; j < MEMBERS; j++) {
			const struct aftl_block *block =
				aftl_superblock_block(&ftl, group, number, j);

			CHECK(block->state == AFTL_BLOCK_FREE || block->state == AFTL_BLOCK_BAD);
		}
		collected++;
	}
	CHECK_RANGE(collected, 1000, i);
}

/* After a search in vain GC waits for writes, unless a LUN is short of blocks or the host asks. */
TAP_TEST(a_search_in_vain_is_not_repeated_at_once)
{
	struct aftl_random random = { .state = 69 };
	struct aftl_lun *lun = &luns[MEMBERS];
	u64 work;

	do
		draw_superblocks(&random);
	while (model_is_urgent(lun) || model_choose(lun, 0).number != AFTL_NIL ||
	       model_choose(lun, PAGES).number == AFTL_NIL);
	CHECK(!aftl_superblock_gc_start(&ftl, lun, AFTL_CAUSE_GC, 0));
	work = ftl.work;
	CHECK(!aftl_superblock_gc_start(&ftl, lun, AFTL_CAUSE_GC, PAGES));
	CHECK_MSG(ftl.work == work, "the search was repeated");
	ftl.seq += PAGES / 8;
	CHECK(aftl_superblock_gc_start(&ftl, lun, AFTL_CAUSE_GC, PAGES));
}
