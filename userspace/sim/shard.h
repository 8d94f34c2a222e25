/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One shard of a device: an FTL with its part of the requests, and what comes of them. It knows
 * nothing of the others but through requests that have parts in several, and so may be driven
 * while they are.
 */
#ifndef SIM_SHARD_H
#define SIM_SHARD_H

#include <stdatomic.h>

#include "request-pool.h"
#include "run.h"
#include "tenants.h"

/**
 * struct whole_part - the end of a part of a request
 * @complete_ns: when
 * @service_ns: as the core says it
 * @epoch: in which it was complete
 * @failed: its status is not 0
 */
struct whole_part {
	u64 complete_ns;
	u64 service_ns;
	u8 epoch;
	bool failed;
};

/**
 * struct whole - a request with parts in several shards, or several in one
 * @left: parts that are not complete
 * @count: of parts
 * @request: as the host sees it
 * @number: see struct shard_work
 * @epoch: in which it arrived
 * @parts: by their number
 */
struct whole {
	atomic_uint left;
	u32 count;
	struct sim_request request;
	u64 number;
	u8 epoch;
	struct whole_part parts[];
};

/* What a shard has to do beside requests, as an op: statistics begin, or its last die dies. */
enum {
	SHARD_COUNTS = AFTL_ZONE_OPS,
	SHARD_LOSES_DIE,
};

/**
 * struct shard_work - something for a shard to do
 * @request: with the shard's own units; @time_ns is its arrival in device time
 * @number: of the host's request among those reads and writes that arrived in its epoch
 * @whole: that this is a part of, or NULL
 * @part: its number there
 */
struct shard_work {
	struct sim_request request;
	u64 number;
	struct whole *whole;
	u32 part;
};

/**
 * struct shard_sums - what has come of requests that were complete in one epoch
 * @read_response: times of reads
 * @read_service: of them
 * @write_service: of writes
 * @flush_response: times of flushes
 * @class_response: times of writes by class
 * @settling: times of reads and writes that have arrived in it
 * @queues: by queue of the host; NULL where there is one
 * @surplus: what the core counts of parts beyond the requests
 */
struct shard_sums {
	struct aftl_histogram read_response;
	struct aftl_histogram read_service;
	struct aftl_histogram write_service;
	struct aftl_histogram flush_response;
	struct aftl_histogram class_response[AFTL_CLASSES];
	struct settling settling;
	struct sim_queue *queues;
	struct aftl_counters surplus;
};

/**
 * struct shard - a shard
 * @ftl: its FTL
 * @pool: requests that are not under way
 * @epoch: 0: before the statistics begin, 1: since they have
 * @sums: by epoch
 * @ended: requests of the host whose last part was complete here
 * @tenants: of a run in one thread, or NULL
 */
struct shard {
	struct aftl *ftl;
	struct request_pool pool;
	u8 epoch;
	struct shard_sums *sums;
	u64 ended;
	struct sim_tenants *tenants;
};

/**
 * shard_create() - make a shard, and fill it
 * @shard: takes it; also after a failure it is there to be released
 * @options: of the command line
 * @index: which of its shards
 * @policy: its policy
 * @error: the sentence
 *
 * Return: what aftl_create() or aftl_fill() returned
 */
int __must_check shard_create(struct shard *shard, const struct sim_options *options, u32 index,
			      const struct aftl_policy_type *policy, struct aftl_error *error);

/**
 * shard_do() - do what is on a list, in its order
 * @shard: which
 * @list: by arrival
 * @count: how long
 * @error: the sentence
 *
 * Return: 0 or a negative error number
 */
int __must_check shard_do(struct shard *shard, const struct shard_work *list, u32 count,
			  struct aftl_error *error);

/* Go on until nothing is under way. Return: the same. */
int __must_check shard_drain(struct shard *shard, struct aftl_error *error);

void shard_release(struct shard *shard);

#endif
