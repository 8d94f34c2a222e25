/* SPDX-License-Identifier: GPL-2.0-only */
/* Split the requests of the host among the shards. */
#ifndef SIM_SHARD_CUT_H
#define SIM_SHARD_CUT_H

#include "core/base/shards.h"
#include "shard.h"

/**
 * struct shard_list - work of one shard, in order
 * @work: array of work
 * @count: used entries
 * @room: allocated entries
 */
struct shard_list {
	struct shard_work *work;
	u32 count;
	u32 room;
};

/**
 * shard_lists_add_request() - append a request to the lists of the shards that have a part of it
 * @lists: by shard
 * @layout: layout of the device
 * @request: request of the host; @time_ns is its arrival in device time
 * @number: number of the host's request among the reads and writes of its epoch
 * @epoch: flush epoch in which the request arrived
 *
 * A request is split at chunk boundaries, but a discard has one part in each shard. A flush
 * goes to all shards.
 */
void shard_lists_add_request(struct shard_list *lists, const struct aftl_shards *layout,
			     const struct sim_request *request, u64 number, u8 epoch);

/* Append a command, SHARD_COUNTS or SHARD_LOSES_DIE, that the shard executes at @at_ns. */
void shard_list_add_command(struct shard_list *list, u8 order, u64 at_ns);

#endif
