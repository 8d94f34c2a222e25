/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the flash arrays do and when, as a file of trace events: Perfetto and Chrome open it.
 */
#ifndef AFTL_TIMELINE_H
#define AFTL_TIMELINE_H

#include "core/ftl/ftl.h"

/* Operations that a file holds; viewers become slow beyond. */
#define TIMELINE_EVENTS 1000000

struct timeline;

/**
 * timeline_create() - begin a file
 * @out: on success
 * @path: of the file
 * @argc: of the whole command
 * @argv: of the whole command
 * @error: the sentence, on failure
 */
int __must_check timeline_create(struct timeline **out, const char *path, int argc, char **argv,
				 struct aftl_error *error);

/**
 * timeline_device() - what follows happens on a device of its own
 * @timeline: may be NULL, as everywhere
 * @ftl: device; its name is that of its policy
 */
void timeline_device(struct timeline *timeline, const struct aftl *ftl);

void timeline_put(struct timeline *timeline, const struct aftl_array_event *event);

/* Write what is still under way on the device. */
void timeline_device_end(struct timeline *timeline);

/* Operations that came after TIMELINE_EVENTS others and are not in the file. */
u64 timeline_omitted(const struct timeline *timeline);

/* Complete the file and release @timeline. */
int __must_check timeline_finish(struct timeline *timeline, bool was_interrupted,
				 struct aftl_error *error);

#endif
