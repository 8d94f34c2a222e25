// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each policy refuses an unusual geometry with a reason, or its device completes writes of three
 * times the capacity.
 */
#include "stream.h"
#include "tap.h"

#define UNITS_MAX 6000

static u32 refused;
static u32 lived;

static void overwrite_whole_device(struct test_device *device, struct test_stream *stream)
{
	u64 wanted = 3ULL * test_unit_count(device);

	stream->operations = 0;
	stream->flush = 0;
	if (!test_stream_write_all_units(stream, device))
		return;
	while (stream->operations < wanted && !tap_failure_count())
		test_stream_submit_request(stream, device);
	test_drain_requests(device);
}

static void overwrite_device_and_check_health(struct test_device *device)
{
	struct test_stream stream;

	test_stream_init(&stream, 1);
	stream.read = 10;
	stream.discard = 0;
	stream.depth = 8;
	stream.units_max = 4;
	overwrite_whole_device(device, &stream);
	test_audit_device(device);
	CHECK_MSG(!device->failed, "%llu requests fail", (unsigned long long)device->failed);
	CHECK_MSG(!aftl_is_read_only(device->ftl), "the device is read-only");
	CHECK_EQ(test_counters(device)->policy_bugs, 0);
}

static void try_policy_on_geometry(const struct test_device *shape, const char *policy)
{
	struct test_device device = *shape;

	if (test_device_create(&device, policy)) {
		refused++;
		CHECK_EQ(device.ret, -EINVAL);
		CHECK_MSG(strlen(device.error.text) > 20, "refused with \"%s\"",
			  device.error.text);
	} else if (test_unit_count(&device) <= UNITS_MAX) {
		lived++;
		overwrite_device_and_check_health(&device);
	}
	test_finish_device_or_print_config(&device, policy, 0);
}

#define TINY "channels=1 chips=1"

static const char *const named[] = {
	TINY " blocks=8 op=50 layers=2 word_lines=4",
	TINY " blocks=16 op=60 layers=1 word_lines=1",
	TINY " blocks=16 op=80 layers=1 word_lines=2",
	TINY " blocks=40 op=60 layers=3 word_lines=5",
	TINY " blocks=40 op=60 layers=7 word_lines=3 bits=3 one_shot=on",
	TINY " blocks=40 op=60 layers=3 word_lines=1 bits=3",
	TINY " blocks=40 op=60 planes=4 plane_mode=wide layers=3 word_lines=3",
	TINY " blocks=40 op=60 planes=3 plane_mode=independent layers=2 word_lines=2",
	TINY " blocks=40 op=60 planes=3 layers=2 word_lines=2",
	TINY " blocks=40 op=60 page=4096 unit=512 layers=2 word_lines=4",
	TINY " blocks=40 op=60 page=64KiB unit=4096 layers=2 word_lines=4",
	TINY " blocks=1 op=50",
	TINY " blocks=2 op=50",
	TINY " blocks=3 op=60",
	TINY " blocks=4 op=70 layers=2 word_lines=4",
	TINY " blocks=5 op=80 layers=2 word_lines=4",
	TINY " blocks=16 op=0 layers=2 word_lines=4",
	"channels=3 chips=1 blocks=12 op=75 layers=2 word_lines=4 allocate=static",
	TINY " blocks=24 op=70 layers=2 word_lines=4 bad=0.1",
	TINY " blocks=24 op=70 layers=2 word_lines=4 gc=90",
	TINY " blocks=24 op=70 layers=2 word_lines=4 gc=0",
	TINY " blocks=24 op=70 layers=2 word_lines=4 buffer=4096",
};

TAP_TEST(selected_geometries_are_refused_or_usable)
{
	struct test_device shape;
	u32 i;
	u32 k;

	for (i = 0; i < ARRAY_SIZE(named); i++) {
		test_device_init(&shape, "demo");
		test_device_set_params(&shape, named[i]);
		for (k = 0; aftl_policy_at(k) && !tap_failure_count(); k++)
			try_policy_on_geometry(&shape, aftl_policy_at(k)->name);
	}
	tap_printf("%u devices lived, %u were refused", lived, refused);
	CHECK_RANGE(lived, 100, U32_MAX);
}

/* A device with the least over-provisioning that its policy accepts must complete all writes. */
TAP_TEST(the_least_accepted_over_provisioning_suffices)
{
	unsigned int i;

	for (i = 0; aftl_policy_at(i) && !tap_failure_count(); i++) {
		struct test_device device;
		u32 op = 0;

		for (;;) {
			test_device_init(&device, "demo");
			test_device_set_params(&device, TINY " blocks=32 layers=4 word_lines=4");
			device.config.op = op;
			if (!test_device_create(&device, aftl_policy_at(i)->name) || op > 8900)
				break;
			test_device_close(&device);
			op += 10;
		}
		tap_printf("%s: %u of 10000", aftl_policy_at(i)->name, op);
		if (CHECK_MSG(device.ftl, "nothing is enough"))
			overwrite_device_and_check_health(&device);
		test_finish_device_or_print_config(&device, aftl_policy_at(i)->name, 0);
	}
}
