/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats: what they are called, how to know them, how to read and to write them.
 *
 * A format is a file format-NAME.c with one struct trace_format, and a line in
 * format-list.h.
 */
#ifndef AFTL_TRACE_FORMAT_H
#define AFTL_TRACE_FORMAT_H

#include <stdio.h>

#include "process-names.h"
#include "text-scan.h"
#include "trace-input.h"
#include "trace-losses.h"
#include "trace-request.h"

#define TRACE_SECTOR 512

/* Of a request: the number of its sectors fits 32 bits. */
#define TRACE_BYTES_MAX 1099511627776ULL

/**
 * struct trace_hints - what only the user knows
 * @format: name, or NULL to find out
 * @time_unit_ns: nanoseconds of a tick, 0: as the format says
 * @offset_unit: bytes of a unit of offsets and sizes, 0: as the format says
 * @columns: of CSV and blkparse -f, or NULL
 */
struct trace_hints {
	const char *format;
	u64 time_unit_ns;
	u64 offset_unit;
	const char *columns;
};

/**
 * struct trace_file - a file that is read
 * @format: of it
 * @input: its bytes
 * @hints: of the user
 * @losses: of the whole run
 * @time_unit_ns: nanoseconds of a tick
 * @offset_unit: bytes of a unit of offsets, where the format leaves that open
 * @state: the format's own, freed with free()
 * @actions: events of a block trace by number of their action, notes apart
 * @notes: events that are notes
 * @tags: notes that say the class of a write
 * @other_events: events that say nothing of requests
 * @device_bytes: of the device, 0 if the file does not say
 * @interrupted: what was recorded did not get to its end
 * @class_names: of the records, or NULL for "precise" and "approximate"
 * @classes: how many names
 * @names: takes the names of processes, or NULL
 * @texts: notes of regions and labels
 * @texts_kept: how many
 */
struct trace_file {
	const struct trace_format *format;
	struct trace_input input;
	const struct trace_hints *hints;
	struct trace_losses *losses;
	u64 time_unit_ns;
	u64 offset_unit;
	void *state;
	u64 actions[32];
	u64 notes;
	u64 tags;
	u64 other_events;
	u64 device_bytes;
	bool interrupted;
	const char (*class_names)[AFTL_RECORD_NAME_SIZE];
	u32 classes;
	struct process_names *names;
	struct trace_text *texts;
	u32 texts_kept;
};

/* So many regions and labels are kept; of more, their number. */
#define TRACE_TEXTS 65536

enum trace_line_verdict {
	TRACE_LINE_WRONG,
	TRACE_LINE_EMPTY,	/* a title, a comment, an event that does not matter */
	TRACE_LINE_DONE,
};

/**
 * struct trace_output - a file that is written
 * @format: of it
 * @path: of it, "-" for standard output
 * @name: of it in sentences
 * @file: it, unless the format opens it itself
 * @state: the format's own
 * @device_bytes: of the device, 0 if unknown
 * @source_format: what it was read from
 * @tool_version: of this program
 * @provenance: a JSON object
 * @class_names: of the requests
 * @classes: how many
 * @names: of processes, or NULL
 * @written: requests so far
 * @unfit: requests that the format cannot hold, by operation
 */
struct trace_output {
	const struct trace_format *format;
	const char *path;
	const char *name;
	FILE *file;
	void *state;
	u64 device_bytes;
	const char *source_format;
	const char *tool_version;
	const char *provenance;
	const char (*class_names)[AFTL_RECORD_NAME_SIZE];
	u32 classes;
	const struct process_names *names;
	u64 written;
	u64 unfit[AFTL_OPS];
};

