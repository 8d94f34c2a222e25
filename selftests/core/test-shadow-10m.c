// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ten million units through a host that keeps all data: precise data are returned unchanged,
 * approximate data with exactly the errors that the core reports.
 */
#include <stdlib.h>

#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define OPERATIONS_WANTED 10000000ULL

struct scenario {
	const char *name;
	const char *policy;
	const char *params;
	bool whole;
	u64 operations;
	u32 read;
	u32 discard;
	u32 units_max;
	u32 hot;
};

#define SHAPE "channels=2 chips=2 blocks=32 layers=4 word_lines=8"
#define PRESSED SHAPE " op=50"
#define LARGE "channels=2 chips=1 blocks=64 layers=4 word_lines=8"

static const char plain[] = PRESSED;
static const char unit_is_page[] = PRESSED " unit=0";
static const char buffered[] = PRESSED " buffer=256KiB";
static const char safe[] = PRESSED " buffer=64KiB buffer_safe=on";
static const char tlc[] = PRESSED " bits=3 one_shot=on page=16KiB buffer=1MiB";
static const char tlc_unbuffered[] = PRESSED " bits=3 one_shot=on";

/* Short hotness classes, so that updates cool down on a device full of hot data. */
#define ZONES "zone1=20ms zone2=60ms zone3=200ms candidates=3"

static const char zones[] = PRESSED " bits=3 one_shot=on page=16KiB buffer=1MiB blocks=100 " ZONES;

static const char virtual_layers[] =
	PRESSED " bits=3 one_shot=on blocks=100 virtual_layers=on " ZONES;

static const char wide[] = SHAPE " op=45 planes=2 plane_mode=wide allocate=static";
static const char roomy[] = LARGE " op=40";

static const char noisy[] =
	LARGE " op=40 buffer=128KiB cell_model=voltage suspend=both wear_gap=8 age=2000h";

static const char marginless[] = LARGE " op=40 cell_model=voltage tvr_mode=device wear_times=on";
static const char small_unit[] = LARGE " op=40 unit=512 page=4096";
static const char fcfs[] = LARGE " op=40 order=fcfs depth=16";

static const struct scenario scenarios[] = {
	{ "baseline", "baseline", plain, false, 900000, 40, 4, 8, 50 },
	{ "baseline, static wide planes", "baseline", wide, false, 800000, 40, 4, 8, 30 },
	{ "delta_b, buffered", "delta_b", buffered, false, 1100000, 40, 4, 8, 80 },
	{ "vth_b, units of a page", "vth_b", unit_is_page, false, 800000, 40, 2, 4, 50 },
	{ "vth_b, safe buffer", "vth_b", safe, false, 900000, 50, 2, 8, 50 },
	{ "approxftl", "approxftl", roomy, false, 1200000, 40, 4, 8, 50 },
	{ "approxftl, buffered and voltages", "approxftl", noisy, false, 1100000, 30, 4, 8, 70 },
	{ "approxftl, small units", "approxftl", small_unit, false, 1200000, 40, 4, 16, 50 },
	{ "pageftl, one-shot", "pageftl", tlc_unbuffered, false, 800000, 40, 4, 12, 50 },
	{ "cubeftl, buffered", "cubeftl", tlc, false, 1200000, 40, 4, 12, 50 },
	{ "cubeftl_minus", "cubeftl_minus", tlc_unbuffered, false, 700000, 40, 4, 12, 50 },
	{ "li, units of a page", "li", unit_is_page, false, 400000, 40, 2, 4, 50 },
	{ "agcr, units of a page", "agcr", unit_is_page, false, 500000, 40, 2, 4, 50 },
	{ "agcr, buffered and voltages", "agcr", noisy, false, 600000, 50, 4, 8, 70 },
	{ "tvr", "tvr", plain, false, 600000, 40, 4, 8, 50 },
	{ "tvr, whole device and voltages", "tvr", marginless, false, 600000, 40, 4, 8, 70 },
	{ "tlc, buffered", "tlc", zones, false, 500000, 40, 4, 12, 50 },
	{ "ressd, buffered", "ressd", zones, false, 1000000, 40, 4, 12, 50 },
	{ "ressd, virtual super layers", "ressd", virtual_layers, false, 600000, 40, 4, 12, 50 },
	{ "approxftl, first come first served", "approxftl", fcfs, false, 400000, 70, 1, 3, 50 },
	{ "approxftl, whole units", "approxftl", roomy, true, 60000, 40, 4, 8, 50 },
	{ "delta_b, whole units, buffered", "delta_b", buffered, true, 60000, 40, 4, 8, 50 },
	{ "vth_b, whole pages", "vth_b", unit_is_page, true, 30000, 40, 4, 4, 50 },
};

