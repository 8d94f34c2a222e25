// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zones: state, write pointer and limits after each request; on random devices each block holds
 * data of one zone.
 */
#include <errno.h>
#include <stdlib.h>

#include "bytes.h"
#include "core/ftl/controller.h"
#include "core/ftl/gc-watermark.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/write-buffer.h"
#include "core/persist/snapshot.h"
#include "core/policy/policies.h"
#include "shadow-store.h"
#include "stream.h"
#include "tap.h"

#define SEEDS 250
#define REQUESTS 700

static struct test_device device;

/* Parameters of a device with four LUNs, blocks of 16 units, and nine zones of 64 units. */
#define SHAPE "channels=2 chips=2 blocks=12 layers=2 word_lines=4 bits=1 page=8KiB unit=4KiB " \
	"op=25 zoned=256KiB buffer=1MiB buffer_safe=on"
#define ZONE 64
#define ZONES 9

static void open_zoned_device(const char *active, const char *open, const char *capacity)
{
	const char *params = test_format_params(SHAPE " max_active_zones=%s max_open_zones=%s "
					"zone_capacity=%s", active, open, capacity);

	test_open_demo_profile(&device, "baseline", params);
	CHECK_EQ(aftl_geometry(device.ftl)->zones, ZONES);
}

static int send_zone_command(enum aftl_op op, u32 zone)
{
	return test_execute_request(&device, op, zone * aftl_geometry(device.ftl)->zone_units, 0, 0,
				    NULL);
}

static int write_units_at_zone_offset(u32 zone, u32 at, u32 units)
{
	return test_execute_request(&device, AFTL_OP_WRITE, zone * ZONE + at, units, AFTL_APPROX,
				    NULL);
}

static void check_zone_state(u32 zone, enum aftl_zone_state state, u32 written)
{
	u32 found;

	CHECK_MSG(aftl_zone_state(device.ftl, zone, &found) == state, "zone %u is in state %u",
		  zone, aftl_zone_state(device.ftl, zone, &found));
	CHECK_EQ(found, written);
}

TAP_TEST(an_append_returns_its_address)
{
	struct test_request *first;
	struct test_request *second;

	open_zoned_device("4", "0", "0");
	first = test_submit_kept(&device, AFTL_OP_WRITE, 5 * ZONE, 3, 0, AFTL_REQUEST_APPEND, 0);
	second = test_submit_kept(&device, AFTL_OP_WRITE, 5 * ZONE, 2, 0, AFTL_REQUEST_APPEND, 0);
	CHECK(test_wait_for_request(&device, first) && test_wait_for_request(&device, second));
	CHECK_EQ(first->request.unit, 5 * ZONE);
	CHECK_EQ(second->request.unit, 5 * ZONE + 3);
	CHECK_EQ(second->request.status, 0);
	CHECK_EQ(test_execute_flagged_request(&device, AFTL_OP_WRITE, 5 * ZONE + 5, 1, 0,
					      AFTL_REQUEST_APPEND, NULL),
		 -EIO);
	CHECK_EQ(test_counters(&device)->zone_append_requests, 2);
	test_release_request(&device, first);
	test_release_request(&device, second);
}

TAP_TEST(implicit_closes_rotate_among_the_zones)
{
	u32 i;

	open_zoned_device("4", "2", "0");
	for (i = 0; i < 4; i++)
		CHECK_EQ(write_units_at_zone_offset(i, 0, 1), 0);
	check_zone_state(0, AFTL_ZONE_CLOSED, 1);
	check_zone_state(1, AFTL_ZONE_CLOSED, 1);
	check_zone_state(2, AFTL_ZONE_IMPLICIT, 1);
	check_zone_state(3, AFTL_ZONE_IMPLICIT, 1);
	CHECK_EQ(write_units_at_zone_offset(0, 1, 1), 0);
	check_zone_state(2, AFTL_ZONE_CLOSED, 1);
	CHECK_EQ(write_units_at_zone_offset(1, 1, 1), 0);
	check_zone_state(3, AFTL_ZONE_CLOSED, 1);
	CHECK_EQ(test_counters(&device)->zone_implicit_closes, 4);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_OPEN, 0), 0);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_CLOSE, 0), 0);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_FINISH, 1), 0);
	CHECK_EQ(test_counters(&device)->zone_opens, 6);
	CHECK_EQ(test_counters(&device)->zone_closes, 1);
	CHECK_EQ(test_counters(&device)->zone_finishes, 1);
}

/* Small writes with flushes in between pad no page. */
TAP_TEST(pages_are_padded_only_when_a_zone_is_finished)
{
	u32 i;

	open_zoned_device("3", "0", "0");
	for (i = 0; i < ZONE * 3; i++) {
		CHECK_EQ(write_units_at_zone_offset(i % 3, i / 3, 1), 0);
		CHECK_EQ(test_execute_request(&device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
		test_advance_clock_by(&device, 20000000);
	}
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 3 * ZONE);
	CHECK_EQ(write_units_at_zone_offset(3, 0, 1), 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 3 * ZONE);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_FINISH, 3), 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 3 * ZONE + 1);
	CHECK_EQ(test_counters(&device)->padded_units, 1);
}

static u32 count_free_blocks(void)
{
	u32 sum = 0;
	u32 i;

	for (i = 0; i < aftl_geometry(device.ftl)->luns; i++)
		sum += test_lun_info(&device, i).free_blocks;
	return sum;
}

/* A reset erases the zone's own blocks immediately, without relocation. */
TAP_TEST(a_reset_erases_the_blocks_of_its_zone_only)
{
	u32 all;

	open_zoned_device("4", "0", "0");
	all = count_free_blocks();
	CHECK_EQ(write_units_at_zone_offset(0, 0, ZONE), 0);
	CHECK_EQ(write_units_at_zone_offset(1, 0, 40), 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(count_free_blocks(), all - 8);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET, 0), 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(count_free_blocks(), all - 4);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET, 1), 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(count_free_blocks(), all);
	CHECK_EQ(test_counters(&device)->array_erases, 8);
	CHECK_EQ(test_counters(&device)->gc_blocks, 0);
}

