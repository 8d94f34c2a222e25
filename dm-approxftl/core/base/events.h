/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When each source of events will act next, and which is first.
 *
 * A tournament over a fixed set of sources: setting a time costs the logarithm of
 * their number, finding the first nothing. Equal times go to the lower source,
 * on every host.
 */
#ifndef AFTL_EVENTS_H
#define AFTL_EVENTS_H

#include "core/base/types.h"

#define AFTL_NEVER U64_MAX

/**
 * struct aftl_events - the tournament
 * @when: by source, AFTL_NEVER if it will not act by itself
 * @winner: by tree node, the source with the smallest time below it; node 1 is
 *	the root, the sources are the leaves from @leaves on
 * @leaves: number of leaves, a power of two
 */
struct aftl_events {
	u64 *when;
	u32 *winner;
	u32 leaves;
};

/* Leaves that @sources sources need. */
static inline u32 aftl_events_leaves(u32 sources)
{
	return sources > 1 ? 1U << fls64(sources - 1) : 2;
}

/**
 * aftl_events_init() - every source quiet
 * @events: tournament
 *
 * @when and @winner have room for the leaves and for twice the leaves.
 */
void aftl_events_init(struct aftl_events *events);

/**
 * aftl_events_set() - @source acts next at @when
 * @events: tournament
 * @source: which
 * @when: device time
 */
static inline void aftl_events_set(struct aftl_events *events, u32 source, u64 when)
{
	u32 node = events->leaves + source;

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
