/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One shard of a device: an FTL with its part of the requests, and their statistics. Shards
 * share nothing but requests with parts in several shards, and so may run concurrently.
 */
#ifndef SIM_SHARD_H
#define SIM_SHARD_H

#include <stdatomic.h>

#include "request-pool.h"
#include "run.h"
#include "tenants.h"

/**
 * struct whole_part - completion of one part of a request
 * @complete_ns: time of completion
 * @service_ns: service time that the core reports
 * @epoch: epoch of completion
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
 * @left: number of incomplete parts
 * @count: number of parts
 * @request: the host's request
 * @number: number of the host's request among the reads and writes of its epoch
 * @epoch: epoch of arrival
 * @parts: completion of each part
 */
struct whole {
	atomic_uint left;
	u32 count;
	struct sim_request request;
	u64 number;
	u8 epoch;
	struct whole_part parts[];
};

/* Commands to a shard, as values of op: start the statistics, or fail the last die. */
enum {
	SHARD_COUNTS = AFTL_ZONE_OPS,
	SHARD_LOSES_DIE,
};

/**
 * struct shard_work - a request or command for a shard
 * @request: in the shard's own units; @time_ns is its arrival in device time
 * @number: number of the host's request among the reads and writes that arrived in its epoch
 * @whole: request that this is a part of, or NULL
 * @part: index of the part in @whole
 */
struct shard_work {
	struct sim_request request;
	u64 number;
	struct whole *whole;
	u32 part;
};

/**
 * struct shard_sums - statistics of requests that completed in one epoch
 * @read_response: response times of reads
 * @read_service: service times of reads
 * @write_service: service times of writes
 * @flush_response: response times of flushes
 * @class_response: response times of writes by class
 * @settling: response times of reads and writes that also arrived in the epoch
 * @queues: statistics of each host queue; NULL if there is only one
 * @surplus: counts by the core of parts, in excess of the host's requests
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
 * @pool: free requests
 * @epoch: 0: before the statistics begin, 1: afterwards
 * @sums: statistics of each epoch
 * @ended: requests of the host whose last part completed here
 * @tenants: tenants of a single-threaded run, or NULL
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
 * shard_create() - create a shard and fill it
 * @shard: to initialise; must be released even after a failure
 * @options: options of the command line
 * @index: number of the shard
 * @policy: its policy
 * @error: receives the error message
 *
 * Return: the result of aftl_create() or aftl_precondition()
 */
int __must_check shard_create(struct shard *shard, const struct sim_options *options, u32 index,
			      const struct aftl_policy_type *policy, struct aftl_error *error);

/**
 * shard_execute_work_list() - process a list of work in order
 * @shard: the shard
 * @list: work by arrival
 * @count: length of the list
 * @error: receives the error message
 *
 * Return: 0 or a negative error number
 */
int __must_check shard_execute_work_list(struct shard *shard, const struct shard_work *list,
					 u32 count, struct aftl_error *error);

/* Run the shard until none of its requests is in flight. Return: 0 or a negative error number. */
int __must_check shard_drain_requests(struct shard *shard, struct aftl_error *error);

void shard_release(struct shard *shard);

#endif