/* Writes that wait for space in the write buffer complete before a later reset of their zone. */
TAP_TEST(a_reset_waits_for_earlier_writes)
{
	struct test_request *writes[5];
	struct test_request *reset;
	u32 i;

	open_zoned_device("4", "0", "0");
	for (i = 0; i < 5; i++)
		writes[i] = test_submit_kept(&device, AFTL_OP_WRITE, i * ZONE, ZONE, 0, 0, 0);
	reset = test_submit_kept(&device, AFTL_OP_ZONE_RESET, 4 * ZONE, 0, 0, 0, 0);
	CHECK(!writes[4]->done && !reset->done);
	check_zone_state(4, AFTL_ZONE_FULL, ZONE);
	test_drain_requests(&device);
	for (i = 0; i < 5; i++)
		CHECK_EQ(writes[i]->request.status, 0);
	CHECK_EQ(reset->request.status, 0);
	CHECK_EQ(test_counters(&device)->zone_resets, 1);
	check_zone_state(4, AFTL_ZONE_EMPTY, 0);
	test_audit_device(&device);
	for (i = 0; i < 5; i++)
		test_release_request(&device, writes[i]);
	test_release_request(&device, reset);
}

static const char queued[] = SHAPE " max_active_zones=4 buffer=256KiB queue_weights=1:3:2:5";

/* Four queued writers each fill their zone, reset it and write again. */
TAP_TEST(host_queues_keep_the_order_of_zone_requests)
{
	static struct shadow_store store;
	u32 i;

	test_open_demo_profile(&device, "baseline", queued);
	shadow_attach_to_device(&store, &device, false);
	for (i = 0; i < 4 * 18; i++) {
		u32 step = i / 4;
		u32 zone = i % 4;

		device.queue = (u8)zone;
		if (step == 16)
			test_submit_io(&device, AFTL_OP_ZONE_RESET, zone * ZONE, 0, 0, 0, 0);
		else
			test_submit_io(&device, AFTL_OP_WRITE, zone * ZONE + step % 17 * 4,
				       step == 17 ? zone + 1 : 4, 0, 0, 0);
	}
	CHECK_RANGE(device.ftl->host_queues[1].count, 30, U32_MAX);
	test_drain_requests(&device);
	CHECK_EQ(device.failed, 0);
	for (i = 0; i < 4; i++)
		check_zone_state(i, AFTL_ZONE_IMPLICIT, i + 1);
}

/*
 * Only the next write in the host queues has advanced the write pointer, so a die failure moves
 * the pointer back by the rest of this write. Here two of its four pages are in the buffer.
 */
TAP_TEST(a_die_fails_while_host_queues_hold_writes_of_a_zone)
{
	static struct shadow_store store;
	struct test_request *writes[8];
	u32 i;

	test_open_demo_profile(&device, "baseline", queued);
	shadow_attach_to_device(&store, &device, false);
	store.full_disk = true;
	test_submit_io(&device, AFTL_OP_WRITE, 0, ZONE - 2, 0, 0, 0);
	for (i = 0; i < ARRAY_SIZE(writes); i++) {
		device.queue = (u8)(i % 4);
		writes[i] = test_submit_kept(&device, AFTL_OP_WRITE, ZONE, 4, 0,
					     AFTL_REQUEST_APPEND, 0);
	}
	CHECK_EQ(device.ftl->host_queues[1].count, ARRAY_SIZE(writes) - 1);
	CHECK_EQ(writes[0]->request.admitted, 2);
	check_zone_state(1, AFTL_ZONE_IMPLICIT, 4);
	CHECK_EQ(aftl_fail_lun(device.ftl, 0), 0);
	test_drain_requests(&device);
	check_zone_state(1, AFTL_ZONE_READ_ONLY, 2);
	for (i = 0; i < ARRAY_SIZE(writes); i++) {
		CHECK_EQ(writes[i]->request.status, -EIO);
		test_release_request(&device, writes[i]);
	}
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, ZONE, 2, 0, NULL), 0);
}

TAP_TEST(zones_go_offline_when_blocks_are_lacking)
{
	u32 at = 0;
	u32 i;

	open_zoned_device("4", "0", "0");
	CHECK_EQ(write_units_at_zone_offset(0, 0, ZONE), 0);
	test_advance_clock_by(&device, 1000000000);
	/* A LUN has twelve blocks: nine for zones, the others for the core. */
	for (i = 0; i < 12; i++)
		if (device.ftl->media.blocks[i].state == AFTL_BLOCK_FREE && at < 3) {
			CHECK_EQ(aftl_fail_block(device.ftl, i), 0);
			at++;
		}
	at = 12 - 3 - aftl_count_reserved_blocks_per_lun(device.ftl);
	for (i = 1; i < ZONES; i++)
		check_zone_state(i, i < at ? AFTL_ZONE_EMPTY : AFTL_ZONE_OFFLINE, 0);
	check_zone_state(0, AFTL_ZONE_FULL, ZONE);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 8 * ZONE, 1, 0, NULL), -EIO);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, ZONE, 0, NULL), 0);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET, 8), -EIO);
	CHECK_EQ(write_units_at_zone_offset(8, 0, 1), -EIO);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET_ALL, 0), 0);
	check_zone_state(0, AFTL_ZONE_EMPTY, 0);
	check_zone_state(8, AFTL_ZONE_OFFLINE, 0);
	for (i = 0; i < at; i++)
		CHECK_EQ(write_units_at_zone_offset(i, 0, ZONE), 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK(!aftl_is_read_only(device.ftl));
	/* Without spare blocks all zones become read-only. */
	for (i = 0; i < 12; i++)
		if (device.ftl->media.blocks[i].state == AFTL_BLOCK_FREE) {
			CHECK_EQ(aftl_fail_block(device.ftl, i), 0);
			break;
		}
	check_zone_state(0, AFTL_ZONE_READ_ONLY, ZONE);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET, 0), -EIO);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, ZONE, 0, NULL), 0);
}

