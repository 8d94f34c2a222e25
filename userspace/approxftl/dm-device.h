/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device-mapper, as far as the verbs need it; the only user of libdevmapper.
 *
 * Functions return 0 or a negative error number with a sentence in @error: -ENXIO for a
 * device that is not there, -EACCES for a user who may not, -EBUSY, -EEXIST.
 */
#ifndef AFTL_DM_DEVICE_H
#define AFTL_DM_DEVICE_H

#include "core/base/params.h"

/* Longest name of a device, and its end. */
#define DM_DEVICE_NAME 128

/**
 * struct dm_device - a device of the target
 * @name: below /dev/mapper
 * @major: of its number
 * @minor: of its number
 * @sectors: its size
 * @open_count: how many hold it open
 * @suspended: nothing is done for its users
 * @deferred: goes when the last of them lets go
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

/* What device-mapper says of a target. */
enum dm_device_text {
	DM_DEVICE_TEXT_TABLE,
	DM_DEVICE_TEXT_STATUS,
};

/* Whether device-mapper is there and may be used; no question is asked of the kernel. */
int __must_check dm_device_ready(struct aftl_error *error);

/* Whether @name may be the name of a device; the kernel is not asked. */
int __must_check dm_device_check_name(const char *name, struct aftl_error *error);

/* Whether the kernel has no device of that name. */
int __must_check dm_device_check_free(const char *name, struct aftl_error *error);

/**
 * dm_device_create() - make a device with one target; its node exists afterwards
 * @name: below /dev/mapper
 * @sectors: its size
 * @arguments: of the target
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

/* Whoever uses the device gets errors from now on; its data are gone. */
int __must_check dm_device_fail(const struct dm_device *device, struct aftl_error *error);

/* A device of the target by its name, with or without /dev/mapper/. */
int __must_check dm_device_find(struct dm_device *device, const char *name,
				struct aftl_error *error);

/**
 * dm_device_list() - all devices of the target, in the order of their names
 * @devices: to be freed with free()
 * @count: how many
 */
int __must_check dm_device_list(struct dm_device **devices, unsigned int *count,
				struct aftl_error *error);

/**
 * dm_device_text() - table or status line, without sectors and name of the target
 * @text: to be freed with free()
 */
int __must_check dm_device_text(const char *name, enum dm_device_text what, char **text,
				struct aftl_error *error);

/**
 * dm_device_message() - tell the target something
 * @answer: to be freed with free(); empty if it had none
 */
int __must_check dm_device_message(const struct dm_device *device, const char *message,
				   char **answer, struct aftl_error *error);

/* Version of libdevmapper. */
void dm_device_library_version(char *text, size_t size);

#endif
