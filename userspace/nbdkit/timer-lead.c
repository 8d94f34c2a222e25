// SPDX-License-Identifier: GPL-2.0-only
#include "timer-lead.h"

void timer_lead_init(struct timer_lead *lead)
{
	*lead = (struct timer_lead){ .least_delay_ns = U64_MAX };
}

void timer_lead_learn_delay(struct timer_lead *lead, u64 delay_ns)
{
	lead->least_delay_ns = min(lead->least_delay_ns, delay_ns);
	if (++lead->timers < TIMER_LEAD_PERIOD)
		return;
	lead->lead_ns = min(lead->least_delay_ns, TIMER_LEAD_MAX_NS);
	lead->least_delay_ns = U64_MAX;
	lead->timers = 0;
}

u64 timer_lead_compute_timer_ns(const struct timer_lead *lead, u64 until_ns)
{
	return until_ns == U64_MAX ? U64_MAX : until_ns - min(lead->lead_ns, until_ns);
}
