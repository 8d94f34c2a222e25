// SPDX-License-Identifier: GPL-2.0-only
/*
 * Volumes: formatting, opening, commits, damaged metadata, and failures of the backing device and
 * of memory allocation.
 */
#include <stdlib.h>
#include <time.h>

#include "core/base/encoding.h"
#include "core/ftl/block-manager.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/zone.h"
#include "core/persist/volume-private.h"
#include "core/persist/volume-reader.h"
#include "core/persist/snapshot.h"
#include "lib/small-volume.h"
#include "stream.h"
#include "tap.h"

#define SMALL "channels=2 chips=1 blocks=48 layers=4 word_lines=2"

static const char small[] = SMALL " op=60";

static const char small_zones[] =
	SMALL " op=60 zoned=64KiB buffer=512KiB buffer_safe=on max_active_zones=3";

static const char small_safe[] = SMALL " op=60 buffer=256KiB buffer_safe=on buffer_hold=1s";
static const char large_safe[] = "channels=2 chips=1 blocks=192 layers=64 word_lines=2 op=50"
				 " unit=512 page=2KiB buffer=32MiB buffer_safe=on";
static const char many_zones[] = "channels=2 chips=1 blocks=192 layers=16 word_lines=2 op=60"
				 " unit=512 page=2KiB zoned=4KiB buffer=512KiB buffer_safe=on"
				 " max_active_zones=3";
static const char small_shards[] = SMALL " op=60 shards=2";
static const char small_units[] = SMALL " op=60 unit=512 page=2KiB";

static void send_requests(u64 seed, u32 steps, u32 reads)
{
	struct test_stream stream;

	test_stream_init(&stream, seed);
	stream.read = reads;
	test_stream_submit_requests(&stream, &durable.device, steps);
	durable_drain_all_ops(&durable);
}

static void run_requests_and_commit(u64 seed, u32 steps)
{
	send_requests(seed, steps, 5);
}

/* Format and use a device, and close it. */
static void format_use_and_close_volume(const char *policy, const char *params)
{
	volume_open(policy, params);
	run_requests_and_commit(7, 1500);
	volume_close_cleanly();
}

/* Snapshot and recovery */

static u64 run_requests_and_digest_state(void)
{
	run_requests_and_commit(99, 800);
	return aftl_compute_device_digest(durable.device.ftl);
}

