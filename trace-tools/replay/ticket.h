/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ticket is a request in progress: the feeder prepares it, the pilot issues it, the scribe
 * checks and logs it.
 *
 * Feeder, pilot and scribe are threads, so that neither reading the stream and generating data nor
 * checking and logging delays a request.
 */
#ifndef AFTL_TICKET_H
#define AFTL_TICKET_H

#include <stdatomic.h>

#include "data-tags.h"
#include "core/persist/record.h"

/**
 * struct ticket - a request in progress
 * @request: the request as it goes to the target
 * @sequence: number of the request in the stream, from 1
 * @due_ns: when it should be issued; all times are relative to the begin of the replay
 * @submit_ns: when it was issued
 * @complete_ns: when its completion was seen
 * @data: memory for the data, or NULL
 * @bytes: size of @data
 * @kind: kind of data, which selects the memory
 * @floors: oldest acceptable write of each unit, for expected_data_judge(); or NULL
 * @error: 0, or a positive error number
 * @alone: result of expected_data_begin_write()
 * @dropped: the request was never submitted
 * @next: link for a list of the present owner
 */
struct ticket {
	struct aftl_record request;
	u64 sequence;
	u64 due_ns;
	u64 submit_ns;
	u64 complete_ns;
	void *data;
	u32 bytes;
	enum data_kind kind;
	u32 *floors;
	int error;
	bool alone;
	bool dropped;
	struct ticket *next;
};

static inline bool is_write_ticket(const struct ticket *ticket)
{
	return ticket->request.op == AFTL_OP_WRITE;
}

static inline bool is_read_ticket(const struct ticket *ticket)
{
	return ticket->request.op == AFTL_OP_READ;
}

static inline u64 ticket_offset(const struct ticket *ticket)
{
	return ticket->request.off_sect << AFTL_RECORD_SECTOR_SHIFT;
}

static inline u64 ticket_length(const struct ticket *ticket)
{
	return (u64)ticket->request.nsect << AFTL_RECORD_SECTOR_SHIFT;
}

/**
 * struct ticket_queue - a lock-free queue of tickets from one thread to another
 * @slots: entries; as many as there are tickets, so that the queue is never full
 * @mask: number of entries - 1
 * @head: number of tickets taken out
 * @tail: number of tickets put in
 */
struct ticket_queue {
	struct ticket **slots;
	u32 mask;
	atomic_uint head;
	atomic_uint tail;
};

/* @count is a power of two. */
void ticket_queue_create(struct ticket_queue *queue, u32 count);
void ticket_queue_free(struct ticket_queue *queue);

static inline void ticket_queue_put(struct ticket_queue *queue, struct ticket *ticket)
{
	u32 tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);

	queue->slots[tail & queue->mask] = ticket;
	atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
}

static inline u32 ticket_queue_length(const struct ticket_queue *queue)
{
	return atomic_load_explicit(&queue->tail, memory_order_acquire) -
	       atomic_load_explicit(&queue->head, memory_order_acquire);
}

/* Get the first ticket without removing it; NULL if the queue is empty. */
static inline struct ticket *ticket_queue_peek(struct ticket_queue *queue)
{
	u32 head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&queue->tail, memory_order_acquire))
		return NULL;
	return queue->slots[head & queue->mask];
}

/* Remove the ticket that ticket_queue_peek() has returned. */
static inline void ticket_queue_drop_first(struct ticket_queue *queue)
{
	u32 head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	atomic_store_explicit(&queue->head, head + 1, memory_order_release);
}

#endif
