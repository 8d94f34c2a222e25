/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the emulated SSD below a file: through partitions, linear devices and loop devices. */
#ifndef AFTL_BLOCK_STACK_H
#define AFTL_BLOCK_STACK_H

#include "dm-device.h"
#include "file-extents.h"

/**
 * block_stack_locate_file() - find the bytes of a file on an emulated SSD
 * @path: path of the file
 * @offset: first byte
 * @length: number of bytes
 * @take: called for each range, in the order of the file, with the device that has it
 * @context: for @take
 *
 * Return: 0, or an error code with a message.
 */
int __must_check block_stack_locate_file(const char *path, u64 offset, u64 length,
					 int (*take)(void *context, const struct dm_device *device,
						     const struct device_range *range,
						     struct aftl_error *error),
					 void *context, struct aftl_error *error);

#endif
