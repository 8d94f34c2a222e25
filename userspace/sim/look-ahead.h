/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests drawn a little before they are due, so that what they need of a large
 * device is in the processor's cache when they are.
 */
#ifndef SIM_LOOK_AHEAD_H
#define SIM_LOOK_AHEAD_H

#include "core/ftl/ftl.h"
#include "request-stream.h"

#define LOOK_AHEAD_REQUESTS 32

/**
 * struct look_ahead - what has been drawn and not been handed out
 * @stream: where requests come from
 * @expect: @request will come soon; @near: sooner than when that was said before
 * @whom: first argument of @expect
 * @left: requests that may still be drawn
 * @ring: drawn requests
 * @first: oldest of them
 * @count: how many
 * @near: so many of them have been expected as near
 * @end: 0 at the end of the stream, an error number, 1 before that
 * @error: the sentence, if @end is an error number
 */
struct look_ahead {
	struct sim_stream *stream;
	void (*expect)(const void *whom, const struct sim_request *request, bool near);
	const void *whom;
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
 * @ahead: takes it, but for @expect and @whom
 * @stream: of requests
 * @limit: how many
 */
void look_ahead_init(struct look_ahead *ahead, struct sim_stream *stream, u64 limit);

/* What @expect does for one device, whose @unit the request begins with. */
static inline void look_ahead_expect(const struct aftl *ftl, u32 unit,
				     const struct sim_request *request, bool near)
{
	if (near)
		aftl_prefetch_ppn_state(ftl, unit, request->op == AFTL_OP_READ);
	else
		aftl_prefetch_l2p_entry(ftl, unit);
}

/**
 * look_ahead_next() - as the stream's own next(), in the same order
 *
 * An error of the stream comes when every request before it has been handed out.
 */
int look_ahead_next(struct look_ahead *ahead, struct sim_request *request,
		    struct aftl_error *error);

#endif
