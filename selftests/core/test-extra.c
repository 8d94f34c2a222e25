// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host that allocates block metadata on demand: less memory, same behaviour.
 */
#include "core/ftl/controller.h"
#include "bytes.h"
#include "stream.h"
#include "tap.h"

#define SHAPE "channels=2 chips=1 blocks=40 layers=4 word_lines=4 op=60 page=16KiB " \
	"rber_approx=0.002"

static const char shape[] = SHAPE " unit=16KiB";
/* If a page has four units, its OOB metadata have room for the hour of the page's program. */
static const char with_room[] = SHAPE " unit=4KiB";
static const char without_errors[] = SHAPE " unit=16KiB errors=off";

static struct test_device frugal;
static struct test_device usual;

static void open_lazy_and_eager_devices_with_params(const char *policy, const char *params)
{
	test_device_init(&frugal, "demo");
	frugal.ops.alloc_later = frugal.ops.alloc;
	test_device_open(&frugal, policy, params);
	test_open_demo_profile(&usual, policy, params);
}

static void open_lazy_and_eager_metadata_devices(const char *policy)
{
	open_lazy_and_eager_devices_with_params(policy, shape);
}

static u64 compute_extra_oob_bytes_per_block(const struct test_device *device)
{
	return device->ftl->media.oob_layout.extra * sizeof(u16);
}

static u32 count_extra_metadata_chunks(const struct test_device *device)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < device->ftl->geo.blocks; i++)
		count += !!device->ftl->media.blocks[i].extra;
	return count;
}

/* Number of blocks whose extra metadata are in use. */
static u32 count_blocks_with_extra_metadata(const struct test_device *device)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < device->ftl->geo.blocks; i++)
		count += device->ftl->media.blocks[i].extra_used;
	return count;
}

static void run_random_requests(struct test_device *device, u32 requests)
{
	struct test_stream stream;

	test_stream_init(&stream, 7);
	while (requests--)
		test_stream_submit_request(&stream, device);
	test_drain_requests(device);
}

static void write_single_unit_of_class(struct test_device *device, u32 unit, u32 class)
{
	CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, unit, 1, class, NULL), 0);
}

/* OOB fields must not overlap, and each unit's word must be aligned. */
TAP_TEST(fields_of_a_pages_oob_metadata_do_not_overlap)
{
	struct aftl_geometry geo = { .pages = 64 };
	struct aftl_media media = { .geo = &geo };
	u32 i;

	for (i = 2; i < 2 * 16; i++) {
		const struct aftl_oob_layout *at = &media.oob_layout;
		u32 end;

		geo.page_units = i / 2;
		media.models_errors = i % 2;
		aftl_oob_layout_init(&media);
		end = at->generation + (media.models_errors ? geo.page_units : 0);
		CHECK_EQ(at->attr, 2 * geo.page_units);
		CHECK_EQ(at->generation, at->attr + 1);
		CHECK(!at->hours || at->hours == end);
		CHECK_EQ(at->bytes, 2 * (end + !!at->hours));
		CHECK_EQ(at->bytes % sizeof(aftl_lpn_t), 0);
		CHECK_EQ(at->extra, (at->hours ? 0 : 64) +
				    (media.models_errors ? 64 * geo.page_units : 0));
	}
}

TAP_TEST(precise_data_written_within_an_hour_need_no_extra_metadata)
{
	u64 least;
	u32 i;

	open_lazy_and_eager_metadata_devices("baseline");
	least = frugal.held_bytes;
	CHECK_EQ(count_extra_metadata_chunks(&frugal), 0);
	CHECK_EQ(count_extra_metadata_chunks(&usual), usual.ftl->geo.blocks);
	CHECK(usual.held_bytes - least >=
	      usual.ftl->geo.blocks * compute_extra_oob_bytes_per_block(&usual));
	for (i = 0; i < 4 * frugal.ftl->geo.units; i++)
		write_single_unit_of_class(&frugal, i % frugal.ftl->geo.units, AFTL_PRECISE);
	CHECK(aftl_get_stats(frugal.ftl)->counters.array_erases > 40);
	CHECK_EQ(count_extra_metadata_chunks(&frugal), 0);
	CHECK_EQ(frugal.held_bytes, least);
}

static bool are_snapshot_bytes_equal(const struct test_bytes *a, const struct test_bytes *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static void check_lazy_and_eager_snapshots_are_equal(void)
{
	struct test_bytes bytes[2] = { 0 };

	CHECK_EQ(aftl_compute_device_digest(frugal.ftl), aftl_compute_device_digest(usual.ftl));
	CHECK_EQ(count_blocks_with_extra_metadata(&usual), count_extra_metadata_chunks(&frugal));
	test_device_save_snapshot(&frugal, &bytes[0]);
	test_device_save_snapshot(&usual, &bytes[1]);
	CHECK_MSG(are_snapshot_bytes_equal(&bytes[0], &bytes[1]),
		  "the two are saved as different devices");
	free_test_bytes(&bytes[0]);
	free_test_bytes(&bytes[1]);
}

/* Send requests in rounds, hours apart; add up the extra metadata in use after each round. */
static u32 sum_extra_metadata_chunks_over_time(const char *policy, const char *params)
{
	u32 extras = 0;
	u32 round;

	open_lazy_and_eager_devices_with_params(policy, params);
	for (round = 0; round < 40; round++) {
		run_random_requests(&frugal, 40);
		run_random_requests(&usual, 40);
		extras += count_extra_metadata_chunks(&frugal);
		aftl_advance_age(frugal.ftl, 5 * AFTL_HOUR_NS);
		aftl_advance_age(usual.ftl, 5 * AFTL_HOUR_NS);
	}
	return extras;
}

/* Check that no page without data has an hour in which it was programmed. */
static void check_erase_clears_program_hours(const struct test_device *device)
{
	const struct aftl_media *media = &device->ftl->media;
	u32 wrong = 0;
	u32 i;

	for (i = 0; i < media->geo->blocks * media->geo->pages; i++) {
		const struct aftl_block *block = &media->blocks[i / media->geo->pages];
		u32 page = i % media->geo->pages;

		wrong += !aftl_page_is_programmed(media, block, page) &&
			 aftl_get_program_timestamp_of_page(media, block, page);
	}
	CHECK_EQ(wrong, 0);
}

TAP_TEST(metadata_allocated_on_demand_do_not_change_the_device)
{
	static const char *const policies[] = { "baseline", "approxftl", "tvr", "ressd" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		CHECK_MSG(sum_extra_metadata_chunks_over_time(policies[i], shape),
			  "%s: nothing was extra",
			  policies[i]);
		check_lazy_and_eager_snapshots_are_equal();
		CHECK_EQ(aftl_memory_bytes(frugal.ftl), frugal.held_bytes);
		sum_extra_metadata_chunks_over_time(policies[i], with_room);
		run_random_requests(&frugal, 3000);
		run_random_requests(&usual, 3000);
		CHECK(aftl_get_stats(frugal.ftl)->counters.array_erases);
		check_lazy_and_eager_snapshots_are_equal();
		check_erase_clears_program_hours(&frugal);
	}
}

TAP_TEST(without_errors_no_block_has_extra_metadata)
{
	CHECK_EQ(sum_extra_metadata_chunks_over_time("approxftl", without_errors), 0);
	CHECK_EQ(count_extra_metadata_chunks(&usual), 0);
	check_lazy_and_eager_snapshots_are_equal();
}
