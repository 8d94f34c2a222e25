// SPDX-License-Identifier: GPL-2.0-only
/*
 * Volumes of terabytes: format, write, crash, recover. Allocations are limited to INT_MAX bytes as
 * in a kernel. The medium stores only frames that differ from their formatted content.
 *
 * Argument "all", or AFTL_LARGE=all: also 1, 2 and 4 TiB in units of 4 KiB (takes minutes), and 16
 * TiB in units of 64 KiB.
 */
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "checked-memory.h"
#include "core-memory.h"
#include "tap.h"
#include "core/persist/volume.h"

#define FRAMES_KEPT 4096
#define PLACES (4 * FRAMES_KEPT)

/**
 * struct sparse_medium - backing device that stores changed frames
 * @medium: interface of the backing device to the core
 * @super: volume header, which gives the layout
 * @number: numbers of the stored frames
 * @bytes: content of the stored frames
 * @place: hash table from frame number to stored index; 0: none
 * @kept: number of stored frames + 1
 * @written: number of frame writes
 * @largest: largest allocation
 * @held: bytes of memory that are allocated now
 * @most_held: largest value of @held
 */
struct sparse_medium {
	struct aftl_backing medium;
	struct aftl_volume_header super;
	u64 number[FRAMES_KEPT];
	u8 *bytes;
	u32 place[PLACES];
	u32 kept;
	u64 written;
	u64 largest;
	u64 held;
	u64 most_held;
};

static struct sparse_medium disk;

static u8 *get_stored_frame_bytes(u32 index)
{
	return disk.bytes + (size_t)index * AFTL_FRAME_BYTES;
}

/* Return the entry of @disk.place for a frame: the frame's index, or 0 if it is not stored. */
static u32 *find_stored_frame(u64 number)
{
	u32 at = number % PLACES;

	while (disk.place[at] && disk.number[disk.place[at]] != number)
		at = (at + 1) % PLACES;
	return &disk.place[at];
}

static bool is_frame_in_volume_tables(u64 number)
{
	return number >= AFTL_FRAME_TABLES && number < disk.super.layout.snapshot;
}

static void fill_frame_with_formatted_content(u64 number, u8 *bytes)
{
	u32 nonce = aftl_volume_header_nonce(&disk.super);
	u32 i;

	memset(bytes, 0, AFTL_FRAME_BYTES);
	/* On a sparse backing device, uninitialised tables are zeroes without valid checksums. */
	for (i = 0;
	     is_frame_in_volume_tables(number) && !disk.super.lazy_tables && i < AFTL_FRAME_SECTORS;
	     i++)
		aftl_sector_add_crc(bytes + (size_t)i * AFTL_SECTOR_BYTES, nonce,
				    number * AFTL_FRAME_SECTORS + i);
}

static void store_frame(u64 number, const u8 *bytes)
{
	static u8 formatted[AFTL_FRAME_BYTES];
	u32 *index = find_stored_frame(number);

	disk.written++;
	if (!*index) {
		fill_frame_with_formatted_content(number, formatted);
		if (!memcmp(bytes, formatted, AFTL_FRAME_BYTES))
			return;
		if (disk.kept == FRAMES_KEPT)
			tap_bail_out("more frames than the medium keeps");
		*index = disk.kept++;
		disk.number[*index] = number;
	}
	memcpy(get_stored_frame_bytes(*index), bytes, AFTL_FRAME_BYTES);
}

static int sparse_backing_write(void *host, u64 offset, const void *bytes, u32 size)
{
	u32 i;

	(void)host;
	for (i = 0; i < size / AFTL_FRAME_BYTES; i++)
		store_frame(offset / AFTL_FRAME_BYTES + i,
			    (const u8 *)bytes + (size_t)i * AFTL_FRAME_BYTES);
	return 0;
}

static int sparse_backing_read(void *host, u64 offset, void *bytes, u32 size)
{
	u32 i;

	(void)host;
	for (i = 0; i < size / AFTL_FRAME_BYTES; i++) {
		u64 number = offset / AFTL_FRAME_BYTES + i;
		u32 index = *find_stored_frame(number);
		u8 *to = (u8 *)bytes + (size_t)i * AFTL_FRAME_BYTES;

		if (index)
			memcpy(to, get_stored_frame_bytes(index), AFTL_FRAME_BYTES);
		else
			fill_frame_with_formatted_content(number, to);
	}
	return 0;
}

static int sparse_backing_flush(void *host)
{
	(void)host;
	return 0;
}

static void *alloc_limited_memory(void *host, size_t bytes)
{
	(void)host;
	disk.largest = max_t(u64, disk.largest, bytes);
	if (bytes > INT_MAX)
		return NULL;
	disk.held += bytes;
	disk.most_held = max(disk.most_held, disk.held);
	return core_memory_alloc(NULL, bytes);
}

static void free_limited_memory(void *host, void *memory, size_t bytes)
{
	disk.held -= bytes;
	core_memory_free(host, memory, bytes);
}

