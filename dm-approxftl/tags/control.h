/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/approxftl: declarations that control*.c share. uapi/linux/approxftl.h documents the ioctls.
 */
#ifndef AFTL_CONTROL_H
#define AFTL_CONTROL_H

#include "tags/tags.h"

/**
 * struct aftl_control - open file of /dev/approxftl
 * @scopes: scopes of threads and processes set through it
 */
struct aftl_control {
	struct aftl_scopes scopes;
};

/* Number of ranges or units that a query gathers before it copies them to user space. */
#define AFTL_BATCH 64

/* Handler of an ioctl, which sets outputs in @argument, a kernel copy of the ioctl's structure. */
typedef int (*aftl_control_fn)(struct aftl_control *control, void *argument);

/* control-argument.c */

/**
 * aftl_control_get_range_limits() - convert offset and length to first and last byte
 * @range: range from user space
 * @first: set to the first byte
 * @last: set to the last byte
 *
 * Return: 0, -EINVAL if the length is 0, or -EOVERFLOW.
 */
int __must_check aftl_control_get_range_limits(const struct approxftl_range *range, u64 *first,
					       u64 *last);

/* Handler of an ioctl that is about an open file of the caller. */
typedef int (*aftl_control_file_fn)(struct aftl_control *control, struct file *file,
				    void *argument);

/**
 * aftl_control_call_fn_on_fd() - call @fn with the file of a descriptor
 * @control: first argument of @fn
 * @fd: descriptor of the caller
 * @fn: function
 * @argument: last argument of @fn
 *
 * Context: process.
 * Return: -EBADF if there is no such descriptor, else the result of @fn.
 */
int aftl_control_call_fn_on_fd(struct aftl_control *control, int fd, aftl_control_file_fn fn,
			       void *argument);

/**
 * aftl_control_check_query_cursor() - check the cursor of a query
 * @query: query from user space
 *
 * Return: 0 if the cursor is a byte offset or APPROXFTL_TO_END, else -EINVAL.
 */
int __must_check aftl_control_check_query_cursor(const struct approxftl_query *query);

/* control-file.c */

int aftl_control_tag_range(struct aftl_control *control, void *argument);
int aftl_control_untag_range(struct aftl_control *control, void *argument);
int aftl_control_query_file(struct aftl_control *control, void *argument);
int aftl_control_pwritev(struct aftl_control *control, void *argument);
int aftl_control_watch_file_system(struct aftl_control *control, void *argument);
int aftl_control_tag_fd(struct aftl_control *control, void *argument);

/* control-device.c */

int aftl_control_tag_device(struct aftl_control *control, void *argument);
int aftl_control_query_device(struct aftl_control *control, void *argument);
int aftl_control_query_stored_units(struct aftl_control *control, void *argument);

#endif
