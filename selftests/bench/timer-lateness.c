// SPDX-License-Identifier: GPL-2.0-only
/*
 * How late this machine wakes whoever sleeps until a moment: what no replay can be better than.
 *
 *	timer-lateness TIMES PERIOD_US
 *
 * Prints how late each of so many sleeps ended, in ns. Runs before ordinary processes if it may.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define NS_PER_S 1000000000LL

static long long monotonic_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static long long sleep_until(long long due_ns)
{
	const struct timespec due = { due_ns / NS_PER_S, due_ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL))
		;
	return monotonic_now_ns() - due_ns;
}

int main(int argc, char **argv)
{
	const struct sched_param first = { .sched_priority = 1 };
	long times = argc == 3 ? atol(argv[1]) : 0;
	long long period_ns = argc == 3 ? atoll(argv[2]) * 1000 : 0;
	long long *late, due_ns;
	long i;

	if (times < 1 || period_ns < 1) {
		fputs("usage: timer-lateness TIMES PERIOD_US\n", stderr);
		return 2;
	}
	late = calloc((size_t)times, sizeof(*late));
	if (!late)
		return 1;
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (sched_setscheduler(0, SCHED_FIFO, &first) || mlockall(MCL_CURRENT))
		fputs("timer-lateness: as an ordinary process\n", stderr);
	due_ns = monotonic_now_ns() + period_ns;
	for (i = 0; i < times; i++, due_ns += period_ns)
		late[i] = sleep_until(due_ns);
	for (i = 0; i < times; i++)
		printf("%lld\n", late[i]);
	free(late);
	return 0;
}
