/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When each source of events will act next, and which is first.
 *
 * A tournament over a fixed set of sources: setting a time costs the logarithm of
 * their number, finding the first nothing. The last few sources have a tree of their own
 * below the root, so that what they do does not cost more where the others are many. Equal
 * times go to the lower source, on every host.
 */
#ifndef AFTL_EVENTS_H
#define AFTL_EVENTS_H

#include "core/base/types.h"

#define AFTL_NEVER U64_MAX

/**
 * struct aftl_events - the tournament
 * @when: by source, AFTL_NEVER if it will not act by itself; and once more for leaves without one
 * @winner: by tree node, the source with the smallest time below it; node 1 is the root
 * @many: sources below node 2, from 0 on
 * @few: those below node 3, which come after them
 * @many_leaf: node of the first of the many
 * @few_leaf: node of the first of the few
 */
struct aftl_events {
	u64 *when;
	u32 *winner;
	u32 many;
	u32 few;
	u32 many_leaf;
	u32 few_leaf;
};

/**
 * aftl_events_shape() - how many sources there will be
 * @events: tournament
 * @many: at least one
 * @few: at least one
 */
void aftl_events_shape(struct aftl_events *events, u32 many, u32 few);

/* Entries of @when. */
static inline u32 aftl_events_times(const struct aftl_events *events)
{
	return events->many + events->few + 1;
}

/* Entries of @winner: of n leaves the first is node 2 n below node 2, and 3 n below node 3. */
static inline u32 aftl_events_nodes(const struct aftl_events *events)
{
	return max(events->many_leaf / 2 * 3, events->few_leaf / 3 * 4);
}

/**
 * aftl_events_init() - every source quiet
 * @events: tournament that has its shape
 *
 * @when and @winner have room.
 */
void aftl_events_init(struct aftl_events *events);

static inline u32 aftl_events_leaf(const struct aftl_events *events, u32 source)
{
	return source < events->many ? events->many_leaf + source :
				       events->few_leaf + source - events->many;
}

/**
 * aftl_events_set() - @source acts next at @when
 * @events: tournament
 * @source: which
 * @when: device time
 */
static inline void aftl_events_set(struct aftl_events *events, u32 source, u64 when)
{
	u32 node = aftl_events_leaf(events, source);

	if (events->when[source] == when)
		return;
	events->when[source] = when;
	while (node > 1) {
		u32 left = events->winner[node & ~1U];
		u32 right = events->winner[node | 1];

		node /= 2;
		events->winner[node] = events->when[right] < events->when[left] ? right : left;
	}
}

static inline u32 aftl_events_first(const struct aftl_events *events)
{
	return events->winner[1];
}

static inline u64 aftl_events_when(const struct aftl_events *events)
{
	return events->when[events->winner[1]];
}

#endif
