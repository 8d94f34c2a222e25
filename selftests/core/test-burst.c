// SPDX-License-Identifier: GPL-2.0-only
/*
 * No call makes more host callbacks than aftl_get_max_callbacks_per_host_call(), so that a host can
 * reserve room for them in advance. test-device.c checks this in every other test, too.
 */
#include "core/base/profiles.h"
#include "core/persist/snapshot.h"
#include "stream.h"
#include "tap.h"

#define REQUESTS 1500

static struct test_device device;
static u32 largest_share;

/* Do a random action of an operator: age the data, start GC, fail a block or drain requests. */
static void do_random_management_action(struct aftl_random *random)
{
	const struct aftl_geometry *geo = aftl_geometry(device.ftl);

	test_begin_host_call(&device);
	switch (aftl_random_below(random, 4)) {
	case 0:
		aftl_advance_age(device.ftl,
				 (1 + aftl_random_below(random, 400)) * 24 * AFTL_HOUR_NS);
		break;
	case 1:
		CHECK_EQ(aftl_start_lun_gc(device.ftl, aftl_random_below(random, geo->luns)), 0);
		break;
	case 2:
		CHECK_EQ(aftl_fail_block(device.ftl, aftl_random_below(random, geo->blocks)), 0);
		break;
	default:
		aftl_set_drain_mode(device.ftl, aftl_random_below(random, 2));
	}
	test_end_host_call(&device);
}

static void fail_random_lun(struct aftl_random *random)
{
	u32 lun = aftl_random_below(random, aftl_geometry(device.ftl)->luns);

	test_begin_host_call(&device);
	CHECK_EQ(aftl_fail_lun(device.ftl, lun), 0);
	test_end_host_call(&device);
}

/* Quiesce and resume the device. */
static void quiesce_and_resume_device(void)
{
	bool more = true;

	test_drain_requests(&device);
	while (more) {
		test_begin_host_call(&device);
		more = aftl_quiesce_device_by_slice(device.ftl);
		test_end_host_call(&device);
	}
	test_begin_host_call(&device);
	aftl_unquiesce_device(device.ftl);
	test_end_host_call(&device);
}

static void submit_random_request_bursts(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed) };
	struct test_stream stream;
	u32 i;

	test_stream_init(&stream, seed);
	stream.depth = 256;
	stream.units_max = 64;
	stream.read = 10;
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, &device);
		if (!aftl_random_below(&random, 20))
			do_random_management_action(&random);
	}
	quiesce_and_resume_device();
	fail_random_lun(&random);
	test_drain_requests(&device);
}

static void check_request_bursts_with_policy(const char *profile,
					     const struct aftl_policy_type *type, u64 seed)
{
	u32 most;

	test_device_init(&device, profile);
	test_device_set_params(&device, "blocks=40 layers=4 op=40 endurance=30");
	if (seed & 1)
		test_device_set_param_text(&device, "buffer", "4MiB");
	if (!test_device_create(&device, type->name)) {
		submit_random_request_bursts(seed);
		most = aftl_get_max_callbacks_per_host_call(aftl_geometry(device.ftl));
		largest_share = max(largest_share, device.largest_burst * 100 / most);
	}
}

TAP_TEST(no_call_exceeds_the_bound_on_host_callbacks)
{
	const char *profile;
	u32 policies = 0;
	u32 i;

	for (i = 0; (profile = aftl_profile_name(i)); i++)
		for (policies = 0; aftl_policy_at(policies); policies++)
			check_request_bursts_with_policy(profile, aftl_policy_at(policies),
							 i * 64 + policies);
	tap_printf("%u profiles, %u policies; at most %u %% of what may be told at once", i,
		   policies, largest_share);
	/* A bound far above the real number of callbacks would waste the host's memory. */
	CHECK_RANGE(largest_share, 50, 100);
}

TAP_TEST(a_discard_and_a_lun_failure_are_one_host_callback_each)
{
	u32 unit;

	test_open_demo_profile(&device, "baseline", "channels=2 chips=1 blocks=64");
	for (unit = 0; unit < 64; unit += 2)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, 1, AFTL_PRECISE, NULL),
			 0);
	test_drain_requests(&device);
	device.largest_burst = 0;
	CHECK_EQ(test_execute_request(&device, AFTL_OP_DISCARD, 0, 64, 0, NULL), 0);
	CHECK_EQ(device.largest_burst, 1);
	test_begin_host_call(&device);
	CHECK_EQ(aftl_fail_lun(device.ftl, 0), 0);
	CHECK_EQ(device.burst, 1);
}
