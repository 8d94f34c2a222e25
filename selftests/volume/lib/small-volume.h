/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Volumes that are full soon, for tests of media that go bad.
 */
#ifndef SMALL_VOLUME_H
#define SMALL_VOLUME_H

#include "durable-device.h"

#define SMALL_VOLUMES 4

extern const char *const small_volumes[SMALL_VOLUMES][20];

/* Without what @what names the test cannot go on. */
void durable_must(struct durable_device *durable, int ret, const char *what);

/* Format a medium for a device of @pairs and start it. */
void small_volume_open(struct durable_device *durable, const char *policy,
		       const char *const *pairs);

/* So many steps of a stream, until all that they ask for is done. */
void small_volume_work(struct durable_device *durable, u64 seed, u32 steps);

/* The power fails after a flush: all that is complete is durable. */
void small_volume_crash(struct durable_device *durable, const char *policy);

/* Closed in order it starts with the policy that it has, @own, and not with another. */
void small_volume_keeps_its_policy(struct durable_device *durable, const char *own,
				   const char *other);

#endif
