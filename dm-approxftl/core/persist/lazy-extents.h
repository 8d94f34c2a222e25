/* SPDX-License-Identifier: GPL-2.0-only */
/* The extent table of a volume. */
#ifndef AFTL_LAZY_EXTENTS_H
#define AFTL_LAZY_EXTENTS_H

#include "core/persist/volume-private.h"

/* Allocate memory for the extent table, if there is one; no extent is initialised in it. */
bool __must_check aftl_extents_alloc(struct aftl_volume *volume);
void aftl_extents_destroy(struct aftl_volume *volume);
int __must_check aftl_extents_load(struct aftl_volume *volume, struct aftl_error *error);

/* Write the changed frames of the extent table, or all of its frames; the caller flushes. */
int __must_check aftl_extents_write(struct aftl_volume *volume, bool all);

/* Record that the commit, which has ended, has made the extent table durable. */
void aftl_extents_mark_committed(struct aftl_volume *volume);

/*
 * Initialise the extent that contains @frame, unless it is initialised already. If the last commit
 * did not cover its initialisation, fill @bytes with an empty frame.
 *
 * Return: 1; 0 if the frame must be read; or an error of the backing device.
 */
int __must_check aftl_extents_init_extent_of_frame(struct aftl_volume *volume, u64 frame,
						   u8 *bytes);

#endif
