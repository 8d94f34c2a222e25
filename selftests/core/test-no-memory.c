// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device creation without memory: fail every single allocation.
 */
#include "tap.h"
#include "test-device.h"

#define ALLOCATIONS_MAX 200

static int create_device_with_failed_alloc(const char *profile, const char *policy, u32 fail_at,
					   u32 *allocations)
{
	struct test_device device;
	int ret;

	test_device_init(&device, profile);
	device.fail_at = fail_at;
	ret = test_device_create(&device, policy);
	if (ret) {
		CHECK_EQ(device.held, 0);
		CHECK_EQ(ret, -ENOMEM);
		CHECK_CONTAINS(device.error.text, "memory");
		CHECK(!device.ftl);
	} else {
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 1, 9, AFTL_APPROX, NULL), 0);
	}
	*allocations = device.allocations;
	test_device_close(&device);
	return ret;
}

static void fail_each_allocation(const char *profile, const char *policy)
{
	u32 allocations;
	u32 all;
	u32 fail_at;

	CHECK_EQ(create_device_with_failed_alloc(profile, policy, 0, &all), 0);
	CHECK_RANGE(all, 5, ALLOCATIONS_MAX);
	for (fail_at = 1; fail_at <= all; fail_at++)
		CHECK_EQ(create_device_with_failed_alloc(profile, policy, fail_at, &allocations),
			 -ENOMEM);
	CHECK_EQ(create_device_with_failed_alloc(profile, policy, all + 1, &allocations), 0);
}

static void fail_each_allocation_of_demo_profile(const char *policy, const char *params)
{
	fail_each_allocation("demo", policy);
}

/* Once created, a device must not allocate memory. */
TAP_TEST(an_existing_device_allocates_no_memory)
{
	struct test_device device;
	u32 allocations;
	u32 i;

	test_open_demo_profile(&device, "approxftl", NULL);
	allocations = device.allocations;
	for (i = 0; i < 500; i++)
		test_submit_io(&device, i % 5, i, i % 5 == AFTL_OP_FLUSH ? 0 : 7, i % 2, 0,
			       i * 9999);
	test_drain_requests(&device);
	aftl_advance_age(device.ftl, 200ULL * 86400 * 1000000000);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(device.allocations, allocations);
	test_device_close(&device);
}

TAP_TEST(a_device_larger_than_memory_is_refused)
{
	struct test_device device;

	test_device_init(&device, "demo");
	test_device_set_param_text(&device, "channels", "64");
	test_device_set_param_text(&device, "blocks", "65535");
	test_device_set_param_text(&device, "word_lines", "4");
	test_device_set_param_text(&device, "layers", "4");
	device.fail_at = 3;
	CHECK_EQ(test_device_create(&device, "baseline"), -ENOMEM);
	test_device_close(&device);
}

int main(void)
{
	test_run_with_each_policy("each allocation may fail", NULL,
				  fail_each_allocation_of_demo_profile);
	tap_begin("loading a device with word lines between passes fails cleanly");
	fail_each_allocation("qlc", "baseline");
	tap_end();
	return tap_run_all();
}
