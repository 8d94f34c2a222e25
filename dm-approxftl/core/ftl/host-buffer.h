/* SPDX-License-Identifier: GPL-2.0-only */
/* The write buffer as hosts see it that keep its data across a power failure. */
#ifndef AFTL_HOST_BUFFER_H
#define AFTL_HOST_BUFFER_H

#include "core/base/types.h"

struct aftl;

/* Number of buffer tags: each @tag that accept() gets is smaller. */
u32 aftl_count_buffer_tags(const struct aftl *ftl);

/* Describe buffered write @tag in @what; false if it was programmed or its lpn overwritten. */
bool aftl_get_buffered_write(const struct aftl *ftl, u32 tag, struct aftl_buffered_lpn *what);

/**
 * aftl_restore_buffered_write() - put a persisted write back into the write buffer after a crash
 * @ftl: device that was just loaded
 * @what: unmapped logical page, in ascending order of lpns; in a zone, below the write pointer
 *
 * Return: its tag, or U32_MAX if the buffer is full.
 */
u32 __must_check aftl_restore_buffered_write(struct aftl *ftl,
					     const struct aftl_buffered_lpn *what);

/**
 * aftl_buffer_is_lost() - return true if buffered writes could not be programmed
 * @ftl: device
 *
 * Every later flush fails, because it would have to cover them.
 */
bool aftl_buffer_is_lost(const struct aftl *ftl);

/* Report that buffered writes were lost by a restart: the next flush fails. */
void aftl_mark_buffer_lost(struct aftl *ftl);

#endif
