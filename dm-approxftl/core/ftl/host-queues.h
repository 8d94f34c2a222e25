/* SPDX-License-Identifier: GPL-2.0-only */
/* State of the host interface: waiting requests, completions, sequential reads. */
#ifndef AFTL_HOST_QUEUES_H
#define AFTL_HOST_QUEUES_H

#include "core/base/random.h"
#include "core/base/write-stream.h"
#include "core/ftl/request.h"

/* FIFO of requests whose last page operation has ended; each completes @delay_ns after that. */
struct aftl_completion_queue {
	struct aftl_request *head;
	struct aftl_request *tail;
	u64 delay_ns;
};

/*
 * Completion queues, by direction on the link and delay: reads without and with ECC, writes and
 * other requests, and hits of the read cache. Only queues that can be used have an event source,
 * because each source makes the event queue slower.
 */
enum {
	AFTL_COMPLETION_READ,
	AFTL_COMPLETION_ECC_READ,
	AFTL_COMPLETION_WRITE,
	AFTL_COMPLETION_CACHE_HIT,
	AFTL_COMPLETION_QUEUES
};

/**
 * struct aftl_completions - requests whose last page operation has ended
 * @queues: by AFTL_COMPLETION_*
 * @command_ns: device time at which the controller is free; [0] for reads, [1] for others
 * @link_ns: device time at which the link is free, by direction
 * @vary: source of the random times of the parameter controller_vary
 * @link_paced: there is a link model
 * @special: @link_paced, or the host wants reports of waits
 */
struct aftl_completions {
	struct aftl_completion_queue queues[AFTL_COMPLETION_QUEUES];
	u64 command_ns[2];
	u64 link_ns[2];
	struct aftl_random vary;
	bool link_paced;
	bool special;
};

#define AFTL_EPOCHS 64

struct aftl_epochs {
	u32 outstanding[AFTL_EPOCHS];
	u32 newest;
	u32 oldest;
	struct aftl_request *flushes;
	struct aftl_request *last_flush;
};

/* Number of sequential read streams that read-ahead tracks. */
#define AFTL_READ_STREAMS 16

/**
 * struct aftl_read_stream - a sequential read stream of the host
 * @next: logical page at which the next read of the stream would start
 * @ahead: end of the range that was read ahead or queued for read-ahead
 * @turn: time stamp of the last read, for LRU replacement; 0 if the stream is unused
 */
struct aftl_read_stream {
	u32 next;
	u32 ahead;
	u64 turn;
};

/**
 * struct aftl_read_streams - read-ahead
 * @streams: the streams
 * @turn: time stamp of the last read of a stream
 * @units: logical pages to read ahead; 0: off
 */
struct aftl_read_streams {
	struct aftl_read_stream streams[AFTL_READ_STREAMS];
	u64 turn;
	u32 units;
};

/**
 * struct aftl_host_queues - requests that wait for resources, one list for each host queue
 * @head: oldest request of each queue
 * @tail: youngest request of each queue
 * @count: number of requests in all queues
 * @queue: queue that is being served
 * @left: requests that this queue may still issue before the next queue is served
 */
struct aftl_host_queues {
	struct aftl_request *head[AFTL_QUEUES_MAX];
	struct aftl_request *tail[AFTL_QUEUES_MAX];
	u32 count;
	u32 queue;
	u32 left;
};

/* Limit of partial-page writes that may read the rest of the page at a time; others wait. */
#define AFTL_REST_READS 128

/**
 * struct aftl_rest_reads - writes of a part of a logical page, which read the rest of the page
 * @requests: the writes
 * @count: number of @requests
 * @awaited: the write that is admitted next waits for one of @requests, not for the write buffer
 * @ended: one of these reads has ended, and the LUNs have not been woken for a full write buffer
 *	since
 */
struct aftl_rest_reads {
	struct aftl_request *requests[AFTL_REST_READS];
	u32 count;
	bool awaited;
	bool ended;
};

#endif
