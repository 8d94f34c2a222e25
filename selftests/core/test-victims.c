// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victim selectors: the choice of each selector on a device under load, compared with its
 * definition. Also the core's decisions: when GC runs, which free block is opened, how wear is
 * levelled.
 */
#include "core/ftl/block-manager.h"
#include "core/ftl/block.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/relocation.h"
#include "core/policy/victim-rules.h"
#include "core/base/random.h"
#include "tap.h"
#include "test-device.h"

#define ROUNDS 400
#define WRITES_OF_ROUND 40

static const char shape[] =
	"channels=2 chips=1 blocks=40 layers=2 word_lines=4 op=30 fill=random fill_overwrite=100 "
	"errors=off victim_choices=6 victim_window=5";

static struct test_device device;
static u32 asked;
static u32 differed;

static bool block_may_be_victim(const struct aftl_victim_candidates *closed,
				const struct aftl_block *block)
{
	return block->state == AFTL_BLOCK_CLOSED && block->listed &&
	       block->valid <= closed->most_valid;
}

static const struct aftl_block *first_candidate(const struct aftl_victim_candidates *closed)
{
	return &device.ftl->media.blocks[closed->lun->index * device.ftl->geo.blocks_per_lun];
}

/* Number of candidate blocks of the LUN that are older than @block. */
static u32 count_candidates_older_than_block(const struct aftl_victim_candidates *closed,
					     const struct aftl_block *block)
{
	const struct aftl_block *first = first_candidate(closed);
	u32 count = 0;
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++)
		count += block_may_be_victim(closed, &first[i]) &&
			 first[i].opened_ns < block->opened_ns;
	return count;
}

/* Return the fewest valid units in any of the @window oldest candidate blocks. */
static u32 find_min_valid_slots_of_oldest_blocks(const struct aftl_victim_candidates *closed,
						 u32 window)
{
	const struct aftl_block *first = first_candidate(closed);
	u32 least = U32_MAX;
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++)
		if (block_may_be_victim(closed, &first[i]) &&
		    count_candidates_older_than_block(closed, &first[i]) < window)
			least = min(least, first[i].valid);
	return least;
}

static double compute_cost_benefit_of_block(const struct aftl_victim_candidates *closed,
					    const struct aftl_block *block)
{
	double used = (double)block->valid / device.ftl->geo.block_ppns;
	/* Selector cost_benefit counts ages in units of 65,536 ns, from 1. */
	double age = (double)((((s64)device.ftl->now_ns - block->opened_ns) >> 16) + 1);

	(void)closed;
	return block->valid ? age * (1 - used) / (2 * used) : 1e300;
}

static void check_fifo_victim(const struct aftl_victim_candidates *closed,
			      const struct aftl_block *block)
{
	CHECK_EQ(count_candidates_older_than_block(closed, block), 0);
	differed += block->valid != find_min_valid_slots_of_oldest_blocks(closed, U32_MAX);
}

static void check_windowed_victim(const struct aftl_victim_candidates *closed,
				  const struct aftl_block *block)
{
	CHECK(count_candidates_older_than_block(closed, block) < 5);
	CHECK_EQ(block->valid, find_min_valid_slots_of_oldest_blocks(closed, 5));
	differed += count_candidates_older_than_block(closed, block) != 0;
}

static void check_cost_benefit_victim(const struct aftl_victim_candidates *closed,
				      const struct aftl_block *block)
{
	const struct aftl_block *first = first_candidate(closed);
	double most = compute_cost_benefit_of_block(closed, block);
	u32 i;

	/* Selector cost_benefit divides integers, so another block's gain may be larger by 1. */
	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++)
		if (block_may_be_victim(closed, &first[i]))
			CHECK(compute_cost_benefit_of_block(closed, &first[i]) < most + 1.0001);
	differed += count_candidates_older_than_block(closed, block) &&
		    block->valid != find_min_valid_slots_of_oldest_blocks(closed, U32_MAX);
}

static void check_d_choices_victim(const struct aftl_victim_candidates *closed,
				   const struct aftl_block *block)
{
	u32 least = U32_MAX;
	u32 i;

	for (i = 0; i < 6; i++) {
		const struct aftl_block *drawn = aftl_victim_candidates_draw(closed, i);

		if (drawn)
			least = min(least, drawn->valid);
	}
	CHECK_EQ(block->valid, least);
	differed += least != find_min_valid_slots_of_oldest_blocks(closed, U32_MAX);
}