/* Close the volume, run requests on the device without it, and return the digest of its state. */
static u64 close_volume_then_run_and_digest_device(void)
{
	struct test_device *device = &durable.device;
	u64 digest;

	CHECK_EQ(test_execute_request(device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	aftl_quiesce(device->ftl);
	CHECK_EQ(durable_execute_ops(&durable, U32_MAX), 0);
	CHECK_EQ(aftl_volume_close(durable.volume, device->ftl, &device->error), 0);
	durable.digest = aftl_compute_device_digest(device->ftl);
	/* Let writes fail, so that the backing device stays as the clean close has left it. */
	durable.ret = -ESHUTDOWN;
	aftl_unquiesce_device(device->ftl);
	digest = run_requests_and_digest_state();
	durable_stop(&durable);
	return digest;
}

static void check_close_keeps_state(const char *policy, const char *params)
{
	u64 future;

	volume_open(policy, params);
	run_requests_and_commit(7, 1500);
	future = close_volume_then_run_and_digest_device();
	volume_load(policy, false);
	CHECK(durable.recovery.closed);
	CHECK_TEXT(durable.recovery.snapshot.text, "");
	CHECK_EQ(aftl_compute_device_digest(durable.device.ftl), durable.digest);
	durable.ret = -ESHUTDOWN;
	CHECK_EQ(run_requests_and_digest_state(), future);
}

/* Digests of the state that snapshot and tables must share: all but the open blocks. */
struct books {
	u64 map;
	u64 media;
	u64 mapped;
};

static u64 digest_block_metadata(const struct aftl *ftl, u32 index)
{
	const struct aftl_media *media = aftl_media(ftl);
	const struct aftl_block *block = &media->blocks[index];
	u32 first = aftl_page_number_in_device(media, block, 0);
	u64 digest = aftl_hash64_pair((u64)block->erases << 32 | block->wear,
			       (u64)block->handle << 40 | (u64)block->programmed << 8 |
			       block->bits << 2 |
			       (block->state == AFTL_BLOCK_BAD));
	u32 page;

	for (page = first; block->programmed && page < first + media->geo->pages; page++)
		digest = aftl_hash64_pair(digest, *aftl_page_attr_ptr(media, page));
	return block->programmed ? aftl_hash64_pair(digest, block->opened_ns) : digest;
}

static struct books digest_device_metadata(const struct aftl *ftl)
{
	const struct aftl_geometry *geo = aftl_geometry(ftl);
	struct books books = { 0 };
	u32 class = 0;
	u32 i;

	for (i = 0; i < geo->units; i++) {
		aftl_ppn_t ppn = aftl_lookup(ftl, to_lpn(i), &class);

		books.mapped += ppn != AFTL_NO_PPN;
		books.map = aftl_hash64_pair(books.map, (u64)from_ppn(ppn) << 2 | class);
	}
	for (i = 0; i < geo->blocks; i++)
		books.media = aftl_hash64_pair(books.media, digest_block_metadata(ftl, i));
	return books;
}

static void check_tables_equal_snapshot(const char *policy, const char *params)
{
	struct books snapshot;
	struct books tables;

	format_use_and_close_volume(policy, params);
	volume_load(policy, false);
	snapshot = digest_device_metadata(durable.device.ftl);
	durable_stop(&durable);
	volume_load(policy, true);
	CHECK(!durable.recovery.closed);
	tables = digest_device_metadata(durable.device.ftl);
	CHECK_EQ(tables.map, snapshot.map);
	CHECK_EQ(tables.media, snapshot.media);
	CHECK_EQ(tables.mapped, durable.recovery.mapped_units);
}

/* The tables must distinguish blocks with one and with three bits per cell. */
TAP_TEST(snapshot_and_tables_agree_on_bits_in_a_cell)
{
	static const char one_shot[] =
		"channels=1 chips=2 blocks=24 layers=2 word_lines=4 bits=3 one_shot=on op=50% "
		"slc_static=10% slc_dynamic=20%";

	static const char twice[] =
		"channels=1 chips=2 blocks=24 layers=2 word_lines=4 bits=4 one_shot=on passes=2 "
		"buffer=128KiB op=60% slc_static=10% slc_dynamic=20%";

	check_tables_equal_snapshot("baseline", one_shot);
	check_tables_equal_snapshot("tlc", twice);
	check_tables_equal_snapshot("baseline", twice);
	check_tables_equal_snapshot("cubeftl", one_shot);
	check_tables_equal_snapshot("baseline",
				    "channels=1 chips=2 blocks=24 layers=2 word_lines=4 bits=3 "
				    "op=50% slc_static=10% slc_dynamic=20%");
}

/*
 * After a crash each block has the placement handle that it was written for. The LUNs are so large
 * that no block with a handle becomes a fallback block, which a LUN below its reserve gets.
 */
TAP_TEST(snapshot_and_tables_agree_on_handles)
{
	static const char placed[] =
		"channels=1 chips=2 blocks=48 layers=2 word_lines=4 op=70% placement_handles=3 "
		"placement_isolation=persistent";

	check_tables_equal_snapshot("baseline", placed);
	check_tables_equal_snapshot("approxftl", placed);
}

/* Changes of policy or parameters between closing and reopening the volume */

TAP_TEST(a_volume_is_opened_with_each_other_policy)
{
	unsigned int i;

	format_use_and_close_volume("approxftl", small);
	for (i = 0; aftl_policy_at(i); i++) {
		const char *policy = aftl_policy_at(i)->name;

		volume_exit_on_error(durable_start_device(&durable, policy, i % 2), policy);
		CHECK_TEXT(aftl_volume_get_header(durable.volume)->policy, policy);
		CHECK_TEXT(aftl_volume_state(durable.volume)->policy, policy);
		run_requests_and_commit(i, 200);
		volume_close_cleanly();
	}
}

static u32 count_blocks_with_policy_metadata(const struct aftl *ftl)
{
	const struct aftl_media *media = aftl_media(ftl);
	u32 noted = 0;
	u32 i;

	for (i = 0; i < media->geo->blocks; i++)
		noted += media->blocks[i].note || media->blocks[i].kind;
	return noted;
}

/*
 * If a new policy has written nothing, a crash leaves only the former policy's notes in blocks.
 */
TAP_TEST(another_policy_gets_no_saved_policy_state)
{
	format_use_and_close_volume("approxftl", small);
	volume_load("approxftl", true);
	CHECK_RANGE(count_blocks_with_policy_metadata(durable.device.ftl), 1, U32_MAX);
	durable_stop(&durable);
	volume_exit_on_error(durable_start_device(&durable, "baseline", true), "change");
	durable_stop(&durable);
	volume_load("baseline", false);
	CHECK(!durable.recovery.closed);
	CHECK_EQ(count_blocks_with_policy_metadata(durable.device.ftl), 0);
}

static int load_volume_with_changed_param(const char *key, const char *value)
{
	struct test_device *device = &durable.device;
	const struct aftl_policy_type *type = aftl_policy_find(durable.super.policy);
	int ret;

	volume_exit_on_error(aftl_volume_open(&durable.volume, &durable.disk.medium,
					      &device->error), "open");
	device->config = durable.super.config;
	test_device_set_param_text(device, key, value);
	ret = aftl_volume_load(durable.volume, type, &device->config, &device->ops, device, false,
			       &device->ftl, &durable.recovery, &device->error);
	if (!ret) {
		aftl_volume_set_time(durable.volume, 0, 0, 0);
		CHECK_EQ(aftl_volume_mark_in_use(durable.volume, type, &device->config), 0);
	}
	durable_stop(&durable);
	return ret;
}

TAP_TEST(only_parameters_that_may_change_are_accepted)
{
	struct aftl_volume *volume;

	format_use_and_close_volume("baseline", small);
	CHECK_EQ(load_volume_with_changed_param("seed", "5"), -EINVAL);
	CHECK_CONTAINS(durable.device.error.text, "seed");
	CHECK_EQ(load_volume_with_changed_param("blocks", "49"), -EINVAL);
	CHECK_CONTAINS(durable.device.error.text, "blocks 48");
	CHECK_EQ(load_volume_with_changed_param("buffer_safe", "on"), 0);
	CHECK_EQ(load_volume_with_changed_param("program", "1ms"), 0);
	volume_exit_on_error(aftl_volume_open(&volume, &durable.disk.medium, &durable.device.error),
			     "open");
	CHECK_EQ(aftl_volume_get_header(volume)->config.program, 1000000);
	CHECK_EQ(aftl_volume_get_header(volume)->generation, 3);
	aftl_volume_free(volume);
}

/* Refusals */

static int try_volume_format_with_params(const char *params, char text[240])
{
	int ret;

	volume_prepare_disk("baseline", test_format_params("%s %s", small, params), false);
	ret = durable_format(&durable);
	memcpy(text, durable.device.error.text, 240);
	CHECK_EQ(durable.disk.changes, 0);
	return ret;
}

TAP_TEST(impossible_volumes_are_not_formatted)
{
	char text[240] = "";

	CHECK_EQ(try_volume_format_with_params("fill=random", text), -EINVAL);
	CHECK_CONTAINS(text, "fill");
}

TAP_TEST(too_many_mapping_units_in_a_flash_page_are_refused)
{
	struct aftl_layout layout;
	struct test_device device;
	struct aftl_error error;
	struct aftl_geometry geo;

	test_device_init(&device, "demo");
	test_device_set_param_text(&device, "unit", "512");
	test_device_set_param_text(&device, "page", "16KiB");
	CHECK_EQ(aftl_geometry_init(&geo, &device.config, &error), 0);
	CHECK_EQ(aftl_layout_init(&layout, &geo, &error), -EINVAL);
	CHECK_CONTAINS(error.text, "32 units");
	geo.page_units = 1;
	geo.plp_entries = U32_MAX - geo.ppns;
	CHECK_EQ(aftl_layout_init(&layout, &geo, &error), 0);
	geo.plp_entries++;
	CHECK_EQ(aftl_layout_init(&layout, &geo, &error), -EINVAL);
	CHECK_CONTAINS(error.text, "lower buffer");
}

static int reopen_volume(void)
{
	struct aftl_volume *volume = NULL;
	int ret = aftl_volume_open(&volume, &durable.disk.medium, &durable.device.error);

	if (!ret)
		aftl_volume_free(volume);
	else
		CHECK(!volume);
	return ret;
}

TAP_TEST(a_backing_device_of_the_wrong_size_is_refused)
{
	volume_format("baseline", small, false);
	durable.disk.medium.bytes -= AFTL_FRAME_BYTES;
	CHECK_EQ(reopen_volume(), -ENOSPC);
	CHECK_CONTAINS(durable.device.error.text, "bytes");
	CHECK_EQ(durable_format(&durable), -ENOSPC);
	durable.disk.medium.bytes += AFTL_FRAME_BYTES;
	CHECK_EQ(reopen_volume(), 0);
}

/* A shard's volume stores the parameters of the whole device, and the shard's number. */
TAP_TEST(each_shard_has_a_volume_of_its_own)
{
	struct aftl_config own;
	u32 shard;

	for (shard = 0; shard < 2; shard++) {
		volume_format("approxftl", small_shards, false);
		aftl_volume_header_set_shard(&durable.super, shard);
		volume_exit_on_error(durable_format(&durable), "format");
		volume_start_device("approxftl");
		aftl_derive_shard_config(&own, &durable.super.config, shard);
		CHECK(!memcmp(aftl_config(durable.device.ftl), &own, sizeof(own)));
		run_requests_and_commit(shard, 2000);
		durable_stop(&durable);
		volume_exit_on_error(durable_start_device(&durable, "baseline", true),
				     "start after a crash");
		CHECK(!memcmp(&aftl_volume_get_header(durable.volume)->config,
			      &durable.super.config, sizeof(own)));
		CHECK_EQ(aftl_volume_get_header(durable.volume)->shard, shard);
		run_requests_and_commit(7, 500);
		volume_close_cleanly();
		volume_start_device("baseline");
		CHECK(durable.recovery.closed);
		durable_stop(&durable);
		CHECK_EQ(load_volume_with_changed_param("shards", "1"), -EINVAL);
		CHECK_CONTAINS(durable.device.error.text, "made with shards 2");
	}
}

TAP_TEST(each_shard_header_matches_only_its_volume_and_number)
{
	struct aftl_volume_header first = { .uuid = "0123456789abcdef", .config.shards = 3 };
	struct aftl_volume_header own = first;
	struct aftl_volume_header other = first;

	CHECK(aftl_volume_header_is_of_shard(&first, &first, 0));
	CHECK(!aftl_volume_header_is_of_shard(&first, &first, 1));
	aftl_volume_header_set_shard(&own, 2);
	CHECK(aftl_volume_header_nonce(&own) != aftl_volume_header_nonce(&first));
	CHECK(aftl_volume_header_is_of_shard(&own, &first, 2));
	CHECK(!aftl_volume_header_is_of_shard(&own, &first, 1));
	CHECK(!aftl_volume_header_is_of_shard(&first, &own, 2));
	other.uuid[0]++;
	CHECK(!aftl_volume_header_is_of_shard(&own, &other, 2));
	other = first;
	other.uuid[AFTL_UUID_BYTES - 1]++;
	CHECK(!aftl_volume_header_is_of_shard(&own, &other, 2));
	other = first;
	other.config.shards = 4;
	CHECK(!aftl_volume_header_is_of_shard(&own, &other, 2));
}

static void set_header_checksum(u8 *bytes)
{
	aftl_put_le(bytes + 4092, ~aftl_crc32c(AFTL_CRC_START, bytes, 4092), 4);
}

TAP_TEST(invalid_headers_are_refused)
{
	u8 *bytes;

	volume_format("baseline", small, false);
	bytes = durable.disk.bytes;
	bytes[8] = 5;
	set_header_checksum(bytes);
	CHECK_EQ(reopen_volume(), -EINVAL);
	CHECK_CONTAINS(durable.device.error.text, "format 5");
	bytes[8] = 1;
	bytes[130] ^= 1;
	set_header_checksum(bytes);
	CHECK_EQ(reopen_volume(), -EINVAL);
	CHECK_CONTAINS(durable.device.error.text, "does not know");
	bytes[130] ^= 1;
	bytes[4088] = 1;
	set_header_checksum(bytes);
	memcpy(bytes + AFTL_FRAME_BYTES, bytes, AFTL_FRAME_BYTES);
	CHECK_EQ(reopen_volume(), -EUCLEAN);
	CHECK_CONTAINS(durable.device.error.text, "shard that the device does not have");
	bytes[1] ^= 1;
	CHECK_EQ(reopen_volume(), -EMEDIUMTYPE);
	memset(bytes, 0, AFTL_FRAME_BYTES);
	CHECK_EQ(reopen_volume(), -ENODATA);
}

/* An interrupted header update leaves an older copy or a torn first header. */
TAP_TEST(the_copy_of_a_damaged_header_is_used)
{
	struct aftl_volume *volume;

	volume_format("baseline", small, false);
	CHECK_EQ(load_volume_with_changed_param("program", "1ms"), 0);
	memset(durable.disk.bytes + 600, 0xff, 512);
	CHECK_EQ(aftl_volume_open(&volume, &durable.disk.medium, &durable.device.error), 0);
	CHECK_EQ(aftl_volume_get_header(volume)->generation, 2);
	aftl_volume_free(volume);
	memset(durable.disk.bytes + AFTL_FRAME_BYTES + 600, 0xff, 512);
	CHECK_EQ(reopen_volume(), -EUCLEAN);
	CHECK_CONTAINS(durable.device.error.text, "checksum");
}

/* Fail the power at change @change of the disk, while the volume header is written. */
static void fail_power_in_header_write(u64 change, u32 program, struct aftl_random *random)
{
	volume_load(durable.super.policy, false);
	durable.disk.power_off_at = durable.disk.changes + change;
	durable.device.config.program = program;
	CHECK(aftl_volume_mark_in_use(durable.volume, aftl_policy_find(durable.super.policy),
				      &durable.device.config));
	durable_crash(&durable, DISK_CRASH_SECTORS, random);
}

/* One of the two volume headers stays intact, even if two updates are interrupted. */
TAP_TEST(one_of_two_headers_survives_interrupted_updates)
{
	struct aftl_random random = { 1 };
	u64 second;
	u64 first;

	for (first = 1; first <= 4; first++)
		for (second = 1; second <= 4; second++) {
			volume_format("baseline", small, false);
			fail_power_in_header_write(first, 1000000, &random);
			fail_power_in_header_write(second, 2000000, &random);
			CHECK_EQ(reopen_volume(), 0);
		}
}

/* Damage */

enum area { AREA_SUPER, AREA_STATE, AREA_TABLES, AREA_SNAPSHOT, AREAS };

static enum area area_of_sector(u64 sector)
{
	u64 frame = sector / AFTL_FRAME_SECTORS;

	if (frame < AFTL_FRAME_STATE)
		return AREA_SUPER;
	if (frame < AFTL_FRAME_TABLES)
		return AREA_STATE;
	return frame < durable.super.layout.snapshot ? AREA_TABLES : AREA_SNAPSHOT;
}

static bool is_extent_initialised(u64 sector)
{
	const struct aftl_layout *layout = &durable.super.layout;
	u64 frame = sector / AFTL_FRAME_SECTORS;
	struct aftl_place place;

	if (!layout->extent_table_frames || frame < layout->erases)
		return true;
	place = aftl_extent_place(layout, aftl_extent_of_frame(layout, frame), 1);
	return durable.disk.bytes[place.sector * AFTL_SECTOR_BYTES + place.offset] >>
		       aftl_extent_of_frame(layout, frame) % 8 & 1;
}

static bool is_sector_in_use(u64 sector)
{
	u64 snapshot = durable.super.layout.snapshot * AFTL_FRAME_BYTES;

	if (area_of_sector(sector) == AREA_STATE)
		return sector % AFTL_FRAME_SECTORS == 0;
	if (area_of_sector(sector) == AREA_SNAPSHOT)
		return (sector + 1) * AFTL_SECTOR_BYTES <= snapshot + durable.snapshot_bytes;
	return area_of_sector(sector) == AREA_SUPER || is_extent_initialised(sector);
}

/* Return true for sectors of a volume whose content only a snapshot can replace. */
static bool is_sector_only_in_snapshot(u64 sector)
{
	const struct aftl_layout *layout = &durable.super.layout;
	struct aftl_geometry geo;
	struct aftl_error error;

	if (aftl_geometry_init(&geo, &durable.super.config, &error))
		return false;
	return (sector >= layout->spares * AFTL_FRAME_SECTORS &&
		sector <= aftl_spare_place(layout, &geo, geo.blocks * geo.pages - 1).sector) ||
	       (sector >= layout->discards * AFTL_FRAME_SECTORS &&
		sector <= (geo.plp_entries ? aftl_plp_entry_place(layout, geo.plp_entries - 1) :
					    aftl_discard_place(layout, geo.units - 1)).sector);
}

static void check_repaired_sector(enum area area, bool scan, u32 damaged)
{
	const struct aftl_recovery *recovery = &durable.recovery;

	CHECK_EQ(recovery->closed, area < AREA_STATE || (area == AREA_TABLES && !scan));
	CHECK_EQ(recovery->header, area == AREA_SUPER);
	CHECK_EQ(recovery->state, area == AREA_STATE);
	CHECK_EQ(recovery->tables, damaged);
	if (area == AREA_SNAPSHOT)
		CHECK(strlen(recovery->snapshot.text) > 5);
}

static void check_load_of_damaged_volume(u64 sector, bool scan, int ret)
{
	u64 spares = durable.super.layout.spares * AFTL_FRAME_SECTORS;
	enum area area = area_of_sector(sector);
	const char *text = durable.device.error.text;

	if (area == AREA_TABLES && scan && is_sector_only_in_snapshot(sector)) {
		CHECK_MSG(ret == -EUCLEAN, "%d: %s", ret, text);
		CHECK_CONTAINS(text, "damaged");
	} else if (area != AREA_SUPER || ret != -EMEDIUMTYPE) {
		CHECK_MSG(!ret, "%d: %s", ret, text);
		check_repaired_sector(area, scan,
				      area == AREA_TABLES && (!scan || sector < spares));
	}
}

static void load_volume_with_damaged_sector(u64 sector, struct aftl_random *random)
{
	enum area area = area_of_sector(sector);
	bool scan = area == AREA_TABLES && aftl_random_below(random, 2);
	u8 *byte = durable.disk.bytes + sector * AFTL_SECTOR_BYTES +
		   aftl_random_below(random, AFTL_SECTOR_BYTES);
	u8 flip = (u8)(1 + aftl_random_below(random, 255));
	int ret;

	*byte ^= flip;
	ret = durable_load_device(&durable, "approxftl", scan);
	check_load_of_damaged_volume(sector, scan, ret);
	if (!ret)
		durable_check_all_data(&durable);
	durable_stop(&durable);
	*byte ^= flip;
}

static void damage_each_sector(u32 tried[AREAS])
{
	struct aftl_random random = { 5 };
	u64 sector;

	for (sector = 0; sector < durable.super.layout.data * AFTL_FRAME_SECTORS; sector++) {
		if (!is_sector_in_use(sector) || tap_failure_count())
			continue;
		load_volume_with_damaged_sector(sector, &random);
		tried[area_of_sector(sector)]++;
	}
	CHECK_EQ(tried[AREA_SUPER], 16);
	CHECK_EQ(tried[AREA_STATE], 2);
	CHECK_RANGE(tried[AREA_TABLES], 24, U32_MAX);
}

TAP_TEST(damage_of_any_metadata_sector_is_tolerated_or_reported)
{
	u32 tried[AREAS] = { 0 };

	format_use_and_close_volume("approxftl", small);
	damage_each_sector(tried);
	CHECK_RANGE(tried[AREA_SNAPSHOT], 5, U32_MAX);
}

/* Write a little to a volume with an extent table, most of whose extents stay uninitialised. */
static void open_volume_with_extent_table(void)
{
	volume_format("approxftl",
		      "channels=2 chips=1 blocks=48 layers=32 word_lines=4 op=60", true);
	volume_start_device("approxftl");
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, 5, 9, 0, NULL), 0);
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
}

