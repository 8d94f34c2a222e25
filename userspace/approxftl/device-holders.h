/* SPDX-License-Identifier: GPL-2.0-only */
/* Find the user of a block device. */
#ifndef AFTL_DEVICE_HOLDERS_H
#define AFTL_DEVICE_HOLDERS_H

#include "dm-device.h"

/**
 * is_dm_device_in_use() - describe a user of @device in one phrase
 * @phrase: such as "mounted on /mnt"
 *
 * Return: false if no user can be found.
 */
bool is_dm_device_in_use(const struct dm_device *device, char *phrase, size_t size);

#endif
