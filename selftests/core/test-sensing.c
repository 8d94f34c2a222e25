// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sensing of pages, compared with a model, with a fake policy and fake flash: no device exists.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "core/ftl/sensing.h"
#include "core/nand/oob.h"
#include "tap.h"

#define LUNS 2U
#define BLOCKS 3U
#define PAGES 8U
#define UNITS 2U
#define LIMIT 40U

static u32 wanted_reference;
static u32 found_reference;

static u32 fake_reference(struct aftl_policy *policy __maybe_unused,
			  const struct aftl_block *block __maybe_unused,
			  u32 page __maybe_unused)
{
	return wanted_reference;
}

static void note_found_reference(struct aftl_policy *policy __maybe_unused,
				 const struct aftl_block *block __maybe_unused,
				 u32 page __maybe_unused, u32 shift)
{
	found_reference = shift;
}

static const struct aftl_policy_type type = {
	.reference = fake_reference,
	.reference_found = note_found_reference,
};

static struct aftl ftl;
static struct aftl_lun luns[LUNS];
static struct aftl_block blocks[LUNS * BLOCKS];
static u16 attrs[LUNS * BLOCKS * PAGES];

static void make_fake_flash(struct aftl_random *random)
{
	u32 i;

	ftl = (struct aftl){ .type = &type, .luns = luns, .max_block_reads = LIMIT };
	ftl.geo.pages = PAGES;
	ftl.geo.page_units = UNITS;
	ftl.geo.page_unit_shift = 1;
	ftl.geo.pages_inverse = aftl_inverse(PAGES);
	ftl.geo.blocks_per_lun = BLOCKS;
	ftl.geo.blocks_per_lun_inverse = aftl_inverse(BLOCKS);
	ftl.media.geo = &ftl.geo;
	ftl.media.blocks = blocks;
	ftl.media.oob.chunk[0] = attrs;
	ftl.media.oob_layout.near = LUNS * BLOCKS * PAGES;
	ftl.media.oob_layout.bytes = sizeof(*attrs);
	ftl.cell.media = &ftl.media;
	ftl.sense.cell = &ftl.cell;
	for (i = 0; i < AFTL_MODES; i++)
		ftl.sense.mode_ns[i] = 1000 + 7 * i;
	for (i = 0; i < LUNS; i++)
		luns[i] = (struct aftl_lun){ .index = i };
	for (i = 0; i < LUNS * BLOCKS; i++)
		blocks[i] = (struct aftl_block){
			.state = aftl_random_below(random, 2) ? AFTL_BLOCK_CLOSED : AFTL_BLOCK_OPEN,
		};
}

/* Blocks without erases have the default reference, so that each wrong step costs a retry. */
TAP_TEST(retries_cost_time_and_disturb_the_block)
{
	struct aftl_random random = { .state = 52 };
	u64 retries = 0;
	u64 bugs = 0;
	u32 i;

	make_fake_flash(&random);
	for (i = 0; i < 3000 && !tap_failure_count(); i++) {
		struct aftl_block *block = &blocks[aftl_random_below(&random, LUNS * BLOCKS)];
		struct aftl_lun *lun = &luns[(block - blocks) / BLOCKS];
		struct aftl_block *disturbed = lun->disturbed;
		bool saturated = !aftl_random_below(&random, 20);
		u32 steps;

		if (saturated || block->reads > 2 * LIMIT)
			block->reads = saturated ? U32_MAX - 1 : 0;
		wanted_reference = (u32)aftl_random_below(&random, AFTL_SHIFT_MAX + 3);
		steps = wanted_reference <= AFTL_SHIFT_MAX ? wanted_reference : 0;
		bugs += wanted_reference > AFTL_SHIFT_MAX;
		retries += steps;
		if (saturated)
			disturbed = block->state == AFTL_BLOCK_CLOSED ? block : disturbed;
		else if (block->reads + 1 + steps >= LIMIT && block->state == AFTL_BLOCK_CLOSED)
			disturbed = block;
		found_reference = 1;
		CHECK_EQ(aftl_sense_page(&ftl, block, (u32)aftl_random_below(&random, PAGES), 0),
			 ftl.sense.mode_ns[0] * (1 + steps));
		CHECK_EQ(found_reference, 0);
		CHECK(!saturated || block->reads == U32_MAX);
		CHECK(lun->disturbed == disturbed);
		CHECK_EQ(ftl.stats.counters.read_retries, retries);
		CHECK_EQ(ftl.stats.counters.policy_bugs, bugs);
	}
}

static void draw_work(struct aftl_random *random, u32 lun, struct aftl_work *work)
{
	static const u8 phases[] = { AFTL_PHASE_PROGRAM, AFTL_PHASE_PROGRAM, AFTL_PHASE_IDLE,
				     AFTL_PHASE_ERASE };

	*work = (struct aftl_work){
		.phase = phases[aftl_random_below(random, 4)],
		.placement.block = &blocks[lun * BLOCKS + aftl_random_below(random, BLOCKS)],
		.placement.page = (u32)aftl_random_below(random, PAGES - 2),
		.placement.pages = 1 + (u32)aftl_random_below(random, 3),
	};
	work->kind = work->phase == AFTL_PHASE_IDLE ? AFTL_WORK_NONE : AFTL_WORK_PROGRAM;
}

static bool model_work_programs_page(const struct aftl_work *work, u32 page)
{
	u32 first = (u32)(work->placement.block - blocks) * PAGES + work->placement.page;

	return work->phase == AFTL_PHASE_PROGRAM && page >= first &&
	       page < first + work->placement.pages;
}

/* A suspended program still holds its pages; a second program may run meanwhile. */
TAP_TEST(pages_of_a_running_or_suspended_program_are_known)
{
	struct aftl_random random = { .state = 53 };
	u32 seen = 0;
	u32 i;
	u32 ppn;

	for (i = 0; i < 2000 && !tap_failure_count(); i++) {
		u32 lun = (u32)aftl_random_below(&random, LUNS);

		make_fake_flash(&random);
		draw_work(&random, lun, &luns[lun].work);
		if (luns[lun].work.phase != AFTL_PHASE_PROGRAM)
			draw_work(&random, lun, &luns[lun].suspended);
		for (ppn = 0; ppn < LUNS * BLOCKS * PAGES * UNITS; ppn++) {
			u32 page = ppn / UNITS;
			bool expected = model_work_programs_page(&luns[lun].work, page) ||
					(luns[lun].suspended.placement.block &&
					 model_work_programs_page(&luns[lun].suspended, page));

			CHECK_EQ(aftl_ppn_is_programming(&ftl, to_ppn(ppn)), expected);
			seen += expected;
		}
	}
	CHECK_RANGE(seen, 1000, U32_MAX);
}