static u32 count_initialised_extents(void)
{
	u64 frame = durable.super.layout.erases;
	u32 begun = 0;

	for (; frame < durable.super.layout.snapshot; frame += AFTL_EXTENT_FRAMES)
		begun += is_extent_initialised(frame * AFTL_FRAME_SECTORS);
	return begun;
}

TAP_TEST(damage_of_any_sector_of_lazy_tables_is_tolerated_or_reported)
{
	u32 tried[AREAS] = { 0 };

	open_volume_with_extent_table();
	volume_close_cleanly();
	CHECK_RANGE(count_initialised_extents(), 1, 6);
	damage_each_sector(tried);
}

/* A load never reads an extent of the volume's tables that was not initialised. */
TAP_TEST(only_initialised_extents_are_read)
{
	const struct aftl_layout *layout = &durable.super.layout;
	u64 sector;

	open_volume_with_extent_table();
	durable_stop(&durable);
	for (sector = layout->erases * AFTL_FRAME_SECTORS;
	     sector < layout->snapshot * AFTL_FRAME_SECTORS; sector++)
		if (!is_extent_initialised(sector))
			memset(durable.disk.bytes + sector * AFTL_SECTOR_BYTES, 0x77,
			       AFTL_SECTOR_BYTES);
	volume_start_device("approxftl");
	CHECK_EQ(durable.recovery.mapped_units, 9);
	run_requests_and_commit(7, 1500);
	volume_close_cleanly();
	volume_load("approxftl", true);
	CHECK_EQ(durable.recovery.tables, 0);
	durable_check_all_data(&durable);
}

static void write_units_and_flush(u32 first, u32 units)
{
	struct test_device *device = &durable.device;

	CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, first, units, 0, NULL), 0);
	test_flush_writes(device);
	CHECK_EQ(test_execute_request(device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	durable_drain_all_ops(&durable);
}

/*
 * Fail the power at write or flush @change of the disk, while a request initialises an extent: the
 * first write or, on a zoned device, the reset of a written zone.
 */
static bool crash_in_extent_init(bool zones, u32 change, u64 seed)
{
	struct aftl_random random = { seed };
	u32 units = zones ? 16 : 9;
	bool failed;

	volume_format("approxftl", zones ? small_zones : small, true);
	volume_start_device("approxftl");
	if (zones)
		write_units_and_flush(0, units);
	durable.disk.power_off_at = durable.disk.changes + change;
	if (zones)
		test_execute_request(&durable.device, AFTL_OP_ZONE_RESET, 0, 0, 0, NULL);
	write_units_and_flush(0, units / 2);
	failed = durable.disk.off;
	durable_crash(&durable, seed & 1 ? DISK_CRASH_WRITES : DISK_CRASH_SECTORS, &random);
	volume_start_device("approxftl");
	durable_check_all_data(&durable);
	return failed;
}

TAP_TEST(a_power_failure_while_an_extent_is_initialised_loses_nothing)
{
	u32 zones;
	u32 change;
	u32 seed;

	for (zones = 0; zones < 2; zones++)
		for (seed = 0; seed < 24; seed++)
			for (change = 1;
			     !tap_failure_count() && crash_in_extent_init(zones, change, seed);
			     change++)
				;
}

static u8 *find_extent_table_copy(u32 copy)
{
	struct aftl_place place = aftl_extent_place(&durable.super.layout, 0, copy);

	return durable.disk.bytes + place.sector * AFTL_SECTOR_BYTES;
}

/* Either copy of the extent table is enough, and the next writer repairs the damaged one. */
TAP_TEST(the_extent_table_has_a_copy)
{
	u32 copy;

	open_volume_with_extent_table();
	durable_stop(&durable);
	for (copy = 0; copy < AFTL_EXTENT_COPIES; copy++) {
		memset(find_extent_table_copy(copy), 0, AFTL_SECTOR_BYTES);
		volume_start_device("approxftl");
		CHECK_EQ(durable.recovery.tables, 1);
		CHECK_EQ(durable.recovery.mapped_units, 9);
		durable_stop(&durable);
		CHECK(!memcmp(find_extent_table_copy(0), find_extent_table_copy(1),
			      AFTL_PAYLOAD_BYTES));
	}
	memset(find_extent_table_copy(0), 0, AFTL_SECTOR_BYTES);
	memset(find_extent_table_copy(1), 0, AFTL_SECTOR_BYTES);
	CHECK_EQ(durable_load_device(&durable, "approxftl", false), -EUCLEAN);
	CHECK_CONTAINS(durable.device.error.text, "what has been written of the tables");
}

static void write_reset_and_finish_zones(void)
{
	struct test_device *device = &durable.device;
	u32 zone_units = aftl_geometry(device->ftl)->zone_units;
	u32 i;

	for (i = 0; i < 5; i++)
		CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, i * zone_units,
					      i < 2 ? zone_units : i, 0, NULL),
			 0);
	CHECK_EQ(test_execute_request(device, AFTL_OP_ZONE_RESET, zone_units, 0, 0, NULL), 0);
	CHECK_EQ(test_execute_request(device, AFTL_OP_ZONE_FINISH, 3 * zone_units, 0, 0, NULL), 0);
	test_flush_writes(device);
	durable_drain_all_ops(&durable);
}

