// SPDX-License-Identifier: GPL-2.0-only
/* Conversion between device time and host time. */
#include "disk/disk.h"

u64 aftl_disk_to_host_ns(const struct aftl_disk *disk, u64 device_ns)
{
	u64 span;

	if (check_mul_overflow(device_ns - disk->start_ns, (u64)disk->scale, &span) ||
	    span > KTIME_MAX - disk->start_host_ns)
		return KTIME_MAX;
	return disk->start_host_ns + span;
}

u64 aftl_disk_now_ns(const struct aftl_disk *disk)
{
	lockdep_assert_held(&disk->lock);
	if (disk->scale == AFTL_TIMING_OFF || !disk->running)
		return aftl_device_time_ns(disk->ftl);
	return disk->start_ns + div_u64(ktime_get_ns() - disk->start_host_ns, disk->scale);
}

u64 aftl_disk_completion_lateness(const struct aftl_disk *disk, const struct aftl_request *request)
{
	u64 now_ns = ktime_get_ns();
	u64 due_ns = aftl_disk_to_host_ns(disk, request->complete_ns);

	return now_ns > due_ns ? now_ns - due_ns : 0;
}
