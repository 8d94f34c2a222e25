// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "trace-merge.h"

static int open_merge_source(struct trace_merge *merge, const char *path,
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
	if (source->file.format->events != merge->sources[0].file.format->events) {
		const struct trace_file *first = &merge->sources[0].file;
		const struct trace_file *other = &merge->sources[merge->count - 1].file;

		return aftl_fail(error, -EINVAL,
				 "%.60s is %s and %.60s is %s: events and requests cannot be mixed",
				 first->input.name, first->format->name, other->input.name,
				 other->format->name);
	}
	return 0;
}

int trace_merge_open(struct trace_merge *merge, const char *const *paths, u32 count,
		     const struct trace_hints *hints, struct trace_losses *losses,
		     struct aftl_error *error)
{
	int ret = 0;

	*merge = (struct trace_merge){
		.sources = memory_alloc_zeroed(count, sizeof(*merge->sources)),
		.times = memory_alloc_zeroed(count, sizeof(*merge->times)),
	};
	for (u32 i = 0; i < count && !ret; i++) {
		ret = open_merge_source(merge, paths[i], hints, losses, error);
		/* A CPU that recorded no events leaves an empty blktrace file. */
		if (ret == -ENODATA && (merge->count || i + 1 < count))
			ret = 0;
	}
	if (ret)
		trace_merge_close(merge);
	return ret;
}

void trace_merge_close(struct trace_merge *merge)
{
	for (u32 i = 0; i < merge->count; i++) {
		trace_window_free(&merge->sources[i].window);
		trace_file_close(&merge->sources[i].file);
	}
	free(merge->sources);
	free(merge->times);
	*merge = (struct trace_merge){ 0 };
}

static int report_item_out_of_order(struct trace_source *source, u64 before,
				    struct aftl_error *error)
{
	u64 late = source->window.late - before;
	struct trace_file *file = &source->file;

	if (!late)
		return 0;
	file->losses->late += late;
	if (file->format->line)
		return trace_losses_print(file->losses, file->input.name, "line", file->input.line,
					  error, "before it %llu were later in time",
					  (unsigned long long)late);
	return trace_losses_print(file->losses, file->input.name, "byte", file->input.offset, error,
				  "before it %llu came too late", (unsigned long long)late);
}

static int refill_merge_source(struct trace_source *source, struct aftl_error *error)
{
	while (!source->over && !trace_window_peek_item(&source->window)) {
		u64 late = source->window.late;
		u32 room;
		void *out = trace_window_item_room(&source->window, &room);
		int ret = trace_file_read_events_or_requests(&source->file, out, room, error);

		if (ret < 0)
			return ret;
		source->over = !ret;
		trace_window_add_items(&source->window, (u32)ret, source->over);
		ret = report_item_out_of_order(source, late, error);
		if (ret)
			return ret;
	}
	return 0;
}

/* Find the time of the next request or event of file @i, reading from the file if necessary. */
static int load_next_merge_item(struct trace_merge *merge, u32 i, struct aftl_error *error)
{
	struct trace_source *source = &merge->sources[i];
	int ret = refill_merge_source(source, error);

	if (ret)
		return ret;
	merge->times[i] = TRACE_MERGE_OVER;
	if (trace_window_peek_item(&source->window))
		merge->times[i] =
			min(trace_window_next_item_time(&source->window), TRACE_MERGE_OVER - 1);
	return 0;
}

#define NONE U32_MAX

/**
 * struct turn - the input file from which a merge takes items next
 * @first: index of the file with the earliest next item
 * @second: index of the file with the second earliest next item
 * @limit_ns: time of the earliest next item of the remaining files
 */
struct turn {
	u32 first;
	u32 second;
	u64 limit_ns;
};

static struct turn find_source_of_next_item(const struct trace_merge *merge)
{
	struct turn turn = { .first = NONE, .second = NONE, .limit_ns = TRACE_MERGE_OVER };
	u64 first_ns = TRACE_MERGE_OVER, second_ns = TRACE_MERGE_OVER;

