// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random devices, policies and requests: after every request the core's tables equal those of a
 * slow model, and reads return the right data.
 *
 * A seed as argument runs only that seed.
 */
#include <stdlib.h>

#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define FIRST_SEED 1
#define SEEDS 1500
#define REQUESTS 500

static u32 refused;
static u32 survived;

static void check_creation_error_message(const struct test_device *device)
{
	size_t length = strlen(device->error.text);

	CHECK_MSG(length > 10 && length < sizeof(device->error.text) - 1, "\"%s\" is no sentence",
		  device->error.text);
	CHECK_EQ(device->ret, -EINVAL);
}

static void run_random_requests_on_shadowed_device(struct test_device *device,
						   struct aftl_random *random)
{
	static struct shadow_store store;
	struct test_stream stream;
	u32 i;

	test_stream_init(&stream, aftl_random_next(random));
	stream.partial = 10;
	stream.read = aftl_random_below(random, 60);
	stream.approx = aftl_random_below(random, 101);
	stream.depth = aftl_random_below(random, 40);
	stream.units_max = 1 + aftl_random_below(random, 12);
	stream.gap_ns = aftl_random_below(random, 2) * 400000;
	shadow_attach_to_device(&store, device, false);
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		test_stream_submit_request(&stream, device);
		shadow_compare_device_with_store(&store);
	}
}

static void check_random_device_with_seed(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed) };
	const char *policy = test_draw_policy(false, &random);
	struct test_device device;

	test_device_init(&device, "demo");
	test_randomize_geometry(&device, &random);
	test_randomize_options(&device, &random);
	if (seed % 4 == 0) {
		device.config.placement_handles = 1 + seed / 4 % 6;
		device.config.placement_isolation = seed / 8 % 2;
		device.config.placement_groups = 1 + seed / 16 % 2;
	}
	if (test_device_create(&device, policy)) {
		refused++;
		check_creation_error_message(&device);
	} else {
		survived++;
		run_random_requests_on_shadowed_device(&device, &random);
	}
	test_finish_device_or_print_config(&device, policy, seed);
}

TAP_TEST(random_devices_equal_the_model_after_every_request)
{
	u64 seed;

	for (seed = FIRST_SEED; seed < FIRST_SEED + SEEDS && !tap_failure_count(); seed++)
		check_random_device_with_seed(seed);
	tap_printf("%u devices lived, %u were refused", survived, refused);
	CHECK_MSG(tap_failure_count() || survived > SEEDS / 4, "only %u devices lived", survived);
}

TAP_SEED(check_random_device_with_seed)
