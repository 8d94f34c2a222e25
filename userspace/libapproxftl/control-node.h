/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interface to the control device. Only control-node.c translates the kernel's constants and
 * structures to the library's.
 *
 * Functions return a negative error number on failure. @reason takes enum approxftl_reason.
 */
#ifndef AFTL_LIB_CONTROL_NODE_H
#define AFTL_LIB_CONTROL_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "approxftl.h"

/* The only functions that reach the kernel, which a test can replace: open and ioctl. */
int aftl_lib_device_open(void);
int aftl_lib_device_ioctl(int control, unsigned long number, void *argument);

int aftl_lib_control_get_caps(int control, struct approxftl_info *info);

/* Tag a range of a file, or of a device if @device. A whole file also gets a write hint. */
int aftl_lib_control_tag(int control, bool device, int fd, off_t offset, off_t length,
			 unsigned int kind, unsigned int *reason);

/* List tagged ranges from @cursor on, and advance @cursor. Return: number of ranges. */
int aftl_lib_control_list_tagged_ranges(int control, bool device, int fd, uint64_t *cursor,
					struct approxftl_extent *out, unsigned int room);

/* Return true if a tag can declare class @kind. */
static inline bool aftl_lib_can_tag_declare_class(unsigned int kind)
{
	return kind <= APPROXFTL_LEVEL_3 && kind != APPROXFTL_NONE;
}

/* Give this thread's direct writes class @kind; end with APPROXFTL_NONE. @label may be NULL. */
int aftl_lib_control_set_thread_class(int control, unsigned int kind, const char *label);

int aftl_lib_control_add_label(int control, const char *label);

ssize_t aftl_lib_control_write(int control, int fd, const void *data, size_t bytes, off_t offset,
			       unsigned int kind, unsigned int *reason);

/* List stored units from @cursor on, and advance @cursor. Return: number of units. */
int aftl_lib_control_list_stored_units(int control, int fd, uint64_t *cursor, off_t length,
				       struct approxftl_unit *out, unsigned int room,
				       unsigned int *unit_bytes, unsigned int *reason);

int aftl_lib_control_watch_file_system(int control, int fd, bool on, unsigned int *reason);

#endif
