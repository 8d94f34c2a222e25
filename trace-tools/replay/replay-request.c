// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "replay-request.h"

void replay_queue_create(struct replay_queue *queue, u32 count)
{
	queue->slots = memory_alloc_zeroed(count, sizeof(struct replay_request *));
	queue->mask = count - 1;
	atomic_init(&queue->head, 0);
	atomic_init(&queue->tail, 0);
}

void replay_queue_free(struct replay_queue *queue)
{
	free(queue->slots);
	queue->slots = NULL;
}
