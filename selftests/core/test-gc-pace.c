// SPDX-License-Identifier: GPL-2.0-only
/*
 * The budget of paced GC, with fake neighbours: no device exists.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-pace.h"
#include "core/ftl/lun.h"
#include "tap.h"

#define RESERVE 3U
#define PACE 4U

static const struct aftl_policy_type type = { .reserve = RESERVE };
static struct aftl ftl = { .type = &type };
static struct aftl_block victim;
static struct aftl_lun lun;

static void take_victim(u32 valid, u32 cause)
{
	victim.valid = valid;
	lun.reloc = (struct aftl_reloc){
		.kind = AFTL_RELOC_EMPTY,
		.cause = cause,
		.from = &victim,
	};
	aftl_gc_pace_set_rate_for_victim(&ftl, &lun);
}

/* Relocate @step pages at a time while GC is due. Return: number of relocated pages. */
static u32 relocate_while_due(u32 step)
{
	u32 done = 0;

	for (; victim.valid && aftl_paced_gc_is_due(&ftl, &lun); done += step) {
		u32 some = min(step, victim.valid);

		victim.valid -= some;
		aftl_gc_pace_count_relocated_pages(&lun, some);
	}
	return done;
}

/* The pages that a victim yields suffice for its own relocation: free space does not shrink. */
TAP_TEST(a_victim_is_empty_when_the_host_has_used_what_it_yields)
{
	struct aftl_random random = { .state = 45 };
	u32 i;

	ftl.config.gc_pace = PACE;
	for (i = 0; i < 3000; i++) {
		u32 ppns = 16 + (u32)aftl_random_below(&random, 240);
		u32 valid = 1 + (u32)aftl_random_below(&random, ppns - 1);
		u32 step = 1 + (u32)aftl_random_below(&random, 4);
		u32 free = ppns - valid;
		u32 written;

		ftl.geo.block_ppns = ppns;
		take_victim(valid, AFTL_CAUSE_GC);
		relocate_while_due(step);
		for (written = 1; written <= free; written++) {
			u32 share = valid * written / free;
			u32 done;

			aftl_gc_pace_count_host_pages(&lun, 1);
			relocate_while_due(step);
			done = valid - victim.valid;
			CHECK(done <= share + step);
			CHECK(done + 1 >= share);
		}
		CHECK(victim.valid <= 1);
	}
}

TAP_TEST(a_large_block_with_few_valid_pages_is_emptied)
{
	u32 valid;

	ftl.config.gc_pace = PACE;
	ftl.geo.block_ppns = 1U << 14;
	for (valid = 1; valid < 200; valid++) {
		u32 written;

		take_victim(valid, AFTL_CAUSE_GC);
		relocate_while_due(1);
		for (written = ftl.geo.block_ppns - valid; written; written--) {
			aftl_gc_pace_count_host_pages(&lun, 1);
			relocate_while_due(1);
		}
		CHECK(victim.valid <= 1);
	}
}

TAP_TEST(a_block_emptied_for_another_reason_costs_a_page_for_each_page)
{
	u32 written;

	ftl.geo.block_ppns = 64;
	take_victim(60, AFTL_CAUSE_WEAR);
	CHECK_EQ(relocate_while_due(1), 1);
	for (written = 1; written < 60; written++) {
		aftl_gc_pace_count_host_pages(&lun, 1);
		CHECK_EQ(relocate_while_due(1), 1);
	}
	CHECK_EQ(victim.valid, 0);
}

TAP_TEST(pacing_begins_above_the_reserve_and_leaves_other_tasks_alone)
{
	u32 slc;

	lun.reloc = (struct aftl_reloc){ .kind = AFTL_RELOC_NONE };
	ftl.config.gc_pace = PACE;
	for (slc = 0; slc < 3; slc++) {
		ftl.slc_static_blocks = slc;
		lun.free_blocks = RESERVE + PACE + slc;
		CHECK(aftl_paced_gc_is_due(&ftl, &lun));
		lun.free_blocks++;
		CHECK(!aftl_paced_gc_is_due(&ftl, &lun));
	}
	ftl.slc_static_blocks = 0;
	lun.free_blocks = 0;
	lun.out_of_blocks = true;
	CHECK(!aftl_paced_gc_is_due(&ftl, &lun));
	lun.out_of_blocks = false;
	lun.below_reserve = true;
	CHECK(!aftl_paced_gc_is_due(&ftl, &lun));
	lun.below_reserve = false;
	take_victim(8, AFTL_CAUSE_FOLD);
	CHECK(!aftl_paced_gc_is_due(&ftl, &lun));
}
