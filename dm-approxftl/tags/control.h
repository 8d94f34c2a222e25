/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/approxftl: what its files share. uapi/linux/approxftl.h says what the ioctls do.
 */
#ifndef AFTL_CONTROL_H
#define AFTL_CONTROL_H

#include "tags/tags.h"

/**
 * struct aftl_control - an open /dev/approxftl
 * @scopes: what it has said of threads and processes
 */
struct aftl_control {
	struct aftl_scopes scopes;
};

/* Items of an answer that are gathered before they are copied to the caller. */
#define AFTL_BATCH 64

/* Each takes its structure, checked and complete, and may change what is out of it. */
typedef int (*aftl_control_fn)(struct aftl_control *control, void *argument);

/* control-argument.c */

/**
 * aftl_control_span() - the bytes that a range is about
 * @range: as it came
 * @first: takes the first byte
 * @last: takes the last byte
 *
 * Return: 0, -EINVAL or -EOVERFLOW.
 */
int __must_check aftl_control_span(const struct approxftl_range *range, u64 *first, u64 *last);

/* The same about a descriptor of the caller's. */
typedef int (*aftl_control_file_fn)(struct aftl_control *control, struct file *file,
				    void *argument);

/**
 * aftl_control_on_file() - do something with the file that a structure is about
 * @control: handed on
 * @fd: the caller's descriptor
 * @fn: does it
 * @argument: handed on
 *
 * Return: -EBADF without such a descriptor, else what @fn returns.
 */
int aftl_control_on_file(struct aftl_control *control, int fd, aftl_control_file_fn fn,
			 void *argument);

/* Can there be a range at @query->cursor? 0 or -EINVAL. */
int __must_check aftl_control_check_cursor(const struct approxftl_query *query);

/* control-file.c */

int aftl_control_tag(struct aftl_control *control, void *argument);
int aftl_control_untag(struct aftl_control *control, void *argument);
int aftl_control_query(struct aftl_control *control, void *argument);
int aftl_control_pwritev(struct aftl_control *control, void *argument);
int aftl_control_watch(struct aftl_control *control, void *argument);

/* control-device.c */

int aftl_control_device_tag(struct aftl_control *control, void *argument);
int aftl_control_device_query(struct aftl_control *control, void *argument);
int aftl_control_stored(struct aftl_control *control, void *argument);

#endif