static void open_zoned_volume(void)
{
	volume_open("approxftl", small_zones);
	write_reset_and_finish_zones();
	volume_close_cleanly();
}

TAP_TEST(damage_of_any_sector_of_a_zoned_volume_is_tolerated_or_reported)
{
	u32 tried[AREAS] = { 0 };

	open_zoned_volume();
	damage_each_sector(tried);
}

/* If the zone table is damaged after a crash, the volume uses the snapshot's zone states. */
TAP_TEST(a_damaged_zone_table_is_rebuilt_after_a_crash)
{
	u8 *table;

	open_zoned_volume();
	table = durable.disk.bytes + durable.super.layout.discards * AFTL_FRAME_BYTES;
	memset(table, 0xff, AFTL_SECTOR_BYTES);
	volume_start_device("approxftl");
	CHECK(durable.recovery.closed);
	CHECK_EQ(durable.recovery.tables, 1);
	durable_stop(&durable);
	volume_load("approxftl", true);
	durable_check_all_data(&durable);
	test_audit_device(&durable.device);
	CHECK_EQ(durable.recovery.tables, 0);
}

/* Recovery rebuilds all damaged entries of the zone table in one pass over the ppns. */
TAP_TEST(a_large_zone_table_is_rebuilt_in_linear_time)
{
	u8 *table;
	u32 ppns;

	volume_open("approxftl", many_zones);
	ppns = aftl_geometry(durable.device.ftl)->ppns;
	write_reset_and_finish_zones();
	volume_close_cleanly();
	table = durable.disk.bytes + durable.super.layout.discards * AFTL_FRAME_BYTES;
	memset(table, 0xff, 4 * AFTL_SECTOR_BYTES);
	volume_load("approxftl", false);
	CHECK_EQ(durable.recovery.tables, 4);
	CHECK_RANGE(aftl_get_amount_of_work_done(durable.device.ftl), ppns, ppns + 1000);
}

/* Formatting a volume records the blocks that are bad from the factory. */
TAP_TEST(zoned_volumes_record_bad_blocks)
{
	volume_open("approxftl", SMALL " op=60 zoned=64KiB buffer=512KiB buffer_safe=on bad=5e-2");
	CHECK(durable.recovery.bad_blocks);
}

static void check_parameter_cannot_change(const char *key, const char *value)
{
	CHECK_EQ(load_volume_with_changed_param(key, value), -EINVAL);
	CHECK_CONTAINS(durable.device.error.text, "that is as it was formatted");
}

/* The size of the persistent write buffer cannot be changed. */
TAP_TEST(a_persistent_buffer_keeps_its_size)
{
	open_zoned_volume();
	check_parameter_cannot_change("buffer", "1MiB");
	format_use_and_close_volume("baseline", small_safe);
	check_parameter_cannot_change("buffer", "512KiB");
	check_parameter_cannot_change("buffer_safe", "off");
}

