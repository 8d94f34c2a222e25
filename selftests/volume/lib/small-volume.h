/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small volumes that fill up quickly, for tests with failing backing devices.
 */
#ifndef SMALL_VOLUME_H
#define SMALL_VOLUME_H

#include "durable-device.h"

#define SMALL_VOLUMES 4

extern const char *const small_volumes[SMALL_VOLUMES];

/* Bail out with @what unless @ret is 0. */
void durable_must(struct durable_device *durable, int ret, const char *what);

/* Format a volume with the parameters @params and start it. */
void small_volume_open(struct durable_device *durable, const char *policy, const char *params);

/* Send @steps requests of a stream, then work off all operations. */
void small_volume_work(struct durable_device *durable, u64 seed, u32 steps);

/* Flush, fail the power and start again: all complete writes are durable. */
void small_volume_crash(struct durable_device *durable, const char *policy);

/* After a clean close the volume starts with policy @own only, and is refused with @other. */
void small_volume_keeps_its_policy(struct durable_device *durable, const char *own,
				   const char *other);

#endif
