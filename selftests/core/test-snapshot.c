// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots: a loaded device has the same state and behaviour, and damaged snapshots are refused.
 */
#include <stdlib.h>

#include "core/base/encoding.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun.h"
#include "bytes.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=2 chips=1 blocks=40 layers=4 word_lines=4 op=60"

static const char plain[] = SHAPE;
static const char busy[] = SHAPE " buffer=128KiB bad=0.02 cell_model=voltage wear_gap=4 age=90d";
static const char no_errors[] = SHAPE " errors=off";

static const char three_bits[] =
	SHAPE " bits=3 one_shot=on zone1=5ms zone2=20ms zone3=50ms virtual_layers=on"
	      " gc_idle_limit=adaptive";

#define SUPERBLOCKS "channels=2 chips=4 blocks=48 layers=4 word_lines=4 superblock=4"

static const char superblocks[] = SUPERBLOCKS " op=66";
static const char parity[] = SUPERBLOCKS " op=66 rain=on gc_idle_limit=adaptive";
static const char slc[] =
	SUPERBLOCKS " op=78 rain=on bits=3 one_shot=on slc_static=6% slc_dynamic=10%";

static const char tiny[] = "channels=1 chips=1 blocks=24 layers=2 word_lines=4 op=80 errors=on";

static struct test_device device;
static struct test_device loaded;

/* Flush, and wait until the device is idle. */
static void flush_device_until_idle(struct test_device *mine)
{
	test_drain_requests(mine);
	CHECK_EQ(test_execute_request(mine, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	test_advance_clock_by(mine, 50000000);
}

static void run_random_requests_and_flush(struct test_device *mine, u64 seed, u32 requests)
{
	struct test_stream stream;

	test_stream_init(&stream, seed);
	while (requests--)
		test_stream_submit_request(&stream, mine);
	flush_device_until_idle(mine);
}

static void open_used_device(const char *policy, const char *params)
{
	test_open_demo_profile(&device, policy, params);
	run_random_requests_and_flush(&device, 1, 3000);
}

static int save_device_bytes(struct test_bytes *bytes)
{
	struct aftl_snapshot_sink sink = test_bytes_sink(bytes);

	device.error.text[0] = '\0';
	return aftl_save(device.ftl, &sink, &device.error);
}

static int load_device_bytes(struct test_bytes *bytes)
{
	struct aftl_snapshot_source source = test_bytes_source(bytes);

	test_device_init(&loaded, "demo");
	loaded.ret = aftl_load(&loaded.ftl, &source, &loaded.ops, &loaded, &loaded.error);
	return loaded.ret;
}

static void check_devices_have_same_state(void)
{
	u32 unit;

	CHECK_EQ(aftl_compute_device_digest(loaded.ftl), aftl_compute_device_digest(device.ftl));
	CHECK_EQ(aftl_device_time_ns(loaded.ftl), aftl_device_time_ns(device.ftl));
	CHECK_EQ(aftl_device_age_hours(loaded.ftl), aftl_device_age_hours(device.ftl));
	CHECK(aftl_policy_type(loaded.ftl) == aftl_policy_type(device.ftl));
	CHECK(!memcmp(aftl_config(loaded.ftl), aftl_config(device.ftl),
		      sizeof(struct aftl_config)));
	for (unit = 0; unit < test_unit_count(&device); unit++) {
		struct aftl_errors a = { 0 };
		struct aftl_errors b = { 0 };
		u32 class;

		CHECK_EQ(from_ppn(aftl_lookup(device.ftl, to_lpn(unit), &class)),
			 from_ppn(aftl_lookup(loaded.ftl, to_lpn(unit), &class)));
		CHECK_EQ(aftl_get_lpn_read_errors(device.ftl, to_lpn(unit), &a),
			 aftl_get_lpn_read_errors(loaded.ftl, to_lpn(unit), &b));
		CHECK(a.flips == b.flips && a.raw == b.raw && a.lost == b.lost);
	}
	test_audit_device(&device);
	test_audit_device(&loaded);
}

static void check_counters_after_load(void)
{
	const struct aftl_counters *a = test_counters(&device);
	const struct aftl_counters *b = test_counters(&loaded);
	unsigned int i;

	for (i = 0; i < AFTL_COUNTERS; i++)
		CHECK_MSG(aftl_counter_get(a, i) == aftl_counter_get(b, i),
			  "%s: %llu and %llu after the same requests", aftl_counter_info[i].name,
			  (unsigned long long)aftl_counter_get(a, i),
			  (unsigned long long)aftl_counter_get(b, i));
}

static void check_devices_behave_alike(void)
{
	aftl_reset_stats(device.ftl);
	aftl_reset_stats(loaded.ftl);
	run_random_requests_and_flush(&device, 2, 3000);
	run_random_requests_and_flush(&loaded, 2, 3000);
	check_devices_have_same_state();
	check_counters_after_load();
}

/* Return false if the loaded device has started background work that the saved device had not. */
static bool is_device_idle(const struct test_device *of)
{
	u32 i;

	for (i = 0; i < of->ftl->geo.luns; i++)
		if (of->ftl->luns[i].work.phase != AFTL_PHASE_IDLE)
			return false;
	return true;
}

static u32 saved_again;

static void save_loaded_device(const struct test_bytes *bytes)
{
	struct test_device first = device;
	struct test_bytes again = { 0 };

	device = loaded;
	CHECK_EQ(save_device_bytes(&again), 0);
	device = first;
	CHECK(again.size == bytes->size && !memcmp(again.data, bytes->data, bytes->size));
	free_test_bytes(&again);
	saved_again++;
}

static void check_save_and_load(const char *policy, const char *params)
{
	struct test_bytes bytes = { 0 };

	open_used_device(policy, params);
	if (device.config.rain)
		CHECK_EQ(aftl_fail_lun(device.ftl, 6), 0);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	if (CHECK_MSG(!load_device_bytes(&bytes), "%s", loaded.error.text)) {
		CHECK_EQ(bytes.at, bytes.size);
		check_devices_have_same_state();
		if (is_device_idle(&loaded))
			save_loaded_device(&bytes);
		check_devices_behave_alike();
	}
	free_test_bytes(&bytes);
}

TAP_TEST(a_new_device_survives_saving_and_loading)
{
	struct test_bytes bytes = { 0 };

	test_open_demo_profile(&device, "approxftl", plain);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	if (CHECK_MSG(!load_device_bytes(&bytes), "%s", loaded.error.text))
		check_devices_have_same_state();
	free_test_bytes(&bytes);
}

TAP_TEST(a_busy_device_is_not_saved)
{
	struct test_bytes bytes = { 0 };

	test_open_demo_profile(&device, "baseline", busy);
	CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE, 0, 1, 0, 0, 0), 0);
	test_drain_requests(&device);
	CHECK_EQ(save_device_bytes(&bytes), -EBUSY);
	CHECK(strlen(device.error.text) > 10);
	flush_device_until_idle(&device);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	free_test_bytes(&bytes);
}