/**
 * struct trace_format - a format
 * @name: on the command line
 * @title: for a person
 * @units: of its times, offsets and sizes, for a person
 * @events: it has events of a block trace, and no requests
 * @time_unit_ns: nanoseconds of a tick; 0: it must be told
 * @told_only: is never found by looking
 * @open: prepares reading, or NULL; may look at the input and take from it
 * @close: frees what free() of @state does not reach, or NULL
 * @line: a line of text into a struct trace_request or trace_event; NULL if it is no text
 * @known: does the input begin like this format? NULL: a text whose lines can be read is
 * @fill: as many as there is room for, 0 at the end, or a negative error number; not of text
 * @own_file: begin() opens what it writes
 * @begin: writes what comes before the requests; NULL: nothing does
 * @put: writes a request, or counts it as unfit; NULL: this format is not written
 * @finish: writes what comes behind them, and frees @state
 */
struct trace_format {
	const char *name;
	const char *title;
	const char *units;
	bool events;
	u64 time_unit_ns;
	bool told_only;
	int (*open)(struct trace_file *file, struct aftl_error *error);
	void (*close)(struct trace_file *file);
	enum trace_line_verdict (*line)(struct trace_file *file, struct text_cursor text, void *out,
					const char **cause);
	bool (*known)(const u8 *head, size_t size);
	int (*fill)(struct trace_file *file, void *out, u32 room, struct aftl_error *error);
	bool own_file;
	int (*begin)(struct trace_output *output, struct aftl_error *error);
	int (*put)(struct trace_output *output, const struct trace_request *request,
		   struct aftl_error *error);
	int (*finish)(struct trace_output *output, struct aftl_error *error);
};

/* Ends with NULL. */
extern const struct trace_format *const trace_formats[];

/* What other formats are made of. */
extern const struct trace_format trace_format_csv;

/* NULL if there is none of that name. */
const struct trace_format *trace_format_find(const char *name);

/**
 * trace_file_open() - open a file and find out its format
 *
 * Return: 0, -ENOENT and other errors of files, -ENODATA if it is empty,
 * -EINVAL if nothing fits or a unit must be told.
 */
int __must_check trace_file_open(struct trace_file *file, const char *path,
				 const struct trace_hints *hints, struct trace_losses *losses,
				 struct aftl_error *error);
void trace_file_close(struct trace_file *file);

/* The same with an input that is open, and is closed by trace_file_close() in any case. */
int __must_check trace_file_adopt(struct trace_file *file, const struct trace_input *input,
				  const struct trace_hints *hints, struct trace_losses *losses,
				  struct aftl_error *error);

/* As fill() of the format, of text, too. */
int __must_check trace_file_fill(struct trace_file *file, void *out, u32 room,
				 struct aftl_error *error);

/**
 * trace_output_open() - begin to write
 * @output: all but @file, @state, @written and @unfit is set
 */
int __must_check trace_output_open(struct trace_output *output, struct aftl_error *error);
int __must_check trace_output_put(struct trace_output *output, const struct trace_request *request,
				  struct aftl_error *error);

/* Completes and closes it, with or without success. */
int __must_check trace_output_finish(struct trace_output *output, struct aftl_error *error);

size_t trace_item_bytes(const struct trace_format *format);

/* A request as a record file has it: its flush, if there is one before it, and itself. How many. */
u32 trace_request_records(const struct trace_request *request, struct aftl_record records[2]);

/* For the formats. */

static inline bool trace_bytes(u64 count, u64 unit, u64 *bytes)
{
	return !__builtin_mul_overflow(count, unit, bytes);
}

/* The verdict on a request that was understood: can there be such a request? */
enum trace_line_verdict trace_check_request(const struct trace_request *request,
					    const char **cause);

/* A copy that lives as long as the file, or NULL if there are too many. */
const char *trace_keep_text(struct trace_file *file, const char *text, size_t length);

/* "r", "w", "read" or "write", in any case. */
bool trace_word_op(struct text_cursor word, u8 *op);

/* What the operation code of a SCSI command does with data; false: nothing. */
bool trace_scsi_op(u64 code, u8 *op);

#endif
