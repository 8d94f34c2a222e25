/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Supports files on XFS that have, or had, clones. XFS does not report their extents to the kernel
 * module, but does to programs: the library gets the extents and queries the device.
 */
#ifndef AFTL_LIB_SHARED_H
#define AFTL_LIB_SHARED_H

#include <stdint.h>

/**
 * aftl_lib_open_device_of_shared_file() - open the device to query instead of the file
 * @control: descriptor of the control device
 * @fd: the file
 * @device: takes a descriptor of the device, or -1 if the file itself can be queried
 *
 * Return: 0, or a negative error number with a message for approxftl_reason().
 */
int aftl_lib_open_device_of_shared_file(int control, int fd, int *device);

/**
 * struct aftl_lib_piece - a contiguous part of a file on the device
 * @first: first byte of the piece in the file
 * @stop: first byte of the file after the piece
 * @shift: offset in the file minus offset on the device, modulo 2^64
 */
struct aftl_lib_piece {
	uint64_t first;
	uint64_t stop;
	uint64_t shift;
};

/* Get the first piece of the file between @at and @end. Return: 1, 0 if none, or an error. */
int aftl_lib_get_file_extent_on_device(int fd, uint64_t at, uint64_t end,
				       struct aftl_lib_piece *piece);

#endif
