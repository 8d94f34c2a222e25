/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a trace tell of all that was written? The kernel counts for itself.
 */
#ifndef AFTL_CAPTURE_ACCOUNT_H
#define AFTL_CAPTURE_ACCOUNT_H

#include "capture-device.h"

/* Sectors that the kernel says were written to a device since it is there; 0 if it does not say. */
u64 capture_written_sectors(const struct capture_device *device);

/**
 * capture_traced_sectors() - sectors of all writes that a capture tells of
 * @directory: of the capture, whose blktrace has ended
 *
 * Reads all of the trace.
 *
 * Return: 0, or a negative error number and a sentence in @error.
 */
int __must_check capture_traced_sectors(const char *directory, u64 *sectors,
					struct aftl_error *error);

#endif
