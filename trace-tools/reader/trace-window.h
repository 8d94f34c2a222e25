/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sorts a nearly sorted stream of items by time. An item that is displaced by less than the
 * window's size is delivered in order.
 *
 * An item can be taken once as many later items as a window holds are known, or the input ends.
 */
#ifndef AFTL_TRACE_WINDOW_H
#define AFTL_TRACE_WINDOW_H

#include "aftl-host.h"

/* Window sizes in requests and in events: events are more frequent, but less out of order. */
#define TRACE_WINDOW 4096
#define TRACE_WINDOW_EVENTS 1024

/*
 * Size of the sorting buffer, in windows of time. Items older than the newest window are in their
 * final order, and the reader takes them.
 */
#define TRACE_WINDOW_ROOM 4

/**
 * struct trace_window - a sorting buffer
 * @item_bytes: size of an item, which begins with its time as u64
 * @size: size of the window, in items
 * @items: buffer of TRACE_WINDOW_ROOM * @size items
 * @spare: second buffer of the same size, for sorting
 * @next: index of the first item not taken
 * @ready: index behind the last item that may be taken
 * @count: number of items in @items
 * @late: number of items delivered out of order because they were displaced too far
 * @last_ns: time of the last item that may be taken
 */
struct trace_window {
	size_t item_bytes;
	u32 size;
	u8 *items;
	u8 *spare;
	u32 next;
	u32 ready;
	u32 count;
	u64 late;
	u64 last_ns;
};

void trace_window_create(struct trace_window *window, size_t item_bytes, u32 size);
void trace_window_free(struct trace_window *window);

/* Get memory for @room next items; @room is at least 1 if the caller has taken all ready items. */
void *trace_window_item_room(struct trace_window *window, u32 *room);

/* Sort @items items that the caller stored in the window; @last: no items follow. */
void trace_window_add_items(struct trace_window *window, u32 items, bool last);

static inline void *trace_window_peek_item(const struct trace_window *window)
{
	return window->next < window->ready ?
		window->items + window->next * window->item_bytes : NULL;
}

/* Return: the end of the sorted items that the caller may take. */
static inline const u8 *trace_window_end_pointer_of_ready_items(const struct trace_window *window)
{
	return window->items + window->ready * window->item_bytes;
}

static inline u64 trace_window_next_item_time(const struct trace_window *window)
{
	return *(const u64 *)(window->items + window->next * window->item_bytes);
}

#endif
