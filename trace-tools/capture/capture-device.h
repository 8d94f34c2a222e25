/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device that is traced, and its properties.
 */
#ifndef AFTL_CAPTURE_DEVICE_H
#define AFTL_CAPTURE_DEVICE_H

#include <limits.h>

#include "dm-device.h"
#include "json-writer.h"

#define CAPTURE_NAME_SIZE 128

/**
 * struct capture_device - a block device
 * @major: major device number
 * @minor: minor device number
 * @name: name in sysfs
 * @path: path in /dev
 * @mount: mount point, or empty
 * @size_bytes: size
 * @emulated: the device is an emulated SSD; @dm is valid
 * @dm: the device's identity in device-mapper
 */
struct capture_device {
	u32 major;
	u32 minor;
	char name[CAPTURE_NAME_SIZE];
	char path[CAPTURE_NAME_SIZE + 8];
	char mount[PATH_MAX];
	u64 size_bytes;
	bool emulated;
	struct dm_device dm;
};

/**
 * struct capture_state - texts from an emulated SSD; empty for other devices
 * @table: table line
 * @status: status line
 * @stats: counters, one per line
 */
struct capture_state {
	char *table;
	char *status;
	char *stats;
};

/**
 * capture_device_find() - find the device at @path, or the one that stores @path
 *
 * Return: 0, -ENOENT, or another negative error number; a message in @error.
 */
int __must_check capture_device_find(struct capture_device *device, const char *path,
				     struct aftl_error *error);

int __must_check read_target_state_of_captured_device(struct capture_state *state,
						      const struct capture_device *device,
						      struct aftl_error *error);
void free_target_state_of_captured_device(struct capture_state *state);

/* Write the file system's dirty data back to the traced device. */
void capture_device_sync(const struct capture_device *device);

/* Write the JSON members "device", "target", "before" and "after" of the traced device. */
void capture_device_write_json(const struct capture_device *device,
			       const struct capture_state *before,
			       const struct capture_state *after, struct json_writer *json);

#endif
