// SPDX-License-Identifier: GPL-2.0-only
#include "small-volume.h"
#include "stream.h"
#include "tap.h"

#define SMALL "channels=2 chips=1 blocks=64 layers=4 word_lines=2"

const char *const small_volumes[SMALL_VOLUMES] = {
	SMALL " op=60",
	SMALL " op=60 unit=512 page=2KiB",
	SMALL " op=60 errors=off",
	SMALL " op=60 buffer=64KiB",
};

void durable_must(struct durable_device *durable, int ret, const char *what)
{
	if (ret)
		tap_bail_out("%s: %d: %s", what, ret, durable->device.error.text);
}

void small_volume_open(struct durable_device *durable, const char *policy, const char *params)
{
	struct test_device device;

	test_device_init(&device, "demo");
	test_device_set_all(&device, params);
	if (durable_open(durable, &device.config, policy))
		tap_bail_out("no such device");
	durable_must(durable, durable_format(durable), "format");
	durable_must(durable, durable_start(durable, policy, false), "start");
}

void small_volume_work(struct durable_device *durable, u64 seed, u32 steps)
{
	struct test_stream stream;

	test_stream_init(&stream, seed);
	while (steps-- && !tap_failures())
		test_stream_step(&stream, &durable->device);
	CHECK_EQ(durable_settle(durable), 0);
}

void small_volume_crash(struct durable_device *durable, const char *policy)
{
	struct aftl_random random = { 1 };

	CHECK_EQ(test_do(&durable->device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_settle(durable), 0);
	durable_crash(durable, DISK_CRASH_NOTHING, &random);
	durable_must(durable, durable_start(durable, policy, false), "start again");
}

void small_volume_keeps_its_policy(struct durable_device *durable, const char *own,
				   const char *other)
{
	static const char why[] = "goes on with the policy that it was saved with";
	u32 scan;

	durable_must(durable, durable_shut(durable), "shut");
	for (scan = 0; scan < 2; scan++) {
		CHECK_EQ(durable_start(durable, other, scan), -EINVAL);
		CHECK_CONTAINS(durable->device.error.text, why);
	}
	durable_must(durable, durable_start(durable, own, true), "start");
}