static const struct {
	const char *name;
	const struct aftl_victim_rule *rule;
	void (*check)(const struct aftl_victim_candidates *closed, const struct aftl_block *block);
} rules[] = {
	{ "fifo", &aftl_victim_fifo, check_fifo_victim },
	{ "windowed", &aftl_victim_windowed, check_windowed_victim },
	{ "cost_benefit", &aftl_victim_cost_benefit, check_cost_benefit_victim },
	{ "d_choices", &aftl_victim_d_choices, check_d_choices_victim },
};

static void call_and_check_victim_selector(u32 which, u32 lun, u32 most_valid)
{
	struct aftl *ftl = device.ftl;
	struct aftl_victim_candidates closed = {
		.policy = ftl->policy,
		.lun = &ftl->luns[lun],
		.most_valid = most_valid,
		.params = aftl_get_values_of_param_group(&ftl->config, rules[which].rule->params),
	};
	const struct aftl_block *block = rules[which].rule->select_victim(ftl->policy, &closed);

	if (!block)
		return;
	asked++;
	if (CHECK(block_may_be_victim(&closed, block) && aftl_block_lun(ftl, block) == closed.lun))
		rules[which].check(&closed, block);
}

static void check_victims_of_selector(u32 which)
{
	struct aftl_random random = { aftl_hash64(which) };
	u32 round;
	u32 most;
	u32 i;

	tap_begin("selector %s chooses what its definition says", rules[which].name);
	asked = 0;
	differed = 0;
	test_open_demo_profile(&device, "baseline",
			       test_format_params("%s victim=%s", shape, rules[which].name));
	most = device.ftl->geo.block_ppns + 1;
	for (round = 0; round < ROUNDS && !tap_failure_count(); round++) {
		for (i = 0; i < WRITES_OF_ROUND; i++)
			test_execute_request(&device, AFTL_OP_WRITE,
					     (u32)aftl_random_below(&random,
								    (u32)device.ftl->geo.units),
					     1, AFTL_PRECISE, NULL);
		for (i = 0; i < device.ftl->geo.luns; i++)
			call_and_check_victim_selector(which, i,
						       (u32)aftl_random_below(&random, most));
	}
	CHECK_RANGE(asked, ROUNDS / 2, U32_MAX);
	CHECK_RANGE(differed, ROUNDS / 10, U32_MAX);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	CHECK_RANGE(test_counters(&device)->gc_blocks, 100, U64_MAX);
	tap_end();
}

/* Number of units that GC relocates under a fixed workload with victim selector @rule. */
static u64 count_units_relocated_by_selector(const char *rule, const char *window)
{
	struct aftl_random random = { 3 };
	u64 moved;
	u32 i;

	test_open_demo_profile(&device, "baseline",
			       test_format_params("%s victim=%s victim_window=%s", shape, rule,
						  window));
	for (i = 0; i < ROUNDS; i++)
		test_execute_request(&device, AFTL_OP_WRITE,
				     (u32)aftl_random_below(&random, (u32)device.ftl->geo.units), 1,
				     AFTL_PRECISE, NULL);
	moved = test_counters(&device)->gc_valid_units;
	return moved;
}

TAP_TEST(a_victim_selector_has_its_own_parameters)
{
	u64 fifo = count_units_relocated_by_selector("fifo", "5");

	CHECK_EQ(count_units_relocated_by_selector("windowed", "1"), fifo);
	CHECK_RANGE(count_units_relocated_by_selector("windowed", "20"), 1, fifo - 1);
}

/* Blocks of one LUN */

static void open_device_with_two_params(const char *key, const char *value, const char *other,
					const char *is)
{
	const char *params = test_format_params("%s channels=1 %s=%s %s=%s", shape, key, value,
						other, is);

	test_open_demo_profile(&device, "baseline", params);
}

static void open_device_with_param(const char *key, const char *value)
{
	open_device_with_two_params(key, value, "errors", "off");
}

/* Write random units of the first 1/@part of all units. */
static void write_random_units(struct aftl_random *random, u32 part, u32 writes)
{
	while (writes--)
		test_execute_request(&device, AFTL_OP_WRITE,
				     (u32)aftl_random_below(random, device.ftl->geo.units / part),
				     1, AFTL_PRECISE, NULL);
}

/*
 * The erase of a victim changes the random draws of selector d_choices, also without host writes.
 * Otherwise d_choices would draw the same full blocks for ever.
 */
