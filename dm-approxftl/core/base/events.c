// SPDX-License-Identifier: GPL-2.0-only
/*
 * Initialisation of the event queue.
 */
#include "core/base/events.h"

static u32 count_event_tree_leaves(u32 sources)
{
	return sources > 1 ? 1U << fls64(sources - 1) : 1;
}

void aftl_events_set_number_of_sources(struct aftl_events *events, u32 many, u32 few)
{
	events->many = many;
	events->few = few;
	events->many_leaf = 2 * count_event_tree_leaves(many);
	events->few_leaf = 3 * count_event_tree_leaves(few);
}

/* In the tournament tree, leaves without a source point to the last entry of @when: AFTL_NEVER. */
void aftl_events_init(struct aftl_events *events)
{
	u32 sources = events->many + events->few;
	u32 node;
	u32 i;

	for (i = 0; i <= sources; i++)
		events->when[i] = AFTL_NEVER;
	for (i = 0; i < aftl_events_count_tree_nodes(events); i++)
		events->winner[i] = sources;
	for (i = 0; i < sources; i++)
		for (node = aftl_events_get_leaf(events, i);
		     node && events->winner[node] == sources; node /= 2)
			events->winner[node] = i;
}
