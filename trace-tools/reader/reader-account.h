/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports about a trace that is read: format, units, classes and losses.
 */
#ifndef AFTL_READER_ACCOUNT_H
#define AFTL_READER_ACCOUNT_H

#include "json-writer.h"
#include "trace-reader.h"

/* The names of the quality classes that a trace's writes have, and the number of names. */
struct trace_classes {
	const char (*names)[AFTL_RECORD_NAME_SIZE];
	u32 count;
};

/* Get the names of the quality classes of the trace's writes. */
struct trace_classes trace_reader_get_classes(const struct trace_reader *reader);

/* Print the format and the units of each trace file, one line per file. */
void trace_reader_describe(const struct trace_reader *reader, FILE *out);
void trace_reader_write_json(const struct trace_reader *reader, struct json_writer *json);

/* Print everything that was lost, missing or inconsistent in the trace. */
void trace_reader_print_losses(const struct trace_reader *reader, FILE *out);
void trace_reader_write_losses_json(const struct trace_reader *reader, struct json_writer *json);

#endif
