/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges several files into one stream ordered by time; at equal times the earlier file goes
 * first.
 */
#ifndef AFTL_TRACE_MERGE_H
#define AFTL_TRACE_MERGE_H

#include "trace-format.h"
#include "trace-window.h"

/**
 * struct trace_source - one of the merged files
 * @file: the trace file
 * @window: buffer that sorts the file's items (requests or events) by time
 * @over: all items of the file have been read into the window
 */
struct trace_source {
	struct trace_file file;
	struct trace_window window;
	bool over;
};

/* Maximum number of items in the merged run, which are ready to be taken. */
#define TRACE_MERGE_RUN 256

/**
 * struct trace_merge - a merged stream
 * @sources: the merged files, each with a window of its next items
 * @times: time of the next item of each file; TRACE_MERGE_OVER if it has none
 * @count: number of files
 * @run: the next items in order, as pointers into the windows
 * @run_next: index of the first item in @run that was not taken
 * @run_end: index behind the last item in @run
 */
struct trace_merge {
	struct trace_source *sources;
	u64 *times;
	u32 count;
	const void *run[TRACE_MERGE_RUN];
	u32 run_next;
	u32 run_end;
};

/* A time greater than any valid time, which marks a file without further items. */
#define TRACE_MERGE_OVER U64_MAX

/* Open all files. Either all files must hold events, or all must hold requests. */
int __must_check trace_merge_open(struct trace_merge *merge, const char *const *paths, u32 count,
				  const struct trace_hints *hints, struct trace_losses *losses,
				  struct aftl_error *error);
void trace_merge_close(struct trace_merge *merge);

/* Fill the merged run of next items, which stays empty if all files are at their end. */
int __must_check trace_merge_gather_items(struct trace_merge *merge, struct aftl_error *error);

/**
 * trace_merge_next_items() - get the next items, which stay valid until all are taken
 *
 * Return: the number of items, 0 at the end, or a negative error number.
 */
static inline int __must_check trace_merge_next_items(struct trace_merge *merge,
						      const void *const **items,
						      struct aftl_error *error)
{
	if (unlikely(merge->run_next == merge->run_end)) {
		int ret = trace_merge_gather_items(merge, error);

		if (ret < 0)
			return ret;
	}
	*items = merge->run + merge->run_next;
	return (int)(merge->run_end - merge->run_next);
}

static inline void trace_merge_consume_items(struct trace_merge *merge, u32 items)
{
	merge->run_next += items;
}

#endif
