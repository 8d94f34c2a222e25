/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device of a capture, and what is known of it.
 */
#ifndef AFTL_CAPTURE_DEVICE_H
#define AFTL_CAPTURE_DEVICE_H

#include <limits.h>

#include "dm-device.h"
#include "json-writer.h"

#define CAPTURE_NAME_SIZE 128

/**
 * struct capture_device - a block device
 * @major: of its number
 * @minor: of its number
 * @name: in sysfs
 * @path: in /dev
 * @mount: where it is mounted, or empty
 * @size_bytes: of it
 * @emulated: it is an emulated SSD; then @dm is, too
 * @dm: what device-mapper calls it
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
 * struct capture_state - what an emulated SSD said of itself; empty texts for others
 * @table: its table line
 * @status: its status line
 * @stats: its counters, a line each
 */
struct capture_state {
	char *table;
	char *status;
	char *stats;
};

/**
 * capture_device_find() - the device that is @path, or that @path is on
 *
 * Return: 0, -ENOENT, or another negative error number; a sentence in @error.
 */
int __must_check capture_device_find(struct capture_device *device, const char *path,
				     struct aftl_error *error);

int __must_check capture_state_read(struct capture_state *state,
				    const struct capture_device *device, struct aftl_error *error);
void capture_state_free(struct capture_state *state);

/* What is dirty goes to the device now. */
void capture_device_sync(const struct capture_device *device);

/* Members "device", "target", "before" and "after" of the object that is open. */
void capture_device_json(const struct capture_device *device, const struct capture_state *before,
			 const struct capture_state *after, struct json_writer *json);

#endif