/* Put a precise, an overwritten approximate and a discarded page into the write buffer. */
static void write_buffered_units(void)
{
	struct test_device *device = &durable.device;

	volume_start_device("approxftl");
	CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, 3, 1, AFTL_PRECISE, NULL), 0);
	device->level = 3;
	CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, 7, 1, AFTL_APPROX, NULL), 0);
	device->level = 2;
	device->hint = (struct aftl_hint){ .life = AFTL_LIFETIME_SHORT, .stream = 5 };
	CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, 7, 1, AFTL_APPROX, NULL), 0);
	CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, 9, 1, AFTL_APPROX, NULL), 0);
	CHECK_EQ(test_execute_request(device, AFTL_OP_DISCARD, 9, 1, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(test_counters(device)->array_programs, 0);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
}

static void check_buffered_unit(u32 unit, u32 level)
{
	const struct aftl *ftl = durable.device.ftl;
	struct aftl_buffered_lpn what = { 0 };
	u32 i;

	CHECK(durable.buffered[unit]);
	for (i = 0; i < aftl_count_buffer_tags(ftl) && from_lpn(what.lpn) != unit; i++)
		CHECK(aftl_get_buffered_write(ftl, i, &what));
	CHECK_EQ(from_lpn(what.lpn), unit);
	CHECK_EQ(what.level, level);
	CHECK_EQ(what.hint.life, level ? AFTL_LIFETIME_SHORT : AFTL_LIFETIME_UNKNOWN);
	CHECK_EQ(what.hint.stream, level ? 5 : 0);
}

/* Data in a persistent write buffer survive without a flush; closing the device programs them. */
TAP_TEST(a_persistent_buffer_survives_a_crash)
{
	volume_format("approxftl", small_safe, false);
	write_buffered_units();
	volume_crash();
	volume_start_device("approxftl");
	check_buffered_unit(3, 0);
	check_buffered_unit(7, 2);
	CHECK_EQ(durable.buffered[9], 0);
	volume_close_cleanly();
	volume_start_device("approxftl");
	CHECK(durable.recovery.closed);
	CHECK_EQ(durable.recovery.mapped_units, 2);
	CHECK_EQ(aftl_lpn_quality_level(durable.device.ftl, to_lpn(7)), 2);
}

/* The repair of a damaged table of discards keeps what only the persistent buffer has. */
TAP_TEST(a_repair_keeps_the_persistent_buffer)
{
	u64 sector;

	volume_format("approxftl", small_safe, false);
	volume_start_device("approxftl");
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, 3, 1, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	volume_crash();
	sector = aftl_discard_place(&durable.super.layout, 3).sector;
	durable.disk.bytes[sector * AFTL_SECTOR_BYTES] ^= 1;
	CHECK_EQ(durable_load_device(&durable, "approxftl", false), -EUCLEAN);
	durable.ignore_damage = true;
	CHECK_EQ(durable_load_device(&durable, "approxftl", false), 0);
	CHECK_EQ(durable.recovery.tables, 1);
	CHECK_EQ(aftl_volume_write_repaired_metadata(durable.volume), 0);
	durable.ignore_damage = false;
	volume_crash();
	volume_start_device("approxftl");
	CHECK_EQ(durable.recovery.tables, 0);
	check_buffered_unit(3, 0);
}

static int persist_unit_with_write_buffer_tag(u32 tag, u32 unit)
{
	struct aftl_plp_entry entry = { .what.lpn = to_lpn(unit) };
	u64 offset;

	return aftl_volume_persist_unit(durable.volume, tag, &entry, &offset);
}

static void check_results_of_erase_and_retire(int reused, int retired)
{
	struct aftl_erase_entry entry = { .erases = 1 };

	CHECK_EQ(aftl_volume_record_erase(durable.volume, 0, &entry), reused);
	CHECK_EQ(aftl_volume_record_retirement(durable.volume, 1, &entry), retired);
	/* A reprogram needs a commit before it, as the reuse of an erased block does. */
	CHECK_EQ(aftl_volume_commit_if_changed(durable.volume), reused);
}

static void record_units_without_mapping(u16 hidden)
{
	struct aftl_spare spare = { .hidden = hidden };

	CHECK_EQ(aftl_volume_record_program(durable.volume, 0, &spare), 0);
}

/* Occupy all PLP slots; the next commit frees one of them. */
static void take_all_plp_slots(void)
{
	u32 tags = aftl_count_buffer_tags(durable.device.ftl);
	u32 i;

	for (i = 0; i < tags; i++)
		CHECK_EQ(persist_unit_with_write_buffer_tag(i, tags + i), 0);
	aftl_volume_release_plp_entry(durable.volume, 0);
}

/* While a page waits for a PLP slot, the block with its older durable data is not erased. */
TAP_TEST(a_waiting_page_is_persisted_before_an_erase)
{
	u32 i;

	volume_open("baseline", small_safe);
	take_all_plp_slots();
	for (i = 0; i < 2; i++) {
		record_units_without_mapping(1);
		CHECK_EQ(persist_unit_with_write_buffer_tag(i, i), -EAGAIN);
		record_units_without_mapping(0);
		check_results_of_erase_and_retire(0, -EAGAIN);
		record_units_without_mapping(2);
		record_units_without_mapping(0);
		check_results_of_erase_and_retire(-EAGAIN, -EAGAIN);
		if (i)
			aftl_volume_release_plp_entry(durable.volume, i);
		else
			CHECK_EQ(persist_unit_with_write_buffer_tag(i, i), 0);
		check_results_of_erase_and_retire(0, 0);
		aftl_volume_release_plp_entry(durable.volume, 1);
	}
}

/* Load the volume but not the data of its PLP entries, which the test has not written. */
static void load_volume_without_data(void)
{
	struct test_device *device = &durable.device;

	CHECK_EQ(aftl_volume_open(&durable.volume, &durable.disk.medium, &device->error), 0);
	volume_exit_on_error(aftl_volume_load(durable.volume, aftl_policy_find("baseline"),
					      &device->config, &device->ops, device, true,
					      &device->ftl, &durable.recovery, &device->error),
			     "load");
}

/* To restore 65,536 pages takes less time than to load the volume: no page needs a search. */
TAP_TEST(a_large_persistent_buffer_is_restored_in_linear_time)
{
	struct test_device *device = &durable.device;
	struct aftl_buffered_lpn what;
	u32 restored = 0;
	u32 slot = 0;
	u64 offset;
	clock_t load;
	clock_t begin;
	u32 tags;

	volume_open("baseline", large_safe);
	tags = aftl_count_buffer_tags(device->ftl);
	CHECK_RANGE(tags, 60000, aftl_geometry(device->ftl)->units);
	for (; slot < tags; slot++)
		CHECK_EQ(persist_unit_with_write_buffer_tag(slot, tags - 1 - slot), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	durable_stop(&durable);
	begin = clock();
	load_volume_without_data();
	load = clock() - begin;
	begin = clock();
	for (slot = 0; aftl_volume_get_next_persisted_lpn(durable.volume, &slot, &what, &offset);
	     restored++) {
		CHECK_EQ(from_lpn(what.lpn), restored);
		aftl_volume_set_plp_slot_of_tag(durable.volume, slot, restored);
	}
	CHECK_EQ(restored, tags);
	begin = clock() - begin;
	tap_printf("%u pages: %ld us after a load of %ld us", tags, (long)begin, (long)load);
	CHECK(begin < load);
}

static u32 count_persisted_pages(void)
{
	struct aftl_buffered_lpn what;
	u32 slot = 0;
	u32 count = 0;
	u64 offset;

	while (aftl_volume_get_next_persisted_lpn(durable.volume, &slot, &what, &offset))
		count++;
	return count;
}

/*
 * A hostile medium has PLP entries of more zones than may be active. Recovery keeps those of the
 * oldest zones; its steps are bounded by 64 times the zones and a few times the entries.
 */
TAP_TEST(plp_entries_of_too_many_zones_are_dropped_in_linear_time)
{
	struct aftl_geometry geo;
	u32 tags;
	u32 i;

	volume_open("baseline", many_zones);
	geo = *aftl_geometry(durable.device.ftl);
	tags = aftl_count_buffer_tags(durable.device.ftl);
	CHECK_RANGE(geo.zones, 100, tags / 4);
	for (i = 0; i < tags; i++)
		CHECK_EQ(persist_unit_with_write_buffer_tag(i, (i % geo.zones + 1) % geo.zones *
						   geo.zone_units + i / geo.zones), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	durable_stop(&durable);
	load_volume_without_data();
	CHECK_EQ(count_persisted_pages(), 3);
	for (i = 0; i < geo.zones; i++)
		CHECK_EQ(durable.device.ftl->zones.all[i].written, i > 0 && i <= 3);
	CHECK_RANGE(aftl_get_amount_of_work_done(durable.device.ftl), geo.zones,
		    70 * geo.zones + 4 * tags + 64);
}

/* All zones are active, as only a hostile medium says: recovery finishes all but three zones. */
TAP_TEST(zones_beyond_those_that_may_be_active_are_finished_in_linear_time)
{
	const struct aftl_geometry *geo;
	struct aftl *ftl;
	u32 i;

	volume_open("baseline", many_zones);
	ftl = durable.device.ftl;
	geo = aftl_geometry(ftl);
	for (i = 0; i < geo->zones; i++)
		aftl_zone_rebuild_state(ftl, i, 1 + i % 4, AFTL_ZONE_EMPTY);
	i = ftl->work;
	aftl_zone_finish_excess_zones(ftl);
	CHECK_EQ(ftl->zones.active, 3);
	CHECK_RANGE(ftl->work - i, geo->zones, 40 * geo->zones);
	for (i = 0; i < geo->zones; i++)
		CHECK_EQ(aftl_zone_is_active(&ftl->zones.all[i]),
			 i % 4 == 0 && i + 12 >= geo->zones);
}

static void drain_write_buffer(void)
{
	test_flush_writes(&durable.device);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
}

/* Make a newer write of lpn 0 wait for a PLP slot; return the flash page with the older data. */
static u32 rewrite_lpn_0_without_plp_slot(struct aftl_spare *spare)
{
	const struct aftl *ftl = durable.device.ftl;
	aftl_ppn_t ppn;
	u32 class;

	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, 0, 1, AFTL_PRECISE, NULL), 0);
	drain_write_buffer();
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	ppn = aftl_lookup(ftl, to_lpn(0), &class);
	aftl_init_spare_entry(spare, ftl, ppn);
	CHECK_EQ(from_ppn(ppn) % aftl_geometry(ftl)->block_ppns, 0);
	take_all_plp_slots();
	CHECK_EQ(persist_unit_with_write_buffer_tag(0, 0), -EAGAIN);
	return from_ppn(ppn) / aftl_geometry(ftl)->page_units;
}

/* Store on the disk the data of the older of two writes of lpn 0. */
static void persist_older_data_of_lpn_0(u32 page)
{
	u32 bytes = aftl_geometry(durable.device.ftl)->unit_bytes;
	u32 page_units = aftl_geometry(durable.device.ftl)->page_units;
	struct aftl_plp_entry entry = { .what.lpn = to_lpn(0) };
	u64 from = aftl_volume_data_offset(durable.volume, to_ppn(page * page_units));
	u64 offset;

	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	CHECK_EQ(aftl_volume_persist_unit(durable.volume, 0, &entry, &offset), 0);
	CHECK_EQ(lying_disk_read(&durable.disk, from, durable.bytes, bytes), 0);
	CHECK_EQ(lying_disk_write(&durable.disk, offset, durable.bytes, bytes), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
}

/*
 * A page waits for a slot of the persistent write buffer, and is programmed on another die. The
 * block of its former version is erased, and the other die fails before the program is complete:
 * the page must be persisted before the blocks of that die are recorded as retired.
 */
TAP_TEST(a_waiting_page_is_persisted_before_a_die_is_retired)
{
	struct aftl_erase_entry entry = { .erases = 1 };
	struct aftl_spare spare;
	u32 page;
	u32 pages;
	int ret;

	volume_open("baseline", small_safe);
	pages = aftl_geometry(durable.device.ftl)->pages;
	page = rewrite_lpn_0_without_plp_slot(&spare);
	CHECK_EQ(aftl_volume_record_program(durable.volume, 20 * pages, &spare), 0);
	CHECK_EQ(aftl_volume_record_erase(durable.volume, page / pages, &entry), 0);
	/* lpn 1 takes the PLP slot that became free, so that lpn 0 still has to wait. */
	aftl_volume_release_plp_entry(durable.volume, 1);
	CHECK_EQ(persist_unit_with_write_buffer_tag(1, 9), 0);
	CHECK_EQ(persist_unit_with_write_buffer_tag(0, 0), -EAGAIN);
	entry = (struct aftl_erase_entry){ .bad = true, .dead = true };
	ret = aftl_volume_record_retirement(durable.volume, 20, &entry);
	if (ret)
		persist_older_data_of_lpn_0(page);
	CHECK_EQ(ret ? aftl_volume_record_retirement(durable.volume, 20, &entry) : 0, 0);
	/* Discard all other pages. */
	CHECK_EQ(aftl_volume_record_discard(durable.volume, to_lpn(1), durable.unit_count - 1), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	volume_crash();
	volume_start_device("baseline");
	CHECK(durable.recovery.bad_blocks);
	CHECK(durable.buffered[0]);
}

/*
 * Two logical pages are written twice. One is discarded, the other becomes uncorrectable, so that
 * their flash page is recorded again. If the record of the discard is lost in a crash, the
 * discarded page has its newer data, not the older ones.
 */
TAP_TEST(a_repeated_record_of_a_page_does_not_bring_back_older_data)
{
	const struct aftl *ftl;
	struct aftl_spare spare;
	aftl_ppn_t ppn;
	u32 class;
	u32 i;

	volume_open("baseline", SMALL " op=60");
	ftl = durable.device.ftl;
	CHECK(aftl_geometry(ftl)->page_units > 1);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, 0, 2, AFTL_PRECISE,
					      NULL), 0);
		drain_write_buffer();
		CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	}
	CHECK(durable_fail_unit(&durable, 1));
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	ppn = aftl_lookup(ftl, to_lpn(0), &class);
	ppn = to_ppn(from_ppn(ppn) / aftl_geometry(ftl)->page_units *
		     aftl_geometry(ftl)->page_units);
	aftl_init_spare_entry(&spare, ftl, ppn);
	CHECK_EQ(spare.lost, 2);
	spare.mapped = 2;
	CHECK_EQ(aftl_volume_record_program(durable.volume, aftl_page_of_ppn(aftl_media(ftl), ppn),
					    &spare), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	volume_crash();
	volume_start_device("baseline");
	CHECK_EQ(durable.units[0].covered, durable.units[0].newest);
	CHECK(durable.units[1].lost);
}

static void start_programs_of_four_pages(void)
{
	u32 i;

	volume_open("approxftl", SMALL " op=60 buffer=256KiB buffer_safe=on buffer_high=0");
	for (i = 0; i < 4; i++)
		CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE,
					      NULL),
			 0);
	CHECK_EQ(test_counters(&durable.device)->array_programs, 2);
}

/* An aborted program of older data must not replace the newer data in the write buffer. */
TAP_TEST(an_aborted_program_does_not_replace_newer_data)
{
	struct test_device *device = &durable.device;
	u32 i;

	start_programs_of_four_pages();
	for (i = 0; i < 4; i++)
		CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, NULL), 0);
	CHECK_EQ(aftl_fail_lun(device->ftl, 0), 0);
	volume_exit_on_error(durable_execute_ops(&durable, U32_MAX), "work");
	volume_crash();
	volume_start_device("approxftl");
	for (i = 0; i < 4; i++)
		CHECK(durable.buffered[i]);
}

/*
 * A page waits for a slot of the persistent write buffer, and its program is aborted, so that it is
 * persisted again: both attempts to persist it must end with the newer sequence number.
 */