TAP_TEST(d_choices_draws_anew_for_each_victim)
{
	struct aftl_random random = { 5 };
	const struct aftl_block *before[100];
	struct aftl_victim_candidates closed;
	u32 same = 0;
	u64 erases;
	u32 i;

	open_device_with_two_params("victim", "d_choices", "gc", "60");
	closed = (struct aftl_victim_candidates){
		.policy = device.ftl->policy,
		.lun = device.ftl->luns,
		.most_valid = U32_MAX,
	};
	write_random_units(&random, 1, 1);
	erases = test_counters(&device)->array_erases;
	for (i = 0; i < ARRAY_SIZE(before); i++)
		before[i] = aftl_victim_candidates_draw(&closed, i);
	for (i = 0; i < 1000 && test_counters(&device)->array_erases == erases; i++)
		test_process_event(&device);
	CHECK_EQ(test_counters(&device)->array_erases, erases + 1);
	for (i = 0; i < ARRAY_SIZE(before); i++)
		same += before[i] && before[i] == aftl_victim_candidates_draw(&closed, i);
	CHECK_RANGE(same, 0, 20);
}

/* Queue of erased blocks, in the order in which the host saw their erases. */
static struct {
	struct test_listener listener;
	u32 block[64];
	u32 first;
	u32 count;
	u32 taken;
} line;

static void append_erased_block_to_expected_order(struct test_listener *listener, aftl_ppn_t first,
						  u32 slots)
{
	(void)listener;
	line.block[(line.first + line.count++) % ARRAY_SIZE(line.block)] = from_ppn(first) / slots;
}

static void check_block_is_oldest_erased(struct test_listener *listener, aftl_ppn_t first)
{
	u32 slots = device.ftl->geo.block_ppns;

	(void)listener;
	if (from_ppn(first) % slots)
		return;
	CHECK_EQ(from_ppn(first) / slots, line.block[line.first]);
	line.first = (line.first + 1) % ARRAY_SIZE(line.block);
	line.count--;
	line.taken++;
}

TAP_TEST(the_block_that_was_erased_first_is_opened_first)
{
	struct aftl_random random = { 1 };
	u32 index;

	open_device_with_param("gc", "40");
	line.count = 0;
	line.taken = 0;
	for (index = device.ftl->luns[0].free_head; index != AFTL_NIL;
	     index = device.ftl->media.blocks[index].next)
		line.block[line.count++] = index;
	line.first = 0;
	line.listener = (struct test_listener){ .erase = append_erased_block_to_expected_order,
						.programmed = check_block_is_oldest_erased };
	test_device_add_listener(&device, &line.listener);
	write_random_units(&random, 1, 2000);
	CHECK_RANGE(line.taken, 200, U32_MAX);
}

/* With gc_idle_limit fixed, idle GC keeps a quarter of the blocks free whenever the LUN is idle. */
TAP_TEST(idle_gc_keeps_the_configured_share_of_blocks_free)
{
	struct aftl_random random = { 2 };
	u32 i;

	open_device_with_two_params("gc", "25", "gc_idle_limit", "fixed");
	for (i = 0; i < 50; i++) {
		write_random_units(&random, 2, 20);
		test_advance_clock_by(&device, 10000000000ULL);
		CHECK_EQ(device.ftl->luns[0].free_blocks, 10);
	}
}

/*
 * By default idle GC keeps more blocks free after writes have waited for GC, and fewer blocks when
 * they have not waited for a long time; gc stays the limit.
 */
TAP_TEST(adaptive_idle_gc_keeps_the_free_blocks_that_writes_need)
{
	struct aftl_random random = { 3 };
	const struct aftl_gc_margin *margin;
	u32 most = 0;
	u32 i;

	open_device_with_param("gc", "25");
	margin = &device.ftl->luns[0].margin;
	CHECK_EQ(margin->blocks, 1);
	write_random_units(&random, 1, 4000);
	CHECK_RANGE(test_counters(&device)->gc_urgent_steps, 1, U64_MAX);
	CHECK_RANGE(margin->blocks, 5, 10);
	test_advance_clock_by(&device, 10000000000ULL);
	CHECK_EQ(device.ftl->luns[0].free_blocks,
		 min(device.ftl->gc_blocks, device.ftl->gc_margin_base + margin->blocks));
	for (i = 0; i < 1000; i++) {
		write_random_units(&random, 2, 4);
		test_advance_clock_by(&device, 10000000000ULL);
		if (i >= 500)
			most = max(most, device.ftl->luns[0].free_blocks);
	}
	CHECK_RANGE(margin->blocks, 1, 2);
	CHECK_RANGE(most, device.ftl->gc_margin_base + 1, device.ftl->gc_margin_base + 2);
}

