/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated device that somebody watches: what a page calls of the WebAssembly library.
 *
 * One device in one library: a page that wants two of them loads it twice. Its whole state is
 * the library's memory. A page that keeps a copy of that, and puts it back, has gone back in
 * time to the bit, with all that was under way.
 *
 * Texts go both ways in play_text(). Everything that returns an int returns 0, or another
 * number with a sentence there.
 */
#ifndef AFTL_PLAYGROUND_H
#define AFTL_PLAYGROUND_H

#include "aftl-host.h"

/* Room for what is handed in. */
#define PLAY_TEXT_BYTES 8192

/* The place of texts; answers may be longer than what may be handed in. */
char *play_text(void);

/**
 * play_open() - make and fill a device, and open its stream of requests
 * @count: of the arguments of "approxftl sim" in play_text(), each with a zero at its end
 *
 * The stream has no end of its own, --requests or not: play_to() says how far. Once only.
 */
int play_open(u32 count);

/**
 * play_to() - go on until so many requests were submitted, or until a time
 * @requests: since the begin
 * @ns: device time; below the present one nothing happens
 *
 * See sim_drive_to().
 */
int play_to(u32 requests, double ns);

/**
 * play_finish() - let everything complete that was submitted
 *
 * The device is then what "approxftl sim --requests" leaves after as many. To go on as if nothing
 * had happened the page puts its copy of the memory back.
 */
int play_finish(void);

/* aftl_digest() of the device. */
u64 play_digest(void);

/* aftl_audit() of the device. */
int play_audit(void);

/* A hundred years, as the parameter "age" has it. */
#define PLAY_AGE_HOURS (36500 * 24)

/* At most so many hours pass without anything happening. */
int play_age(u32 hours);

/* What "approxftl sim --change" has after the colon is in play_text(), and is done now. */
int play_change(void);

/* JSON in play_text(): what does not change; counters and times; a block; a page. */
int play_about(void);
int play_state(void);
int play_block(u32 block);
int play_page(u32 block, u32 page);

/**
 * play_cells() - JSON in play_text(): the cells of one unit of a page
 * @block: of the device
 * @page: of the block
 * @slot: unit of the page
 *
 * How their threshold voltages are spread is the model's behind the core's error rates, how many
 * and which of them are read as another state than they were programmed to is the core's. As
 * simulated requests have no bytes, the state of each, and where it lies in that, is drawn.
 */
int play_cells(u32 block, u32 page, u32 slot);

/* Of the last play_cells(). A state's part of cells in each bin; see voltages.h. */
const double *play_spread(u32 state);

/* A word for each cell: millivolts + 32768, state << 16, and 1 << 24 if it has crossed. */
const u32 *play_voltages(void);

/* JSON in play_text(): what the arrays have begun, from event number @since on, the newest. */
int play_events(u32 since);

/* What play_paint() shows of each page. */
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

/* Entries of a palette. */
#define PLAY_COLOURS 256

/**
 * play_palette() - colours that play_paint() uses, for the page to fill in: red in the low byte
 */
u32 *play_palette(void);

/**
 * play_paint() - a picture with one pixel for each page
 * @view: enum play_view
 * @across: LUNs beside each other
 * @columns: blocks of a LUN beside each other
 * @width: pages of a block beside each other
 *
 * Block and LUN have one pixel to the right and below that is left alone, so the picture is
 * @across * (@columns * (@width + 1) + 1) pixels wide. Entry 0 of the palette is a page that
 * holds nothing, 255 one of a bad block; paint.c says what the others are.
 */
u32 *play_paint(u32 view, u32 across, u32 columns, u32 width);

/* Room for the content of so many bytes, of the first units of the device. */
u8 *play_content(u32 bytes);

/**
 * play_write() - write units, which is no part of the stream
 * @unit: first unit
 * @units: how many
 * @class: enum aftl_class
 */
int play_write(u32 unit, u32 units, u32 class);

/**
 * play_read() - read units; what the device does to them it does in play_content()
 * @unit: first unit, which stands at the begin of it
 * @units: how many
 *
 * Bits that come back flipped are flipped there, and a unit that is lost becomes zero.
 */
int play_read(u32 unit, u32 units);

/**
 * play_convert() - make a record file of any trace
 *
 * play_text() has the name of the file and that of the one to be made, each with a zero at its
 * end; then a sentence about what was found.
 */
int play_convert(void);

#endif
