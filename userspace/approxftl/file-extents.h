/* SPDX-License-Identifier: GPL-2.0-only */
/* Places of a file's data on the block device of its file system, from FIEMAP. */
#ifndef AFTL_FILE_EXTENTS_H
#define AFTL_FILE_EXTENTS_H

#include <linux/fiemap.h>

#include "core/base/params.h"

/**
 * struct device_range - bytes of a block device
 * @major: major number of the device
 * @minor: minor number
 * @offset: first byte
 * @length: in bytes
 */
struct device_range {
	u32 major;
	u32 minor;
	u64 offset;
	u64 length;
};

/**
 * file_extent_locate() - find where byte @at of a file is on its device
 * @extent: extent that the file system reports for @at; NULL: none
 * @at: byte of the file
 * @end: byte of the file after the last one of interest
 * @range: takes offset and length, of at most @end - @at bytes
 *
 * Return: 0, or -EINVAL with a message if the data have no place of their own on the device.
 */
int __must_check file_extent_locate(const struct fiemap_extent *extent, u64 at, u64 end,
				    struct device_range *range, struct aftl_error *error);

/**
 * file_extents_locate_bytes() - locate bytes of a regular file, after they were written back
 * @path: path of the file
 * @offset: first byte
 * @length: number of bytes, all of them within the file
 * @take: called for each range, in the order of the file
 * @context: for @take
 *
 * Afterwards the page cache has no copy of these bytes, so that reads meet the device.
 *
 * Return: 0, or an error code with a message.
 */
int __must_check file_extents_locate_bytes(const char *path, u64 offset, u64 length,
					   int (*take)(void *context,
						       const struct device_range *range,
						       struct aftl_error *error),
					   void *context, struct aftl_error *error);

#endif