static const struct aftl_host_ops ops = { .alloc = alloc_limited_memory,
					  .free = free_limited_memory };

static void set_volume_parameter(const char *key, const char *value)
{
	struct aftl_error error;

	if (aftl_param_set(&disk.super.config, key, value, &error))
		tap_bail_out("%s", error.text);
}

/* Configure a device with @blocks blocks of 1 GiB: 16384 pages of 64 KiB. */
static void configure_large_volume(const char *blocks, const char *unit)
{
	struct aftl_error error;

	free(disk.bytes);
	memset(&disk, 0, sizeof(disk));
	disk.bytes = memory_alloc_zeroed(FRAMES_KEPT, AFTL_FRAME_BYTES);
	disk.kept = 1;
	disk.medium = (struct aftl_backing){
		.bytes = 1ULL << 50,
		.read = sparse_backing_read,
		.write = sparse_backing_write,
		.flush = sparse_backing_flush,
		.alloc = alloc_limited_memory,
		.free = free_limited_memory,
	};
	if (aftl_profile_load(&disk.super.config, "demo", &error))
		tap_bail_out("%s", error.text);
	set_volume_parameter("channels", "1");
	set_volume_parameter("chips", "4");
	set_volume_parameter("planes", "1");
	set_volume_parameter("bits", "1");
	set_volume_parameter("layers", "128");
	set_volume_parameter("word_lines", "128");
	set_volume_parameter("page", "64KiB");
	set_volume_parameter("unit", unit);
	set_volume_parameter("blocks", blocks);
	set_volume_parameter("errors", "off");
	memcpy(disk.super.uuid, "of a large one!!", AFTL_UUID_BYTES);
	scnprintf(disk.super.policy, sizeof(disk.super.policy), "baseline");
	scnprintf(disk.super.profile, sizeof(disk.super.profile), "demo");
}

static struct aftl_volume *open_large_volume(void)
{
	struct aftl_volume *volume = NULL;
	struct aftl_error error = { "" };

	CHECK_EQ(aftl_volume_open(&volume, &disk.medium, &error), 0);
	CHECK_TEXT(error.text, "");
	if (!volume)
		tap_bail_out("no volume");
	return volume;
}

static struct aftl *load_large_volume(struct aftl_volume *volume, struct aftl_recovery *recovery)
{
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;

	CHECK_EQ(aftl_volume_load(volume, aftl_policy_find(disk.super.policy),
				  &disk.super.config, &ops, NULL, false, &ftl, recovery, &error),
		 0);
	CHECK_TEXT(error.text, "");
	if (!ftl)
		tap_bail_out("no device");
	return ftl;
}

/* Record a program of @page with the units from @unit on. */
static void record_page_program_in_volume(struct aftl_volume *volume, u32 page, u32 unit)
{
	const struct aftl_geometry *geo = aftl_volume_geometry(volume);
	struct aftl_spare spare = {
		.attr = aftl_page_attr(AFTL_PRECISE, AFTL_MODE_NORMAL, 0),
		.mapped = (1U << geo->page_units) - 1,
	};
	u32 i;

	for (i = 0; i < geo->page_units; i++)
		spare.word[i] = to_lpn(unit + i);
	CHECK_EQ(aftl_volume_record_program(volume, page, &spare), 0);
}

/*
 * The test writes units in ascending order to blocks in descending order, overwrites them once, and
 * discards one unit of each page.
 */
#define SPOTS 64

static u32 get_sampled_unit(const struct aftl_geometry *geo, u32 spot)
{
	u64 pages = geo->units / geo->page_units;

	return (u32)(spot * (pages - 1) / (SPOTS - 1)) * geo->page_units;
}

static u32 get_sampled_page(const struct aftl_geometry *geo, u32 spot)
{
	return (u32)((u64)(SPOTS - 1 - spot) * (geo->blocks - 1) / (SPOTS - 1)) * geo->pages;
}

static void record_page_programs_of_sampled_units(struct aftl_volume *volume)
{
	const struct aftl_geometry *geo = aftl_volume_geometry(volume);
	u32 spot;

	for (spot = 0; spot < SPOTS; spot++)
		record_page_program_in_volume(volume, get_sampled_page(geo, spot) + geo->pages,
					      get_sampled_unit(geo, spot));
	for (spot = 0; spot < SPOTS; spot++) {
		record_page_program_in_volume(volume, get_sampled_page(geo, spot),
					      get_sampled_unit(geo, spot));
		CHECK_EQ(aftl_volume_record_discard(volume, to_lpn(get_sampled_unit(geo, spot) + 1),
						    1),
			 0);
	}
	CHECK_EQ(aftl_volume_commit(volume), 0);
}

