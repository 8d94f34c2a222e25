/* SPDX-License-Identifier: GPL-2.0-only */
/* Hash table of the pending writes by logical page. */
#ifndef AFTL_PENDING_WRITES_H
#define AFTL_PENDING_WRITES_H

#include "core/base/random.h"
#include "core/ftl/command.h"

static inline u32 *aftl_get_hash_chain_of_pending_writes(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return &ftl->pending[aftl_hash64(from_lpn(lpn)) & ftl->pending_mask];
}

static inline u32 aftl_pending_find_write_in_chain(const struct aftl *ftl, u32 command,
						   aftl_lpn_t lpn)
{
	while (command != AFTL_NIL && ftl->commands[command].lpn != lpn)
		command = ftl->commands[command].hash_next;
	return command;
}

/* Find the newest pending write of a logical page: the first one in its hash chain. */
static inline u32 aftl_pending_find_newest_write(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return aftl_pending_find_write_in_chain(ftl,
						*aftl_get_hash_chain_of_pending_writes(ftl, lpn),
						lpn);
}

/* Find the buffered write that serves reads of @lpn; AFTL_NIL if there is none. */
static inline u32 aftl_pending_find_write_that_serves_reads(const struct aftl *ftl, aftl_lpn_t lpn)
{
	u32 newest = aftl_pending_find_newest_write(ftl, lpn);

	if (newest != AFTL_NIL && ftl->commands[newest].flags & AFTL_COMMAND_SUPERSEDED)
		return AFTL_NIL;
	return newest;
}

static inline bool aftl_lpn_is_buffered(const struct aftl *ftl, aftl_lpn_t lpn)
{
	return aftl_pending_find_write_that_serves_reads(ftl, lpn) != AFTL_NIL;
}

static inline u32 aftl_pending_find_older_version(const struct aftl *ftl, u32 command)
{
	const struct aftl_command *newer = &ftl->commands[command];

	return aftl_pending_find_write_in_chain(ftl, newer->hash_next, newer->lpn);
}

static inline void aftl_pending_add_write(struct aftl *ftl, u32 command)
{
	u32 *chain = aftl_get_hash_chain_of_pending_writes(ftl, ftl->commands[command].lpn);

	ftl->commands[command].hash_next = *chain;
	*chain = command;
}

static inline void aftl_pending_remove_write(struct aftl *ftl, u32 command)
{
	u32 *link = aftl_get_hash_chain_of_pending_writes(ftl, ftl->commands[command].lpn);

	while (*link != command)
		link = &ftl->commands[*link].hash_next;
	*link = ftl->commands[command].hash_next;
}

#endif
