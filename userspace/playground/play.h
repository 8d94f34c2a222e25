/* SPDX-License-Identifier: GPL-2.0-only */
/* State and helper functions that the files of the playground library share. */
#ifndef AFTL_PLAY_H
#define AFTL_PLAY_H

#include "core/ftl/ftl.h"
#include "drive.h"
#include "json-writer.h"
#include "playground.h"
#include "sim-options.h"

/* Number of the latest program and erase operations that are kept. */
#define PLAY_EVENTS 16384

/**
 * struct play_event - a program or an erase
 * @begin_ns: begin of the operation @request: number of requests submitted before the operation
 * @block: block of the device
 * @page: first page
 * @pages: number of pages
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
 * struct play - the device and the state of its observer
 * @options: parsed command line
 * @arguments: texts that @options points into
 * @drive: the device and its requests
 * @event_count: number of events so far; @events has the last PLAY_EVENTS of them
 * @events: ring buffer: event n is at index n % PLAY_EVENTS
 * @begun: per block: number of programs and erases since the starting state was reached
 * @content: buffer; see playground_get_data_buffer()
 * @content_bytes: size of @content
 * @returning: a read of playground_read() is in flight
 * @reading: first unit of that read
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

/* Pass the message of @error to the web page. Return: @ret */
int playground_report_error(int ret, const struct aftl_error *error);

/* Begin a JSON object; playground_json_end() returns it to the page. */
void playground_json_begin(struct json_writer *json);
int playground_json_end(struct json_writer *json);

/* Callback of the core that flips bits in the data that a request has read. */
void playground_flip_bits(void *host, struct aftl_request *request, const struct aftl_read *read);

#endif