TAP_TEST(a_die_failure_makes_its_zones_read_only)
{
	u32 i;

	open_zoned_device("4", "0", "0");
	CHECK_EQ(write_units_at_zone_offset(0, 0, ZONE), 0);
	CHECK_EQ(write_units_at_zone_offset(1, 0, 5), 0);
	CHECK_EQ(aftl_fail_lun(device.ftl, 1), 0);
	test_drain_requests(&device);
	check_zone_state(0, AFTL_ZONE_READ_ONLY, ZONE);
	check_zone_state(1, AFTL_ZONE_READ_ONLY, 5);
	for (i = 2; i < ZONES; i++)
		check_zone_state(i, AFTL_ZONE_OFFLINE, 0);
	CHECK_EQ(write_units_at_zone_offset(1, 5, 1), -EIO);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET_ALL, 0), 0);
	check_zone_state(0, AFTL_ZONE_READ_ONLY, ZONE);
	test_advance_clock_by(&device, 1000000000);
}

/* With two groups of nine zones on separate LUNs, bad blocks affect only zones on their LUN. */
TAP_TEST(bad_blocks_affect_zones_of_their_luns_only)
{
	u32 reserved;
	u32 lun;
	u32 i;

	test_open_demo_profile(&device, "baseline", SHAPE " zoned=128KiB");
	lun = aftl_lun_by_allocation_order(&device.ftl->geo, 3);
	reserved = aftl_count_reserved_blocks_per_lun(device.ftl);
	for (i = 0; i < 3; i++)
		CHECK_EQ(aftl_fail_block(device.ftl, lun * 12 + i), 0);
	for (i = 0; i < 18; i++)
		check_zone_state(i,
				 i % 2 && i / 2 >= 9 - reserved ? AFTL_ZONE_OFFLINE :
								  AFTL_ZONE_EMPTY,
				 0);
}

/* Each zone has its own open block in each LUN, also after a reload. */
TAP_TEST(up_to_128_zones_are_active)
{
	u32 i;

	test_open_demo_profile(&device, "baseline",
			       SHAPE " blocks=200 max_active_zones=128 buffer=8MiB");
	for (i = 0; i < 128; i++)
		CHECK_EQ(write_units_at_zone_offset(i, 0, 10), 0);
	CHECK_EQ(write_units_at_zone_offset(128, 0, 1), -EOVERFLOW);
	test_flush_writes(&device);
	CHECK_EQ(device.ftl->geo.blocks - count_free_blocks(), 128 * 4);
	CHECK_EQ(test_device_reload(&device), 0);
	CHECK_EQ(write_units_at_zone_offset(128, 0, 1), -EOVERFLOW);
	for (i = 0; i < 128; i++)
		CHECK_EQ(write_units_at_zone_offset(i, 10, ZONE - 10), 0);
	test_flush_writes(&device);
	CHECK_EQ(device.ftl->geo.blocks - count_free_blocks(), 128 * 4);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
	test_audit_device(&device);
}

static int load_zoned_device(struct test_bytes *bytes)
{
	struct aftl_snapshot_source source = test_bytes_source(bytes);
	int ret;

	aftl_destroy(device.ftl);
	device.ftl = NULL;
	bytes->at = 0;
	ret = aftl_load(&device.ftl, &source, &device.ops, &device, &device.error);
	return ret;
}

TAP_TEST(damaged_snapshots_of_zoned_devices_are_refused)
{
	u32 states[] = { AFTL_ZONE_STATES, AFTL_ZONE_IMPLICIT, AFTL_ZONE_EMPTY };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		struct test_bytes bytes = { .limit = SIZE_MAX };
		u32 zone;

		open_zoned_device("1", "0", "0");
		CHECK_EQ(write_units_at_zone_offset(0, 0, 5), 0);
		test_flush_writes(&device);
		test_device_save_snapshot(&device, &bytes);
		for (zone = 0; zone < 2; zone++)
			bytes.data[bytes.size - 4 - 5 * (ZONES - zone)] = (u8)states[i];
		test_bytes_add_crc(&bytes);
		CHECK_EQ(load_zoned_device(&bytes), -EUCLEAN);
		CHECK_CONTAINS(device.error.text, i == 1 ? "more zones are open" : "impossible");
		free_test_bytes(&bytes);
	}
}

static void check_zones_refused(const char *policy, const char *key, const char *value,
				const char *why)
{
	test_check_config_refused(&device, policy, test_format_params(SHAPE " %s=%s", key, value),
				  why);
}

TAP_TEST(invalid_combinations_with_zones_are_refused)
{
	check_zones_refused("baseline", "zoned", "192KiB",
			    "zoned: 196608 bytes are not a power of two");
	check_zones_refused("baseline", "zone_capacity", "260KiB",
			    "zone_capacity: 266240 bytes are more than a zone");
	check_zones_refused("baseline", "zone_capacity", "5000B",
			    "or not a multiple of the mapping unit");
	check_zones_refused("baseline", "max_open_zones", "15",
			    "15 zones cannot be open where 14 may be active");
	check_zones_refused("baseline", "placement_handles", "1",
			    "zones already say which data belong together; set placement_handles 0");
	check_zones_refused("baseline", "fill", "sequential",
			    "no data can be there before; set fill none");
	check_zones_refused("baseline", "buffer_safe", "off",
			    "set buffer_safe on and buffer to at least 466944 bytes");
	check_zones_refused("baseline", "buffer", "454KiB",
			    "set buffer_safe on and buffer to at least 466944 bytes");
	check_zones_refused("baseline", "op", "10%",
			    "zoned: zones take 10 blocks of each LUN and the core");
	check_zones_refused("baseline", "zrwa_granularity", "3 zrwa=4",
			    "zrwa_granularity: 3 programs do not divide a random write area of 4");
	check_zones_refused("baseline", "zrwa", "33",
			    "zrwa: 33 programs of 2 units are more than a zone of 64 units");
	check_zones_refused("baseline", "zrwa", "32",
			    "set buffer_safe on and buffer to at least 4136960 bytes");
	check_zones_refused("baseline", "zoned", "0 zrwa=1", "there are no zones; set zoned");
	check_zones_refused("baseline", "zoned", "1GiB", "at least one zone");
	check_zones_refused("baseline", "zoned", "2KiB", "of at least a mapping unit");
}

