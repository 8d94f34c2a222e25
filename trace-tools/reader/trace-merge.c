// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "trace-merge.h"

static int blame_mixture(const struct trace_merge *merge, u32 i, struct aftl_error *error)
{
	const struct trace_file *first = &merge->sources[0].file;
	const struct trace_file *other = &merge->sources[i].file;

	return aftl_fail(error, -EINVAL,
			 "%.60s is %s and %.60s is %s: events and requests cannot be mixed",
			 first->input.name, first->format->name, other->input.name,
			 other->format->name);
}

static int open_source(struct trace_merge *merge, const char *path,
		       const struct trace_hints *hints, struct trace_losses *losses,
		       struct aftl_error *error)
{
	struct trace_source *source = &merge->sources[merge->count];
	int ret = trace_file_open(&source->file, path, hints, losses, error);

	if (ret)
		return ret;
	merge->count++;
	trace_window_create(&source->window, trace_item_bytes(source->file.format),
			    source->file.format->events ? TRACE_WINDOW_EVENTS : TRACE_WINDOW);
	if (source->file.format->events != merge->sources[0].file.format->events)
		return blame_mixture(merge, merge->count - 1, error);
	return 0;
}

int trace_merge_open(struct trace_merge *merge, const char *const *paths, u32 count,
		     const struct trace_hints *hints, struct trace_losses *losses,
		     struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	*merge = (struct trace_merge){
		.sources = memory_zeroed(count, sizeof(*merge->sources)),
		.times = memory_zeroed(count, sizeof(*merge->times)),
	};
	for (i = 0; i < count && !ret; i++) {
		ret = open_source(merge, paths[i], hints, losses, error);
		/* A processor that had nothing to say. */
		if (ret == -ENODATA && (merge->count || i + 1 < count))
			ret = 0;
	}
	if (ret)
		trace_merge_close(merge);
	return ret;
}

void trace_merge_close(struct trace_merge *merge)
{
	u32 i;

	for (i = 0; i < merge->count; i++) {
		trace_window_free(&merge->sources[i].window);
		trace_file_close(&merge->sources[i].file);
	}
	free(merge->sources);
	free(merge->times);
	*merge = (struct trace_merge){ 0 };
}

static int tell_late(struct trace_source *source, u64 before, struct aftl_error *error)
{
	u64 late = source->window.late - before;
	struct trace_file *file = &source->file;

	if (!late)
		return 0;
	file->losses->late += late;
	if (file->format->line)
		return trace_losses_tell(file->losses, file->input.name, "line", file->input.line,
					 error, "before it %llu were later in time",
					 (unsigned long long)late);
	return trace_losses_tell(file->losses, file->input.name, "byte", file->input.offset, error,
				 "before it %llu came too late", (unsigned long long)late);
}

static int refill(struct trace_source *source, struct aftl_error *error)
{
	while (!source->over && !trace_window_peek(&source->window)) {
		u64 late = source->window.late;
		u32 room;
		void *out = trace_window_room(&source->window, &room);
		int ret = trace_file_fill(&source->file, out, room, error);

		if (ret < 0)
			return ret;
		source->over = !ret;
		trace_window_filled(&source->window, (u32)ret, source->over);
		ret = tell_late(source, late, error);
		if (ret)
			return ret;
	}
	return 0;
}

/* Looks what comes next from a file. */
static int look(struct trace_merge *merge, u32 i, struct aftl_error *error)
{
	struct trace_source *source = &merge->sources[i];
	int ret = refill(source, error);

	if (ret)
		return ret;
	merge->times[i] = TRACE_MERGE_OVER;
	if (trace_window_peek(&source->window))
		merge->times[i] = min(trace_window_time(&source->window), TRACE_MERGE_OVER - 1);
	return 0;
}

static int look_at_all(struct trace_merge *merge, struct aftl_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < merge->count && !ret; i++)
		ret = look(merge, i, error);
	merge->begun = !ret;
	return ret;
}

/* Sets the file whose next item is the earliest, and until when that will be so. */
static void choose(struct trace_merge *merge)
{
	u64 best = TRACE_MERGE_OVER, second = TRACE_MERGE_OVER;
	u32 i;

	for (i = 0; i < merge->count; i++) {
		u64 t_ns = merge->times[i];

		if (t_ns < best) {
			second = best;
			best = t_ns;
			merge->current = i;
		} else if (t_ns < second) {
			second = t_ns;
		}
	}
	merge->limit_ns = second;
}

int trace_merge_turn(struct trace_merge *merge, const void **item, struct aftl_error *error)
{
	int ret = merge->begun ? look(merge, merge->current, error) : look_at_all(merge, error);
	struct trace_window *window;

	if (ret)
		return ret;
	choose(merge);
	if (merge->times[merge->current] == TRACE_MERGE_OVER)
		return 0;
	window = &merge->sources[merge->current].window;
	*item = trace_window_peek(window);
	window->next++;
	return 1;
}
