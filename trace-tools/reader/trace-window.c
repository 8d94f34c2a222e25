// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "checked-memory.h"
#include "trace-window.h"

void trace_window_create(struct trace_window *window, size_t item_bytes, u32 size)
{
	*window = (struct trace_window){
		.item_bytes = item_bytes,
		.size = size,
		.items = memory_alloc_zeroed(TRACE_WINDOW_ROOM * (size_t)size, item_bytes),
		.spare = memory_alloc_zeroed(TRACE_WINDOW_ROOM * (size_t)size, item_bytes),
	};
}

void trace_window_free(struct trace_window *window)
{
	free(window->items);
	free(window->spare);
	*window = (struct trace_window){ 0 };
}

static u8 *item_of_window(const struct trace_window *window, u8 *items, size_t i)
{
	return items + i * window->item_bytes;
}

static u64 window_item_time(const struct trace_window *window, u8 *items, size_t i)
{
	return *(const u64 *)item_of_window(window, items, i);
}

void *trace_window_item_room(struct trace_window *window, u32 *room)
{
	memmove(window->items, item_of_window(window, window->items, window->next),
		(window->count - window->next) * window->item_bytes);
	window->count -= window->next;
	window->next = 0;
	window->ready = 0;
	*room = TRACE_WINDOW_ROOM * window->size - window->count;
	return item_of_window(window, window->items, window->count);
}

/* Check that the window's items are sorted by time, given that those before @from are sorted. */
static bool are_items_in_order(const struct trace_window *window, u32 from)
{
	for (u32 i = max(from, 1U); i < window->count; i++)
		if (window_item_time(window, window->items, i) <
		    window_item_time(window, window->items, i - 1))
			return false;
	return true;
}

/* Merge the sorted items [from, middle) and [middle, end) into the buffer @to. */
static void merge_window_items(const struct trace_window *window, u8 *to, u8 *items, size_t from,
			       size_t middle, size_t end)
{
	size_t left = from, right = middle, i;

	for (i = from; i < end; i++) {
		bool take_left = left < middle &&
				 (right >= end || window_item_time(window, items, left) <=
							  window_item_time(window, items, right));

		memcpy(item_of_window(window, to, i),
		       item_of_window(window, items, take_left ? left++ : right++),
		       window->item_bytes);
	}
}

/* Sort items of a trace by time; items with equal times keep their order. */
static void sort_window_items(struct trace_window *window)
{
	u8 *kept;

	for (size_t width = 1; width < window->count; width *= 2) {
		for (size_t from = 0; from < window->count; from += 2 * width)
			merge_window_items(window, window->spare, window->items, from,
					   min(from + width, (size_t)window->count),
					   min(from + 2 * width, (size_t)window->count));
		kept = window->items;
		window->items = window->spare;
		window->spare = kept;
	}
}

static void count_late_items(struct trace_window *window)
{
	u32 i = 0;

	while (i < window->ready && window_item_time(window, window->items, i) < window->last_ns)
		i++;
	window->late += i;
	if (window->ready > i)
		window->last_ns = window_item_time(window, window->items, window->ready - 1);
}

void trace_window_add_items(struct trace_window *window, u32 items, bool last)
{
	u32 before = window->count;

	window->count += items;
	if (!are_items_in_order(window, before))
		sort_window_items(window);
	if (last)
		window->ready = window->count;
	else
		window->ready = window->count > window->size ? window->count - window->size : 0;
	count_late_items(window);
}