TAP_TEST(requests_that_zones_do_not_support_are_refused)
{
	open_zoned_device("4", "0", "0");
	CHECK_EQ(test_submit_io(&device, AFTL_OP_DISCARD, 0, 1, 0, 0, 0), -EINVAL);
	CHECK_EQ(test_submit_io(&device, AFTL_OP_WRITE_ZEROES, 0, 1, 0, 0, 0), -EINVAL);
	CHECK_EQ(test_submit_io(&device, AFTL_OP_ZONE_OPEN, 0, 1, 0, 0, 0), -EINVAL);
	CHECK_EQ(test_submit_io(&device, AFTL_OP_ZONE_OPEN, ZONE * ZONES, 0, 0, 0, 0), -EINVAL);
	CHECK_EQ(test_submit_io(&device, AFTL_ZONE_OPS, 0, 0, 0, 0, 0), -EINVAL);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_ZONE_OPEN, 1, 0, 0, NULL), -EIO);
	test_open_demo_profile(&device, "baseline", NULL);
	CHECK_EQ(test_submit_io(&device, AFTL_OP_ZONE_RESET_ALL, 0, 0, 0, 0, 0), -EINVAL);
}

/* A zone request, its expected result, and the zone's state and write pointer afterwards. */
struct step {
	u32 op;
	u32 zone;
	u32 at;
	u32 units;
	int status;
	enum aftl_zone_state state;
	u32 written;
};

/* A device on which three zones may be active and two open; each has a capacity of 48 units. */
static const struct step steps[] = {
	{ AFTL_OP_WRITE, 0, 1, 1, -EIO, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_WRITE, 0, 0, 5, 0, AFTL_ZONE_IMPLICIT, 5 },
	{ AFTL_OP_WRITE, 0, 4, 1, -EIO, AFTL_ZONE_IMPLICIT, 5 },
	{ AFTL_OP_WRITE, 0, 6, 1, -EIO, AFTL_ZONE_IMPLICIT, 5 },
	{ AFTL_OP_WRITE, 0, 5, 44, -EIO, AFTL_ZONE_IMPLICIT, 5 },
	{ AFTL_OP_ZONE_CLOSE, 0, 0, 0, 0, AFTL_ZONE_CLOSED, 5 },
	{ AFTL_OP_ZONE_CLOSE, 0, 0, 0, 0, AFTL_ZONE_CLOSED, 5 },
	{ AFTL_OP_WRITE, 0, 5, 1, 0, AFTL_ZONE_IMPLICIT, 6 },
	{ AFTL_OP_ZONE_OPEN, 0, 0, 0, 0, AFTL_ZONE_EXPLICIT, 6 },
	{ AFTL_OP_WRITE, 0, 6, 1, 0, AFTL_ZONE_EXPLICIT, 7 },
	{ AFTL_OP_ZONE_CLOSE, 1, 0, 0, -EIO, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_ZONE_OPEN, 1, 0, 0, 0, AFTL_ZONE_EXPLICIT, 0 },
	{ AFTL_OP_ZONE_CLOSE, 1, 0, 0, 0, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_ZONE_OPEN, 1, 0, 0, 0, AFTL_ZONE_EXPLICIT, 0 },
	/* An explicitly opened zone is not closed when another zone needs to be opened. */
	{ AFTL_OP_WRITE, 2, 0, 1, -EBUSY, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_ZONE_OPEN, 2, 0, 0, -EBUSY, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_WRITE, 1, 0, 47, 0, AFTL_ZONE_EXPLICIT, 47 },
	{ AFTL_OP_WRITE, 1, 47, 2, -EIO, AFTL_ZONE_EXPLICIT, 47 },
	{ AFTL_OP_WRITE, 1, 47, 1, 0, AFTL_ZONE_FULL, 48 },
	{ AFTL_OP_WRITE, 1, 48, 1, -EIO, AFTL_ZONE_FULL, 48 },
	{ AFTL_OP_ZONE_OPEN, 1, 0, 0, -EIO, AFTL_ZONE_FULL, 48 },
	{ AFTL_OP_ZONE_CLOSE, 1, 0, 0, -EIO, AFTL_ZONE_FULL, 48 },
	{ AFTL_OP_ZONE_FINISH, 1, 0, 0, 0, AFTL_ZONE_FULL, 48 },
	{ AFTL_OP_WRITE, 2, 0, 2, 0, AFTL_ZONE_IMPLICIT, 2 },
	{ AFTL_OP_WRITE, 3, 0, 3, 0, AFTL_ZONE_IMPLICIT, 3 },
	{ AFTL_OP_READ, 2, 0, 48, 0, AFTL_ZONE_CLOSED, 2 },
	{ AFTL_OP_WRITE, 4, 0, 1, -EOVERFLOW, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_ZONE_OPEN, 4, 0, 0, -EOVERFLOW, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_ZONE_FINISH, 4, 0, 0, 0, AFTL_ZONE_FULL, 0 },
	{ AFTL_OP_ZONE_FINISH, 2, 0, 0, 0, AFTL_ZONE_FULL, 2 },
	{ AFTL_OP_WRITE, 5, 0, 1, 0, AFTL_ZONE_IMPLICIT, 1 },
	{ AFTL_OP_ZONE_RESET, 1, 0, 0, 0, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_ZONE_RESET, 1, 0, 0, 0, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_ZONE_RESET, 3, 0, 0, 0, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_WRITE, 1, 0, 4, 0, AFTL_ZONE_IMPLICIT, 4 },
	{ AFTL_OP_ZONE_RESET_ALL, 0, 0, 0, 0, AFTL_ZONE_EMPTY, 0 },
	{ AFTL_OP_READ, 5, 0, 48, 0, AFTL_ZONE_EMPTY, 0 },
	/* The search for an implicitly opened zone to close wraps from the last zone to zone 0. */
	{ AFTL_OP_WRITE, 0, 0, 1, 0, AFTL_ZONE_IMPLICIT, 1 },
	{ AFTL_OP_ZONE_OPEN, 1, 0, 0, 0, AFTL_ZONE_EXPLICIT, 0 },
	{ AFTL_OP_WRITE, 2, 0, 1, 0, AFTL_ZONE_IMPLICIT, 1 },
	{ AFTL_OP_READ, 0, 0, 1, 0, AFTL_ZONE_CLOSED, 1 },
};

