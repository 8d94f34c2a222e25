// SPDX-License-Identifier: GPL-2.0-only
/* Locate a file's bytes on its block device from the extents of a fake file system. */
#include "../../userspace/approxftl/file-extents.h"
#include "tap.h"

static struct device_range range;
static struct aftl_error error;

static int locate_file_bytes_in_extent(u64 logical, u64 physical, u64 length, u32 flags, u64 at,
				       u64 end)
{
	struct fiemap_extent extent = {
		.fe_logical = logical, .fe_physical = physical, .fe_length = length,
		.fe_flags = flags,
	};

	return file_extent_locate(&extent, at, end, &range, &error);
}

TAP_TEST(bytes_of_a_file_are_located_within_their_extent)
{
	CHECK_EQ(locate_file_bytes_in_extent(4096, 1 << 20, 8192, FIEMAP_EXTENT_LAST, 5000, 5001),
		 0);
	CHECK_EQ(range.offset, (1 << 20) + 904);
	CHECK_EQ(range.length, 1);
	/* A located range ends with its extent, as the file's next bytes are in another extent. */
	CHECK_EQ(locate_file_bytes_in_extent(4096, 1 << 20, 8192,
					     FIEMAP_EXTENT_SHARED | FIEMAP_EXTENT_MERGED,
					     8192, 40960),
		 0);
	CHECK_EQ(range.offset, (1 << 20) + 4096);
	CHECK_EQ(range.length, 4096);
	CHECK_EQ(locate_file_bytes_in_extent(0, 0, U64_MAX, 0, U64_MAX - 1, U64_MAX), 0);
	CHECK_EQ(range.length, 1);
}

static void check_bytes_refused(int ret, const char *part)
{
	CHECK_MSG(ret == -EINVAL && strstr(error.text, part), "%d: %s", ret, error.text);
}

TAP_TEST(bytes_of_a_file_without_a_device_address_are_refused)
{
	check_bytes_refused(file_extent_locate(NULL, 5, 6, &range, &error), "byte 5 is in a hole");
	check_bytes_refused(locate_file_bytes_in_extent(4096, 1 << 20, 4096, 0, 4095, 4096),
			    "byte 4095 is in a hole");
	check_bytes_refused(locate_file_bytes_in_extent(4096, 1 << 20, 4096, 0, 8192, 8193),
			    "byte 8192 is in a hole");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_UNKNOWN |
							FIEMAP_EXTENT_DELALLOC, 0, 1),
			    "not allocated yet");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_UNKNOWN, 0, 1),
			    "does not tell");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_NOT_ALIGNED |
							FIEMAP_EXTENT_DATA_INLINE, 0, 1), "inline");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_NOT_ALIGNED |
							FIEMAP_EXTENT_DATA_TAIL, 0, 1),
			    "other files");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_ENCODED |
							FIEMAP_EXTENT_DATA_ENCRYPTED, 0, 1),
			    "encrypted");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_ENCODED, 0, 1),
			    "compressed");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_NOT_ALIGNED, 0,
							1),
			    "begin of a block");
	check_bytes_refused(locate_file_bytes_in_extent(0, 0, 4096, FIEMAP_EXTENT_UNWRITTEN, 0, 1),
			    "never written");
}

int main(void)
{
	return tap_run_all();
}
