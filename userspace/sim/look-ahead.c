// SPDX-License-Identifier: GPL-2.0-only
#include "look-ahead.h"

void look_ahead_init(struct look_ahead *ahead, struct sim_stream *stream, u64 limit)
{
	*ahead = (struct look_ahead){ .stream = stream, .left = limit, .end = 1 };
}

static u32 get_ring_index_of_request(const struct look_ahead *ahead, u32 position)
{
	return (ahead->first + position) % LOOK_AHEAD_REQUESTS;
}

static void draw_one_look_ahead_request(struct look_ahead *ahead)
{
	struct sim_request *request = &ahead->ring[get_ring_index_of_request(ahead, ahead->count)];

	if (!ahead->left)
		ahead->end = 0;
	else
		ahead->end = ahead->stream->next(ahead->stream, request, &ahead->error);
	if (ahead->end <= 0)
		return;
	ahead->left--;
	ahead->count++;
}

/*
 * Issue the prefetches back to back: address translation dominates their cost, and the
 * processor overlaps several translations.
 */
static void prefetch_request_mappings(const struct look_ahead *ahead, u32 position, bool near)
{
	for (; position < ahead->count; position++)
		ahead->expect(ahead->context,
			      &ahead->ring[get_ring_index_of_request(ahead, position)], near);
}

static void fill_ring_with_prefetched_requests(struct look_ahead *ahead)
{
	u32 first = ahead->count;

	while (ahead->end > 0 && ahead->count < first + LOOK_AHEAD_REQUESTS / 2)
		draw_one_look_ahead_request(ahead);
	prefetch_request_mappings(ahead, first, false);
}

int look_ahead_take_next_request(struct look_ahead *ahead, struct sim_request *request,
				 struct aftl_error *error)
{
	if (!ahead->near) {
		if (!ahead->count)
			fill_ring_with_prefetched_requests(ahead);
		prefetch_request_mappings(ahead, 0, true);
		ahead->near = ahead->count;
		fill_ring_with_prefetched_requests(ahead);
	}
	if (!ahead->count) {
		*error = ahead->error;
		return ahead->end;
	}
	*request = ahead->ring[get_ring_index_of_request(ahead, 0)];
	ahead->first++;
	ahead->count--;
	ahead->near--;
	return 1;
}