/* The expected states and results are those of the ZNS specification. */
TAP_TEST(each_zone_request_leads_to_its_zone_state)
{
	static struct shadow_store store;
	u32 i;

	test_open_demo_profile(&device, "baseline", SHAPE " max_active_zones=3 max_open_zones=2 "
			       "zone_capacity=192KiB");
	shadow_attach_to_device(&store, &device, false);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct step *step = &steps[i];
		u32 unit = step->zone * ZONE + step->at;
		int status = test_execute_request(&device, step->op, unit, step->units, 0, NULL);

		CHECK_MSG(status == step->status, "step %u ends with %d", i, status);
		check_zone_state(step->zone, step->state, step->written);
	}
}

/* Parameters for a random write area of 8 units that moves by 4 units: a program has 2 units. */
#define AREA " max_active_zones=3 zone_capacity=192KiB zrwa=4 zrwa_granularity=2"

static void run_random_area_step(enum aftl_op op, u32 at, u32 units, int status, u32 written)
{
	CHECK_EQ(test_execute_request(&device, op, at, units, 0, NULL), status);
	check_zone_state(0, AFTL_ZONE_IMPLICIT, written);
}

static bool zone_unit_is_on_flash(u32 unit)
{
	return from_ppn(test_lookup(&device, unit)) != from_ppn(AFTL_NO_PPN);
}

/* The states and results are those of the ZNS specification. */
TAP_TEST(a_random_write_area_moves_with_its_writes)
{
	static struct shadow_store store;
	static const u32 units[] = { 5, 6, 7, 8, 15, 19 };
	u32 i;

	test_open_demo_profile(&device, "baseline", SHAPE AREA);
	shadow_attach_to_device(&store, &device, false);
	run_random_area_step(AFTL_OP_WRITE, 5, 2, 0, 0);
	run_random_area_step(AFTL_OP_WRITE, 5, 1, 0, 0);
	CHECK_EQ(test_counters(&device)->buffer_coalesced_units, 1);
	run_random_area_step(AFTL_OP_WRITE, 0, 17, -EIO, 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 0);
	run_random_area_step(AFTL_OP_WRITE, 7, 2, 0, 4);
	run_random_area_step(AFTL_OP_WRITE, 3, 1, -EIO, 4);
	run_random_area_step(AFTL_OP_WRITE, 20, 1, -EIO, 4);
	run_random_area_step(AFTL_OP_WRITE, 19, 1, 0, 12);
	run_random_area_step(AFTL_OP_WRITE, 15, 1, 0, 12);
	CHECK_EQ(test_execute_flagged_request(&device, AFTL_OP_WRITE, 0, 1, 0, AFTL_REQUEST_APPEND,
					      NULL), -EIO);
	run_random_area_step(AFTL_OP_ZONE_COMMIT, 14, 0, -EIO, 12);
	run_random_area_step(AFTL_OP_ZONE_COMMIT, 23, 0, -EIO, 12);
	run_random_area_step(AFTL_OP_ZONE_COMMIT, 11, 0, -EIO, 12);
	run_random_area_step(AFTL_OP_ZONE_COMMIT, 15, 0, 0, 16);
	CHECK_EQ(test_counters(&device)->zrwa_implicit_commits, 2);
	CHECK_EQ(test_counters(&device)->zrwa_commits, 1);
	run_random_area_step(AFTL_OP_READ, 0, 48, 0, 16);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_FINISH, 0), 0);
	check_zone_state(0, AFTL_ZONE_FULL, 20);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_host_units, ARRAY_SIZE(units));
	for (i = 0; i < ARRAY_SIZE(units); i++)
		CHECK(zone_unit_is_on_flash(units[i]));
	CHECK(!zone_unit_is_on_flash(4) && !zone_unit_is_on_flash(16));
}

/* A commit of the rest of a zone makes it full; a write cannot, because the area follows it. */
TAP_TEST(a_commit_fills_a_zone)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", SHAPE AREA);
	for (i = 0; i < 48; i++)
		CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, i, 1, 0, NULL), 0);
	check_zone_state(0, AFTL_ZONE_IMPLICIT, 40);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_ZONE_COMMIT, 47, 0, 0, NULL), 0);
	check_zone_state(0, AFTL_ZONE_FULL, 48);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_ZONE_COMMIT, 47, 0, 0, NULL), -EIO);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 48);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
}

/* A reset drops the data of the area; closing an area with data does not. */
TAP_TEST(a_reset_empties_a_random_write_area)
{
	test_open_demo_profile(&device, "baseline", SHAPE AREA);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 3, 4, 0, NULL), 0);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_CLOSE, 0), 0);
	check_zone_state(0, AFTL_ZONE_CLOSED, 0);
	CHECK_EQ(aftl_count_writes_in_flight(device.ftl), 4);
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET, 0), 0);
	check_zone_state(0, AFTL_ZONE_EMPTY, 0);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(aftl_count_writes_in_flight(device.ftl), 0);
	CHECK_EQ(test_counters(&device)->programmed_host_units, 0);
}