/* Valid percentage of the emptiest closed block once an idle device has stopped collecting. */
static u32 measure_valid_percent_of_emptiest_block(const char *gc_idle_valid)
{
	struct aftl_random random = { 4 };
	struct aftl_victim_candidates closed;
	u32 least;

	open_device_with_two_params("gc", "60", "gc_idle_valid", gc_idle_valid);
	closed = (struct aftl_victim_candidates){
		.policy = device.ftl->policy,
		.lun = device.ftl->luns,
		.most_valid = U32_MAX,
	};
	write_random_units(&random, 1, 20);
	test_advance_clock_by(&device, 100000000000ULL);
	CHECK_RANGE(test_counters(&device)->gc_blocks, 1, U64_MAX);
	CHECK_RANGE(device.ftl->luns[0].free_blocks, 0, 23);
	least = find_min_valid_slots_of_oldest_blocks(&closed, U32_MAX) * 100 /
		device.ftl->geo.block_ppns;
	return least;
}

/* Idle GC spares blocks with more valid data than gc_idle_valid, even if few blocks are free. */
TAP_TEST(idle_gc_stops_at_gc_idle_valid)
{
	CHECK_RANGE(measure_valid_percent_of_emptiest_block("50"), 51, 60);
	CHECK_RANGE(measure_valid_percent_of_emptiest_block("70"), 71, 80);
}

/* Cause of the first relocation of a LUN on which relocations of all causes are due. */
static u32 find_first_relocation_cause(bool below_reserve)
{
	struct aftl_lun *lun = device.ftl->luns;
	u32 cause;

	lun->below_reserve = below_reserve;
	lun->wear.due = 2;
	CHECK_EQ(aftl_is_program_repeat_due(device.ftl, lun),
		 !below_reserve && lun->repeat_blocks);
	CHECK_EQ(aftl_reloc_next_step(device.ftl, lun, true), AFTL_STEP_READ);
	cause = lun->reloc.cause;
	aftl_reloc_cancel_task(device.ftl, lun);
	lun->below_reserve = false;
	return cause;
}

static struct aftl_block *fullest_block(void)
{
	struct aftl_block *block = device.ftl->media.blocks;
	struct aftl_block *best = NULL;
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks; i++)
		if (block[i].state == AFTL_BLOCK_CLOSED && (!best || block[i].valid > best->valid))
			best = &block[i];
	return best;
}

/* With fewer free blocks than the reserve, e.g. after a change of policy, only GC may run. */
TAP_TEST(below_the_reserve_gc_precedes_other_relocation)
{
	struct aftl_lun *lun;
	struct aftl_block *block;

	open_device_with_two_params("gc", "0", "wear_gap", "1");
	lun = device.ftl->luns;
	fullest_block()->erases = 0;
	device.ftl->media.blocks[lun->free_head].erases = 9;
	aftl_lun_update_min_max_erase_counts(device.ftl, lun);
	CHECK_EQ(find_first_relocation_cause(false), AFTL_CAUSE_WEAR);
	CHECK_EQ(find_first_relocation_cause(true), AFTL_CAUSE_GC);
	block = fullest_block();
	lun->repeats[0] = (struct aftl_repeat){ block, block->erases, 0, 1 };
	lun->repeat_blocks = 1;
	CHECK_EQ(find_first_relocation_cause(true), AFTL_CAUSE_GC);
	CHECK_EQ(find_first_relocation_cause(false), AFTL_CAUSE_REWRITE);
	block->failing = 1;
	lun->failing_blocks = 1;
	CHECK_EQ(find_first_relocation_cause(true), AFTL_CAUSE_GC);
	CHECK_EQ(find_first_relocation_cause(false), AFTL_CAUSE_RETIRE);
}

/* With fewer free blocks than the reserve, GC takes the emptiest block, whatever the selector. */
TAP_TEST(below_the_reserve_gc_takes_the_emptiest_block)
{
	struct aftl_random random = { 6 };
	struct aftl_lun *lun;
	u32 least;

	open_device_with_two_params("victim", "fifo", "gc", "60");
	lun = device.ftl->luns;
	write_random_units(&random, 8, 200);
	least = aftl_victim_fewest_valid(device.ftl, lun)->valid;
	CHECK(aftl_gc_select_victim(device.ftl, lun, U32_MAX)->valid > least);
	lun->below_reserve = true;
	CHECK_EQ(aftl_gc_select_victim(device.ftl, lun, U32_MAX)->valid, least);
}

