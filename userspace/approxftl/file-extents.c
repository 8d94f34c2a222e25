// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "file-extents.h"

/* Flags of extents whose bytes are not stored unchanged at the offset that FIEMAP reports. */
static const struct {
	u32 flags;
	const char *reason;
} unplaced[] = {
	{ FIEMAP_EXTENT_DELALLOC, "not allocated yet; sync the file system first" },
	{ FIEMAP_EXTENT_UNKNOWN, "at a place that the file system does not tell" },
	{ FIEMAP_EXTENT_DATA_INLINE, "inline in the file system's metadata" },
	{ FIEMAP_EXTENT_DATA_TAIL, "in a block together with data of other files" },
	{ FIEMAP_EXTENT_DATA_ENCRYPTED, "encrypted by the file system" },
	{ FIEMAP_EXTENT_ENCODED, "compressed or encoded otherwise" },
	{ FIEMAP_EXTENT_NOT_ALIGNED, "not at the begin of a block" },
	{ FIEMAP_EXTENT_UNWRITTEN, "allocated and never written: reads do not reach the device" },
};

int file_extent_locate(const struct fiemap_extent *extent, u64 at, u64 end,
		       struct device_range *range, struct aftl_error *error)
{
	if (!extent || at < extent->fe_logical || at - extent->fe_logical >= extent->fe_length)
		return aftl_fail(error, -EINVAL, "byte %llu is in a hole",
				 (unsigned long long)at);
	for (unsigned int i = 0; i < ARRAY_SIZE(unplaced); i++)
		if (extent->fe_flags & unplaced[i].flags)
			return aftl_fail(error, -EINVAL, "byte %llu is %s",
					 (unsigned long long)at, unplaced[i].reason);
	at -= extent->fe_logical;
	range->offset = extent->fe_physical + at;
	range->length = min(end - extent->fe_logical, (u64)extent->fe_length) - at;
	return 0;
}

static int check_file_range_is_on_device(int fd, u64 offset, u64 length, struct device_range *range,
					 struct aftl_error *error)
{
	struct fsxattr attributes = { .fsx_xflags = 0 };
	struct stat found;

	if (fstat(fd, &found))
		return aftl_fail(error, -errno, "%s", strerror(errno));
	if (!S_ISREG(found.st_mode))
		return aftl_fail(error, -EINVAL, "not a regular file");
	if (offset >= (u64)found.st_size || length > (u64)found.st_size - offset)
		return aftl_fail(error, -EINVAL,
				 "the range goes beyond the end of the file at byte %llu",
				 (unsigned long long)found.st_size);
	/* btrfs, overlayfs and network file systems report major number 0: no block device. */
	if (!major(found.st_dev))
		return aftl_fail(error, -EINVAL,
				 "its file system is not directly on a block device, as ext4, XFS and F2FS are");
	if (!ioctl(fd, FS_IOC_FSGETXATTR, &attributes) &&
	    attributes.fsx_xflags & FS_XFLAG_REALTIME)
		return aftl_fail(error, -EINVAL, "the data are on the real-time device of XFS");
	range->major = major(found.st_dev);
	range->minor = minor(found.st_dev);
	return 0;
}

/* Get the extent of the file at offset @at, or the next extent; return 1 if there is one. */
static int get_file_extent(int fd, u64 at, u64 end, struct fiemap_extent *extent,
			   struct aftl_error *error)
{
	union {
		struct fiemap map;
		char room[sizeof(struct fiemap) + sizeof(*extent)];
	} request = { .map = {
		.fm_start = at,
		.fm_length = end - at,
		.fm_flags = FIEMAP_FLAG_SYNC,
		.fm_extent_count = 1,
	} };

	if (ioctl(fd, FS_IOC_FIEMAP, &request.map))
		return aftl_fail(error, -errno, "FIEMAP: %s", strerror(errno));
	memcpy(extent, request.room + sizeof(request.map), sizeof(*extent));
	return request.map.fm_mapped_extents > 0;
}

static int locate_file_ranges(int fd, u64 offset, u64 length, struct device_range *range,
			      int (*take)(void *context, const struct device_range *range,
					  struct aftl_error *error),
			      void *context, struct aftl_error *error)
{
	u64 end = offset + length;
	int ret = 0;

	for (u64 at = offset; !ret && at < end; at += range->length) {
		struct fiemap_extent extent = { 0 };

		ret = get_file_extent(fd, at, end, &extent, error);
		if (ret >= 0)
			ret = file_extent_locate(ret ? &extent : NULL, at, end, range, error);
		if (!ret)
			ret = take(context, range, error);
	}
	return ret;
}

int file_extents_locate_bytes(const char *path, u64 offset, u64 length,
			      int (*take)(void *context, const struct device_range *range,
					  struct aftl_error *error),
			      void *context, struct aftl_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct device_range range = { 0 };
	struct aftl_error cause;
	int ret;

	if (fd < 0)
		return aftl_fail(error, -EINVAL, "%.120s: %s", path, strerror(errno));
	ret = check_file_range_is_on_device(fd, offset, length, &range, &cause);
	if (!ret && fsync(fd))
		ret = aftl_fail(&cause, -errno, "fsync: %s", strerror(errno));
	if (!ret)
		ret = locate_file_ranges(fd, offset, length, &range, take, context, &cause);
	if (!ret)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return ret ? aftl_fail(error, ret, "%.80s: %.170s", path, cause.text) : 0;
}
