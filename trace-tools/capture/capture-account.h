/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks that a trace is complete: compares its writes with the kernel's own counters.
 */
#ifndef AFTL_CAPTURE_ACCOUNT_H
#define AFTL_CAPTURE_ACCOUNT_H

#include "capture-device.h"

/* Return the kernel's count of all sectors written to the device since boot; 0 if unknown. */
u64 capture_get_kernel_written_sectors(const struct capture_device *device);

/**
 * capture_count_traced_sectors() - count the sectors of all writes in a capture
 * @directory: directory of the capture, whose blktrace has ended
 *
 * Reads the whole trace.
 *
 * Return: 0, or a negative error number and a message in @error.
 */
int __must_check capture_count_traced_sectors(const char *directory, u64 *sectors,
					      struct aftl_error *error);

#endif
