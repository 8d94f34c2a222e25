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
 * @times: of the next item of each; TRACE_MERGE_OVER if there is none
 * @count: how many
 * @current: the one that the last item came from
 * @limit_ns: it may go on before this time without asking the others
 * @begun: @times is known
 */
struct trace_merge {
	struct trace_source *sources;
	u64 *times;
	u32 count;
	u32 current;
	u64 limit_ns;
	bool begun;
};

/* No item has this time: it would be beyond what a time may be. */
#define TRACE_MERGE_OVER U64_MAX

/* Opens all of them; they must all have events, or all requests. */
int __must_check trace_merge_open(struct trace_merge *merge, const char *const *paths, u32 count,
				  const struct trace_hints *hints, struct trace_losses *losses,
				  struct aftl_error *error);
void trace_merge_close(struct trace_merge *merge);

/* The same when another file's turn may have come. */
int __must_check trace_merge_turn(struct trace_merge *merge, const void **item,
				  struct aftl_error *error);

/**
 * trace_merge_next() - the next item
 *
 * It stays until the next call.
 *
 * Return: 1, 0 at the end, or a negative error number.
 */
static inline int __must_check trace_merge_next(struct trace_merge *merge, const void **item,
						struct aftl_error *error)
{
	struct trace_window *window = &merge->sources[merge->current].window;

	if (unlikely(window->next >= window->ready) ||
	    trace_window_time(window) >= merge->limit_ns)
		return trace_merge_turn(merge, item, error);
	*item = trace_window_peek(window);
	window->next++;
	return 1;
}

#endif
