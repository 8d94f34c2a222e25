/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface to device-mapper for the verbs; the only user of libdevmapper.
 *
 * Functions return 0 or a negative error number with a message in @error: -ENXIO if the device
 * does not exist, -EACCES without permission, -EBUSY, -EEXIST.
 */
#ifndef AFTL_DM_DEVICE_H
#define AFTL_DM_DEVICE_H

#include "core/base/params.h"

/* Buffer size for the name of a device. */
#define DM_DEVICE_NAME 128

/**
 * struct dm_device - a device of the target
 * @name: below /dev/mapper
 * @major: major number
 * @minor: minor number @sectors: size of the device
 * @open_count: number of openers
 * @suspended: I/O is suspended
 * @deferred: the device is removed when its last opener closes it
 */
struct dm_device {
	char name[DM_DEVICE_NAME];
	u32 major;
	u32 minor;
	u64 sectors;
	u32 open_count;
	bool suspended;
	bool deferred;
};

/* Lines that device-mapper reports for a target: its table line, its status line. */
enum dm_device_text {
	DM_DEVICE_TEXT_TABLE,
	DM_DEVICE_TEXT_STATUS,
};

/* Check that device-mapper exists and may be used, without an ioctl. */
int __must_check check_device_mapper_ready(struct aftl_error *error);

/* Check that @name is a valid device name, without an ioctl. */
int __must_check dm_device_check_name(const char *name, struct aftl_error *error);

/* Check that no device with the name exists. */
int __must_check dm_device_check_name_is_unused(const char *name, struct aftl_error *error);

/**
 * dm_device_create() - create a device with one target; its node exists afterwards
 * @name: below /dev/mapper @sectors: size of the device in the table
 * @arguments: arguments of the target
 */
int __must_check dm_device_create(const char *name, u64 sectors, const char *arguments,
				  struct aftl_error *error);

/* How dm_device_remove() treats a device that is in use. */
enum dm_device_remove {
	DM_DEVICE_REMOVE_NOW,
	DM_DEVICE_REMOVE_DEFERRED,
};

int __must_check dm_device_remove(const char *name, enum dm_device_remove how,
				  struct aftl_error *error);

/* Replace the table by the error target: all I/O fails from now on, and the data are lost. */
int __must_check dm_device_switch_to_error_target(const struct dm_device *device,
						  struct aftl_error *error);

/* Find a device of the target by name, with or without /dev/mapper/. */
int __must_check dm_device_find_by_name(struct dm_device *device, const char *name,
					struct aftl_error *error);

/**
 * dm_device_list() - list all devices of the target, ordered by name
 * @devices: to be freed with free()
 * @count: number of devices
 */
int __must_check dm_device_list(struct dm_device **devices, unsigned int *count,
				struct aftl_error *error);

/**
 * dm_device_get_table_or_status() - get a line, without start, length and target name
 * @text: to be freed with free()
 */
int __must_check dm_device_get_table_or_status(const char *name, enum dm_device_text what,
					       char **text, struct aftl_error *error);

/**
 * dm_device_map_sector_to_lower_device() - find a sector of a linear device on the device below
 * @sector: sector of the device; updated to the corresponding sector of the device below
 * @sectors: number of sectors, from this one on, that are contiguous on the device below
 *
 * Return: 1, 0 if the sector is not of target "linear", or a negative error number.
 */
int __must_check dm_device_map_sector_to_lower_device(const char *name, u64 *sector, u64 *sectors,
						      u32 *major, u32 *minor,
						      struct aftl_error *error);

/**
 * dm_device_message() - send a message to the target
 * @answer: to be freed with free(); empty if there was none
 */
int __must_check dm_device_message(const struct dm_device *device, const char *message,
				   char **answer, struct aftl_error *error);

/* Get the version of libdevmapper. */
void dm_device_get_library_version(char *text, size_t size);

#endif
