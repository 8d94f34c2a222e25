/* SPDX-License-Identifier: GPL-2.0-only */
/* Fill level of the write buffer. */
#ifndef AFTL_WRITE_BUFFER_H
#define AFTL_WRITE_BUFFER_H

#include "core/ftl/controller.h"

static inline bool aftl_has_write_buffer(const struct aftl *ftl)
{
	return ftl->config.buffer != 0;
}

/* Number of writes in the controller, without those that can never be programmed. */
static inline u32 aftl_count_writes_in_flight(const struct aftl *ftl)
{
	return ftl->write_commands - ftl->free_write_count - ftl->unflushable;
}

static inline u32 aftl_count_used_write_commands(const struct aftl *ftl)
{
	return ftl->write_commands - ftl->free_write_count;
}

/* Return true if a write request waits for a free write command or for room on flash. */
static inline bool aftl_write_is_waiting(const struct aftl *ftl)
{
	return ftl->wait_head[1] && likely(!ftl->rest.awaited);
}

/* Fill level of the write buffer in 1/10000. */
static inline u32 aftl_buffer_fill_level(const struct aftl *ftl)
{
	u64 used = aftl_count_used_write_commands(ftl);

	return aftl_has_write_buffer(ftl) ? (u32)(used * 10000 / ftl->write_commands) : 0;
}

#endif
