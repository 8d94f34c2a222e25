/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Look-ahead: draws requests shortly before they are due and prefetches the mapping data that
 * they will touch on a large device into the processor's cache.
 */
#ifndef SIM_LOOK_AHEAD_H
#define SIM_LOOK_AHEAD_H

#include "core/ftl/ftl.h"
#include "request-stream.h"

#define LOOK_AHEAD_REQUESTS 32

/**
 * struct look_ahead - requests that were drawn but not yet handed out
 * @stream: source of the requests
 * @expect: prefetches for @request; @near: the second call, shortly before the request is due
 * @context: first argument of @expect
 * @left: requests that may still be drawn
 * @ring: drawn requests
 * @first: index of the oldest one
 * @count: number of drawn requests
 * @near: number of drawn requests whose second prefetch was issued
 * @end: 0 at the end of the stream, an error number, or 1 before that
 * @error: the error message, if @end is an error number
 */
struct look_ahead {
	struct sim_stream *stream;
	void (*expect)(const void *context, const struct sim_request *request, bool near);
	const void *context;
	u64 left;
	struct sim_request ring[LOOK_AHEAD_REQUESTS];
	u32 first;
	u32 count;
	u32 near;
	int end;
	struct aftl_error error;
};

/**
 * look_ahead_init() - draw at most @limit requests from @stream
 * @ahead: buffer to initialise; the caller sets @expect and @context
 * @stream: source of the requests
 * @limit: maximum number of requests
 */
void look_ahead_init(struct look_ahead *ahead, struct sim_stream *stream, u64 limit);

/* Prefetch the mapping data of @request, which begins at @unit of @ftl. */
static inline void look_ahead_prefetch_mapping(const struct aftl *ftl, u32 unit,
					       const struct sim_request *request, bool near)
{
	if (near)
		aftl_prefetch_ppn_state(ftl, unit, request->op == AFTL_OP_READ);
	else
		aftl_prefetch_l2p_entry(ftl, unit);
}

/**
 * look_ahead_take_next_request() - return the next request of the stream, as its next() does
 *
 * An error of the stream is reported after all earlier requests were handed out.
 */
int look_ahead_take_next_request(struct look_ahead *ahead, struct sim_request *request,
				 struct aftl_error *error);

#endif
