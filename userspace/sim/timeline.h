/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the flash operations and their times as a file of trace events for Perfetto or Chrome. */
#ifndef AFTL_TIMELINE_H
#define AFTL_TIMELINE_H

#include "core/ftl/ftl.h"

/* Maximum number of operations in a file; viewers become slow with larger files. */
#define TIMELINE_EVENTS 1000000

struct timeline;

/**
 * timeline_create() - begin a file
 * @out: receives the timeline on success
 * @path: path of the file
 * @argc: argument count of the whole command
 * @argv: arguments of the whole command
 * @error: receives the error message on failure
 */
int __must_check timeline_create(struct timeline **out, const char *path, int argc, char **argv,
				 struct aftl_error *error);

/**
 * timeline_begin_device() - begin a device, to which the following operations belong
 * @timeline: may be NULL
 * @ftl: device; its name is that of its policy
 */
void timeline_begin_device(struct timeline *timeline, const struct aftl *ftl);

void timeline_add_event(struct timeline *timeline, const struct aftl_array_event *event);

/* Write the operations that are still in progress on the device. */
void timeline_end_device(struct timeline *timeline);

/* Return the number of operations beyond TIMELINE_EVENTS, which are not in the file. */
u64 timeline_count_omitted_operations(const struct timeline *timeline);

/* Complete the file and release @timeline. */
int __must_check timeline_finish(struct timeline *timeline, bool was_interrupted,
				 struct aftl_error *error);

#endif
