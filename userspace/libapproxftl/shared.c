// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the device addresses of files with shared extents.
 */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "control-node.h"
#include "place.h"
#include "refusal.h"
#include "shared.h"

/* Flags of extents without data on the device. */
#define NOT_THERE (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_UNWRITTEN)

/* Get the file's extent at @at or the next extent. Return: 1, 0 if there is none, or an error. */
static int get_fiemap_extent(int fd, uint64_t at, struct fiemap_extent *extent)
{
	union {
		struct fiemap map;
		char room[sizeof(struct fiemap) + sizeof(*extent)];
	} ask = { .map = { .fm_start = at, .fm_extent_count = 1 } };

	ask.map.fm_length = FIEMAP_MAX_OFFSET - at;
	if (ioctl(fd, FS_IOC_FIEMAP, &ask))
		return -errno;
	memcpy(extent, ask.room + sizeof(ask.map), sizeof(*extent));
	return ask.map.fm_mapped_extents ? 1 : 0;
}

int aftl_lib_get_file_extent_on_device(int fd, uint64_t at, uint64_t end,
				       struct aftl_lib_piece *piece)
{
	struct fiemap_extent extent = { .fe_flags = 0 };
	int ret = get_fiemap_extent(fd, at, &extent);

	while (ret > 0 && extent.fe_flags & NOT_THERE)
		ret = get_fiemap_extent(fd, extent.fe_logical + extent.fe_length, &extent);
	if (ret <= 0)
		return ret;
	piece->first = at > extent.fe_logical ? at : extent.fe_logical;
	piece->stop = extent.fe_logical + extent.fe_length;
	if (piece->stop > end)
		piece->stop = end;
	piece->shift = extent.fe_logical - extent.fe_physical;
	return piece->first < piece->stop;
}

/* Return true if the module finds no stored unit of a file on XFS that has shared extents. */
static bool is_xfs_data_invisible_to_module(int control, int fd)
{
	unsigned int unit_bytes, reason;
	struct aftl_lib_piece piece;
	struct approxftl_unit unit;
	struct statfs where;

	if (fstatfs(fd, &where) || where.f_type != XFS_SUPER_MAGIC ||
	    aftl_lib_get_file_extent_on_device(fd, 0, UINT64_MAX, &piece) <= 0)
		return false;
	return !aftl_lib_control_list_stored_units(control, fd, &piece.first, 1, &unit, 1,
						   &unit_bytes, &reason);
}

/* Return true if the extents of a file are on another device (XFS realtime) or unknown. */
static bool are_extents_on_realtime_device(int fd)
{
	struct fsxattr attributes;

	return ioctl(fd, FS_IOC_FSGETXATTR, &attributes) ||
	       attributes.fsx_xflags & FS_XFLAG_REALTIME;
}

int aftl_lib_open_device_of_shared_file(int control, int fd, int *device)
{
	struct stat status;

	*device = -1;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    !is_xfs_data_invisible_to_module(control, fd))
		return 0;
	if (are_extents_on_realtime_device(fd))
		return aftl_lib_set_operation_refusal(-EOPNOTSUPP, APPROXFTL_REASON_DEVICE,
						      "what is stored");
	*device = aftl_lib_open_device_by_dev_t(status.st_dev);
	if (*device < 0)
		return aftl_lib_set_refusal(*device, "the file has or had clones; %s",
					    "who may read the device can ask what is stored of it");
	return 0;
}
