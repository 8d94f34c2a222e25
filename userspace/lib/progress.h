/* SPDX-License-Identifier: GPL-2.0-only */
/* A progress line on stderr for long runs. */
#ifndef AFTL_PROGRESS_H
#define AFTL_PROGRESS_H

#include "aftl-host.h"

enum progress_when {
	PROGRESS_NEVER,
	PROGRESS_ALWAYS,
	PROGRESS_ON_TERMINAL,
};

/**
 * struct progress - progress of one activity
 * @what: name of the activity
 * @total: number of steps, 0 if unknown
 * @begin_ns: start on the machine's monotonic clock
 * @printed_ns: time of the last print
 * @shown: whether to print at all
 * @printed: whether there is a line to erase
 */
struct progress {
	const char *what;
	u64 total;
	u64 begin_ns;
	u64 printed_ns;
	bool shown;
	bool printed;
};

void progress_begin(struct progress *progress, enum progress_when when, const char *what,
		    u64 total);

/* Update the line; call this every few thousand steps. It prints at most five times a second. */
void progress_report(struct progress *progress, u64 done);

/**
 * progress_set_count_receiver() - store the number of completed steps, and print nothing
 * @to: variable that another thread or process polls; applies to activities of the calling thread
 */
void progress_set_count_receiver(u64 *to);

/* Erase the progress line. */
void progress_end(struct progress *progress);

#endif
