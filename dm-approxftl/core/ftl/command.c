// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page commands: a fixed pool for each direction, queues linked through them, and
 * the writes that are under way by unit.
 */
#include "core/ftl/device.h"
#include "core/base/random.h"

static u32 *free_list(struct aftl *ftl, bool write)
{
	return write ? &ftl->free_writes : &ftl->free_reads;
}

static u32 *free_count(struct aftl *ftl, bool write)
{
	return write ? &ftl->free_write_count : &ftl->free_read_count;
}

void aftl_command_put(struct aftl *ftl, u32 command, bool write)
{
	ftl->commands[command].next = *free_list(ftl, write);
	*free_list(ftl, write) = command;
	++*free_count(ftl, write);
}

u32 aftl_command_get(struct aftl *ftl, bool write)
{
	u32 command = *free_list(ftl, write);

	if (command != AFTL_NIL) {
		*free_list(ftl, write) = ftl->commands[command].next;
		--*free_count(ftl, write);
	}
	return command;
}

/* Tags of writes start at 0, so that a host's array of them can be small. */
void aftl_commands_init(struct aftl *ftl)
{
	u32 i;

	ftl->free_reads = AFTL_NIL;
	ftl->free_writes = AFTL_NIL;
	for (i = ftl->command_count; i--;)
		aftl_command_put(ftl, i, i < ftl->write_commands);
	for (i = 0; i <= ftl->pending_mask; i++)
		ftl->pending[i] = AFTL_NIL;
}

void aftl_queue_add(struct aftl *ftl, struct aftl_queue *queue, u32 command)
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

u32 aftl_queue_pop(struct aftl *ftl, struct aftl_queue *queue)
{
	u32 command = queue->head;

	queue->head = ftl->commands[command].next;
	queue->count--;
	if (ftl->commands[command].request)
		queue->waited--;
	return command;
}

static u32 *pending_chain(const struct aftl *ftl, aftl_unit_t unit)
{
	return &ftl->pending[aftl_mix(from_unit(unit)) & ftl->pending_mask];
}

static u32 find_from(const struct aftl *ftl, u32 command, aftl_unit_t unit)
{
	while (command != AFTL_NIL && ftl->commands[command].unit != unit)
		command = ftl->commands[command].hash_next;
	return command;
}

/* The newest write of a unit is the first of its chain. */
u32 aftl_pending_find(const struct aftl *ftl, aftl_unit_t unit)
{
	return find_from(ftl, *pending_chain(ftl, unit), unit);
}

u32 aftl_pending_older(const struct aftl *ftl, u32 command)
{
	return find_from(ftl, ftl->commands[command].hash_next, ftl->commands[command].unit);
}

void aftl_pending_add(struct aftl *ftl, u32 command)
{
	u32 *chain = pending_chain(ftl, ftl->commands[command].unit);

	ftl->commands[command].hash_next = *chain;
	*chain = command;
}

void aftl_pending_remove(struct aftl *ftl, u32 command)
{
	u32 *link = pending_chain(ftl, ftl->commands[command].unit);

	while (*link != command)
		link = &ftl->commands[*link].hash_next;
	*link = ftl->commands[command].hash_next;
}
