// SPDX-License-Identifier: GPL-2.0-only
#include "look-ahead.h"

void look_ahead_init(struct look_ahead *ahead, struct sim_stream *stream, u64 limit)
{
	*ahead = (struct look_ahead){ .stream = stream, .left = limit, .end = 1 };
}

static struct sim_request *drawn(struct look_ahead *ahead, u32 position)
{
	return &ahead->ring[(ahead->first + position) % LOOK_AHEAD_REQUESTS];
}

static void draw(struct look_ahead *ahead)
{
	struct sim_request *request = drawn(ahead, ahead->count);

	if (!ahead->left)
		ahead->end = 0;
	else
		ahead->end = ahead->stream->next(ahead->stream, request, &ahead->error);
	if (ahead->end <= 0)
		return;
	ahead->left--;
	ahead->count++;
	ahead->expect(ahead->whom, request, false);
}

int look_ahead_next(struct look_ahead *ahead, struct sim_request *request,
		    struct aftl_error *error)
{
	while (ahead->end > 0 && ahead->count < LOOK_AHEAD_REQUESTS)
		draw(ahead);
	if (!ahead->count) {
		*error = ahead->error;
		return ahead->end;
	}
	*request = *drawn(ahead, 0);
	ahead->first++;
	ahead->count--;
	if (ahead->count > LOOK_AHEAD_REQUESTS / 2)
		ahead->expect(ahead->whom, drawn(ahead, LOOK_AHEAD_REQUESTS / 2), true);
	return 1;
}
