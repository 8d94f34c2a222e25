/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each shard gets of the requests of the host.
 */
#ifndef SIM_SHARD_CUT_H
#define SIM_SHARD_CUT_H

#include "core/base/shards.h"
#include "shard.h"

/**
 * struct shard_list - work of one shard, in its order
 * @work: of it
 * @count: how much
 * @room: for so much
 */
struct shard_list {
	struct shard_work *work;
	u32 count;
	u32 room;
};

/**
 * shard_cut() - add a request to the lists of those shards that have a part of it
 * @lists: by shard
 * @layout: of the device
 * @request: of the host; @time_ns is its arrival in device time
 * @number: see struct shard_work
 * @epoch: in which it arrives
 *
 * It is cut where a run of units ends, but what is discarded is one part in each shard. A flush
 * goes to all.
 */
void shard_cut(struct shard_list *lists, const struct aftl_shards *layout,
	       const struct sim_request *request, u64 number, u8 epoch);

/* Adds what no request is: SHARD_COUNTS and its like, at a time. */
void shard_order(struct shard_list *list, u8 order, u64 at_ns);

#endif
