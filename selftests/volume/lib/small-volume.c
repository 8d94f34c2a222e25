// SPDX-License-Identifier: GPL-2.0-only
#include "small-volume.h"
#include "stream.h"
#include "tap.h"

#define SMALL "channels=2 chips=1 blocks=64 layers=4 word_lines=2"

const char *const small_volumes[SMALL_VOLUMES] = {
	SMALL " op=60",
	SMALL " op=60 unit=512 page=2KiB",
	SMALL " op=60 errors=off",
	SMALL " op=60 buffer=64KiB gc=0",
};

struct durable_device durable;

static bool is_open;

static void close_small_volume(void)
{
	if (is_open)
		durable_close(&durable);
	is_open = false;
}

void volume_exit_on_error(int ret, const char *what)
{
	if (ret)
		tap_bail_out("%s: %d: %s", what, ret, durable.device.error.text);
}

void volume_prepare_disk(const char *policy, const char *params, bool extents)
{
	struct test_device device;

	close_small_volume();
	test_device_init(&device, "demo");
	test_device_set_params(&device, params);
	if (durable_open_with_extents(&durable, &device.config, policy, extents))
		tap_bail_out("no such device");
	is_open = true;
	tap_add_cleanup(close_small_volume);
}

void volume_format(const char *policy, const char *params, bool extents)
{
	volume_prepare_disk(policy, params, extents);
	volume_exit_on_error(durable_format(&durable), "format");
}

void volume_open(const char *policy, const char *params)
{
	volume_format(policy, params, false);
	volume_start_device(policy);
}

void volume_start_device(const char *policy)
{
	volume_exit_on_error(durable_start_device(&durable, policy, false), "start");
}

void volume_load(const char *policy, bool scan)
{
	volume_exit_on_error(durable_load_device(&durable, policy, scan), scan ? "scan" : "load");
}

void volume_close_cleanly(void)
{
	volume_exit_on_error(durable_close_cleanly(&durable), "close");
}

void volume_run_requests(u64 seed, u32 steps)
{
	struct test_stream stream;

	test_stream_init(&stream, seed);
	while (steps-- && !tap_failure_count())
		test_stream_submit_request(&stream, &durable.device);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
}

void volume_crash(void)
{
	struct aftl_random random = { 1 };

	durable_crash(&durable, DISK_CRASH_NOTHING, &random);
}

void volume_crash_and_start(const char *policy)
{
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	volume_crash();
	volume_start_device(policy);
}

void check_volume_keeps_policy(const char *own, const char *other)
{
	static const char why[] = "goes on with the policy that it was saved with";
	u32 scan;

	volume_close_cleanly();
	for (scan = 0; scan < 2; scan++) {
		CHECK_EQ(durable_start_device(&durable, other, scan), -EINVAL);
		CHECK_CONTAINS(durable.device.error.text, why);
	}
	volume_exit_on_error(durable_start_device(&durable, own, true), "start");
}
