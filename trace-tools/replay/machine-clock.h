/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The monotonic clock that requests are scheduled by.
 */
#ifndef AFTL_MACHINE_CLOCK_H
#define AFTL_MACHINE_CLOCK_H

#include <time.h>

#include "aftl-host.h"

#define NS_PER_S 1000000000ULL

static inline u64 machine_clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec;
}

static inline struct timespec ns_to_timespec(u64 ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

/* Return: nanoseconds from now until the time @until_ns, or 0 if this time has passed. */
static inline u64 machine_clock_get_ns_until_time(u64 until_ns)
{
	u64 now = machine_clock_now_ns();

	return until_ns > now ? until_ns - now : 0;
}

#endif