/* Saving a device commits the data that were written; the loaded device continues behind them. */
TAP_TEST(a_saved_device_has_no_data_in_random_write_areas)
{
	test_open_demo_profile(&device, "baseline", SHAPE AREA);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 3, 3, 0, NULL), 0);
	test_flush_writes(&device);
	check_zone_state(0, AFTL_ZONE_IMPLICIT, 6);
	CHECK_EQ(test_device_reload(&device), 0);
	check_zone_state(0, AFTL_ZONE_IMPLICIT, 6);
	CHECK(zone_unit_is_on_flash(3) && !zone_unit_is_on_flash(2));
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 5, 1, 0, NULL), -EIO);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 13, 1, 0, NULL), 0);
	check_zone_state(0, AFTL_ZONE_IMPLICIT, 6);
	test_audit_device(&device);
}

/* When a die dies, other dies program the data of the areas of its zones. */
TAP_TEST(a_die_failure_commits_the_areas_of_its_zones)
{
	static struct shadow_store store;

	test_open_demo_profile(&device, "baseline", SHAPE AREA);
	shadow_attach_to_device(&store, &device, false);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, 0, 8, 0, NULL), 0);
	CHECK_EQ(aftl_fail_lun(device.ftl, 0), 0);
	check_zone_state(0, AFTL_ZONE_READ_ONLY, 8);
	test_advance_clock_by(&device, 1000000000);
	CHECK_EQ(aftl_count_writes_in_flight(device.ftl), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_READ, 0, 8, 0, NULL), 0);
}

/* Parameters of a device with one LUN, whose zones have one block and one translation page each. */
#define MAPPED "channels=1 chips=1 blocks=64 layers=2 word_lines=8 bits=1 page=512 unit=512 " \
	"op=17 zoned=64KiB zone_capacity=8KiB max_active_zones=2 buffer=64KiB buffer_safe=on "
#define MAPPED_UNITS 16

static void rewrite_zone(u32 zone)
{
	u32 unit = zone * aftl_geometry(device.ftl)->zone_units;

	CHECK_EQ(test_execute_request(&device, AFTL_OP_ZONE_RESET, unit, 0, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&device, AFTL_OP_WRITE, unit, MAPPED_UNITS, 0, NULL), 0);
}

/* Reset and rewrite a zone @count times, with a CMT smaller than the L2P table. */
static void rewrite_zones(u32 count)
{
	static struct shadow_store store;
	struct aftl_random random = { 7 };
	u32 zones;
	u32 i;

	test_open_demo_profile(&device, "baseline", MAPPED "map_cache=2KiB");
	zones = aftl_geometry(device.ftl)->zones;
	CHECK_EQ(zones, 53);
	shadow_attach_to_device(&store, &device, false);
	for (i = 0; i < count && !tap_failure_count(); i++)
		rewrite_zone(i < zones ? i : aftl_random_below(&random, zones));
}

TAP_TEST(collection_of_a_zoned_device_moves_translation_pages_only)
{
	const struct aftl_counters *counters;

	rewrite_zones(3000);
	counters = test_counters(&device);
	CHECK_RANGE(counters->gc_blocks, 20, 1000);
	CHECK_RANGE(counters->map_moved_units, 1, U64_MAX);
	CHECK_EQ(counters->programmed_gc_units, counters->map_moved_units);
	CHECK(!aftl_is_read_only(device.ftl));
	test_flush_writes(&device);
	CHECK_EQ(test_device_reload(&device), 0);
}

TAP_TEST(a_reset_changes_the_translation_page_of_its_zone)
{
	u64 changes;

	rewrite_zones(53);
	changes = test_counters(&device)->map_changes;
	CHECK_EQ(send_zone_command(AFTL_OP_ZONE_RESET, 5), 0);
	CHECK_EQ(test_counters(&device)->map_changes, changes + MAPPED_UNITS);
}

/* Run a random zoned device under overlapping requests. */

static void check_request_has_space(struct test_listener *self, struct test_request *request)
{
	CHECK(request->request.status != -ENOSPC);
}

static u32 get_write_pointer_of_zone(u32 zone)
{
	u32 written;

	aftl_zone_state(device.ftl, zone, &written);
	return written;
}

/* Zone of the valid data in a block, or U32_MAX if there are none. */
static u32 find_zone_of_block(const struct aftl_block *block)
{
	u32 first = from_ppn(aftl_page_ppn(&device.ftl->media, block, 0));
	u32 zone = U32_MAX;
	u32 i;

	for (i = first; i < first + device.ftl->geo.block_ppns; i++) {
		u32 of = from_lpn(aftl_ppn_lpn(&device.ftl->media, to_ppn(i))) /
			 device.ftl->geo.zone_units;

		if (!aftl_ppn_is_valid(&device.ftl->media, to_ppn(i)))
			continue;
		CHECK_MSG(zone == U32_MAX || zone == of, "a block has data of zones %u and %u",
			  zone, of);
		zone = of;
	}
	return zone;
}

/* Check that no zone has more blocks in a LUN than it needs, plus @more for relocation. */
static void check_blocks_per_zone(u32 more)
{
	const struct aftl_geometry *geo = &device.ftl->geo;
	u32 *blocks = calloc((size_t)geo->zones * geo->luns, sizeof(*blocks));
	u32 i;

	for (i = 0; i < geo->blocks; i++) {
		u32 zone = find_zone_of_block(&device.ftl->media.blocks[i]);

		if (zone == U32_MAX || device.ftl->media.blocks[i].bits)
			continue;
		CHECK(++blocks[zone * geo->luns + i / geo->blocks_per_lun] <=
		      geo->zone_blocks + more);
	}
	free(blocks);
}

