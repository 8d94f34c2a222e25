/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What could not be read: counted, told with file and line or byte, and fatal if so asked.
 */
#ifndef AFTL_TRACE_LOSSES_H
#define AFTL_TRACE_LOSSES_H

#include <stdio.h>

#include "core/base/params.h"

/* So many complaints are printed if nobody asked for a list. */
#define TRACE_LOSSES_SHOWN 10

/**
 * struct trace_losses - what was lost
 * @strict: the first loss is an error
 * @list: file that takes all complaints, or NULL
 * @silent: nothing is printed
 * @told: complaints so far
 * @lines: of text that were not understood
 * @skipped_bytes: between events, that are no event
 * @missing_events: numbers of events that were left out
 * @late: requests and events whose time had to be raised
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
 * trace_losses_tell() - one loss, which the caller counts
 * @place: "line" or "byte"
 * @at: which one
 *
 * Return: 0, or -EINVAL and the sentence in @error if losses are errors.
 */
__printf(6, 7) int __must_check trace_losses_tell(struct trace_losses *losses, const char *file,
						  const char *place, u64 at,
						  struct aftl_error *error, const char *format,
						  ...);

#endif