	for (u32 i = 0; i < merge->count; i++) {
		u64 t_ns = merge->times[i];

		if (t_ns < first_ns) {
			turn.limit_ns = second_ns;
			second_ns = first_ns;
			first_ns = t_ns;
			turn.second = turn.first;
			turn.first = i;
		} else if (t_ns < second_ns) {
			turn.limit_ns = second_ns;
			second_ns = t_ns;
			turn.second = i;
		} else if (t_ns < turn.limit_ns) {
			turn.limit_ns = t_ns;
		}
	}
	return turn;
}

static u64 get_merge_item_time(const u8 *item)
{
	return *(const u64 *)item;
}

/* Append a file's items before the time @limit_ns to the run, the sorted array of next items. */
static void append_items_of_one_source(struct trace_merge *merge, struct trace_window *window,
				       u64 limit_ns)
{
	do {
		merge->run[merge->run_end++] = trace_window_peek_item(window);
		window->next++;
	} while (merge->run_end < TRACE_MERGE_RUN && window->next < window->ready &&
		 trace_window_next_item_time(window) < limit_ns);
}

/*
 * Merge the items of two files by time; those of @a go first at equal times. The order of the items
 * is unpredictable, so no branch of the loop depends on it.
 */
static void merge_items_of_two_sources(struct trace_merge *merge, struct trace_window *a,
				       struct trace_window *b, u64 limit_ns)
{
	const u8 *at_a = trace_window_peek_item(a), *at_b = trace_window_peek_item(b);
	const u8 *end_a = trace_window_end_pointer_of_ready_items(a);
	const u8 *end_b = trace_window_end_pointer_of_ready_items(b);
	u64 a_ns = get_merge_item_time(at_a), b_ns = get_merge_item_time(at_b);
	size_t bytes = a->item_bytes;
	u32 count = merge->run_end, from_a = 0, taken;

	do {
		size_t is_a = a_ns <= b_ns;

		__builtin_prefetch(at_a + 8 * bytes);
		__builtin_prefetch(at_b + 8 * bytes);
		merge->run[count++] = is_a ? at_a : at_b;
		from_a += (u32)is_a;
		at_a += bytes & -is_a;
		at_b += bytes & (is_a - 1);
		if (at_a == end_a || at_b == end_b)
			break;
		a_ns = get_merge_item_time(at_a);
		b_ns = get_merge_item_time(at_b);
	} while (count < TRACE_MERGE_RUN && min(a_ns, b_ns) < limit_ns);
	taken = count - merge->run_end;
	merge->run_end = count;
	a->next += from_a;
	b->next += taken - from_a;
}

/* Set the time of file @i's next item; return false if the file must be read first. */
static bool peek_next_item_time(struct trace_merge *merge, u32 i)
{
	const struct trace_source *source = &merge->sources[i];

	if (!trace_window_peek_item(&source->window)) {
		merge->times[i] = TRACE_MERGE_OVER;
		return source->over;
	}
	merge->times[i] = min(trace_window_next_item_time(&source->window), TRACE_MERGE_OVER - 1);
	return true;
}

/* Add items to the merged run; return false if a file must be read before more can be merged. */
static bool merge_more_trace_items(struct trace_merge *merge)
{
	struct turn turn = find_source_of_next_item(merge);
	bool more;

	if (turn.first == NONE)
		return false;
	if (turn.second == NONE) {
		append_items_of_one_source(merge, &merge->sources[turn.first].window,
					   turn.limit_ns);
		return peek_next_item_time(merge, turn.first);
	}
	merge_items_of_two_sources(merge, &merge->sources[min(turn.first, turn.second)].window,
				   &merge->sources[max(turn.first, turn.second)].window,
				   turn.limit_ns);
	more = peek_next_item_time(merge, turn.first);
	return peek_next_item_time(merge, turn.second) && more;
}

int trace_merge_gather_items(struct trace_merge *merge, struct aftl_error *error)
{
	int ret = 0;

	merge->run_next = 0;
	merge->run_end = 0;
	for (u32 i = 0; i < merge->count && !ret; i++)
		ret = load_next_merge_item(merge, i, error);
	while (!ret && merge->run_end < TRACE_MERGE_RUN && merge_more_trace_items(merge))
		;
	return ret;
}
