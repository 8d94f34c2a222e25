// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each rule for victims names the block that its definition names, as seen from outside: a device
 * is written, and after every few requests the rules are asked about each LUN.
 */
#include "core/ftl/device.h"
#include "core/policy/victims.h"
#include "core/base/random.h"
#include "tap.h"
#include "test-device.h"

#define ROUNDS 400
#define WRITES_OF_ROUND 40

static const char *const shape[] = {
	"channels", "2", "chips", "1", "blocks", "40", "layers", "2", "word_lines", "4", "op", "30",
	"fill", "random", "fill_overwrite", "100", "errors", "off", "victim_choices", "6",
	"victim_window", "5", NULL
};

static struct test_device device;
static u32 asked;
static u32 differed;

static bool may_be(const struct aftl_closed *closed, const struct aftl_block *block)
{
	return block->state == AFTL_BLOCK_CLOSED && block->listed &&
	       block->valid <= closed->most_valid;
}

static const struct aftl_block *first_of(const struct aftl_closed *closed)
{
	return &device.ftl->media.blocks[closed->lun->index * device.ftl->geo.blocks_per_lun];
}

/* How many of the LUN's blocks that may be collected are older than @block. */
static u32 older(const struct aftl_closed *closed, const struct aftl_block *block)
{
	const struct aftl_block *first = first_of(closed);
	u32 count = 0;
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++)
		count += may_be(closed, &first[i]) && first[i].opened_ns < block->opened_ns;
	return count;
}

/* Fewest valid slots among those that fewer than @window are older than. */
static u32 fewest(const struct aftl_closed *closed, u32 window)
{
	const struct aftl_block *first = first_of(closed);
	u32 least = U32_MAX;
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++)
		if (may_be(closed, &first[i]) && older(closed, &first[i]) < window)
			least = min(least, first[i].valid);
	return least;
}

static double gain(const struct aftl_closed *closed, const struct aftl_block *block)
{
	double used = (double)block->valid / device.ftl->geo.block_slots;
	double age = (double)(device.ftl->now_ns - block->opened_ns);

	(void)closed;
	return block->valid ? age * (1 - used) / (2 * used) : 1e300;
}

static void check_fifo(const struct aftl_closed *closed, const struct aftl_block *block)
{
	CHECK_EQ(older(closed, block), 0);
	differed += block->valid != fewest(closed, U32_MAX);
}

static void check_windowed(const struct aftl_closed *closed, const struct aftl_block *block)
{
	CHECK(older(closed, block) < 5);
	CHECK_EQ(block->valid, fewest(closed, 5));
	differed += older(closed, block) != 0;
}

static void check_cost_benefit(const struct aftl_closed *closed, const struct aftl_block *block)
{
	const struct aftl_block *first = first_of(closed);
	double most = gain(closed, block);
	u32 i;

	/* A ten-thousandth is what the rule's whole numbers leave out. */
	for (i = 0; i < device.ftl->geo.blocks_per_lun; i++)
		if (may_be(closed, &first[i]))
			CHECK(gain(closed, &first[i]) <= most * 1.0001);
	differed += older(closed, block) && block->valid != fewest(closed, U32_MAX);
}

static void check_d_choices(const struct aftl_closed *closed, const struct aftl_block *block)
{
	u32 least = U32_MAX;
	u32 i;

	for (i = 0; i < 6; i++) {
		const struct aftl_block *drawn = aftl_closed_draw(closed, i);

		if (drawn)
			least = min(least, drawn->valid);
	}
	CHECK_EQ(block->valid, least);
	differed += least != fewest(closed, U32_MAX);
}

static const struct {
	const char *name;
	aftl_victim_fn rule;
	void (*check)(const struct aftl_closed *closed, const struct aftl_block *block);
} rules[] = {
	{ "fifo", aftl_victim_fifo, check_fifo },
	{ "windowed", aftl_victim_windowed, check_windowed },
	{ "cost_benefit", aftl_victim_cost_benefit, check_cost_benefit },
	{ "d_choices", aftl_victim_d_choices, check_d_choices },
};

static void ask(u32 which, u32 lun, u32 most_valid)
{
	struct aftl *ftl = device.ftl;
	struct aftl_closed closed = { ftl->policy, &ftl->luns[lun], most_valid };
	const struct aftl_block *block = rules[which].rule(ftl->policy, &closed);

	if (!block)
		return;
	asked++;
	if (CHECK(may_be(&closed, block) && aftl_block_lun(ftl, block) == closed.lun))
		rules[which].check(&closed, block);
}

static void one_rule(u32 which)
{
	struct aftl_random random = { aftl_mix(which) };
	u32 round;
	u32 i;

	tap_begin("%s names what its definition names", rules[which].name);
	test_device_init(&device, "demo");
	test_device_set_all(&device, shape);
	test_device_set(&device, "victim", rules[which].name);
	asked = 0;
	differed = 0;
	if (test_device_create(&device, "baseline"))
		tap_bail_out("no such device: %s", device.error.text);
	for (round = 0; round < ROUNDS && !tap_failures(); round++) {
		for (i = 0; i < WRITES_OF_ROUND; i++)
			test_do(&device, AFTL_OP_WRITE,
				(u32)aftl_random_below(&random, (u32)device.ftl->geo.units), 1,
				AFTL_PRECISE, NULL);
		for (i = 0; i < device.ftl->geo.luns; i++)
			ask(which, i, (u32)aftl_random_below(&random,
							     device.ftl->geo.block_slots + 1));
	}
	CHECK_RANGE(asked, ROUNDS / 2, U32_MAX);
	CHECK_RANGE(differed, ROUNDS / 10, U32_MAX);
	CHECK_EQ(test_counters(&device)->policy_bugs, 0);
	CHECK_RANGE(test_counters(&device)->gc_blocks, 100, U64_MAX);
	test_audit(&device);
	test_device_close(&device);
	tap_end();
}

int main(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		one_rule(i);
	return tap_finish();
}