TAP_TEST(the_newest_persisted_version_of_a_page_is_used)
{
	struct aftl_plp_entry late = { .what.lpn = to_lpn(0) };
	struct aftl_plp_entry anew = late;
	u64 offset;

	volume_open("baseline", small_safe);
	take_all_plp_slots();
	CHECK_EQ(aftl_volume_persist_unit(durable.volume, 0, &late, &offset), -EAGAIN);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	CHECK_EQ(aftl_volume_persist_unit(durable.volume, 0, &anew, &offset), 0);
	CHECK_RANGE(anew.seq, late.seq + 1, U32_MAX);
	CHECK_EQ(aftl_volume_persist_unit(durable.volume, 0, &late, &offset), 0);
	CHECK_EQ(late.seq, anew.seq);
}

/* After a crash the write buffer has the pages of aborted programs, whatever the tables map. */
TAP_TEST(a_persistent_buffer_survives_a_die_failure)
{
	struct test_device *device = &durable.device;

	start_programs_of_four_pages();
	CHECK_EQ(aftl_fail_lun(device->ftl, 0), 0);
	CHECK_EQ(test_execute_request(device, AFTL_OP_FLUSH, 0, 0, 0, NULL), 0);
	volume_exit_on_error(durable_execute_ops(&durable, U32_MAX), "work");
	volume_crash();
	volume_start_device("approxftl");
	CHECK(durable.recovery.bad_blocks);
	CHECK_EQ(durable.recovery.mapped_units, 2);
}

#define TWICE 48

/* Write pages to flash, then newer versions, most of which are buffered and wait for a PLP slot. */
static void overwrite_pages_on_flash(void)
{
	struct test_device *device = &durable.device;
	u32 i;

	for (i = 0; i < TWICE; i++)
		CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, NULL), 0);
	drain_write_buffer();
	for (i = TWICE; i--;)
		CHECK_EQ(test_submit_io(device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, 0,
					aftl_device_time_ns(device->ftl)),
			 0);
}

/*
 * Fail all blocks of the first LUN, and the blocks in use of the other LUN, so that data are
 * relocated.
 */
static void fail_blocks_in_use(void)
{
	const struct aftl *ftl = durable.device.ftl;
	u32 i;

	for (i = 0; i < aftl_geometry(ftl)->blocks; i++)
		if (i < aftl_geometry(ftl)->blocks_per_lun || aftl_media(ftl)->blocks[i].programmed)
			CHECK_EQ(aftl_fail_block(durable.device.ftl, i), 0);
	drain_write_buffer();
	/* Until their program ends, relocated data are read from the controller. */
	test_advance_clock_by(&durable.device, 10000000000ULL);
	CHECK(aftl_is_read_only(durable.device.ftl));
}

/* Count the pages whose reads the write buffer serves; *@last becomes the last of them. */
static u32 count_reads_served_by_write_buffer(u32 *last)
{
	const u64 *reads = &test_counters(&durable.device)->buffer_read_units;
	u64 begin = *reads;
	u64 before;
	u32 i;

	for (i = 0; i < TWICE; i++) {
		before = *reads;
		CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_READ, i, 1, AFTL_PRECISE,
					      NULL),
			 0);
		*last = *reads > before ? i : *last;
	}
	return (u32)(*reads - begin);
}

/*
 * Reads return buffered data that no block can take, not the older data that GC relocates: while in
 * use, after a close without a snapshot, and after a crash. Discarded pages stay discarded.
 */
static void check_unflushable_data(const char *params, bool closed)
{
	u32 unit = 0;
	u32 count;

	volume_open("baseline", params);
	overwrite_pages_on_flash();
	fail_blocks_in_use();
	count = count_reads_served_by_write_buffer(&unit);
	CHECK_RANGE(count, 8, TWICE);
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_DISCARD, unit, 1, AFTL_PRECISE,
				      NULL),
		 0);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	if (closed)
		volume_close_cleanly();
	else
		volume_crash();
	volume_start_device("baseline");
	CHECK(!durable.recovery.closed);
	CHECK_EQ(durable_count_buffered_units(&durable), count - 1);
	CHECK_EQ(durable.buffered[unit], 0);
	volume_close_cleanly();
	volume_start_device("baseline");
	CHECK(durable.recovery.closed);
}

TAP_TEST(unflushable_data_stay_in_a_persistent_buffer)
{
	check_unflushable_data(small_safe, false);
	check_unflushable_data(small_safe, true);
	check_unflushable_data(SMALL " op=60 buffer=256KiB buffer_safe=on buffer_hold=1s "
			       "map_cache=64KiB", false);
	check_unflushable_data(SMALL " op=60 buffer=256KiB buffer_safe=on buffer_hold=1s bits=4 "
			       "one_shot=on passes=2", false);
}

/* Return true if a block's second word line had its coarse pass, and the first no fine pass. */
static bool is_word_line_between_passes(const struct aftl *ftl)
{
	u32 pages = ftl->geo.pages;
	u32 i;

	for (i = 0; i < ftl->geo.blocks; i++)
		if (ftl->media.blocks[i].state == AFTL_BLOCK_OPEN &&
		    aftl_next_fine_pass_page(&ftl->media, &ftl->media.blocks[i]) < pages)
			return true;
	return false;
}

static void crash_device_between_program_passes(void)
{
	struct test_device *device = &durable.device;
	u32 i;

	for (i = 0; i < 600; i++)
		if (i < 300 || i % 8)
			CHECK_EQ(test_execute_request(device, AFTL_OP_WRITE, i % 300, 1,
						      AFTL_PRECISE, NULL),
				 0);
	for (i = 0; i < 50; i++)
		CHECK_EQ(test_submit_io(device, AFTL_OP_WRITE, i, 1, AFTL_PRECISE, 0,
					aftl_device_time_ns(device->ftl)),
			 0);
	while (!is_word_line_between_passes(device->ftl) && test_process_event(device))
		;
	CHECK_EQ(durable_execute_ops(&durable, U32_MAX), 0);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	volume_crash();
}

/* Record the program of one page of the due fine pass, but not of its other pages. */
static void record_partial_page(struct aftl *ftl)
{
	struct aftl_block *block = ftl->media.blocks;
	aftl_ppn_t ppn;

	while (block->state != AFTL_BLOCK_CLOSED || block->frontier == ftl->geo.pages)
		block++;
	ppn = aftl_page_ppn(&ftl->media, block, aftl_next_fine_pass_page(&ftl->media, block));
	aftl_l2p_update(ftl, ftl->luns, block, to_lpn(700), ppn, AFTL_PRECISE);
}

/* Open all free blocks, so that none is free. */
static void occupy_free_blocks(struct aftl *ftl)
{
	struct aftl_block *block;

	while ((block = aftl_free_block_take(ftl, ftl->luns, 0)))
		aftl_block_open(ftl, block, AFTL_ORDER_FOGGY_FINE, 0);
}

static void collect_block_and_check_data(void)
{
	CHECK_EQ(aftl_start_lun_gc(durable.device.ftl, 0), 0);
	test_advance_clock_by(&durable.device, 1000000000);
	CHECK(test_counters(&durable.device)->programmed_gc_units);
	CHECK(test_counters(&durable.device)->array_erases);
	CHECK_EQ(durable_drain_all_ops(&durable), 0);
	test_audit_device(&durable.device);
	durable_check_all_data(&durable);
}

/*
 * Power fails between the two program passes of a block, so the data of its fine pass are lost. If
 * no block is free afterwards, relocation reopens this block as the fallback block, because it has
 * unprogrammed pages. It cannot be reopened if the volume recorded one page of the fine pass.
 */
TAP_TEST(a_crash_between_two_passes_leaves_room_for_gc)
{
	struct aftl *ftl;
	u32 noted;

	volume_open("baseline", "channels=1 chips=1 blocks=24 layers=4 word_lines=2 "
		    "bits=4 one_shot=on passes=2 op=50 buffer=256KiB");
	crash_device_between_program_passes();
	for (noted = 2; noted--;) {
		volume_start_device("baseline");
		ftl = durable.device.ftl;
		CHECK(!ftl->luns->fallback);
		if (noted)
			record_partial_page(ftl);
		occupy_free_blocks(ftl);
		aftl_block_manager_ensure_fallback_blocks(ftl);
		CHECK_EQ(!ftl->luns->fallback, noted);
		if (!noted)
			collect_block_and_check_data();
		durable_stop(&durable);
	}
}

/* Zeroed tables, which a discard of the wrong range of the backing device leaves, are damage. */
TAP_TEST(zeroed_tables_are_reported_as_damaged)
{
	u64 spares;

	format_use_and_close_volume("approxftl", small);
	spares = durable.super.layout.spares * AFTL_FRAME_BYTES;
	memset(durable.disk.bytes + spares, 0, AFTL_FRAME_BYTES);
	CHECK_EQ(durable_load_device(&durable, "approxftl", true), -EUCLEAN);
	CHECK_CONTAINS(durable.device.error.text, "sector");
}

/* Store one program with the next sequence number after @seq, and close the volume. */
static void close_volume_with_seq(u64 seq)
{
	volume_open("baseline", small);
	durable.volume->state.seq = seq;
	CHECK_EQ(test_execute_request(&durable.device, AFTL_OP_WRITE, 8, 1, 0, NULL), 0);
	volume_close_cleanly();
}

/* Sequence numbers that could wrap are refused, in a commit record and in the tables. */
TAP_TEST(a_forged_sequence_number_is_refused)
{
	u32 scan;

	close_volume_with_seq(AFTL_SEQ_MAX / 2);
	for (scan = 0; scan < 2; scan++) {
		volume_load("baseline", scan);
		durable_stop(&durable);
	}
	for (scan = 0; scan < 2; scan++) {
		close_volume_with_seq(U64_MAX - 100);
		CHECK_EQ(durable_load_device(&durable, "baseline", scan), -EUCLEAN);
		CHECK_CONTAINS(durable.device.error.text, "its sequence numbers are impossible");
	}
}

