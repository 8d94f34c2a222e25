/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs blktrace while a program runs.
 */
#ifndef AFTL_CAPTURE_BLKTRACE_H
#define AFTL_CAPTURE_BLKTRACE_H

#include <sys/types.h>

#include "capture-device.h"

/* Base name of the trace files; blktrace appends the CPU. */
#define BLKTRACE_BASE_NAME "trace"

/**
 * struct blktrace_run - a running blktrace
 * @directory: directory for its files
 * @pid: process id
 * @device: open descriptor of the traced device
 * @dropped: number of lost events; valid after blktrace_stop()
 * @events: number of recorded events; valid after blktrace_stop()
 */
struct blktrace_run {
	const char *directory;
	pid_t pid;
	int device;
	u64 dropped;
	u64 events;
};

/**
 * check_blktrace_possible() - check in advance whether this machine can trace
 *
 * Return: 0, or a negative error number with a message that names the remedy.
 */
int __must_check check_blktrace_possible(struct aftl_error *error);

/**
 * blktrace_start() - start blktrace; returns when events are being recorded
 * @buffer_kib: size of a buffer in KiB
 * @buffers: number of buffers per CPU
 */
int __must_check blktrace_start(struct blktrace_run *run, const struct capture_device *device,
				const char *directory, u64 buffer_kib, u64 buffers,
				struct aftl_error *error);

/* Stop blktrace, and wait until all events are in its files. */
int __must_check blktrace_stop(struct blktrace_run *run, struct aftl_error *error);

#endif
