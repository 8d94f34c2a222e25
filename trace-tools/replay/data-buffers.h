/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for the data of requests: one memfd for each kind of data, so that the device can tell
 * the kinds apart by the tag of the memory.
 *
 * Buffer sizes are powers of two, at least a page. One buffer of each size is reserved, so that a
 * waiter gets a buffer when the requests before it have returned theirs.
 */
#ifndef AFTL_DATA_BUFFERS_H
#define AFTL_DATA_BUFFERS_H

#include <pthread.h>

#include "data-tags.h"

#define DATA_BUFFER_SMALLEST_SHIFT 12
#define DATA_BUFFER_SIZES 16
#define DATA_BUFFER_LARGEST (1U << (DATA_BUFFER_SMALLEST_SHIFT + DATA_BUFFER_SIZES - 1))

struct free_buffer;

/**
 * struct data_arena - the memory for one kind of data
 * @memfd: the memfd that is tagged
 * @memory: mapping of @memfd
 * @used: bytes handed out at least once
 * @free: free buffers by size
 */
struct data_arena {
	int memfd;
	u8 *memory;
	u64 used;
	struct free_buffer *free[DATA_BUFFER_SIZES];
};

/**
 * struct data_buffers - memory for the data of all requests
 * @bytes: size of each arena
 * @arenas: arenas by kind of data
 * @lock: protects @arenas and @closed
 * @returned: signalled when a buffer is returned
 * @closed: buffers are no longer handed out
 */
struct data_buffers {
	u64 bytes;
	struct data_arena arenas[DATA_KINDS];
	pthread_mutex_t lock;
	pthread_cond_t returned;
	bool closed;
};

/**
 * data_buffers_create() - allocate memory for requests of up to @largest bytes
 * @bytes: size of each arena
 * @control: descriptor from data_tags_open(), or negative to set no tags
 */
int __must_check data_buffers_create(struct data_buffers *buffers, u64 bytes, u32 largest,
				     int control, struct aftl_error *error);
void data_buffers_free(struct data_buffers *buffers);

/* Wait for a page-aligned data buffer. Return: NULL after data_buffers_end_allocation(). */
void *data_buffer_get(struct data_buffers *buffers, enum data_kind kind, u32 bytes);
void data_buffer_put(struct data_buffers *buffers, enum data_kind kind, void *buffer, u32 bytes);

/* Allow data_buffer_get() again after data_buffers_end_allocation(), which ended all waits. */
void data_buffers_allow_allocation(struct data_buffers *buffers);
void data_buffers_end_allocation(struct data_buffers *buffers);

#endif
