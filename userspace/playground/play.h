/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the library share.
 */
#ifndef AFTL_PLAY_H
#define AFTL_PLAY_H

#include "core/ftl/ftl.h"
#include "drive.h"
#include "json-writer.h"
#include "playground.h"
#include "sim-options.h"

/* Programs and erases that are remembered. */
#define PLAY_EVENTS 16384

/**
 * struct play_event - what an array has begun
 * @begin_ns: when
 * @request: requests that had been submitted
 * @block: of the device
 * @page: first of them
 * @pages: how many
 * @op: enum aftl_array_op
 * @mode: enum aftl_mode
 * @cause: enum aftl_cause
 */
struct play_event {
	u64 begin_ns;
	u32 request;
	u32 block;
	u32 page;
	u16 pages;
	u8 op;
	u8 mode;
	u8 cause;
};

/**
 * struct play - the device and who watches it
 * @options: of the command line
 * @arguments: what they point into
 * @drive: the device and its requests
 * @event_count: events so far; the last PLAY_EVENTS of them are in @events
 * @events: event n is at n % PLAY_EVENTS
 * @begun: by block, programs and erases since the device is in its starting state
 * @content: see play_content()
 * @content_bytes: its size
 * @returning: a read by play_read() is under way
 * @reading: its first unit
 */
struct play {
	struct sim_options options;
	char *arguments;
	struct sim_drive drive;
	u32 event_count;
	struct play_event events[PLAY_EVENTS];
	u32 *begun;
	u8 *content;
	u32 content_bytes;
	bool returning;
	u32 reading;
};

extern struct play play;

/* Hands the sentence of @error out. Return: @ret */
int play_fail(int ret, const struct aftl_error *error);

/* Begins an object that play_end() hands out. */
void play_begin(struct json_writer *json);
int play_end(struct json_writer *json);

/* Of the host: called by the core. */
void play_flip(void *host, struct aftl_request *request, const struct aftl_read *read);

#endif