static u32 find_max_erase_count_of_blocks(void)
{
	u32 most = 0;
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks; i++)
		most = max(most, device.ftl->media.blocks[i].erases);
	return most;
}

/* Return true if LUN 0 levels wear, and check that it empties a block with few erases. */
static bool is_wear_levelling_running(void)
{
	const struct aftl_reloc *job = &device.ftl->luns[0].reloc;

	if (job->kind != AFTL_RELOC_EMPTY || job->cause != AFTL_CAUSE_WEAR)
		return false;
	CHECK(find_max_erase_count_of_blocks() > job->from->erases + 3);
	return true;
}

static u32 measure_max_erase_count_with_wear_gap(const char *wear_gap)
{
	struct aftl_random random = { 3 };
	u32 seen = 0;
	u32 most;
	u32 i;

	open_device_with_param("wear_gap", wear_gap);
	for (i = 0; i < 20000 && !tap_failure_count(); i++) {
		write_random_units(&random, 20, 1);
		seen += is_wear_levelling_running();
	}
	CHECK_EQ(seen > 10, wear_gap[0] != '0');
	CHECK_EQ(test_counters(&device)->wear_blocks > 10, wear_gap[0] != '0');
	most = find_max_erase_count_of_blocks();
	return most;
}

/* Blocks with static data must take their share of the erases. */
TAP_TEST(wear_levelling_empties_the_least_erased_block)
{
	u32 without = measure_max_erase_count_with_wear_gap("0");

	CHECK_RANGE(measure_max_erase_count_with_wear_gap("4"), 1, without * 2 / 3);
}

/*
 * Wear levelling only compares the 16 blocks whose erases are longest ago, but all of them for the
 * static data that it moves.
 */
TAP_TEST(wear_levelling_opens_the_least_worn_free_block_or_the_most_worn_for_static_data)
{
	struct aftl_lun *lun;
	u32 index;
	u32 i = 0;

	open_device_with_two_params("wear_gap", "100", "fill_valid", "50");
	lun = device.ftl->luns;
	CHECK_RANGE(lun->free_blocks, 5, U32_MAX);
	for (index = lun->free_head; index != AFTL_NIL;
	     index = device.ftl->media.blocks[index].next)
		device.ftl->media.blocks[index].erases = 50 + (i++ + 2) % 5;
	CHECK_EQ(aftl_free_block_select(device.ftl, lun)->erases, 50);
	device.ftl->placing_cause = AFTL_CAUSE_WEAR;
	CHECK_EQ(aftl_free_block_select(device.ftl, lun)->erases, 54);
	device.ftl->config.wear_gap = 0;
	CHECK_EQ(aftl_block_index(&device.ftl->media, aftl_free_block_select(device.ftl, lun)),
		 lun->free_head);
}

/* Although the clock stands still during a fill, victim selectors by age take the oldest block. */
TAP_TEST(preconditioning_collects_the_oldest_blocks)
{
	const struct aftl_block *block;
	u32 least = U32_MAX;
	u32 most = 0;
	u32 i;

	open_device_with_two_params("victim", "fifo", "fill_overwrite", "800");
	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++) {
		block = &device.ftl->media.blocks[i];
		least = min(least, block->erases);
		most = max(most, block->erases);
		CHECK(block->opened_ns <= 0);
	}
	CHECK_RANGE(least, 5, U32_MAX);
	CHECK_RANGE(most, least, least + 1);
}

/* Host data and relocated data fill separate blocks. */
TAP_TEST(policy_separated_keeps_relocated_data_in_their_own_blocks)
{
	struct aftl_random random = { 5 };
	const struct aftl_stats *stats;
	u32 pages;
	u32 i;

	test_open_demo_profile(&device, "separated", shape);
	aftl_reset_stats(device.ftl);
	for (i = 0; i < 2000; i++)
		write_random_units(&random, 20, 1);
	stats = aftl_get_stats(device.ftl);
	pages = device.ftl->geo.luns * device.ftl->geo.pages;
	CHECK_RANGE(stats->kind_blocks[1], 100, U64_MAX);
	CHECK_RANGE(stats->kind_pages[0] + pages, stats->counters.host_program_pages,
		    stats->counters.host_program_pages + 2 * pages);
}

int main(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		check_victims_of_selector(i);
	return tap_run_all();
}
