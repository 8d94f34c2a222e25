/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions for tests of one volume; most of them bail out on failure. */
#ifndef SMALL_VOLUME_H
#define SMALL_VOLUME_H

#include "durable-device.h"

#define SMALL_VOLUMES 4

/* Parameters of devices that fill up quickly. */
extern const char *const small_volumes[SMALL_VOLUMES];

/* The device under test, which is closed at the end of a test point or by volume_prepare_disk(). */
extern struct durable_device durable;

/* Bail out with @what unless @ret is 0. */
void volume_exit_on_error(int ret, const char *what);

/* Prepare a disk for a device with @params; @extents: the volume has an extent table. */
void volume_prepare_disk(const char *policy, const char *params, bool extents);

/* Call volume_prepare_disk(), and format the disk. */
void volume_format(const char *policy, const char *params, bool extents);

/* Call volume_format() without an extent table, and start the device. */
void volume_open(const char *policy, const char *params);

/* Start, load or close the device under test by the durable_ functions of the same names. */
void volume_start_device(const char *policy);
void volume_load(const char *policy, bool scan);
void volume_close_cleanly(void);

/* Send @steps requests of a random stream, then execute all operations on the volume. */
void volume_run_requests(u64 seed, u32 steps);

/* Fail the power; all writes that the disk has not flushed are lost. */
void volume_crash(void);

/* Flush, fail the power and start again: all completed writes must be found. */
void volume_crash_and_start(const char *policy);

/* Check that after a clean close the volume starts with policy @own, and is refused with @other. */
void check_volume_keeps_policy(const char *own, const char *other);

#endif
