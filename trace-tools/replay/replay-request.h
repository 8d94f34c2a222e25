/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request of a replay. The feeder prepares it, the submitter issues it, the logger checks it and
 * writes it to the log.
 *
 * Feeder, submitter and logger are threads, so that no request is delayed while the next one is
 * read and its data are generated, or while others are checked.
 */
#ifndef AFTL_REPLAY_REQUEST_H
#define AFTL_REPLAY_REQUEST_H

#include <stdatomic.h>

#include "data-tags.h"
#include "core/persist/record.h"

/**
 * struct replay_request - a request in progress
 * @record: the request as it goes to the target
 * @sequence: number of the request in the stream, from 1
 * @due_ns: when it should be issued; all times are relative to the begin of the replay
 * @submit_ns: when it was issued
 * @complete_ns: when its completion was seen
 * @data: memory for the data, or NULL
 * @bytes: size of @data
 * @kind: kind of data, which selects the memory
 * @floors: oldest acceptable write of each unit, for expected_data_classify_read_unit(); or NULL
 * @error: 0, or a positive error number
 * @alone: result of expected_data_begin_write()
 * @dropped: the request was never submitted
 * @next: link for a list of the present owner
 */
struct replay_request {
	struct aftl_record record;
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
	struct replay_request *next;
};

static inline bool is_replayed_write(const struct replay_request *request)
{
	return request->record.op == AFTL_OP_WRITE;
}

static inline bool is_replayed_read(const struct replay_request *request)
{
	return request->record.op == AFTL_OP_READ;
}

static inline u64 replay_request_offset(const struct replay_request *request)
{
	return request->record.off_sect << AFTL_RECORD_SECTOR_SHIFT;
}

static inline u64 replay_request_length(const struct replay_request *request)
{
	return (u64)request->record.nsect << AFTL_RECORD_SECTOR_SHIFT;
}

/**
 * struct replay_queue - a lock-free queue of requests from one thread to another
 * @slots: entries; as many as there are requests, so that the queue is never full
 * @mask: number of entries - 1
 * @head: number of requests taken out
 * @tail: number of requests put in
 */
struct replay_queue {
	struct replay_request **slots;
	u32 mask;
	atomic_uint head;
	atomic_uint tail;
};

/* @count is a power of two. */
void replay_queue_create(struct replay_queue *queue, u32 count);
void replay_queue_free(struct replay_queue *queue);

static inline void replay_queue_put(struct replay_queue *queue, struct replay_request *request)
{
	u32 tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);

	queue->slots[tail & queue->mask] = request;
	atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
}

static inline u32 replay_queue_length(const struct replay_queue *queue)
{
	return atomic_load_explicit(&queue->tail, memory_order_acquire) -
	       atomic_load_explicit(&queue->head, memory_order_acquire);
}

/* Get the first request without removing it; NULL if the queue is empty. */
static inline struct replay_request *replay_queue_peek(struct replay_queue *queue)
{
	u32 head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&queue->tail, memory_order_acquire))
		return NULL;
	return queue->slots[head & queue->mask];
}

/* Remove the request that replay_queue_peek() has returned. */
static inline void replay_queue_drop_first(struct replay_queue *queue)
{
	u32 head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	atomic_store_explicit(&queue->head, head + 1, memory_order_release);
}

#endif
