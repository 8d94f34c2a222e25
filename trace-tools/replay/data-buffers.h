/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of requests: a memfd for each kind of data, so that the device sees the kind.
 *
 * Sizes are powers of two from a page on. Of each there is at least one, so that whoever
 * waits gets one as soon as others give theirs back.
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
 * struct data_arena - the memory of a kind
 * @memfd: what is tagged
 * @memory: of it
 * @used: bytes that were handed out at least once
 * @free: by size
 */
struct data_arena {
	int memfd;
	u8 *memory;
	u64 used;
	struct free_buffer *free[DATA_BUFFER_SIZES];
};

/**
 * struct data_buffers - all of it
 * @bytes: of each arena
 * @arenas: by kind
 * @lock: over @arenas and @closed
 * @returned: a buffer came back
 * @closed: nobody gets one any more
 */
struct data_buffers {
	u64 bytes;
	struct data_arena arenas[DATA_KINDS];
	pthread_mutex_t lock;
	pthread_cond_t returned;
	bool closed;
};

/**
 * data_buffers_create() - memory for requests of up to @largest bytes
 * @bytes: of each kind
 * @control: from data_tags_open(), or negative for no tags
 */
int __must_check data_buffers_create(struct data_buffers *buffers, u64 bytes, u32 largest,
				     int control, struct aftl_error *error);
void data_buffers_free(struct data_buffers *buffers);

/* A buffer, aligned to a page; waits for one. NULL once data_buffers_close() was called. */
void *data_buffer_get(struct data_buffers *buffers, enum data_kind kind, u32 bytes);
void data_buffer_put(struct data_buffers *buffers, enum data_kind kind, void *buffer, u32 bytes);

/* Nobody waits any longer, until they are opened again. */
void data_buffers_open(struct data_buffers *buffers);
void data_buffers_close(struct data_buffers *buffers);

#endif