static void check_mappings_of_sampled_units(const struct aftl *ftl)
{
	const struct aftl_geometry *geo = aftl_geometry(ftl);
	u32 class;
	u32 spot;

	for (spot = 0; spot < SPOTS; spot++) {
		u32 slot = get_sampled_page(geo, spot) * geo->page_units;
		aftl_lpn_t lpn = to_lpn(get_sampled_unit(geo, spot));

		CHECK_EQ(from_ppn(aftl_lookup(ftl, lpn, &class)), slot);
		lpn = to_lpn(get_sampled_unit(geo, spot) + 1);
		CHECK_EQ(from_ppn(aftl_lookup(ftl, lpn, &class)), from_ppn(AFTL_NO_PPN));
	}
}

/* Return the index of the first stored OOB-table frame beyond the first chunk that loads read. */
static u32 find_oob_frame_beyond_first_chunk(void)
{
	u32 best = 0;
	u32 i;

	for (i = 1; i < disk.kept; i++)
		if (disk.number[i] > disk.super.layout.spares + 1024 &&
		    disk.number[i] < disk.super.layout.discards &&
		    (!best || disk.number[i] < disk.number[best]))
			best = i;
	return best;
}

static void check_load_detects_damaged_frame(void)
{
	struct aftl_volume *volume = open_large_volume();
	struct aftl_recovery recovery;
	struct aftl_error error = { "" };
	struct aftl *ftl = NULL;
	u8 *bytes = get_stored_frame_bytes(find_oob_frame_beyond_first_chunk());

	bytes[3] ^= 1;
	CHECK_EQ(aftl_volume_load(volume, aftl_policy_find(disk.super.policy),
				  &disk.super.config, &ops, NULL, false, &ftl, &recovery, &error),
		 -EUCLEAN);
	CHECK(strstr(error.text, "has a wrong checksum"));
	bytes[3] ^= 1;
	aftl_volume_free(volume);
}

static u64 read_cpu_seconds(void)
{
	return (u64)clock() / CLOCKS_PER_SEC;
}

static void crash_volume_and_check_sampled_units(void)
{
	struct aftl_recovery recovery;
	struct aftl_error error = { "" };
	struct aftl_volume *volume;
	struct aftl *ftl;
	u64 format_held;
	u64 begin = read_cpu_seconds();

	CHECK_EQ(aftl_volume_format(&disk.medium, &disk.super, &error), 0);
	CHECK_TEXT(error.text, "");
	format_held = disk.most_held;
	CHECK(!disk.super.lazy_tables || disk.written < 256);
	volume = open_large_volume();
	record_page_programs_of_sampled_units(volume);
	aftl_volume_free(volume);
	volume = open_large_volume();
	ftl = load_large_volume(volume, &recovery);
	CHECK(!recovery.closed);
	check_mappings_of_sampled_units(ftl);
	CHECK(disk.largest <= INT_MAX);
	tap_printf("%u units: %llu s, at most %llu MiB, the largest piece %llu MiB; %llu to format",
		   aftl_geometry(ftl)->units, (unsigned long long)(read_cpu_seconds() - begin),
		   (unsigned long long)(disk.most_held >> 20),
		   (unsigned long long)(disk.largest >> 20),
		   (unsigned long long)(format_held >> 20));
	aftl_destroy(ftl);
	aftl_volume_free(volume);
	check_load_detects_damaged_frame();
	CHECK_EQ(disk.held, 0);
}

static void test_recovery_of_4_tib_volume(void)
{
	configure_large_volume("1024", "16KiB");
	crash_volume_and_check_sampled_units();
}

/* A volume of terabytes writes only a few MiB to a sparse backing device. */
static void test_recovery_of_sparse_16_tib_volume(void)
{
	configure_large_volume("4096", "64KiB");
	disk.super.lazy_tables = true;
	crash_volume_and_check_sampled_units();
	CHECK(disk.written < 2 * SPOTS * 64);
}

static void test_recovery_of_sparse_4_tib_volume(void)
{
	configure_large_volume("1024", "64KiB");
	disk.super.lazy_tables = true;
	crash_volume_and_check_sampled_units();
	CHECK(disk.written < 2 * SPOTS * 64);
}

static void test_small_unit_volumes(void)
{
	static const char *const blocks[] = { "256", "512", "1023" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		configure_large_volume(blocks[i], "4KiB");
		crash_volume_and_check_sampled_units();
	}
}

int main(int argc, char **argv)
{
	const char *all = argc > 1 ? argv[1] : getenv("AFTL_LARGE");

	tap_run("4 TiB in units of 16 KiB are recovered after a crash",
		test_recovery_of_4_tib_volume);
	tap_run("4 TiB in units of 64 KiB, on a sparse device, are recovered",
		test_recovery_of_sparse_4_tib_volume);
	if (all && !strcmp(all, "all")) {
		tap_run("16 TiB in units of 64 KiB, on a sparse device, are recovered",
			test_recovery_of_sparse_16_tib_volume);
		tap_run("1, 2 and 4 TiB in units of 4 KiB are recovered", test_small_unit_volumes);
	}
	free(disk.bytes);
	return tap_finish();
}
