/* SPDX-License-Identifier: GPL-2.0-only */
/* Age of the device. */
#ifndef AFTL_TIME_H
#define AFTL_TIME_H

#include "core/ftl/controller.h"

void aftl_update_device_hour(struct aftl *ftl);

/* Device age in hours: aftl_device_age_hours() without a division in the common case. */
static inline u64 aftl_device_hour(struct aftl *ftl)
{
	if (unlikely(ftl->age_ns + ftl->now_ns - ftl->hour_ns >= AFTL_HOUR_NS))
		aftl_update_device_hour(ftl);
	return ftl->hour;
}

#endif
