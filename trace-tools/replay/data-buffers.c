// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "data-buffers.h"

struct free_buffer {
	struct free_buffer *next;
};

static unsigned int compute_data_buffer_size_class(u32 bytes)
{
	unsigned int shift = bytes > 1 ? fls64(bytes - 1) : 0;

	return shift > DATA_BUFFER_SMALLEST_SHIFT ? shift - DATA_BUFFER_SMALLEST_SHIFT : 0;
}

static u64 compute_buffer_bytes_of_size_class(unsigned int index)
{
	return 1ULL << (index + DATA_BUFFER_SMALLEST_SHIFT);
}

static void *take_unused_data_buffer(const struct data_buffers *buffers, struct data_arena *arena,
				     unsigned int index)
{
	void *buffer = arena->memory + arena->used;

	if (arena->used + compute_buffer_bytes_of_size_class(index) > buffers->bytes)
		return NULL;
	arena->used += compute_buffer_bytes_of_size_class(index);
	return buffer;
}

static void return_data_buffer(struct data_arena *arena, unsigned int index, void *memory)
{
	struct free_buffer *buffer = memory;

	buffer->next = arena->free[index];
	arena->free[index] = buffer;
}

static int map_data_arena(struct data_arena *arena, u64 bytes, struct aftl_error *error)
{
	arena->memfd = memfd_create("approxftl-replay", MFD_CLOEXEC);
	if (arena->memfd < 0 || ftruncate(arena->memfd, (off_t)bytes))
		return aftl_fail(error, -errno, "not enough memory for the data of requests: %s",
				 strerror(errno));
	arena->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->memfd, 0);
	if (arena->memory == MAP_FAILED) {
		arena->memory = NULL;
		return aftl_fail(error, -errno, "not enough memory for the data of requests: %s",
				 strerror(errno));
	}
	return 0;
}

static int create_data_arena(struct data_buffers *buffers, enum data_kind kind, u32 largest,
			     int control, struct aftl_error *error)
{
	struct data_arena *arena = &buffers->arenas[kind];
	int ret = map_data_arena(arena, buffers->bytes, error);

	if (!ret && control >= 0)
		ret = data_tags_tag_memfd(control, arena->memfd, kind, error);
	if (!ret) {
		/* Reserve one buffer of each size, which is never split for smaller requests. */
		for (unsigned int i = 0; i <= compute_data_buffer_size_class(largest); i++)
			return_data_buffer(arena, i, take_unused_data_buffer(buffers, arena, i));
	}
	return ret;
}

int data_buffers_create(struct data_buffers *buffers, u64 bytes, u32 largest, int control,
			struct aftl_error *error)
{
	u64 reserved =
		2 * compute_buffer_bytes_of_size_class(compute_data_buffer_size_class(largest));
	int ret = 0;

	*buffers = (struct data_buffers){ .bytes = max(bytes, reserved) };
	pthread_mutex_init(&buffers->lock, NULL);
	pthread_cond_init(&buffers->returned, NULL);
	for (unsigned int kind = 0; kind < DATA_KINDS; kind++)
		buffers->arenas[kind].memfd = -1;
	for (unsigned int kind = 0; kind < DATA_KINDS && !ret; kind++)
		ret = create_data_arena(buffers, kind, largest, control, error);
	return ret;
}

void data_buffers_free(struct data_buffers *buffers)
{
	for (unsigned int kind = 0; kind < DATA_KINDS; kind++) {
		struct data_arena *arena = &buffers->arenas[kind];

		if (arena->memory)
			munmap(arena->memory, buffers->bytes);
		if (arena->memfd >= 0)
			close(arena->memfd);
	}
	pthread_cond_destroy(&buffers->returned);
	pthread_mutex_destroy(&buffers->lock);
}

static void *take_data_buffer(struct data_buffers *buffers, struct data_arena *arena,
			      unsigned int index)
{
	struct free_buffer *buffer = arena->free[index];

	if (!buffer)
		return take_unused_data_buffer(buffers, arena, index);
	arena->free[index] = buffer->next;
	return buffer;
}

void *data_buffer_get(struct data_buffers *buffers, enum data_kind kind, u32 bytes)
{
	struct data_arena *arena = &buffers->arenas[kind];
	unsigned int index = compute_data_buffer_size_class(bytes);
	void *buffer = NULL;

	pthread_mutex_lock(&buffers->lock);
	while (!buffers->closed && !(buffer = take_data_buffer(buffers, arena, index)))
		pthread_cond_wait(&buffers->returned, &buffers->lock);
	pthread_mutex_unlock(&buffers->lock);
	return buffer;
}

void data_buffer_put(struct data_buffers *buffers, enum data_kind kind, void *buffer, u32 bytes)
{
	pthread_mutex_lock(&buffers->lock);
	return_data_buffer(&buffers->arenas[kind], compute_data_buffer_size_class(bytes), buffer);
	pthread_cond_signal(&buffers->returned);
	pthread_mutex_unlock(&buffers->lock);
}

static void allow_or_end_buffer_allocation(struct data_buffers *buffers, bool closed)
{
	pthread_mutex_lock(&buffers->lock);
	buffers->closed = closed;
	pthread_cond_broadcast(&buffers->returned);
	pthread_mutex_unlock(&buffers->lock);
}

void data_buffers_allow_allocation(struct data_buffers *buffers)
{
	allow_or_end_buffer_allocation(buffers, false);
}

void data_buffers_end_allocation(struct data_buffers *buffers)
{
	allow_or_end_buffer_allocation(buffers, true);
}
