/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blktrace at work beside a program.
 */
#ifndef AFTL_CAPTURE_BLKTRACE_H
#define AFTL_CAPTURE_BLKTRACE_H

#include <sys/types.h>

#include "capture-device.h"

/* What the files of a trace are called, without processor. */
#define BLKTRACE_BASE_NAME "trace"

/**
 * struct blktrace_run - a blktrace
 * @directory: where its files go
 * @pid: of it
 * @device: an open descriptor of what it traces
 * @dropped: after blktrace_stop(): events that it could not keep
 * @events: after blktrace_stop(): events that it kept
 */
struct blktrace_run {
	const char *directory;
	pid_t pid;
	int device;
	u64 dropped;
	u64 events;
};

/**
 * blktrace_possible() - find out whether a device can be traced here, before anything is done
 *
 * Return: 0, or a negative error number with a sentence that has the remedy.
 */
int __must_check blktrace_possible(struct aftl_error *error);

/**
 * blktrace_start() - returns when events are being recorded
 * @buffer_kib: size of a buffer
 * @buffers: of each processor
 */
int __must_check blktrace_start(struct blktrace_run *run, const struct capture_device *device,
				const char *directory, u64 buffer_kib, u64 buffers,
				struct aftl_error *error);

/* Returns when all events are in the files. */
int __must_check blktrace_stop(struct blktrace_run *run, struct aftl_error *error);

#endif
