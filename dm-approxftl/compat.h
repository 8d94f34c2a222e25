/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the kernel's interfaces differ between 6.1 and now; nothing else belongs here.
 */
#ifndef AFTL_COMPAT_H
#define AFTL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

/* hrtimer_setup() came in 6.13, hrtimer_init() went in 6.15. */
static inline void aftl_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *timer),
				      enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

#endif
