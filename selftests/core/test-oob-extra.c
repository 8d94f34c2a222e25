// SPDX-License-Identifier: GPL-2.0-only
/*
 * Extra OOB metadata of blocks, compared with a model, with fake flash and a host that counts its
 * allocations: no device exists.
 */
#include <stdlib.h>

#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/oob-extra.h"
#include "tap.h"

#define BLOCKS 6U
#define PAGES 8U
#define UNITS 2U
#define PPNS (PAGES * UNITS)
/* A record: the lpn words of two units, attributes, two write generations, hours. */
#define RECORD_WORDS 8U
#define RECORD_ATTR 4U
#define RECORD_GENERATION 5U
#define RECORD_HOURS 7U

static struct aftl ftl;
static struct aftl_block blocks[BLOCKS];
static u16 records[BLOCKS * PAGES][RECORD_WORDS];
static u32 allocations;
static u64 allocated_bytes;

static struct {
	struct aftl_origin origin[BLOCKS * PPNS];
	u16 hours[BLOCKS * PAGES];
	bool used[BLOCKS];
} model;

static void *fake_alloc(void *host __maybe_unused, size_t bytes)
{
	allocations++;
	allocated_bytes += bytes;
	return calloc(1, bytes);
}

static void fake_free(void *host __maybe_unused, void *memory, size_t bytes)
{
	allocations--;
	allocated_bytes -= bytes;
	free(memory);
}

static const struct aftl_host_ops late = {
	.alloc = fake_alloc, .alloc_later = fake_alloc, .free = fake_free,
};

static const struct aftl_host_ops early = { .alloc = fake_alloc, .free = fake_free };

static void make_fake_flash(const struct aftl_host_ops *ops, bool hours_in_record)
{
	ftl = (struct aftl){ .ops = ops };
	memset(&model, 0, sizeof(model));
	memset(blocks, 0, sizeof(blocks));
	memset(records, 0, sizeof(records));
	ftl.geo.blocks = BLOCKS;
	ftl.geo.pages = PAGES;
	ftl.geo.page_units = UNITS;
	ftl.geo.page_unit_shift = 1;
	ftl.geo.block_ppns = PPNS;
	ftl.geo.pages_inverse = aftl_inverse(PAGES);
	ftl.media.geo = &ftl.geo;
	ftl.media.blocks = blocks;
	ftl.media.models_errors = true;
	ftl.media.oob.chunk[0] = records;
	ftl.media.oob_layout.near = BLOCKS * PAGES;
	ftl.media.oob_layout.bytes = sizeof(*records);
	ftl.media.oob_layout.attr = RECORD_ATTR;
	ftl.media.oob_layout.generation = RECORD_GENERATION;
	ftl.media.oob_layout.hours = hours_in_record ? RECORD_HOURS : 0;
	ftl.media.oob_layout.extra = PPNS + (hours_in_record ? 0 : PAGES);
	CHECK_EQ(aftl_oob_extra_alloc(&ftl), 0);
}

static void store_origin(struct aftl_random *random, u32 block)
{
	u32 ppn = block * PPNS + (u32)aftl_random_below(random, PPNS);
	struct aftl_origin origin = {
		.generation = (u16)aftl_random_next(random),
		.inherited = (u16)max_t(int, (int)aftl_random_below(random, 12) - 8, 0),
	};

	model.origin[ppn] = origin;
	model.used[block] |= origin.inherited;
	aftl_oob_store_generation_and_errors(&ftl, &blocks[block], to_ppn(ppn), origin);
}

static void store_hours(struct aftl_random *random, u32 block)
{
	u32 page = (u32)aftl_random_below(random, PAGES);
	u16 hours = aftl_random_below(random, 4) ? 0 : (u16)aftl_random_below(random, 1000);

	model.hours[block * PAGES + page] = hours;
	model.used[block] |= hours && !ftl.media.oob_layout.hours;
	aftl_oob_set_program_timestamp_of_page(&ftl, &blocks[block], page, hours);
}

static void erase_block(u32 block)
{
	u32 i;

	/* An erase leaves the write generations, which no read looks at before the next program. */
	for (i = block * PPNS; i < (block + 1) * PPNS; i++)
		model.origin[i].inherited = 0;
	memset(&model.hours[block * PAGES], 0, PAGES * sizeof(*model.hours));
	model.used[block] = false;
	aftl_oob_reset_erased_block(&ftl, &blocks[block]);
}

static void compare_with_model(void)
{
	u32 used = 0;
	u32 i;

	for (i = 0; i < BLOCKS * PPNS; i++) {
		struct aftl_origin origin =
			aftl_oob_origin(&ftl.media, &blocks[i / PPNS], to_ppn(i));

		CHECK_EQ(origin.generation, model.origin[i].generation);
		CHECK_EQ(origin.inherited, model.origin[i].inherited);
	}
	for (i = 0; i < BLOCKS * PAGES; i++)
		CHECK_EQ(aftl_get_program_timestamp_of_page(&ftl.media, &blocks[i / PAGES],
							    i % PAGES),
			 model.hours[i]);
	for (i = 0; i < BLOCKS; i++)
		used += model.used[i];
	CHECK_EQ(allocations, ftl.ops->alloc_later ? used : 1);
	CHECK_EQ(ftl.memory_bytes, allocated_bytes);
}

static void run_random_blocks(const struct aftl_host_ops *ops, bool hours_in_record, u64 seed)
{
	struct aftl_random random = { .state = seed };
	u32 i;

	make_fake_flash(ops, hours_in_record);
	for (i = 0; i < 5000 && !tap_failure_count(); i++) {
		u32 block = (u32)aftl_random_below(&random, BLOCKS);

		switch (aftl_random_below(&random, 12)) {
		case 0:
			erase_block(block);
			break;
		case 1 ... 3:
			store_hours(&random, block);
			break;
		default:
			store_origin(&random, block);
		}
		compare_with_model();
	}
	aftl_oob_extra_free(&ftl);
	CHECK_EQ(allocations, 0);
	CHECK_EQ(ftl.memory_bytes, 0);
}

TAP_TEST(a_block_has_extra_metadata_from_the_first_value_to_the_erase)
{
	run_random_blocks(&late, false, 71);
	run_random_blocks(&late, true, 72);
}

TAP_TEST(a_host_that_cannot_allocate_later_allocates_once)
{
	run_random_blocks(&early, false, 73);
	run_random_blocks(&early, true, 74);
}
