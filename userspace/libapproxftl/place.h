/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds out whether a path is stored on a dm-approxftl device.
 */
#ifndef AFTL_LIB_PLACE_H
#define AFTL_LIB_PLACE_H

#include <sys/types.h>

/**
 * aftl_lib_is_path_on_target() - check if @path is a dm-approxftl device or is stored on one
 *
 * Return: 1 if so or if it cannot be determined, 0 if not, or a negative error number.
 */
int aftl_lib_is_path_on_target(int control, const char *path);

/* Open the block device @number read-only. Return: a descriptor or a negative error number. */
int aftl_lib_open_device_by_dev_t(dev_t number);

#endif