TAP_TEST(write_errors_of_the_sink_are_reported)
{
	struct test_bytes whole = { 0 };
	struct test_bytes bytes = { 0 };
	size_t limit;

	open_used_device("vth_b", tiny);
	CHECK_EQ(save_device_bytes(&whole), 0);
	for (limit = 1; limit < whole.size; limit += 1 + limit / 3) {
		bytes.limit = limit;
		bytes.size = 0;
		CHECK_EQ(save_device_bytes(&bytes), -EIO);
	}
	free_test_bytes(&bytes);
	free_test_bytes(&whole);
}

static void check_snapshot_refused(struct test_bytes *bytes, const char *what, size_t at)
{
	CHECK_MSG(load_device_bytes(bytes), "%s at byte %zu is not noticed", what, at);
	CHECK_MSG(strlen(loaded.error.text) > 10, "%s at byte %zu: \"%s\"", what, at,
		  loaded.error.text);
	CHECK_MSG(!loaded.ftl, "%s at byte %zu left something", what, at);
}

TAP_TEST(truncated_snapshots_are_refused)
{
	struct test_bytes bytes = { 0 };
	size_t whole;

	open_used_device("approxftl", tiny);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	whole = bytes.size;
	for (bytes.size = 0; bytes.size < whole; bytes.size++)
		check_snapshot_refused(&bytes, "a cut", bytes.size);
	bytes.size = whole;
	CHECK_EQ(load_device_bytes(&bytes), 0);
	free_test_bytes(&bytes);
}

TAP_TEST(damaged_snapshots_are_refused)
{
	struct test_bytes bytes = { 0 };
	size_t at;

	open_used_device("approxftl", tiny);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	for (at = 0; at < bytes.size; at++) {
		u8 good = bytes.data[at];

		bytes.data[at] ^= 1 << at % 8;
		check_snapshot_refused(&bytes, "a flipped bit", at);
		bytes.data[at] = good;
	}
	free_test_bytes(&bytes);
}

