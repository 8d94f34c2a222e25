// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tournament of event sources against a search through all of them.
 */
#include "core/base/events.h"
#include "core/base/random.h"
#include "tap.h"

#define SOURCES_MAX 200

static u64 when[256];
static u32 winner[512];
static u64 expected[SOURCES_MAX];

static void begin(struct aftl_events *events, u32 sources)
{
	u32 i;

	*events = (struct aftl_events){ when, winner, aftl_events_leaves(sources) };
	memset(when, 0x5a, sizeof(when));
	memset(winner, 0x5a, sizeof(winner));
	aftl_events_init(events);
	for (i = 0; i < sources; i++)
		expected[i] = AFTL_NEVER;
}

static u32 search(u32 sources)
{
	u32 first = 0;
	u32 i;

	for (i = 1; i < sources; i++)
		if (expected[i] < expected[first])
			first = i;
	return first;
}

static void leaves_are_enough(void)
{
	u32 sources;

	for (sources = 1; sources < 5000; sources++) {
		u32 leaves = aftl_events_leaves(sources);

		CHECK(leaves >= sources && leaves >= 2);
		CHECK_MSG(!(leaves & (leaves - 1)), "%u is no power of two", leaves);
		CHECK(sources == 1 || leaves < 2 * sources);
	}
}

static void a_quiet_set_never_acts(void)
{
	struct aftl_events events;
	u32 sources;

	for (sources = 1; sources <= SOURCES_MAX; sources++) {
		begin(&events, sources);
		CHECK_EQ(aftl_events_when(&events), AFTL_NEVER);
		CHECK_EQ(aftl_events_first(&events), 0);
	}
}

static void the_first_is_the_earliest_and_lowest(void)
{
	struct aftl_random random = { 6 };
	struct aftl_events events;
	u32 sources;
	int round;

	for (sources = 1; sources <= SOURCES_MAX; sources += 1 + sources / 5) {
		begin(&events, sources);
		for (round = 0; round < 3000; round++) {
			u32 source = aftl_random_below(&random, sources);
			u64 time = aftl_random_below(&random, 8) ?
					   aftl_random_below(&random, 20) : AFTL_NEVER;

			expected[source] = time;
			aftl_events_set(&events, source, time);
			CHECK_EQ(aftl_events_first(&events), search(sources));
			CHECK_EQ(aftl_events_when(&events), expected[search(sources)]);
		}
	}
}

int main(void)
{
	tap_run("there is a leaf for each source", leaves_are_enough);
	tap_run("a quiet set never acts", a_quiet_set_never_acts);
	tap_run("the earliest source is first, the lowest among equals",
		the_first_is_the_earliest_and_lowest);
	return tap_finish();
}
