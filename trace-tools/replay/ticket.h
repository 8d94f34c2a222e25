/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request on its way: prepared by the feeder, issued by the pilot, judged by the scribe.
 *
 * Each of the three is a thread, so that neither reading the stream and making data nor
 * checking and writing down delays a request.
 */
#ifndef AFTL_TICKET_H
#define AFTL_TICKET_H

#include <stdatomic.h>

#include "data-tags.h"
#include "core/persist/record.h"

/**
 * struct ticket - a request on its way
 * @request: as it goes to the target
 * @sequence: of the request in the stream, counted from 1
 * @due_ns: when it should begin; this and the other times since the begin of the replay
 * @submit_ns: when it began
 * @complete_ns: when its end was seen
 * @data: its memory, or NULL
 * @bytes: of them
 * @kind: of them
 * @floors: for expected_verdict(), or NULL
 * @error: 0, or a positive error number
 * @alone: from expected_write_begins()
 * @dropped: was never submitted
 * @next: for whoever holds it
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

static inline bool ticket_writes(const struct ticket *ticket)
{
	return ticket->request.op == AFTL_OP_WRITE;
}

static inline bool ticket_reads(const struct ticket *ticket)
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
 * struct ticket_queue - from one thread to another, without waiting
 * @slots: as many as there are tickets, so that it is never full
 * @mask: their number - 1
 * @head: tickets taken out
 * @tail: tickets put in
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

/* The first ticket, which stays; NULL if there is none. */
static inline struct ticket *ticket_queue_peek(struct ticket_queue *queue)
{
	u32 head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&queue->tail, memory_order_acquire))
		return NULL;
	return queue->slots[head & queue->mask];
}

/* Takes out what ticket_queue_peek() has returned. */
static inline void ticket_queue_pop(struct ticket_queue *queue)
{
	u32 head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	atomic_store_explicit(&queue->head, head + 1, memory_order_release);
}

#endif
