/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line on stderr that says how far a long run is.
 */
#ifndef AFTL_PROGRESS_H
#define AFTL_PROGRESS_H

#include "aftl-host.h"

enum progress_when {
	PROGRESS_NEVER,
	PROGRESS_ALWAYS,
	PROGRESS_ON_TERMINAL,
};

/**
 * struct progress - of one activity
 * @what: its name
 * @total: steps, 0 if nobody knows
 * @begin_ns: when it began, on the clock of the machine
 * @printed_ns: when the line was printed last
 * @shown: whether to print at all
 * @printed: whether there is a line to remove
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

/* Cheap enough for each few thousand steps; prints at most five times a second. */
void progress_step(struct progress *progress, u64 done);

/**
 * progress_send() - of every activity that begins from now on, the steps are a number and no line
 * @to: where another process looks for it
 */
void progress_send(u64 *to);

/* Removes the line. */
void progress_end(struct progress *progress);

#endif
