/* SPDX-License-Identifier: GPL-2.0-only */
/* Write streams, placement handles and host queues: limits, and their numbers on flash. */
#ifndef AFTL_WRITE_STREAM_H
#define AFTL_WRITE_STREAM_H

#include "core/base/types.h"

/* Limit of the number of streams that a policy can distinguish. */
#define AFTL_STREAMS 16

/* Limit of a host's placement handles: four bits in the metadata of a block, and 0 for none. */
#define AFTL_HANDLES_MAX 15

/* Limit of reclaim groups: a placement id of eight bits names a group and a handle. */
#define AFTL_RECLAIM_GROUPS_MAX 16

/* Limit of zones that are active at a time; each takes a write stream. */
#define AFTL_ACTIVE_ZONES_MAX 128

/* Limit of a host's submission queues: each has one byte of the parameter queue_weights. */
#define AFTL_QUEUES_MAX 8

/*
 * A block's kind and placement handle are stored in one byte: the kind in the lower four bits, the
 * handle in the upper ones. On a zoned device blocks have no kind; the handle, whose number may
 * need eight bits, has its upper four bits in the lower half of the byte.
 */
#define AFTL_HANDLE_SHIFT 4
#define AFTL_HANDLE_KIND_MASK (BIT(AFTL_HANDLE_SHIFT) - 1)

static inline u8 aftl_encode_block_kind(u8 kind, u8 handle)
{
	return (u8)(kind | handle << AFTL_HANDLE_SHIFT | handle >> AFTL_HANDLE_SHIFT);
}

static inline void aftl_decode_block_kind(u8 stored, bool zoned, u8 *kind, u8 *handle)
{
	u8 low = stored & AFTL_HANDLE_KIND_MASK;

	*kind = zoned ? 0 : low;
	*handle = stored >> AFTL_HANDLE_SHIFT | (zoned ? low << AFTL_HANDLE_SHIFT : 0);
}

/* A write stream is a class and a stream of the policy; a program never mixes write streams. */
#define AFTL_WRITE_STREAMS (AFTL_CLASSES * AFTL_STREAMS)

/*
 * Placement handles and zones have streams of their own, after those of the policy and of the CMT.
 * Those from AFTL_STREAMS on have write streams from AFTL_WRITE_STREAMS on: of handles both
 * classes, of zones, whose data are precise, as many as there are active zones.
 */
#define AFTL_HANDLE_WRITE_STREAMS (2 * AFTL_WRITE_STREAMS)
#define AFTL_WRITE_STREAMS_MAX (2 * AFTL_STREAMS + 1 + AFTL_ACTIVE_ZONES_MAX)

static_assert(AFTL_CLASSES == 2, "a stream above AFTL_STREAMS has its index after both classes");

static inline u32 aftl_get_index_of_write_stream(u32 class, u32 stream)
{
	return class * AFTL_STREAMS + stream + (stream < AFTL_STREAMS ? 0 : AFTL_STREAMS);
}

#endif