static u64 operations;

static void read_everything(struct test_device *device)
{
	u32 all = test_units(device);
	u32 unit;

	for (unit = 0; unit < all; unit += 8) {
		CHECK_EQ(test_submit(device, AFTL_OP_READ, unit, min(8U, all - unit), 0, 0, 0), 0);
		test_drain_to(device, 32);
	}
	test_drain(device);
}

static void run(struct test_device *device, struct shadow_store *store,
		const struct scenario *scenario)
{
	struct test_stream stream;

	test_stream_init(&stream, scenario->operations);
	stream.partial = 10;
	stream.read = scenario->read;
	stream.discard = scenario->discard;
	stream.units_max = scenario->units_max;
	stream.hot = scenario->hot;
	stream.flush = 2;
	stream.fua = 2;
	stream.depth = 32;
	test_stream_fill(&stream, device);
	while (stream.operations < scenario->operations && !tap_failures())
		test_stream_step(&stream, device);
	test_drain(device);
	read_everything(device);
	operations += stream.operations;
}

static void check_work(const struct test_device *device, const struct shadow_store *store)
{
	const struct aftl_counters *c = test_counters(device);

	CHECK_MSG(c->gc_blocks > 100, "only %llu blocks were collected",
		  (unsigned long long)c->gc_blocks);
	CHECK_EQ(c->read_flipped_bits, store->flipped);
	CHECK_EQ(store->lost_writes, 0);
	if (!aftl_policy_type(device->ftl)->ignores_tags)
		CHECK(store->flipped > 0);
}

static void run_scenario(const struct scenario *scenario)
{
	struct test_device device;
	struct shadow_store store;

	tap_begin("%s", scenario->name);
	test_device_open_demo(&device, scenario->policy, scenario->params);
	shadow_open(&store, &device, scenario->whole);
	run(&device, &store, scenario);
	check_work(&device, &store);
	test_device_finish(&device);
	tap_end();
}

static bool has_scenario(const char *policy)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(scenarios); i++)
		if (!strcmp(scenarios[i].policy, policy))
			return true;
	return false;
}

/* All policies not listed above */
static void run_others(void)
{
	struct scenario other = { NULL, NULL, zones, false, 500000, 40, 4, 12, 50 };
	u32 i;

	for (i = 0; aftl_policy_at(i); i++) {
		other.name = aftl_policy_at(i)->name;
		other.policy = other.name;
		if (!has_scenario(other.policy))
			run_scenario(&other);
	}
}

static void enough_operations(void)
{
	CHECK_RANGE(operations, OPERATIONS_WANTED, U64_MAX);
}

/* Argument: run only this scenario. */
int main(int argc, char **argv)
{
	unsigned int only = argc > 1 ? strtoul(argv[1], NULL, 10) : U32_MAX;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(scenarios); i++)
		if (argc <= 1 || only == i)
			run_scenario(&scenarios[i]);
	if (argc <= 1) {
		run_others();
		tap_run("the scenarios sent ten million units", enough_operations);
	}
	return tap_finish();
}
