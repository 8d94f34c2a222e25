// SPDX-License-Identifier: GPL-2.0-only
/* Device time and device age. */
#include "core/ftl/controller.h"
#include "core/ftl/run-queue.h"
#include "core/ftl/time.h"

u64 aftl_next_event_ns(const struct aftl *ftl)
{
	return aftl_scheduler_has_work(ftl) ? ftl->now_ns : aftl_events_earliest_ns(&ftl->events);
}

u64 aftl_device_time_ns(const struct aftl *ftl)
{
	return ftl->now_ns;
}

void aftl_update_device_hour(struct aftl *ftl)
{
	ftl->hour = aftl_device_age_hours(ftl);
	ftl->hour_ns = ftl->hour * AFTL_HOUR_NS;
}

u64 aftl_device_age_hours(const struct aftl *ftl)
{
	return div64_u64(ftl->age_ns + ftl->now_ns, AFTL_HOUR_NS);
}
