// SPDX-License-Identifier: GPL-2.0-only
/*
 * The daily search for old data, compared with a model, with a fake policy and fake flash: no
 * device exists.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/refresh.h"
#include "core/nand/oob.h"
#include "tap.h"

#define LUNS 3U
#define BLOCKS 60U
#define PAGES 32U
#define ALL_PAGES (LUNS * BLOCKS * PAGES)
#define SOURCES 2U
/* Work that ftl->work counts for the pages of one event at most: 1024 and the last block. */
#define LARGEST_SLICE ((1024U + PAGES) / 8)

static u32 limits[AFTL_CLASSES][2];

static u32 fake_retention_hours(struct aftl_policy *policy __maybe_unused, u32 class, u32 mode)
{
	return limits[class][mode == AFTL_MODE_REDUCED];
}

static const struct aftl_policy_type type = { .retention_hours = fake_retention_hours };
static struct aftl ftl;
static struct aftl_lun luns[LUNS];
static struct aftl_block blocks[LUNS * BLOCKS];
static u64 valid[ALL_PAGES / 64];
static u64 event_times[SOURCES + 1];
static u32 event_winners[16];

/* OOB record of a page of one unit. */
static struct {
	u32 lpn;
	u16 attr;
	u16 hours;
} records[ALL_PAGES];

static void draw_page(struct aftl_random *random, struct aftl_block *block, u32 page)
{
	u32 mode = aftl_random_below(random, 2) ? AFTL_MODE_NORMAL : AFTL_MODE_REDUCED;

	records[page].attr = aftl_page_attr((u32)aftl_random_below(random, AFTL_CLASSES), mode, 0);
	records[page].hours = (u16)aftl_random_below(random, 30);
	if (aftl_random_below(random, 3)) {
		aftl_ppn_set_valid(&ftl.media, to_ppn(page));
		block->valid++;
	}
}

static void draw_device(struct aftl_random *random)
{
	u32 i;

	ftl = (struct aftl){ .type = &type, .luns = luns };
	ftl.geo.luns = LUNS;
	ftl.geo.pages = PAGES;
	ftl.geo.page_units = 1;
	ftl.geo.blocks_per_lun = BLOCKS;
	ftl.media.geo = &ftl.geo;
	ftl.media.blocks = blocks;
	ftl.media.valid = valid;
	ftl.media.oob.chunk[0] = records;
	ftl.media.oob_layout =
		(struct aftl_oob_layout){ .bytes = 8, .near = ALL_PAGES, .attr = 2, .hours = 3 };
	ftl.events.when = event_times;
	ftl.events.winner = event_winners;
	aftl_events_set_number_of_sources(&ftl.events, 1, 1);
	aftl_events_init(&ftl.events);
	ftl.event_clock = 1;
	ftl.age_ns = (100 * 60 + aftl_random_below(random, 200 * 60)) * (AFTL_HOUR_NS / 60);
	memset(valid, 0, sizeof(valid));
	memset(records, 0, sizeof(records));
	for (i = 0; i < 2 * AFTL_CLASSES; i++)
		limits[i / 2][i % 2] = (u32)(aftl_random_below(random, 2) *
					     aftl_random_below(random, 300));
	for (i = 0; i < LUNS; i++)
		luns[i] = (struct aftl_lun){ .index = i };
	for (i = 0; i < LUNS * BLOCKS; i++)
		blocks[i] = (struct aftl_block){
			.first_hour = (u32)aftl_random_below(random, 100),
		};
	for (i = 0; i < ALL_PAGES; i++)
		if (i / PAGES % 3 && i % PAGES < PAGES / 2 + i / PAGES % 17)
			draw_page(random, &blocks[i / PAGES], i);
}

static bool model_page_is_old(u32 page)
{
	u16 attr = records[page].attr;
	u32 limit = attr ? fake_retention_hours(NULL, aftl_page_class(attr), aftl_page_mode(attr)) :
			   0;
	u64 age = (ftl.age_ns + ftl.now_ns) / AFTL_HOUR_NS;

	return limit && age >= blocks[page / PAGES].first_hour + records[page].hours + limit;
}

static bool model_block_is_due(u32 block)
{
	u32 i;

	for (i = block * PAGES; i < (block + 1) * PAGES; i++)
		if (aftl_ppn_is_valid(&ftl.media, to_ppn(i)) && model_page_is_old(i))
			return true;
	return false;
}

/* Invalidate all pages of a block, as GC does when it has relocated them. */
static void invalidate_block(u32 block)
{
	u32 i;

	for (i = block * PAGES; i < (block + 1) * PAGES; i++)
		aftl_ppn_clear_valid(&ftl.media, to_ppn(i));
	blocks[block].valid = 0;
}

/* Let @lun relocate the block that the search has found, after GC has emptied every fourth. */
static void take_found_block(struct aftl_random *random, struct aftl_lun *lun, u32 *taken)
{
	u32 found = lun->index * BLOCKS + lun->refresh_block;
	const struct aftl_block *block;

	CHECK(model_block_is_due(found));
	if (!aftl_random_below(random, 4))
		invalidate_block(found);
	block = aftl_refresh_take_block(&ftl, lun);
	CHECK(block == (model_block_is_due(found) ? &blocks[found] : NULL));
	CHECK(!lun->refresh_due);
	/* The relocation may go on while the search continues. */
	if (aftl_random_below(random, 2))
		invalidate_block(found);
	taken[found]++;
}

