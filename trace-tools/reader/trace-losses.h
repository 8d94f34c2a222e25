/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts and reports unreadable parts of a trace, with file and line or byte. In strict mode the
 * first loss is an error.
 */
#ifndef AFTL_TRACE_LOSSES_H
#define AFTL_TRACE_LOSSES_H

#include <stdio.h>

#include "core/base/params.h"

/* Maximum number of complaints that are printed, unless the user asked for a list. */
#define TRACE_LOSSES_SHOWN 10

/**
 * struct trace_losses - losses while reading traces
 * @strict: treat the first loss as an error
 * @list: file that takes all complaints, or NULL
 * @silent: print nothing
 * @told: number of complaints so far
 * @lines: number of lines that could not be parsed
 * @skipped_bytes: number of bytes skipped because they form no event
 * @missing_events: number of events missing by their sequence numbers
 * @late: number of requests and events whose time was raised to keep the order
 */
struct trace_losses {
	bool strict;
	FILE *list;
	bool silent;
	u64 told;
	u64 lines;
	u64 skipped_bytes;
	u64 missing_events;
	u64 late;
};

/**
 * trace_losses_print() - report one loss; the caller counts it
 * @place: "line" or "byte"
 * @at: number of the line or byte
 *
 * Return: 0, or -EINVAL with a message in @error in strict mode.
 */
__printf(6, 7) int __must_check trace_losses_print(struct trace_losses *losses, const char *file,
						   const char *place, u64 at,
						   struct aftl_error *error, const char *format,
						   ...);

#endif
