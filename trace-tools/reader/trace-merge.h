/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several files as one stream in the order of time; at equal times the earlier file is first.
 */
#ifndef AFTL_TRACE_MERGE_H
#define AFTL_TRACE_MERGE_H

#include "trace-format.h"
#include "trace-window.h"

/**
 * struct trace_source - one of the files
 * @file: it
 * @window: its items
 * @over: everything is in the window
 */
struct trace_source {
	struct trace_file file;
	struct trace_window window;
	bool over;
};

/**
 * struct trace_merge - all of them
 * @sources: the files
 * @count: how many
 * @current: the one that the last item came from
 * @limit_ns: it may go on up to this time before the others are asked
 * @limit_wins: at @limit_ns itself, too
 */
struct trace_merge {
	struct trace_source *sources;
	u32 count;
	u32 current;
	u64 limit_ns;
	bool limit_wins;
};

/* Opens all of them; they must all have events, or all requests. */
int __must_check trace_merge_open(struct trace_merge *merge, const char *const *paths, u32 count,
				  const struct trace_hints *hints, struct trace_losses *losses,
				  struct aftl_error *error);
void trace_merge_close(struct trace_merge *merge);

/**
 * trace_merge_next() - the next item
 *
 * It stays until the next call.
 *
 * Return: 1, 0 at the end, or a negative error number.
 */
int __must_check trace_merge_next(struct trace_merge *merge, const void **item,
				  struct aftl_error *error);

#endif
