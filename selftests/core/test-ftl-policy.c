// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls by which the FTL layer tells a policy about pages and blocks, and what a policy can query
 * about a block.
 */
#include "core/ftl/controller.h"
#include "core/ftl/policy-instance.h"
#include "core/policy/ftl-policy.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

/* The test policy has four write streams: even and odd lpns, host writes and relocations. */
enum { EVEN, ODD, MOVED_EVEN, MOVED_ODD, STREAMS };

/* Per-device arrays that the test policy lets the core allocate. */
enum { ASKED, OPENINGS, SUMS };

struct sums {
	u32 opened;
	u32 collected;
	u32 invalidated;
	u32 restored;
	u32 calls;
};

static struct test_device device;
static u32 last_lpn;

static struct sums *witness_sums_of(const struct aftl_policy *policy)
{
	return aftl_device_state(policy, SUMS, struct sums);
}

/* If set, the test policy names another write stream for relocated pages at every call. */
static bool fickle;

static u32 count_query_and_choose_stream(struct aftl_policy *policy,
					 const struct aftl_page_write *page)
{
	u32 odd = from_lpn(page->lpn) % 2;

	if (page->from) {
		CHECK(page->cause != AFTL_CAUSE_HOST);
		CHECK(fickle || page->from->kind % 2 == odd);
		return MOVED_EVEN + (fickle ? witness_sums_of(policy)->calls++ % 2 : odd);
	}
	CHECK_EQ(page->cause, AFTL_CAUSE_HOST);
	last_lpn = from_lpn(page->lpn);
	++*aftl_lpn_state(policy, ASKED, u16, page->lpn);
	return odd;
}

static void record_opened_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	CHECK(block->kind < STREAMS && !block->valid);
	++*aftl_block_state(policy, OPENINGS, u32, block);
	witness_sums_of(policy)->opened++;
}

static void record_invalidated_page(struct aftl_policy *policy, const struct aftl_block *block)
{
	CHECK_EQ(aftl_block_ns_since_invalidation(policy, block), 0);
	witness_sums_of(policy)->invalidated++;
}

static void record_collected_block(struct aftl_policy *policy, const struct aftl_block *block)
{
	CHECK_EQ(block->valid, 0);
	witness_sums_of(policy)->collected++;
}

static void record_restored_policy(struct aftl_policy *policy)
{
	witness_sums_of(policy)->restored++;
}

static const struct aftl_ftl_policy methods = {
	.block_ages = true,
	.stream = count_query_and_choose_stream,
	.block_opened = record_opened_block,
	.page_invalidated = record_invalidated_page,
	.block_collected = record_collected_block,
	.restored = record_restored_policy,
};

static const struct aftl_policy_type witness = {
	.name = "witness",
	.about = "separates even from odd pages",
	.arrays = {
		[ASKED] = AFTL_STATE(AFTL_PER_LPN, u16, u16),
		[OPENINGS] = AFTL_STATE(AFTL_PER_BLOCK, u32, u32),
		[SUMS] = AFTL_STATE(AFTL_PER_DEVICE, struct sums, u32),
	},
	AFTL_FTL_POLICY(&methods, STREAMS, 2),
	AFTL_FTL_STREAMS("even", "odd", "moved_even", "moved_odd"),
};

#define SHAPE "channels=2 chips=1 blocks=40 layers=4 word_lines=4 op=60"

static void open_device(const char *pairs)
{
	test_device_init(&device, "demo");
	test_device_set_params(&device, pairs);
	if (aftl_create(&device.ftl, &device.config, &witness, &device.ops, &device, &device.error))
		tap_bail_out("%s", device.error.text);
}

/* The core calls the policy's stream() once for each logical page of a write. */
TAP_TEST(stream_is_called_once_for_each_page)
{
	u32 i;

	open_device(SHAPE);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 10, 8, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(last_lpn, 17);
	for (i = 0; i < 20; i++)
		CHECK_EQ(*aftl_lpn_state(device.ftl->policy, ASKED, u16, to_lpn(i)),
			 i >= 10 && i < 18);
	test_drain_requests(&device);
	for (i = 10; i < 18; i++)
		CHECK_EQ(test_block_of(&device, i)->kind, i % 2);
}

