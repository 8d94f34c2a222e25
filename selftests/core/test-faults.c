// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that a user places. A logical page that was made uncorrectable is unreadable, and no other
 * one is, until it is written or discarded, whatever happens to its block meanwhile.
 */
#include <stdlib.h>

#include "stream.h"
#include "tap.h"

#define UNITS 40

static const char small[] = "channels=2 chips=2 blocks=24 layers=4 word_lines=4 op=60";

static struct test_device device;
static struct test_stream stream;

/**
 * struct model - expected state of the device
 * @listener: sees the end of each fault
 * @failed: logical pages that a fault made uncorrectable
 */
static struct model {
	struct test_listener listener;
	bool *failed;
} model;

static void model_accept(struct test_listener *self, struct test_request *request, aftl_lpn_t lpn,
			 u32 tag)
{
	model.failed[from_lpn(lpn)] = false;
}

static void model_submitted(struct test_listener *self, struct test_request *request)
{
	if (request->request.op == AFTL_OP_DISCARD || request->request.op == AFTL_OP_WRITE_ZEROES)
		memset(model.failed + request->request.unit, 0, request->request.units);
}

static void model_close(struct test_listener *self)
{
	free(model.failed);
}

static void open_device(const char *policy, const char *params)
{
	test_device_open_demo(&device, policy, params);
	test_stream_init(&stream, 5);
	model = (struct model){
		.listener = { .accept = model_accept, .submitted = model_submitted,
			      .close = model_close },
		.failed = tap_zalloc(test_units(&device), sizeof(bool)),
	};
	test_device_listen(&device, &model.listener);
}

/* Fail units, spread over the device. Return their number. */
static u32 fail_units(struct aftl_random *random)
{
	u32 failed = 0;
	u32 i;

	for (i = 0; i < UNITS; i++) {
		u32 unit = aftl_random_below(random, test_units(&device));
		int ret;

		test_begin(&device);
		ret = aftl_fail_unit(device.ftl, to_lpn(unit));
		test_end(&device);
		CHECK(!ret || ret == -ENODATA);
		model.failed[unit] |= !ret;
		failed += !ret;
	}
	return failed;
}

static void check_units(void)
{
	u32 failed = 0;
	u32 unit;

	test_drain(&device);
	for (unit = 0; unit < test_units(&device) && !tap_failures(); unit++) {
		CHECK_EQ(aftl_unit_fails(device.ftl, to_lpn(unit)), model.failed[unit]);
		CHECK_EQ(test_do(&device, AFTL_OP_READ, unit, 1, 0, NULL),
			 model.failed[unit] ? -EIO : 0);
		failed += model.failed[unit];
	}
	CHECK_EQ(aftl_lost_units(device.ftl), failed);
	test_audit(&device);
}

static void units_fail(const char *policy, const char *params)
{
	struct aftl_random random = { 9 };
	u32 i;

	open_device(policy, params);
	test_stream_fill(&stream, &device);
	check_units();
	CHECK_RANGE(fail_units(&random), UNITS / 2, UNITS);
	check_units();
	for (i = 0; i < 4 && !tap_failures(); i++) {
		test_stream_run(&stream, &device, 400);
		fail_units(&random);
		check_units();
	}
	CHECK(test_counters(&device)->gc_blocks);
	CHECK_EQ(test_device_reload(&device), 0);
	check_units();
}

TAP_TEST(a_unit_that_is_not_on_flash_cannot_fail)
{
	open_device("baseline", "blocks=8 op=60 buffer=1MiB buffer_hold=0 fill=none");
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(test_units(&device))), -EINVAL);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), -ENODATA);
	test_latency(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
	test_write_out(&device);
	test_latency(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), -ENODATA);
	test_write_out(&device);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), 0);
	CHECK_EQ(test_do(&device, AFTL_OP_READ, 0, 1, 0, NULL), -EIO);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), 0);
	CHECK_EQ(aftl_lost_units(device.ftl), 1);
	/* The write buffer serves reads of a newer version, and its discard leaves no data. */
	test_latency(&device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE);
	test_latency(&device, AFTL_OP_READ, 0, 1, AFTL_PRECISE);
	test_latency(&device, AFTL_OP_DISCARD, 0, 1, AFTL_PRECISE);
	test_write_out(&device);
	CHECK_EQ(aftl_lost_units(device.ftl), 0);
	CHECK_EQ(aftl_fail_unit(device.ftl, to_lpn(0)), -ENODATA);
	test_latency(&device, AFTL_OP_READ, 0, 1, AFTL_PRECISE);
}

int main(void)
{
	test_each_policy("units fail", small, units_fail);
	test_each_policy("units fail, with caches and errors",
			 test_params("%s buffer=256KiB read_cache=1MiB read_ahead=64KiB errors=on",
				     small), units_fail);
	test_each_policy("units fail, with parity", test_params("%s rain=on", small), units_fail);
	return tap_run_all();
}
