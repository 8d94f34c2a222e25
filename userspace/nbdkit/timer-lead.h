/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads continue later than the time of their timers: a sleeping processor needs some 15 us to
 * wake up. Timers are set earlier by the shortest such delay of recent timers, the lead, so that
 * threads continue when events are due.
 */
#ifndef AFTL_TIMER_LEAD_H
#define AFTL_TIMER_LEAD_H

#include "aftl-host.h"

/* Timers from whose delays the lead is computed, and its limit. */
#define TIMER_LEAD_PERIOD 64
#define TIMER_LEAD_MAX_NS 30000ULL

/**
 * struct timer_lead - time by which timers are set earlier
 * @lead_ns: the lead, from the previous period
 * @least_delay_ns: shortest delay of a timer in the current period
 * @timers: timers that have expired in the current period
 */
struct timer_lead {
	u64 lead_ns;
	u64 least_delay_ns;
	u32 timers;
};

void timer_lead_init(struct timer_lead *lead);

/* Take the delay of an expired timer into account. */
void timer_lead_learn_delay(struct timer_lead *lead, u64 delay_ns);

/* Return the time of the timer of a thread that shall continue at @until_ns; U64_MAX: never. */
u64 timer_lead_compute_timer_ns(const struct timer_lead *lead, u64 until_ns);

#endif