static void run_policy_with_params(const char *pairs)
{
	struct shadow_store store;
	struct test_stream stream;
	const struct sums *sums;
	u64 asked = 0;
	u64 opened = 0;
	u32 i;

	open_device(pairs);
	shadow_attach_to_device(&store, &device, false);
	test_stream_init(&stream, 7);
	for (i = 0; i < 20000 && !tap_failure_count(); i++)
		test_stream_submit_request(&stream, &device);
	test_drain_requests(&device);
	sums = witness_sums_of(device.ftl->policy);
	for (i = 0; i < test_unit_count(&device); i++)
		asked += *aftl_lpn_state(device.ftl->policy, ASKED, u16, to_lpn(i));
	for (i = 0; i < device.ftl->geo.blocks; i++)
		opened += *aftl_block_state(device.ftl->policy, OPENINGS, u32,
					    &device.ftl->media.blocks[i]);
	CHECK_EQ(asked, test_counters(&device)->host_write_units);
	CHECK_EQ(opened, sums->opened);
	CHECK(sums->collected > 100 && sums->collected <= sums->opened);
	CHECK(sums->invalidated > 10000);
	aftl_policy_instance_finish_load(device.ftl->policy);
	CHECK_EQ(sums->restored, 1);
	test_device_audit_and_close(&device);
}

TAP_TEST(block_openings_erases_and_invalidations_are_reported)
{
	run_policy_with_params(SHAPE);
	run_policy_with_params(SHAPE " buffer=64KiB");
	run_policy_with_params(SHAPE " superblock=2");
}

/* A policy may answer another write stream for a page; the audit would report a violation. */
TAP_TEST(the_stream_of_a_page_may_change_while_it_is_relocated)
{
	fickle = true;
	run_policy_with_params(SHAPE);
	fickle = false;
}

/* Relocation keeps the age that policies see of a block's data. */
TAP_TEST(the_age_of_a_blocks_data_survives_relocation)
{
	struct aftl_random random = { 3 };
	const struct aftl_policy *policy;
	u64 written_ns;
	u32 older = 0;
	u32 units;
	u32 i;

	open_device(SHAPE);
	policy = device.ftl->policy;
	units = test_unit_count(&device);
	for (i = 0; i < units; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, NULL), 0);
	test_drain_requests(&device);
	written_ns = device.ftl->now_ns;
	/* Overwrite only two of each four units, so that GC relocates the other two. */
	for (i = 0; i < 8 * units; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE,
					      aftl_random_below(&random, units) & ~2U, 1,
					      AFTL_PRECISE, NULL),
			 0);
	test_drain_requests(&device);
	for (i = 2; i < units; i += 4) {
		const struct aftl_block *block = test_block_of(&device, i);
		u64 open_ns = device.ftl->now_ns - (u64)block->opened_ns;

		CHECK(aftl_block_age_ns(policy, block) >= open_ns);
		older += block->kind >= MOVED_EVEN &&
			 aftl_block_age_ns(policy, block) > open_ns + written_ns / 4;
	}
	CHECK(older > units / 8);
}

TAP_TEST(preconditioned_data_have_ages)
{
	u64 fill_ns;
	u32 aged = 0;
	u32 units;
	u32 i;

	open_device(SHAPE " fill=random fill_overwrite=100");
	CHECK_EQ(aftl_precondition(device.ftl), 0);
	units = test_unit_count(&device);
	fill_ns = units * device.ftl->chip.program_ns[AFTL_MODE_NORMAL] /
		  (device.ftl->geo.luns * device.ftl->program_units);
	for (i = 0; i < units; i++) {
		u64 age_ns = aftl_block_age_ns(device.ftl->policy, test_block_of(&device, i));

		CHECK_RANGE(age_ns, 0, fill_ns);
		aged += age_ns > fill_ns / 4;
	}
	CHECK_RANGE(aged, units / 2, units - 1);
}
