/* SPDX-License-Identifier: GPL-2.0-only */
/* Page commands: a pool for reads and one for writes, and queues linked by index. */
#ifndef AFTL_COMMAND_H
#define AFTL_COMMAND_H

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

#endif
