/* SPDX-License-Identifier: GPL-2.0-only */
/* Fill level of the write buffer. */
#ifndef AFTL_WRITE_BUFFER_H
#define AFTL_WRITE_BUFFER_H

#include "core/ftl/controller.h"

static inline bool aftl_has_write_buffer(const struct aftl *ftl)
{
	return ftl->config.buffer != 0;
}

/* Number of writes in the controller that may still be programmed. */
static inline u32 aftl_count_writes_in_flight(const struct aftl *ftl)
{
	return ftl->write_commands - ftl->free_write_count - ftl->unflushable;
}

static inline u32 aftl_count_used_write_commands(const struct aftl *ftl)
{
	return ftl->write_commands - ftl->free_write_count;
}

/* Return true if a request waits for a write command or for space. */
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
