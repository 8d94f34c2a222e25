/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated device in a WebAssembly library, with the functions that a web page calls.
 *
 * A library holds one device: a page that needs two loads the library twice. The memory of the
 * library is the complete state. A page that saves a copy of it and restores it later goes back in
 * time exactly, including all requests in flight.
 *
 * Texts are passed in both directions in the buffer of playground_get_text_buffer(), here called
 * the text buffer. Functions of type int return 0, or another number with a message in this buffer.
 */
#ifndef AFTL_PLAYGROUND_H
#define AFTL_PLAYGROUND_H

#include "aftl-host.h"

/* Maximum size of a text that the web page passes. */
#define PLAY_TEXT_BYTES 8192

/* Get the text buffer; texts that the library returns may be longer than PLAY_TEXT_BYTES. */
char *playground_get_text_buffer(void);

/**
 * playground_open() - create and fill a device, and open its request stream
 * @count: number of arguments of "approxftl sim" in the text buffer, each terminated with a zero
 *
 * The stream is endless, regardless of --requests; playground_run_to_request_or_time() sets the
 * limit. Call this function once only.
 */
int playground_open(u32 count);

/**
 * playground_run_to_request_or_time() - run until some requests were submitted, or until a time
 * @requests: number of requests since the begin
 * @ns: device time; a time in the past has no effect
 *
 * See sim_drive_serve_until_request_or_time().
 */
int playground_run_to_request_or_time(u32 requests, double ns);

/**
 * playground_complete_all_requests() - complete all submitted requests
 *
 * The device is then in the state that "approxftl sim --requests" leaves after as many requests.
 * To continue as if the stream was not interrupted, the page restores a saved copy of the memory.
 */
int playground_complete_all_requests(void);

/* Return: the digest (hash) of the device's state. */
u64 playground_digest(void);

/* Check the device's invariants. Return: 0, or -EUCLEAN with a message in the text buffer. */
int playground_audit(void);

/* Maximum of the parameter "age": a hundred years. */
#define PLAY_AGE_HOURS (36500 * 24)

/* Let the given number of hours of device time pass without requests. */
int playground_age(u32 hours);

/* Apply a change: the text buffer has what follows the colon of "approxftl sim --change". */
int playground_change_parameters(void);

/* Return JSON in the text buffer: about constants, counters and times, a block, or a page. */
int playground_describe_device(void);
int playground_describe_state(void);
int playground_describe_block(u32 block);
int playground_describe_page(u32 block, u32 page);

/**
 * playground_describe_cells() - return JSON in the text buffer: the cells of one unit of a page
 * @block: number of the block on the device @page: page of the block
 * @slot: unit of the page
 *
 * The distributions of the threshold voltages are those of the model from which the core's error
 * rates were computed; the core determines number and positions of the misread cells. Simulated
 * requests have no bytes, so the state and the voltage of each cell are drawn at random.
 */
int playground_describe_cells(u32 block, u32 page, u32 slot);

/* Return for the last described page the share of a state's cells in each bin of voltages.h. */
const double *playground_get_state_distribution(u32 state);

/* Return each cell of the last described page: mV + 32768, state << 16, 1 << 24 if misread. */
const u32 *playground_get_cell_voltages(void);

/* Return JSON in the text buffer: the latest programs and erases, from event @since on. */
int playground_list_events(u32 since);

/* The property that playground_paint_pages() shows for each page. */
enum play_view {
	PLAY_VIEW_USE,
	PLAY_VIEW_MODE,
	PLAY_VIEW_VALID,
	PLAY_VIEW_AGE,
	PLAY_VIEW_ERRORS,
	PLAY_VIEW_WEAR,
	PLAY_VIEW_KIND,
	PLAY_VIEWS,
};

/* Number of colours in the palette of the picture. */
#define PLAY_COLOURS 256

/**
 * playground_palette() - get the palette, in which the page stores colours, red in the low byte
 */
u32 *playground_palette(void);

/**
 * playground_paint_pages() - paint a picture with one pixel for each page
 * @view: enum play_view
 * @across: number of LUNs side by side
 * @columns: number of blocks of a LUN side by side
 * @width: number of pages of a block side by side
 *
 * Each block and each LUN has an unpainted margin of one pixel to the right and below, so the
 * picture is @across * (@columns * (@width + 1) + 1) pixels wide. Palette entry 0 is an erased
 * page, 255 a page of a bad block; paint.c defines the others.
 */
u32 *playground_paint_pages(u32 view, u32 across, u32 columns, u32 width);

/* Get a buffer of @bytes for the data of the first mapping units of the device. */
u8 *playground_get_data_buffer(u32 bytes);

/**
 * playground_write() - write mapping units, in addition to the request stream
 * @unit: first unit
 * @units: number of units
 * @class: enum aftl_class
 */
int playground_write(u32 unit, u32 units, u32 class);

/**
 * playground_read() - read mapping units; apply the device's errors to the data buffer
 * @unit: first unit, which is at the beginning of the buffer
 * @units: number of units
 *
 * Flipped bits are flipped in the buffer; a lost unit is zeroed.
 */
int playground_read(u32 unit, u32 units);

/**
 * playground_convert_trace() - convert any trace to a record file
 *
 * On entry the text buffer has the names of the input and the output, each terminated with a zero;
 * on return it has a message about the trace.
 */
int playground_convert_trace(void);

#endif
