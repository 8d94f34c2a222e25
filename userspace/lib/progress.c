// SPDX-License-Identifier: GPL-2.0-only
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define NS_PER_S 1000000000ULL
#define PRINT_EVERY_NS (NS_PER_S / 5)
#define QUIET_FOR_NS (NS_PER_S / 2)

static __thread u64 *receiver;

static u64 read_monotonic_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec;
}

void progress_begin(struct progress *progress, enum progress_when when, const char *what,
		    u64 total)
{
	u64 now = read_monotonic_clock_ns();

	*progress = (struct progress){
		.what = what,
		.total = total,
		.begin_ns = now,
		.printed_ns = now + QUIET_FOR_NS - PRINT_EVERY_NS,
		.shown = !receiver &&
			 (when == PROGRESS_ALWAYS ||
			  (when == PROGRESS_ON_TERMINAL && isatty(STDERR_FILENO))),
	};
	if (when == PROGRESS_ALWAYS)
		progress->printed_ns = 0;
}

static void print_progress_line(const struct progress *progress, u64 done, u64 elapsed_ns)
{
	u64 rate = done * 1000 / (elapsed_ns / (NS_PER_S / 1000) + 1);

	fprintf(stderr, "\r\033[K%s: %llu", progress->what, (unsigned long long)done);
	if (progress->total)
		fprintf(stderr, " of %llu, %llu%%", (unsigned long long)progress->total,
			(unsigned long long)(done * 100 / progress->total));
	fprintf(stderr, ", %llu/s", (unsigned long long)rate);
	if (progress->total > done && rate)
		fprintf(stderr, ", %llu s left",
			(unsigned long long)((progress->total - done) / rate));
	fflush(stderr);
}

void progress_report(struct progress *progress, u64 done)
{
	u64 now;

	if (receiver)
		*receiver = done;
	if (!progress->shown)
		return;
	now = read_monotonic_clock_ns();
	if (now < progress->printed_ns + PRINT_EVERY_NS)
		return;
	print_progress_line(progress, done, now - progress->begin_ns);
	progress->printed_ns = now;
	progress->printed = true;
}

void progress_set_count_receiver(u64 *to)
{
	receiver = to;
}

void progress_end(struct progress *progress)
{
	if (progress->printed)
		fputs("\r\033[K", stderr);
	progress->printed = false;
}
