/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a path is.
 */
#ifndef AFTL_LIB_PLACE_H
#define AFTL_LIB_PLACE_H

#include <sys/types.h>

/**
 * aftl_lib_place_is_ours() - is @path on a device of dm-approxftl, or the device
 *
 * Return: 1 if it is or that cannot be found out, 0 if it is not, or a negative error number.
 */
int aftl_lib_place_is_ours(int control, const char *path);

/* A descriptor of the device with this number, for reading; or a negative error number. */
int aftl_lib_place_open(dev_t number);

#endif
