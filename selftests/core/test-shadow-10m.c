// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ten million units through a host that keeps all data: precise data are returned unchanged,
 * approximate data with exactly the errors that the core reports. test-property-random.c tests
 * other devices with shorter runs.
 */
#include <stdlib.h>

#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define OPERATIONS_WANTED 10000000ULL

/* ReSSD's hotness classes with short age limits, so that data change their class. */
static const char word_lines[] =
	"channels=2 chips=2 blocks=100 layers=4 word_lines=4 op=50 bits=3 one_shot=on page=16KiB "
	"buffer=1MiB zone1=20ms zone2=60ms zone3=200ms candidates=3";

static const char noisy[] =
	"channels=2 chips=1 blocks=64 layers=4 word_lines=8 op=40 unit=0 buffer=128KiB "
	"cell_model=voltage suspend=both wear_gap=8 age=2000h";

static u64 operations;

static void read_all_units(struct test_device *device)
{
	u32 all = test_unit_count(device);
	u32 unit;

	for (unit = 0; unit < all; unit += 8) {
		CHECK_EQ(test_submit_io(device, AFTL_OP_READ, unit, min(8U, all - unit), 0, 0, 0),
			 0);
		test_drain_requests_to_depth(device, 32);
	}
	test_drain_requests(device);
}

static void submit_requests_until_operation_count(struct test_device *device, u64 wanted)
{
	struct test_stream stream;

	test_stream_init(&stream, wanted);
	stream.partial = 10;
	stream.read = 40;
	stream.units_max = 12;
	stream.flush = 2;
	stream.fua = 2;
	stream.depth = 32;
	test_stream_write_all_units(&stream, device);
	while (stream.operations < wanted && !tap_failure_count())
		test_stream_submit_request(&stream, device);
	test_drain_requests(device);
	read_all_units(device);
	operations += stream.operations;
}

static void check_counters_against_shadow_store(const struct test_device *device,
						const struct shadow_store *store)
{
	const struct aftl_counters *c = test_counters(device);

	CHECK_MSG(c->gc_blocks > 100, "only %llu blocks were collected",
		  (unsigned long long)c->gc_blocks);
	CHECK_EQ(c->read_flipped_bits, store->flipped);
	CHECK_EQ(store->lost_writes, 0);
	if (!aftl_policy_type(device->ftl)->ignores_tags)
		CHECK(store->flipped > 0);
}

/* Send requests to a device with a shadow store; do nothing if the policy refuses the geometry. */
static void check_policy_with_shadow_store(const char *policy, const char *params, bool whole,
					   u64 wanted)
{
	struct test_device device;
	struct shadow_store store;

	test_device_init(&device, "demo");
	test_device_set_params(&device, params);
	if (test_device_create(&device, policy))
		return;
	tap_begin("%s%s, %s", policy, whole ? ", whole units" : "",
		  params == noisy ? "voltages" : "word lines of three bits");
	shadow_attach_to_device(&store, &device, whole);
	submit_requests_until_operation_count(&device, wanted);
	check_counters_against_shadow_store(&device, &store);
	test_device_audit_and_close(&device);
	tap_end();
}

TAP_TEST(all_runs_together_sent_ten_million_units)
{
	CHECK_RANGE(operations, OPERATIONS_WANTED, U64_MAX);
}

int main(void)
{
	u32 i;

	for (i = 0; aftl_policy_at(i); i++) {
		check_policy_with_shadow_store(aftl_policy_at(i)->name, word_lines, false, 230000);
		check_policy_with_shadow_store(aftl_policy_at(i)->name, noisy, false, 230000);
	}
	check_policy_with_shadow_store("approxftl", noisy, true, 60000);
	check_policy_with_shadow_store("baseline", noisy, true, 60000);
	return tap_run_all();
}
