/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event queue: the next time at which each source acts, and the source that acts first.
 *
 * A tournament tree over a fixed set of sources: setting a time takes logarithmic time, finding the
 * first source constant time. The last sources have a subtree of their own below the root, so that
 * their updates stay cheap if the other sources are many. Equal times are ordered by source, on
 * every host.
 */
#ifndef AFTL_EVENTS_H
#define AFTL_EVENTS_H

#include "core/base/types.h"

#define AFTL_NEVER U64_MAX

/**
 * struct aftl_events - a tournament tree
 * @when: time by source, AFTL_NEVER if it is inactive; one more entry for unused leaves
 * @winner: by tree node, the source with the earliest time below it; node 1 is the root
 * @many: number of sources below node 2, from source 0
 * @few: number of sources below node 3, after the others
 * @many_leaf: node of the first source below node 2
 * @few_leaf: node of the first source below node 3
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
 * aftl_events_set_number_of_sources() - set the number of sources
 * @events: event queue
 * @many: number of sources below node 2, the left child of the root; at least one
 * @few: number of sources below node 3, the right child of the root; at least one
 */
void aftl_events_set_number_of_sources(struct aftl_events *events, u32 many, u32 few);

/* Entries of @when in struct aftl_events: one for each source, and one for unused leaves. */
static inline u32 aftl_events_get_time_array_length(const struct aftl_events *events)
{
	return events->many + events->few + 1;
}

/* Return the number of tree nodes in @events, which is also the number of entries of @winner. */
static inline u32 aftl_events_count_tree_nodes(const struct aftl_events *events)
{
	return max(events->many_leaf / 2 * 3, events->few_leaf / 3 * 4);
}

/**
 * aftl_events_init() - make all sources inactive
 * @events: event queue; has its number of sources; @when and @winner are allocated
 */
void aftl_events_init(struct aftl_events *events);

static inline u32 aftl_events_get_leaf(const struct aftl_events *events, u32 source)
{
	return source < events->many ? events->many_leaf + source :
				       events->few_leaf + source - events->many;
}

/**
 * aftl_events_set_time() - set the next time of a source
 * @events: event queue
 * @source: source
 * @when: device time, or AFTL_NEVER
 */
static inline void aftl_events_set_time(struct aftl_events *events, u32 source, u64 when)
{
	u32 node = aftl_events_get_leaf(events, source);
	u32 winner = source;

	if (events->when[source] == when)
		return;
	events->when[source] = when;
	for (; node > 1; node /= 2) {
		u32 other = events->winner[node ^ 1];
		u64 other_when = events->when[other];

		if (other_when < when || (other_when == when && other < winner)) {
			winner = other;
			when = other_when;
		}
		events->winner[node / 2] = winner;
	}
}

static inline u32 aftl_events_earliest_source(const struct aftl_events *events)
{
	return events->winner[1];
}

static inline u64 aftl_events_earliest_ns(const struct aftl_events *events)
{
	return events->when[events->winner[1]];
}

#endif
