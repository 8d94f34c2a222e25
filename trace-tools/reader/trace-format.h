/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace formats: their names, detection, readers and writers.
 *
 * A format is a file format-NAME.c that defines one struct trace_format, and a line in
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

/* Maximum length of a request: its number of sectors must fit in 32 bits. */
#define TRACE_BYTES_MAX 1099511627776ULL

/**
 * struct trace_hints - properties of a trace that only the user knows
 * @format: name of the format, or NULL to detect it
 * @time_unit_ns: nanoseconds of a clock tick; 0 for the default of the format
 * @offset_unit: bytes in a unit of offsets and sizes; 0 for the default of the format
 * @columns: columns of CSV, or the format string of blkparse -f; NULL for neither
 */
struct trace_hints {
	const char *format;
	u64 time_unit_ns;
	u64 offset_unit;
	const char *columns;
};

/**
 * struct trace_file - a trace file that is read
 * @format: format of the file
 * @input: bytes of the file
 * @hints: properties given by the user
 * @losses: losses of all files of the run
 * @time_unit_ns: nanoseconds of a tick
 * @offset_unit: bytes in a unit of offsets, for formats without a fixed unit
 * @state: private to the format; freed with free()
 * @actions: number of block trace events by action, without notes
 * @notes: number of note events
 * @tags: number of notes with the class of a write
 * @other_events: number of events that say nothing about requests
 * @device_bytes: size of the device; 0 if the file does not say it
 * @interrupted: the recording was interrupted before it was complete
 * @class_names: class names of the records; NULL for "precise" and "approximate"
 * @classes: number of classes
 * @names: takes the names of processes; NULL to ignore them
 * @texts: texts of notes about regions and labels
 * @texts_kept: number of entries in @texts
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

/* Maximum number of a program's notes (regions, labels) that are kept; more are only counted. */
#define TRACE_TEXTS 65536

enum trace_line_verdict {
	TRACE_LINE_WRONG,
	TRACE_LINE_EMPTY,	/* the line is a title, a comment or an event without a request */
	TRACE_LINE_DONE,
};

/**
 * struct trace_output - a trace file that is written
 * @format: format of the file
 * @path: path of the file, "-" for standard output
 * @name: name of the file in messages
 * @file: the open file, unless the format opens it itself
 * @state: private to the format
 * @device_bytes: size of the device; 0 if unknown
 * @source_format: name of the format that the requests were read from
 * @tool_version: version of this program
 * @provenance: origin of the requests, a JSON object
 * @class_names: class names of the requests
 * @classes: number of classes
 * @names: names of processes, or NULL
 * @written: number of requests written so far
 * @unfit: number of requests that the format cannot represent, by operation
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

struct trace_columns;

/**
 * struct trace_format - a trace format
 * @name: name on the command line
 * @title: description for the user
 * @units: units of times, offsets and sizes, described for the user
 * @events: the format holds block trace events, not requests
 * @time_unit_ns: nanoseconds of a clock tick; 0 if the user must specify it
 * @told_only: the format cannot be detected; the user must specify it
 * @open: prepares reading, or NULL; may examine and consume the input
 * @close: frees resources that free(@state) does not free, or NULL
 * @columns: for format-columns.c; NULL in other formats
 * @line: converts a text line to a struct trace_request or trace_event; NULL for binary formats
 * @known: detects the format by the first bytes; NULL: detected by parsing some lines
 * @fill: binary formats: reads as many items as fit; returns 0 at the end, or a negative error
 *	number
 * @own_file: begin() opens the output itself
 * @begin: writes everything that precedes the requests, or NULL
 * @put: writes a request or counts it as unfit; NULL if the format cannot be written
 * @finish: writes everything that follows the requests, and frees @state
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
	const struct trace_columns *columns;
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

/* All formats; the list ends with NULL. */
extern const struct trace_format *const trace_formats[];

/* The CSV format; the writer of Parquet files pipes CSV to a converter. */
extern const struct trace_format trace_format_csv;

/* Return: the format called @name, or NULL if there is none. */
const struct trace_format *trace_format_find(const char *name);

/**
 * trace_file_open() - open a file and detect its format
 *
 * Return: 0, -ENOENT and other file errors, -ENODATA if the file is empty, -EINVAL if no format
 * matches or the user must specify a unit.
 */
int __must_check trace_file_open(struct trace_file *file, const char *path,
				 const struct trace_hints *hints, struct trace_losses *losses,
				 struct aftl_error *error);
void trace_file_close(struct trace_file *file);

/* Like trace_file_open(), for an input that is open; trace_file_close() closes the input. */
int __must_check trace_file_open_input(struct trace_file *file, const struct trace_input *input,
				       const struct trace_hints *hints, struct trace_losses *losses,
				       struct aftl_error *error);

/* Read up to @room requests or events to @out. Return: their number, 0 at the end, or an error. */
int __must_check trace_file_read_events_or_requests(struct trace_file *file, void *out, u32 room,
						    struct aftl_error *error);

/**
 * trace_output_open() - begin to write a trace
 * @output: the caller sets all members but @file, @state, @written and @unfit
 */
int __must_check trace_output_open(struct trace_output *output, struct aftl_error *error);
int __must_check trace_output_write_request(struct trace_output *output,
					    const struct trace_request *request,
					    struct aftl_error *error);

/* Complete and close the output; call this even after a failure. */
int __must_check trace_output_finish(struct trace_output *output, struct aftl_error *error);

size_t trace_item_bytes(const struct trace_format *format);

/* Convert a request and its preflush, if any, to aft(5) records. Return: number of records. */
u32 trace_convert_request_to_records(const struct trace_request *request,
				     struct aftl_record records[2]);

/* Convert a number in the file's offset units to bytes; return false on an overflow. */

static inline bool trace_units_to_bytes(u64 count, u64 unit, u64 *bytes)
{
	return !__builtin_mul_overflow(count, unit, bytes);
}

/* Check that a parsed request has a possible time, offset and length. */
enum trace_line_verdict trace_check_request(const struct trace_request *request,
					    const char **cause);

/* Copy a text for the lifetime of the trace file. Return: NULL if too many texts were kept. */
const char *trace_file_keep_copy_of_text(struct trace_file *file, const char *text, size_t length);

/* Parse "r", "w", "read" or "write", ignoring case. */
bool trace_parse_operation(struct text_cursor word, u8 *op);

/* Map a SCSI operation code to an operation; false unless the command moves data or flushes. */
bool trace_operation_of_scsi_code(u64 code, u8 *op);

#endif
