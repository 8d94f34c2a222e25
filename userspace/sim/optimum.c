// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lower bound: each write creates a version of its unit, which need not be programmed if the
 * write buffer holds the version until the next operation on the unit, or until the end of the
 * stream. Choosing as many such versions as the buffer can hold is a known problem of intervals:
 * take the versions in the order of their begins, and when there is no room, drop the version that
 * ends last. Every dropped version is programmed at least once.
 *
 * The collector writes data that die in the same window of time into the same block, so that the
 * block dies with them. Data that die beyond the last window share blocks until collection finds
 * them. Each open block costs space, and so do the dead data of the current window, so the best
 * number and length of windows depend on the stream and on the spare space: several are tried.
 */
#include <stdlib.h>

#include "optimum.h"

#define NEVER U32_MAX
#define NONE U32_MAX

/* Number of operations between two calls of the caller's pause(). */
#define PAUSE_EVERY 1000000

/**
 * struct future - the later operations on each unit
 * @next: by operation, index of the next operation on the same unit, or NEVER
 * @first: by unit, index of its first operation after the warm-up, or NEVER
 * @live: by unit, whether it has data at the start
 */
struct future {
	u32 *next;
	u32 *first;
	u8 *live;
};

static int find_next_overwrites(const struct optimum_device *device,
				const struct optimum_stream *stream, struct future *future)
{
	future->next = malloc(max(stream->count, 1ULL) * sizeof(*future->next));
	future->first = malloc((u64)device->units * sizeof(*future->first));
	future->live = malloc(device->units);
	if (!future->next || !future->first || !future->live)
		return -ENOMEM;
	memset(future->live, 0, device->units);
	memset(future->live, 1, stream->filled);
	for (u64 i = 0; i < stream->begin; i++)
		future->live[stream->ops[i] & OPTIMUM_UNIT] = !(stream->ops[i] & OPTIMUM_DISCARD);
	for (u32 i = 0; i < device->units; i++)
		future->first[i] = NEVER;
	for (u64 i = stream->count; i-- > stream->begin;) {
		u32 *first = &future->first[stream->ops[i] & OPTIMUM_UNIT];

		future->next[i] = *first;
		*first = (u32)i;
	}
	return 0;
}

/* The write buffer */

/**
 * struct buffer - written data (versions of units) in the write buffer, until they are overwritten
 * @heap: operations that wrote the versions; on top is the version that is overwritten last
 * @place: by unit, index of its version in @heap, or NONE
 * @count: number of versions
 * @ops: operations of the stream
 * @next: by operation, the operation that overwrites its version
 */
struct buffer {
	u32 *heap;
	u32 *place;
	u32 count;
	u32 *ops;
	const u32 *next;
};

static void set_buffer_heap_entry(struct buffer *buffer, u32 place, u32 op)
{
	buffer->heap[place] = op;
	buffer->place[buffer->ops[op] & OPTIMUM_UNIT] = place;
}