/*
 * A zone has the capacity of a block of 48 pages. An SLC block has 16 pages, of which a zone uses
 * 15: five programs of three bits per cell.
 */
#define CACHED "channels=1 chips=1 blocks=24 layers=2 word_lines=8 bits=3 one_shot=on page=4KiB " \
	"unit=4KiB op=60 zoned=256KiB zone_capacity=192KiB max_active_zones=2 buffer=1MiB " \
	"buffer_safe=on slc_static=40"

static u32 count_blocks_with_data(u32 bits)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < device.ftl->geo.blocks; i++)
		count += device.ftl->media.blocks[i].valid &&
			 device.ftl->media.blocks[i].bits == bits;
	return count;
}

TAP_TEST(folding_fills_the_block_of_each_zone_without_padding)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", CACHED);
	for (i = 0; i < 48; i++) {
		CHECK_EQ(write_units_at_zone_offset(0, i, 1), 0);
		CHECK_EQ(write_units_at_zone_offset(1, i, 1), 0);
	}
	test_advance_clock_by(&device, 10000000000);
	CHECK_EQ(test_counters(&device)->fold_idle_blocks, 8);
	CHECK_EQ(test_counters(&device)->programmed_fold_units, 96);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
	CHECK_EQ(count_blocks_with_data(0), 2);
	CHECK_EQ(count_blocks_with_data(1), 0);
	check_blocks_per_zone(0);
}

TAP_TEST(a_loaded_device_continues_the_slc_block_of_a_zone)
{
	u32 i;

	test_open_demo_profile(&device, "baseline", CACHED);
	for (i = 0; i < 48; i++) {
		CHECK_EQ(write_units_at_zone_offset(0, i, 1), 0);
		if (i != 16)
			continue;
		test_flush_writes(&device);
		CHECK_EQ(test_device_reload(&device), 0);
		CHECK_EQ(count_blocks_with_data(1), 2);
	}
	test_advance_clock_by(&device, 10000000000);
	CHECK_EQ(test_counters(&device)->padded_units, 0);
	CHECK_EQ(count_blocks_with_data(0), 1);
}

/* Write anywhere in the random write area of a zone and the area after it; rarely beyond these. */
static void write_random_area_of_zone(struct aftl_random *random, u32 zone)
{
	const struct aftl_geometry *geo = &device.ftl->geo;
	u32 area = (u32)device.config.zrwa * device.ftl->program_units;
	u32 written = get_write_pointer_of_zone(zone);
	u32 at = written + aftl_random_below(random, 2 * area + 1);
	u32 units = 1 + aftl_random_below(random, min(2 * area, 24U));

	if (at < geo->zone_capacity)
		test_submit_io(&device, AFTL_OP_WRITE, zone * geo->zone_units + at,
			       min(units, geo->zone_capacity - at), 0, 0,
			       aftl_device_time_ns(device.ftl) + aftl_random_below(random, 300000));
	if (!aftl_random_below(random, 3))
		test_submit_io(&device, AFTL_OP_ZONE_COMMIT,
			       zone * geo->zone_units +
				       min(written + aftl_random_below(random, area + 1),
					   geo->zone_units - 1),
			       0, 0, 0, aftl_device_time_ns(device.ftl));
}

static void write_random_units_to_zone(struct aftl_random *random, u32 zone)
{
	const struct aftl_geometry *geo = &device.ftl->geo;
	bool append = !aftl_random_below(random, 2);
	u32 at = append ? 0 : get_write_pointer_of_zone(zone) % geo->zone_units;
	u32 units = 1 + aftl_random_below(random, min(geo->zone_capacity, 24U));

	if (geo->zone_capacity > get_write_pointer_of_zone(zone))
		units = min(units, geo->zone_capacity - get_write_pointer_of_zone(zone));
	test_submit_io(&device, AFTL_OP_WRITE, zone * geo->zone_units + at,
		       min(units, geo->zone_units - at), aftl_random_below(random, 2),
		       append ? AFTL_REQUEST_APPEND : 0,
		       aftl_device_time_ns(device.ftl) + aftl_random_below(random, 300000));
}

static void read_random_units(struct aftl_random *random)
{
	u32 units = 1 + aftl_random_below(random, min(test_unit_count(&device), 60U));
	u32 unit = aftl_random_below(random, test_unit_count(&device) - units + 1);

	test_submit_io(&device, AFTL_OP_READ, unit, units, 0, 0, aftl_device_time_ns(device.ftl));
}

static void do_random_zone_operation(struct aftl_random *random, u32 few)
{
	static const u8 ops[] = {
		AFTL_OP_ZONE_OPEN, AFTL_OP_ZONE_CLOSE, AFTL_OP_ZONE_FINISH, AFTL_OP_ZONE_RESET,
		AFTL_OP_ZONE_RESET,
	};
	u32 draw = aftl_random_below(random, 100);
	u32 zone = aftl_random_below(random, draw % 4 ? few : device.ftl->geo.zones);

	device.queue = (u8)aftl_random_below(random, AFTL_QUEUES_MAX);
	if (draw < 70 && device.config.zrwa)
		write_random_area_of_zone(random, zone);
	else if (draw < 70)
		write_random_units_to_zone(random, zone);
	else if (draw < 90)
		read_random_units(random);
	else
		test_submit_io(&device, ops[draw % ARRAY_SIZE(ops)],
			       zone * device.ftl->geo.zone_units, 0, 0, 0,
			       aftl_device_time_ns(device.ftl));
}

/* Return the number of extra blocks that relocation may take in a zone and a LUN. */
static u32 count_spare_blocks_per_lun(void)
{
	const struct aftl_counters *counters = test_counters(&device);

	return counters->programmed_wear_units || counters->programmed_refresh_units ? 2 : 0;
}

static u64 sum[5];
static u32 lived;

