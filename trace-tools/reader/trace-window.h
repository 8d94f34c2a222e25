/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Things with a time, nearly in order, put in order: whatever is less than the window's
 * size out of its place comes out in its place.
 *
 * A window full of items waits until those behind it are known.
 */
#ifndef AFTL_TRACE_WINDOW_H
#define AFTL_TRACE_WINDOW_H

#include "aftl-host.h"

/* Of requests; events are more, and nearer their place. */
#define TRACE_WINDOW 4096
#define TRACE_WINDOW_EVENTS 1024

/* There is room for so many windows: one waits, and is moved when the others were taken. */
#define TRACE_WINDOW_ROOM 4

/**
 * struct trace_window - items under way
 * @item_bytes: size of an item, which begins with its time in 64 bits
 * @size: of the window, in items
 * @items: room for TRACE_WINDOW_ROOM times as many
 * @spare: as much, for sorting
 * @next: first item that was not taken
 * @ready: items before this one may be taken
 * @count: items that are there
 * @late: items that came out after a later one, because they were too far out of place
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

/* Where the next items go, and how many; there is room once all that are ready were taken. */
void *trace_window_room(struct trace_window *window, u32 *room);

/* That many came; @last: none will come any more. */
void trace_window_filled(struct trace_window *window, u32 items, bool last);

static inline void *trace_window_peek(const struct trace_window *window)
{
	return window->next < window->ready ?
		window->items + window->next * window->item_bytes : NULL;
}

/* Behind the last item that may be taken. */
static inline const u8 *trace_window_ready(const struct trace_window *window)
{
	return window->items + window->ready * window->item_bytes;
}

static inline u64 trace_window_time(const struct trace_window *window)
{
	return *(const u64 *)(window->items + window->next * window->item_bytes);
}

#endif