static void sift_buffer_heap_entry(struct buffer *buffer, u32 place, u32 op)
{
	u32 child;

	while (place && buffer->next[buffer->heap[(place - 1) / 2]] < buffer->next[op]) {
		set_buffer_heap_entry(buffer, place, buffer->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	while ((child = 2 * place + 1) < buffer->count) {
		if (child + 1 < buffer->count &&
		    buffer->next[buffer->heap[child + 1]] > buffer->next[buffer->heap[child]])
			child++;
		if (buffer->next[buffer->heap[child]] <= buffer->next[op])
			break;
		set_buffer_heap_entry(buffer, place, buffer->heap[child]);
		place = child;
	}
	set_buffer_heap_entry(buffer, place, op);
}

static void remove_buffer_heap_entry(struct buffer *buffer, u32 place)
{
	u32 last = buffer->heap[--buffer->count];

	buffer->place[buffer->ops[buffer->heap[place]] & OPTIMUM_UNIT] = NONE;
	if (place < buffer->count)
		sift_buffer_heap_entry(buffer, place, last);
}

/* Set OPTIMUM_KEPT on as many writes as the write buffer can hold until they are overwritten. */
static int mark_coalesced_writes(const struct optimum_device *device, struct optimum_stream *stream,
				 const struct future *future, struct optimum *optimum)
{
	struct buffer buffer = { .ops = stream->ops, .next = future->next };

	buffer.heap = calloc(device->buffer_units + 1ULL, sizeof(*buffer.heap));
	buffer.place = calloc(device->units, sizeof(*buffer.place));
	if (!buffer.heap || !buffer.place) {
		free(buffer.heap);
		free(buffer.place);
		return -ENOMEM;
	}
	for (u32 i = 0; i < device->units; i++)
		buffer.place[i] = NONE;
	for (u64 i = stream->begin; i < stream->count; i++) {
		u32 place = buffer.place[stream->ops[i] & OPTIMUM_UNIT];

		if (place != NONE)
			remove_buffer_heap_entry(&buffer, place);
		if (stream->ops[i] & OPTIMUM_DISCARD)
			continue;
		optimum->writes++;
		optimum->kept++;
		stream->ops[i] |= OPTIMUM_KEPT;
		sift_buffer_heap_entry(&buffer, buffer.count++, (u32)i);
		if (buffer.count <= device->buffer_units)
			continue;
		stream->ops[buffer.heap[0]] &= ~OPTIMUM_KEPT;
		optimum->kept--;
		remove_buffer_heap_entry(&buffer, 0);
	}
	free(buffer.heap);
	free(buffer.place);
	return 0;
}

/* The collector */

/**
 * struct log_block - a block of the collector
 * @live: units with data
 * @used: units that were programmed since the erase
 * @older: block closed before this one in the list of blocks with as many live units, or NONE
 * @newer: block closed after this one in that list, or NONE
 * @open: the block is open
 */
struct log_block {
	u32 live;
	u32 used;
	u32 older;
	u32 newer;
	bool open;
};

/**
 * struct collector - the offline device
 * @device: sizes of the device
 * @blocks: all blocks
 * @lists: by number of live units, newest closed block of a list
 * @free: stack of erased blocks
 * @free_count: number of erased blocks
 * @content: by slot, the unit that was programmed there
 * @slot: by unit, slot of its data, or NONE
 * @death: by unit, time when its data die
 * @open: open block of each window, a ring for each level; then the open block of data that die
 *	later, and that of data that never die
 * @open_of: number of the window that the block in the ring belongs to
 * @levels: number of rings
 * @windows: number of windows in a ring
 * @window: operations in a window of the first level; those of each further one are twice as long
 * @now: index of the current operation
 * @relocated: units relocated so far
 * @erases: blocks erased so far
 */
struct collector {
	const struct optimum_device *device;
	struct log_block *blocks;
	u32 *lists;
	u32 *free;
	u32 free_count;
	u32 *content;
	u32 *slot;
	u32 *death;
	u32 *open;
	u32 *open_of;
	u32 levels;
	u32 windows;
	u32 window;
	u32 now;
	u64 relocated;
	u64 erases;
};

static void block_list_add_block(struct collector *log, u32 index)
{
	struct log_block *block = &log->blocks[index];
	u32 *head = &log->lists[block->live];

	block->newer = NONE;
	block->older = *head;
	if (*head != NONE)
		log->blocks[*head].newer = index;
	*head = index;
}

static void block_list_remove_block(struct collector *log, u32 index)
{
	const struct log_block *block = &log->blocks[index];

	if (block->newer != NONE)
		log->blocks[block->newer].older = block->older;
	else
		log->lists[block->live] = block->older;
	if (block->older != NONE)
		log->blocks[block->older].newer = block->newer;
}

static void erase_log_block(struct collector *log, u32 index)
{
	log->blocks[index].used = 0;
	log->free[log->free_count++] = index;
	log->erases++;
}

static void close_log_block(struct collector *log, u32 ring)
{
	u32 index = log->open[ring];

	log->open[ring] = NONE;
	log->blocks[index].open = false;
	if (log->blocks[index].live)
		block_list_add_block(log, index);
	else
		erase_log_block(log, index);
}

static void invalidate_unit_in_log_block(struct collector *log, u32 unit)
{
	u32 index = log->slot[unit] / log->device->block_units;
	struct log_block *block = &log->blocks[index];

	if (log->slot[unit] == NONE)
		return;
	log->slot[unit] = NONE;
	if (!block->open)
		block_list_remove_block(log, index);
	block->live--;
	if (block->open)
		return;
	if (block->live)
		block_list_add_block(log, index);
	else
		erase_log_block(log, index);
}

/* Return the index in log->open for data overwritten at @death; close an older window's block. */
static u32 get_time_window_index_of_overwrite(struct collector *log, u32 death)
{
	u64 window = log->window;

	if (death == NEVER)
		return log->levels * log->windows + 1;
	for (u32 level = 0; level < log->levels; level++, window *= 2) {
		u32 number = (u32)(death / window);
		u32 ring = level * log->windows + number % log->windows;

		if (number - (u32)(log->now / window) >= log->windows)
			continue;
		if (log->open[ring] != NONE && log->open_of[ring] != number)
			close_log_block(log, ring);
		log->open_of[ring] = number;
		return ring;
	}
	return log->levels * log->windows;
}

static void open_log_block(struct collector *log, u32 ring)
{
	log->open[ring] = log->free[--log->free_count];
	log->blocks[log->open[ring]].open = true;
}

/* Return the index in log->open of the nearest time window with an open block, or NONE. */
static u32 find_nearest_time_window_with_open_block(const struct collector *log, u32 ring)
{
	u32 rings = log->levels * log->windows + 2;

	for (u32 i = 1; i < rings; i++) {
		u32 other = (ring + i) % rings;

		if (log->open[other] != NONE)
			return other;
	}
	return NONE;
}

static void program_unit_in_log_block(struct collector *log, u32 unit, u32 ring)
{
	u32 index = log->open[ring];
	struct log_block *block = &log->blocks[index];
	u32 slot = index * log->device->block_units + block->used++;

	log->content[slot] = unit;
	log->slot[unit] = slot;
	block->live++;
	if (block->used == log->device->block_units)
		close_log_block(log, ring);
}

static bool relocate_live_unit(struct collector *log, u32 unit)
{
	u32 ring = get_time_window_index_of_overwrite(log, log->death[unit]);

	if (log->open[ring] == NONE && log->free_count)
		open_log_block(log, ring);
	if (log->open[ring] == NONE)
		ring = find_nearest_time_window_with_open_block(log, ring);
	if (ring == NONE)
		return false;
	invalidate_unit_in_log_block(log, unit);
	program_unit_in_log_block(log, unit, ring);
	log->relocated++;
	return true;
}

/* Relocate the live units of the emptiest closed block. Return false if all blocks are full. */
static bool collect_emptiest_block(struct collector *log)
{
	u32 units = log->device->block_units;
	u32 live = 1;
	u32 index, slot;

	while (live < units && log->lists[live] == NONE)
		live++;
	if (live >= units)
		return false;
	index = log->lists[live];
	for (slot = index * units; slot < (index + 1) * units; slot++)
		if (log->slot[log->content[slot]] == slot &&
		    !relocate_live_unit(log, log->content[slot]))
			return false;
	return true;
}

static void close_blocks_of_past_time_windows(struct collector *log)
{
	for (u32 i = 0; i < log->levels * log->windows; i++)
		if (log->open[i] != NONE &&
		    log->open_of[i] < log->now / ((u64)log->window << i / log->windows))
			close_log_block(log, i);
}

/*
 * Open a block for data overwritten at time @death, unless relocation needs the last free block.
 * Return its index in log->open; else the index of the open block for the nearest time, or NONE.
 */
static u32 choose_block_for_overwrite_time(struct collector *log, u32 death)
{
	u32 ring = get_time_window_index_of_overwrite(log, death);

	if (log->open[ring] != NONE)
		return ring;
	if (log->free_count < 2)
		close_blocks_of_past_time_windows(log);
	while (log->free_count < 2 && log->open[ring] == NONE)
		if (!collect_emptiest_block(log))
			break;
	if (log->open[ring] == NONE && log->free_count > 1)
		open_log_block(log, ring);
	return log->open[ring] == NONE ? find_nearest_time_window_with_open_block(log, ring) : ring;
}

/* Fill blocks with the units live at the start, in the order of their overwrites. */
static void place_initial_live_units(struct collector *log, const struct optimum_stream *stream,
				     const struct future *future)
{
	u32 units = log->device->block_units;
	u32 slot = 0;

	for (u64 i = stream->begin; i < stream->count + log->device->units; i++) {
		bool dies = i < stream->count;
		u32 unit = dies ? stream->ops[i] & OPTIMUM_UNIT : (u32)(i - stream->count);

		if (!future->live[unit] || future->first[unit] != (dies ? i : NEVER))
			continue;
		log->content[slot] = unit;
		log->death[unit] = future->first[unit];
		log->slot[unit] = slot;
		log->blocks[slot / units].live++;
		log->blocks[slot / units].used++;
		slot++;
	}
	for (u32 i = log->device->blocks; i-- > 0;)
		if (log->blocks[i].live)
			block_list_add_block(log, i);
		else
			log->free[log->free_count++] = i;
}

/* Run the stream on the offline device. Return 0, the error number of @pause, or -ENOSPC. */
static int run_offline_gc_on_write_stream(struct collector *log,
					  const struct optimum_stream *stream,
					  const struct future *future, int (*pause)(void))
{
	place_initial_live_units(log, stream, future);
	for (u64 i = stream->begin; i < stream->count; i++) {
		u32 unit = stream->ops[i] & OPTIMUM_UNIT;
		u32 ring;
		int ret = pause && !(i % PAUSE_EVERY) ? pause() : 0;

		if (ret)
			return ret;
		log->now = (u32)i;
		invalidate_unit_in_log_block(log, unit);
		if (stream->ops[i] & (OPTIMUM_DISCARD | OPTIMUM_KEPT))
			continue;
		ring = choose_block_for_overwrite_time(log, future->next[i]);
		if (ring == NONE)
			return -ENOSPC;
		log->death[unit] = future->next[i];
		program_unit_in_log_block(log, unit, ring);
	}
	return 0;
}

/* Prepare @log, whose arrays are allocated, for a run; @levels etc. are members of the struct. */
static void reset_offline_collector(struct collector *log, u32 levels, u32 windows, u32 window)
{
	const struct optimum_device *device = log->device;

	memset(log->blocks, 0, device->blocks * sizeof(*log->blocks));
	memset(log->lists, 0xff, (device->block_units + 1ULL) * sizeof(*log->lists));
	memset(log->slot, 0xff, (u64)device->units * sizeof(*log->slot));
	memset(log->open, 0xff, ((u64)levels * windows + 2) * sizeof(*log->open));
	log->free_count = 0;
	log->levels = levels;
	log->windows = windows;
	log->window = window;
	log->now = 0;
	log->relocated = 0;
	log->erases = 0;
}

/**
 * struct schedule - how to divide time into windows
 * @levels: levels of windows; each level has windows twice as long as those of the previous level
 * @open: number of open blocks of all levels, in quarters of the number of blocks of the spare
 *	space; level 0 has twice as many open blocks as each other level
 * @length: operations in a window of level 0, in sixteenths of the units of the spare space
 */
struct schedule {
	u32 levels;
	u32 open;
	u32 length;
};

/* Schedules to try: no windows, few levels of many windows (for similar lifetimes), many levels. */
static const struct schedule schedules[] = {
	{ 0, 0, 16 }, { 1, 3, 16 }, { 2, 2, 16 }, { 4, 2, 16 }, { 4, 3, 8 },
	{ 8, 3, 8 },  { 8, 3, 4 },  { 16, 4, 1 }, { 16, 6, 8 },
};

static int run_offline_gc_with_each_window_layout(struct collector *log,
						  const struct optimum_stream *stream,
						  const struct future *future, int (*pause)(void),
						  struct optimum *optimum)
{
	const struct optimum_device *device = log->device;
	u64 spare = (u64)device->blocks * device->block_units - device->units;

	for (unsigned int i = 0; i < ARRAY_SIZE(schedules); i++) {
		const struct schedule *schedule = &schedules[i];
		u64 open = spare / device->block_units * schedule->open / 4;
		u32 windows = (u32)max(2 * open / (schedule->levels + 1), 2ULL);
		u32 window = (u32)max(spare * schedule->length / 16, 1ULL);
		int ret;

		reset_offline_collector(log, schedule->levels, windows, window);
		ret = run_offline_gc_on_write_stream(log, stream, future, pause);
		if (ret && ret != -ENOSPC)
			return ret;
		if (ret || log->relocated >= optimum->relocated)
			continue;
		optimum->relocated = log->relocated;
		optimum->erases = log->erases;
		optimum->levels = schedule->levels;
		optimum->windows = windows;
		optimum->window = window;
	}
	return 0;
}

static int find_best_offline_gc_result(const struct optimum_device *device,
				       const struct optimum_stream *stream,
				       const struct future *future, int (*pause)(void),
				       struct optimum *optimum)
{
	u64 rings = 4 * (u64)device->blocks + 64;
	u64 slots = (u64)device->blocks * device->block_units;
	struct collector log = {
		.device = device,
		.blocks = calloc(device->blocks, sizeof(*log.blocks)),
		.lists = calloc(device->block_units + 1ULL, sizeof(*log.lists)),
		.free = calloc(device->blocks, sizeof(*log.free)),
		.content = calloc(slots, sizeof(*log.content)),
		.slot = calloc(device->units, sizeof(*log.slot)),
		.death = calloc(device->units, sizeof(*log.death)),
		.open = calloc(rings, sizeof(*log.open)),
		.open_of = calloc(rings, sizeof(*log.open_of)),
	};
	int ret = -ENOMEM;

	if (log.blocks && log.lists && log.free && log.content && log.slot && log.death &&
	    log.open && log.open_of)
		ret = run_offline_gc_with_each_window_layout(&log, stream, future, pause, optimum);
	free(log.blocks);
	free(log.lists);
	free(log.free);
	free(log.content);
	free(log.slot);
	free(log.death);
	free(log.open);
	free(log.open_of);
	return ret;
}

int optimum_count_flash_programs(const struct optimum_device *device, struct optimum_stream *stream,
				 int (*pause)(void), struct optimum *optimum)
{
	struct future future = { .next = NULL };
	int ret;

	*optimum = (struct optimum){ .relocated = U64_MAX };
	ret = find_next_overwrites(device, stream, &future);
	if (!ret)
		ret = mark_coalesced_writes(device, stream, &future, optimum);
	if (!ret)
		ret = find_best_offline_gc_result(device, stream, &future, pause, optimum);
	free(future.next);
	free(future.first);
	free(future.live);
	return ret;
}
