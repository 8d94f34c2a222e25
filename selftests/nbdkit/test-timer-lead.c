// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the lead of timers on a simulated clock, on which a thread continues a chosen delay after
 * its timer.
 */
#include "tap.h"
#include "timer-lead.h"

/* Distance of the events of the simulated clock */
#define EVERY_NS 1000000ULL

/**
 * struct sleeper - a thread that sleeps until one event after another
 * @lead: the lead of its timers
 * @until_ns: time of the next event
 * @early_ns: longest time by which the thread continued before an event
 * @late_ns: longest time by which the thread continued after an event
 */
struct sleeper {
	struct timer_lead lead;
	u64 until_ns;
	u64 early_ns;
	u64 late_ns;
};

static void start_sleeper(struct sleeper *sleeper)
{
	*sleeper = (struct sleeper){ .until_ns = EVERY_NS };
	timer_lead_init(&sleeper->lead);
}

/*
 * Sleep until as many events as a period has timers. The delays of the timers are
 * @delay_ns + k * @step_ns, where k takes the values 0 to 7 in an irregular order.
 */
static void sleep_for_one_period(struct sleeper *sleeper, u64 delay_ns, u64 step_ns)
{
	u32 i;

	sleeper->early_ns = 0;
	sleeper->late_ns = 0;
	for (i = 0; i < TIMER_LEAD_PERIOD; i++) {
		u64 delay = delay_ns + (i * 5 + 3) % 8 * step_ns;
		u64 timer_ns = timer_lead_compute_timer_ns(&sleeper->lead, sleeper->until_ns);
		u64 now_ns = timer_ns + delay;

		if (now_ns < sleeper->until_ns)
			sleeper->early_ns = max(sleeper->early_ns, sleeper->until_ns - now_ns);
		else
			sleeper->late_ns = max(sleeper->late_ns, now_ns - sleeper->until_ns);
		timer_lead_learn_delay(&sleeper->lead, delay);
		sleeper->until_ns += EVERY_NS;
	}
}

TAP_TEST(equal_delays_are_compensated_after_a_period)
{
	u64 delay_ns;

	for (delay_ns = 0; delay_ns <= TIMER_LEAD_MAX_NS; delay_ns += 7500) {
		struct sleeper sleeper;

		start_sleeper(&sleeper);
		sleep_for_one_period(&sleeper, delay_ns, 0);
		CHECK_EQ(sleeper.early_ns, 0);
		CHECK_EQ(sleeper.late_ns, delay_ns);
		sleep_for_one_period(&sleeper, delay_ns, 0);
		CHECK_EQ(sleeper.early_ns, 0);
		CHECK_EQ(sleeper.late_ns, 0);
	}
}

TAP_TEST(threads_are_not_early_if_delays_vary)
{
	struct sleeper sleeper;
	u32 i;

	start_sleeper(&sleeper);
	sleep_for_one_period(&sleeper, 12000, 3000);
	for (i = 0; i < 3; i++) {
		sleep_for_one_period(&sleeper, 12000, 3000);
		CHECK_EQ(sleeper.early_ns, 0);
		CHECK_EQ(sleeper.late_ns, 7 * 3000);
	}
}

/* A processor that becomes busy wakes up sooner, and one that becomes idle later. */
TAP_TEST(lead_follows_shorter_and_longer_delays)
{
	static const u64 delays_ns[] = { 15000, 2000, 28000, 0, 9000 };
	struct sleeper sleeper;
	u32 i;

	start_sleeper(&sleeper);
	for (i = 0; i < ARRAY_SIZE(delays_ns); i++) {
		sleep_for_one_period(&sleeper, delays_ns[i], 0);
		CHECK(sleeper.early_ns <= (i ? delays_ns[i - 1] : 0));
		sleep_for_one_period(&sleeper, delays_ns[i], 0);
		CHECK_EQ(sleeper.early_ns + sleeper.late_ns, 0);
	}
}

TAP_TEST(one_short_delay_costs_a_period_at_most)
{
	struct sleeper sleeper;

	start_sleeper(&sleeper);
	sleep_for_one_period(&sleeper, 20000, 0);
	timer_lead_learn_delay(&sleeper.lead, 0);
	sleep_for_one_period(&sleeper, 20000, 0);
	CHECK_EQ(sleeper.late_ns, 20000);
	sleep_for_one_period(&sleeper, 20000, 0);
	sleep_for_one_period(&sleeper, 20000, 0);
	CHECK_EQ(sleeper.late_ns, 0);
}

/* A waiting thread polls the clock for the lead at most, so the lead has a limit. */
TAP_TEST(lead_has_a_limit)
{
	struct sleeper sleeper;

	start_sleeper(&sleeper);
	sleep_for_one_period(&sleeper, 1000 * TIMER_LEAD_MAX_NS, 0);
	sleep_for_one_period(&sleeper, 1000 * TIMER_LEAD_MAX_NS, 0);
	CHECK_EQ(sleeper.late_ns, 999 * TIMER_LEAD_MAX_NS);
	sleep_for_one_period(&sleeper, 0, 0);
	CHECK_EQ(sleeper.early_ns, TIMER_LEAD_MAX_NS);
}

TAP_TEST(timers_of_no_event_and_of_the_begin_of_time)
{
	struct sleeper sleeper;

	start_sleeper(&sleeper);
	sleep_for_one_period(&sleeper, 10000, 0);
	CHECK_EQ(timer_lead_compute_timer_ns(&sleeper.lead, U64_MAX), U64_MAX);
	CHECK_EQ(timer_lead_compute_timer_ns(&sleeper.lead, 10001), 1);
	CHECK_EQ(timer_lead_compute_timer_ns(&sleeper.lead, 9999), 0);
}