/* A volume can be loaded with the older of its two commit records. */
TAP_TEST(the_older_of_two_states_suffices)
{
	u32 frame;

	format_use_and_close_volume("approxftl", small);
	volume_start_device("approxftl");
	frame = AFTL_FRAME_STATE + (aftl_volume_state(durable.volume)->commit & 1);
	durable_stop(&durable);
	memset(durable.disk.bytes + frame * AFTL_FRAME_BYTES, 0, AFTL_SECTOR_BYTES);
	volume_start_device("approxftl");
	CHECK(durable.recovery.state && !durable.recovery.closed);
	durable_stop(&durable);
	volume_start_device("approxftl");
	CHECK(!durable.recovery.state);
	durable_stop(&durable);
	memset(durable.disk.bytes + AFTL_FRAME_STATE * AFTL_FRAME_BYTES, 0, 2 * AFTL_FRAME_BYTES);
	CHECK_EQ(reopen_volume(), -EUCLEAN);
	CHECK_CONTAINS(durable.device.error.text, "state");
}

static int try_to_format_use_and_close_volume(void)
{
	int ret = durable_format(&durable);

	if (!ret)
		ret = durable_start_device(&durable, "approxftl", false);
	if (ret)
		return ret;
	/* A failed host read does not make the volume fail. */
	send_requests(3, 60, 0);
	ret = durable.ret;
	if (ret) {
		CHECK_EQ(durable_execute_ops(&durable, U32_MAX), ret);
		CHECK(aftl_volume_commit(durable.volume) == ret || ret == -EIO);
		durable_stop(&durable);
		return ret;
	}
	return durable_close_cleanly(&durable);
}

/* Number of failed disk calls that the device tolerated. */
static u32 tolerated;

/* Make call @number to the disk fail. Return: whether the device made so many calls to the disk. */
static bool fail_disk_call(u64 number)
{
	struct aftl_random random = { number };
	bool reached;
	int ret;

	volume_prepare_disk("approxftl", small_units, false);
	durable.disk.fail_at = number;
	ret = try_to_format_use_and_close_volume();
	reached = durable.disk.calls >= number;
	tolerated += !ret && reached;
	CHECK_MSG(!ret || reached, "call %llu: %d", (unsigned long long)number, ret);
	/* Writes that were flushed before the backing device failed must be found after a crash. */
	durable.disk.fail_at = 0;
	durable_crash(&durable, number % DISK_CRASHES, &random);
	ret = durable_start_device(&durable, "approxftl", false);
	CHECK(!ret || durable.formatting);
	return reached;
}

TAP_TEST(the_failure_of_any_device_call_is_reported)
{
	u64 number = 1;

	while (!tap_failure_count() && fail_disk_call(number))
		number++;
	tap_printf("%llu calls", (unsigned long long)number - 1);
	CHECK_RANGE(number, 200, 100000);
	/* The device tolerated failed reads of header, state, erase table and read-ahead chunks. */
	CHECK_EQ(tolerated, 7);
}

TAP_TEST(a_failed_volume_accepts_no_changes)
{
	struct aftl_erase_entry entry = { .erases = 1 };
	struct aftl_spare spare = { .attr = 1 };

	volume_open("baseline", small);
	CHECK_EQ(aftl_volume_record_program(durable.volume, 0, &spare), 0);
	durable.disk.fail_at = durable.disk.calls + 1;
	CHECK_EQ(aftl_volume_commit(durable.volume), -EIO);
	CHECK_EQ(aftl_volume_commit(durable.volume), -EIO);
	CHECK_EQ(aftl_volume_record_program(durable.volume, 1, &spare), -EIO);
	CHECK_EQ(aftl_volume_record_discard(durable.volume, to_lpn(0), 1), -EIO);
	CHECK_EQ(aftl_volume_record_erase(durable.volume, 0, &entry), -EIO);
	CHECK_EQ(aftl_volume_record_retirement(durable.volume, 0, &entry), -EIO);
}

/* Allocation failures */

static int format_and_load_volume(void)
{
	int ret = durable_format(&durable);

	if (!ret)
		ret = durable_load_device(&durable, "approxftl", true);
	durable_stop(&durable);
	return ret;
}

/* With little memory each reader of the volume's tables still works, but reads nothing ahead. */
TAP_TEST(the_failure_of_any_allocation_is_reported)
{
	u32 well = 0;
	u32 all;
	u32 i;

	volume_format("approxftl", small, false);
	durable.disk.allocations = 0;
	CHECK_EQ(format_and_load_volume(), 0);
	all = durable.disk.allocations;
	for (i = 1; i <= all; i++) {
		durable.disk.allocations = 0;
		durable.disk.no_memory_at = i;
		durable.disk.no_memory_again = 0;
		well += !format_and_load_volume();
		durable.disk.allocations = 0;
		durable.disk.no_memory_again = 1;
		CHECK_EQ(format_and_load_volume(), -ENOMEM);
		CHECK_CONTAINS(durable.device.error.text, "memory");
		CHECK_EQ(durable.disk.held, 0);
	}
	CHECK_EQ(well, 3);
	CHECK_RANGE(all, 12, 1000);
	durable.disk.no_memory_at = 0;
}

/* Parameters of a device whose tables are larger than what a load reads ahead. */
static const char many_pages[] =
	"channels=2 chips=1 blocks=400 layers=8 word_lines=8 planes=1 unit=512 page=512 op=60";

static void open_used_volume(bool closed)
{
	volume_open("baseline", many_pages);
	run_requests_and_commit(3, 3000);
	if (closed)
		volume_close_cleanly();
	else
		durable_stop(&durable);
	durable.disk.most_reading = 0;
	durable.disk.calls = 0;
	durable.disk.begun = 0;
}

/* Load the device; on failure the error and its message are in @durable. */
static int load_volume_and_get_digest(u64 *digest)
{
	int ret = durable_load_device(&durable, durable.super.policy, false);

	if (digest)
		*digest = ret ? 0 : aftl_compute_device_digest(durable.device.ftl);
	CHECK_EQ(durable.disk.reading, 0);
	durable_stop(&durable);
	return ret;
}

static void prepare_volume_to_load(const char *params, bool closed)
{
	volume_open("approxftl", params);
	if (params == small_zones)
		write_reset_and_finish_zones();
	else
		run_requests_and_commit(7, 1500);
	if (closed)
		volume_close_cleanly();
	else
		durable_stop(&durable);
}

/* A load that fails for lack of memory leaves the volume as it was. */
static void check_load_without_memory(const char *params, bool closed)
{
	u64 expected;
	u64 digest;
	u32 well = 0;
	u32 all;
	u32 i;

	prepare_volume_to_load(params, closed);
	durable.disk.allocations = 0;
	CHECK_EQ(load_volume_and_get_digest(&expected), 0);
	all = durable.disk.allocations;
	for (i = 1; i <= all + 1; i++) {
		int ret;

		durable.disk.allocations = 0;
		durable.disk.no_memory_at = i;
		ret = load_volume_and_get_digest(&digest);
		CHECK_EQ(digest, ret ? 0 : expected);
		CHECK_EQ(durable.disk.held, 0);
		well += !ret;
		if (!ret)
			continue;
		CHECK_EQ(ret, -ENOMEM);
		CHECK_CONTAINS(durable.device.error.text, "memory");
	}
	CHECK_RANGE(well, 1, 4);
	CHECK_RANGE(all, 5, 1000);
}

TAP_TEST(loads_without_memory_change_nothing)
{
	static const char *const shapes[] = { small, small_safe, small_zones };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		check_load_without_memory(shapes[i], true);
		check_load_without_memory(shapes[i], false);
	}
}

static void check_concurrent_reads(bool closed)
{
	u64 expected;
	u64 digest;
	u32 all;
	u32 i;

	open_used_volume(closed);
	CHECK_EQ(load_volume_and_get_digest(&expected), 0);
	CHECK_EQ(durable.disk.most_reading, AFTL_READER_CHUNKS / 2 + 1);
	all = durable.disk.begun;
	CHECK_RANGE(all, AFTL_READER_CHUNKS / 2 + 2, 20);
	for (i = 1; i <= all; i += 3) {
		durable.disk.begun = 0;
		durable.disk.not_begun_at = i;
		CHECK_EQ(load_volume_and_get_digest(&digest), 0);
		CHECK_EQ(digest, expected);
	}
}

TAP_TEST(tables_are_read_ahead)
{
	check_concurrent_reads(false);
}

TAP_TEST(a_snapshot_is_read_ahead)
{
	check_concurrent_reads(true);
}

/* A chunk of a table that cannot be read as a whole is read frame by frame. */
TAP_TEST(a_failure_of_read_ahead_is_harmless)
{
	u32 well = 0;
	u64 expected;
	u64 digest;
	u64 calls;
	u64 i;

	open_used_volume(false);
	CHECK_EQ(load_volume_and_get_digest(&expected), 0);
	calls = durable.disk.calls;
	for (i = 1; i <= calls; i += 2) {
		durable.disk.calls = 0;
		durable.disk.fail_at = i;
		if (load_volume_and_get_digest(&digest))
			CHECK_CONTAINS(durable.device.error.text, "cannot be read");
		else
			well += digest == expected;
	}
	CHECK_RANGE(well, calls / 2 - 4, calls / 2);
}

