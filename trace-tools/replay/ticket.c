// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "ticket.h"

void ticket_queue_create(struct ticket_queue *queue, u32 count)
{
	queue->slots = memory_alloc_zeroed(count, sizeof(struct ticket *));
	queue->mask = count - 1;
	atomic_init(&queue->head, 0);
	atomic_init(&queue->tail, 0);
}

void ticket_queue_free(struct ticket_queue *queue)
{
	free(queue->slots);
	queue->slots = NULL;
}