/* Zones of LUNs that have not failed work on; these LUNs take over the translation pages. */
static void check_zones_after_lun_death(struct aftl_random *random, u32 few)
{
	struct aftl_error error;
	u32 i;

	CHECK_EQ(aftl_fail_lun(device.ftl, aftl_random_below(random, device.ftl->geo.luns)), 0);
	for (i = 0; i < REQUESTS / 4 && !tap_failure_count(); i++) {
		write_random_units_to_zone(random, aftl_random_below(random, few));
		test_drain_requests_to_depth(&device, few);
	}
	test_drain_requests(&device);
	CHECK_MSG(!aftl_audit(device.ftl, &error), "%s", error.text);
}

static void submit_random_zone_requests_and_check(struct aftl_random *random)
{
	static struct test_listener listener = { .complete = check_request_has_space };
	static struct shadow_store store;
	u32 few = 1 + aftl_random_below(random, device.ftl->geo.zones);
	u32 depth = aftl_random_below(random, 30);
	u32 i;

	test_device_add_listener(&device, &listener);
	shadow_attach_to_device(&store, &device, false);
	for (i = 0; i < REQUESTS && !tap_failure_count(); i++) {
		do_random_zone_operation(random, few);
		test_drain_requests_to_depth(&device, depth);
		if (i % 64 == 0)
			check_blocks_per_zone(count_spare_blocks_per_lun());
	}
	test_drain_requests(&device);
	test_advance_clock_by(&device, 1000000000);
	check_blocks_per_zone(count_spare_blocks_per_lun());
	/* On a zoned device GC collects only blocks with translation pages. */
	CHECK_EQ(test_counters(&device)->programmed_gc_units,
		 test_counters(&device)->gc_valid_units);
	CHECK_RANGE(test_counters(&device)->gc_valid_units, 0,
		    test_counters(&device)->map_moved_units);
	CHECK(!aftl_is_read_only(device.ftl));
	sum[0] += test_counters(&device)->zone_resets;
	sum[1] += test_counters(&device)->programmed_wear_units +
		  test_counters(&device)->programmed_refresh_units;
	sum[2] += test_counters(&device)->fold_blocks;
	sum[3] += test_counters(&device)->zrwa_commits;
	sum[4] += test_counters(&device)->zrwa_implicit_commits;
	test_flush_writes(&device);
	test_drain_requests(&device);
	CHECK_EQ(test_device_reload(&device), 0);
	if (few % 2)
		check_zones_after_lun_death(random, few);
}

static void draw_zone_params(struct aftl_random *random)
{
	struct aftl_config *config = &device.config;
	u64 unit = config->unit ? config->unit : config->page;
	u32 units = 4U << aftl_random_below(random, 6);

	config->bad = 0;
	config->endurance = 0;
	config->fill = AFTL_FILL_NONE;
	config->passes = 1;
	if (aftl_random_below(random, 2)) {
		config->slc_static = 0;
		config->slc_dynamic = 0;
	}
	config->blocks = max(config->blocks, 16ULL);
	config->op = 6000;
	config->zoned = unit * units;
	if (aftl_random_below(random, 2))
		config->zone_capacity = unit * (1 + aftl_random_below(random, units));
	config->max_active_zones = 1 + aftl_random_below(random, aftl_random_below(random, 8) ? 6 :
							  AFTL_ACTIVE_ZONES_MAX);
	config->max_open_zones = aftl_random_below(random, (u32)config->max_active_zones + 1);
	config->buffer_safe = AFTL_ON;
	config->buffer = 4096 * unit;
	config->wear_gap = aftl_random_below(random, 3);
	config->read_limit = aftl_random_below(random, 2);
}

/* Create a device with the smallest write buffer and CMT, which are the hardest case. */
static bool create_smallest_device(const char *policy, bool cached_map)
{
	u64 least;
	int ret = test_device_create(&device, policy);

	if (ret)
		return false;
	if (cached_map)
		device.config.map_cache = 2 * device.ftl->geo.luns * device.ftl->program_units *
					  device.ftl->geo.unit_bytes;
	if (device.config.seed % 3 == 0)
		device.config.zrwa = 1 + device.config.seed / 3 %
				     max(device.ftl->geo.zone_capacity /
					 device.ftl->program_units, 1U);
	if (device.config.zrwa % 2 == 0)
		device.config.zrwa_granularity = 1 + device.config.zrwa / 2 % 2;
	least = (device.config.max_active_zones *
			 (device.ftl->geo.zone_luns + device.config.zrwa) + 1) *
		device.ftl->program_units * device.ftl->geo.unit_bytes;
	device.config.buffer = least;
	return !test_device_create(&device, policy);
}

static void check_zones_with_seed(u64 seed)
{
	struct aftl_random random = { aftl_hash64(seed ^ 0x25) };
	const char *policy = test_draw_policy(true, &random);

	test_device_init(&device, "demo");
	test_randomize_geometry(&device, &random);
	test_randomize_options(&device, &random);
	draw_zone_params(&random);
	if (create_smallest_device(policy, aftl_random_below(&random, 2))) {
		lived++;
		submit_random_zone_requests_and_check(&random);
	}
	test_finish_device_or_print_config(&device, policy, seed);
}

TAP_TEST(each_block_of_random_devices_has_data_of_one_zone)
{
	u64 seed;

	for (seed = 1; seed <= SEEDS && !tap_failure_count(); seed++)
		check_zones_with_seed(seed);
	tap_printf("%u devices: %llu resets, %llu units moved, %llu blocks folded", lived,
		   (unsigned long long)sum[0], (unsigned long long)sum[1],
		   (unsigned long long)sum[2]);
	CHECK(tap_failure_count() ||
	      (lived > SEEDS / 4 && sum[0] > 1000 && sum[1] > 1000 && sum[2] > 500 &&
	       sum[3] > 1000 && sum[4] > 1000));
}

TAP_SEED(check_zones_with_seed)
