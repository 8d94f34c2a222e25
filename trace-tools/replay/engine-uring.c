// SPDX-License-Identifier: GPL-2.0-only
/*
 * Issues requests with io_uring. A helper thread performs operations that io_uring lacks, such as
 * discards.
 */
#define _GNU_SOURCE
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "checked-memory.h"
#include "complain.h"
#include "exit-codes.h"
#include "machine-clock.h"
#include "worker-pool.h"

struct engine {
	struct engine_config config;
	struct io_uring ring;
	struct worker_pool *pool;
};

static int create_uring(struct engine *engine, struct aftl_error *error)
{
	/* @depth submission entries suffice: at most @depth requests are in flight. */
	int ret = io_uring_queue_init(engine->config.depth, &engine->ring, 0);

	if (ret == -ENOMEM)
		return aftl_fail(error, ret, "no memory for %u requests in io_uring; lower --limit",
				 engine->config.depth);
	if (ret)
		return aftl_fail(error, -EOPNOTSUPP,
				 "this kernel or container has no io_uring (%s); use --engine threads",
				 strerror(-ret));
	return 0;
}

static int uring_engine_open(struct engine **out, const struct engine_config *config,
			     struct aftl_error *error)
{
	struct engine *engine = memory_alloc_zeroed(1, sizeof(*engine));
	int ret;

	engine->config = *config;
	ret = create_uring(engine, error);
	if (!ret) {
		ret = worker_pool_create(&engine->pool, config, 1, error);
		if (ret)
			io_uring_queue_exit(&engine->ring);
	}
	if (ret)
		free(engine);
	else
		*out = engine;
	return ret;
}

static void prepare_sqe(const struct engine *engine, struct io_uring_sqe *sqe,
			struct replay_request *request)
{
	int fd = engine->config.target->fd;

	if (is_replayed_read(request))
		io_uring_prep_read(sqe, fd, request->data, request->bytes,
				   replay_request_offset(request));
	else if (is_replayed_write(request))
		io_uring_prep_write(sqe, fd, request->data, request->bytes,
				    replay_request_offset(request));
	else
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
	if (is_replayed_write(request) && request->record.fua)
		sqe->rw_flags = RWF_DSYNC;
	io_uring_sqe_set_data(sqe, request);
}

/* Submit the ring's entries; retry later while the kernel lacks memory or completion entries. */
static void submit_sqes(struct engine *engine)
{
	const struct timespec breath = ns_to_timespec(10000);
	int ret = io_uring_submit(&engine->ring);

	while (ret == -EAGAIN || ret == -EBUSY || ret == -EINTR) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &breath, NULL);
		ret = io_uring_submit(&engine->ring);
	}
	if (ret < 0) {
		complain_as("replay", "io_uring takes no request: %s", strerror(-ret));
		exit(EXIT_FAILED);
	}
}

/* Submit each request alone, so that its time is exact; the submission queue has room. */
static void uring_engine_submit(struct engine *engine, struct replay_request *request)
{
	if (request->record.op == AFTL_OP_DISCARD || request->record.op == AFTL_OP_WRITE_ZEROES) {
		worker_pool_submit(engine->pool, request);
		return;
	}
	prepare_sqe(engine, io_uring_get_sqe(&engine->ring), request);
	request->submit_ns = machine_clock_now_ns() - engine->config.begin_ns;
	submit_sqes(engine);
}

/* Wait until a request completes in the io_uring or in the worker pool. */
static void uring_engine_wait(struct engine *engine, u64 until_ns)
{
	struct timespec left = ns_to_timespec(machine_clock_get_ns_until_time(until_ns));
	struct pollfd events[2] = {
		{ .fd = engine->ring.ring_fd, .events = POLLIN },
		{ .fd = worker_pool_event_fd(engine->pool), .events = POLLIN },
	};
	u64 count;

	if (io_uring_cq_ready(&engine->ring) || !until_ns)
		return;
	if (ppoll(events, 2, &left, NULL) > 0 && events[1].revents &&
	    read(events[1].fd, &count, sizeof(count)) < 0)
		return; /* Ignore a failed read of the eventfd: the caller polls the worker pool. */
}

static struct replay_request *reap_ring_completion(struct engine *engine)
{
	struct io_uring_cqe *cqe;
	struct replay_request *request;

	if (io_uring_peek_cqe(&engine->ring, &cqe))
		return NULL;
	request = io_uring_cqe_get_data(cqe);
	request->complete_ns = machine_clock_now_ns() - engine->config.begin_ns;
	if (cqe->res < 0)
		request->error = -cqe->res;
	else
		request->error = (u32)cqe->res == request->bytes ? 0 : EIO;
	io_uring_cqe_seen(&engine->ring, cqe);
	return request;
}

static struct replay_request *uring_engine_reap(struct engine *engine)
{
	struct replay_request *request = reap_ring_completion(engine);

	return request ? request : worker_pool_reap(engine->pool);
}

static void uring_engine_close(struct engine *engine)
{
	worker_pool_free(engine->pool);
	io_uring_queue_exit(&engine->ring);
	free(engine);
}

const struct engine_type uring_engine = {
	.name = "io_uring",
	.open = uring_engine_open,
	.submit = uring_engine_submit,
	.wait = uring_engine_wait,
	.reap = uring_engine_reap,
	.close = uring_engine_close,
};
