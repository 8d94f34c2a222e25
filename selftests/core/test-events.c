// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tournament tree that finds the earliest event source, compared with a linear search.
 */
#include "core/base/events.h"
#include "core/base/random.h"
#include "tap.h"

#define SOURCES_MAX 200
#define FEW_MAX 9

static u64 when[SOURCES_MAX + 1];
static u32 winner[768];
static u64 expected[SOURCES_MAX];

static void init_events(struct aftl_events *events, u32 sources, u32 few)
{
	u32 i;

	*events = (struct aftl_events){ .when = when, .winner = winner };
	aftl_events_set_number_of_sources(events, sources - few, few);
	CHECK_EQ(aftl_events_get_time_array_length(events), sources + 1);
	CHECK(aftl_events_count_tree_nodes(events) <= ARRAY_SIZE(winner));
	memset(when, 0x5a, sizeof(when));
	memset(winner, 0x5a, sizeof(winner));
	aftl_events_init(events);
	for (i = 0; i < sources; i++)
		expected[i] = AFTL_NEVER;
}

static u32 find_earliest_event_source(u32 sources)
{
	u32 first = 0;
	u32 i;

	for (i = 1; i < sources; i++)
		if (expected[i] < expected[first])
			first = i;
	return first;
}

static u32 compute_event_tree_level(u32 node)
{
	return fls64(node) - 1;
}

TAP_TEST(each_event_source_has_a_leaf_at_the_least_depth)
{
	u32 many;
	u32 few;

	for (many = 1; many < 3000; many += 1 + many / 50)
		for (few = 1; few <= FEW_MAX; few++) {
			struct aftl_events events;
			u32 last = many + few - 1;

			aftl_events_set_number_of_sources(&events, many, few);
			CHECK(aftl_events_get_leaf(&events, last) <
			      aftl_events_count_tree_nodes(&events));
			CHECK(aftl_events_get_leaf(&events, many - 1) <
			      aftl_events_count_tree_nodes(&events));
			CHECK_EQ(compute_event_tree_level(aftl_events_get_leaf(&events, last)),
				 1 + fls64(few - 1));
			CHECK_EQ(compute_event_tree_level(aftl_events_get_leaf(&events, 0)),
				 1 + fls64(many - 1));
			CHECK_EQ(compute_event_tree_level(aftl_events_get_leaf(&events, many - 1)),
				 1 + fls64(many - 1));
		}
}

TAP_TEST(a_set_without_pending_events_never_fires)
{
	struct aftl_events events;
	u32 sources;
	u32 few;

	for (sources = 2; sources <= SOURCES_MAX; sources++)
		for (few = 1; few < sources && few <= FEW_MAX; few++) {
			init_events(&events, sources, few);
			CHECK_EQ(aftl_events_earliest_ns(&events), AFTL_NEVER);
			CHECK_EQ(aftl_events_earliest_source(&events), 0);
		}
}

TAP_TEST(the_earliest_source_fires_first_the_lowest_among_equals)
{
	struct aftl_random random = { 6 };
	struct aftl_events events;
	u32 sources;
	int round;

	for (sources = 2; sources <= SOURCES_MAX; sources += 1 + sources / 5) {
		init_events(&events, sources, 1 + sources % min_t(u32, sources - 1, FEW_MAX));
		for (round = 0; round < 3000; round++) {
			u32 source = aftl_random_below(&random, sources);
			u64 time = aftl_random_below(&random, 8) ?
					   aftl_random_below(&random, 20) : AFTL_NEVER;

			expected[source] = time;
			aftl_events_set_time(&events, source, time);
			CHECK_EQ(aftl_events_earliest_source(&events),
				 find_earliest_event_source(sources));
			CHECK_EQ(aftl_events_earliest_ns(&events),
				 expected[find_earliest_event_source(sources)]);
		}
	}
}