/* Return the LUN that is searched next after LUN @last, or LUNS if there is nothing to search. */
static u32 model_next_lun(u32 last)
{
	u32 i;

	for (i = last + 1; i <= last + LUNS; i++) {
		const struct aftl_lun *lun = &luns[i % LUNS];

		if (lun->refresh_block < BLOCKS && !lun->refresh_due && !aftl_lun_is_dead(lun))
			return i % LUNS;
	}
	return LUNS;
}

/* Handle the events of one day. */
static void search_for_a_day(struct aftl_random *random, u32 *taken)
{
	u64 day_end = ftl.refresh.next_day_ns;
	u32 last = LUNS - 1;

	while (ftl.now_ns < day_end && !tap_failure_count()) {
		u32 before[LUNS];
		u32 work = ftl.work;
		u32 next;
		u32 i;

		for (i = 0; i < LUNS; i++)
			if (luns[i].refresh_due && (event_times[ftl.event_clock] == day_end ||
						    aftl_random_below(random, 2)))
				take_found_block(random, &luns[i], taken);
		for (i = 0; i < LUNS; i++)
			before[i] = luns[i].refresh_block;
		next = model_next_lun(last);
		CHECK_EQ(aftl_events_earliest_source(&ftl.events), ftl.event_clock);
		ftl.now_ns = event_times[ftl.event_clock];
		aftl_handle_refresh_scan_event(&ftl);
		CHECK_RANGE(ftl.work - work, 0, LARGEST_SLICE);
		for (i = 0; i < LUNS && ftl.now_ns < day_end; i++)
			CHECK(i == next ?
			      luns[i].refresh_due || luns[i].refresh_block > before[i] :
			      luns[i].refresh_block == before[i]);
		last = next < LUNS ? next : last;
	}
	CHECK_EQ((ftl.age_ns + ftl.now_ns) % AFTL_DAY_NS, 0);
	CHECK_EQ(ftl.refresh.next_day_ns, day_end + AFTL_DAY_NS);
}

TAP_TEST(a_day_of_searching_finds_each_block_with_old_data_once)
{
	struct aftl_random random = { .state = 54 };
	u32 found = 0;
	u32 i;
	u32 n;

	for (n = 0; n < 150 && !tap_failure_count(); n++) {
		u32 dead = (u32)aftl_random_below(&random, 2 * LUNS);
		u32 taken[LUNS * BLOCKS] = { 0 };
		bool due[LUNS * BLOCKS];

		draw_device(&random);
		if (dead < LUNS)
			luns[dead].work.phase = AFTL_PHASE_DEAD;
		for (i = 0; i < LUNS * BLOCKS; i++)
			due[i] = model_block_is_due(i) && i / BLOCKS != dead;
		aftl_refresh_set_daily_event(&ftl);
		search_for_a_day(&random, taken);
		for (i = 0; i < LUNS * BLOCKS; i++) {
			CHECK(taken[i] >= due[i] && taken[i] <= 1);
			found += due[i];
		}
	}
	CHECK_RANGE(found, 1000, LUNS * BLOCKS * n);
}

/* Handle events until the search has found a block in LUN 0. */
static void search_lun_0(void)
{
	u32 i;

	for (i = 0; i < 4 * LUNS && !luns[0].refresh_due; i++) {
		ftl.now_ns = event_times[ftl.event_clock];
		aftl_handle_refresh_scan_event(&ftl);
	}
}

TAP_TEST(a_forgotten_block_is_found_again_the_next_day)
{
	struct aftl_random random = { .state = 55 };
	u32 again = 0;
	u32 n;

	for (n = 0; n < 50 && !tap_failure_count(); n++) {
		u32 first;

		draw_device(&random);
		aftl_refresh_set_daily_event(&ftl);
		search_lun_0();
		if (!luns[0].refresh_due)
			continue;
		first = luns[0].refresh_block;
		aftl_refresh_forget_due_blocks(&ftl);
		CHECK(!aftl_refresh_take_block(&ftl, &luns[0]));
		aftl_refresh_restart_scan(&ftl);
		aftl_refresh_set_daily_event(&ftl);
		search_lun_0();
		CHECK(luns[0].refresh_due);
		CHECK_EQ(luns[0].refresh_block, first);
		again++;
	}
	CHECK_RANGE(again, 10, n);
}

/* The device of a policy without limits, and with parameter refresh 0, never acts by itself. */
TAP_TEST(without_limits_no_event_is_set)
{
	static const struct aftl_policy_type unlimited = { .name = "unlimited" };
	struct aftl_random random = { .state = 56 };
	u32 i;

	draw_device(&random);
	for (i = 0; i < LUNS; i++)
		luns[i].refresh_block = BLOCKS;
	ftl.type = &unlimited;
	aftl_refresh_set_daily_event(&ftl);
	CHECK_EQ(aftl_events_earliest_ns(&ftl.events), AFTL_NEVER);
	ftl.config.refresh = 30 * AFTL_DAY_NS;
	aftl_refresh_set_daily_event(&ftl);
	CHECK_EQ((ftl.age_ns + aftl_events_earliest_ns(&ftl.events)) % AFTL_DAY_NS, 0);
	CHECK_RANGE(aftl_events_earliest_ns(&ftl.events), 1, AFTL_DAY_NS);
}
