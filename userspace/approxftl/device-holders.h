/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who uses a block device.
 */
#ifndef AFTL_DEVICE_HOLDERS_H
#define AFTL_DEVICE_HOLDERS_H

#include "dm-device.h"

/**
 * device_holder() - one phrase about a user of @device
 * @phrase: such as "mounted on /mnt"
 *
 * Return: false if none can be found.
 */
bool device_holder(const struct dm_device *device, char *phrase, size_t size);

#endif
