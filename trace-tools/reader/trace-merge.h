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

/* Items that are put in order at once. */
#define TRACE_MERGE_RUN 256

/**
 * struct trace_merge - all of them
 * @sources: the files
 * @times: of the next item of each; TRACE_MERGE_OVER if there is none
 * @count: how many
 * @run: items that come next, where they stand in their windows
 * @run_next: the first of them that was not taken
 * @run_end: behind the last one
 */
struct trace_merge {
	struct trace_source *sources;
	u64 *times;
	u32 count;
	const void *run[TRACE_MERGE_RUN];
	u32 run_next;
	u32 run_end;
};

/* No item has this time: it would be beyond what a time may be. */
#define TRACE_MERGE_OVER U64_MAX

/* Opens all of them; they must all have events, or all requests. */
int __must_check trace_merge_open(struct trace_merge *merge, const char *const *paths, u32 count,
				  const struct trace_hints *hints, struct trace_losses *losses,
				  struct aftl_error *error);
void trace_merge_close(struct trace_merge *merge);

/* Finds out what comes next; nothing if all files are at their end. */
int __must_check trace_merge_gather(struct trace_merge *merge, struct aftl_error *error);

/**
 * trace_merge_ahead() - the next items, which stay until all of them were taken
 *
 * Return: how many, 0 at the end, or a negative error number.
 */
static inline int __must_check trace_merge_ahead(struct trace_merge *merge,
						 const void *const **items,
						 struct aftl_error *error)
{
	if (unlikely(merge->run_next == merge->run_end)) {
		int ret = trace_merge_gather(merge, error);

		if (ret < 0)
			return ret;
	}
	*items = merge->run + merge->run_next;
	return (int)(merge->run_end - merge->run_next);
}

static inline void trace_merge_taken(struct trace_merge *merge, u32 items)
{
	merge->run_next += items;
}

#endif
