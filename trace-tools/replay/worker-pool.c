// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "checked-memory.h"
#include "machine-clock.h"
#include "worker-pool.h"

/* A FIFO of requests. */
struct replay_request_list {
	struct replay_request *first;
	struct replay_request *last;
};

struct worker_pool {
	struct engine_config config;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct replay_request_list waiting;
	struct replay_request_list done;
	bool ending;
	int event;
	u32 threads;
	pthread_t *ids;
};

static void append_replay_request_to_list(struct replay_request_list *list,
					  struct replay_request *request)
{
	request->next = NULL;
	if (list->first)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

static struct replay_request *take_first_replay_request(struct replay_request_list *list)
{
	struct replay_request *request = list->first;

	if (request)
		list->first = request->next;
	return request;
}

static int check_transferred_byte_count(const struct replay_request *request, ssize_t moved)
{
	if (moved < 0)
		return -errno;
	return (u32)moved == request->bytes ? 0 : -EIO;
}

static int execute_replay_request(const struct replay_target *target,
				  const struct replay_request *request)
{
	struct iovec iov = { .iov_base = request->data, .iov_len = request->bytes };
	u64 offset = replay_request_offset(request);
	int flags = request->record.fua ? RWF_DSYNC : 0;

	switch (request->record.op) {
	case AFTL_OP_READ:
		return check_transferred_byte_count(request, pread(target->fd, request->data,
								   request->bytes, (off_t)offset));
	case AFTL_OP_WRITE:
		return check_transferred_byte_count(request, pwritev2(target->fd, &iov, 1,
								      (off_t)offset, flags));
	case AFTL_OP_DISCARD:
		return target_discard_range(target, offset, replay_request_length(request));
	case AFTL_OP_WRITE_ZEROES:
		return target_zero_range(target, offset, replay_request_length(request));
	default:
		return fdatasync(target->fd) ? -errno : 0;
	}
}

static void signal_completion_event(const struct worker_pool *pool)
{
	u64 one = 1;

	/* write() to the eventfd fails only if its counter is full, and still wakes the waiter. */
	while (write(pool->event, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void *run_worker_thread(void *argument)
{
	struct worker_pool *pool = argument;
	struct replay_request *request;

	pthread_mutex_lock(&pool->lock);
	while (!pool->ending) {
		request = take_first_replay_request(&pool->waiting);
		if (request) {
			pthread_mutex_unlock(&pool->lock);
			request->submit_ns = machine_clock_now_ns() - pool->config.begin_ns;
			request->error = -execute_replay_request(pool->config.target, request);
			request->complete_ns = machine_clock_now_ns() - pool->config.begin_ns;
			pthread_mutex_lock(&pool->lock);
			append_replay_request_to_list(&pool->done, request);
			signal_completion_event(pool);
		} else {
			pthread_cond_wait(&pool->work, &pool->lock);
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static int start_workers(struct worker_pool *pool, u32 threads, struct aftl_error *error)
{
	int ret = 0;

	pool->ids = memory_alloc_zeroed(threads, sizeof(*pool->ids));
	while (!ret && pool->threads < threads) {
		ret = pthread_create(&pool->ids[pool->threads], NULL, run_worker_thread, pool);
		if (!ret)
			pool->threads++;
	}
	return ret ? aftl_fail(error, -ret, "cannot create %u threads: %s", threads,
			       strerror(ret)) : 0;
}

int worker_pool_create(struct worker_pool **out, const struct engine_config *config, u32 threads,
		       struct aftl_error *error)
{
	struct worker_pool *pool = memory_alloc_zeroed(1, sizeof(*pool));
	int ret;

	pool->config = *config;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pool->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pool->event < 0)
		ret = aftl_fail(error, -errno, "cannot create an eventfd: %s", strerror(errno));
	else
		ret = start_workers(pool, threads, error);
	if (ret)
		worker_pool_free(pool);
	else
		*out = pool;
	return ret;
}

void worker_pool_free(struct worker_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->ending = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (u32 i = 0; i < pool->threads; i++)
		pthread_join(pool->ids[i], NULL);
	if (pool->event >= 0)
		close(pool->event);
	free(pool->ids);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void worker_pool_submit(struct worker_pool *pool, struct replay_request *request)
{
	pthread_mutex_lock(&pool->lock);
	append_replay_request_to_list(&pool->waiting, request);
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

struct replay_request *worker_pool_reap(struct worker_pool *pool)
{
	struct replay_request *request;

	pthread_mutex_lock(&pool->lock);
	request = take_first_replay_request(&pool->done);
	pthread_mutex_unlock(&pool->lock);
	return request;
}

int worker_pool_event_fd(const struct worker_pool *pool)
{
	return pool->event;
}
