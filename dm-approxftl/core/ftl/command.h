/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page commands: a pool for reads and one for writes, queues linked by index, and a hash table of
 * the pending writes by logical page.
 */
#ifndef AFTL_COMMAND_H
#define AFTL_COMMAND_H

#include "core/base/random.h"
#include "core/ftl/controller.h"
#include "core/ftl/lun-work.h"

void aftl_commands_init(struct aftl *ftl);

static inline u32 *aftl_get_free_command_list(struct aftl *ftl, bool write)
{
	return write ? &ftl->free_writes : &ftl->free_reads;
}

static inline u32 *aftl_count_free_commands(struct aftl *ftl, bool write)
{
	return write ? &ftl->free_write_count : &ftl->free_read_count;
}

static inline void aftl_command_free(struct aftl *ftl, u32 command, bool write)
{
	ftl->commands[command].next = *aftl_get_free_command_list(ftl, write);
	*aftl_get_free_command_list(ftl, write) = command;
	++*aftl_count_free_commands(ftl, write);
	if (ftl->wait_head[write])
		ftl->retry = true;
}

static inline u32 aftl_command_alloc(struct aftl *ftl, bool write)
{
	u32 command = *aftl_get_free_command_list(ftl, write);

	if (command != AFTL_NIL) {
		*aftl_get_free_command_list(ftl, write) = ftl->commands[command].next;
		--*aftl_count_free_commands(ftl, write);
	}
	return command;
}

static inline void aftl_command_queue_append(struct aftl *ftl, struct aftl_queue *queue,
					     u32 command)
{
	ftl->commands[command].next = AFTL_NIL;
	if (queue->head == AFTL_NIL)
		queue->head = command;
	else
		ftl->commands[queue->tail].next = command;
	queue->tail = command;
	queue->count++;
	if (ftl->commands[command].request)
		queue->waited++;
}

static inline u32 aftl_command_queue_pop(struct aftl *ftl, struct aftl_queue *queue)
{
	u32 command = queue->head;

	queue->head = ftl->commands[command].next;
	queue->count--;
	if (ftl->commands[command].request)
		queue->waited--;
	return command;
}

/* Put a command back at the head of @queue. */
static inline void aftl_command_queue_push_front(struct aftl *ftl, struct aftl_queue *queue,
						 u32 command)
{
	if (queue->head == AFTL_NIL)
		queue->tail = command;
	ftl->commands[command].next = queue->head;
	queue->head = command;
	queue->count++;
}

/* Remove a command from the middle of @queue. */
static inline void aftl_command_queue_remove(struct aftl *ftl, struct aftl_queue *queue,
					     u32 command)
{
	u32 *link = &queue->head;
	u32 before = AFTL_NIL;

	while (*link != command) {
		before = *link;
		link = &ftl->commands[before].next;
	}
	*link = ftl->commands[command].next;
	if (queue->tail == command)
		queue->tail = before;
	queue->count--;
	if (ftl->commands[command].request)
		queue->waited--;
}

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
