// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of blocks, and a module that gets them, each with fake neighbours: no device exists.
 */
#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-margin.h"
#include "core/ftl/lun.h"
#include "tap.h"

static struct aftl ftl;
static struct aftl_lun lun;
static struct aftl_block block;
static u32 calls;
static u32 order[4];

static void note_call_of_handler(struct aftl *device, struct aftl_lun *where,
				 struct aftl_block *what, u32 handler)
{
	CHECK(device == &ftl && where == &lun && what == &block);
	order[calls++ % ARRAY_SIZE(order)] = handler;
}

static void handle_first(struct aftl *device, struct aftl_lun *where, struct aftl_block *what)
{
	note_call_of_handler(device, where, what, 1);
}

static void handle_second(struct aftl *device, struct aftl_lun *where, struct aftl_block *what)
{
	note_call_of_handler(device, where, what, 2);
}

TAP_TEST(handlers_get_their_events_in_the_order_of_registration)
{
	struct aftl_block_events events = { 0 };
	u32 event;

	aftl_block_event_register(&events, AFTL_ON_ERASE, handle_second);
	aftl_block_event_register(&events, AFTL_ON_ERASE, handle_first);
	aftl_block_event_register(&events, AFTL_ON_RETIRE, handle_first);
	for (event = 0; event < AFTL_BLOCK_EVENTS; event++) {
		calls = 0;
		aftl_block_event_notify(&events, event, &ftl, &lun, &block);
		CHECK_EQ(calls, event == AFTL_ON_ERASE ? 2 : event == AFTL_ON_RETIRE);
		if (calls)
			CHECK_EQ(order[calls - 1], 1);
		if (calls > 1)
			CHECK_EQ(order[0], 2);
	}
}

TAP_TEST(margin_of_idle_gc_follows_emergencies_within_its_limits)
{
	struct aftl_random random = { .state = 44 };
	u32 i;

	ftl.gc_blocks = 12;
	ftl.gc_margin_base = 3;
	aftl_gc_margin_reset(&lun);
	for (i = 0; i < 20000; i++) {
		u32 before = lun.margin.blocks;
		bool emergency = !aftl_random_below(&random, 1 + i % 300);

		lun.free_blocks = aftl_random_below(&random, 30);
		lun.margin.emergency = emergency;
		aftl_gc_margin_block_erased(&ftl, &lun, &block);
		CHECK(!lun.margin.emergency);
		CHECK_RANGE(lun.margin.blocks, 1, ftl.gc_blocks);
		if (emergency)
			CHECK_EQ(lun.margin.blocks, min(before + 1, ftl.gc_blocks));
		else
			CHECK(lun.margin.blocks <= before);
	}
}