/* Fail reads of a load; then use the loaded device, and recover it after a crash. */
static int fail_disk_reads_during_load(u64 first, u64 calls, bool *reached)
{
	struct aftl_random random = { first };
	int ret;

	durable.disk.calls = 0;
	durable.disk.fail_at = first;
	durable.disk.fail_again = calls - 1;
	ret = durable_load_device(&durable, "baseline", false);
	*reached = durable.disk.calls >= first;
	durable.disk.fail_at = 0;
	durable.disk.fail_again = 0;
	if (ret) {
		CHECK_CONTAINS(durable.device.error.text, "read");
		CHECK_EQ(durable.disk.held, 0);
		return ret;
	}
	durable_check_all_data(&durable);
	ret = aftl_volume_mark_in_use(durable.volume, aftl_policy_find("baseline"),
				      &durable.device.config);
	volume_exit_on_error(ret, "mark as in use");
	durable_crash(&durable, DISK_CRASH_ALL, &random);
	return 0;
}

/* If reads fail for a while during a load, the loaded device must be consistent and complete. */
TAP_TEST(a_temporary_read_failure_loses_nothing)
{
	bool reached = true;
	u32 well = 0;
	u64 first;
	u64 calls;

	volume_open("baseline", small);
	run_requests_and_commit(3, 300);
	volume_close_cleanly();
	for (first = 1; reached && !tap_failure_count(); first++)
		for (calls = 1; calls <= 14 && !tap_failure_count(); calls++) {
			well += !fail_disk_reads_during_load(first, calls, &reached);
			volume_start_device("baseline");
			volume_close_cleanly();
		}
	tap_printf("%u of %llu loads went well", well, (unsigned long long)(first - 1) * 14);
}

/* The error message names the unreadable frame, wherever the frame is. */
TAP_TEST(the_unreadable_frame_is_named)
{
	u64 digest;
	u64 first;
	u64 frame;

	open_used_volume(false);
	first = durable.super.layout.spares;
	for (frame = first; frame < durable.super.layout.discards; frame += 111) {
		char name[40];

		snprintf(name, sizeof(name), "sector %llu,",
			 (unsigned long long)frame * AFTL_FRAME_SECTORS);
		durable.disk.unreadable[frame * AFTL_FRAME_SECTORS + 5] = true;
		CHECK_EQ(load_volume_and_get_digest(&digest), -ENODATA);
		CHECK_CONTAINS(durable.device.error.text, name);
		CHECK_CONTAINS(durable.device.error.text, "cannot be read");
		durable.disk.unreadable[frame * AFTL_FRAME_SECTORS + 5] = false;
	}
}

static u32 pauses_left;

static int stop_load_after_given_pauses(void *host)
{
	(void)host;
	return pauses_left-- ? 0 : -EINTR;
}

/* A load can be interrupted, whatever is in progress. */
TAP_TEST(a_load_can_be_interrupted)
{
	u32 pauses;
	u32 i;

	open_used_volume(false);
	durable.device.ops.pause = stop_load_after_given_pauses;
	pauses_left = U32_MAX;
	CHECK_EQ(load_volume_and_get_digest(NULL), 0);
	pauses = U32_MAX - pauses_left;
	/*
	 * A load yields for each block while it reads the tables, maps the block's pages, and
	 * audits.
	 */
	CHECK_RANGE(pauses, 3 * 800 - 10, 3 * 900);
	for (i = 0; i < pauses; i += i / 2 + 1) {
		pauses_left = i;
		CHECK_EQ(load_volume_and_get_digest(NULL), -EINTR);
		CHECK_CONTAINS(durable.device.error.text, "interrupted while the");
	}
	durable.device.ops.pause = NULL;
}

TAP_TEST(many_changes_are_committed_without_a_flush)
{
	struct aftl_spare spare = { .attr = 1 };
	u32 pages, page, count = 0;
	u64 flushes;

	volume_open("baseline", NULL);
	pages = aftl_volume_geometry(durable.volume)->blocks *
		aftl_volume_geometry(durable.volume)->pages;
	flushes = durable.disk.flushes;
	for (page = 0; page < pages; page += 64, count++)
		CHECK_EQ(aftl_volume_record_program(durable.volume, page, &spare), 0);
	CHECK_RANGE(durable.disk.flushes, flushes + 2, flushes + 10);
	CHECK_EQ(aftl_volume_commit(durable.volume), 0);
	volume_crash();
	volume_load("baseline", false);
	CHECK_RANGE(durable.recovery.programmed_pages, count, U64_MAX);
	CHECK_EQ(aftl_volume_state(durable.volume)->seq, count);
}

/* Encoding */

static void make_random_oob_entry(struct aftl_spare *spare, const struct aftl_geometry *geo,
				  struct aftl_random *random)
{
	u32 i;

	*spare = (struct aftl_spare){
		.seq = aftl_random_next(random) | 1,
		.opened_ns = aftl_random_next(random),
		.erases = (u32)aftl_random_next(random),
		.wear = (u32)aftl_random_next(random),
		.first_hour = (u32)aftl_random_next(random),
		.hours = (u16)aftl_random_next(random),
		.note = (u16)aftl_random_next(random),
		.attr = aftl_page_attr(aftl_random_below(random, AFTL_CLASSES),
				       aftl_random_below(random, AFTL_MODES), 0),
		.order = geo->passes > 1 ? AFTL_ORDER_FOGGY_FINE :
					   (u8)aftl_random_below(random, AFTL_ORDER_FOGGY_FINE),
		.kind = (u8)aftl_random_below(random, AFTL_KINDS_MAX),
		.flip = aftl_random_below(random, 2),
		.mapped = (u32)aftl_random_below(random, 1ULL << geo->page_units),
	};
	if (aftl_page_is_foggy(spare->attr))
		spare->mapped = 0;
	for (i = 0; i < geo->page_units; i++) {
		spare->word[i] = aftl_lpn_word(to_lpn((u32)aftl_random_below(random, geo->units)),
					       aftl_page_class(spare->attr) ? 1 + i % 3 : 0);
		spare->origin[i].generation = (u16)aftl_random_next(random);
		spare->origin[i].inherited = (u16)aftl_random_next(random);
	}
}

static bool are_oob_entries_equal(const struct aftl_spare *a, const struct aftl_spare *b,
				  u32 units)
{
	return a->seq == b->seq && a->opened_ns == b->opened_ns && a->erases == b->erases &&
	       a->wear == b->wear && a->first_hour == b->first_hour && a->hours == b->hours &&
	       a->note == b->note && a->attr == b->attr && a->order == b->order &&
	       a->kind == b->kind && a->flip == b->flip && a->mapped == b->mapped &&
	       !memcmp(a->word, b->word, units * sizeof(*a->word)) &&
	       !memcmp(a->origin, b->origin, units * sizeof(*a->origin));
}

static void check_oob_entry_is_refused(const struct aftl_spare *spare,
				       const struct aftl_geometry *geo)
{
	struct aftl_spare out;
	u8 bytes[AFTL_SECTOR_BYTES];

	aftl_spare_entry_encode(spare, geo, bytes);
	CHECK_EQ(aftl_spare_entry_decode(&out, geo, bytes), -EUCLEAN);
}

TAP_TEST(entries_are_decoded_as_encoded)
{
	struct aftl_random random = { 3 };
	struct test_device device;
	struct aftl_geometry geo;
	struct aftl_error error;
	struct aftl_spare in;
	struct aftl_spare out;
	u8 bytes[AFTL_SECTOR_BYTES];
	u32 i;

	test_device_init(&device, "demo");
	test_device_set_params(&device, small_units);
	CHECK_EQ(aftl_geometry_init(&geo, &device.config, &error), 0);
	for (i = 0; i < 2000; i++) {
		geo.passes = 1 + i % 2;
		make_random_oob_entry(&in, &geo, &random);
		aftl_spare_entry_encode(&in, &geo, bytes);
		CHECK_EQ(aftl_spare_entry_decode(&out, &geo, bytes), 0);
		CHECK(are_oob_entries_equal(&in, &out, geo.page_units));
	}
	/* Refuse a coarse pass in a block of sequential order, and a coarse pass that is mapped. */
	in.order = AFTL_ORDER_SEQUENTIAL;
	check_oob_entry_is_refused(&in, &geo);
	in.order = AFTL_ORDER_FOGGY_FINE;
	in.attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_FOGGY, 0);
	in.word[0] = to_lpn(0);
	in.mapped = 1;
	check_oob_entry_is_refused(&in, &geo);
	/* Refuse precise data with a quality level, and a level that does not exist. */
	in.attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0);
	in.word[0] = aftl_lpn_word(to_lpn(0), 2);
	check_oob_entry_is_refused(&in, &geo);
	in.attr = aftl_page_attr(AFTL_APPROX, AFTL_MODE_NORMAL, 0);
	in.word[0] = aftl_lpn_word(to_lpn(0), AFTL_LEVELS);
	check_oob_entry_is_refused(&in, &geo);
	in.order = AFTL_ORDERS;
	check_oob_entry_is_refused(&in, &geo);
	/* A device that programs single pages refuses blocks in the order of in-place switches. */
	geo.passes = 1;
	in.order = AFTL_ORDER_SWITCHED;
	in.attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_SLC, 0);
	check_oob_entry_is_refused(&in, &geo);
}

TAP_TEST(a_sector_is_valid_only_at_its_position)
{
	u8 sector[AFTL_SECTOR_BYTES] = { 1, 2, 3 };

	CHECK(!aftl_sector_is_sound(sector, 5, 77));
	aftl_sector_add_crc(sector, 5, 77);
	CHECK(aftl_sector_is_sound(sector, 5, 77));
	CHECK(!aftl_sector_is_sound(sector, 5, 78));
	CHECK(!aftl_sector_is_sound(sector, 6, 77));
	sector[2] ^= 16;
	CHECK(!aftl_sector_is_sound(sector, 5, 77));
}

int main(void)
{
	test_run_with_each_policy("closed and loaded, nothing is lost", small,
				  check_close_keeps_state);
	test_run_with_each_policy("snapshot and tables agree", small, check_tables_equal_snapshot);
	return tap_run_all();
}