/* A later minor version may have another layout, so it is refused by its number. */
TAP_TEST(a_snapshot_of_a_later_version_is_refused)
{
	static const char *const said[] = { "format 9.1", "format 2.2" };
	struct test_bytes bytes = { 0 };
	u32 i;

	open_used_device("approxftl", tiny);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	for (i = 0; i < ARRAY_SIZE(said); i++) {
		u8 *version = &bytes.data[i ? 10 : 8];
		u8 good = *version;

		*version = i ? AFTL_SNAPSHOT_MINOR + 1 : 9;
		test_bytes_add_crc(&bytes);
		check_snapshot_refused(&bytes, said[i], 8);
		CHECK_MSG(strstr(loaded.error.text, said[i]), "%s", loaded.error.text);
		*version = good;
	}
	free_test_bytes(&bytes);
}

/*
 * A snapshot with changed bytes and a valid checksum is refused, or loads a working device.
 */
TAP_TEST(forged_snapshots_are_refused_or_consistent)
{
	struct test_bytes bytes = { 0 };
	struct aftl_random random = { 8 };
	u32 refused = 0;
	u32 lived = 0;
	u32 i;

	open_used_device("approxftl", tiny);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	for (i = 0; i < 4 * bytes.size && !tap_failure_count(); i++) {
		size_t at = i % bytes.size;
		u8 good = bytes.data[at];

		bytes.data[at] = i < bytes.size ? (u8)(good ^ 1 << at % 8) :
						  (u8)aftl_random_below(&random, 256);
		test_bytes_add_crc(&bytes);
		if (load_device_bytes(&bytes)) {
			refused++;
			CHECK(strlen(loaded.error.text) > 10);
		} else {
			lived++;
			test_audit_device(&loaded);
			if (aftl_geometry(loaded.ftl)->units < 10000 && i % 16 == 0)
				run_random_requests_and_flush(&loaded, i, 30);
			test_audit_device(&loaded);
		}
		if (tap_failure_count())
			tap_printf("byte %zu was %02x and is %02x", at, good, bytes.data[at]);
		test_device_close(&loaded);
		bytes.data[at] = good;
	}
	tap_printf("%u forgeries refused, %u possible states", refused, lived);
	CHECK(refused > 100);
	free_test_bytes(&bytes);
}

TAP_TEST(loading_without_memory_fails_cleanly)
{
	struct test_bytes bytes = { 0 };
	struct aftl_snapshot_source source;
	u32 fail_at = 0;

	open_used_device("approxftl", tiny);
	CHECK_EQ(save_device_bytes(&bytes), 0);
	do {
		source = test_bytes_source(&bytes);
		test_device_init(&loaded, "demo");
		loaded.fail_at = ++fail_at;
		loaded.ret = aftl_load(&loaded.ftl, &source, &loaded.ops, &loaded, &loaded.error);
		CHECK(!loaded.ret || loaded.ret == -ENOMEM);
	} while (loaded.ret && fail_at < 1000);
	CHECK(fail_at > 5);
	free_test_bytes(&bytes);
}

TAP_TEST(saving_most_loaded_devices_gives_the_same_bytes)
{
	CHECK_MSG(saved_again > 40, "%u", saved_again);
}

/* The CRC is right for all lengths and alignments, also if it is computed in two calls. */
TAP_TEST(checksums_are_crc_32c)
{
	u8 bytes[48];
	u32 from, size, cut;

	for (size = 0; size < sizeof(bytes); size++)
		bytes[size] = size * 37 + 11;
	CHECK_EQ((u32)~aftl_crc32c(AFTL_CRC_START, "123456789", 9), 0xe3069283);
	for (from = 0; from < 8; from++) {
		for (size = 0; size <= sizeof(bytes) - from; size++) {
			const u8 *at = bytes + from;
			u32 whole = compute_reference_crc32c(at, size);

			CHECK_EQ((u32)~aftl_crc32c(AFTL_CRC_START, at, size), whole);
			CHECK_EQ((u32)~aftl_crc32c_by_table(AFTL_CRC_START, at, size), whole);
			for (cut = 0; cut <= size; cut++)
				CHECK_EQ((u32)~aftl_crc32c(aftl_crc32c(AFTL_CRC_START, at, cut),
							   at + cut, size - cut), whole);
		}
	}
}

int main(void)
{
	test_run_with_each_policy("a used device is saved, loaded", plain, check_save_and_load);
	test_run_with_each_policy("a device with many options is saved, loaded", busy,
				  check_save_and_load);
	test_run_with_each_policy("a device without errors", no_errors, check_save_and_load);
	test_run_with_each_policy("word lines of three bits", three_bits, check_save_and_load);
	test_run_with_each_policy("superblocks", superblocks, check_save_and_load);
	test_run_with_each_policy("superblocks with a dead die", parity, check_save_and_load);
	test_run_with_each_policy("superblocks with an SLC cache and a dead die", slc,
				  check_save_and_load);
	return tap_run_all();
}
